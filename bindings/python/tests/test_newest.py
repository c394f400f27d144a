"""Newest values: what a reader finds, what it is told of, and how it ends."""

from __future__ import annotations

import asyncio
import ctypes
import os
import pathlib
import pickle
import select
import signal
import subprocess
import sys
import threading
import time
from typing import Any

import numpy as np
import pytest

import annulus

SECONDS = 120.0  # A wait that only a hang reaches.
QUOTE = [("bid", "f8"), ("size", "u4")]


def ends(dtype: Any = QUOTE, cells: int = 4) -> tuple[annulus.NewestSender[Any], annulus.NewestReader[Any]]:
    """Cells without a name, and a reader."""
    sender = annulus.publish_newest(None, dtype, cells=cells)
    return sender, sender.ring.read_newest()


def test_reader_has_the_newest_at_once() -> None:
    sender = annulus.publish_newest("room", "f8")
    with pytest.raises(KeyError):
        annulus.read_newest("room")[0]
    assert sender.get() is None and sender.get(0, "none") == "none"
    for number in range(20):
        sender.send(number + 0.5)
        reader = annulus.read_newest("room")
        assert reader.get() == reader[0] == sender.get() == sender[0] == number + 0.5
        assert reader.changes().recv(SECONDS) == annulus.Change(0, None, number + 0.5)
    assert (reader.kind, reader.capacity, reader.message_bytes, reader.schema) == ("watch", 1, 8, annulus.Schema("f64"))
    assert repr(reader) == "<annulus.NewestReader of 'room', watch, messages: f64>"
    assert annulus.info("room")["kind"] == "watch"


def test_keys_are_those_of_cells() -> None:
    sender, reader = ends(cells=3)
    sender["EURUSD"] = (1.5, 10)
    sender["größe"] = {"bid": 2.5, "size": 20}
    assert sender.cell("more") == 2 and sender.cell("EURUSD") == 0
    for wrong, error, text in (
        ("", ValueError, "is empty"),
        ("a\0b", ValueError, "zero byte"),
        ("x" * 65, ValueError, "65 bytes is too long: it can have 64"),
        ("fourth", annulus.NoSeatError, "no cell is left for \"fourth\": all 3 have other keys"),
    ):
        with pytest.raises(error, match=text):
            sender[wrong] = (0, 0)
        assert wrong not in reader and reader.get(wrong) is None
        with pytest.raises(KeyError):
            reader[wrong]
        with pytest.raises(KeyError):
            reader.changes(wrong)
    assert reader.keys() == list(reader) == ["EURUSD", "größe", "more"] and len(reader) == 3
    assert "more" in reader and reader.get("more") is None  # nothing was sent to it
    assert [(key, float(value["bid"])) for key, value in reader.items()] == [("EURUSD", 1.5), ("größe", 2.5)]
    assert reader["größe"].dtype == sender.dtype and int(sender["größe"]["size"]) == 20
    for end in sender, reader:
        for cell in (3, -1):
            with pytest.raises(IndexError, match=f"there is no cell {cell}"):
                end.get(cell)
    with pytest.raises(IndexError):
        sender.send_to(3, (0, 0))
    with pytest.raises(IndexError):
        reader.changes(3)
    with pytest.raises(annulus.MessageError):
        sender["EURUSD"] = ("x", 0)
    assert reader["EURUSD"]["bid"] == 1.5


def test_changes_come_once_with_the_newest_value() -> None:
    sender, reader = ends("u8")
    sender["old"] = 1
    changes, one = reader.changes(), reader.changes("old")
    assert changes.recv(SECONDS) == annulus.Change(0, "old", 1) and changes.try_recv() is None
    for seconds in 0.01, 0:
        with pytest.raises(annulus.TimeoutError, match="nothing came from the ring without a name"):
            changes.recv(seconds)
    sender.send_to(3, 5)
    for number in range(10):
        sender["new"] = number
    found = {change.cell: change for change in (changes.recv(SECONDS), changes.recv(SECONDS))}
    assert found == {3: annulus.Change(3, None, 5), 1: annulus.Change(1, "new", 9)}
    assert one.recv(SECONDS).value == 1 and one.try_recv() is None and not changes.is_closed
    sender["old"] = 2
    sender.close()
    for end in changes, one:
        assert end.is_closed and end.recv(SECONDS) == annulus.Change(0, "old", 2)
        with pytest.raises(annulus.ClosedError) as told:
            end.recv()
        assert not told.value.peer_died and end.state == "closed" and list(end) == []
    assert reader["new"] == 9 and reader.is_closed  # the values stay
    with pytest.raises(annulus.ClosedError):
        sender.send(1)


