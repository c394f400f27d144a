"""Annulus beside what else moves messages between Python processes.

    python bench/rivals.py [--rounds 7] [--json] [NAME...]

Two processes (threads where a name says so). The contenders take turns, round for round; each figure is the
median of the rounds, with the least and the largest. `one by one` and `batches` are nanoseconds a message of
32 bytes, sent by one process and received by the other one, which looks at each. `round trip` is
microseconds. What is not installed is left out, and said so: `pip install numpy pyzmq iceoryx2`.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import ctypes
import importlib.util
import json
import multiprocessing
import os
import pathlib
import platform
import statistics
import sys
import tempfile
import threading
import time
from multiprocessing import shared_memory
from typing import Any

import numpy as np

import annulus

DTYPE = np.dtype([("number", "u8"), ("bid", "f8"), ("ask", "f8"), ("size", "u4"), ("side", "u4")])
assert DTYPE.itemsize == 32
BATCH = 4096
#: So many messages of a round, and round trips.
MESSAGES, TRIPS = 1 << 20, 5_000
CAPACITY = 4 * BATCH


class Link:
    """One way between two processes: one end sends, the other one receives. Each is a contender."""

    #: Whether both ends are threads of one process.
    threads = False
    #: What is measured.
    test = ""

    def __init__(self, place: str) -> None:
        self.place = place

    #: What sends or receives, where that is an object.
    end: Any

    def open_sender(self) -> None: ...
    def open_receiver(self) -> None: ...
    def remove(self) -> None: ...
    def close(self) -> None:
        self.end.close()

    def send(self, message: Any) -> None:
        self.end.send(message)

    def recv(self) -> Any:
        return self.end.recv()

    # A batch is one large message, where there is nothing else.

    def send_batch(self, batch: Any) -> None:
        self.send(batch.tobytes())

    def recv_batch(self) -> Any:
        return np.frombuffer(self.recv(), DTYPE)


class Annulus(Link):
    wait = "block"

    def open_sender(self) -> None:
        name, directory = os.path.basename(self.place), os.path.dirname(self.place)
        self.end = annulus.spsc(name, DTYPE, capacity=CAPACITY, directory=directory, wait=self.wait)

    def open_receiver(self) -> None:
        name, directory = os.path.basename(self.place), os.path.dirname(self.place)
        self.end = annulus.consume(name, timeout=None, directory=directory, wait=self.wait)
        self.room = np.zeros(BATCH, DTYPE)

    def send_batch(self, batch: Any) -> None:
        self.end.send_batch(batch)

    def recv_batch(self) -> Any:
        return self.end.recv_batch(self.room)


class AnnulusSpinning(Annulus):
    wait = "busy-spin"


class AnnulusBytes(Annulus):
    """Messages are bytes: a field of a NumPy record costs more than the ring."""

    def open_sender(self) -> None:
        name, directory = os.path.basename(self.place), os.path.dirname(self.place)
        self.end = annulus.spsc(name, message_bytes=32, capacity=CAPACITY, directory=directory)

    def send_batch(self, batch: Any) -> None:
        self.end.send_batch(batch.view("V32"))

    def recv_batch(self) -> Any:
        return self.room[: self.end.recv_batch_into(self.room)]


class AnnulusBroadcast(Annulus):
    """Lossless, to one subscriber."""

    def open_sender(self) -> None:
        name, directory = os.path.basename(self.place), os.path.dirname(self.place)
        self.end = annulus.publish(name, DTYPE, capacity=CAPACITY, lossless=True, directory=directory)
        self.end.wait_for_subscribers(1)

    def open_receiver(self) -> None:
        name, directory = os.path.basename(self.place), os.path.dirname(self.place)
        self.end = annulus.subscribe(name, timeout=None, start="oldest", directory=directory)
        self.room = np.zeros(BATCH, DTYPE)


class AnnulusFrames(Annulus):
    """Lossless, to one subscriber: a batch is a frame, which is read in place."""

    def open_sender(self) -> None:
        name, directory = os.path.basename(self.place), os.path.dirname(self.place)
        self.end = annulus.publish_frames(
            name, (BATCH,), DTYPE, lossless=True, subscribers=1, held=3, directory=directory
        )
        self.end.wait_for_subscribers(1)

    def open_receiver(self) -> None:
        name, directory = os.path.basename(self.place), os.path.dirname(self.place)
        self.end = annulus.subscribe_frames(name, timeout=None, start="oldest", directory=directory)

    def send(self, message: Any) -> None:
        self.end.publish(message)

    def recv(self) -> Any:
        return self.end.recv().view

    def send_batch(self, batch: Any) -> None:
        self.end.publish(batch)

    def recv_batch(self) -> Any:
        return self.end.recv().array


class Fifo(Link):
    """`multiprocessing.Pipe` and its like need a common parent: the ends are made there, and inherited."""

    made: Any

    def close(self) -> None: ...
    def send(self, message: Any) -> None:
        self.made[1].send_bytes(message)

    def recv(self) -> Any:
        return self.made[0].recv_bytes()


class MpPipe(Fifo):
    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.made = multiprocessing.get_context("spawn").Pipe(duplex=False)


class MpQueue(Fifo):
    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.made = multiprocessing.get_context("spawn").Queue(CAPACITY)

    def send(self, message: Any) -> None:
        self.made.put(message)

    def recv(self) -> Any:
        return self.made.get()


class SharedMemory(Link):
    """A place in `shared_memory` for a message or a batch, and two semaphores: what one writes by hand."""

    def __init__(self, place: str) -> None:
        super().__init__(place)
        context = multiprocessing.get_context("spawn")
        self.free, self.full = context.Semaphore(1), context.Semaphore(0)
        self.memory = shared_memory.SharedMemory(create=True, size=8 + BATCH * 32)

    def close(self) -> None: ...
    def remove(self) -> None:
        self.memory.close()
        self.memory.unlink()

    def send(self, message: Any) -> None:
        self.free.acquire()
        length = len(message)
        self.memory.buf[:8] = length.to_bytes(8, "little")
        self.memory.buf[8 : 8 + length] = message
        self.full.release()

    def recv(self) -> Any:
        self.full.acquire()
        length = int.from_bytes(self.memory.buf[:8], "little")
        message = bytes(self.memory.buf[8 : 8 + length])
        self.free.release()
        return message


class Zmq(Link):
    address = "ipc://{}"

    def __init__(self, place: str) -> None:
        super().__init__(place)
        self.context: Any = None

    def _socket(self, kind: str) -> Any:
        import zmq

        self.context = self.context or zmq.Context.instance()
        socket = self.context.socket(getattr(zmq, kind))
        socket.set_hwm(CAPACITY)
        return socket

    def open_sender(self) -> None:
        self.end = self._socket("PUSH")
        self.end.bind(self.address.format(self.place))

    def open_receiver(self) -> None:
        self.end = self._socket("PULL")
        self.end.connect(self.address.format(self.place))


class ZmqInproc(Zmq):
    threads = True
    address = "inproc://{}"


class Iceoryx(Link):
    """Slices of bytes, polled: its subscribers of samples do not wait."""

    def _service(self) -> Any:
        import iceoryx2 as iox2

        iox2.set_log_level(iox2.LogLevel.Error)
        self.node = iox2.NodeBuilder.new().create(iox2.ServiceType.Ipc)
        # It reserves memory for all: so many bytes in each test.
        self.length = BATCH * 32 if self.test == "batches" else 32
        self.room = CAPACITY * 32 // self.length
        return (
            self.node.service_builder(iox2.ServiceName.new(self.place.replace("/", "-")))
            .publish_subscribe(iox2.Slice[ctypes.c_uint8])
            .enable_safe_overflow(False)
            .subscriber_max_buffer_size(self.room)
            .history_size(0)
            .open_or_create()
        )

    def open_sender(self) -> None:
        import iceoryx2 as iox2

        service = self._service()
        waits = iox2.BackpressureStrategy.RetryUntilDelivered
        made = service.publisher_builder().backpressure_strategy(waits)
        self.end = made.initial_max_slice_len(self.length).create()
        while service.dynamic_config.number_of_subscribers == 0:
            time.sleep(0.001)

    def open_receiver(self) -> None:
        self.end = self._service().subscriber_builder().buffer_size(self.room).create()

    def close(self) -> None:
        self.end.delete()

    def send(self, message: Any) -> None:
        loaned = self.end.loan_slice_uninit(len(message))
        ctypes.memmove(loaned.payload_ptr, message, len(message))
        loaned.assume_init().send()

    def recv(self) -> Any:
        while True:
            sample = self.end.receive()
            if sample is not None:
                message = ctypes.string_at(sample.payload_ptr, self.length)
                sample.delete()
                return message


CONTENDERS: dict[str, tuple[type[Link], str | None]] = {
    "annulus": (Annulus, None),
    "annulus, bytes": (AnnulusBytes, None),
    "annulus, spinning": (AnnulusSpinning, None),
    "annulus, lossless broadcast": (AnnulusBroadcast, None),
    "annulus, frames": (AnnulusFrames, None),
    "multiprocessing.Pipe": (MpPipe, None),
    "multiprocessing.Queue": (MpQueue, None),
    "shared_memory by hand": (SharedMemory, None),
    "pyzmq, ipc": (Zmq, "zmq"),
    "pyzmq, inproc (threads)": (ZmqInproc, "zmq"),
    "iceoryx2": (Iceoryx, "iceoryx2"),
}


def message_of(link: Link) -> Any:
    """What is sent one by one: a record for us, its bytes for others."""
    record = np.zeros(1, DTYPE)[0]
    record["bid"] = 1.5
    is_record = isinstance(link, Annulus) and not isinstance(link, (AnnulusBytes, AnnulusFrames))
    return record if is_record else record.tobytes()


def number_of(message: Any) -> int:
    """So that each message is looked at. All have 0."""
    return int(message["number"]) if isinstance(message, np.void) else int(message[0])


def send_side(link: Link, back: Link, test: str, count: int, done: Any) -> None:
    """The other process, or thread."""
    if test == "round trip":
        back.open_receiver()
    link.open_sender()
    message, send = message_of(link), link.send
    if test == "one by one":
        for _ in range(count):
            send(message)
    elif test == "batches":
        batch = np.zeros(BATCH, DTYPE)
        batch["size"] = 1
        for _ in range(count // BATCH):
            link.send_batch(batch)
    else:
        for _ in range(count):
            send(message)
            back.recv()
        back.close()
    # Some lose what is under way when the sender ends.
    done.wait()
    link.close()


def receive_side(link: Link, back: Link, test: str, count: int) -> float:
    """This process: seconds for so many, without the first ones."""
    if test == "round trip":
        back.open_sender()
    link.open_receiver()
    recv = link.recv
    if test == "one by one":
        first = number_of(recv())
        begun = time.perf_counter()
        total = sum(number_of(recv()) for _ in range(count - 1))
        assert first + total == 0
        return time.perf_counter() - begun
    if test == "batches":
        received = int(link.recv_batch()["size"].sum())
        rest, begun = count - received, time.perf_counter()
        while received < count:
            received += int(link.recv_batch()["size"].sum())
        assert received == count
        return (time.perf_counter() - begun) * count / rest
    answer, begun, warm = message_of(back), 0.0, count // 10
    for trip in range(count):
        if trip == warm:
            begun = time.perf_counter()
        recv()
        back.send(answer)
    seconds = (time.perf_counter() - begun) * count / (count - warm)
    back.close()
    return seconds


def measured(kind: type[Link], test: str, count: int, place: str) -> float:
    """One round, in nanoseconds a message."""
    context = multiprocessing.get_context("spawn")
    link, back = kind(place), kind(place + "-back")
    link.test = back.test = test
    done: Any = threading.Event() if kind.threads else context.Event()
    # The other end is another object, as it is in another process.
    arguments = (copy.copy(link), copy.copy(back), test, count, done)
    other: Any = (threading.Thread if kind.threads else context.Process)(
        target=send_side, args=arguments, daemon=True
    )
    other.start()
    seconds = receive_side(link, back, test, count)
    done.set()
    other.join()
    link.close()
    for each in (link, back):
        each.remove()
    return seconds / count * 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--json", action="store_true", help="an object a line, in place of tables")
    parser.add_argument("names", nargs="*", metavar="NAME", help="contenders whose names begin so; else all")
    given = parser.parse_args()
    chosen = {}
    for name, (kind, needs) in CONTENDERS.items():
        if given.names and not any(name.startswith(begin) for begin in given.names):
            continue
        if needs and importlib.util.find_spec(needs) is None:
            print(f"left out: {name}, because {needs} is not installed", file=sys.stderr)
            continue
        chosen[name] = kind
    if not chosen:
        parser.error(f"no contender has such a name; there are: {', '.join(CONTENDERS)}")
    if not given.json:
        print(f"{processor()}, CPython {platform.python_version()}, NumPy {np.__version__}, {given.rounds} rounds")
    for test, unit, divisor, count, slow_count in (
        ("one by one", "ns", 1, MESSAGES // 4, MESSAGES // 16),
        ("batches", "ns", 1, MESSAGES * 16, MESSAGES),
        ("round trip", "µs", 1000, TRIPS, TRIPS),
    ):
        rounds: dict[str, list[float]] = {name: [] for name in chosen}
        with tempfile.TemporaryDirectory(prefix="annulus-rivals-") as folder:
            for turn in range(given.rounds):
                for number, (name, kind) in enumerate(chosen.items()):
                    print(f"\r{test}, round {turn + 1}: {name:40}", end="", file=sys.stderr, flush=True)
                    place = f"{folder}/{turn}-{number}"
                    of = count if issubclass(kind, Annulus) else slow_count
                    rounds[name].append(measured(kind, test, of, place) / divisor)
        print(f"\r{'':70}\r", end="", file=sys.stderr)
        if given.json:
            for name, each in rounds.items():
                print(json.dumps({"test": test, "unit": unit, "name": name, "rounds": each}))
            continue
        print(f"\n{test + ', ' + unit:32}{'median':>12}{'least':>12}{'largest':>12}")
        for name, each in rounds.items():
            print(f"{name:32}{statistics.median(each):12.2f}{min(each):12.2f}{max(each):12.2f}")


def processor() -> str:
    with contextlib.suppress(OSError):
        for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(": ", 1)[1]
    return platform.machine()


if __name__ == "__main__":
    main()
