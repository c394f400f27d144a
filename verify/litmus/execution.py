"""Executions: the events of all threads, which read reads from which write (rf), and the order of the writes of each variable (mo).

A model is a function from an execution to whether it may happen. Everything here is the same for every model.
"""

import itertools


class Event:
    """A read (R), a write (W), or a fence (F). A read-modify-write is a read and a write, the one's `pair` the other."""

    def __init__(self, kind, location=None, value=None, order="", pair=None):
        self.kind, self.location, self.value, self.order, self.pair = kind, location, value, order, pair
        self.thread = None  # None: an initial value
        self.data = self.address = self.control = frozenset()  # the reads that it depends on, for the models of processors


class Relation:
    """A set of pairs of the numbers of events: a row of bits for each."""

    def __init__(self, rows):
        self.rows, self.columns = rows, None

    @classmethod
    def of(cls, count, pairs):
        rows = [0] * count
        for left, right in pairs:
            rows[left] |= 1 << right
        return cls(rows)

    def __or__(self, other):
        return Relation([left | right for left, right in zip(self.rows, other.rows)])

    def __and__(self, other):
        return Relation([left & right for left, right in zip(self.rows, other.rows)])

    def __sub__(self, other):
        return Relation([left & ~right for left, right in zip(self.rows, other.rows)])

    def column(self, number):
        """A mask of what leads to `number`."""
        if self.columns is None:
            self.columns = self.inverse().rows
        return self.columns[number]

    def then(self, other):
        """The pairs that lead from here to there by a step of each."""
        rows = []
        for row in self.rows:
            result = 0
            while row:
                low = row & -row
                result |= other.rows[low.bit_length() - 1]
                row ^= low
            rows.append(result)
        return Relation(rows)

    def inverse(self):
        count = len(self.rows)
        return Relation.of(count, ((right, left) for left, right in self.pairs()))

    def pairs(self):
        for left, row in enumerate(self.rows):
            while row:
                low = row & -row
                yield left, low.bit_length() - 1
                row ^= low

    def maybe(self):
        return Relation([row | 1 << left for left, row in enumerate(self.rows)])

    def closure(self):
        rows = list(self.rows)
        for middle, _ in enumerate(rows):
            bit, through = 1 << middle, rows[middle]
            for left, row in enumerate(rows):
                if row & bit:
                    rows[left] = row | through
        return Relation(rows)

    def only(self, left=None, right=None):
        """The pairs whose left event is among `left`, whose right one among `right` (masks)."""
        right = -1 if right is None else right
        left = -1 if left is None else left
        return Relation([row & right if left >> number & 1 else 0 for number, row in enumerate(self.rows)])

    def reflexive(self):
        return any(row >> number & 1 for number, row in enumerate(self.rows))

    def cyclic(self):
        return self.closure().reflexive()


class Unknown(Exception):
    """A thread reads, and nobody has said what."""


class Reads:
    """What the reads of one run of a thread find, one after the other."""

    def __init__(self, values):
        self.values, self.next = values, 0

    def __call__(self, location):
        if self.next == len(self.values):
            raise Unknown(location)
        self.next += 1
        return self.values[self.next - 1]


def runs(thread, domain):
    """All runs of `thread`, a function from Reads to (events, registers), whose reads find values of `domain`."""
    todo, found = [()], []
    while todo:
        values = todo.pop()
        try:
            found.append(thread(Reads(values)))
        except Unknown as unknown:
            todo += [values + (value,) for value in sorted(domain.get(unknown.args[0], {0}))]
    return found


def all_runs(threads, initial):
    """The runs of every thread. What may be found in a variable is what somebody may have written there."""
    domain = {location: {value} for location, value in initial.items()}
    steps = 0
    while True:
        result = [runs(thread, domain) for thread in threads]
        before = {location: set(values) for location, values in domain.items()}
        for run in itertools.chain(*result):
            for event in run[0]:
                if event.kind == "W":
                    domain.setdefault(event.location, {0}).add(event.value)
        # A value that comes of others comes of fewer than there are writes.
        writes = sum(max(sum(event.kind == "W" for event in run[0]) for run in found) for found in result)
        if domain == before or steps > writes:
            return result, domain
        steps += 1


class Execution:
    """One choice of runs, and one of rf. `mo` comes last."""

    def __init__(self, initial, chosen):
        self.events = []
        for location, value in sorted(initial.items()):
            self.events.append(Event("W", location, value))
        self.registers = {}
        order = []
        number_of = {}
        for thread, (events, registers) in enumerate(chosen):
            self.registers.update({(thread, name): value for name, value in registers.items()})
            numbers = range(len(self.events), len(self.events) + len(events))
            order += itertools.combinations(numbers, 2)
            for event in events:
                event.thread = thread
                number_of[event] = len(self.events)
                self.events.append(event)
        first = len(initial)
        count = self.count = len(self.events)
        self.po = Relation.of(count, order)
        self.initially = Relation.of(count, ((i, j) for i in range(first) for j in range(first, count)))
        self.rmw = Relation.of(count, ((number_of[e.pair], n) for n, e in enumerate(self.events) if e.kind == "W" and e.pair))
        self.number_of = number_of
        located = lambda i, j: self.events[i].location == self.events[j].location is not None
        self.same = Relation.of(count, ((i, j) for i in range(count) for j in range(count) if located(i, j)))
        self.external = Relation.of(
            count, ((i, j) for i in range(count) for j in range(count) if self.events[i].thread != self.events[j].thread)
        )

    def where(self, wanted):
        """The mask of the events that `wanted` holds for."""
        return sum(1 << number for number, event in enumerate(self.events) if wanted(event))

    def sources(self):
        """Every way in which each read finds its value."""
        reads = [number for number, event in enumerate(self.events) if event.kind == "R"]
        options = []
        for read in reads:
            event = self.events[read]
            fits = lambda e: e.kind == "W" and (e.location, e.value) == (event.location, event.value) and e is not event
            options.append([n for n, e in enumerate(self.events) if fits(e) and not self.po.rows[read] >> n & 1])
        for choice in itertools.product(*options):
            # A write is the source of one read-modify-write only.
            pairs = list(zip(choice, reads))
            updates = [source for source, read in pairs if self.rmw.rows[read]]
            if len(updates) == len(set(updates)):
                self.rf = Relation.of(self.count, pairs)
                self.source = dict(zip(reads, choice))
                yield self

    def orders(self, before):
        """Every order of the writes of each variable that agrees with `before`, and in which nothing is within a read-modify-write."""
        follows = {w: self.source[r] for r, w in self.rmw.pairs()}
        writes = {}
        for number, event in enumerate(self.events):
            if event.kind == "W":
                writes.setdefault(event.location, []).append(number)
        for orders in itertools.product(*(list(extensions(w, before, follows)) for w in writes.values())):
            self.mo = Relation.of(self.count, itertools.chain(*(itertools.combinations(order, 2) for order in orders)))
            self.final = {self.events[order[-1]].location: self.events[order[-1]].value for order in orders}
            self.rb = self.rf.inverse().then(self.mo)
            yield self


def extensions(left, before, follows, so_far=()):
    """The orders of the writes `left` that agree with `before`; a key of `follows` comes right after its value."""
    if not left:
        yield so_far
    mask = sum(1 << write for write in left)
    for write in left:
        if before.column(write) & mask:
            continue
        if write in follows and (not so_far or so_far[-1] != follows[write]):
            continue
        yield from extensions([other for other in left if other != write], before, follows, so_far + (write,))
