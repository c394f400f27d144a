"""A service, and those that ask it, each a process of its own.

    python price_service.py [SECONDS]          # answers
    python price_service.py ask                # in other terminals, as many as you like
    annulus call prices '{"symbol":7}'         # from a shell

A client that is slow, stopped or killed holds nobody up.
"""

from __future__ import annotations

import asyncio
import sys

import annulus


@annulus.message
class Question:
    symbol: annulus.u32


@annulus.message
class Answer:
    symbol: annulus.u32
    price: annulus.f64


async def serve(seconds: float | None) -> None:
    with annulus.serve("prices", Question, Answer, open=8) as server:

        async def answer_all() -> None:
            async for request in server:
                symbol = request.question.symbol
                if symbol > 1000:
                    request.refuse()
                else:
                    request.answer(Answer(symbol, symbol + 0.5))

        try:
            await asyncio.wait_for(answer_all(), seconds)
        except asyncio.TimeoutError:
            pass


async def ask() -> None:
    with annulus.join_service("prices", Question, Answer, timeout=60) as prices:
        for answer in await asyncio.gather(*(prices.ask(Question(symbol)) for symbol in range(5))):
            print(answer, flush=True)
        try:
            await prices.ask(Question(1001))
        except annulus.RefusedError as error:
            print(error, flush=True)


if __name__ == "__main__":
    if sys.argv[1:] == ["ask"]:
        asyncio.run(ask())
    else:
        asyncio.run(serve(float(sys.argv[1]) if len(sys.argv) > 1 else None))
