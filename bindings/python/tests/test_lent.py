"""What a queue lends in place: it is what was sent, it is given back once, and no array outlives it."""

from __future__ import annotations

import gc
import os
import pathlib
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import annulus

SECONDS = 120.0  # A wait that only a hang reaches.
Ends = tuple[annulus.Producer[Any], annulus.Consumer[Any]]


@pytest.fixture(params=["spsc", "mpsc"])
def ends(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[Ends]:
    """A queue of eight messages."""
    at = str(tmp_path)
    dtype = [("bid", "f8"), ("size", "u4")]
    if request.param == "spsc":
        producer: annulus.Producer[Any] = annulus.spsc("q", dtype, capacity=8, directory=at)
        yield producer, annulus.consume("q", directory=at)
    else:
        consumer: annulus.Consumer[Any] = annulus.mpsc("q", dtype, capacity=8, directory=at)
        yield annulus.produce("q", directory=at), consumer


def fill(producer: annulus.Producer[Any], count: int) -> None:
    for number in range(count):
        producer.send((float(number), number))


def test_what_is_written_in_place_is_read_in_place(ends: Ends) -> None:
    producer, consumer = ends
    with producer.reserve(5, timeout=SECONDS) as room:
        assert len(room) == room.count == 5
        room["bid"] = np.arange(5.0)
        room["size"][:] = 7
        room[4] = (9.5, 8)
    assert len(consumer) == 5
    with consumer.readable(timeout=SECONDS) as lent:
        assert lent.array.dtype == consumer.dtype and not lent.array.flags.writeable
        assert lent.array.flags.owndata is False
        assert (lent["bid"].tolist(), lent["size"].sum()) == ([0.0, 1.0, 2.0, 3.0, 9.5], 36)
        assert lent.view.nbytes == 5 * consumer.message_bytes and lent.view.readonly
        with pytest.raises(ValueError, match="read-only"):
            lent["bid"] = 1.0
    assert len(consumer) == 0 and consumer.try_recv() is None


def test_count_says_how_many(ends: Ends) -> None:
    producer, consumer = ends
    with producer.reserve(4) as room:
        room["size"] = range(4)
        room.count = 3
        for wrong in -1, 5:
            with pytest.raises(ValueError, match=f"count is {wrong}, and it is to be from 0 to 4"):
                room.count = wrong
    with consumer.readable(2, timeout=SECONDS) as lent:
        assert lent["size"].tolist() == [0, 1]
        lent.count = 1
    assert consumer.recv(SECONDS)["size"] == 1
    with consumer.readable(timeout=SECONDS) as lent:
        lent.count = 0
    assert consumer.recv_batch(timeout=SECONDS)["size"].tolist() == [2]
    with producer.reserve(4) as room:
        room.count = 0
    assert consumer.try_recv() is None


def test_block_that_raises_changes_nothing(ends: Ends) -> None:
    producer, consumer = ends
    fill(producer, 2)
    with pytest.raises(KeyError), consumer.readable(timeout=SECONDS) as lent:
        kept = lent.array
        raise KeyError
    with pytest.raises(annulus.LentError, match="still exists"):
        consumer.recv()
    assert kept["size"].tolist() == [0, 1]
    del kept
    with pytest.raises(ZeroDivisionError), producer.reserve(1) as room:
        room["size"] = 1 // 0
    assert consumer.recv_batch(timeout=SECONDS)["size"].tolist() == [0, 1]
    assert consumer.try_recv() is None


@pytest.mark.parametrize("keep", ["array", "field", "record", "view", "slice", "another", "made", "exporter"])
def test_no_view_outlives_the_loan(ends: Ends, keep: str) -> None:
    producer, consumer = ends
    fill(producer, 3)
    views: dict[str, Callable[[annulus.Lent], Any]] = {
        "array": lambda lent: lent.array,
        "field": lambda lent: lent["bid"],
        "record": lambda lent: lent[1],
        "view": lambda lent: lent.view,
        "slice": lambda lent: lent.view[8:],
        "another": lambda lent: np.asarray(memoryview(lent.view)),
        "made": lambda lent: np.ndarray(3, "u1", lent.view),
        "exporter": lambda lent: lent.view.obj,
    }
    loan = consumer.readable(timeout=SECONDS)
    with pytest.raises(annulus.LentError, match="del it, or copy it"):
        with loan as lent:
            kept = views[keep](lent)
            lent.count = 2
    verbs: list[Callable[[], Any]] = [consumer.recv, consumer.try_recv, consumer.latest, consumer.recv_batch]
    for verb in [*verbs, consumer.close]:
        with pytest.raises(annulus.LentError, match="still exists"):
            verb()
    if isinstance(kept, memoryview):
        kept.release()
    del kept
    assert consumer.recv(SECONDS)["size"] == 2, "the first two are received once the view is gone"
    with pytest.raises(annulus.LentError, match="given back already"):
        loan.view
    with pytest.raises(annulus.LentError, match="given back already"):
        loan.__exit__(None)


def test_count_stays_when_loan_is_forgotten_before_its_array(ends: Ends) -> None:
    producer, consumer = ends
    fill(producer, 3)
    with pytest.raises(annulus.LentError):
        with consumer.readable(timeout=SECONDS) as lent:
            kept = lent.array
            lent.count = 2
    del lent
    gc.collect()
    assert kept["size"].tolist() == [0, 1, 2]
    del kept
    assert consumer.recv(SECONDS)["size"] == 2


def test_array_keeps_memory_of_handle_that_is_gone(ends: Ends) -> None:
    producer, consumer = ends
    fill(producer, 3)
    with pytest.raises(annulus.LentError):
        with consumer.readable(timeout=SECONDS) as lent:
            kept = lent["bid"]
    del ends, producer, consumer, lent
    gc.collect()
    assert kept.tolist() == [0.0, 1.0, 2.0]


def test_loan_that_is_forgotten_receives_nothing(ends: Ends) -> None:
    producer, consumer = ends
    fill(producer, 3)
    consumer.readable(timeout=SECONDS)
    gc.collect()
    with consumer.readable(timeout=SECONDS) as lent:
        assert len(lent) == 3


def test_handle_that_lends_refuses_other_verbs(ends: Ends) -> None:
    producer, consumer = ends
    fill(producer, 1)
    refused: list[str] = []

    def other_thread() -> None:
        verbs: tuple[Callable[[], Any], ...]
        verbs = (producer.close, lambda: producer.send((1.0, 1)), consumer.recv, lambda: len(consumer))
        for verb in verbs:
            try:
                verb()
            except annulus.LentError as error:
                refused.append(str(error))

    with consumer.readable() as lent, producer.reserve(1):
        thread = threading.Thread(target=other_thread)
        thread.start()
        thread.join(SECONDS)
        for verb in (consumer.readable, consumer.fileno, consumer.arm, consumer.close):
            with pytest.raises(annulus.LentError, match="end the block"):
                verb()
        assert len(lent) == 1
    assert len(refused) == 4 and "end the block" in refused[0]
    for _ in range(2):  # a close that was refused does not come later
        with pytest.raises(annulus.TimeoutError):
            while True:
                consumer.recv(0.001)
    consumer.close()


def test_wait_for_messages_and_room(ends: Ends) -> None:
    producer, consumer = ends
    with pytest.raises(annulus.TimeoutError, match="nothing came from the ring \"q\" in 0"):
        consumer.readable(timeout=0)
    with pytest.raises(annulus.TimeoutError):
        consumer.readable(timeout=0.01)
    for most in (0, -1):
        with pytest.raises(ValueError, match=rf"reserve\({most}\): room is for one message at least"):
            producer.reserve(most)
        with pytest.raises(ValueError, match=rf"readable\({most}\): it lends at least one message"):
            consumer.readable(most)
    got: list[int] = []

    def receive() -> None:
        while len(got) < 1000:
            with consumer.readable(timeout=SECONDS) as lent:
                got.extend(lent["size"].tolist())

    thread = threading.Thread(target=receive)
    thread.start()
    sent = 0
    while sent < 1000:
        with producer.reserve(1000 - sent, timeout=SECONDS) as room:
            room["size"] = range(sent, sent + len(room))
            sent += len(room)
    thread.join(SECONDS)
    assert got == list(range(1000))
    fill(producer, 8)
    with pytest.raises(annulus.FullError):
        producer.reserve(1, timeout=0)


def test_end_of_ring(ends: Ends) -> None:
    producer, consumer = ends
    fill(producer, 1)
    with pytest.raises(annulus.ClosedError, match="closed"):
        with producer.reserve(1) as room:
            room["size"] = 1
            consumer.close()
    with pytest.raises(annulus.ClosedError):
        producer.reserve(1)


def test_messages_of_closed_ring_are_lent(tmp_path: pathlib.Path) -> None:
    with annulus.spsc("q", "datetime64[ns]", directory=tmp_path) as producer:
        consumer: annulus.Consumer[Any] = annulus.consume("q", "datetime64[ns]", directory=tmp_path)
        with producer.reserve(2) as room:
            room[:] = np.datetime64("2026-01-01", "ns")
    with consumer.readable() as lent:
        assert lent.array.dtype == "datetime64[ns]" and str(lent[0])[:4] == "2026"
    with pytest.raises(annulus.ClosedError):
        consumer.readable()


def test_messages_that_are_arrays(tmp_path: pathlib.Path) -> None:
    with annulus.spsc("q", "(2,3)f4", directory=tmp_path) as producer:
        consumer: annulus.Consumer[Any] = annulus.consume("q", directory=tmp_path)
        with producer.reserve(2) as room:
            room[:] = 1.5
        with consumer.readable() as lent:
            assert lent.array.shape == (2, 2, 3) and (lent.array == 1.5).all()


def test_broadcast_ring_lends_nothing() -> None:
    with annulus.publish("p", "f8") as prices, annulus.subscribe("p") as sub:
        assert not hasattr(prices, "reserve") and not hasattr(sub, "readable")
        text = 'the ring "p" is of the kind lossy, which lends no memory'
        with pytest.raises(TypeError, match=text):
            prices._raw.reserve(1)
        with pytest.raises(TypeError, match=text):
            sub._raw.readable()


def test_records_in_place() -> None:
    with annulus.produce_bytes("b", capacity=256) as producer, annulus.consume_bytes("b") as consumer:
        for turn in range(20):  # past the last byte of the ring
            with producer.reserve(40) as room:
                assert len(room) == 40 and not room.view.readonly
                room.view[:10] = bytes(range(turn, turn + 10))
                room.count = 10
            with consumer.readable(SECONDS) as lent:
                assert len(lent) == 10 and lent.view.tobytes() == bytes(range(turn, turn + 10))
        with producer.reserve(3) as room:
            room.count = 0
        with consumer.readable(SECONDS) as lent:
            assert len(lent) == 0
        producer.send(b"stays")
        with pytest.raises(KeyError), consumer.readable(SECONDS):
            raise KeyError
        with pytest.raises(annulus.LentError):
            with consumer.readable(SECONDS) as lent:
                view = lent.view
        assert bytes(view) == b"stays"
        del view
        assert consumer.try_recv() is None
        with pytest.raises(annulus.TimeoutError):
            consumer.readable(timeout=0)
        with pytest.raises(ValueError, match="takes up to 1"):
            producer.reserve(1000)
        producer.close()
        with pytest.raises(annulus.ClosedError):
            consumer.readable()


@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_fork_leaves_loan_to_parent(ends: Ends) -> None:
    producer, consumer = ends
    fill(producer, 2)
    with consumer.readable(timeout=SECONDS) as lent:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                lent.__exit__(None)
            except annulus.ForkedError:
                status = 0
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        assert lent["size"].tolist() == [0, 1]
    assert len(consumer) == 0


AT_EXIT = """
import annulus
import numpy as np

producer = annulus.spsc("q", "f8", capacity=8)
consumer = annulus.consume("q")
producer.send(1.5)
loan = consumer.readable()
kept = loan.array
room = producer.reserve(2)
view = {view}
"""


@pytest.mark.parametrize("view", ["room.view", "room.array[1:]", "None"])
def test_program_ends_while_memory_is_lent(view: str) -> None:
    done = subprocess.run([sys.executable, "-c", AT_EXIT.format(view=view)], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("align", [False, True])
def test_batch_goes_to_other_libraries_by_dlpack(tmp_path: pathlib.Path, align: bool) -> None:
    dtype = np.dtype([("bid", "f8"), ("size", "u4")], align=align)
    with annulus.spsc("q", dtype, directory=tmp_path) as producer:
        consumer: annulus.Consumer[Any] = annulus.consume("q", directory=tmp_path)
        fill(producer, 3)
        batch = consumer.recv_batch(timeout=SECONDS)
    assert batch.flags.writeable
    size: Any = np.from_dlpack(batch["size"])
    assert size.tolist() == [0, 1, 2] and np.shares_memory(size, batch)
    if align:
        bid: Any = np.from_dlpack(batch["bid"])
        assert bid.tolist() == [0.0, 1.0, 2.0] and np.shares_memory(bid, batch)
    else:
        with pytest.raises(BufferError, match="strides"):
            np.from_dlpack(batch["bid"])
    with pytest.raises(BufferError):
        np.from_dlpack(batch)


def test_dlpack_of_what_is_lent_holds_the_loan(tmp_path: pathlib.Path) -> None:
    with annulus.spsc("q", "f8", directory=tmp_path) as producer:
        consumer: annulus.Consumer[Any] = annulus.consume("q", directory=tmp_path)
        producer.send(1.5)
        if np.lib.NumpyVersion(np.__version__) < "2.1.0":
            with consumer.readable() as lent, pytest.raises(BufferError, match="readonly"):
                np.from_dlpack(lent.array)
            return
        with pytest.raises(annulus.LentError):
            with consumer.readable() as lent:
                taken: Any = np.from_dlpack(lent.array)
        assert taken.tolist() == [1.5] and not taken.flags.writeable
        del taken
        assert consumer.try_recv() is None
