"""The extension module: rings of bytes, as `annulus._annulus` has them."""

from __future__ import annotations

import array
import errno
import json
import os
import pickle
import select
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest
from raw_rings import (
    BYTES,
    KINDS,
    PATIENCE,
    QUOTE,
    WAITING,
    Directory,
    Pair,
    lossless,
    lossy,
    mp_lossy,
    message,
    number_of,
    state_of,
)

from annulus import _annulus as raw

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
        about = handle.about
        assert (about.name, about.kind, about.message_bytes) == ("ring", make.__name__, BYTES)
        assert (about.schema, handle.is_closed) == (QUOTE, False)
        assert about.capacity >= 64
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
        with pytest.raises(raw.FullError, match='no room came in the ring "ring"') as told:
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
    assert receiver.about.schema is None
    sent = bytes(number % 251 for number in range(20 * size))
    for shift in (0, 1):
        out = bytearray(20 * size + shift)
        assert sender.send_batch(memoryview(bytes(shift) + sent)[shift:]) == 20
        assert receiver.recv_batch_into(memoryview(out)[shift:]) == 20
        assert out[shift:] == sent
        sender.send(sent[:size])
        assert receiver.recv_bytes() == sent[:size]


def test_several_publishers(directory: Directory) -> None:
    first = raw.make_mp("ring", directory, 8, QUOTE, publishers=2)
    second = raw.make_mp("ring", directory, 8, QUOTE, publishers=2)
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
        raw.make_mp("ring", directory, 8, "{x:u8}")


def test_last_messages(directory: Directory) -> None:
    sender = raw.make_lossy("ring", directory, 8, QUOTE)
    for number in range(20):
        sender.send(message(number))
    for count, there in ((0, []), (3, [17, 18, 19]), (99, list(range(12, 20)))):
        receiver = raw.join_receiver("ring", directory, count)
        assert [number_of(receiver.recv_bytes()) for _ in there] == there
        assert len(receiver) == 0 and receiver.total_lagged == 0
    for bad in (-1, 1.5, None):
        with pytest.raises((TypeError, OverflowError)):
            raw.join_receiver("ring", directory, bad)  # type: ignore[arg-type]


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


def ring_files() -> set[str]:
    """The descriptors of broadcast rings that this process has."""
    descriptors = [f"/proc/self/fd/{number}" for number in os.listdir("/proc/self/fd")]
    # (The one of the listing is gone.)
    return {path for path in descriptors if os.path.exists(path) and "annulus broadcast" in os.readlink(path)}


def test_wait_for_subscribers_ends_with_the_ring(directory: Directory) -> None:
    before = ring_files()
    sender = raw.make_mp("ring", directory, 8, QUOTE, seats=1)
    # As another publisher closes it (docs/SHM-FORMAT.md): by bit 63 of the head.
    with open(min(ring_files() - before), "r+b", buffering=0) as ring:
        ring.seek(128)
        ring.write((1 << 63).to_bytes(8, sys.byteorder))
    assert sender.is_closed and not sender.wait_for_subscribers(1)


def test_records(directory: Directory) -> None:
    producer = raw.make_bytes("records", directory, 1000)
    consumer = raw.join_bytes("records", directory)
    assert producer.max_len == consumer.max_len == 500
    assert (producer.about.capacity, consumer.about.name, consumer.state) == (1000, "records", "alive")
    for record in (b"", b"x", bytes(range(200)), array.array("i", [1, 2, 3])):
        producer.send(record)
        assert consumer.recv() == bytes(record)
    with pytest.raises(ValueError, match='the record has 501 bytes, and the ring "records" takes up to 500'):
        producer.send(bytes(501))
    sent = 0
    while producer.try_send(bytes(300)):
        sent += 1
    assert sent in (2, 3)
    with pytest.raises(raw.FullError, match='no room came in the ring "records" in 0.03 seconds'):
        producer.send(bytes(300), 0.03)
    assert [len(consumer.recv()) for _ in range(sent)] == [300] * sent
    assert consumer.try_recv() is None
    with pytest.raises(raw.TimeoutError, match='nothing came from the ring "records" in 0.03 seconds'):
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
    assert raw.entries(directory) == []
    with pytest.raises(raw.DirectoryError, match="there is no directory"):
        raw.entries(directory / "none")
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


def test_error_of_a_directory_has_errno_and_path(directory: Directory) -> None:
    path = directory / "none" / "names"
    with pytest.raises(raw.DirectoryError) as raised:
        raw.make_lossy("ring", path, 8, QUOTE)
    error = raised.value
    assert (error.errno, error.filename) == (errno.ENOENT, str(path))
    assert str(error).startswith("[Errno 2] No such file or directory") and str(error).endswith(f": '{path}'")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.errno, again.filename, str(again)) == (
        type(error), error.errno, error.filename, str(error)
    )
    (directory / "file").touch()
    with pytest.raises(raw.DirectoryError, match="no directory") as raised:
        raw.make_lossy("ring", directory / "file", 8, QUOTE)
    assert raised.value.errno is None


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
    with pytest.raises(ValueError, match='"new" is neither "oldest" nor "newest", nor a number'):
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
