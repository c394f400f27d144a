"""The package without NumPy: messages are bytes, dataclasses or structures."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest


def run(program: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a Python in which `import numpy` fails."""
    blocked = "import sys\nsys.modules['numpy'] = None\n"
    return subprocess.run(
        [sys.executable, "-c", blocked + textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=120,
    )


def check(program: str) -> None:
    done = run(program)
    assert done.returncode == 0, done.stderr


def test_import_needs_no_numpy() -> None:
    check("import annulus")


def test_import_does_not_import_numpy() -> None:
    program = "import annulus, sys; assert 'numpy' not in sys.modules"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_messages_are_bytes() -> None:
    check(
        """
        import annulus
        pub = annulus.publish("p", schema="quote{bid:f64,symbol:text 4,side:enum u8{buy=0,sell=1}}")
        sub = annulus.subscribe("p")
        pub.send((1.5, "EUR", "sell"))
        pub.send({"bid": 2.5, "symbol": "", "side": 0})
        first = sub.recv(60)
        assert type(first) is bytes and first[8:] == b"\\x03\\0EUR\\0\\x01", first
        room = bytearray(15 * 4)
        assert sub.recv_batch_into(room) == 1
        assert sub.try_recv() is None and sub.latest() is None
        assert sub.schema.fields[0].name == "bid"
        pub.close()
        assert list(sub) == []
        """
    )


def test_messages_are_dataclasses_and_structures() -> None:
    check(
        """
        import annulus, ctypes
        @annulus.message
        class Point:
            x: annulus.f64
            y: annulus.f64
        class P(ctypes.Structure):
            _fields_ = [("x", ctypes.c_double), ("y", ctypes.c_double)]
        with annulus.publish("p", Point) as pub, annulus.subscribe("p", Point) as sub, annulus.subscribe("p", P) as c:
            pub.send(Point(1.5, 2.5))
            assert sub.recv(60) == Point(1.5, 2.5)
            assert c.recv(60).y == 2.5
        with annulus.spsc("q", message_bytes=3) as producer, annulus.consume("q") as consumer:
            producer.send(b"abc")
            assert consumer.recv(60) == b"abc"
            assert producer.send_batch(b"abcdef") == 2
            assert [consumer.recv(60) for _ in range(2)] == [b"abc", b"def"]
            with producer.reserve(2) as lent:
                lent.view[:] = b"ghijkl"
            with consumer.readable(timeout=60) as lent:
                assert (len(lent), bytes(lent.view)) == (2, b"ghijkl")
        """
    )


def test_newest_values_are_bytes_and_dataclasses() -> None:
    check(
        """
        import annulus
        @annulus.message
        class Point:
            x: annulus.f64
            y: annulus.f64
        with annulus.publish_newest("p", Point, cells=3) as sender:
            sender["a"] = Point(1.5, 2.5)
            reader, as_bytes = annulus.read_newest("p", Point), annulus.read_newest("p")
            assert reader["a"] == sender["a"] == Point(1.5, 2.5)
            assert as_bytes["a"] == annulus.to_bytes(Point(1.5, 2.5))
            assert as_bytes.changes().recv(60) == annulus.Change(0, "a", as_bytes["a"])
        """
    )


@pytest.mark.parametrize(
    "use",
    [
        "annulus.publish('p', 'f8')",
        "annulus.Schema('f64').dtype",
        "annulus.subscribe('there').recv_batch(10)",
        "annulus.subscribe('there').dtype",
        "annulus.collect(annulus.subscribe('there'), 0)",
        "annulus.text([])",
        "annulus.spsc('q', schema='f64').reserve(1).array",
    ],
)
def test_what_needs_numpy_says_so(use: str) -> None:
    done = run(f"import annulus\nthere = annulus.publish('there', schema='f64')\n{use}")
    assert done.returncode == 1
    assert "ImportError: this needs NumPy: pip install 'annulus[numpy]'" in done.stderr


def test_mismatch_shows_both_sides() -> None:
    done = run(
        """
        import annulus, ctypes
        class P(ctypes.Structure):
            _fields_ = [("x", ctypes.c_float)]
        pub = annulus.publish("p", schema="point{x:f64}")
        annulus.subscribe("p", P)
        """
    )
    assert "MismatchError" in done.stderr
    assert "point{x:f64}" in done.stderr and "P{x:f32}" in done.stderr
