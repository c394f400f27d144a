"""Rings of another user. Only root can become one, so others skip these tests."""

from __future__ import annotations

import os
import pathlib
import pwd
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator

import pytest

import annulus

SECONDS = 120

pytestmark = pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")


@pytest.fixture
def place() -> Iterator[pathlib.Path]:
    """A directory that each user may enter: pytest's own is closed to others."""
    path = pathlib.Path(tempfile.mkdtemp(dir="/tmp"))
    path.chmod(0o755)
    yield path
    shutil.rmtree(path)


def as_nobody(
    code: str, directory: pathlib.Path, group: int | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs it in a process that has loaded the package, and has then become the user `nobody`."""
    nobody = pwd.getpwnam("nobody")
    head = f"""
        import errno, os
        import annulus, numpy
        at = {str(directory)!r}
        os.setgroups([])
        os.setgid({nobody.pw_gid if group is None else group})
        os.setuid({nobody.pw_uid})
    """
    program = textwrap.dedent(head) + textwrap.dedent(code)
    return subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=SECONDS, cwd="/"
    )


SUBSCRIBE = """
try:
    annulus.subscribe("p", directory=at)
except PermissionError as error:
    assert type(error) is annulus.PermissionError
    print(error)
    print(error.errno == errno.EACCES, error.filename == at)
"""


@pytest.mark.parametrize("inner", ["", "rings"])
def test_closed_directory_is_a_permission_error_with_its_path(place: pathlib.Path, inner: str) -> None:
    """Whether the directory itself is closed, or one above it."""
    closed = place / "closed"
    closed.mkdir(mode=0o700)
    directory = closed / inner
    with annulus.publish("p", "f8", directory=directory):
        done = as_nobody(SUBSCRIBE, directory)
        assert done.returncode == 0, done.stderr
        assert str(directory) in done.stdout and "ermission" in done.stdout
        assert done.stdout.endswith("\nTrue True\n")
        # A wait for the ring's name would not help either.
        done = as_nobody(SUBSCRIBE.replace("directory=at", "directory=at, timeout=None"), directory)
        assert str(directory) in done.stdout, done.stderr


@pytest.mark.parametrize("mode", [0o755, 0o775])
def test_directory_that_all_may_read(place: pathlib.Path, mode: int) -> None:
    """The process of the ring sends its descriptors to each process that may read the directory."""
    directory = place / "open"
    directory.mkdir()
    directory.chmod(mode)
    with annulus.publish("p", "f8", directory=directory, capacity=64) as prices:
        prices.send(1.5)
        done = as_nobody('print(annulus.subscribe("p", directory=at, start="oldest").recv(60))', directory)
        assert (done.stdout, done.returncode) == ("1.5\n", 0), done.stderr
        # To read is not to write: no name in there for another user.
        done = as_nobody('annulus.publish("q", "f8", directory=at)', directory)
        assert "annulus.PermissionError: [Errno 13] " in done.stderr
        assert [entry["name"] for entry in annulus.names(directory=directory)] == ["p"]


def test_directory_of_a_group(place: pathlib.Path) -> None:
    """Its users give names, too; others do not even read it."""
    group = 4242
    directory = place / "traders"
    directory.mkdir()
    os.chown(directory, 0, group)
    directory.chmod(0o2770)
    with annulus.publish("p", "f8", directory=directory, capacity=64) as prices:
        prices.send(1.5)
        code = """
            with annulus.publish("q", "f8", directory=at) as own:
                print(annulus.subscribe("p", directory=at, start="oldest").recv(60), own.name)
        """
        done = as_nobody(code, directory, group)
        assert (done.stdout, done.returncode) == ("1.5 q\n", 0), done.stderr
        done = as_nobody(SUBSCRIBE, directory)
        assert str(directory) in done.stdout, done.stderr
