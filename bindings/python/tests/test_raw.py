"""The extension module: rings of bytes, as `annulus._annulus` has them."""

from __future__ import annotations

import array
import json
import os
import pathlib
import resource
import select
import signal
import subprocess
import sys
import textwrap
import threading
from collections.abc import Callable
from typing import Any

import pytest

from annulus import _annulus as raw

QUOTE = "quote{bid:f64,ask:f64}"
BYTES = 16
# Only a true hang reaches it.
PATIENCE = 60.0

Directory = pathlib.Path
Pair = tuple[raw.RawSender, raw.RawReceiver]


@pytest.fixture
def directory(tmp_path: pathlib.Path) -> Directory:
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path


def lossy(directory: Directory, capacity: int) -> Pair:
    sender = raw.make_lossy("ring", directory, capacity, QUOTE)
    return sender, raw.join_receiver("ring", directory, "oldest")


def lossless(directory: Directory, capacity: int) -> Pair:
    sender = raw.make_lossless("ring", directory, capacity, QUOTE, seats=2)
    return sender, raw.join_receiver("ring", directory, "oldest")


def mp_lossy(directory: Directory, capacity: int) -> Pair:
    sender = raw.make_mp_lossy("ring", directory, capacity, QUOTE)
    return sender, raw.join_receiver("ring", directory, "oldest")


def spsc(directory: Directory, capacity: int) -> Pair:
    sender = raw.make_spsc("ring", directory, capacity, QUOTE)
    return sender, raw.join_receiver("ring", directory)


def mpsc(directory: Directory, capacity: int) -> Pair:
    receiver = raw.make_mpsc("ring", directory, capacity, QUOTE, when_no_producer="close")
    return raw.join_sender("ring", directory), receiver


KINDS: list[Callable[[Directory, int], Pair]] = [lossy, lossless, mp_lossy, spsc, mpsc]
WAITING = [lossless, spsc, mpsc]


def message(number: int) -> bytes:
    return number.to_bytes(8, "little") + bytes(8)


def number_of(received: bytes) -> int:
    assert len(received) == BYTES and received[8:] == bytes(8)
    return int.from_bytes(received[:8], "little")


def state_of(receiver: raw.RawReceiver) -> str:
    return receiver.state


def run_python(directory: Directory, code: str, *arguments: str) -> subprocess.Popen[str]:
    """Another process of this Python, with `raw` and `directory`."""
    head = f"import os, signal, sys\nfrom annulus import _annulus as raw\ndirectory = {str(directory)!r}\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(code), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What it has printed since, once it has ended."""
    try:
        return process.communicate(timeout=PATIENCE)
    finally:
        process.kill()


# Schemas.


def test_schema_texts() -> None:
    assert raw.canonical(" quote { bid : f64 , ask : f64 , } ") == QUOTE
    assert raw.schema_size(QUOTE) == BYTES
    assert raw.fingerprint(QUOTE) == raw.fingerprint('quote{bid:f64(EUR)"best",ask:f64}')
    assert raw.fingerprint(QUOTE) != raw.fingerprint("quote{bid:f64,ask:f32}")
    with pytest.raises(raw.SchemaError, match='"quote{" is no schema: at byte 6'):
        raw.canonical("quote{")


def test_schema_json_has_each_kind() -> None:
    text = 'all@3{a:[u16;3],b:enum u8{no=0,yes=7{x:f32(ns)"A \\"q\\"."}},c:text 12,d:nonzero u32,e:i128?,f:char}'
    text = text.replace('\\"', "'")
    root = json.loads(raw.schema_json(text))
    assert [root[key] for key in ("kind", "name", "version", "size")] == ["struct", "all", 3, raw.schema_size(text)]
    fields = {field["name"]: field for field in root["fields"]}
    assert fields["a"]["kind"] == {"kind": "array", "of": {"kind": "scalar", "scalar": "u16"}, "length": 3}
    no, yes = fields["b"]["kind"]["variants"]
    assert no == {"name": "no", "number": 0, "fields": []}
    assert (yes["name"], yes["number"]) == ("yes", 7)
    assert yes["fields"] == [
        {"name": "x", "kind": {"kind": "scalar", "scalar": "f32"}, "unit": "ns", "comment": "A 'q'.", "offset": 0}
    ]
    assert fields["c"]["kind"] == {"kind": "text", "capacity": 12}
    assert fields["d"]["kind"] == {"kind": "nonzero", "scalar": "u32"}
    assert fields["e"]["kind"] == {"kind": "option", "of": {"kind": "scalar", "scalar": "i128"}}
    assert [field["offset"] for field in root["fields"]] == [0, 6, 11, 25, 29, 46]
    assert (fields["f"]["unit"], fields["f"]["comment"]) == (None, None)


# Rings.


