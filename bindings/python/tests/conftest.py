"""What all tests have: rings of their own, and an end for a test that hangs."""

from __future__ import annotations

import faulthandler
import pathlib
from collections.abc import Iterator

import pytest

# A wait that never ends is a failure. Only a true hang takes so long.
HANG_SECONDS = 300


@pytest.fixture(autouse=True)
def _own_directory(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The directory of this user is another one for each test, for its child processes too."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    faulthandler.dump_traceback_later(HANG_SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


@pytest.fixture
def directory(tmp_path: pathlib.Path) -> pathlib.Path:
    """A directory for names, for this test alone."""
    path = tmp_path / "rings"
    path.mkdir(mode=0o700)
    return path
