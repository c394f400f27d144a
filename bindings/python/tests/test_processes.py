"""The extension module with several threads and processes: locks, waits, signals, forks, deaths."""

from __future__ import annotations

import contextlib
import fcntl
import os
import resource
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable

import pytest
from raw_rings import (
    BYTES,
    PATIENCE,
    QUOTE,
    Directory,
    ended,
    line_of,
    lossless,
    lossy,
    message,
    number_of,
    run_python,
)

from annulus import _annulus as raw

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
    sender.send_batch(bytes(sender.about.capacity * BYTES))
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


def test_killed_consumer_of_several_producers(directory: Directory) -> None:
    process = run_python(
        directory,
        """
        receiver = raw.make_mpsc("ring", directory, 4, None, 16)
        print("made", flush=True)
        sys.stdin.readline()
        """,
    )
    assert line_of(process) == "made"
    sender, other = raw.join_sender("ring", directory), raw.join_sender("ring", directory)
    process.send_signal(signal.SIGKILL)
    ended(process)
    with pytest.raises(raw.ClosedError, match="has died") as told:
        sender.send_batch(bytes(100 * 16), PATIENCE)
    assert told.value.peer_died and told.value.sent <= 4
    with pytest.raises(raw.ClosedError, match="has died"):
        while other.try_send(bytes(16)):
            pass


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
        full.send_batch(bytes(full.about.capacity * 16))
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


class Foreign:
    """A ring of this process, by a second name that looks like one of another container: its descriptors come by
    the socket of that name. Nobody answers there until the test does."""

    def __init__(self, directory: Directory) -> None:
        self.ring, _ = lossy(directory, 64)
        text = (directory / "ring.ring").read_text()
        words = dict(line.split(" ", 1) for line in text.splitlines())
        self.descriptors = [int(words["fd"]), int(words["page"])]
        self.file = (directory / "far.ring").open("w+")
        self.file.write(text.replace(f"namespace {words['namespace']}\n", "namespace 1\n"))
        self.file.flush()
        fcntl.flock(self.file, fcntl.LOCK_EX)
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(os.fspath(directory / ".far.socket"))
        self.socket.listen(1000)

    def answer(self, seconds: float) -> None:
        """Answers the first question, so much later."""
        client, _ = self.socket.accept()
        time.sleep(seconds)
        for descriptor in self.descriptors:
            socket.send_fds(client, [b"\0"], [descriptor])

    def questions(self) -> int:
        """How many came that are not answered."""
        self.socket.setblocking(False)
        count = 0
        with contextlib.suppress(BlockingIOError):
            while True:
                self.socket.accept()
                count += 1
        return count


@pytest.mark.parametrize("timeout", [0, PATIENCE, None])
def test_answer_that_takes_its_time(directory: Directory, timeout: float | None) -> None:
    """The process of the ring is asked once, however often the wait looks for signals meanwhile."""
    foreign = Foreign(directory)
    answering = threading.Thread(target=foreign.answer, args=[0.2])
    answering.start()
    receiver = raw.join_receiver("far", directory, timeout=timeout)
    answering.join()
    foreign.ring.send(message(7))
    assert number_of(receiver.recv_bytes(PATIENCE)) == 7
    assert foreign.questions() == 0


@pytest.mark.parametrize("timeout", [0, PATIENCE, None])
def test_process_that_does_not_answer(directory: Directory, timeout: float | None) -> None:
    foreign = Foreign(directory)
    with pytest.raises(raw.AnnulusError, match="has not answered"):
        raw.join_receiver("far", directory, timeout=timeout)
    assert foreign.questions() == 1
    with pytest.raises(raw.TimeoutError):
        raw.join_receiver("far", directory, timeout=0.05)


def test_name_that_leads_to_no_file(directory: Directory) -> None:
    foreign = Foreign(directory)
    foreign.descriptors = [foreign.socket.fileno()] * 2
    answering = threading.Thread(target=foreign.answer, args=[0])
    answering.start()
    with pytest.raises(raw.AnnulusError, match="has no such file open"):
        raw.join_receiver("far", directory, timeout=None)
    answering.join()


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


# Interpreters.


@pytest.mark.parametrize("is_isolated", [True, False])
@pytest.mark.parametrize("main_is_first", [True, False])
def test_import_in_subinterpreter_is_refused(directory: Directory, is_isolated: bool, main_is_first: bool) -> None:
    """An interpreter that shares the GIL could load the module, and its end would close all handles."""
    code = f"""
        is_isolated, main_is_first = {is_isolated}, {main_is_first}
        if not main_is_first:
            del sys.modules["annulus"], sys.modules["annulus._annulus"]
        else:
            sender = raw.make_lossy("ring", directory, 64, None, 16)
        try:
            import _interpreters as interpreters
        except ImportError:
            import _xxsubinterpreters as interpreters
        if hasattr(interpreters, "exec"):
            made = interpreters.create("isolated" if is_isolated else "legacy")
            run = interpreters.exec
        else:
            made = interpreters.create(isolated=is_isolated)
            run = interpreters.run_string
        told = run(made, "try:\\n    import annulus\\nexcept ImportError as error:\\n    print(error, flush=True)")
        assert told is None, told
        interpreters.destroy(made)
        from annulus import _annulus as raw
        if not main_is_first:
            sender = raw.make_lossy("ring", directory, 64, None, 16)
        receiver = raw.join_receiver("ring", directory)
        sender.send(bytes(16))
        print(receiver.recv_bytes() == bytes(16))
    """
    out, errors = ended(run_python(directory, code))
    first, *rest = out.splitlines()
    assert "interpreter" in first and rest == ["True"], (out, errors)