@pytest.mark.parametrize("make", KINDS)
def test_messages_arrive(directory: Directory, make: Callable[[Directory, int], Pair]) -> None:
    sender, receiver = make(directory, 64)
    for handle in (sender, receiver):
        assert (handle.name, handle.kind, handle.message_bytes) == ("ring", make.__name__, BYTES)
        assert (handle.schema, handle.is_closed) == (QUOTE, False)
        assert handle.capacity >= 64
    assert receiver.try_recv_bytes() is None
    assert receiver.try_recv_batch_into(bytearray(4 * BYTES)) == 0
    assert receiver.latest_bytes() is None
    sender.send(message(1))
    assert sender.try_send(bytearray(message(2)))
    assert sender.send_batch(message(3) + message(4) + message(5)) == 3
    assert sender.send_batch(b"") == 0
    assert len(receiver) == 5
    assert number_of(receiver.recv_bytes()) == 1
    buffer = bytearray(BYTES)
    assert receiver.recv_into(buffer) and number_of(bytes(buffer)) == 2
    batch = bytearray(b"\xff" * 4 * BYTES)
    assert receiver.recv_batch_into(batch) == 3
    assert bytes(batch) == message(3) + message(4) + message(5) + b"\xff" * BYTES
    assert sender.send_batch(b"".join(message(number) for number in range(6, 10))) == 4
    assert receiver.latest_into(buffer) and number_of(bytes(buffer)) == 9
    assert not receiver.latest_into(buffer)
    assert receiver.total_skipped == 3
    assert receiver.total_lagged == (3 if "lossy" in make.__name__ else 0)
    assert state_of(receiver) == "alive"
    sender.send(message(10))
    sender.close()
    sender.close()
    if make is mp_lossy:
        # It waits for the next publisher.
        assert number_of(receiver.recv_bytes()) == 10
        assert not receiver.recv_into(buffer, 0.01)
        return
    assert [number_of(received) for received in receiver] == [10]
    assert receiver.is_closed and state_of(receiver) == "closed"
    for verb in (receiver.recv_bytes, receiver.try_recv_bytes, lambda: receiver.recv_batch_into(batch), receiver.latest_bytes):
        with pytest.raises(raw.ClosedError, match='the ring "ring" is closed') as told:
            verb()
        assert told.value.peer_died is False


@pytest.mark.parametrize("make", WAITING)
def test_full_ring(directory: Directory, make: Callable[[Directory, int], Pair]) -> None:
    sender, receiver = make(directory, 4)
    numbers = range(7)
    assert sender.send_batch(b"".join(map(message, numbers)), 0) == 4
    assert not sender.try_send(message(9))
    for timeout in (0, 0.03):
        with pytest.raises(raw.FullError, match='no room came in "ring"') as told:
            sender.send(message(9), timeout)
        assert isinstance(told.value, raw.TimeoutError) and isinstance(told.value, TimeoutError)
    # A batch that is longer than the ring waits for the receiver.
    received: list[int] = []

    def receive() -> None:
        received.extend(number_of(receiver.recv_bytes(PATIENCE)) for _ in range(104))

    thread = threading.Thread(target=receive)
    thread.start()
    assert sender.send_batch(b"".join(map(message, range(100))), PATIENCE) == 100
    thread.join()
    assert received == [*range(4), *range(100)]


def test_lag_is_counted(directory: Directory) -> None:
    sender, receiver = lossy(directory, 8)
    sender.send_batch(b"".join(map(message, range(100))))
    batch = bytearray(100 * BYTES)
    count = receiver.recv_batch_into(batch)
    assert 0 < count <= 8 and receiver.total_lagged + count == 100
    assert number_of(bytes(batch[:BYTES])) == 100 - count
    assert receiver.cursor == sender.sequence == 100


@pytest.mark.parametrize("size", [1, 7, 8, 24, 40, 256, 300, 4096])
def test_sizes_and_addresses(directory: Directory, size: int) -> None:
    sender = raw.make_lossy("ring", directory, 64, None, size)
    receiver = raw.join_receiver("ring", directory, "oldest")
    assert receiver.schema is None
    sent = bytes(number % 251 for number in range(20 * size))
    for shift in (0, 1):
        out = bytearray(20 * size + shift)
        assert sender.send_batch(memoryview(bytes(shift) + sent)[shift:]) == 20
        assert receiver.recv_batch_into(memoryview(out)[shift:]) == 20
        assert out[shift:] == sent
        sender.send(sent[:size])
        assert receiver.recv_bytes() == sent[:size]


