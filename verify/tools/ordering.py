#!/usr/bin/env python3
"""docs/ORDERING.md and the code speak of the same steps.

Each file with atomics is in a heading of that page, each label of a step that such a file uses is in a section of that file, and the other way
round; and so with the names of seeded bugs and litmus tests. Run by `ci/ordering`, in the project's root.
"""
import pathlib, re, sys

root = pathlib.Path("crates/annulus/src")
errors = []
sections = {}  # heading: (files, text)
for part in re.split(r"^## ", pathlib.Path("docs/ORDERING.md").read_text(), flags=re.MULTILINE)[1:]:
    heading = part.split("\n")[0]
    sections[heading] = (re.findall(r"`([\w/]+\.rs)`", heading), part)
label = re.compile(r"(?<![\w.#&])[A-Z][0-9](?!\w)")
# The rest is tests.
code = {str(path.relative_to(root)): path.read_text().split("#[cfg(all(test")[0] for path in root.rglob("*.rs")}
atomics = re.compile(r"(?<!cmp::)Ordering::(Relaxed|Acquire|Release|AcqRel|SeqCst)|\bfence::\w+\(|\bordering!\(")
for file, text in code.items():
    about = [part for files, part in sections.values() if file in files]
    if not about and atomics.search(text) and file != "sync.rs":
        errors.append(f"{file} has atomics, and no section of docs/ORDERING.md is about it")
    if about:
        there = set(label.findall(" ".join(about)))
        errors += [f"{file} speaks of {name}, its sections do not" for name in sorted(set(label.findall(text)) - there)]
for heading, (files, part) in sections.items():
    for file in files:
        if file not in code:
            errors.append(f"{heading}: there is no {file}")
    steps = set(re.findall(r"^\| ([A-Z][0-9])\b", part, re.MULTILINE))
    spoken = set(label.findall(" ".join(code.get(file, "") for file in files)))
    errors += [f"{heading}: no code speaks of {name}" for name in sorted(steps - spoken)]

document = pathlib.Path("docs/ORDERING.md").read_text()
mutants = set(re.findall(r'(?:mutated!\(|unless )"(\w+)"\)', " ".join(code.values())))
tests = {path.stem for path in pathlib.Path("verify/litmus/c11").glob("*.litmus")}
tables = " ".join(line for line in document.split("\n") if line.startswith("|"))
errors += [f"{name} weakens an ordering, and is not in docs/ORDERING.md" for name in sorted(mutants) if name.endswith("_relaxed") and name not in document]
errors += [f"litmus {name} is not in docs/ORDERING.md" for name in sorted(tests) if not re.search(rf"[Ll]itmus[^|]*`{name}`", document)]
last = " ".join(line.rstrip(" |").split("|")[-1] for line in document.split("\n") if line.startswith("|"))
names = {name for name in re.findall(r"`([a-z]+(?:_[a-z]+)+)`", last)}
litmus = " ".join(path.read_text() for path in pathlib.Path("verify/litmus/c11").glob("*.litmus"))
known = tests | set(re.findall(r"\w+", litmus + " ".join(code.values()))) | {path.stem for path in pathlib.Path("verify/loom/tests").glob("*.rs")}
errors += [f"docs/ORDERING.md names {name}, which is nowhere" for name in sorted(names - known)]
print("\n".join(errors) or f"{len(sections)} sections, {len(mutants)} seeded bugs, {len(tests)} litmus tests")
sys.exit(1 if errors else 0)
