"""As `crates/annulus-c/tests/peers/peer.c`, in Python: one side of a ring, for `tests/pairings`."""

from __future__ import annotations

import enum
import sys
from typing import Annotated

import annulus

CAPACITY = 256
WORD = (1 << 64) - 1


class Side(enum.IntEnum):
    buy = 0
    sell = 1


@annulus.message
class tick:
    number: annulus.u64
    check: annulus.u64
    name: Annotated[str, annulus.Text(4)]
    side: Side
    live: bool


def mixed(number: int) -> int:
    return (number * 0x9E37_79B9_7F4A_7C15 + 1) & WORD


def tick_of(number: int) -> tick:
    return tick(number, mixed(number), ["", "EUR", "ßß"][number % 3], Side(number % 2), number % 5 == 0)


def say(line: str) -> None:
    print(line, flush=True)


def send(kind: str, directory: str, name: str, count: int) -> None:
    with (
        annulus.spsc(name, tick, capacity=CAPACITY, directory=directory)
        if kind == "queue"
        else annulus.publish(name, tick, capacity=CAPACITY, directory=directory)
    ) as sender:
        end = "sent"
        for number in range(count):
            try:
                sender.send(tick_of(number))
            except annulus.ClosedError as error:
                assert error.peer_died
                end = "died"
                break
        say(end)
        sys.stdin.read()


def receive(kind: str, directory: str, name: str, count: int) -> None:
    with (
        annulus.consume(name, tick, timeout=None, directory=directory)
        if kind == "queue"
        else annulus.subscribe(name, tick, start="oldest", timeout=None, directory=directory)
    ) as receiver:
        say("joined")
        received, total, end = 0, 0, "stopped"
        while count == 0 or received < count:
            try:
                message = receiver.recv()
            except annulus.ClosedError as error:
                end = "died" if error.peer_died else "closed"
                break
            assert message == tick_of(received), message
            received, total = received + 1, (total + message.check) & WORD
        say(f"{end} {received} {total}")
        sys.stdin.read()


if __name__ == "__main__":
    _, verb, kind, directory, name, count = sys.argv
    (send if verb == "send" else receive)(kind, directory, name, int(count))