def test_several_publishers(directory: Directory) -> None:
    first = raw.make_mp_lossy("ring", directory, 8, QUOTE, publishers=2)
    second = raw.make_mp_lossy("ring", directory, 8, QUOTE, publishers=2)
    assert (first.owns_name, second.owns_name) == (True, False)
    receiver = raw.join_receiver("ring", directory, "oldest")
    second.send(message(1))
    first.send(message(2))
    assert [number_of(receiver.recv_bytes()) for _ in range(2)] == [1, 2]
    with pytest.raises(raw.NoSeatError, match="all 2 places for producers are taken"):
        raw.join_sender("ring", directory)
    second.close()
    raw.join_sender("ring", directory).close()
    with pytest.raises(raw.MismatchError, match=r"the ring's messages: quote\{bid.*\n  asked for: \{x:u8\} \(1 bytes\)"):
        raw.make_mp_lossy("ring", directory, 8, "{x:u8}")


def test_seats(directory: Directory) -> None:
    sender = raw.make_lossless("ring", directory, 8, QUOTE, seats=1)
    assert not sender.wait_for_subscribers(1, 0.01)
    receiver = raw.join_receiver("ring", directory)
    assert sender.wait_for_subscribers(1)
    with pytest.raises(raw.NoSeatError):
        raw.join_receiver("ring", directory)
    tap = raw.join_receiver("ring", directory, "oldest", awaited=False)
    sender.send(message(1))
    assert number_of(receiver.recv_bytes()) == number_of(tap.recv_bytes()) == 1
    queue = raw.make_spsc("queue", directory, 8, QUOTE)
    consumer = raw.join_receiver("queue", directory)
    with pytest.raises(raw.NoSeatError, match="has its one consumer already"):
        raw.join_receiver("queue", directory)
    consumer.close()
    with pytest.raises(raw.ClosedError):
        queue.send(message(1))


def test_records(directory: Directory) -> None:
    producer = raw.make_bytes("records", directory, 1000)
    consumer = raw.join_bytes("records", directory)
    assert producer.max_len == consumer.max_len == 500
    assert (producer.capacity, consumer.name, consumer.state) == (1000, "records", "alive")
    for record in (b"", b"x", bytes(range(200)), array.array("i", [1, 2, 3])):
        producer.send(record)
        assert consumer.recv() == bytes(record)
    with pytest.raises(ValueError, match='the record has 501 bytes, and "records" takes up to 500'):
        producer.send(bytes(501))
    sent = 0
    while producer.try_send(bytes(300)):
        sent += 1
    assert sent in (2, 3)
    with pytest.raises(raw.FullError, match='no room came in "records" in 0.03 seconds'):
        producer.send(bytes(300), 0.03)
    assert [len(consumer.recv()) for _ in range(sent)] == [300] * sent
    assert consumer.try_recv() is None
    with pytest.raises(raw.TimeoutError, match='no record came from "records" in 0.03 seconds'):
        consumer.recv(0.03)
    assert consumer.arm()
    producer.send(b"end")
    assert select.select([consumer], [], [], PATIENCE)[0] == [consumer]
    producer.close()
    assert list(consumer) == [b"end"]
    with pytest.raises(raw.ClosedError):
        consumer.recv()
    with pytest.raises(raw.ClosedError, match="this handle was closed by close"):
        producer.send(b"")


# Names.


def test_names(directory: Directory) -> None:
    assert raw.entries(directory) == raw.entries(directory / "none") == []
    with raw.make_lossy("ring", directory, 8, QUOTE, alignment=8) as sender:
        told = raw.info("ring", directory)
        assert (told["kind"], told["capacity"], told["bytes"], told["alignment"]) == ("lossy", 8, BYTES, 8)
        assert (told["schema"], told["creator"]) == (QUOTE, os.getpid())
        assert told["fingerprint"] == raw.fingerprint(QUOTE)
        assert raw.entries(str(directory)) == [{"name": "ring", "state": "alive", "process": os.getpid()}]
        with pytest.raises(raw.NameTakenError, match=f'the name "ring" is taken by process {os.getpid()}'):
            raw.make_lossless("ring", directory, 8, QUOTE)
        assert sender.owns_name
    for find in (raw.info, raw.join_receiver, raw.join_sender, raw.join_bytes):
        with pytest.raises(raw.RingNotFoundError, match='there is no ring "ring"'):
            find("ring", directory)
    with pytest.raises(raw.RingNotFoundError, match="there is no directory"):
        raw.join_receiver("ring", directory / "none")
    assert not (directory / "none").exists()
    with pytest.raises(raw.TimeoutError, match='no ring "ring" came in time'):
        raw.join_receiver("ring", directory, timeout=0.03)
    with pytest.raises(ValueError, match='no ring can have the name "a/b"'):
        raw.make_lossy("a/b", directory, 8, QUOTE)
    (directory / "file").touch()
    with pytest.raises(raw.DirectoryError, match="no directory"):
        raw.make_lossy("ring", directory / "file", 8, QUOTE)
    assert isinstance(raw.directory_of_user(), (str, os.PathLike))


