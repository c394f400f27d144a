"""Services: questions of several clients, and answers in any order."""

from __future__ import annotations

import asyncio
import gc
import os
import pathlib
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


@annulus.message
class Question:
    symbol: annulus.u32
    side: bool


@annulus.message
class Answer:
    symbol: annulus.u32
    price: annulus.f64


def ends(**options: Any) -> tuple[annulus.Server[Any, Any], annulus.Client[Any, Any]]:
    """A service without a name, for numbers."""
    server = annulus.serve(None, "u4", "f8", **options)
    return server, server.ring.join_service()


def test_answers_come_in_any_order() -> None:
    server, client = ends(open=3)
    assert (server.most_open, client.most_open, server.clients, client.state) == (3, 3, 1, "alive")
    for round in range(20):
        pending = [client.ask(3 * round + n) for n in range(3)]
        with pytest.raises(annulus.FullError, match="3 questions to the ring without a name are open"):
            client.ask(0)
        requests = [server.recv(SECONDS) for _ in range(3)]
        assert server.try_recv() is None and [int(r.question) for r in requests] == [3 * round + n for n in range(3)]
        for request in requests[::-1]:
            assert request.is_client_there and request.answer(float(request.question) / 2) and request.is_over
        assert client.open == 3 and pending[1].done() and client.open == 2
        assert [float(p.result(SECONDS)) for p in pending] == [(3 * round + n) / 2 for n in range(3)]
        assert float(pending[0].result(0)) == 3 * round / 2, "it stays"
        assert client.open == 0


def test_messages_are_what_was_asked_for() -> None:
    with annulus.serve("prices", Question, Answer) as server:
        client = annulus.join_service("prices", Question, Answer)
        pending = client.ask(Question(7, True))
        request = server.recv(SECONDS)
        assert request.question == Question(7, True)
        request.answer(Answer(7, 1.5))
        assert pending.result(SECONDS) == Answer(7, 1.5)
        # The service says what it has.
        untyped = annulus.join_service("prices")
        other = untyped.ask((8, False))
        with server.recv(SECONDS) as request:
            request.answer(Answer(request.question.symbol, 2.5))
        answer = other.result(SECONDS)
        assert (int(answer["symbol"]), float(answer["price"])) == (8, 2.5)
        assert untyped.question_schema is not None and untyped.question_schema.text == "{symbol:u32,side:bool}"
        assert annulus.info("prices")["kind"] == "service"
        with pytest.raises(annulus.MismatchError, match="asked for: question f64"):
            annulus.join_service("prices", annulus.Schema("f64"))
        with pytest.raises(annulus.MismatchError):
            annulus.join_service("prices", "f8", "f8")
        with pytest.raises(annulus.MismatchError, match="join_service takes it"):
            annulus.subscribe("prices")
    with annulus.publish("quotes", "f8"), pytest.raises(annulus.MismatchError):
        annulus.join_service("quotes")


def test_messages_are_bytes() -> None:
    with annulus.serve(None, 3, 5) as server:
        client = server.ring.join_service(3, 5)
        pending = client.ask(b"abc")
        with pytest.raises(ValueError, match="has 2 bytes, and a message has 3"):
            client.ask(b"ab")
        request = server.recv(SECONDS)
        assert bytes(request.question) == b"abc"
        with pytest.raises(ValueError, match="has 6 bytes, and a message has 5"):
            request.answer(b"123456")
        request.answer(b"12345")
        assert bytes(pending.result(SECONDS)) == b"12345"


def test_request_is_refused() -> None:
    server, client = ends()
    pending = [client.ask(n) for n in range(4)]
    server.recv(SECONDS).refuse()
    request = server.recv(SECONDS)
    del request
    gc.collect()
    with pytest.raises(ZeroDivisionError), server.recv(SECONDS):
        1 / 0
    for one in pending[:3]:
        for _ in range(2):
            with pytest.raises(annulus.RefusedError, match="has refused the question"):
                one.result(SECONDS)
    request = server.recv(SECONDS)
    assert request.answer(1.5)
    with pytest.raises(annulus.AnnulusError, match="answered or refused already"):
        request.answer(2.5)
    request.refuse()
    assert float(pending[3].result(SECONDS)) == 1.5


def test_ends_of_both_sides() -> None:
    server, client = ends(clients=1)
    with pytest.raises(annulus.NoSeatError):
        server.ring.join_service()
    with pytest.raises(annulus.TimeoutError):
        server.recv(timeout=0.001)
    left = client.ask(1)
    with pytest.raises(annulus.TimeoutError):
        left.result(timeout=0.001)
    server.close()
    with pytest.raises(annulus.RefusedError):
        left.result(SECONDS)
    assert client.is_closed and client.state == "closed"
    with pytest.raises(annulus.ClosedError):
        client.ask(2)
    with pytest.raises(annulus.ClosedError):
        server.recv()
    server, client = ends(clients=1)
    pending = client.ask(1)
    request = server.recv(SECONDS)
    client.close()
    assert request.is_client_there, "the answer may still be received"
    del pending
    gc.collect()
    assert not request.is_client_there and not request.answer(1.5)