def test_values_are_what_messages_are(tmp_path: pathlib.Path) -> None:
    @annulus.message
    class Point:
        x: annulus.f64
        y: annulus.f64

    class Structure(ctypes.Structure):
        _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double)]

    at = str(tmp_path)
    with annulus.publish_newest("point", Point, cells=2, directory=at) as sender:
        sender["a"] = Point(1.5, 2.5)
        sender.send_to(1, Point(3.5, 4.5))
        assert sender["a"] == Point(1.5, 2.5)
        reader = annulus.read_newest("point", Point, directory=at)
        assert reader["a"] == Point(1.5, 2.5) and reader.changes(1).recv(SECONDS).value == Point(3.5, 4.5)
        assert annulus.read_newest("point", Structure, directory=at)[1].y == 4.5
        assert annulus.read_newest("point", directory=at)["a"]["x"] == 1.5
        as_bytes = annulus.read_newest("point", message_bytes=16, directory=at)
        assert as_bytes["a"] == as_bytes.changes("a").recv(SECONDS).value == annulus.to_bytes(Point(1.5, 2.5))
        with pytest.raises(annulus.MismatchError, match="Point{"):
            annulus.read_newest("point", "f8", directory=at)
    arrays, shown = ends(("f4", (2, 3)))
    arrays.send(np.ones((2, 3), "f4"))
    assert shown[0].shape == (2, 3) and shown.changes(0).recv(SECONDS).value.sum() == 6


def test_what_cant_be(tmp_path: pathlib.Path) -> None:
    at = str(tmp_path)
    with pytest.raises(TypeError, match="publish_newest makes a ring: what are its messages"):
        annulus.publish_newest(None)
    for cells in 0, (1 << 20) + 1:
        with pytest.raises(ValueError, match="cells"):
            annulus.publish_newest(None, "f8", cells=cells)
    with pytest.raises(ValueError, match="4096 bytes"):
        annulus.publish_newest(None, message_bytes=4097)
    with annulus.publish_newest("values", "f8", directory=at) as sender:
        with pytest.raises(annulus.MismatchError, match="annulus.read_newest takes it"):
            annulus.subscribe("values", directory=at)
        with pytest.raises(annulus.NameTakenError):
            annulus.publish_newest("values", "f8", directory=at)
        for end in sender, annulus.read_newest("values", directory=at).changes():
            with pytest.raises(TypeError, match="can't be pickled"):
                pickle.dumps(end)
    with annulus.publish("prices", "f8", directory=at):
        with pytest.raises(annulus.MismatchError, match="annulus.subscribe takes it"):
            annulus.read_newest("prices", directory=at)
    with pytest.raises(annulus.RingNotFoundError):
        annulus.read_newest("values", directory=at)
    with pytest.raises(annulus.TimeoutError):
        annulus.read_newest("values", directory=at, timeout=0.01)


def test_closed_handles_say_so() -> None:
    sender, reader = ends("f8")
    sender.send(1.5)
    changes = reader.changes()
    with sender, reader, changes:
        pass
    for end in sender, reader, changes:
        assert end.is_closed
        end.close()
    for verb in lambda: sender.send(1), sender.get, reader.get, reader.keys, reader.changes, changes.recv, changes.arm:
        with pytest.raises(annulus.ClosedError, match=r"closed by close\(\)"):
            verb()


def test_several_threads_wait_and_are_woken() -> None:
    sender, reader = ends("u8", cells=3)
    seen: list[list[int]] = [[], [], []]

    def follow(cell: int) -> None:
        seen[cell].extend(int(change.value) for change in reader.changes(cell))

    threads = [threading.Thread(target=follow, args=(cell,)) for cell in range(3)]
    for thread in threads:
        thread.start()
    for number in range(300):
        sender.send_to(number % 3, number)
    sender.close()
    for cell, thread in enumerate(threads):
        thread.join()
        assert seen[cell] == sorted(set(seen[cell])) and seen[cell][-1] == 297 + cell


