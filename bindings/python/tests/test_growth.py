"""What a message leaves behind: nothing. `soak.py` sends a million messages, and looks at memory, too."""

from __future__ import annotations

import pytest

pytest.importorskip("numpy")

import soak  # noqa: E402

MESSAGES = 20 * soak.AT_ONCE


@pytest.mark.parametrize(("kind", "way"), soak.CASES)
def test_message_leaves_no_object_and_no_reference(kind: str, way: str, directory: soak.Directory) -> None:
    more = soak.growth(kind, way, MESSAGES, str(directory))
    # What caches keep is far fewer. A leak of one for each message, or for each 4th, would be more.
    assert more.blocks < MESSAGES // 4, more
    assert more.objects < 100, more
    assert more.references < 100, more


@pytest.mark.parametrize("way", ["one", "batch"])
def test_refused_message_leaves_nothing(way: str, directory: soak.Directory) -> None:
    """Errors on the way, too."""
    sender, receiver = soak.KINDS["lossless"](str(directory), soak.DTYPE)

    def refused(count: int) -> None:
        for _ in range(count):
            with pytest.raises((TypeError, ValueError)):
                sender.send_batch(bytes(33)) if way == "batch" else sender.send((1, 2, 3))
            with pytest.raises(TimeoutError):
                receiver.recv(0)

    refused(100)
    before = soak.Counts.now(receiver)
    refused(1000)
    more = soak.Counts.now(receiver).since(before)
    assert more.blocks < 250 and more.objects < 100 and more.references < 100, more
