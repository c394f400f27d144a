"""The files in assembly, for AArch64 and RISC-V: what rustc makes of the orderings, and the models of these processors.

AArch64: the external visibility requirement of the Arm Architecture Reference Manual (DDI 0487, B2.3), without what the files do not use. RISC-V: RVWMO,
*The RISC-V Instruction Set Manual* I, appendix A: preserved program order, rules 1 to 12 (no address comes from a read in these files).
"""

import itertools
import re

import source
from execution import Event, Execution, Relation, all_runs

LOADS = {"LDR": "", "LDAR": "A", "LDAPR": "Q", "lw": ""}
STORES = {"STR": "", "STLR": "R", "sw": ""}
# The barrier's two sides: which accesses before it, which after it.
FENCES = {"DMB ISH": ("RW", "RW"), "DMB ISHLD": ("R", "RW"), "DMB ISHST": ("W", "W")}


class Run:
    """One run of a thread. Registers hold a value and the reads that it comes from."""

    def __init__(self, reads, registers):
        self.reads, self.events, self.registers, self.control = reads, [], dict(registers), frozenset()

    def register(self, name):
        if name in ("x0", "WZR"):
            return 0, frozenset()
        return self.registers.get(re.sub("^[WX]", "X", name), (0, frozenset()))

    def operand(self, text):
        return (int(text.lstrip("#")), frozenset()) if re.fullmatch(r"#?\d+", text) else self.register(text)

    def set(self, name, value):
        self.registers[re.sub("^[WX]", "X", name)] = value

    def add(self, event, depends):
        event.data, event.control = depends, self.control
        self.events.append(event)
        return event

    def read(self, target, place, order):
        location, depends = self.register(place)
        event = self.add(Event("R", location, self.reads(location), order), depends)
        self.set(target, (event.value, frozenset([event])))
        return event

    def write(self, value, place, order, pair=None):
        location, _ = self.register(place)
        self.add(Event("W", location, value[0], order, pair), value[1])

    def step(self, text):
        """One instruction; returns the label to go to, if any. `ori` and `beq` stand for `li` and `beqz`, which not every herd7 knows."""
        name, *arguments = re.split(r"[\s,]+", re.sub(r"0?[\[(](\w+)[\])]", r"\1", text))
        if name in LOADS:
            self.read(*arguments, LOADS[name])
        elif name in STORES:
            self.write(self.register(arguments[0]), arguments[1], STORES[name])
        elif text in FENCES or name == "fence":
            self.events.append(Event("F", order=FENCES[text] if text in FENCES else tuple(side.upper() for side in arguments)))
        elif name == "MOV" or text.startswith("ori") and arguments[1] == "x0":
            self.set(arguments[0], self.operand(arguments[-1]))
        elif name == "CBZ" or name == "beq" and arguments[1] == "x0":
            value, reads = self.register(arguments[0])
            self.control |= reads
            return arguments[-1] if value == 0 else None
        elif update := re.fullmatch(r"(SWP|LDSET|amoswap\.w|amoor\.w)(A?L?|(?:\.aq)?(?:\.rl)?)", name):
            # The new value comes first on AArch64, the old one first on RISC-V.
            new, old = arguments[:2] if name.isupper() else arguments[1::-1]
            acquire, release = "A" in update[2] or "aq" in update[2], "L" in update[2] or "rl" in update[2]
            value, reads = self.register(new)
            event = self.read(old, arguments[2], "A" * acquire)
            changed = value if update[1].startswith(("SWP", "amoswap")) else value | event.value
            self.write((changed, reads | (frozenset() if changed == value else frozenset([event]))), arguments[2], "R" * release, event)
        else:
            raise ValueError(f"unknown: {text}")
        return None


def threads(test):
    memory, registers = {}, {}
    for item in test.initial:
        left, right = (side.strip() for side in item.split("="))
        if ":" in left:
            thread, name = left.split(":")
            registers.setdefault(int(thread), {})[name] = (right, frozenset())
            memory.setdefault(right, 0)
        else:
            memory[left] = int(right)

    def thread(number, column):
        def run(reads):
            run = Run(reads, registers[number])
            goal = None
            for text in column:
                if text.endswith(":"):
                    goal = None if text[:-1] == goal else goal
                elif text and goal is None:
                    goal = run.step(text)
            return run.events, {name: value for name, (value, _) in run.registers.items()}

        return run

    return [thread(*each) for each in enumerate(source.columns(test.body))], memory


