"""Newest values: a cell, or a table of them by key, of which each reader has the newest value at once."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, Union, cast, overload

from . import _annulus, _asyncio
from ._annulus import ClosedError
from ._forms import Form
from ._handles import _Closes, _Handle, _Polled, called

if TYPE_CHECKING:
    from typing_extensions import Self

    from ._ring import Ring

M = TypeVar("M")
D = TypeVar("D")

Cell = Union[int, str]
"""A cell: its key, or its number from 0 on."""


@dataclass(frozen=True)
class Change(Generic[M]):
    """What has changed: the number of a cell, its ``key`` (``None`` where it has none), and its newest
    ``value``."""

    cell: int
    key: str | None
    value: M


class _Table(_Handle[M]):
    """What both ends of a table have."""

    def __init__(self, raw: Any, form: Form[M], ring: Ring[M]) -> None:
        super().__init__(raw, form, ring)
        _make_values(raw, form)
        # Keys stay what they are.
        self._cells: dict[str, int] = {}

    def _find(self, cell: Cell) -> int | None:
        raise NotImplementedError

    def _value(self, cell: Cell) -> M | None:
        number = self._find(cell)
        value = None if number is None else self._raw.get(number)
        load = self._form.load
        return cast("M | None", value if value is None or load is None else load(value))

    @overload
    def get(self, cell: Cell = 0) -> M | None: ...
    @overload
    def get(self, cell: Cell, default: D) -> M | D: ...
    def get(self, cell: Cell = 0, default: Any = None) -> Any:
        """The newest value of a cell, without a wait; by default, of the first one. ``default``: no cell has
        this key, or nothing was sent to it yet. ``IndexError``: there is no cell of this number.

        >>> with annulus.publish_newest("doc-get", "f8") as room:
        ...     room.send(20.5)
        ...     reader = annulus.read_newest("doc-get")
        ...     float(reader.get()), reader.get("cellar", "unknown")
        (20.5, 'unknown')
        """
        value = self._value(cell)
        return default if value is None else value

    def __getitem__(self, cell: Cell) -> M:
        """As :meth:`get`. ``KeyError``: no cell has this key, or nothing was sent to it yet."""
        value = self._value(cell)
        if value is None:
            raise KeyError(cell)
        return value


class NewestSender(_Table[M]):
    """Writes newest values. :func:`annulus.publish_newest` makes one. It waits for nobody."""

    _raw: _annulus.RawNewestSender

    def cell(self, key: str) -> int:
        """The number of the cell of this key, which gets the first cell without a key if it has none yet. A
        key has 1 to 64 bytes, and stays. ``ValueError``; :class:`annulus.NoSeatError`: all cells have others.
        """
        number = self._cells.get(key)
        if number is None:
            number = self._cells[key] = self._raw.cell(key)
        return number

    def _find(self, cell: Cell) -> int | None:
        return self._cells.get(cell) if isinstance(cell, str) else _checked(cell)

    def send(self, value: M) -> None:
        """Replaces the value of the first cell, the only one where there are no others. A value is what
        :meth:`annulus.Publisher.send` takes. Raises :class:`annulus.ClosedError`,
        :class:`annulus.MessageError`."""
        self._raw.send_to(0, self._form.dump(value))

    def send_to(self, cell: Cell, value: M) -> None:
        """Replaces the value of a cell, by its key, which a cell gets if it has none yet, or by its number.
        ``sender["EURUSD"] = value`` does the same. Raises what :meth:`send` and :meth:`cell` raise;
        ``IndexError``: there is no cell of this number.

        >>> with annulus.publish_newest("doc-send-to", [("bid", "f8"), ("ask", "f8")], cells=100) as prices:
        ...     prices["EURUSD"] = (1.0921, 1.0922)
        ...     reader = annulus.read_newest("doc-send-to")
        ...     float(reader["EURUSD"]["ask"])
        1.0922
        """
        message = self._form.dump(value)
        self._raw.send_to(self.cell(cell) if isinstance(cell, str) else _checked(cell), message)

    __setitem__ = send_to


class NewestReader(_Table[M]):
    """Reads newest values. :func:`annulus.read_newest` makes one. Nobody waits for it, and it never waits;
    :meth:`changes` makes what does."""

    _raw: _annulus.RawNewestReader

    def _find(self, cell: Cell) -> int | None:
        if not isinstance(cell, str):
            return _checked(cell)
        number = self._cells.get(cell)
        if number is None:
            number = self._raw.find(cell)
            if number is not None:
                self._cells[cell] = number
        return number

    def keys(self) -> list[str]:
        """The keys that cells have, in the order in which they were added."""
        return [key for _, key in self._raw.keys()]

    def items(self) -> list[tuple[str, M]]:
        """Each key whose cell has a value, and that value.

        >>> with annulus.publish_newest("doc-items", "f8", cells=8) as prices:
        ...     prices["EURUSD"], prices["USDJPY"] = 1.5, 149.25
        ...     [(key, float(price)) for key, price in annulus.read_newest("doc-items").items()]
        [('EURUSD', 1.5), ('USDJPY', 149.25)]
        """
        found = ((key, self._value(cell)) for cell, key in self._raw.keys())
        return [(key, value) for key, value in found if value is not None]

    def __iter__(self) -> Iterator[str]:
        return iter(self.keys())

    def __len__(self) -> int:
        """How many cells have keys."""
        return len(self._raw.keys())

    def __bool__(self) -> bool:
        return True

    def __contains__(self, key: object) -> bool:
        """Whether a cell has this key."""
        return isinstance(key, str) and self._find(key) is not None

    def changes(self, cell: Cell | None = None) -> Changes[M]:
        """Waits for changes of a cell, or of all. First come the values that are there. ``KeyError``: no cell
        has this key yet; ``IndexError``.

        >>> with annulus.publish_newest("doc-changes", "f8", cells=8) as prices:
        ...     changes = annulus.read_newest("doc-changes").changes()
        ...     for price in 1.5, 1.75:
        ...         prices["EURUSD"] = price
        ...     changes.recv(timeout=60)                 # once, with the newest value
        Change(cell=0, key='EURUSD', value=np.float64(1.75))
        """
        number = None
        if cell is not None and (number := self._find(cell)) is None:
            raise KeyError(cell)
        return Changes(self._raw.changes(number), self._form, self.name)

    @property
    def state(self) -> str:
        """Whether the sender is there: ``alive``, ``closed``, ``dead``. The values stay."""
        return self._raw.state


class Changes(_Closes, _Polled, Generic[M]):
    """Receives changes. :meth:`NewestReader.changes` makes it.

    No change is lost, and each cell comes once, with the value that is newest when it is received: a program
    that is slow sees the newest of several.
    """

    _raw: _annulus.RawChanges

    def __init__(self, raw: _annulus.RawChanges, form: Form[M], name: str | None) -> None:
        self._raw = raw
        self._name = name
        self._load = form.load
        self._keys: dict[int, str] = {}
        _make_values(raw, form)

    def _change(self, received: tuple[int, Any]) -> Change[M]:
        cell, value = received
        key = self._keys.get(cell)
        if key is None:
            key = self._raw.key(cell)
            if key is not None:
                self._keys[cell] = key
        return Change(cell, key, value if self._load is None else self._load(value))

    def recv(self, timeout: float | None = None) -> Change[M]:
        """Receives the next change, and waits for it, at most ``timeout`` seconds. Ctrl-C ends the wait.

        Raises :class:`annulus.ClosedError`: the sender has ended, and nothing is left; ``peer_died`` says
        whether its process has died. :class:`annulus.TimeoutError`: nothing has changed in that time.
        """
        return self._change(self._raw.recv(timeout))

    def try_recv(self) -> Change[M] | None:
        """As :meth:`recv`, without a wait: ``None`` if nothing has changed."""
        received = self._raw.try_recv()
        return None if received is None else self._change(received)

    def __iter__(self) -> Iterator[Change[M]]:
        """The changes as they come, until the sender ends. If its process has died, the end is a
        :class:`annulus.ClosedError`."""
        return map(self._change, self._raw)

    async def recv_async(self) -> Change[M]:
        """As :meth:`recv`, for ``asyncio``: other tasks run while it waits."""
        while True:
            change = self.try_recv()
            if change is not None:
                return change
            await _asyncio.readable(self)

    async def __aiter__(self) -> AsyncIterator[Change[M]]:
        """The changes as they come, as by ``for``."""
        while True:
            try:
                change = await self.recv_async()
            except ClosedError as error:
                if error.peer_died:
                    raise
                return
            yield change

    def __repr__(self) -> str:
        return f"<annulus.Changes of {called(self._name)}>"


def _checked(cell: int) -> int:
    if cell < 0:
        raise IndexError(f"there is no cell {cell}: the first one is 0")
    return cell


def _make_values(raw: Any, form: Form[Any]) -> None:
    if form.load is None and form.scalar is not None:
        raw.make_values_by(form.scalar)
