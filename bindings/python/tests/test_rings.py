"""Rings by name through the package: what is sent comes, as the dtype, class or bytes that was asked for."""

from __future__ import annotations

import asyncio
import ctypes
import dataclasses
import enum
import itertools
import multiprocessing
import os
import pathlib
import threading
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import pytest

import annulus
from annulus import Schema, f64, message

SECONDS = 120.0  # A wait that only a hang reaches.
SPAWN = multiprocessing.get_context("spawn")  # A child of its own, which no handle has been copied into.

QUOTE = "quote{bid:f64,ask:f64,symbol:text 6,side:enum u8{buy=0,sell=1}}"


class Side(enum.IntEnum):
    buy = 0
    sell = 1


@message(name="quote")
class Quote:
    bid: f64
    ask: f64
    symbol: Annotated[str, annulus.Text(6)]
    side: Side


class Point(ctypes.Structure):
    _fields_ = [("tag", ctypes.c_uint8), ("x", ctypes.c_double)]


@pytest.fixture
def at(tmp_path: pathlib.Path) -> Iterator[str]:
    """A directory for names, for this test alone."""
    yield str(tmp_path)


def test_ring_says_dtype(at: str) -> None:
    with annulus.publish("p", schema=QUOTE, directory=at) as prices:
        sub = annulus.subscribe("p", directory=at)
        assert sub.dtype == Schema(QUOTE).dtype
        assert sub.schema == prices.schema == Schema(QUOTE)
        prices.send((1.5, 2.5, "EURUSD", "sell"))
        got = sub.recv(timeout=SECONDS)
        assert isinstance(got, np.void)
        assert got.dtype == sub.dtype
        assert (got["bid"], got["ask"]) == (1.5, 2.5)
        assert annulus.text(got["symbol"]) == "EURUSD"
        assert sub.enums["side"](got["side"]).name == "sell"
        assert sub.try_recv() is None
        assert len(sub) == 0 and bool(sub)
        assert (sub.name, sub.kind, sub.capacity, sub.message_bytes) == ("p", "lossy", 1024, 25)
        assert "quote{bid" in repr(sub) and "Publisher" in repr(prices)


def test_record_that_was_received_stays_as_it_was(at: str) -> None:
    with annulus.publish("p", [("a", "u4"), ("b", "u4")], directory=at) as pub:
        sub = annulus.subscribe("p", directory=at)
        for number in range(3):
            pub.send((number, number))
        got = [sub.recv(SECONDS) for _ in range(3)]
        assert [tuple(one) for one in got] == [(0, 0), (1, 1), (2, 2)]


@pytest.mark.parametrize(
    "send",
    [
        lambda dtype: (7, 1.5),
        lambda dtype: {"a": 7, "b": 1.5},
        lambda dtype: [7, 1.5],
        lambda dtype: np.array((7, 1.5), dtype),
        lambda dtype: np.array([(7, 1.5)], dtype)[0],
        lambda dtype: np.array((7, 1.5), dtype).tobytes(),
        lambda dtype: bytearray(np.array((7, 1.5), dtype).tobytes()),
    ],
)
def test_message_may_be_tuple_dict_record_or_bytes(at: str, send: Any) -> None:
    dtype = np.dtype([("a", "u4"), ("b", "f8")])
    with annulus.publish("p", dtype, directory=at) as pub:
        sub = annulus.subscribe("p", dtype, directory=at)
        pub.send(send(dtype))
        assert pub.try_send(send(dtype))
        assert [tuple(sub.recv(SECONDS)), tuple(sub.recv(SECONDS))] == [(7, 1.5)] * 2


@pytest.mark.parametrize(
    ("sent", "words"),
    [
        ((7,), ["2 fields", "a, b", "not 1"]),
        ({"a": 7}, ["a, b", "not a"]),
        ((-1, 1.5), ["a = -1", "u32"]),
        ((7, "x"), ["b = 'x'", "f64"]),
        (np.array((7, 1.5), [("a", "u4"), ("b", "f4")]), ["'<f4'", "'<f8'"]),
        (np.zeros(2, [("a", "u4"), ("b", "f8")]), ["(2,)"]),
        (b"short", ["5", "12"]),
        (5, ["5", "a, b"]),
    ],
)
def test_what_is_no_message_is_refused(at: str, sent: Any, words: list[str]) -> None:
    with annulus.publish("p", [("a", "u4"), ("b", "f8")], directory=at) as pub:
        sub = annulus.subscribe("p", directory=at)
        with pytest.raises((TypeError, ValueError)) as error:
            pub.send(sent)
        for word in words:
            assert word in str(error.value)
        assert sub.try_recv() is None


