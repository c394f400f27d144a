#!/usr/bin/env python3
"""Decides litmus tests and their seeded bugs, and compares the results with what the files state.

check.py FILE...                    decides them here
check.py --write FOLDER FILE...     writes them and their seeded bugs to FOLDER, for herd7
check.py --compare OUTPUT FILE...   compares those for one architecture with what herd7 printed; OUTPUT is `ARCHITECTURE.log`
"""

import argparse
import pathlib
import re
import sys
import time

import machine
import rc11
import source

MODELS = {"C": rc11.verdict, "AArch64": machine.verdict, "RISCV": machine.verdict}


def tests(paths):
    for path in paths:
        test = source.parse(path)
        yield test
        for bug in test.bugs:
            yield test.seed(*bug)


def decide(paths):
    wrong = count = 0
    begun = time.monotonic()
    for test in tests(paths):
        found = MODELS[test.architecture](test)
        count += 1
        wrong += found != test.result
        print(f"{'ok   ' if found == test.result else 'WRONG'}  {test.architecture:8} {test.name}: {found}", flush=True)
    print(f"{count} tests, {wrong} wrong, {time.monotonic() - begun:.0f} s")
    return wrong


def write(folder, paths):
    for test in tests(paths):
        place = folder / test.architecture
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{test.name}.litmus").write_text(test.text())


def compare(output, paths):
    """herd7 says Undef where RC11 finds a race, whatever it says of the condition."""
    found = {}
    for part in re.split(r"^(?=Test )", output.read_text(), flags=re.MULTILINE)[1:]:
        name, observed = part.split()[1], re.search(r"^Observation \S+ (\w+)", part, re.MULTILINE)
        result = "Never" if observed and observed[1] == "Never" else "Sometimes" if observed else "nothing"
        found[name] = "Race" if re.search(r"^Undef", part, re.MULTILINE) else result
    wrong = 0
    for test in tests(paths):
        if test.architecture == output.stem and test.result != "Disputed" and found.get(test.name) != test.result:
            wrong += 1
            print(f"WRONG  {test.architecture} {test.name}: herd7 says {found.get(test.name)}")
    print(f"herd7: {len(found)} tests, {wrong} wrong")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path)
    parser.add_argument("--compare", type=pathlib.Path)
    options = parser.parse_args()
    if options.write:
        write(options.write, options.files)
        return 0
    if options.compare:
        return 1 if compare(options.compare, options.files) else 0
    return 1 if decide(options.files) else 0


if __name__ == "__main__":
    sys.exit(main())
