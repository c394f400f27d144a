"""Rings of frames: written once, read in place, held as long as something refers to them."""

from __future__ import annotations

import asyncio
import gc
import os
import pathlib
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import annulus

SECONDS = 120.0  # A wait that only a hang reaches.
Ends = tuple[annulus.FramePublisher, annulus.FrameSubscriber]


def ends(lossless: bool = False, **options: Any) -> Ends:
    """A ring of frames of up to 4 rows of 3 numbers, without a name."""
    publisher = annulus.publish_frames(None, (4, 3), "f4", capacity=2, subscribers=2, lossless=lossless, **options)
    return publisher, publisher.ring.subscribe_frames()


@pytest.mark.parametrize("lossless", [False, True])
def test_what_is_written_in_place_is_read_in_place(lossless: bool) -> None:
    publisher, subscriber = ends(lossless)
    assert publisher.kind == subscriber.kind == ("lossless_frames" if lossless else "frames")
    assert (publisher.frame_bytes, publisher.frames) == (48, 2 + lossless + 2 * 2 + 1)
    assert subscriber.schema is not None and subscriber.schema.text == "[f32;3]"
    for number in range(20):
        with publisher.loan() as frame:
            assert frame.array.shape == (4, 3) and len(frame) == 4
            frame[...] = number
            frame[2, 1] = 0.5
            frame.count = 3
        got = subscriber.recv(SECONDS)
        assert (got.sequence, got.nbytes, got.array.shape) == (number, 36, (3, 3))
        assert got.array.dtype == np.float32 and not got.array.flags.writeable
        assert got.array[0].tolist() == [number] * 3 and got.array[2, 1] == 0.5
        with pytest.raises(ValueError, match="read-only"):
            got.array[0] = 1
    assert publisher.sequence == subscriber.cursor == 20 and subscriber.total_lagged == 0


def test_frame_is_held_as_long_as_an_array_of_it() -> None:
    publisher, subscriber = ends(held=2)
    publisher.publish(np.full((4, 3), 1, "f4"))
    first = subscriber.recv(SECONDS).array[1:, :2]  # The base of its base keeps the frame.
    publisher.publish(np.full((4, 3), 2, "f4"))
    second = subscriber.recv(SECONDS)
    publisher.publish(np.full((4, 3), 3, "f4"))
    for receive in subscriber.recv, subscriber.try_recv, subscriber.latest:
        with pytest.raises(annulus.LentError, match="holds 2 frames, as many as it may"):
            receive()
    assert publisher.held == 1 and len(subscriber) == 1  # the ring keeps the second
    for number in range(4, 20):
        publisher.publish(np.full((4, 3), number, "f4"))
    assert publisher.held == 2 and (first == 1).all() and (second.array == 2).all()
    del second
    newest = subscriber.latest()
    assert newest is not None and newest.sequence == 18 and subscriber.total_lagged == 16
    subscriber.close()
    publisher.close()
    assert (first == 1).all() and (newest.array == 19).all()
    view = newest.view
    del newest
    gc.collect()
    assert np.frombuffer(view, "f4")[0] == 19


def test_loan_that_is_not_published() -> None:
    publisher, subscriber = ends()
    with pytest.raises(ZeroDivisionError), publisher.loan() as frame:
        frame[...] = 1 / 0
    assert publisher.sequence == 0 and subscriber.try_recv() is None
    with publisher.loan():
        for verb in publisher.loan, lambda: publisher.publish(b""), lambda: publisher.sequence, publisher.close:
            with pytest.raises(annulus.LentError, match=r"end the block of .*loan\(\)"):
                verb()
    # An array that is left: the frame is published once there is none.
    with pytest.raises(annulus.LentError), publisher.loan() as frame:
        frame[...] = 5
        left = frame.array
    with pytest.raises(annulus.LentError, match="still exists"):
        publisher.sequence
    assert len(subscriber) == 1
    del left, frame
    gc.collect()
    assert publisher.sequence == 2
    assert subscriber.recv(SECONDS).array.size == 12 and (subscriber.recv(SECONDS).array == 5).all()


