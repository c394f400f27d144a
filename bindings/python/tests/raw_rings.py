"""What the tests of the extension module share: rings of bytes by their kinds, and other processes."""

from __future__ import annotations

import pathlib
import subprocess
import sys
import textwrap
from collections.abc import Callable

from annulus import _annulus as raw

QUOTE = "quote{bid:f64,ask:f64}"
BYTES = 16
# Only a true hang reaches it.
PATIENCE = 60.0

Directory = pathlib.Path
Pair = tuple[raw.RawSender, raw.RawReceiver]


def lossy(directory: Directory, capacity: int) -> Pair:
    sender = raw.make_lossy("ring", directory, capacity, QUOTE)
    return sender, raw.join_receiver("ring", directory, "oldest")


def lossless(directory: Directory, capacity: int) -> Pair:
    sender = raw.make_lossless("ring", directory, capacity, QUOTE, seats=2)
    return sender, raw.join_receiver("ring", directory, "oldest")


def mp_lossy(directory: Directory, capacity: int) -> Pair:
    sender = raw.make_mp("ring", directory, capacity, QUOTE)
    return sender, raw.join_receiver("ring", directory, "oldest")


def spsc(directory: Directory, capacity: int) -> Pair:
    sender = raw.make_spsc("ring", directory, capacity, QUOTE)
    return sender, raw.join_receiver("ring", directory)


def mpsc(directory: Directory, capacity: int) -> Pair:
    receiver = raw.make_mpsc("ring", directory, capacity, QUOTE, when_no_producer="close")
    return raw.join_sender("ring", directory), receiver


KINDS: list[Callable[[Directory, int], Pair]] = [lossy, lossless, mp_lossy, spsc, mpsc]
WAITING = [lossless, spsc, mpsc]


def message(number: int) -> bytes:
    return number.to_bytes(8, "little") + bytes(8)


def number_of(received: bytes) -> int:
    assert len(received) == BYTES and received[8:] == bytes(8)
    return int.from_bytes(received[:8], "little")


def state_of(receiver: raw.RawReceiver) -> str:
    return receiver.state


def run_python(directory: Directory, code: str, *arguments: str) -> subprocess.Popen[str]:
    """Another process of this Python, with `raw` and `directory`."""
    head = f"import os, signal, sys\nfrom annulus import _annulus as raw\ndirectory = {str(directory)!r}\n"
    return subprocess.Popen(
        [sys.executable, "-c", head + textwrap.dedent(code), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def line_of(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def ended(process: subprocess.Popen[str]) -> tuple[str, str]:
    """What it has printed since, once it has ended."""
    try:
        return process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
