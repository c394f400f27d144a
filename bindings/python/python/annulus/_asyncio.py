"""Waits in ``asyncio``, by the descriptor of a handle."""

from __future__ import annotations

import asyncio
from typing import Protocol


class Awaitable(Protocol):
    """A handle that one task waits for."""

    _awaited: bool

    def arm(self) -> bool: ...
    def fileno(self) -> int: ...


async def readable(handle: Awaitable) -> None:
    """Waits until something can be received, or the ring is closed. It may end earlier."""
    if handle._awaited:
        raise RuntimeError("another task waits for this handle: one task at a time receives from it")
    if not handle.arm():
        # Another task may want to run before the next message is taken.
        await asyncio.sleep(0)
        return
    loop = asyncio.get_running_loop()
    woken: asyncio.Future[None] = loop.create_future()
    descriptor = handle.fileno()
    handle._awaited = True
    try:
        loop.add_reader(descriptor, _wake, woken)
        await woken
    finally:
        loop.remove_reader(descriptor)
        handle._awaited = False


def _wake(woken: asyncio.Future[None]) -> None:
    if not woken.done():
        woken.set_result(None)