def test_descriptor_is_readable_after_a_change() -> None:
    sender, reader = ends("f8")
    changes = reader.changes()
    assert changes.arm()
    assert select.select([changes], [], [], 0) == ([], [], [])
    sender.send(1.5)
    assert select.select([changes], [], [], SECONDS)[0] == [changes]
    assert not changes.arm() and changes.recv(0).value == 1.5 and changes.arm()


def test_tasks() -> None:
    sender, reader = ends("u8")

    async def follow() -> list[int]:
        return [int(change.value) async for change in reader.changes("tick")]

    async def main() -> list[int]:
        sender["tick"] = 0
        following = asyncio.create_task(follow())
        for number in range(1, 50):
            await asyncio.sleep(0.001)
            sender["tick"] = number
        sender.close()
        return await following

    seen = asyncio.run(main())
    assert seen == sorted(set(seen)) and seen[-1] == 49


CHILD = """
import annulus
prices = annulus.publish_newest("prices", [("number", "u8"), ("check", "u8")], cells=8)
number = 0
print("ready", flush=True)
while True:
    number += 1
    prices[f"key {number % 5}"] = (number, number ^ 0x5555)
"""


def test_sender_that_is_killed() -> None:
    for _ in range(3):
        child = subprocess.Popen([sys.executable, "-c", CHILD], stdout=subprocess.PIPE, text=True)
        reader = annulus.read_newest("prices", timeout=SECONDS)
        changes = reader.changes()
        newest: dict[int, int] = {}
        for _ in range(200):
            change = changes.recv(SECONDS)
            number, check = (int(part) for part in change.value)
            assert check == number ^ 0x5555 and change.key == f"key {number % 5}" and number > newest.get(change.cell, 0)
            newest[change.cell] = number
        child.send_signal(signal.SIGKILL)
        child.wait()
        with pytest.raises(annulus.ClosedError) as told:
            for change in changes:
                newest[change.cell] = int(change.value["number"])
        assert told.value.peer_died and reader.state == changes.state == "dead" and reader.is_closed
        assert {key: newest[cell] for cell, key in enumerate(reader)} == {
            key: int(value["number"]) for key, value in reader.items()
        }


def test_interrupt_ends_a_wait() -> None:
    program = """
import annulus
sender = annulus.publish_newest(None, "f8")
changes = sender.ring.read_newest().changes()
try:
    print("ready", flush=True)
    changes.recv()
except KeyboardInterrupt:
    sender.send(1.5)
    print(changes.recv().value)
"""
    child = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None and child.stdout.readline() == "ready\n"
    time.sleep(0.1)  # It waits by now, as a rule.
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=SECONDS)[0] == "1.5\n" and child.returncode == 0


def test_forked_child_leaves_the_parents_values_alone() -> None:
    sender, reader = ends("f8")
    sender["a"] = 1.5
    changes = reader.changes()
    pid = os.fork()
    if pid == 0:
        refused = 0
        try:
            for verb in lambda: sender.send(1), lambda: reader["a"], changes.try_recv, reader.changes, sender.close:
                try:
                    verb()
                except annulus.ForkedError:
                    refused += 1
            del sender, reader, changes
        finally:
            os._exit(0 if refused == 5 else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert not sender.is_closed and reader["a"] == 1.5 and changes.recv(SECONDS).value == 1.5
    sender["a"] = 2.5
    assert changes.recv(SECONDS).value == 2.5


def test_ring_is_an_argument() -> None:
    with annulus.publish_newest("room", "f8") as sender:
        sender.send(20.5)
        program = (
            "import pickle, sys; ring = pickle.loads(bytes.fromhex(sys.argv[1]));"
            "print(ring.read_newest().get())"
        )
        text = pickle.dumps(sender.ring).hex()
        done = subprocess.run([sys.executable, "-c", program, text], capture_output=True, text=True, check=True)
    assert done.stdout == "20.5\n"


def test_program_gets_and_is_understood(tmp_path: pathlib.Path) -> None:
    program = os.environ.get("ANNULUS_PROGRAM")
    if not program:
        pytest.skip("ANNULUS_PROGRAM is not set: it is the path of the program of annulus-cli")
    with annulus.publish_newest("prices", QUOTE, cells=9, directory=str(tmp_path)) as sender:
        sender["EURUSD"], sender["USDJPY"] = (1.5, 10), (149.25, 20)
        command = [program, "get", "--directory", str(tmp_path), "prices"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "EURUSD  bid: 1.5  size: 10\nUSDJPY  bid: 149.25  size: 20\n"
