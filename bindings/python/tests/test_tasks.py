"""Tasks of `asyncio`, in its own event loop and in that of uvloop."""

from __future__ import annotations

import asyncio
import pathlib
import threading
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np
import pytest

import annulus

SECONDS = 120.0  # A wait that only a hang reaches.

Run = Callable[[Coroutine[Any, Any, Any]], Any]


@pytest.fixture
def at(tmp_path: pathlib.Path) -> str:
    """A directory for names, for this test alone."""
    return str(tmp_path)


@pytest.fixture(params=["asyncio", "uvloop"])
def run(request: pytest.FixtureRequest) -> Run:
    """What runs a coroutine to its end."""
    library: Any = asyncio if request.param == "asyncio" else pytest.importorskip("uvloop")

    def to_its_end(coroutine: Coroutine[Any, Any, Any]) -> Any:
        loop = library.new_event_loop()
        try:
            return loop.run_until_complete(asyncio.wait_for(coroutine, SECONDS))
        finally:
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

    return to_its_end


def test_asyncio_tasks_receive(at: str, run: Run) -> None:
    async def main() -> tuple[list[int], list[bytes]]:
        producer = annulus.spsc("q", "u4", directory=at, capacity=4)
        consumer = annulus.consume("q", directory=at)
        records = annulus.produce_bytes("r", directory=at)
        others = annulus.consume_bytes("r", directory=at)

        async def send() -> None:
            for number in range(50):
                while not producer.try_send(number):
                    await asyncio.sleep(0)
                await asyncio.sleep(0.001 if number % 10 == 0 else 0)
            records.send(b"record")
            producer.close()

        async def receive() -> list[int]:
            return [int(number) async for number in consumer]

        got, _, record = await asyncio.gather(receive(), send(), others.recv_async())
        return got, [record]

    got, records = run(main())
    assert got == list(range(50))
    assert records == [b"record"]


def test_waiting_task_sleeps(at: str, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    wakes: list[None] = []
    wake = annulus._asyncio._wake

    def counted(woken: asyncio.Future[None]) -> None:
        wakes.append(None)
        wake(woken)

    monkeypatch.setattr(annulus._asyncio, "_wake", counted)

    async def main() -> None:
        with annulus.publish("p", "u4", directory=at) as pub:
            sub = annulus.subscribe("p", directory=at)
            for number in range(3):
                waiting = asyncio.ensure_future(sub.recv_async())
                for _ in range(100):
                    await asyncio.sleep(0)
                pub.send(number)
                assert await waiting == number

    run(main())
    # One for each message, and a few for what was there before: not one for each turn of the loop.
    assert 3 <= len(wakes) < 20


def test_cancelled_task_loses_no_message(at: str, run: Run) -> None:
    async def main() -> None:
        with annulus.publish("p", "u4", directory=at) as pub:
            sub = annulus.subscribe("p", directory=at)
            waiting = asyncio.ensure_future(sub.recv_async())
            await asyncio.sleep(0.01)
            with pytest.raises(RuntimeError, match="another task"):
                await sub.recv_async()
            waiting.cancel()
            with pytest.raises(asyncio.CancelledError):
                await waiting
            pub.send(7)
            assert await sub.recv_async() == 7

    run(main())


@pytest.mark.parametrize("steps", range(8))
def test_message_that_comes_with_the_cancellation_is_not_lost(at: str, run: Run, steps: int) -> None:
    """The task is cancelled so many turns of the loop after the message has come: before it is woken, while
    it is, and when it has the message."""

    async def main() -> None:
        with annulus.publish("p", "u4", directory=at, lossless=True) as pub:
            sub = annulus.subscribe("p", directory=at)
            for number in range(100):
                waiting = asyncio.ensure_future(sub.recv_async())
                await asyncio.sleep(0)
                pub.send(number)
                for _ in range(steps):
                    await asyncio.sleep(0)
                waiting.cancel()
                try:
                    got = await waiting
                except asyncio.CancelledError:
                    got = await sub.recv_async()
                assert got == number

    run(main())


@pytest.mark.parametrize("by_loop", [True, False])
def test_short_timeouts_lose_nothing(at: str, run: Run, by_loop: bool) -> None:
    """`recv_async` and `async for` end at any moment, while another thread sends."""
    count = 2000

    async def next_of(sub: annulus.Subscriber[Any]) -> int:
        if by_loop:
            return int(await sub.recv_async())
        async for number in sub:
            return int(number)
        raise AssertionError("the ring is closed")

    async def main() -> tuple[list[int], int]:
        with annulus.publish("p", "u4", directory=at, lossless=True, capacity=8) as pub:
            sub = annulus.subscribe("p", directory=at)
            sender = threading.Thread(target=pub.send_batch, args=(np.arange(count, dtype="u4"),))
            sender.start()
            got: list[int] = []
            late = 0
            while len(got) < count:
                try:
                    got.append(await asyncio.wait_for(next_of(sub), 1e-5 * (1 + late % 7)))
                except asyncio.TimeoutError:
                    late += 1
                    await asyncio.sleep(0)
            sender.join()
            return got, late

    got, _ = run(main())
    assert got == list(range(count))


def test_several_tasks_wait_for_several_rings(at: str, run: Run) -> None:
    """One loop, and a handle for each task. A task that ends early leaves its ring as it was."""

    async def main() -> list[list[int]]:
        rings = [annulus.spsc(f"q{i}", "u4", directory=at, capacity=4) for i in range(8)]
        consumers = [annulus.consume(f"q{i}", directory=at) for i in range(8)]

        async def receive(consumer: annulus.Consumer[Any]) -> list[int]:
            got = []
            async for number in consumer:
                got.append(int(number))
                if len(got) == 10:
                    break
            return [*got, *[int(number) async for number in consumer]]

        async def send() -> None:
            for number in range(20):
                for ring in rings:
                    while not ring.try_send(number):
                        await asyncio.sleep(0)
            for ring in rings:
                ring.close()

        sending = asyncio.ensure_future(send())
        got = await asyncio.gather(*map(receive, consumers))
        await sending
        return got

    assert run(main()) == [list(range(20))] * 8