def test_lossless_publisher_waits() -> None:
    publisher, subscriber = ends(lossless=True)
    assert publisher.wait_for_subscribers(1, SECONDS) and not publisher.wait_for_subscribers(2, 0.01)
    publisher.publish(np.zeros((4, 3), "f4"))
    publisher.publish(np.zeros((4, 3), "f4"))
    for late in lambda: publisher.publish(np.zeros((4, 3), "f4"), 0), lambda: publisher.loan(timeout=0.01):
        with pytest.raises(annulus.FullError):
            late()
    with pytest.raises(ValueError, match="awaited=False"):
        subscriber.latest()
    viewer = publisher.ring.subscribe_frames(awaited=False, start="oldest")
    seen: list[int] = []

    def receive() -> None:
        seen.extend(frame.sequence for frame in subscriber)

    receiving = threading.Thread(target=receive)
    receiving.start()
    for number in range(500):
        with publisher.loan(timeout=SECONDS) as frame:
            frame[...] = number
    publisher.close()
    receiving.join()
    assert seen == list(range(502)) and subscriber.total_lagged == 0
    assert sum(1 for _ in viewer) + viewer.total_lagged == viewer.cursor == 502
    viewer.close()
    last = publisher.ring.subscribe_frames(awaited=False, start=2)
    assert [frame.sequence for frame in last] == [500, 501]


def test_any_arrays_in_a_ring_of_bytes() -> None:
    publisher = annulus.publish_frames(None, frame_bytes=1000, subscribers=1)
    subscriber = publisher.ring.subscribe_frames()
    assert publisher.schema is None and subscriber.dtype == np.uint8
    with publisher.loan((10, 5), "f8") as frame:
        frame[...] = np.arange(50.0).reshape(10, 5)
    got = subscriber.recv(SECONDS)
    assert (got.as_array((10, 5), "f8") == np.arange(50.0).reshape(10, 5)).all()
    assert got.as_array(dtype="f8").shape == (50,) and got.array.shape == (400,)
    with pytest.raises(ValueError, match=r"float64 in the shape \(10, 6\) has 480 bytes, and the frame 400"):
        got.as_array((10, 6), "f8")
    with pytest.raises(ValueError, match="400 bytes, and these are no whole number of"):
        got.as_array(dtype="V7")
    del got
    with pytest.raises(ValueError, match="1008 bytes are more than a frame of the ring without a name has, which is 1000"):
        publisher.loan(126, "f8")
    publisher.publish(b"")
    publisher.publish(b"abc")
    publisher.publish(np.arange(6, dtype="u1").reshape(2, 3)[:, ::2])  # a copy is made
    assert [subscriber.recv(SECONDS).view.tobytes() for _ in range(3)] == [b"", b"abc", bytes([0, 2, 3, 5])]


def test_values_of_one_type() -> None:
    publisher = annulus.publish_frames(None, dtype=[("x", "f4"), ("id", "u4")], frame_bytes=100, subscribers=1)
    subscriber = publisher.ring.subscribe_frames()
    with publisher.loan(5) as frame:
        frame["x"] = 1.5
        frame["id"] = range(5)
    got = subscriber.recv(SECONDS).array
    assert got.shape == (5,) and got["id"].tolist() == [0, 1, 2, 3, 4] and got["x"].sum() == 7.5
    assert len(publisher.loan()) == 12  # the rest of 100 bytes is left
    with pytest.raises(TypeError, match="the array has the dtype float64"):
        publisher.publish(np.zeros(3))


def test_what_cant_be() -> None:
    with pytest.raises(TypeError, match="Give a shape and a dtype, or frame_bytes"):
        annulus.publish_frames(None)
    with pytest.raises(TypeError, match="a shape goes with a dtype"):
        annulus.publish_frames(None, (1, 2))
    with pytest.raises(TypeError, match="dtype and schema are given"):
        annulus.publish_frames(None, frame_bytes=8, dtype="f8", schema="f64")
    for wrong in ({"held": 0}, {"subscribers": 1025}, {"alignment": 65}, {"capacity": 1}):
        with pytest.raises(ValueError):
            annulus.publish_frames(None, (4,), "u1", **wrong)  # type: ignore[arg-type]
    publisher, subscriber = ends()
    with pytest.raises(ValueError, match=r"shape=\(4, 4\): the frames of .* have the shape \(n, 3\)"):
        publisher.loan((4, 4))
    with pytest.raises(ValueError, match="more than a frame"):
        publisher.loan((5, 3))
    with pytest.raises(annulus.TimeoutError):
        subscriber.recv(0.01)
    second = publisher.ring.subscribe_frames()
    with pytest.raises(annulus.NoSeatError, match="has all subscribers that it has room for"):
        publisher.ring.subscribe_frames()
    second.close()
    with pytest.raises(TypeError, match="can't be pickled"):
        publisher.__reduce__()