def test_receiver_comes_first(directory: Directory) -> None:
    joined: list[raw.RawReceiver] = []
    thread = threading.Thread(
        target=lambda: joined.append(raw.join_receiver("ring", directory, "oldest", timeout=None))
    )
    thread.start()
    sender = raw.make_lossy("ring", directory, 8, QUOTE)
    thread.join(PATIENCE)
    sender.send(message(7))
    assert number_of(joined[0].recv_bytes(PATIENCE)) == 7


def test_ends_that_cannot_be(directory: Directory) -> None:
    sender = raw.make_lossy("ring", directory, 8, QUOTE)
    both = r"the ring's messages: quote\{bid:f64,ask:f64\} \(16 bytes\)\n  asked for: "
    with pytest.raises(raw.MismatchError, match=both + r"quote\{bid:f64,ask:u64\}"):
        raw.join_receiver("ring", directory, schema="quote{bid:f64,ask:u64}")
    with pytest.raises(TypeError, match=both + "8 bytes each"):
        raw.join_receiver("ring", directory, bytes=8)
    raw.join_receiver("ring", directory, schema='quote{bid:f64(EUR),ask:f64}', bytes=BYTES)
    with pytest.raises(raw.MismatchError, match="is a lossy broadcast ring, and has its one sender"):
        raw.join_sender("ring", directory)
    with pytest.raises(raw.MismatchError, match="the ring is a lossy broadcast ring, not a queue of records"):
        raw.join_bytes("ring", directory)
    raw.make_bytes("records", directory, 100)
    records = raw.make_bytes("records", directory, 100)
    with pytest.raises(raw.MismatchError, match="is a queue of records, which has no such end"):
        raw.join_receiver("records", directory)
    records.close()
    impossible: list[tuple[tuple[Any, ...], str]] = [
        ((0, QUOTE), "capacity 0 is too small"),
        ((8, None), "schema and bytes are None"),
        ((8, QUOTE, 8), "bytes is 8, and a message of the schema .* has 16 bytes"),
        ((8, None, 0), "there are no messages of 0 bytes"),
        ((8, None, 12, 8), "there are no messages of 12 bytes with an alignment of 8"),
        ((8, None, 4097), "up to 4096 bytes here, and this one has 4097"),
        ((8, QUOTE, None, 1, "nap"), '"nap" is no wait strategy'),
    ]
    for arguments, text in impossible:
        with pytest.raises(ValueError, match=text):
            raw.make_lossy("other", directory, *arguments)
    with pytest.raises(ValueError, match="can't have 0 seats"):
        raw.make_lossless("other", directory, 8, QUOTE, seats=0)
    with pytest.raises(ValueError, match='"new" is neither "oldest" nor "newest"'):
        raw.join_receiver("ring", directory, "new")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='"never" is neither "close" nor "wait"'):
        raw.make_spsc("other", directory, 8, QUOTE, when_consumer_dies="never")  # type: ignore[arg-type]
    for timeout in (-1.0, float("nan")):
        with pytest.raises(ValueError, match="timeout is .*: it is a number of seconds from 0 on, or None"):
            raw.join_receiver("ring", directory, timeout=timeout)
    assert raw.entries(directory) == [{"name": "ring", "state": "alive", "process": os.getpid()}]
    sender.close()


def test_classes_are_made_by_functions_only() -> None:
    for handle in (raw.RawSender, raw.RawReceiver, raw.RawBytesProducer, raw.RawBytesConsumer):
        with pytest.raises(TypeError):
            handle()


# Buffers.


def test_buffers_that_do_not_fit(directory: Directory) -> None:
    sender, receiver = lossless(directory, 8)
    sender.send(message(1))
    for verb in (receiver.recv_into, receiver.try_recv_into, receiver.latest_into):
        with pytest.raises(ValueError, match="the buffer has 15 bytes, and a message has 16"):
            verb(bytearray(15))
        with pytest.raises(ValueError, match="the buffer has 32 bytes, and a message has 16"):
            verb(bytearray(32))
    for receive in (receiver.recv_batch_into, receiver.try_recv_batch_into, receiver.recv_into, receiver.latest_into):
        with pytest.raises(BufferError, match="bytes of 16 bytes is read-only"):
            receive(bytes(16))
        with pytest.raises(TypeError, match="int has no buffer: take bytes, a bytearray"):
            receive(3)
    for batch in (receiver.recv_batch_into, receiver.try_recv_batch_into, sender.send_batch):
        with pytest.raises(ValueError, match="the buffer has 33 bytes, which is no multiple of a message's 16 bytes"):
            batch(bytearray(33))
        with pytest.raises(BufferError, match=r"memoryview of 16 bytes does not lie in one piece .*strides are \[2\]"):
            batch(memoryview(bytearray(32))[::2])
        assert batch(bytearray()) == 0
    for send in (sender.send, sender.try_send):
        with pytest.raises(ValueError, match="the buffer has 0 bytes, and a message has 16"):
            send(b"")
        with pytest.raises(TypeError, match="str has no buffer"):
            send("sixteen letters.")
    # Nothing was taken, and nothing was sent.
    assert (len(receiver), number_of(receiver.recv_bytes())) == (1, 1)