def test_batch_goes_into_array_of_caller(at: str) -> None:
    dtype = np.dtype([("n", "u8"), ("x", "f4", (2,))])
    sent = np.zeros(100, dtype)
    sent["n"] = np.arange(100)
    sent["x"] = np.arange(200).reshape(100, 2)
    with annulus.publish("p", dtype, directory=at, capacity=128) as pub:
        sub = annulus.subscribe("p", directory=at)
        assert pub.send_batch(sent) == 100
        out = np.zeros(64, dtype)
        got = sub.recv_batch(out)
        assert got.base is out and len(got) == 64
        assert np.array_equal(got, sent[:64])
        assert np.array_equal(sub.recv_batch(1000), sent[64:])
        assert len(sub.recv_batch(5, timeout=0)) == 0
        pub.send_batch(sent[:3].tobytes())
        assert np.array_equal(sub.recv_batch(2), sent[:2])
        room = bytearray(dtype.itemsize * 4)
        assert sub.recv_batch_into(room) == 1
        assert room[: dtype.itemsize] == sent[2:3].tobytes()


@pytest.mark.parametrize(
    ("out", "error", "words"),
    [
        (np.zeros(4, "f4"), TypeError, ["out has the dtype float32", "float64"]),
        (np.zeros(4, ">f8"), TypeError, [">f8"]),
        (np.zeros((2, 2)), ValueError, ["(2, 2)", "(n,)"]),
        (np.zeros(8)[::2], ValueError, ["strides are (16,)", "8 bytes", "ascontiguousarray"]),
        (np.zeros(8)[::-1], ValueError, ["strides are (-8,)"]),
        (np.zeros(0), ValueError, ["no room"]),
        (np.broadcast_to(np.float64(1.0), (4,)), ValueError, ["strides are (0,)"]),
        (bytearray(64), TypeError, ["bytearray", "float64"]),
        (0, ValueError, ["recv_batch(0)"]),
        (-3, ValueError, ["recv_batch(-3)"]),
    ],
)
def test_out_that_fits_not_is_refused(at: str, out: Any, error: type[Exception], words: list[str]) -> None:
    with annulus.publish("p", "f8", directory=at) as pub:
        sub = annulus.subscribe("p", directory=at)
        pub.send(1.5)
        with pytest.raises(error) as raised:
            sub.recv_batch(out)
        for word in words:
            assert word in str(raised.value)
        assert sub.recv(0) == 1.5


def test_read_only_out_is_refused(at: str) -> None:
    out = np.zeros(4)
    out.flags.writeable = False
    with annulus.publish("p", "f8", directory=at):
        with pytest.raises(ValueError, match="out is read-only"):
            annulus.subscribe("p", directory=at).recv_batch(out)


@pytest.mark.parametrize(
    ("sent", "error", "words"),
    [
        (np.zeros(4, "f4"), TypeError, ["messages has the dtype float32", "float64"]),
        (np.zeros(8)[::2], ValueError, ["strides"]),
        (np.float64(1.0), ValueError, ["()", "(n,)"]),
        (bytes(12), ValueError, ["12", "8"]),
    ],
)
def test_array_that_is_no_batch_is_refused(
    at: str, sent: Any, error: type[Exception], words: list[str]
) -> None:
    with annulus.publish("p", "f8", directory=at) as pub:
        with pytest.raises(error) as raised:
            pub.send_batch(sent)
        for word in words:
            assert word in str(raised.value)


def test_read_only_array_can_be_sent(at: str) -> None:
    sent = np.arange(4.0)
    sent.flags.writeable = False
    with annulus.publish("p", "f8", directory=at) as pub:
        sub = annulus.subscribe("p", directory=at)
        assert pub.send_batch(sent) == 4
        assert sub.recv_batch().tolist() == [0.0, 1.0, 2.0, 3.0]


@pytest.mark.parametrize("lossless", [False, True])
def test_messages_are_instances_of_class(at: str, lossless: bool) -> None:
    sent = Quote(1.5, 2.5, "EURUSD", Side.sell)
    with annulus.publish("p", Quote, directory=at, lossless=lossless) as pub:
        assert pub.schema == Schema(QUOTE)
        sub = annulus.subscribe("p", Quote, directory=at)
        for _ in range(4):
            pub.send(sent)
        assert sub.recv(SECONDS) == sent
        assert sub.try_recv() == sent
        assert sub.latest() == sent
        assert (sub.latest(), sub.try_recv(), sub.total_skipped) == (None, None, 1)
        pub.send(sent)
        assert sub.recv_batch()["bid"].tolist() == [1.5]
        with pytest.raises(TypeError, match="Quote"):
            pub.send((1.5, 2.5, "EURUSD", 0))  # type: ignore[arg-type]
        pub.send(sent)
        pub.close()
        assert list(sub) == [sent]


