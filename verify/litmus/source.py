"""A litmus file: its header, what it expects, its seeded bugs, its condition.

Beside what herd7 reads, a file says in its first comment

    Result: Never | Sometimes | Race | Disputed
    Seeded bug NAME: RESULT: WHERE: OLD -> NEW [and WHERE: OLD -> NEW ...]

The result is that of the `exists` at the end; Race: two accesses meet that are not both atomic; Disputed: see `rc11.py`. A seeded bug is the same test with a fault on purpose: in each line
with the label WHERE (in the files in C, the first word of its `//` comment; else the thread), the text OLD is replaced by NEW. OLD may be `line`: all
of it, and NEW `nothing`. Every replacement must hit.
"""

import re
from dataclasses import dataclass, field, replace

RESULTS = ("Never", "Sometimes", "Race", "Disputed")


@dataclass
class Test:
    architecture: str
    name: str
    result: str
    initial: list
    body: str
    condition: str
    bugs: list = field(default_factory=list)  # (name, result, [(where, old, new)])

    def text(self):
        """What herd7 reads."""
        initial = " ".join(f"{item};" for item in self.initial)
        return f"{self.architecture} {self.name}\n\n{{ {initial} }}\n\n{self.body.strip()}\n\nexists {self.condition}\n"

    def seed(self, name, result, edits):
        body = self.body
        for edit in edits:
            body = (edit_c if self.architecture == "C" else edit_columns)(body, *edit)
        return replace(self, name=f"{self.name}+{name}", result=result, body=body, bugs=[])


def parse(path):
    text = path.read_text()
    found = re.fullmatch(r"(\w+) (\S+)\n\s*\(\*(.*?)\*\)\s*\{(.*?)\}\s*(.*?)\s*exists\s*(\(.*\))\s*", text, re.DOTALL)
    if not found:
        raise ValueError(f"{path}: not a litmus file as they are here")
    architecture, name, comment, initial, body, condition = found.groups()
    comment = re.sub(r"\n \*(?= {3,}\S)", "", comment)  # a line that is set in goes on
    results = re.findall(r"^ \* Result: (\w+)$", comment, re.MULTILINE)
    if name != path.stem or len(results) != 1:
        raise ValueError(f"{path}: the name of the file, and one result")
    test = Test(architecture, name, results[0], [i.strip() for i in initial.split(";") if i.strip()], body, " ".join(condition.split()))
    for bug, result, edits in re.findall(r"^ \* Seeded bug (\w+): (\w+): (.*)$", comment, re.MULTILINE):
        test.bugs.append((bug, result, [parse_edit(edit) for edit in edits.split(" and ")]))
    if comment.count("Seeded bug ") != len(test.bugs):
        raise ValueError(f"{path}: a seeded bug that is not understood")
    for result in [test.result, *(bug[1] for bug in test.bugs)]:
        if result not in RESULTS:
            raise ValueError(f"{path}: no such result: {result}")
    return test


def parse_edit(edit):
    where, change = re.fullmatch(r"\s*(\S+): (.*?)\s*", edit).groups()
    old, new = change.split(" -> ")
    return where, old.strip(), "" if new.strip() == "nothing" else new.strip()


def edit_c(body, where, old, new):
    lines, hits = body.split("\n"), 0
    for number, line in enumerate(lines):
        code, mark, label = line.partition("//")
        if not mark or label.split()[0] != where:
            continue
        changed = new if old == "line" else code.replace(old, new)
        if changed != code:
            lines[number], hits = f"{changed} // {label.strip()}", hits + 1
    if hits == 0:
        raise ValueError(f"nothing to replace: {where}: {old}")
    return "\n".join(lines)


def columns(body):
    """The threads of a test in assembly: a list of instructions each."""
    rows = [[cell.strip() for cell in row.split("|")] for row in body.strip().rstrip(";").split(";")]
    if rows[0] != [f"P{number}" for number in range(len(rows[0]))] or any(len(row) != len(rows[0]) for row in rows):
        raise ValueError("a row with too few or too many columns")
    return [list(column) for column in zip(*rows[1:])]


def edit_columns(body, where, old, new):
    threads = columns(body)
    thread = threads[int(where[1:])]
    if thread.count(old) != 1:
        raise ValueError(f"{where}: {old!r} is there {thread.count(old)} times")
    thread[thread.index(old)] = new
    rows = [[f"P{number}" for number, _ in enumerate(threads)], *zip(*threads)]
    return "\n".join(" " + " | ".join(f"{cell:20}" for cell in row) + " ;" for row in rows)


def condition(text):
    """A function of registers and final values: whether the condition of `exists` holds."""
    code = re.sub(r"(\d+:\w+|(?<=\[)\w+(?=\]))\]?\s*=\s*(\w+)", r"(look('\1') == value('\2'))", text)
    code = code.replace("[", "").replace("/\\", " and ").replace("\\/", " or ")
    compiled = compile(code, text, "eval")

    def holds(registers, final):
        def look(name):
            thread, colon, register = name.partition(":")
            return registers.get((int(thread), register), 0) if colon else final[name]

        return eval(compiled, {"look": look, "value": lambda text: int(text) if text.isdigit() else text})

    return holds