def test_buffer_is_given_back(directory: Directory) -> None:
    sender, receiver = lossy(directory, 8)
    buffer = bytearray(message(1))
    sender.send(buffer)
    receiver.recv_into(buffer)
    with pytest.raises(ValueError):
        receiver.recv_batch_into(memoryview(buffer)[:3])
    # A bytearray that is still looked at can't grow.
    buffer.append(1)


def test_numpy(directory: Directory) -> None:
    numpy = pytest.importorskip("numpy")
    dtype = numpy.dtype([("bid", "<f8"), ("ask", "<f8")])
    sender, receiver = lossy(directory, 64)
    assert receiver.try_recv_value() is None
    sender.send(message(1))
    assert receiver.recv_value() == message(1)
    for bad, error, text in [
        ("<f8", TypeError, "is no numpy.dtype"),
        (numpy.dtype("<f8"), ValueError, "has 8 bytes, and a message has 16"),
        (numpy.dtype([("a", "O"), ("b", "O")]), TypeError, "has Python objects"),
    ]:
        with pytest.raises(error, match=text):
            receiver.make_values_by(bad)
    receiver.make_values_by(dtype)
    with pytest.raises(ValueError, match="it is given once"):
        receiver.make_values_by(dtype)
    rows = numpy.zeros(20, dtype)
    rows["bid"] = range(20)
    assert sender.send_batch(rows) == 20
    first, second = receiver.recv_value(), receiver.try_recv_value()
    assert (type(first), first.dtype, first["bid"], second["bid"]) == (numpy.void, dtype, 0.0, 1.0)
    # It has bytes of its own.
    first["bid"] = 99.0
    assert second["bid"] == 1.0
    out = numpy.empty(30, dtype)
    assert receiver.recv_batch_into(out[:10]) == 10
    assert (out[:10] == rows[2:12]).all()
    assert receiver.latest_value()["bid"] == 19.0
    with pytest.raises(BufferError, match=r"ndarray of 160 bytes does not lie in one piece"):
        receiver.recv_batch_into(out[::3])
    with pytest.raises(BufferError, match=r"ndarray of 480 bytes is read-only"):
        out.flags.writeable = False
        receiver.recv_batch_into(out)
    assert sender.send_batch(out) == 30


def test_scalar_values(directory: Directory) -> None:
    numpy = pytest.importorskip("numpy")
    sender = raw.make_lossy("ring", directory, 8, "f64")
    receiver = raw.join_receiver("ring", directory)
    receiver.make_values_by(numpy.dtype("<f8"))
    sender.send(numpy.float64(1.5))
    value = receiver.recv_value()
    assert type(value) is numpy.float64 and value == 1.5


# Threads.


def test_two_threads_share_a_handle(directory: Directory) -> None:
    count = 20_000
    sender, receiver = lossless(directory, 64)
    received: list[list[int]] = [[], [], []]

    def receive(into: list[int]) -> None:
        for each in receiver:
            into.append(number_of(each))

    def receive_batches(into: list[int]) -> None:
        batch = bytearray(16 * BYTES)
        while True:
            try:
                taken = receiver.recv_batch_into(batch)
            except raw.ClosedError:
                return
            into.extend(number_of(bytes(batch[at : at + BYTES])) for at in range(0, taken * BYTES, BYTES))

    def send(numbers: range) -> None:
        for number in numbers:
            sender.send(message(number))

    takers = [receive, receive, receive_batches]
    readers = [threading.Thread(target=take, args=(into,)) for take, into in zip(takers, received)]
    writers = [threading.Thread(target=send, args=(range(part, count, 2),)) for part in (0, 1)]
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    sender.close()
    for thread in readers:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert sorted(number for part in received for number in part) == list(range(count))


def test_verbs_beside_a_thread_that_waits(directory: Directory) -> None:
    sender, receiver = lossy(directory, 8)
    got: list[bytes] = []
    thread = threading.Thread(target=lambda: got.append(receiver.recv_bytes()))
    thread.start()
    for _ in range(50):
        assert (len(receiver), receiver.total_lagged, receiver.is_closed, receiver.state) == (0, 0, False, "alive")
        assert receiver.try_recv_bytes() is None
    with pytest.raises(raw.TimeoutError):
        receiver.recv_bytes(0.05)
    sender.send(message(5))
    thread.join(PATIENCE)
    assert got == [message(5)]


