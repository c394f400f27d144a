"""Messages as dataclasses, through a queue between two tasks. Usually these are two processes."""

from __future__ import annotations

import asyncio
import enum
from typing import Annotated

import annulus


class Side(enum.IntEnum):
    buy = 0
    sell = 1


@annulus.message
class Order:
    number: annulus.u64
    price: Annotated[annulus.f64, annulus.Unit("EUR")]
    symbol: Annotated[str, annulus.Text(8)]
    side: Side


async def send(orders: annulus.Producer[Order]) -> None:
    for number in range(5):
        orders.send(Order(number, 1.5 + number, "EURUSD", Side.buy))
        await asyncio.sleep(0.01)
    orders.close()


async def receive(orders: annulus.Consumer[Order]) -> None:
    async for order in orders:
        print(order.number, order.price, order.symbol, order.side.name)


async def main() -> None:
    producer = annulus.spsc("orders", Order)
    consumer = annulus.consume("orders", Order)
    await asyncio.gather(send(producer), receive(consumer))


asyncio.run(main())
