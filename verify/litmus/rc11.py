"""The files in C: threads as functions, and RC11, the memory model of C11 and Rust with the repairs of Lahav, Vafeiadis, Kang, Hur, Dreyer,
"Repairing Sequential Consistency in C/C++11" (PLDI 2017).

Release sequences are those of C++20, which Rust has: a store goes on in read-modify-writes only. The paper, and herd7, still count later stores of
the same thread; `verdict` looks at both, and says "Disputed" where the result hangs on it.
"""

import itertools
import re

import source
from execution import Event, Execution, Relation, all_runs

ORDERS = {"relaxed": "", "acquire": "A", "release": "R", "acq_rel": "AR", "seq_cst": "ARS"}
UPDATES = {"add": lambda a, b: a + b, "sub": lambda a, b: a - b, "or": lambda a, b: a | b, "and": lambda a, b: a & b}


class Parser:
    """A thread's body to a tree of tuples. The subset of C is what the files use."""

    def __init__(self, text):
        text = re.sub(r"//.*", "", text)
        self.tokens = re.findall(r"\w+|==|!=|[-+&|*(){},;=]", text) + [""]
        self.at = 0

    def take(self, wanted=None):
        token = self.tokens[self.at]
        if wanted is not None and token != wanted:
            raise ValueError(f"{wanted!r} expected, not {' '.join(self.tokens[self.at:self.at + 8])!r}")
        self.at += 1
        return token

    def peek(self):
        return self.tokens[self.at]

    def block(self):
        self.take("{")
        statements = []
        while self.peek() != "}":
            statements.append(self.statement())
        self.take("}")
        return statements

    def statement(self):
        token = self.take()
        if token == "if":
            self.take("(")
            test = self.expression()
            self.take(")")
            then = self.block()
            other = []
            if self.peek() == "else":
                self.take()
                other = self.block()
            return ("if", test, then, other)
        if token == "*":
            location = self.take()
            self.take("=")
            result = ("store", ("name", location), self.expression(), None)
        elif token in ("atomic_store_explicit", "atomic_thread_fence"):
            arguments = self.arguments()
            result = ("store", *arguments) if token.startswith("atomic_store") else ("fence", *arguments)
        else:
            name = self.take() if token == "int" else token
            self.take("=")
            result = ("set", name, self.expression())
        self.take(";")
        return result

    def arguments(self):
        self.take("(")
        result = [self.expression()]
        while self.peek() == ",":
            self.take()
            result.append(self.expression())
        self.take(")")
        return result

    def expression(self):
        left = self.operand()
        while self.peek() in ("==", "!=", "+", "-", "&", "|"):
            left = ("binary", self.take(), left, self.operand())
        return left

    def operand(self):
        token = self.take()
        if token == "(":
            result = self.expression()
            self.take(")")
            return result
        if token == "*":
            return ("load", ("name", self.take()), None)
        if token.isdigit():
            return ("number", int(token))
        if token.startswith("memory_order_"):
            return ("order", ORDERS[token[len("memory_order_") :]])
        if self.peek() == "(":
            update = re.fullmatch(r"atomic_fetch_(\w+)_explicit", token)
            names = {"load": "load", "exchange": "exchange", "compare_exchange_strong": "exchange_if"}
            if update:
                return ("update", UPDATES[update[1]], *self.arguments())
            return (names[re.fullmatch(r"atomic_(\w+)_explicit", token)[1]], *self.arguments())
        return ("name", token)


BINARY = {
    "==": lambda a, b: int(a == b),
    "!=": lambda a, b: int(a != b),
    "+": UPDATES["add"],
    "-": UPDATES["sub"],
    "&": UPDATES["and"],
    "|": UPDATES["or"],
}


class Run:
    """One run of a thread: its events and registers, given what its reads find."""

    def __init__(self, reads):
        self.reads, self.events, self.registers = reads, [], {}

    def block(self, statements):
        for statement in statements:
            getattr(self, "do_" + statement[0])(*statement[1:])

    def do_if(self, test, then, other):
        self.block(then if self.value(test) else other)

    def do_set(self, name, expression):
        self.registers[name] = self.value(expression)

    def do_store(self, location, expression, order):
        self.write(location[1], self.value(expression), order[1] if order else None)

    def do_fence(self, order):
        self.events.append(Event("F", order=order[1]))

    def write(self, location, value, order, pair=None):
        self.events.append(Event("W", location, value, order, pair))

    def read(self, location, order):
        value = self.reads(location[1])
        self.events.append(Event("R", location[1], value, order))
        return value

    def value(self, expression):
        kind, *rest = expression
        if kind == "number":
            return rest[0]
        if kind == "name":
            return self.registers[rest[0]]
        if kind == "binary":
            return BINARY[rest[0]](self.value(rest[1]), self.value(rest[2]))
        if kind == "load":
            return self.read(rest[0], rest[1][1] if rest[1] else None)
        if kind == "exchange_if":
            return self.exchange_if(*rest)
        # Read-modify-writes. Acquire is the read's, Release the write's.
        change, (location, operand, (_, order)) = (rest[0], rest[1:]) if kind == "update" else (lambda _, new: new, rest)
        operand = self.value(operand)
        before = self.read(location, order.replace("R", ""))
        self.write(location[1], change(before, operand), order.replace("A", ""), self.events[-1])
        return before

    def exchange_if(self, location, expected, new, success, failure):
        """What was expected is in memory of the thread's own."""
        new, wanted = self.value(new), self.read(expected, None)
        found = self.reads(location[1])
        order = success[1] if found == wanted else failure[1]
        self.events.append(Event("R", location[1], found, order.replace("R", "")))
        if found == wanted:
            self.write(location[1], new, order.replace("A", ""), self.events[-1])
        else:
            self.write(expected[1], found, None)
        return int(found == wanted)