def test_messages_are_structures(at: str) -> None:
    with annulus.publish("p", Point, directory=at) as pub:
        assert pub.schema is not None and pub.schema.text == "Point{tag:u8,_:[u8;7],x:f64}"
        sub = annulus.subscribe("p", Point, directory=at)
        pub.send(Point(3, 1.5))
        got = sub.recv(SECONDS)
        assert isinstance(got, Point) and (got.tag, got.x) == (3, 1.5)
        by_dtype = annulus.subscribe("p", directory=at, start="oldest")
        assert by_dtype.recv(SECONDS)["x"] == 1.5
        with pytest.raises(TypeError, match="Point"):
            pub.send((3, 1.5))  # type: ignore[arg-type]


def test_messages_without_schema_are_bytes(at: str) -> None:
    with annulus.publish("p", message_bytes=4, directory=at) as pub:
        sub = annulus.subscribe("p", directory=at)
        assert sub.schema is None and sub.enums == {}
        pub.send(b"abcd")
        pub.send(bytearray(b"efgh"))
        assert sub.recv(SECONDS) == b"abcd"
        assert sub.recv_batch().tobytes() == b"efgh"
        as_numbers = annulus.subscribe("p", "<u4", directory=at, start="oldest")
        assert as_numbers.recv(SECONDS) == int.from_bytes(b"abcd", "little")
        with pytest.raises(annulus.MismatchError, match="4 bytes, without a schema"):
            annulus.subscribe("p", "u8", directory=at)


def test_schema_may_be_in_place_of_dtype(at: str) -> None:
    with annulus.publish("p", Schema(QUOTE), directory=at) as pub:
        assert annulus.subscribe("p", Schema(QUOTE), directory=at).schema == pub.schema == Schema(QUOTE)


def test_message_bytes_gives_bytes_of_ring_with_schema(at: str) -> None:
    with annulus.publish("p", "<u4", directory=at) as pub:
        pub.send(1)
        sub = annulus.subscribe("p", message_bytes=4, directory=at, start="oldest")
        assert sub.recv(SECONDS) == b"\1\0\0\0"


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"dtype": [("bid", "f8")]}, [QUOTE, "{bid:f64}"]),
        ({"dtype": [("bid", "f8"), ("ask", "f4"), ("symbol", "S8"), ("side", "u1")]}, [QUOTE, "ask:f32"]),
        ({"dtype": Point}, [QUOTE, "Point{"]),
        ({"schema": "quote{bid:f64}"}, ["bid"]),
        ({"message_bytes": 26}, ["26", "25"]),
        ({"dtype": message(type("other", (), {"__annotations__": {"bid": f64}}))}, ["quote", "other"]),
    ],
)
def test_mismatch_shows_both_sides(at: str, asked: dict[str, Any], words: list[str]) -> None:
    with annulus.publish("p", schema=QUOTE, directory=at):
        with pytest.raises(annulus.MismatchError) as error:
            annulus.subscribe("p", directory=at, **asked)
        for word in words:
            assert word in str(error.value)
        assert isinstance(error.value, TypeError)


def test_kind_that_fits_not_is_refused(at: str) -> None:
    with annulus.publish("p", "f8", directory=at), annulus.spsc("q", "f8", directory=at):
        with pytest.raises(
            annulus.MismatchError, match="'p' is of the kind lossy.*annulus.subscribe takes it"
        ):
            annulus.consume("p", directory=at)
        with pytest.raises(annulus.MismatchError, match="'q' is of the kind spsc.*annulus.consume takes it"):
            annulus.subscribe("q", directory=at)
        with pytest.raises(annulus.MismatchError, match="lossy"):
            annulus.join_publisher("p", directory=at)
        with pytest.raises(annulus.MismatchError, match="spsc"):
            annulus.produce("q", directory=at)


def test_refused_consumer_leaves_queue_as_it_was(at: str) -> None:
    with annulus.spsc("q", "f8", directory=at) as producer:
        with pytest.raises(annulus.MismatchError):
            annulus.consume("q", "f4", directory=at)
        with annulus.consume("q", "f8", directory=at) as consumer:
            producer.send(2.5)
            assert consumer.recv(SECONDS) == 2.5