def test_close_ends_the_wait_of_another_thread(directory: Directory) -> None:
    told: list[BaseException] = []

    def wait(verb: Callable[[], object]) -> None:
        try:
            verb()
        except BaseException as error:
            told.append(error)

    sender, receiver = lossless(directory, 4)
    sender.send_batch(bytes(sender.capacity * BYTES))
    other = raw.make_lossy("other", directory, 8, QUOTE)
    idle = raw.join_receiver("other", directory)
    threads = [
        threading.Thread(target=wait, args=(verb,))
        for verb in (lambda: sender.send(message(1)), idle.recv_bytes, lambda: idle.recv_batch_into(bytearray(BYTES)))
    ]
    for thread in threads:
        thread.start()
    sender.close()
    idle.close()
    for thread in threads:
        thread.join(PATIENCE)
        assert not thread.is_alive()
    assert [str(error) for error in told] == ["this handle was closed by close()"] * 3
    assert all(isinstance(error, raw.ClosedError) for error in told)
    assert sender.is_closed and idle.is_closed
    other.send(message(1))


def test_other_threads_run_during_a_wait(directory: Directory) -> None:
    sender, receiver = lossy(directory, 8)
    ran = threading.Event()
    got: list[bytes] = []

    def run() -> None:
        ran.set()
        sender.send(message(3))

    thread = threading.Thread(target=run)
    thread.start()
    got.append(receiver.recv_bytes(PATIENCE))
    thread.join()
    assert ran.is_set() and got == [message(3)]


# Processes.


def test_killed_publisher(directory: Directory) -> None:
    """The subscriber receives all that was sent, and is told of the death: while it waits, and afterwards."""
    process = run_python(
        directory,
        """
        sender = raw.make_lossy("ring", directory, 64, None, 16)
        print("made", flush=True)
        sys.stdin.readline()
        sender.send_batch(bytes(5 * 16))
        print("sent", flush=True)
        sys.stdin.readline()
        """,
    )
    assert line_of(process) == "made"
    receiver = raw.join_receiver("ring", directory)
    told: list[raw.ClosedError] = []
    received: list[bytes] = []

    def receive() -> None:
        try:
            while True:
                received.append(receiver.recv_bytes())
        except raw.ClosedError as error:
            told.append(error)

    thread = threading.Thread(target=receive)
    thread.start()
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()
    assert line_of(process) == "sent"
    process.send_signal(signal.SIGKILL)
    thread.join(PATIENCE)
    assert not thread.is_alive()
    ended(process)
    assert received == [bytes(16)] * 5
    assert told[0].peer_died and "has died, and all that it had sent is received" in str(told[0])
    assert receiver.state == "dead"
    for verb in (receiver.try_recv_bytes, lambda: list(receiver), lambda: receiver.try_recv_batch_into(bytearray(160))):
        with pytest.raises(raw.ClosedError) as again:
            verb()
        assert again.value.peer_died


def test_killed_consumer(directory: Directory) -> None:
    sender = raw.make_spsc("ring", directory, 4, None, 16)
    process = run_python(
        directory,
        """
        receiver = raw.join_receiver("ring", directory)
        print("joined", flush=True)
        sys.stdin.readline()
        """,
    )
    assert line_of(process) == "joined"
    process.send_signal(signal.SIGKILL)
    ended(process)
    with pytest.raises(raw.ClosedError, match="has died") as told:
        sender.send_batch(bytes(100 * 16), PATIENCE)
    assert told.value.peer_died and told.value.sent <= 4


def test_end_of_the_program_closes(directory: Directory) -> None:
    """Whatever keeps the handle alive, and whichever thread waits."""
    process = run_python(
        directory,
        """
        import threading
        handles = [raw.make_lossy("ring", directory, 64, None, 16)]
        handles.append(handles)
        idle = raw.join_receiver("ring", directory)
        threading.Thread(target=idle.recv_bytes, daemon=True).start()
        print("made", flush=True)
        sys.stdin.readline()
        handles[0].send(bytes(16))
        """,
    )
    assert line_of(process) == "made"
    receiver = raw.join_receiver("ring", directory)
    assert ended(process) == ("", "") and process.returncode == 0
    assert receiver.recv_bytes(PATIENCE) == bytes(16)
    with pytest.raises(raw.ClosedError) as told:
        receiver.recv_bytes(PATIENCE)
    assert not told.value.peer_died and receiver.state == "closed"
    assert raw.entries(directory) == []


