"""What checkers of types see: `mypy --strict` takes this file, and refuses wrong programs."""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
from typing import TYPE_CHECKING, Annotated, Any

import pytest

import annulus

if TYPE_CHECKING:
    import numpy as np
    from typing_extensions import assert_type


@annulus.message(frozen=True)
class Quote:
    bid: annulus.f64
    size: annulus.u32
    symbol: Annotated[str, annulus.Text(8)]
    levels: Annotated[list[float], annulus.Array(annulus.f64, 2)]
    stop: annulus.f64 | None = None


if TYPE_CHECKING:

    def types_of_messages() -> None:
        quote = Quote(1.5, 2, "EURUSD", [1.0, 2.0])
        assert_type(quote.bid, float)
        assert_type(quote.size, int)
        assert_type(quote.symbol, str)
        assert_type(quote.stop, "float | None")
        assert_type(annulus.to_bytes(quote), bytes)
        assert_type(annulus.from_bytes(Quote, b""), Quote)

    def types_of_handles() -> None:
        publisher = annulus.publish("p", Quote, lossless=True)
        assert_type(publisher, annulus.Publisher[Quote])
        with annulus.subscribe("p", Quote) as subscriber:
            assert_type(subscriber, annulus.Subscriber[Quote])
            assert_type(subscriber.recv(), Quote)
            assert_type(subscriber.try_recv(), "Quote | None")
            for message in subscriber:
                assert_type(message, Quote)
        assert_type(annulus.consume("q", Quote).recv(1.0), Quote)
        assert_type(annulus.subscribe("p"), annulus.Subscriber[Any])
        assert_type(annulus.publish("p", [("bid", "f8")]), annulus.Publisher[Any])
        assert_type(annulus.mpsc("q", schema="f64", producers=3), annulus.Consumer[Any])
        assert_type(annulus.Schema("f64").dtype, np.dtype[Any])

    def types_of_frames() -> None:
        publisher = annulus.publish_frames("f", (480, 640), "u1")
        assert_type(publisher, annulus.FramePublisher)
        with publisher.loan() as loan:
            assert_type(loan, annulus.FrameLoan)
        subscriber = annulus.subscribe_frames("f")
        assert_type(subscriber.recv(), annulus.Frame)
        assert_type(subscriber.try_recv(), "annulus.Frame | None")

    def types_of_newest() -> None:
        sender = annulus.publish_newest("n", Quote, cells=8)
        assert_type(sender, annulus.NewestSender[Quote])
        sender["EURUSD"] = Quote(1.5, 2, "EURUSD", [1.0, 2.0])
        reader = annulus.read_newest("n", Quote)
        assert_type(reader["EURUSD"], Quote)
        assert_type(reader.get("EURUSD"), "Quote | None")
        assert_type(reader.get("EURUSD", 0), "Quote | int")
        assert_type(reader.changes(), annulus.Changes[Quote])
        for change in reader.changes("EURUSD"):
            assert_type(change, annulus.Change[Quote])
        assert_type(annulus.read_newest("n"), annulus.NewestReader[Any])
        assert_type(annulus.publish_newest("n", "f8"), annulus.NewestSender[Any])

    def types_of_services(question: Quote) -> None:
        server = annulus.serve("s", Quote, Quote)
        assert_type(server, "annulus.Server[Quote, Quote]")
        assert_type(server.recv().question, Quote)
        client = annulus.join_service("s", Quote, Quote)
        assert_type(client.ask(question).result(), Quote)
        assert_type(annulus.join_service("s"), "annulus.Client[Any, Any]")

    async def types_of_tasks() -> None:
        subscriber = annulus.subscribe("p", Quote)
        assert_type(await subscriber.recv_async(), Quote)
        async for message in subscriber:
            assert_type(message, Quote)


WRONG = """
import annulus

@annulus.message
class Quote:
    bid: annulus.f64

annulus.publish("p", Quote).send(3)  # [arg-type]
Quote("x")  # [arg-type]
Quote(1.5, 2.5)  # [call-arg]
annulus.subscribe("p", Quote).recv().ask  # [attr-defined]
annulus.subscribe("p", start="middle")  # [call-overload]
annulus.publish("p", "f8", lossles=True)  # [call-overload]
annulus.publish("p", "f8", schema="f64").send(1.5)
"""


def test_checker_finds_wrong_programs(tmp_path: pathlib.Path) -> None:
    pytest.importorskip("mypy")
    program = tmp_path / "program.py"
    program.write_text(WRONG)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path / "cache"), str(program)],
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    lines = enumerate(WRONG.splitlines(), 1)
    expected = {(number, line.partition("# ")[2]) for number, line in lines if "# [" in line}
    errors = re.findall(r"program\.py:(\d+): error: .* (\[[a-z-]+\])$", done.stdout, re.MULTILINE)
    assert {(int(number), code) for number, code in errors} == expected, done.stdout