def fenced(x):
    pairs = []
    for number, event in enumerate(x.events):
        if event.kind == "F":
            before, after = event.order
            left = [n for n, e in enumerate(x.events) if x.po.rows[n] >> number & 1 and e.kind in before]
            right = [n for n, e in enumerate(x.events) if x.po.rows[number] >> n & 1 and e.kind in after]
            pairs += [(i, j) for i in left for j in right]
    return Relation.of(x.count, pairs)


def dependencies(x, kind):
    return Relation.of(x.count, ((x.number_of[r], n) for n, e in enumerate(x.events) for r in getattr(e, kind)))


def aarch64(x):
    write = x.where(lambda e: e.kind == "W" and e.thread is not None)
    acquire = x.where(lambda e: e.kind == "R" and e.order == "A")
    weaker = x.where(lambda e: e.kind == "R" and e.order == "Q")
    release = x.where(lambda e: e.kind == "W" and e.order == "R")
    one = Relation.of(x.count, ((n, n) for n in range(x.count)))
    data, control = dependencies(x, "data"), dependencies(x, "control")
    internal = Relation([~row for row in x.external.rows])
    dob = data | control.only(None, write) | (control | data).then(x.mo & internal) | data.then(x.rf & internal)
    aob = x.rmw | one.only(x.where(lambda e: e.pair is not None)).then(x.rf & internal).only(None, acquire | weaker)
    bob = fenced(x) | x.po.only(release, acquire) | x.po.only(acquire | weaker) | x.po.only(None, release)
    return not ((x.rf | x.mo | x.rb) & x.external | dob | aob | bob).cyclic()


def riscv(x):
    write = x.where(lambda e: e.kind == "W" and e.thread is not None)
    read = x.where(lambda e: e.kind == "R")
    # An atomic instruction is one operation there: what it acquires or releases is said of its read and of its write.
    write_of = {e.pair: e for e in x.events if e.pair}
    acquire = x.where(lambda e: "A" in (e.order, e.pair and e.pair.order))
    release = x.where(lambda e: "R" in (e.order, e in write_of and write_of[e].order))
    annotated = (acquire | release) & x.where(lambda e: e.pair or e in write_of)
    data, control = dependencies(x, "data"), dependencies(x, "control")
    there = x.po & x.same
    between = there.only(None, write).then(there)
    # Two reads of one variable, of different writes and with no write between them.
    twice = (there - between).only(read, read) - x.rf.inverse().then(x.rf)
    updated = x.rf.only(x.where(lambda e: e.pair is not None)) - x.external
    ppo = there.only(None, write) | twice | updated | fenced(x) | x.po.only(acquire) | x.po.only(None, release)
    ppo = ppo | x.po.only(annotated, annotated) | x.rmw | data | control.only(None, write) | data.then(x.rf - x.external)
    return not (ppo | x.mo | x.rb | (x.rf & x.external)).cyclic()


def verdict(test):
    model = {"AArch64": aarch64, "RISCV": riscv}[test.architecture]
    holds = source.condition(test.condition)
    thread_list, memory = threads(test)
    run_lists, domain = all_runs(thread_list, memory)
    memory = {location: memory.get(location, 0) for location in domain}
    for chosen in itertools.product(*run_lists):
        registers = {(t, name): value for t, (_, found) in enumerate(chosen) for name, value in found.items()}
        if "[" not in test.condition and not holds(registers, {}):
            continue
        for x in Execution(memory, chosen).sources():
            for x in x.orders(x.initially):
                # Internal visibility: each variable by itself, in every thread.
                if not ((x.po & x.same) | x.initially & x.same | x.rf | x.mo | x.rb).cyclic() and model(x) and holds(registers, x.final):
                    return "Sometimes"
    return "Never"