@pytest.mark.parametrize("verb", ["recv_bytes()", "recv_batch_into(bytearray(160))", "__next__()", "recv_value(1e9)"])
def test_interrupt_ends_wait(directory: Directory, verb: str) -> None:
    process = run_python(
        directory,
        f"""
        sender = raw.make_lossy("ring", directory, 64, None, 16)
        receiver = raw.join_receiver("ring", directory)
        try:
            print("waits", flush=True)
            receiver.{verb}
        except KeyboardInterrupt:
            sender.send(bytes(16))
            print("interrupted", receiver.recv_bytes() == bytes(16))
        """,
    )
    assert line_of(process) == "waits"
    process.send_signal(signal.SIGINT)
    assert ended(process) == ("interrupted True\n", "")


@pytest.mark.parametrize(
    "verb",
    [
        'raw.join_receiver("none", directory, timeout=None)',
        "full.send(bytes(16))",
        "full.send_batch(bytes(160))",
        "full.wait_for_subscribers(2)",
        "records.recv()",
    ],
)
def test_interrupt_ends_other_waits(directory: Directory, verb: str) -> None:
    process = run_python(
        directory,
        f"""
        full = raw.make_lossless("ring", directory, 4, None, 16)
        receiver = raw.join_receiver("ring", directory)
        full.send_batch(bytes(full.capacity * 16))
        producer = raw.make_bytes("records", directory, 100)
        records = raw.join_bytes("records", directory)
        try:
            print("waits", flush=True)
            {verb}
        except KeyboardInterrupt:
            print("interrupted")
        """,
    )
    assert line_of(process) == "waits"
    process.send_signal(signal.SIGINT)
    assert ended(process) == ("interrupted\n", "")


def test_handler_of_a_signal_runs_during_wait(directory: Directory) -> None:
    """A handler that returns does not end the wait."""
    process = run_python(
        directory,
        """
        sender = raw.make_lossy("ring", directory, 64, None, 16)
        receiver = raw.join_receiver("ring", directory)
        signal.signal(signal.SIGUSR1, lambda *_: sender.send(bytes(16)))
        print("waits", flush=True)
        print(receiver.recv_bytes() == bytes(16))
        """,
    )
    assert line_of(process) == "waits"
    process.send_signal(signal.SIGUSR1)
    assert ended(process) == ("True\n", "")


def test_fork(directory: Directory) -> None:
    """A child neither uses nor closes its parent's handles, and makes its own."""
    process = run_python(
        directory,
        """
        import gc, threading
        # One write for each line: the lines of two processes do not mix.
        say = lambda *words: os.write(1, (" ".join(map(str, words)) + "\\n").encode())
        sender = raw.make_lossless("ring", directory, 64, None, 16)
        receiver = raw.join_receiver("ring", directory)
        records = raw.make_bytes("records", directory, 100)
        # A thread that has the handle at the time of the fork.
        idle = raw.join_receiver("ring", directory)
        thread = threading.Thread(target=idle.recv_bytes)
        thread.start()
        child = os.fork()
        if child == 0:
            told = 0
            for verb in (
                lambda: sender.send(bytes(16)), lambda: sender.send_batch(bytes(16)), lambda: sender.try_send(bytes(16)),
                lambda: sender.sequence, lambda: sender.is_closed, sender.close, lambda: sender.wait_for_subscribers(9),
                receiver.recv_bytes, receiver.try_recv_bytes, receiver.latest_bytes, lambda: len(receiver), receiver.arm,
                lambda: receiver.recv_batch_into(bytearray(160)), lambda: receiver.try_recv_batch_into(bytearray()),
                lambda: receiver.state, receiver.close, receiver.fileno, receiver.__next__,
                idle.recv_bytes, idle.close, lambda: records.send(b""), records.close,
            ):
                try:
                    verb()
                except raw.ForkedError:
                    told += 1
            own = raw.join_receiver("ring", directory, timeout=None)
            say("child", told)
            del sender, receiver, records, idle
            gc.collect()
            message = own.recv_bytes()
            own.close()
            say("child", message == bytes(range(16)))
            sys.exit(0)
        say(sender.wait_for_subscribers(3))
        sender.send(bytes(range(16)))
        say(os.waitpid(child, 0)[1], receiver.recv_bytes() == bytes(range(16)), records.is_closed)
        thread.join()
        """,
    )
    out, errors = ended(process)
    assert sorted(out.split("\n")) == ["", "0 True False", "True", "child 22", "child True"], (out, errors)


