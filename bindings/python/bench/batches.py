"""`recv_batch` of Python beside the library's own, in Rust: a batch of 4,096 messages of 32 bytes.

    cargo build --release --manifest-path Cargo.toml --example batches
    python bench/batches.py target/release/examples/batches [ROUNDS]

Both programs take turns, each with both ends in one thread, so that the copy out of the ring and the call are
what is measured. Medians of the rounds, with the least and the largest, in nanoseconds a message.
"""

from __future__ import annotations

import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

import annulus

DTYPE = np.dtype([("number", "u8"), ("bid", "f8"), ("ask", "f8"), ("size", "u8")])
BATCH, BATCHES = 4096, 2000


def python(place: str) -> tuple[float, float]:
    """Into one array for all batches, and into a new one for each."""
    sender = annulus.publish("batches", DTYPE, capacity=4 * BATCH, directory=place)
    one, other = (annulus.subscribe("batches", directory=place) for _ in range(2))
    sent, room = np.ones(BATCH, DTYPE), np.zeros(BATCH, DTYPE)
    into_one = into_new = 0
    for _ in range(BATCHES):
        sender.send_batch(sent)
        begun = time.perf_counter_ns()
        got = one.recv_batch(room)
        into_one += time.perf_counter_ns() - begun
        assert len(got) == BATCH
        begun = time.perf_counter_ns()
        got = other.recv_batch(BATCH)
        into_new += time.perf_counter_ns() - begun
        assert len(got) == BATCH
    return into_one / BATCHES / BATCH, into_new / BATCHES / BATCH


def rust(program: str) -> tuple[float, float]:
    told = subprocess.run([program, str(BATCHES)], check=True, capture_output=True, text=True).stdout.split()
    return float(told[0]), float(told[1])


def main() -> None:
    program = str(pathlib.Path(sys.argv[1]).resolve())
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    found: dict[str, list[float]] = {}
    for _ in range(rounds):
        by_type, by_schema = rust(program)
        with tempfile.TemporaryDirectory() as place:
            into_one, into_new = python(place)
        for name, figure in [
            ("Rust, recv_batch of the type", by_type),
            ("Rust, a run by the schema", by_schema),
            ("Python, into one array", into_one),
            ("Python, a new array", into_new),
        ]:
            found.setdefault(name, []).append(figure)
    base = statistics.median(found["Rust, recv_batch of the type"])
    print(f"{'ns a message':32}{'median':>8}{'least':>8}{'largest':>9}{'of Rust':>9}")
    for name, each in found.items():
        middle = statistics.median(each)
        print(f"{name:32}{middle:8.2f}{min(each):8.2f}{max(each):9.2f}{base / middle:9.2f}")


if __name__ == "__main__":
    main()