def test_arguments_that_contradict_are_refused(at: str) -> None:
    with pytest.raises(TypeError, match="dtype and schema"):
        annulus.publish("p", "f8", schema="f64", directory=at)
    with pytest.raises(TypeError, match="what are its messages"):
        annulus.publish("p", directory=at)
    with pytest.raises(ValueError, match="publishers=2 and continuing"):
        annulus.publish("p", "f8", publishers=2, continuing=True, directory=at)
    with pytest.raises(TypeError, match=r"'q\{a:f64\}' is no dtype: .* schema="):
        annulus.publish("p", "q{a:f64}", directory=at)
    with pytest.raises(TypeError, match="Plain is a dataclass: decorate it by @annulus.message"):
        annulus.publish("p", dataclasses.make_dataclass("Plain", ["a"]), directory=at)
    with pytest.raises(ValueError, match="message_bytes=0"):
        annulus.publish("p", message_bytes=0, directory=at)
    with pytest.raises(ValueError, match='"bock" is no wait strategy'):
        annulus.publish("p", "f8", wait="bock", directory=at)
    with pytest.raises(ValueError, match="publishers=0"):
        annulus.publish("p", "f8", publishers=0, directory=at)


def test_name_errors(at: str) -> None:
    with pytest.raises(annulus.RingNotFoundError, match="p"):
        annulus.subscribe("p", directory=at)
    with pytest.raises(annulus.TimeoutError):
        annulus.subscribe("p", directory=at, timeout=0.01)
    with annulus.publish("p", "f8", directory=at):
        with pytest.raises(annulus.NameTakenError, match="p"):
            annulus.publish("p", "f8", directory=at)


def test_subscribe_waits_for_ring(at: str) -> None:
    made: list[annulus.Subscriber[Any]] = []
    thread = threading.Thread(
        target=lambda: made.append(annulus.subscribe("p", directory=at, timeout=SECONDS))
    )
    thread.start()
    with annulus.publish("p", "f8", directory=at) as pub:
        thread.join(SECONDS)
        pub.send(1.5)
        assert made[0].recv(SECONDS) == 1.5


def test_subscribe_waits_behind_dead_publisher(at: str) -> None:
    process = SPAWN.Process(target=_publish_and_die, args=(at, 0))
    process.start()
    process.join(SECONDS)
    with pytest.raises(annulus.RingNotFoundError, match="dead"):
        annulus.subscribe("p", directory=at)
    made: list[annulus.Subscriber[Any]] = []
    thread = threading.Thread(
        target=lambda: made.append(annulus.subscribe("p", "f8", directory=at, timeout=SECONDS))
    )
    thread.start()
    with annulus.publish("p", "f8", directory=at):
        thread.join(SECONDS)
        assert made[0].dtype == np.dtype("f8")


def test_oldest_begins_with_what_ring_holds(at: str) -> None:
    with annulus.publish("p", "u4", directory=at, capacity=64) as pub:
        for number in range(10):
            pub.send(number)
        newest, oldest = (
            annulus.subscribe("p", directory=at),
            annulus.subscribe("p", directory=at, start="oldest"),
        )
        assert newest.try_recv() is None
        assert oldest.recv_batch().tolist() == list(range(10))


def test_lost_messages_are_counted(at: str) -> None:
    with annulus.publish("p", "u8", directory=at, capacity=8) as pub:
        sub = annulus.subscribe("p", directory=at)
        pub.send_batch(np.arange(100, dtype="u8"))
        pub.close()
        received = [int(number) for number in sub]
        assert received[-1] == 99
        assert len(received) + sub.total_lagged == 100
        with pytest.raises(annulus.ClosedError) as error:
            sub.recv()
        assert not error.value.peer_died
        assert sub.is_closed and sub.state == "closed"


def test_lossless_publisher_waits(at: str) -> None:
    with annulus.publish("p", "u8", directory=at, capacity=8, lossless=True) as pub:
        sub = annulus.subscribe("p", directory=at)
        assert pub.wait_for_subscribers(1, timeout=SECONDS)
        sent = 0
        while pub.try_send(sent):
            sent += 1
        assert sent <= 8
        with pytest.raises(annulus.TimeoutError):
            pub.send(sent, timeout=0.001)
        assert pub.send_batch(np.arange(5, dtype="u8"), timeout=0.001) == 0
        assert sub.recv_batch().tolist() == list(range(sent))
        assert sub.total_lagged == 0
        unawaited = annulus.subscribe("p", directory=at, awaited=False)
        sub.close()
        assert pub.send_batch(np.arange(100, dtype="u8"), timeout=SECONDS) == 100
        assert len(unawaited.recv_batch()) + unawaited.total_lagged == 100


