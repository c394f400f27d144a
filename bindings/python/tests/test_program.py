"""From and to the program `annulus`."""

from __future__ import annotations

import json
import os
import random
import struct
import subprocess
import threading
from typing import Any

import pytest
from raw_rings import PATIENCE, Directory

import annulus
from annulus import _annulus as raw


@pytest.fixture
def program() -> str:
    path = os.environ.get("ANNULUS_PROGRAM")
    if not path:
        pytest.skip("ANNULUS_PROGRAM is not set: it is the path of the program of annulus-cli")
    return path


PRICE = 'price{symbol:text 8,bid:f64(EUR),side:enum u8{buy=0,sell=1},size:u32?}'


def packed(symbol: str, bid: float, side: int, size: int | None) -> bytes:
    text = symbol.encode()
    head = len(text).to_bytes(2, "little") + text.ljust(8, b"\0")
    return head + struct.pack("<dB", bid, side) + struct.pack("<?I", size is not None, size or 0)


def test_program_publishes(directory: Directory, program: str) -> None:
    arguments = [program, "pub", "prices", "--directory", str(directory), "--json", "--lossless"]
    publisher = subprocess.Popen(
        [*arguments, "--schema", PRICE, "--subscribers", "1"], stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    receiver = raw.join_receiver("prices", directory, "oldest", timeout=PATIENCE)
    assert (receiver.about.kind, receiver.about.schema) == ("lossless", raw.canonical(PRICE))
    assert publisher.stdin is not None
    for number in range(100):
        line: dict[str, Any] = {"symbol": f"S{number}", "bid": number / 4, "side": "sell" if number % 2 else "buy"}
        if number % 3:
            line["size"] = number
        publisher.stdin.write(json.dumps(line) + "\n")
    publisher.stdin.close()
    for number in range(100):
        wanted = packed(f"S{number}", number / 4, number % 2, number if number % 3 else None)
        assert receiver.recv_bytes(PATIENCE) == wanted
    with pytest.raises(raw.ClosedError) as told:
        receiver.recv_bytes(PATIENCE)
    assert not told.value.peer_died
    assert publisher.wait(PATIENCE) == 0


def test_program_subscribes(directory: Directory, program: str) -> None:
    sender = raw.make_lossless("prices", directory, 16, PRICE)
    subscriber = subprocess.Popen(
        [program, "sub", "prices", "--directory", str(directory), "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert sender.wait_for_subscribers(1, PATIENCE)
    for number in range(100):
        size = number if number % 3 else None
        sender.send(packed(f"S{number}", number / 4, number % 2, size), PATIENCE)
    sender.close()
    out, errors = subscriber.communicate(timeout=PATIENCE)
    assert subscriber.returncode == 0, errors
    for number, line in enumerate(out.splitlines()):
        wanted = {"symbol": f"S{number}", "bid": number / 4, "side": "sell" if number % 2 else "buy"}
        wanted["size"] = number if number % 3 else None
        found = json.loads(line)
        found.setdefault("size", None)
        assert found == wanted
    assert len(out.splitlines()) == 100


def test_program_sends_to_a_queue(directory: Directory, program: str) -> None:
    receiver = raw.make_mpsc("orders", directory, 16, PRICE)
    line = json.dumps({"symbol": "AB", "bid": 1.5, "side": "sell"})
    arguments = [program, "pub", "orders", "--directory", str(directory), "--json"]
    assert subprocess.run(arguments, input=line, text=True, timeout=PATIENCE, stderr=subprocess.PIPE).returncode == 0
    assert receiver.recv_bytes(PATIENCE) == packed("AB", 1.5, 1, None)


SEED = 20200101
QUOTE = (
    "quote{time:u64(ns),bid:f64,ask:f32,symbol:text 8,side:enum u8{buy=0,sell=1,cross=7{with:u32}},"
    "levels:[{price:i64,size:u16}?;2],venue:char,id:u128,live:bool,flags:nonzero u8,stop:f64?}"
)


def quotes_as_json(count: int) -> str:
    """Lines as the program prints them: a random walk that is the same each time, with each kind of field."""
    rng = random.Random(SEED)
    bid, lines = 1.1212, []
    for number in range(count):
        bid += rng.choice([-1, 0, 1]) * 2.0**-16
        quote = {
            "time": 1577898000000000000 + number,
            "bid": bid,
            "ask": rng.randrange(1000) / 8,
            "symbol": rng.choice(["EURUSD", "USDJPY", "", "ÅÄÖ"]),
            "side": rng.choice(["buy", "sell", {"cross": {"with": rng.randrange(1 << 32)}}]),
            "levels": [rng.choice([None, {"price": -number, "size": number % 65536}]) for _ in range(2)],
            "venue": rng.choice("NL€😀"),
            "id": str(rng.getrandbits(128) | 1 << 127),  # JSON has no such numbers
            "live": rng.random() < 0.5,
            "flags": rng.randrange(1, 256),
            "stop": rng.choice([None, 0.1, 1e300]),
        }
        lines.append(json.dumps(quote, ensure_ascii=False, separators=(",", ":")))
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("batch", [1, 7, 4096])
def test_quotes_through_python_come_out_as_they_went_in(directory: Directory, program: str, batch: int) -> None:
    """From the program, which is in Rust, to Python, into a second ring, and to the program again."""
    pytest.importorskip("numpy")
    sent = quotes_as_json(2000)
    arguments = ["--directory", str(directory), "--json"]
    publisher = subprocess.Popen(
        [program, "pub", "one", *arguments, "--lossless", "--schema", QUOTE, "--capacity", "256"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert publisher.stdin is not None
    feeder = threading.Thread(target=publisher.communicate, args=(sent.encode(),))
    feeder.start()
    source = annulus.subscribe("one", directory=directory, timeout=PATIENCE)
    target = annulus.publish("two", schema=source.schema, directory=directory, capacity=64, lossless=True)
    subscriber = subprocess.Popen(
        [program, "sub", "two", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    received: list[bytes] = []
    reader = threading.Thread(target=lambda: received.extend(subscriber.communicate()))
    reader.start()
    assert target.wait_for_subscribers(1, PATIENCE)
    with pytest.raises(annulus.ClosedError) as told:
        while True:
            messages = source.recv_batch(batch, PATIENCE)
            assert target.send_batch(messages, PATIENCE) == len(messages) > 0
    target.close()
    feeder.join()
    reader.join()
    assert not told.value.peer_died and source.total_lagged == 0
    assert (publisher.returncode, subscriber.returncode) == (0, 0), received[1]
    assert received[0].decode() == sent
