# "FILE<tab>TEXT" of each line of the library's protocols that no test reached. The input is a report of llvm-cov in the format of lcov; it runs
# in the project's root. Used by `ci/coverage`.
#
# Comments, lines without a letter, unit tests, and what a seeded bug does in place of the right thing are left out.

BEGIN { FS = "[:,]"; root = "crates/annulus/src/" }

# read_code(FILE): its lines in `code`, those of seeded bugs and of tests empty.
function read_code(file,    text, hidden, number) {
    if (file in is_read) return
    is_read[file] = 1
    while ((getline text < (root file)) > 0) {
        number++
        if (text ~ /^#\[cfg\(.*test/) break
        if (hidden) {
            if (index(text, hidden) == 1) hidden = ""
            continue
        }
        if (text ~ /^ *(let [a-z_]+ = )?if mutated!\(.*\{$/) {
            match(text, /^ */)
            hidden = substr(text, 1, RLENGTH) "}"
        }
        code[file, number] = text
    }
    close(root file)
}

/^SF:/ { file = $2; sub(".*" root, "", file) }

/^DA:/ && $3 == 0 && file ~ /^((lane|ring|broadcast|queue|wait|pool|event_loop|bus|topology|select|affinity|memory|stats|shm)\/.*|index|sequence|side|batches|await_room|observer)\.rs$/ {
    read_code(file)
    text = code[file, $2]
    sub(/^ +/, "", text)
    if (text ~ /[a-z]/ && text !~ /^\/\//) print file "\t" text
}