def test_rings_of_other_kinds(tmp_path: pathlib.Path) -> None:
    at = str(tmp_path)
    with annulus.publish_frames("frames", (4,), "u1", directory=at):
        with pytest.raises(annulus.MismatchError, match="annulus.subscribe_frames takes it"):
            annulus.subscribe("frames", directory=at)
        assert annulus.info("frames", directory=at)["schema"] == annulus.Schema("u8")
    with annulus.publish("prices", "f8", directory=at), pytest.raises(annulus.MismatchError):
        annulus.subscribe_frames("prices", directory=at)
    with pytest.raises(annulus.RingNotFoundError):
        annulus.subscribe_frames("frames", directory=at)


def test_tasks() -> None:
    publisher, subscriber = ends(lossless=True)

    async def read() -> list[int]:
        return [int(frame.array[0, 0]) async for frame in subscriber]

    async def main() -> list[int]:
        reading = asyncio.create_task(read())
        for number in range(50):
            while True:
                try:
                    publisher.publish(np.full((4, 3), number, "f4"), 0)
                    break
                except annulus.FullError:
                    await asyncio.sleep(0)
        publisher.close()
        return await reading

    assert asyncio.run(main()) == list(range(50))


def test_arrays_for_other_libraries() -> None:
    publisher, subscriber = ends()
    publisher.publish(np.ones((4, 3), "f4"))
    frame = subscriber.recv(SECONDS)
    assert np.asarray(frame) is frame.array and np.asarray(frame, "f8").sum() == 12
    assert frame.__dlpack_device__() == (1, 0)
    if np.lib.NumpyVersion(np.__version__) >= "2.1.0":
        assert (np.from_dlpack(frame) == 1).all()


CHILD = """
import os, sys, time
import numpy as np
import annulus
if sys.argv[1] == "publish":
    camera = annulus.publish_frames("frames", (64, 64), "u2", capacity=3, subscribers=2, held=4)
    print("ready", flush=True)
    number = 0
    while True:
        with camera.loan() as frame:
            frame[...] = number % 65536
        number += 1
        time.sleep(0)
else:
    viewer = annulus.subscribe_frames("frames", timeout=60)
    print("ready", flush=True)
    held = [None]
    while True:
        held = [held[-1], viewer.recv()]
"""


def child(what: str) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", CHILD, what], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def test_publisher_that_is_killed() -> None:
    for _ in range(3):
        process = child("publish")
        subscriber = annulus.subscribe_frames("frames", timeout=SECONDS)
        for _ in range(20):
            frame = subscriber.recv(SECONDS)
            assert (frame.array == frame.sequence % 65536).all()
        process.send_signal(signal.SIGKILL)
        process.wait()
        with pytest.raises(annulus.ClosedError) as error:
            for another in subscriber:
                assert (another.array == another.sequence % 65536).all()
        assert error.value.peer_died and subscriber.state == "dead"
        assert (frame.array == frame.sequence % 65536).all()


def test_subscribers_that_are_killed() -> None:
    with annulus.publish_frames("frames", (64, 64), "u2", capacity=3, subscribers=2, held=4) as camera:
        for _ in range(3):
            process = child("subscribe")
            while camera.held == 0:
                assert process.poll() is None
                with camera.loan() as frame:
                    frame[...] = 1
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert camera.held == 0


def test_forked_child_leaves_the_parents_frames_alone() -> None:
    publisher, subscriber = ends()
    publisher.publish(np.full((4, 3), 9, "f4"))
    frame = subscriber.recv(SECONDS)
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            assert (frame.array == 9).all()  # The memory is the same.
            del frame
            gc.collect()
            try:
                subscriber.try_recv()
            except annulus.ForkedError:
                code = 0
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    for number in range(20):
        publisher.publish(np.full((4, 3), number, "f4"))
    assert publisher.held == 1 and (frame.array == 9).all()


@pytest.fixture
def camera(tmp_path: pathlib.Path) -> Iterator[annulus.FramePublisher]:
    with annulus.publish_frames("camera", (480, 640, 3), "u1", directory=str(tmp_path)) as publisher:
        yield publisher


def test_ring_is_an_argument(camera: annulus.FramePublisher) -> None:
    program = (
        "import pickle, sys, annulus; ring = pickle.loads(bytes.fromhex(sys.argv[1]));"
        "s = ring.subscribe_frames(start='oldest'); print(s.recv(60).array[3, 4, 2])"
    )
    import pickle

    with camera.loan() as frame:
        frame[3, 4, 2] = 77
    text = pickle.dumps(camera.ring).hex()
    done = subprocess.run([sys.executable, "-c", program, text], capture_output=True, text=True, check=True)
    assert done.stdout == "77\n"
