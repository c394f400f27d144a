"""Queues that several consumers share, lossless rings of several publishers, deadlines, and numbers that go on."""

import os
import pickle
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import annulus

LONG = 60.0


def test_claimed_message_comes_back_unless_it_is_done() -> None:
    queue = annulus.mpmc(None, "u4", capacity=4, producers=1, consumers=2)
    assert (queue.kind, len(queue), bool(queue)) == ("mpmc", 0, True)
    producer = queue.ring.produce()
    workers = [queue.ring.consume() for _ in range(2)]
    assert (queue.producers, queue.consumers) == (1, 2)
    with pytest.raises(annulus.NoSeatError):
        queue.ring.consume()
    with pytest.raises(annulus.NoSeatError):
        queue.ring.produce()
    assert workers[0].try_claim() is None
    with pytest.raises(annulus.TimeoutError):
        workers[0].claim(timeout=0)

    for number in range(3):
        producer.send(number)
    claimed = workers[0].claim(timeout=LONG)
    assert (int(claimed.message), claimed.given_before, claimed.is_over) == (0, 0, False)
    with pytest.raises(ZeroDivisionError), claimed:
        1 / 0
    assert claimed.is_over and queue.given_again == 1
    again = workers[1].claim(timeout=LONG)
    assert (int(again.message), again.given_before) == (0, 1)
    done = threading.Thread(target=again.done)
    done.start()
    done.join()
    with pytest.raises(annulus.AnnulusError, match="done or given back already"):
        again.done()
    again.give_back()
    with pytest.raises(TypeError, match="can't be pickled"):
        pickle.dumps(again)
    with workers[1].claim(timeout=LONG) as job:
        assert int(job) == 1
    workers[0].claim(timeout=LONG)  # nothing refers to it: it is given back
    queue.end()
    assert [int(message) for message in workers[1]] == [2]
    with pytest.raises(annulus.ClosedError):
        workers[1].claim(timeout=LONG)
    with pytest.raises(annulus.ClosedError):
        producer.send(3)
    assert (queue.given_again, queue.dropped) == (2, 0)


def test_consumers_receive_by_all_verbs() -> None:
    queue = annulus.mpmc(None, "u4", capacity=100)
    producer, consumer = queue.ring.produce(), queue.ring.consume()
    assert producer.send_batch(np.arange(10, dtype="u4")) == 10
    assert int(consumer.recv()) == 0 and len(consumer) == 9
    assert consumer.recv_batch(3).tolist() == [1, 2, 3]
    latest = consumer.latest()
    assert latest is not None and int(latest) == 9 and consumer.total_skipped == 5
    assert consumer.try_recv() is None and consumer.arm()
    with pytest.raises(TypeError, match="lends no memory"):
        consumer.readable()
    with pytest.raises(TypeError, match="the kind mpmc has claims"):
        annulus.mpsc(None, "u4").claim(timeout=0)
    with pytest.raises(ValueError, match="4096"):
        annulus.mpmc(None, message_bytes=5000)
    with pytest.raises(ValueError, match="neither"):
        annulus.mpmc(None, "u4", unreceived="keep")  # type: ignore[call-overload]


