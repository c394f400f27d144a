# "FILE<tab>TEXT" of each line of a list with reasons: below a heading "## FILE", "- `TEXT`: the reason". Used by `ci/coverage` and `ci/mutants`.

/^## / { file = $2 }

/^- `.*`: ./ {
    sub(/^- `/, "")
    sub(/`: [^`]*$/, "")
    print file "\t" $0
}
