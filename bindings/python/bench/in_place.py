"""What a loan saves: the same work on messages in place, and on copies of them.

    python bench/in_place.py

One thread sends a batch and receives it, and writes and reads one field of eight bytes of each message. The
figures are nanoseconds a message: the least of five rounds, for messages of 32 and of 256 bytes.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import annulus

ROUNDS, BYTES = 5, 1 << 28


def nanoseconds(work: Callable[[], None], batch: int, turns: int) -> float:
    """Of a message."""
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.perf_counter()
        for _ in range(turns):
            work()
        best = min(best, time.perf_counter() - begun)
    return best / turns / batch * 1e9


def measure(size: int, batch: int) -> tuple[float, float]:
    """By copies, and in place."""
    dtype = np.dtype([("bid", "f8"), ("rest", "u1", (size - 8,))])
    producer = annulus.spsc(None, dtype, capacity=batch)
    consumer = producer.ring.consume()
    source, out = np.zeros(batch, dtype), np.zeros(batch, dtype)

    def by_copies() -> None:
        source["bid"] = 1.0
        assert producer.send_batch(source) == batch
        assert consumer.recv_batch(out)["bid"].sum() == batch

    def in_place() -> None:
        with producer.reserve(batch) as lent:
            lent["bid"] = 1.0
        with consumer.readable() as lent:
            assert lent["bid"].sum() == batch

    turns = BYTES // (size * batch)
    return nanoseconds(by_copies, batch, turns), nanoseconds(in_place, batch, turns)


for size, batch in (32, 4096), (256, 16384):
    copies, place = measure(size, batch)
    print(f"{size} bytes, {batch} in a batch: {copies:.1f} by copies, {place:.1f} in place")