WORKER = """
import os, signal, sys, annulus
worker = annulus.consume("jobs", directory=sys.argv[1], timeout=60)
held = [worker.claim(timeout=60) for _ in range(2)]
worker.recv(timeout=60)
print("claimed", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("unreceived", ["again", "drop"])
def test_what_a_dead_worker_had_claimed(tmp_path: Path, unreceived: str) -> None:
    queue = annulus.mpmc("jobs", "u4", directory=tmp_path, unreceived=unreceived)  # type: ignore[call-overload]
    producer = annulus.produce("jobs", directory=tmp_path)
    for number in range(4):
        producer.send(number)
    killed = subprocess.run([sys.executable, "-c", WORKER, os.fspath(tmp_path)], stdout=subprocess.PIPE, check=False)
    assert killed.returncode == -signal.SIGKILL and killed.stdout == b"claimed\n"
    worker = annulus.consume("jobs", directory=tmp_path)
    jobs = [worker.claim(timeout=LONG) for _ in range(1 if unreceived == "drop" else 3)]
    assert {(int(job.message), job.given_before) for job in jobs} == (
        {(3, 0)} if unreceived == "drop" else {(0, 1), (1, 1), (3, 0)}
    )
    for job in jobs:
        job.done()
    assert worker.try_claim() is None
    assert (queue.given_again, queue.dropped) == ((0, 2) if unreceived == "drop" else (2, 0))


def test_lossless_ring_of_several_publishers(tmp_path: Path) -> None:
    def publish(lossless: bool = True) -> "annulus.Publisher[object]":
        return annulus.publish("ring", "u4", capacity=4, publishers=2, seats=1, lossless=lossless, directory=tmp_path)

    first = publish()
    assert first.kind == "mp_lossless"
    with pytest.raises(annulus.MismatchError, match="lossy"):
        publish(lossless=False)
    second = publish()  # the one that is there
    with pytest.raises(annulus.NoSeatError):
        annulus.join_publisher("ring", directory=tmp_path)
    with annulus.subscribe("ring", directory=tmp_path) as sub:
        with pytest.raises(annulus.NoSeatError):
            annulus.subscribe("ring", directory=tmp_path)
        assert first.wait_for_subscribers(timeout=LONG)
        for number in range(4):
            (first, second)[number % 2].send(number)
        assert not first.try_send(4) and not second.try_send(4)
        assert [int(sub.recv(timeout=LONG)) for _ in range(4)] == [0, 1, 2, 3]
        assert second.try_send(4) and sub.total_lagged == 0
    with pytest.raises(ValueError, match="one publisher's"):
        annulus.publish("other", "u4", publishers=2, continuing=True, directory=tmp_path)


@pytest.mark.parametrize("options", [{}, {"lossless": True}, {"publishers": 2}, {"lossless": True, "publishers": 2}])
def test_silent_publisher_is_overdue(options: "dict[str, int]") -> None:
    publisher = annulus.publish(None, "u4", capacity=8, deadline=0.001, **options)  # type: ignore[call-overload]
    sub = publisher.ring.subscribe()
    assert sub.deadline == 0.001 and sub.overdue is None
    with pytest.raises(annulus.TimeoutError):
        sub.recv(timeout=0.001)
    assert sub.overdue is not None and sub.overdue >= 0.001
    publisher.send(7)
    assert sub.overdue is None
    assert int(sub.recv()) == 7
    sub.overdue_after(3600)
    with pytest.raises(annulus.TimeoutError):
        sub.recv(timeout=0.001)
    assert sub.deadline == 3600 and sub.overdue is None
    sub.overdue_after(0.001)
    publisher.close()
    with pytest.raises(annulus.ClosedError):
        sub.recv(timeout=LONG)
    assert sub.overdue is None  # it has left
    with pytest.raises(ValueError, match="seconds is 0.0: it is a number of seconds from 1e-9 to 1.8e10"):
        sub.overdue_after(0)
    for deadline in (-1.0, 0.0, 1e-12, 1e30, float("inf"), float("nan")):
        with pytest.raises(ValueError, match="deadline is .*: it is a number of seconds from 1e-9 to 1.8e10"):
            annulus.publish(None, "u4", deadline=deadline)


def test_numbers_of_a_name_go_on(tmp_path: Path) -> None:
    for life in range(4):
        with annulus.publish(
            "prices", "u4", capacity=8, lossless=life % 2 == 1, continuing=True, directory=tmp_path
        ) as publisher:
            assert publisher.sequence == 3 * life
            with pytest.raises(annulus.NameTakenError):
                annulus.publish("prices", "u4", continuing=True, directory=tmp_path)
            publisher.send_batch(np.arange(3, dtype="u4"))
            with annulus.subscribe("prices", start=2, directory=tmp_path) as sub:
                assert sub.cursor == 3 * life + 1
                assert sub.recv_batch().tolist() == [1, 2]
    with pytest.raises(ValueError, match="the numbers of a name go on"):
        annulus.publish(None, "u4", continuing=True)
