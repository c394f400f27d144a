"""What a queue lends in place: its messages, or room for them, as arrays over the ring's memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _annulus, _numpy
from ._annulus import LentError
from ._forms import Form

if TYPE_CHECKING:
    import numpy.typing as npt
    from typing_extensions import Self


class _Loan:
    """Memory of a ring, for a ``with`` block."""

    def __init__(self, raw: _annulus.RawLoan, unit: int = 1) -> None:
        self._raw = raw
        self._unit = unit  # so many of the extension's are one of these
        self._count = len(self)

    @property
    def view(self) -> memoryview:
        """The bytes where they lie in the ring, without a copy: read-only where they are received."""
        return self._raw.view()

    def __len__(self) -> int:
        """How many messages are lent; of a record, how many bytes."""
        return len(self._raw) // self._unit

    @property
    def count(self) -> int:
        """How many of them, from the first on, are received or sent when the block ends: at first all."""
        return self._count

    @count.setter
    def count(self, count: int) -> None:
        if not 0 <= count <= len(self):
            raise ValueError(f"count is {count}, and it is to be from 0 to {len(self)}: so many are lent")
        self._count = count

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            self._raw.give_back(self._count * self._unit)
            return
        try:
            self._raw.give_back(None)
        except LentError:
            pass  # The frames of the error have an array: the next verb tries again.

    def __repr__(self) -> str:
        return f"<annulus.{type(self).__name__} of {len(self)}>"


class LentRecord(_Loan):
    """A record in place: what :meth:`annulus.BytesConsumer.readable` and
    :meth:`annulus.BytesProducer.reserve` lend, for a ``with`` block. It ends as an :class:`annulus.Lent`
    does. ``count`` is for a record that is sent, since one is received as a whole.
    """


class Lent(_Loan):
    """Messages in place: what :meth:`annulus.Consumer.readable` and :meth:`annulus.Producer.reserve` lend,
    for a ``with`` block. ``lent["bid"]`` is a field of all of them, ``lent[0]`` the first one.

    Arrays and records of it are for the block only: end them before, or copy them by ``.copy()``. If one is
    left, the end of the block raises :class:`annulus.LentError`. Then the messages stay lent, and so does the
    handle, until a verb of the handle finds that none is left.
    """

    def __init__(self, raw: _annulus.RawLoan, form: Form[Any]) -> None:
        super().__init__(raw)
        self._form = form
        self._array: npt.NDArray[Any] | None = None

    @property
    def array(self) -> npt.NDArray[Any]:
        """The messages as an array of the ring's dtype, over the ring's memory. It needs NumPy."""
        if self._array is None:
            # (Not `frombuffer`, which takes no messages that are arrays of arrays.)
            self._array = _numpy.numpy().ndarray(len(self), self._form.dtype, self.view)
        return self._array

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[key] = value

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._array = None
        super().__exit__(kind)