def test_several_publishers(at: str) -> None:
    with annulus.publish("p", "u8", directory=at, publishers=4) as one:
        with annulus.publish("p", "u8", directory=at, publishers=4) as two:
            with annulus.join_publisher("p", directory=at) as three:
                sub = annulus.subscribe("p", directory=at)
                for number, pub in enumerate([one, two, three]):
                    pub.send(number)
                assert sorted(sub.recv_batch(3, SECONDS).tolist()) == [0, 1, 2]
                assert one.sequence is None


def test_queue_of_one_producer(at: str) -> None:
    with annulus.spsc("q", Quote, directory=at) as producer:
        consumer = annulus.consume("q", Quote, directory=at)
        sent = [Quote(float(i), 0.0, "", Side.buy) for i in range(10)]
        for one in sent:
            producer.send(one)
        producer.close()
        assert list(consumer) == sent


def test_queue_of_several_producers(at: str) -> None:
    with annulus.mpsc("q", "i8", directory=at, capacity=16, producers=3) as consumer:
        producers = [annulus.produce("q", "i8", directory=at) for _ in range(3)]
        with pytest.raises(annulus.NoSeatError):
            annulus.produce("q", directory=at)
        threads = [
            threading.Thread(target=producer.send_batch, args=(np.arange(100) + 100 * i,))
            for i, producer in enumerate(producers)
        ]
        for thread in threads:
            thread.start()
        got: list[int] = []
        while len(got) < 300:
            got += consumer.recv_batch(timeout=SECONDS).tolist()
        for thread in threads:
            thread.join()
        assert sorted(got) == list(range(300))
        for i in range(3):
            assert [n for n in got if n // 100 == i] == list(range(100 * i, 100 * i + 100))


def test_records_of_any_length(at: str) -> None:
    with annulus.produce_bytes("r", directory=at, capacity=1024) as producer:
        consumer = annulus.consume_bytes("r", directory=at)
        sent = [b"", b"one", bytes(producer.max_len)]
        for record in sent[:2]:
            producer.send(record)
        assert [consumer.recv(SECONDS), consumer.try_recv(), consumer.try_recv()] == [b"", b"one", None]
        with pytest.raises(ValueError, match=str(producer.max_len)):
            producer.send(bytes(producer.max_len + 1))
        fitting = 0
        while producer.try_send(sent[2]):
            fitting += 1
        assert fitting in (1, 2)
        with pytest.raises(annulus.TimeoutError):
            producer.send(sent[2], timeout=0.001)
        producer.close()
        assert list(consumer) == [sent[2]] * fitting
        assert consumer.state == "closed"


def test_dates_and_arrays_as_messages(at: str) -> None:
    dtype = np.dtype([("time", "M8[ns]"), ("bid", "f8")])
    with annulus.publish("p", dtype, directory=at) as pub:
        assert pub.schema is not None and pub.schema.text == "{time:i64(ns),bid:f64}"
        sub = annulus.subscribe("p", dtype, directory=at)
        sent = np.array([(np.datetime64("2026-01-02T03:04:05", "ns"), 1.5)] * 3, dtype)
        pub.send_batch(sent[:2])
        pub.send(sent[2])
        assert sub.recv(SECONDS) == sent[0]
        out = np.zeros(5, dtype)
        assert np.array_equal(sub.recv_batch(out), sent[1:])
        assert np.array_equal(annulus.subscribe("p", dtype, directory=at, start="oldest").recv_batch(), sent)
        pub.send((np.datetime64("2026-01-02"), 2.5))
        pub.send({"bid": 3.5, "time": "2026-01-03"})
        got = sub.recv_batch()
        assert got["time"].astype("M8[D]").astype(str).tolist() == ["2026-01-02", "2026-01-03"]
        assert got["bid"].tolist() == [2.5, 3.5]

    with annulus.publish("a", ("f8", (3,)), directory=at) as pub:
        sub = annulus.subscribe("a", directory=at)
        pub.send(np.arange(3.0))
        pub.send([3.0, 4.0, 5.0])
        pub.send_batch(np.zeros((2, 3)))
        first = sub.recv(SECONDS)
        assert first.tolist() == [0.0, 1.0, 2.0]
        first[0] = 9.0  # it is the program's own
        assert sub.recv_batch().tolist() == [[3.0, 4.0, 5.0], [0.0] * 3, [0.0] * 3]
        with pytest.raises(ValueError, match=r"\(n, 3\)"):
            pub.send_batch(np.zeros((3, 2)))


def test_every_kind_goes_through_ring(at: str) -> None:
    text = (
        "all{a:u8,_g:[u8;3],b:[{x:i16,y:f32?};2],c:char,d:u128,e:enum u8{none=0,limit=2{price:f64}},"
        "f:nonzero u8,g:text 4,h:bool}"
    )
    row = (1, [(-2, None), (3, 1.5)], "€", 2**100 + 5, ("limit", (2.5,)), 9, "añ", True)
    with annulus.publish("p", schema=text, directory=at) as pub:
        sub = annulus.subscribe("p", directory=at)
        pub.send(row)
        got = sub.recv(SECONDS)
        assert got["b"]["x"].tolist() == [-2, 3]
        assert got["b"]["y"]["present"].tolist() == [False, True]
        assert chr(got["c"]) == "€"
        assert (int(got["d"]["low"]), int(got["d"]["high"])) == (5, 2**36)
        assert sub.enums["e"](got["e"]["number"]).name == "limit"
        assert got["e"]["rest"].view("f8").tolist() == [2.5]
        assert annulus.text(got["g"]) == "añ"
        pub.send(row)
        pub.send({**dict(zip("abcdefgh", row)), "b": [(0, 0.5), (0, None)], "e": "none"})
        schema = sub.schema
        assert schema is not None
        found = {name: column.tolist() for name, column in annulus.columns(sub.recv_batch(), schema).items()}
        assert found == {
            "a": [1, 1],
            "b[0].x": [-2, 0],
            "b[0].y": [None, 0.5],
            "b[1].x": [3, 0],
            "b[1].y": [1.5, None],
            "c": ["€", "€"],
            "d": [2**100 + 5] * 2,
            "e": ["limit", "none"],
            "f": [9, 9],
            "g": ["añ", "añ"],
            "h": [True, True],
        }


def test_dead_publisher_ends_iteration_with_error(at: str) -> None:
    process = SPAWN.Process(target=_publish_and_die, args=(at, 3))
    process.start()
    records = annulus.consume_bytes("r", directory=at, timeout=SECONDS)  # before the last subscriber
    sub = annulus.subscribe("p", directory=at, timeout=SECONDS, start="oldest")
    quotes = annulus.subscribe("p", Quote, directory=at, start="oldest")
    tasks = annulus.subscribe("p", Quote, directory=at, start="oldest")
    got: list[Any] = []

    async def receive() -> None:
        async for quote in tasks:
            got.append(quote.bid)

    with pytest.raises(annulus.ClosedError) as of_records:
        for message in sub:
            got.append(float(message["bid"]))
    assert of_records.value.peer_died
    assert sub.state == "dead"
    with pytest.raises(annulus.ClosedError) as of_instances:
        for quote in quotes:
            got.append(quote.bid)
    with pytest.raises(annulus.ClosedError) as of_tasks:
        asyncio.run(asyncio.wait_for(receive(), SECONDS))
    with pytest.raises(annulus.ClosedError) as of_bytes:
        for record in records:
            got.append(record)
    process.join(SECONDS)
    assert of_instances.value.peer_died and of_tasks.value.peer_died and of_bytes.value.peer_died
    assert got == [0.0, 1.0, 2.0] * 3 + [b"record"]


def _publish_and_die(directory: str, subscribers: int) -> None:
    pub = annulus.publish("p", Quote, directory=directory, lossless=True)
    records = annulus.produce_bytes("r", directory=directory)
    pub.wait_for_subscribers(subscribers)
    records.send(b"record")
    for number in range(3):
        pub.send(Quote(float(number), 0.0, "", Side.buy))
    os._exit(0)


def test_frame_of_a_second(at: str) -> None:
    pandas = pytest.importorskip("pandas")
    text = "{bid:f64,side:enum u8{buy=0,sell=1},symbol:text 4,stop:f64?,size:u32?,number:u64}"
    pub = annulus.publish("p", schema=text, directory=at)
    sub = annulus.subscribe("p", directory=at)
    pub.send((1.5, "sell", "EUR", None, 7, 2**63))
    pub.send(np.array((2.5, 7, (3, b"USD"), (True, 3.5), (False, 0), 1), sub.dtype))
    pub.close()
    frame = annulus.frame(sub, seconds=SECONDS)
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["bid", "side", "symbol", "stop", "size", "number"]
    assert frame["side"].tolist() == ["sell", "7"]
    assert frame["symbol"].tolist() == ["EUR", "USD"]
    assert frame["stop"].isna().tolist() == [True, False]
    assert frame["size"].isna().tolist() == [False, True]
    assert frame["size"][0] == 7
    assert frame["number"].tolist() == [2**63, 1]


def test_columns_keep_dtype_of_program(at: str) -> None:
    dtype = np.dtype([("time", "M8[ns]"), ("code", "S4"), ("z", "c16"), ("levels", "f4", (2,))])
    with annulus.publish("p", dtype, directory=at) as pub:
        sub = annulus.subscribe("p", dtype, directory=at)
        pub.send_batch(np.array([("2026-01-02", b"ab", 1 + 2j, (3, 4))], dtype))
        assert sub.schema is not None
        found = annulus.columns(sub.recv_batch(), sub.schema)
    assert list(found) == ["time", "code", "z", "levels[0]", "levels[1]"]
    assert found["time"].dtype == "M8[ns]"
    assert [found["code"][0], found["z"][0], found["levels[1]"][0]] == [b"ab", 1 + 2j, 4.0]


def test_long_array_goes_through_queue(at: str) -> None:
    @message
    class Block:
        numbers: Annotated[list[int], annulus.Array(annulus.u16, 5000)]

    sent = Block(list(range(5000)))
    with annulus.spsc("q", Block, directory=at, capacity=4) as producer:
        producer.send(sent)
        assert annulus.consume("q", Block, directory=at).recv(SECONDS) == sent
    with annulus.spsc("r", schema="{numbers:[u16;5000]}", directory=at, capacity=4) as rows:
        consumer = annulus.consume("r", directory=at)
        rows.send((range(5000),))
        rows.send({"numbers": np.arange(5000, dtype="u2")})
        for _ in range(2):
            assert consumer.recv(SECONDS)["numbers"].tolist() == sent.numbers
        with pytest.raises(annulus.MessageError, match="4999 values, and the array has 5000"):
            rows.send((range(4999),))
        with pytest.raises(annulus.MessageError, match=r"numbers\[\] = 65536 is no u16"):
            rows.send(([*range(4999), 65536],))


def test_bytes_that_are_no_message_are_an_error_and_the_next_one_comes(at: str) -> None:
    with annulus.publish("p", schema=QUOTE, directory=at) as pub:
        sub = annulus.subscribe("p", Quote, directory=at)
        bad = np.zeros(2, pub.dtype)
        bad["side"] = (7, 0)
        bad["symbol"]["length"], bad["symbol"]["bytes"] = (0, 2), (b"", b"\xff\xff")
        pub.send_batch(bad)
        pub.send((1.5, 2.5, "EURUSD", 1))
        with pytest.raises(ValueError, match="7 is not a valid Side"):
            sub.recv(SECONDS)
        with pytest.raises(UnicodeDecodeError):
            sub.recv(SECONDS)
        assert sub.recv(SECONDS) == Quote(1.5, 2.5, "EURUSD", Side.sell)


def test_polars_frame(at: str) -> None:
    polars = pytest.importorskip("polars")
    pub = annulus.publish("p", schema="{bid:f64,symbol:text 4,size:u32?}", directory=at)
    sub = annulus.subscribe("p", directory=at)
    pub.send((1.5, "EUR", None))
    pub.send((2.5, "USD", 7))
    pub.close()
    frame = annulus.frame(sub, seconds=SECONDS, library="polars")
    assert isinstance(frame, polars.DataFrame)
    assert frame.rows() == [(1.5, "EUR", None), (2.5, "USD", 7)]
    with pytest.raises(ValueError, match="'dask'"):
        annulus.frame(sub, 0.0, "dask")  # type: ignore[arg-type]


def test_frame_of_nothing_has_columns(at: str) -> None:
    pytest.importorskip("pandas")
    with annulus.publish("p", schema="{a:f64,e:enum u8{x=0},s:text 3,o:u8?,c:char,w:u128}", directory=at):
        frame = annulus.frame(annulus.subscribe("p", directory=at), seconds=0)
        assert list(frame.columns) == ["a", "e", "s", "o", "c", "w"] and len(frame) == 0


def test_info_and_names(at: str) -> None:
    with annulus.publish("p", schema=QUOTE, directory=at, lossless=True, capacity=32):
        found = annulus.info("p", directory=at)
        assert found == {
            "kind": "lossless",
            "capacity": 32,
            "message_bytes": 25,
            "schema": Schema(QUOTE),
            "process": os.getpid(),
        }
        assert annulus.names(directory=at) == [{"name": "p", "state": "alive", "process": os.getpid()}]
    assert annulus.names(directory=at) == []


def test_closed_handle_says_so(at: str) -> None:
    pub = annulus.publish("p", "f8", directory=at)
    sub = annulus.subscribe("p", directory=at)
    sub.close()
    sub.close()
    for verb in (sub.recv, sub.try_recv, sub.latest, sub.recv_batch):
        with pytest.raises(annulus.ClosedError):
            verb()
    pub.close()
    with pytest.raises(annulus.ClosedError):
        pub.send(1.0)
    assert "closed" in repr(pub) or "'p'" in repr(pub)


def test_loop_that_ends_early_leaves_ring_open(at: str) -> None:
    with annulus.publish("p", "u4", directory=at) as pub, annulus.publish("q", Quote, directory=at) as quotes:
        sub, other = annulus.subscribe("p", directory=at), annulus.subscribe("q", Quote, directory=at)
        pub.send_batch(np.arange(5, dtype="u4"))
        for number in sub:
            if number == 2:
                break
        assert [int(sub.recv(SECONDS)), int(next(iter(sub)))] == [3, 4]

        def delegate() -> Iterator[Any]:
            yield from sub

        pub.send(5)
        pub.send(6)
        messages = delegate()
        assert int(next(messages)) == 5
        del messages
        assert sub.recv(SECONDS) == 6
        for number in range(3):
            quotes.send(Quote(float(number), 0.0, "", Side.buy))
        assert [quote.bid for quote in itertools.islice(other, 2)] == [0.0, 1.0]
        assert other.recv(SECONDS).bid == 2.0
    with annulus.produce_bytes("r", directory=at) as producer:
        consumer = annulus.consume_bytes("r", directory=at)
        for record in (b"a", b"b"):
            producer.send(record)
        assert next(iter(consumer)) == b"a"
        assert consumer.recv(SECONDS) == b"b"


def test_subclass_may_replace_verbs(at: str) -> None:
    class Doubling(annulus.Subscriber[Any]):
        def recv(self, timeout: float | None = None) -> Any:
            return super().recv(timeout) * 2

    with annulus.publish("p", "f8", directory=at) as pub:
        plain = annulus.subscribe("p", directory=at)
        doubling = Doubling(annulus._annulus.join_receiver("p", at), plain._form, plain.ring)
        pub.send(1.5)
        assert doubling.recv(SECONDS) == 3.0


def test_negative_numbers_are_refused_by_the_name_of_the_argument() -> None:
    def refused(name: str, make: Any, wrong: Any = -1) -> None:
        with pytest.raises(ValueError, match=f"{name} is {wrong}: it is a whole number from 0 "):
            make(**{name: wrong})

    for make in (annulus.publish, annulus.spsc, annulus.mpsc, annulus.mpmc):
        refused("capacity", lambda make=make, **more: make(None, "f8", **more))
        refused("capacity", lambda make=make, **more: make(None, "f8", **more), 10**30)
    refused("seats", lambda **more: annulus.publish(None, "f8", lossless=True, **more))
    refused("seats", lambda **more: annulus.publish(None, "f8", lossless=True, publishers=2, **more))
    refused("producers", lambda **more: annulus.mpsc(None, "f8", **more))
    refused("consumers", lambda **more: annulus.mpmc(None, "f8", **more))
    refused("cells", lambda **more: annulus.publish_newest(None, "f8", **more))
    for name in ("clients", "open"):
        refused(name, lambda **more: annulus.serve(None, "f8", "f8", **more))
    for name in ("capacity", "subscribers", "held", "frame_bytes"):
        refused(name, lambda **more: annulus.publish_frames(None, **{"frame_bytes": 8, **more}))
    with annulus.publish(None, "f8", lossless=True) as publisher:
        refused("count", publisher.wait_for_subscribers)
    with annulus.publish_frames(None, frame_bytes=8) as frames:
        refused("count", frames.wait_for_subscribers)


@pytest.mark.parametrize("timeout", [float("nan"), -1.0])
def test_timeout_is_refused_also_where_nothing_waits(timeout: float) -> None:
    def refused(verb: Any, *arguments: Any) -> None:
        with pytest.raises(ValueError, match="timeout is "):
            verb(*arguments, timeout=timeout)

    for lossless in (False, True):
        with annulus.publish(None, "f8", lossless=lossless) as publisher:
            with publisher.ring.subscribe() as subscriber:
                refused(publisher.send, 1.5)
                publisher.send(1.5)
                refused(subscriber.recv)
                assert float(subscriber.recv()) == 1.5
    with annulus.produce_bytes(None) as producer, producer.ring.consume_bytes() as consumer:
        refused(producer.send, b"one")
        producer.send(b"two")
        refused(consumer.recv)
        assert consumer.recv() == b"two"


def test_names_of_a_directory_that_is_not_there(tmp_path: pathlib.Path) -> None:
    with pytest.raises(annulus.DirectoryError, match="there is no directory"):
        annulus.names(directory=tmp_path / "none")
