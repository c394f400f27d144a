"""The examples in docstrings, on the pages and in the folder `examples` run."""

from __future__ import annotations

import doctest
import importlib
import json
import os
import pathlib
import pkgutil
import re
import shutil
import subprocess
import sys

import pytest

import annulus

PYTHON = pathlib.Path(__file__).parents[1]
MODULES = [module.name for module in pkgutil.iter_modules(annulus.__path__) if module.name != "_annulus"]
OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
SECONDS = 120


@pytest.mark.parametrize("name", ["annulus", *(f"annulus.{module}" for module in MODULES)])
def test_docstrings(name: str) -> None:
    pytest.importorskip("numpy", minversion="2.0")  # its scalars are shown as np.float64(1.5)
    module = importlib.import_module(name)
    found = doctest.testmod(module, extraglobs={"annulus": annulus}, optionflags=OPTIONS)
    assert found.failed == 0


def test_modules_with_examples_are_found() -> None:
    assert {"schema", "_handles", "_open", "_message"} <= set(MODULES)


@pytest.mark.parametrize("name", [name for name in annulus.__all__ if name not in ("schema",)])
def test_public_name_has_docstring(name: str) -> None:
    item = getattr(annulus, name)
    if re.fullmatch(r"[fiu]\d+|char", name):
        return  # an annotation, which has no docstring of its own
    assert item.__doc__ and item.__doc__.strip()
    for verb, of in vars(item).items() if isinstance(item, type) else []:
        if callable(of) and not verb.startswith("_"):
            assert of.__doc__, f"{name}.{verb}"


@pytest.mark.parametrize("name", ["README.md", "GUIDE.md"])
def test_page(name: str, tmp_path: pathlib.Path) -> None:
    page = (PYTHON / name).read_text()
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.DOTALL | re.MULTILINE)
    assert len(blocks) >= 3
    script = tmp_path / "block.py"  # a file: a child process of it finds its functions
    for block in blocks:
        script.write_text(block)
        done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=SECONDS)
        assert done.returncode == 0, f"{block}\n{done.stderr}"


@pytest.mark.parametrize(
    ("arguments", "needs", "words"),
    [
        (["live_frame.py"], ["pandas"], ["EURCHF", "EURUSD", "count"]),
        (["live_frame.py", "polars"], ["polars"], ["EURCHF", "EURUSD", "len"]),
        (["plot.py", "picture.png"], ["matplotlib"], ["quotes in picture.png"]),
        (["plot.py", "--live", "--rounds", "2", "picture.png"], ["matplotlib"], ["quotes in picture.png"]),
        (["torch_model.py", "3"], ["torch"], ["batch 2", "loss", "0 lost"]),
    ],
)
def test_example_with_publisher(
    arguments: list[str], needs: list[str], words: list[str], tmp_path: pathlib.Path
) -> None:
    for library in needs:
        pytest.importorskip(library)
    examples = PYTHON / "examples"
    publisher = subprocess.Popen([sys.executable, str(examples / "publish_quotes.py")])
    try:
        script, *rest = arguments
        done = subprocess.run(
            [sys.executable, str(examples / script), *rest],
            capture_output=True,
            text=True,
            timeout=SECONDS,
            cwd=tmp_path,
            env={**os.environ, "MPLCONFIGDIR": str(tmp_path)},
        )
    finally:
        publisher.terminate()
        publisher.wait()
    assert done.returncode == 0, done.stderr
    for word in words:
        assert word in done.stdout
    if script == "plot.py":
        assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")


def test_notebook(tmp_path: pathlib.Path) -> None:
    """Its cells run one behind the other, as in Jupyter, and no output of a run is kept in it."""
    pytest.importorskip("matplotlib")
    pytest.importorskip("pandas")
    notebook = json.loads((PYTHON / "examples" / "live_ring.ipynb").read_text())
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) >= 5
    assert all(cell["outputs"] == [] and cell["execution_count"] is None for cell in cells)
    done = subprocess.run(
        [sys.executable, "-c", "\n".join("".join(cell["source"]) for cell in cells)],
        capture_output=True,
        text=True,
        timeout=SECONDS,
        cwd=PYTHON / "examples",
        env={**os.environ, "MPLCONFIGDIR": str(tmp_path), "MPLBACKEND": "Agg"},
    )
    assert done.returncode == 0, done.stderr
    assert "quote{time:u64(ns)" in done.stdout and "spread" in done.stdout


def test_example_of_frames() -> None:
    script = [sys.executable, str(PYTHON / "examples" / "camera.py")]
    camera = subprocess.Popen([*script, str(SECONDS)])
    viewer = subprocess.Popen([*script, "view"], stdout=subprocess.PIPE, text=True)
    try:
        assert viewer.stdout is not None
        line = viewer.stdout.readline()
    finally:
        for process in viewer, camera:
            process.kill()
            process.wait()
    assert re.fullmatch(r"frame \d+: \(480, 640\), mean \d+\.\d, \d+ lost\n", line)


def test_example_of_newest_values() -> None:
    script = [sys.executable, str(PYTHON / "examples" / "newest_prices.py")]
    keeper = subprocess.Popen([*script, str(SECONDS)])
    follower = subprocess.Popen([*script, "follow"], stdout=subprocess.PIPE, text=True)
    try:
        assert follower.stdout is not None
        line = follower.stdout.readline()
        symbol = line.partition(":")[0]
        newest = subprocess.run([*script, "get", symbol], capture_output=True, text=True, check=True).stdout
    finally:
        for process in follower, keeper:
            process.kill()
            process.wait()
    assert re.fullmatch(r"[A-Z]{6}: \d+\.\d{4}\n", line) and re.fullmatch(r"\(\d+\.\d+, \d+\.\d+\)\n", newest)


def test_example_of_a_service() -> None:
    script = [sys.executable, str(PYTHON / "examples" / "price_service.py")]
    server = subprocess.Popen([*script, str(SECONDS)])
    try:
        asked = subprocess.run([*script, "ask"], capture_output=True, text=True, timeout=SECONDS)
    finally:
        server.kill()
        server.wait()
    assert asked.stdout.startswith("Answer(symbol=0, price=0.5)\nAnswer(symbol=1, price=1.5)\n"), asked
    assert asked.stdout.endswith("has refused the question\n") and asked.returncode == 0


def test_example_alone() -> None:
    script = PYTHON / "examples" / "dataclasses_and_asyncio.py"
    done = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=SECONDS)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "0 1.5 EURUSD buy"
    assert len(done.stdout.splitlines()) == 5


def test_example_with_program() -> None:
    program = os.environ.get("ANNULUS_PROGRAM") or shutil.which("annulus")
    if program is None:
        pytest.skip("ANNULUS_PROGRAM does not name the program: cargo build -p annulus-cli")
    done = subprocess.run(
        [str(PYTHON / "examples" / "from_program.sh")],
        env={**os.environ, "PYTHON": sys.executable, "ANNULUS": program},
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1:] == ["(1.5, 1.75, 0) buy", "(1.25, 1.5, 1) sell"]