def test_threads_serve_and_ask() -> None:
    server, client = ends(open=8, clients=3)
    others = [server.ring.join_service() for _ in range(2)]

    def serve() -> None:
        for request in server:
            request.answer(float(request.question) + 0.5)

    def ask(client: annulus.Client[Any, Any]) -> None:
        for number in range(500):
            assert float(client.ask(number).result(SECONDS)) == number + 0.5

    servers = [threading.Thread(target=serve) for _ in range(2)]
    clients = [threading.Thread(target=ask, args=(one,)) for one in (client, *others)]
    for thread in servers + clients:
        thread.start()
    for thread in clients:
        thread.join()
    server.close()
    for thread in servers:
        thread.join()


def test_threads_wait_for_one_answer() -> None:
    server, client = ends()
    for number in range(50):
        pending = client.ask(number)
        results: list[float] = []
        threads = [threading.Thread(target=lambda p=pending: results.append(float(p.result(SECONDS)))) for _ in range(3)]
        for thread in threads:
            thread.start()
        server.recv(SECONDS).answer(number + 0.5)
        for thread in threads:
            thread.join()
        assert results == [number + 0.5] * 3 and client.open == 0


def test_tasks_serve_and_ask() -> None:
    async def main() -> None:
        server, client = ends(open=8)

        async def serve() -> None:
            async for request in server:
                if request.question == 13:
                    request.refuse()
                elif request.question == 99:
                    request.answer(0)
                    return
                else:
                    request.answer(float(request.question) / 2)

        task = asyncio.create_task(serve())
        for _ in range(10):
            assert [float(a) for a in await asyncio.gather(*map(client.ask, range(8)))] == [n / 2 for n in range(8)]
        with pytest.raises(annulus.RefusedError):
            await client.ask(13)
        await client.ask(99)
        await task

    asyncio.run(asyncio.wait_for(main(), SECONDS))


SERVES = """
import annulus, os, sys
server = annulus.serve("numbers", "u4", "f8")
print("serves", flush=True)
for request in server:
    if request.question == 13:
        os._exit(0)
    request.answer(float(request.question) / 2)
"""


def test_death_of_the_server_is_told() -> None:
    process = subprocess.Popen([sys.executable, "-c", SERVES])
    client = annulus.join_service("numbers", timeout=SECONDS)
    assert float(client.ask(7).result(SECONDS)) == 3.5
    pending = client.ask(13)
    with pytest.raises(annulus.ClosedError, match="has died, and had not answered") as error:
        pending.result(SECONDS)
    assert error.value.peer_died and process.wait() == 0 and client.state == "dead"
    with pytest.raises(annulus.ClosedError) as error:
        pending.result(0)
    assert error.value.peer_died


def test_ctrl_c_ends_waits() -> None:
    server, client = ends()
    pending = client.ask(1)
    kept, main = server.recv(SECONDS), threading.get_ident()

    def interrupt() -> None:
        time.sleep(0.1)
        signal.pthread_kill(main, signal.SIGINT)

    for wait in (server.recv, pending.result):
        with pytest.raises(KeyboardInterrupt):
            threading.Thread(target=interrupt).start()
            wait()
    kept.answer(2.5)
    assert float(pending.result(SECONDS)) == 2.5


def test_forked_child_leaves_the_parents_ends_alone() -> None:
    server, client = ends()
    pending = client.ask(1)
    request = server.recv(SECONDS)
    pid = os.fork()
    if pid == 0:
        code = 0
        try:
            for verb in (server.try_recv, pending.done, lambda: client.ask(2), lambda: request.answer(1), request.refuse):
                try:
                    verb()
                    code = 1
                except annulus.ForkedError:
                    pass
            del request, pending, server, client
            gc.collect()
        except BaseException:
            code = 2
        finally:
            os._exit(code)
    assert os.waitpid(pid, 0)[1] == 0
    request.answer(1.5)
    assert float(pending.result(SECONDS)) == 1.5


def test_asks_a_service_of_the_program(tmp_path: pathlib.Path) -> None:
    program = os.environ.get("ANNULUS_PROGRAM")
    if not program:
        pytest.skip("ANNULUS_PROGRAM is not set")
    with annulus.serve("prices", Question, Answer) as server:
        asks = subprocess.Popen([program, "call", "prices", '{"symbol":7,"side":true}'], stdout=subprocess.PIPE)
        request = server.recv(SECONDS)
        request.answer(Answer(request.question.symbol, 1.5))
        assert asks.communicate()[0] == b'{"symbol":7,"price":1.5}\n'


def test_values_may_be_changed() -> None:
    server = annulus.serve(None, [("a", "u4"), ("b", "f8")], np.dtype("f4"))
    client = server.ring.join_service()
    pending = client.ask((1, 2.5))
    request = server.recv(SECONDS)
    request.question["a"] = 9
    assert int(request.question["a"]) == 9
    request.answer(np.float32(1.5))
    assert pending.result(SECONDS).dtype == np.float32
