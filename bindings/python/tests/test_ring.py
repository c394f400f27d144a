"""Rings without a name, for one process, and `Ring` as what opens more ends: here, and in another process."""

from __future__ import annotations

import concurrent.futures
import gc
import multiprocessing
import pathlib
import pickle
import threading
from typing import Any

import numpy as np
import pytest

import annulus

SECONDS = 120.0  # A wait that only a hang reaches.


@annulus.message
class Order:
    number: annulus.u64
    price: annulus.f64


def received(receiver: annulus.Subscriber[Any] | annulus.Consumer[Any], count: int) -> list[Any]:
    return [receiver.recv(SECONDS) for _ in range(count)]


def test_broadcast_ring_without_name() -> None:
    options: list[dict[str, Any]] = [{}, {"lossless": True}, {"publishers": 3}]
    for of in options:
        prices = annulus.publish(None, [("bid", "f8"), ("size", "u4")], **of)
        assert prices.name is None and prices.ring.name is None
        first, second = prices.ring.subscribe(), prices.ring.subscribe()
        prices.send((1.5, 7))
        for sub in (first, second):
            assert sub.recv(SECONDS)["bid"] == 1.5 and sub.name is None and sub.state == "alive"
        assert annulus.names() == []
        if prices.kind == "mp_lossy":
            with prices.ring.join_publisher() as another:
                prices.close()
                another.send((2.5, 8))
            assert [sub.recv(SECONDS)["size"] for sub in (first, second)] == [8, 8]
        prices.close()
        for sub in (first, second):
            with pytest.raises(annulus.ClosedError, match="the ring without a name is closed"):
                sub.recv(SECONDS)
            assert list(sub) == []


def test_queues_without_name() -> None:
    producer = annulus.spsc(None, "i8")
    consumer = producer.ring.consume()
    producer.send(7)
    assert consumer.recv(SECONDS) == 7
    producer.close()
    assert list(consumer) == []

    many: annulus.Consumer[Any] = annulus.mpsc(None, "i8")
    ring = many.ring
    threads = [threading.Thread(target=lambda: send_some(ring)) for _ in range(3)]
    for thread in threads:
        thread.start()
    assert sorted(received(many, 30)) == sorted(list(range(10)) * 3)
    for thread in threads:
        thread.join()

    with annulus.produce_bytes(None) as records, records.ring.consume_bytes(wait="adaptive") as reader:
        records.send(b"any length")
        assert reader.recv(SECONDS) == b"any length" and reader.name is None and reader.ring.name is None
        with pytest.raises(ValueError, match="the ring without a name takes up to"):
            records.send(bytes(1 << 17))


def test_queue_without_name_lends() -> None:
    producer = annulus.spsc(None, "f8", capacity=64)
    consumer = producer.ring.consume()
    with producer.reserve(64) as room:
        room[:] = np.arange(64.0)
    with consumer.readable(timeout=SECONDS) as lent:
        assert lent.array.sum() == 63 * 32


def test_messages_of_ring_without_name_are_the_class() -> None:
    with annulus.publish(None, Order) as orders:
        sub = orders.ring.subscribe()
        orders.send(Order(1, 2.5))
        assert sub.recv(SECONDS) == Order(1, 2.5)
        again = sub.ring.subscribe(start="oldest")
        assert again.recv(SECONDS) == Order(1, 2.5)
        plain = orders.ring.subscribe(schema=orders.schema, start="oldest")
        assert plain.recv(SECONDS)["number"] == 1


def test_ring_keeps_nothing_open() -> None:
    prices = annulus.publish(None, "f8")
    ring, sub = prices.ring, prices.ring.subscribe()
    del prices
    gc.collect()
    assert list(sub) == [] and sub.is_closed
    with pytest.raises(annulus.ClosedError):
        ring.subscribe().recv(SECONDS)