def threads(body):
    """The threads of a test, in the order of their numbers."""
    result = []
    for number, text in re.findall(r"^P(\d+)\s*\([^)]*\)\s*(\{.*?^\})", body, re.MULTILINE | re.DOTALL):
        if int(number) != len(result):
            raise ValueError("threads out of order")
        tree = Parser(text).block()

        def run(reads, tree=tree):
            run = Run(reads)
            run.block(tree)
            return run.events, run.registers

        result.append(run)
    return result


class Model:
    """RC11 for one execution, whose mo may yet be open."""

    def __init__(self, execution, sequences_of_stores):
        x = self.x = execution
        sb = self.sb = x.po | x.initially
        writes = x.where(lambda e: e.kind == "W")
        atomic_writes = x.where(lambda e: e.kind == "W" and e.order is not None)
        atomic_reads = x.where(lambda e: e.kind == "R" and e.order is not None)
        fences = x.where(lambda e: e.kind == "F")
        one = Relation.of(x.count, ((n, n) for n in range(x.count)))
        self.plain = x.where(lambda e: e.kind != "F" and e.order is None and e.thread is not None)
        self.sc = x.where(lambda e: "S" in (e.order or ""))
        release = x.where(lambda e: e.kind != "R" and "R" in (e.order or ""))
        acquire = x.where(lambda e: e.kind != "W" and "A" in (e.order or ""))
        goes_on = (one | (x.po & x.same) if sequences_of_stores else one).only(writes, atomic_writes)
        sequence = goes_on.then(x.rf.then(x.rmw).closure().maybe())
        left = one.only(release) | sb.only(release & fences)
        right = one.only(None, acquire) | sb.only(None, acquire & fences)
        self.sw = left.then(sequence).then(x.rf.only(None, atomic_reads)).then(right)
        self.hb = (sb | self.sw).closure()

    def possible(self):
        """What can be said before mo."""
        return not self.hb.reflexive() and not (self.sb | self.x.rf).cyclic()

    def races(self):
        x = self.x
        writes = x.where(lambda e: e.kind == "W" and e.thread is not None)
        threads = x.where(lambda e: e.thread is not None)
        meet = (x.same & x.external).only(writes, threads)
        unordered = meet - self.hb - self.hb.inverse()
        return any(unordered.only(self.plain).rows) or any(unordered.only(None, self.plain).rows)

    def consistent(self):
        """With mo."""
        x, hb = self.x, self.hb
        eco = (x.rf | x.mo | x.rb).closure()
        if hb.then(eco).reflexive() or eco.reflexive():
            return False
        fences = x.where(lambda e: e.kind == "F") & self.sc
        if not self.sc:
            return True
        apart = self.sb - x.same
        scb = self.sb | apart.then(hb).then(apart) | (hb & x.same) | x.mo | x.rb
        one = Relation.of(x.count, ((n, n) for n in range(x.count)))
        left = one.only(self.sc) | hb.maybe().only(fences)
        right = one.only(None, self.sc) | hb.maybe().only(None, fences)
        psc = left.then(scb).then(right) | (hb | hb.then(eco).then(hb)).only(fences, fences)
        return not psc.cyclic()


def verdict(test):
    """Never, Sometimes, Race or Disputed."""
    initial = {}
    for item in test.initial:
        name, value = item.split("=")
        initial[name.strip()] = int(value)
    holds = source.condition(test.condition)
    results = {first: decide(test, initial, holds, first) for first in (False, True)}
    return results[False] if results[False] == results[True] else "Disputed"


def decide(test, initial, holds, sequences_of_stores):
    run_lists, domain = all_runs(threads(test.body), initial)
    initial = {location: initial.get(location, 0) for location in domain}
    users = {}
    for thread, found in enumerate(run_lists):
        for events, _ in found:
            for event in events:
                users.setdefault(event.location, []).append((thread, event.order is None and event.kind != "F"))
    shared_plain = any(len({t for t, _ in uses}) > 1 and any(plain for _, plain in uses) for uses in users.values())
    of_memory = "[" in test.condition
    result = "Never"
    for chosen in itertools.product(*run_lists):
        registers = {(t, name): value for t, (_, regs) in enumerate(chosen) for name, value in regs.items()}
        wanted = result == "Never" and (of_memory or holds(registers, {}))
        if not wanted and not shared_plain:
            continue
        for execution in Execution(initial, chosen).sources():
            model = Model(execution, sequences_of_stores)
            if not model.possible():
                continue
            racy = shared_plain and model.races()
            if not racy and not wanted:
                continue
            for complete in execution.orders(model.hb):
                if model.consistent():
                    if racy:
                        return "Race"
                    if holds(registers, complete.final):
                        result = "Sometimes"
                        break
        if result == "Sometimes" and not shared_plain:
            return result
    return result