def test_a_million_messages_take_no_memory(directory: Directory) -> None:
    sender, receiver = lossless(directory, 1024)
    batch, out = bytes(500 * BYTES), bytearray(500 * BYTES)

    def some(count: int) -> None:
        for _ in range(count // 1000):
            assert sender.send_batch(batch) == 500
            assert receiver.recv_batch_into(out) == 500
            for _ in range(500):
                sender.send(out[:BYTES])
            for _ in range(500):
                receiver.recv_bytes()

    some(100_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    some(1_000_000)
    # In KiB: a leak of 8 bytes a message would be 8000.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4000


def test_handles_are_freed(directory: Directory) -> None:
    def some() -> int:
        for _ in range(50):
            sender, receiver = lossless(directory, 8)
            receiver.arm()
            records = raw.make_bytes("records", directory, 100)
            raw.join_bytes("records", directory)
            with pytest.raises(raw.MismatchError):
                raw.join_receiver("ring", directory, bytes=8)
            del sender, receiver, records
        return len(os.listdir("/proc/self/fd"))

    # A thread of the library may hold one for a moment longer. A leak would be of 50.
    assert abs(some() - some()) < 25
    assert raw.entries(directory) == []


# A loop that polls.


@pytest.mark.parametrize("make", KINDS)
def test_descriptor(directory: Directory, make: Callable[[Directory, int], Pair]) -> None:
    sender, receiver = make(directory, 8)
    poll = select.poll()
    poll.register(receiver, select.POLLIN)
    for number in range(20):
        assert receiver.arm()
        thread = threading.Thread(target=sender.send, args=(message(number),))
        thread.start()
        # (A wake-up may come for nothing.)
        while receiver.arm():
            assert poll.poll(PATIENCE * 1000) == [(receiver.fileno(), select.POLLIN)]
        thread.join()
        assert number_of(receiver.recv_bytes(0)) == number
    assert receiver.try_recv_bytes() is None


# Other languages.


@pytest.fixture
def program() -> str:
    path = os.environ.get("ANNULUS_PROGRAM")
    if not path:
        pytest.skip("ANNULUS_PROGRAM is not set: it is the path of the program of annulus-cli")
    return path


PRICE = 'price{symbol:text 8,bid:f64(EUR),side:enum u8{buy=0,sell=1},size:u32?}'


def packed(symbol: str, bid: float, side: int, size: int | None) -> bytes:
    import struct

    text = symbol.encode()
    head = len(text).to_bytes(2, "little") + text.ljust(8, b"\0")
    return head + struct.pack("<dB", bid, side) + struct.pack("<?I", size is not None, size or 0)


def test_program_publishes(directory: Directory, program: str) -> None:
    arguments = [program, "pub", "prices", "--directory", str(directory), "--json", "--lossless"]
    publisher = subprocess.Popen(
        [*arguments, "--schema", PRICE, "--subscribers", "1"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    receiver = raw.join_receiver("prices", directory, "oldest", timeout=PATIENCE)
    assert (receiver.kind, receiver.schema) == ("lossless", raw.canonical(PRICE))
    assert publisher.stdin is not None
    for number in range(100):
        line: dict[str, Any] = {"symbol": f"S{number}", "bid": number / 4, "side": "sell" if number % 2 else "buy"}
        if number % 3:
            line["size"] = number
        publisher.stdin.write(json.dumps(line) + "\n")
    publisher.stdin.close()
    for number in range(100):
        wanted = packed(f"S{number}", number / 4, number % 2, number if number % 3 else None)
        assert receiver.recv_bytes(PATIENCE) == wanted
    with pytest.raises(raw.ClosedError) as told:
        receiver.recv_bytes(PATIENCE)
    assert not told.value.peer_died
    assert publisher.wait(PATIENCE) == 0


def test_program_subscribes(directory: Directory, program: str) -> None:
    sender = raw.make_lossless("prices", directory, 16, PRICE)
    subscriber = subprocess.Popen(
        [program, "sub", "prices", "--directory", str(directory), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert sender.wait_for_subscribers(1, PATIENCE)
    for number in range(100):
        size = number if number % 3 else None
        sender.send(packed(f"S{number}", number / 4, number % 2, size), PATIENCE)
    sender.close()
    out, errors = subscriber.communicate(timeout=PATIENCE)
    assert subscriber.returncode == 0, errors
    for number, line in enumerate(out.splitlines()):
        wanted = {"symbol": f"S{number}", "bid": number / 4, "side": "sell" if number % 2 else "buy"}
        wanted["size"] = number if number % 3 else None
        found = json.loads(line)
        found.setdefault("size", None)
        assert found == wanted
    assert len(out.splitlines()) == 100


def test_program_sends_to_a_queue(directory: Directory, program: str) -> None:
    receiver = raw.make_mpsc("orders", directory, 16, PRICE)
    line = json.dumps({"symbol": "AB", "bid": 1.5, "side": "sell"})
    arguments = [program, "pub", "orders", "--directory", str(directory), "--json"]
    assert subprocess.run(arguments, input=line, text=True, timeout=PATIENCE, stderr=subprocess.PIPE).returncode == 0
    assert receiver.recv_bytes(PATIENCE) == packed("AB", 1.5, 1, None)