def test_texts_of_rings_without_name() -> None:
    prices = annulus.publish(None, "f8")
    assert repr(prices) == "<annulus.Publisher of a ring without a name, lossy, messages: f64>"
    assert repr(prices.ring) == "<annulus.Ring of a ring without a name>"
    with pytest.raises(annulus.MismatchError, match="without a name is of the kind lossy, and consume is"):
        prices.ring.consume()
    with pytest.raises(annulus.MismatchError, match="and produce is for mpsc"):
        prices.ring.produce()
    with pytest.raises(annulus.MismatchError, match="and join_publisher is for mp_lossy"):
        prices.ring.join_publisher()
    with pytest.raises(annulus.MismatchError, match="the ring without a name can't be used"):
        prices.ring.consume_bytes()
    with pytest.raises(annulus.MismatchError, match="the messages of a ring without a name are"):
        prices.ring.subscribe("i4")
    with pytest.raises(annulus.TimeoutError, match="nothing came from the ring without a name in 0.01"):
        prices.ring.subscribe().recv(0.01)
    with pytest.raises(TypeError, match="directory='/x' is for the name of a ring"):
        annulus.publish(None, "f8", directory="/x")
    with pytest.raises(TypeError, match="a ring without a name is for its own process: give it a name"):
        pickle.dumps(prices.ring)


def test_handles_are_not_pickled(tmp_path: pathlib.Path) -> None:
    prices = annulus.publish("p", "f8", directory=tmp_path)
    records = annulus.produce_bytes("b", directory=tmp_path)
    handles = [prices, prices.ring.subscribe(), records, records.ring.consume_bytes()]
    for handle in handles:
        with pytest.raises(TypeError, match=f"a {type(handle).__name__} belongs.*pass handle.ring"):
            pickle.dumps(handle)


def test_ring_with_name_is_pickled(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    prices = annulus.publish("p", Order, directory="names")
    ring: annulus.Ring[Order] = pickle.loads(pickle.dumps(prices.ring))
    monkeypatch.chdir("/")
    assert ring.name == "p" and repr(ring) == "<annulus.Ring of 'p'>"
    sub = ring.subscribe()
    prices.send(Order(3, 1.5))
    assert sub.recv(SECONDS) == Order(3, 1.5)
    own: annulus.Ring[Any] = annulus.Ring("nobody", directory=tmp_path)
    with pytest.raises(annulus.RingNotFoundError, match="nobody"):
        own.subscribe()


def send_some(ring: annulus.Ring[Any]) -> None:
    with ring.produce() as producer:
        for number in range(10):
            producer.send(number, SECONDS)


def double(orders: annulus.Ring[Order], answers: annulus.Ring[Order]) -> None:
    """Receives orders, and publishes each with the double price."""
    with orders.consume() as consumer, answers.join_publisher() as publisher:
        for order in consumer:
            publisher.send(Order(order.number, order.price * 2))


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_rings_are_arguments_of_a_process(method: str, tmp_path: pathlib.Path) -> None:
    context: Any = multiprocessing.get_context(method)
    orders = annulus.spsc("orders", Order, directory=tmp_path)
    answers = annulus.publish("answers", Order, publishers=2, directory=tmp_path)
    child = context.Process(target=double, args=(orders.ring, answers.ring))
    sub = answers.ring.subscribe()
    child.start()
    for number in range(5):
        orders.send(Order(number, 1.5), SECONDS)
    assert received(sub, 5) == [Order(number, 3.0) for number in range(5)]
    orders.close()
    child.join(SECONDS)
    assert child.exitcode == 0

    queue: annulus.Consumer[Any] = annulus.mpsc("queue", "i8", directory=tmp_path)
    children = [context.Process(target=send_some, args=(queue.ring,)) for _ in range(2)]
    for child in children:
        child.start()
    assert sorted(received(queue, 20)) == sorted(list(range(10)) * 2)
    for child in children:
        child.join(SECONDS)
        assert child.exitcode == 0


def test_ring_is_argument_of_a_pool(tmp_path: pathlib.Path) -> None:
    spawn = multiprocessing.get_context("spawn")
    prices = annulus.publish("prices", "f8", capacity=64, directory=tmp_path)
    prices.send_batch(np.arange(10.0))
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=spawn) as pool:
        assert pool.submit(first_two, prices.ring).result(SECONDS) == 1.0
    prices.close()


def first_two(prices: annulus.Ring[Any]) -> float:
    with prices.subscribe(start="oldest") as sub:
        return float(sub.recv(SECONDS) + sub.recv(SECONDS))
