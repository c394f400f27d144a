"""What only many messages or many deaths find: memory that grows, and accounts that do not balance.

    python soak.py [--messages N]             each kind of ring by each way: what a message leaves behind
    python soak.py --kill SECONDS [--seed N]  one side of a ring is killed at random moments

`pytest` does not collect it. `test_growth.py` runs the first part with fewer messages.
"""

from __future__ import annotations

import argparse
import asyncio
import collections
import gc
import multiprocessing
import os
import pathlib
import random
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

import annulus

DTYPE = np.dtype([("number", "u8"), ("checks", "u8", (3,))])
CAPACITY = 1024
AT_ONCE = 256
PATIENCE = 120.0  # Only a true hang reaches it.


@annulus.message
class Tick:
    number: annulus.u64
    price: annulus.f64
    name: Annotated[str, annulus.Text(8)]
    stop: annulus.f64 | None = None


Directory = pathlib.Path
Pair = tuple[Any, Any]


def lossy(at: str, of: Any) -> Pair:
    return annulus.publish("ring", of, capacity=CAPACITY, directory=at), annulus.subscribe(
        "ring", of, directory=at
    )


def lossless(at: str, of: Any) -> Pair:
    sender = annulus.publish("ring", of, capacity=CAPACITY, lossless=True, directory=at)
    return sender, annulus.subscribe("ring", of, directory=at)


def mp_lossy(at: str, of: Any) -> Pair:
    sender = annulus.publish("ring", of, capacity=CAPACITY, publishers=2, directory=at)
    return sender, annulus.subscribe("ring", of, directory=at)


def spsc(at: str, of: Any) -> Pair:
    return annulus.spsc("ring", of, capacity=CAPACITY, directory=at), annulus.consume(
        "ring", of, directory=at
    )


def mpsc(at: str, of: Any) -> Pair:
    receiver = annulus.mpsc("ring", of, capacity=CAPACITY, producers=2, directory=at)
    return annulus.produce("ring", of, directory=at), receiver


def bytes_queue(at: str, of: Any) -> Pair:
    return annulus.produce_bytes("ring", capacity=1 << 16, directory=at), annulus.consume_bytes(
        "ring", directory=at
    )


KINDS: dict[str, Callable[[str, Any], Pair]] = {
    "lossy": lossy,
    "lossless": lossless,
    "mp_lossy": mp_lossy,
    "spsc": spsc,
    "mpsc": mpsc,
    "bytes": bytes_queue,
}
WAYS = ["one", "batch", "class", "async"]
CASES = [(kind, way) for kind in KINDS for way in WAYS if kind != "bytes" or way in ("one", "async")]


def one_by_one(sender: Any, receiver: Any, message: Any, count: int) -> None:
    for _ in range(count // AT_ONCE):
        for _ in range(AT_ONCE):
            sender.send(message)
        for _ in range(AT_ONCE):
            receiver.recv(PATIENCE)


def in_batches(sender: Any, receiver: Any, batch: Any, count: int) -> None:
    out = np.zeros(AT_ONCE, DTYPE)
    for turn in range(count // AT_ONCE):
        assert sender.send_batch(batch) == AT_ONCE
        # Into an array of the caller, and into a new one.
        assert len(receiver.recv_batch(out if turn % 2 else AT_ONCE)) == AT_ONCE


async def in_tasks(sender: Any, receiver: Any, message: Any, count: int) -> None:
    """Half of the messages come while the task waits for them, and one wait of 16 is cancelled."""
    for turn in range(count // 2):
        sender.send(message)
        await receiver.recv_async()
        waiting = asyncio.ensure_future(receiver.recv_async())
        await asyncio.sleep(0)
        if turn % 16 == 0:
            waiting.cancel()
            await asyncio.gather(waiting, return_exceptions=True)
            waiting = asyncio.ensure_future(receiver.recv_async())
            await asyncio.sleep(0)
        sender.send(message)
        await waiting


def passing(kind: str, way: str, at: str) -> tuple[Pair, Callable[[int], None]]:
    """A pair of handles, and what sends so many messages from one to the other."""
    sender, receiver = KINDS[kind](at, Tick if way == "class" else DTYPE)
    batch = np.zeros(AT_ONCE, DTYPE)
    record: Any = Tick(7, 1.5, "EURUSD") if way == "class" else bytes(100) if kind == "bytes" else batch[0]

    def run(count: int) -> None:
        if way == "batch":
            in_batches(sender, receiver, batch, count)
        elif way == "async":
            asyncio.run(in_tasks(sender, receiver, record, count))
        else:
            one_by_one(sender, receiver, record, count)

    return (sender, receiver), run


@dataclass
class Counts:
    """What this process has now."""

    blocks: int
    objects: int
    references: int
    kib: int

    @classmethod
    def now(cls, receiver: Any) -> Counts:
        """References are to ``None``, whose number is fixed from CPython 3.12 on, and to the ring's dtype."""
        gc.collect()
        dtype = getattr(receiver, "dtype", DTYPE)
        pages = int(pathlib.Path("/proc/self/statm").read_text().split()[1])
        kib = pages * os.sysconf("SC_PAGE_SIZE") // 1024
        references = sys.getrefcount(None) + sys.getrefcount(dtype)
        return cls(sys.getallocatedblocks(), len(gc.get_objects()), references, kib)

    def since(self, before: Counts) -> Counts:
        return Counts(
            self.blocks - before.blocks,
            self.objects - before.objects,
            self.references - before.references,
            self.kib - before.kib,
        )


def growth(kind: str, way: str, count: int, at: str) -> Counts:
    """What so many messages have left behind, once the first ones have filled all caches."""
    (sender, receiver), run = passing(kind, way, at)
    with sender, receiver:
        run(4 * AT_ONCE)
        before = Counts.now(receiver)
        run(count)
        return Counts.now(receiver).since(before)


def show_growth(count: int) -> bool:
    print(f"{count} messages each\n{'':20}{'blocks':>8}{'objects':>8}{'references':>12}{'KiB':>8}{'s':>7}")
    grew = False
    for kind, way in CASES:
        begun = time.monotonic()
        with tempfile.TemporaryDirectory() as at:
            more = growth(kind, way, count, at)
        seconds = time.monotonic() - begun
        line = f"{more.blocks:8}{more.objects:8}{more.references:12}{more.kib:8}{seconds:7.1f}"
        print(f"{kind + ', ' + way:20}{line}", flush=True)
        # A leak of 8 bytes in each eighth message would be more.
        grew |= max(more.blocks, more.objects, more.references) > count // 8 or more.kib > count // 1024
    return not grew


# Deaths.


def rows(first: int, count: int) -> Any:
    """Messages with these numbers. Their other words follow from them, so a torn one is seen."""
    made = np.zeros(count, DTYPE)
    made["number"] = np.arange(first, first + count, dtype="u8")
    made["checks"] = made["number"][:, None] * np.array([3, 5, 7], "u8")
    return made


def check_whole(batch: Any) -> None:
    assert (batch["checks"] == batch["number"][:, None] * np.array([3, 5, 7], "u8")).all(), (
        "a message is torn"
    )


def send_for_ever(sender: Any, tag: int, rng: random.Random) -> None:
    """Numbers from `tag << 48` on, one by one and in batches, until this process is killed."""
    number = tag << 48
    while True:
        count = rng.choice([1, 1, 7, 300])
        if isinstance(sender, annulus.BytesProducer):
            sender.send(rows(number, count).tobytes())
        elif count == 1:
            sender.send(rows(number, 1)[0])
        else:
            sender.send_batch(rows(number, count))
        number += count


def child_sends(kind: str, at: str, tag: int, seed: int, ready: Any) -> None:
    if kind == "bytes":
        sender: Any = annulus.produce_bytes("ring", capacity=1 << 16, directory=at)
    elif kind == "spsc":
        sender = annulus.spsc("ring", DTYPE, capacity=CAPACITY, directory=at)
    elif kind == "mpsc":
        sender = annulus.produce("ring", directory=at)
    elif kind == "mp_lossy":
        sender = annulus.publish("ring", DTYPE, capacity=CAPACITY, publishers=2, directory=at)
    else:
        sender = annulus.publish("ring", DTYPE, capacity=CAPACITY, lossless=kind == "lossless", directory=at)
    ready.set()
    send_for_ever(sender, tag, random.Random(seed))


def child_receives(kind: str, at: str, ready: Any) -> None:
    if kind == "bytes":
        receiver: Any = annulus.consume_bytes("ring", directory=at)
    elif kind == "mpsc":
        receiver = annulus.mpsc("ring", DTYPE, capacity=CAPACITY, directory=at)
    elif kind == "spsc":
        receiver = annulus.consume("ring", directory=at)
    else:
        receiver = annulus.subscribe("ring", directory=at)
    ready.set()
    while True:
        if kind == "bytes":
            receiver.recv()
        else:
            check_whole(receiver.recv_batch())


class Account:
    """The numbers that came: they rise, by one where nothing was lost."""

    def __init__(self) -> None:
        self.first: dict[int, int] = {}
        self.next: dict[int, int] = {}
        self.received = 0
        self.missing = 0

    def take(self, batch: Any) -> None:
        check_whole(batch)
        self.received += len(batch)
        for tag in set((batch["number"] >> np.uint64(48)).tolist()):
            numbers = batch["number"][batch["number"] >> np.uint64(48) == tag].astype("i8")
            expected = np.concatenate([[self.next.get(tag, numbers[0])], numbers[:-1] + 1])
            self.first.setdefault(tag, int(numbers[0]) - (tag << 48))
            gaps = numbers - expected
            assert (gaps >= 0).all(), f"a number came twice, or late: {numbers[gaps < 0]}"
            self.missing += int(gaps.sum())
            self.next[tag] = int(numbers[-1]) + 1


Start = Callable[..., Any]


def sender_dies(kind: str, at: str, rng: random.Random, start: Start) -> None:
    """Of a ring that takes several, one of two senders dies, and the other goes on."""
    several = kind in ("mpsc", "mp_lossy")
    made = (
        annulus.mpsc("ring", DTYPE, capacity=CAPACITY, producers=2, directory=at) if kind == "mpsc" else None
    )
    victim = start(child_sends, kind, at, 1, rng.random())
    other = start(child_sends, kind, at, 2, rng.random()) if several else None
    receiver: Any = made
    if kind == "bytes":
        receiver = annulus.consume_bytes("ring", directory=at)
    elif kind == "spsc":
        receiver = annulus.consume("ring", directory=at)
    elif receiver is None:
        receiver = annulus.subscribe("ring", directory=at)
    account = Account()
    begin: Any = getattr(receiver, "cursor", None)

    def take() -> int:
        if kind == "bytes":
            batch = np.frombuffer(receiver.recv(PATIENCE), DTYPE)
        else:
            batch = receiver.recv_batch(timeout=PATIENCE)
            assert len(batch), "nothing came"
        account.take(batch)
        return int(batch["number"][-1]) >> 48

    with receiver:
        kill_at = time.monotonic() + rng.uniform(0, 0.03)
        while time.monotonic() < kill_at:
            take()
        victim.kill()
        if several:
            victim.join()
            received = account.received
            while take() != 2 or account.received < received + 4 * CAPACITY:
                pass
        else:
            try:
                while True:
                    take()
            except annulus.ClosedError as error:
                assert error.peer_died and receiver.state == "dead", error
        lost = getattr(receiver, "total_lagged", 0)
        if "lossy" in kind:
            assert account.received + lost == receiver.cursor - begin, (
                "messages are neither received nor lost"
            )
        # What was lost before the first number of a publisher, and behind its last one, leaves no gap.
        assert account.missing <= lost
        if kind == "lossy":
            lost_first = account.first[1] - begin
            assert account.missing + lost_first == lost, "the gaps are not what was lost"
        elif kind != "mp_lossy":
            assert account.missing == lost == 0
        stop(victim, other)


def receiver_dies(kind: str, at: str, rng: random.Random, start: Start) -> None:
    """A broadcast ring goes on, for a subscriber that lives; a queue ends."""
    maker = {"mpsc": None, "bytes": "bytes", "spsc": "spsc"}.get(kind, "publish")
    sender: Any = None
    if maker == "bytes":
        sender = annulus.produce_bytes("ring", capacity=1 << 16, directory=at)
    elif maker == "spsc":
        sender = annulus.spsc("ring", DTYPE, capacity=CAPACITY, directory=at)
    elif maker == "publish":
        publishers = 2 if kind == "mp_lossy" else 1
        sender = annulus.publish(
            "ring", DTYPE, capacity=CAPACITY, lossless=kind == "lossless", publishers=publishers, directory=at
        )
    victim = start(child_receives, kind, at)
    if sender is None:
        sender = annulus.produce("ring", directory=at)
    kill_at, is_killed, number, account = time.monotonic() + rng.uniform(0, 0.03), False, 0, Account()
    own = annulus.subscribe("ring", directory=at) if maker == "publish" else None
    left = 8 * CAPACITY
    try:
        while left > 0:
            if not is_killed and time.monotonic() >= kill_at:
                victim.kill()
                is_killed = True
            batch = rows(number, rng.choice([1, 5, 200]))
            if kind == "bytes":
                sender.send(batch.tobytes(), PATIENCE)
            else:
                assert sender.send_batch(batch, PATIENCE) == len(batch), "no room came"
            number += len(batch)
            if own is not None:
                account.take(own.recv_batch(timeout=PATIENCE))
                # A queue goes on until its sender learns of the death.
                left -= len(batch) if is_killed else 0
        assert own is not None and account.received == number and account.missing == own.total_lagged == 0
    except annulus.ClosedError as error:
        assert error.peer_died and own is None, error
    finally:
        sender.close()
        if own is not None:
            own.close()
    stop(victim)


def stop(*children: Any) -> None:
    for child in children:
        if child is not None:
            child.kill()
            child.join()
            assert child.exitcode == -signal.SIGKILL, (
                f"a child ended with {child.exitcode}, before it was killed"
            )


def kill_for(seconds: float, seed: int) -> None:
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["numpy", "annulus"])
    rng = random.Random(seed)
    rounds: collections.Counter[str] = collections.Counter()
    end = time.monotonic() + seconds

    def start(target: Callable[..., None], *arguments: Any) -> Any:
        ready = context.Event()
        child = context.Process(target=target, args=(*arguments, ready), daemon=True)
        child.start()
        assert ready.wait(PATIENCE), "the child did not begin"
        return child

    while time.monotonic() < end:
        kind, dies = rng.choice(list(KINDS)), rng.choice([sender_dies, receiver_dies])
        with tempfile.TemporaryDirectory() as at:
            try:
                dies(kind, at, rng, start)
            except BaseException:
                print(
                    f"round {sum(rounds.values())} of --seed {seed}: {kind}, {dies.__name__}", file=sys.stderr
                )
                raise
        rounds[f"{kind}, {dies.__name__.replace('_', ' ')}"] += 1
    for name, count in sorted(rounds.items()):
        print(f"{name:28}{count:6}")
    print(f"{sum(rounds.values())} rounds, each account is exact; --seed {seed}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--messages", type=int, default=1_000_000)
    parser.add_argument("--kill", type=float, metavar="SECONDS")
    parser.add_argument("--seed", type=int, default=int(time.time()) // 86400)
    given = parser.parse_args()
    if given.kill is not None:
        kill_for(given.kill, given.seed)
        return 0
    return 0 if show_growth(given.messages) else 1


if __name__ == "__main__":
    sys.exit(main())
