"""Rings of frames: images, point clouds, tensors, which are written once and read where they lie."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Union, cast

from . import _annulus, _asyncio, _numpy
from ._annulus import ClosedError
from ._handles import _Polled, _RingEnd, called, whole
from ._lent import _Loan
from .schema import Schema, SchemaLike

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
    from typing_extensions import Self

    from ._ring import Directory, Ring

Shape = Union[int, Sequence[int]]
_Sized = tuple[int, tuple[int, ...], "np.dtype[Any] | None", int]


def _tuple(shape: Shape) -> tuple[int, ...]:
    dims = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(dim < 0 for dim in dims):
        raise ValueError(f"shape={shape!r}: no array has such a shape")
    return dims


def _no_numpy(*_: Any) -> Any:
    _numpy.numpy()


class _Content:
    """What is in the frames of a ring: values of a dtype, one behind the other, or only bytes."""

    def __init__(self, ring: str, text: str | None) -> None:
        self.ring = ring
        self.schema = None if text is None else Schema(text)
        self._dtype: np.dtype[Any] | None = None
        self._whole: tuple[np.dtype[Any], tuple[int, ...], int] | None = None
        self._ndarray = _numpy.numpy().ndarray if _numpy.has_numpy() else _no_numpy

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of a value: of an image of bytes, that of a row."""
        if self._dtype is None:
            self._dtype = self.schema.dtype if self.schema else _numpy.numpy().dtype("u1")
        return self._dtype

    def whole(self) -> tuple[np.dtype[Any], tuple[int, ...], int]:
        """The innermost dtype of the values, their shape, and how many bytes each has."""
        if self._whole is None:
            self._whole = (*_flat(self.dtype), self.dtype.itemsize)
        return self._whole

    def over(self, view: memoryview) -> npt.NDArray[Any]:
        """An array over the bytes of a frame, as the ring says what they are."""
        base, inner, itemsize = self._whole or self.whole()
        count, rest = divmod(len(view), itemsize)
        if rest:
            self.placed(len(view), None, None)  # which says what is wrong
        return cast("npt.NDArray[Any]", self._ndarray((count, *inner), base, view))

    def placed(self, nbytes: int, shape: Shape | None, dtype: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """The shape and the dtype of an array over that many bytes."""
        item = self.dtype if dtype is None else _numpy.dtype(dtype)
        base, inner = _flat(item)
        if shape is None:
            if item.itemsize == 0 or nbytes % item.itemsize:
                raise ValueError(
                    f"a frame of {called(self.ring)} has {nbytes} bytes, and these are no whole number of {item}: "
                    "say its dtype and shape"
                )
            return (nbytes // item.itemsize, *inner), base
        dims = _tuple(shape)
        if dtype is None and self.schema is not None and dims[1:] != inner:
            wanted = ", ".join(["n", *map(str, inner)]) + ("," if not inner else "")
            raise ValueError(f"shape={dims}: the frames of {called(self.ring)} have the shape ({wanted})")
        return dims, base


def _flat(item: np.dtype[Any]) -> tuple[np.dtype[Any], tuple[int, ...]]:
    """The innermost dtype of arrays of arrays, and their shape."""
    base, inner = item, cast("tuple[int, ...]", ())
    while base.subdtype:
        base, shape = base.subdtype
        inner += shape
    return base, inner


def _over(view: memoryview, shape: tuple[int, ...], base: np.dtype[Any]) -> npt.NDArray[Any]:
    needed = math.prod(shape) * base.itemsize
    if needed != len(view):
        raise ValueError(f"an array of {base} in the shape {shape} has {needed} bytes, and the frame {len(view)}")
    return cast("npt.NDArray[Any]", _numpy.numpy().ndarray(shape, base, view))


class FrameLoan(_Loan):
    """A frame to write to: what :meth:`FramePublisher.loan` lends, for a ``with`` block. ``frame[...] = image``
    writes it; ``frame.array`` is the array over the ring's memory, and ``frame.view`` its bytes.

    When the block ends, the frame is published: all of it, or the first ``frame.count`` along the first axis.
    A block that raises publishes nothing. Arrays of it are for the block only, as of :class:`annulus.Lent`.
    What was not written has old content.
    """

    def __init__(
        self, raw: _annulus.RawLoan, shape: tuple[int, ...], base: np.dtype[Any] | None, row_bytes: int
    ) -> None:
        super().__init__(raw, row_bytes)
        self._shape = shape
        self._base = base
        self._array: npt.NDArray[Any] | None = None

    @property
    def array(self) -> npt.NDArray[Any]:
        """The frame as an array. It needs NumPy."""
        if self._array is None:
            base = _numpy.numpy().dtype("u1") if self._base is None else self._base
            self._array = _over(self.view, self._shape, base)
        return self._array

    def __getitem__(self, key: Any) -> Any:
        return self.array[key]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.array[key] = value

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._array = None
        super().__exit__(kind)


class _FrameEnd(_RingEnd):
    """What both ends of a ring of frames have."""

    def __init__(self, raw: Any, ring: Ring[Any]) -> None:
        self._raw = raw
        self._ring = ring
        self._content = _Content(raw.about.name or "", raw.about.schema)

    @property
    def frame_bytes(self) -> int:
        """How many bytes a frame may have."""
        return cast(int, self._raw.frame_bytes)

    @property
    def schema(self) -> Schema | None:
        """What is in the frames; ``None`` if the ring says only how many bytes they have."""
        return self._content.schema

    @property
    def dtype(self) -> np.dtype[Any]:
        """The dtype of the values in the frames. It needs NumPy."""
        return self._content.dtype

    def __repr__(self) -> str:
        of = type(self).__name__
        return f"<annulus.{of} of {called(self.name)}, {self.kind}: {self.frame_bytes} bytes>"


class FramePublisher(_FrameEnd):
    """Publishes frames. :func:`annulus.publish_frames` makes one."""

    _raw: _annulus.RawFramePublisher

    def __init__(
        self, raw: _annulus.RawFramePublisher, shape: tuple[int, ...] | None, ring: Ring[Any]
    ) -> None:
        super().__init__(raw, ring)
        self._shape = shape
        self._default: _Sized | None = None

    def loan(self, shape: Shape | None = None, dtype: Any = None, *, timeout: float | None = None) -> FrameLoan:
        """Lends a frame, to write an array of that shape there without a copy, for a ``with`` block. By
        default, it has the shape and the dtype that the ring was made with; a ring that was made without takes
        any that fits.

        Waits for room where the ring is lossless, at most ``timeout`` seconds. Meanwhile, the other verbs of
        the handle raise :class:`annulus.LentError`. ``ValueError``: the array is larger than a frame;
        :class:`annulus.TimeoutError`; :class:`annulus.ClosedError`.

        >>> import numpy as np
        >>> camera = annulus.publish_frames("doc-loan", (480, 640, 3), "u1")
        >>> viewer = annulus.subscribe_frames("doc-loan")
        >>> with camera.loan() as frame:
        ...     frame[...] = 7
        >>> image = viewer.recv(timeout=60).array
        >>> image.shape, int(image.sum()), image.flags.writeable
        ((480, 640, 3), 6451200, False)
        """
        if shape is not None or dtype is not None:
            nbytes, dims, base, row = self._sized(shape, dtype)
        else:
            self._default = self._default or self._sized(self._shape, None)
            nbytes, dims, base, row = self._default
        return FrameLoan(self._raw.loan(nbytes, timeout), dims, base, row)

    def _sized(self, shape: Shape | None, dtype: Any) -> _Sized:
        """Of such a loan, or of a whole frame: its bytes; its shape, its dtype, and the bytes of a row."""
        if shape is None and dtype is None and not _numpy.has_numpy():
            return self.frame_bytes, (self.frame_bytes,), None, 1
        item = self._content.dtype if dtype is None else _numpy.dtype(dtype)
        whole = self.frame_bytes // max(1, item.itemsize) * item.itemsize
        dims, base = self._content.placed(whole, shape, dtype)
        return math.prod(dims) * base.itemsize, dims, base, max(1, math.prod(dims[1:]) * base.itemsize)

    def publish(self, array: Any, timeout: float | None = None) -> None:
        """Publishes a copy of an array, or of bytes. Waits and raises as :meth:`loan` does. ``TypeError``: it
        has another dtype than the ring's frames."""
        dtype, schema = getattr(array, "dtype", None), self._content.schema
        if dtype is not None:
            if schema is not None:
                base = self._content.whole()[0]
                if dtype != base:
                    raise TypeError(
                        f"the array has the dtype {dtype}, and the frames of {called(self.name)} have {base}"
                    )
                self._content.placed(array.nbytes, array.shape, None)
            array = _numpy.numpy().ascontiguousarray(array).reshape(-1).view("u1")
        self._raw.publish(array, timeout)

    def wait_for_subscribers(self, count: int = 1, timeout: float | None = None) -> bool:
        """Waits until a lossless ring has so many subscribers, and returns whether it has. Of a lossy one,
        ``True`` at once: it does not know them."""
        return self._raw.wait_for_subscribers(whole("count", count), timeout)

    @property
    def sequence(self) -> int:
        """The number of the next frame, from 0."""
        return self._raw.sequence

    @property
    def held(self) -> int:
        """How many frames subscribers hold, of those that are older than what the ring keeps."""
        return self._raw.held

    @property
    def frames(self) -> int:
        """How many frames there are, in all."""
        return self._raw.frames


class Frame:
    """A frame that is held: it stays as it is, also when the subscriber and the publisher are gone, until
    nothing refers to it: neither this object, nor an array or a view of it.

    Another process wrote it. Where you do not trust that process, check a :meth:`copy`.
    """

    def __init__(self, raw: _annulus.RawFrame, content: _Content) -> None:
        self._raw = raw
        self._content = content
        self._array: npt.NDArray[Any] | None = None

    @property
    def array(self) -> npt.NDArray[Any]:
        """The frame in place, without a copy, as a read-only array of the ring's dtype; where the ring says
        none, of bytes. It needs NumPy."""
        if self._array is None:
            self._array = self._content.over(self._raw.view())
        return self._array

    def as_array(self, shape: Shape | None = None, dtype: Any = None) -> npt.NDArray[Any]:
        """As :attr:`array`, in that shape, of that dtype. ``ValueError``: the frame has another length.

        >>> publisher = annulus.publish_frames("doc-as-array", frame_bytes=1000)
        >>> viewer = annulus.subscribe_frames("doc-as-array")
        >>> with publisher.loan((2, 3), "f4") as frame:
        ...     frame[1, 2] = 1.5
        >>> float(viewer.recv(timeout=60).as_array((2, 3), "f4")[1, 2])
        1.5
        """
        return _over(self.view, *self._content.placed(self.nbytes, shape, dtype))

    def copy(self) -> npt.NDArray[Any]:
        """A copy of the array, which holds nothing."""
        return cast("npt.NDArray[Any]", self.array.copy())

    @property
    def view(self) -> memoryview:
        """The bytes in place, read-only."""
        return self._raw.view()

    @property
    def nbytes(self) -> int:
        """How many bytes it has."""
        return len(self._raw)

    @property
    def sequence(self) -> int:
        """Its number: they follow each other, so a gap is what was lost."""
        return self._raw.sequence

    @property
    def index(self) -> int:
        """Which of the ring's frames it is: what goes with each frame has the same number."""
        return self._raw.index

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        np = _numpy.numpy()
        if dtype is not None and np.dtype(dtype) != self.array.dtype:
            if copy is False:
                raise ValueError(f"a frame of {self.array.dtype} is no {dtype} without a copy")
            return self.array.astype(dtype)
        return self.array.copy() if copy else self.array

    def __dlpack__(self, **options: Any) -> Any:
        """For PyTorch, JAX and CuPy: ``torch.from_dlpack(frame)``. They take read-only arrays from NumPy 2.1
        on."""
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self.array.__dlpack_device__()

    def __repr__(self) -> str:
        return f"<annulus.Frame {self.sequence}: {self.nbytes} bytes>"


class FrameSubscriber(_FrameEnd, _Polled):
    """Receives frames in place. :func:`annulus.subscribe_frames` makes one.

    It may hold :attr:`most_held` frames at one time. With one more, each verb that receives raises
    :class:`annulus.LentError`, and nothing is received; so keep no frame longer than you need it.
    """

    _raw: _annulus.RawFrameSubscriber

    def _frame(self, raw: _annulus.RawFrame) -> Frame:
        return Frame(raw, self._content)

    def recv(self, timeout: float | None = None) -> Frame:
        """Receives the next frame, and waits for it, at most ``timeout`` seconds. Ctrl-C ends the wait.

        Raises :class:`annulus.ClosedError`: the ring is closed, and nothing is left; ``peer_died`` says
        whether the publisher has died. :class:`annulus.TimeoutError`; :class:`annulus.LentError`.
        """
        return self._frame(self._raw.recv(timeout))

    def try_recv(self) -> Frame | None:
        """As :meth:`recv`, without a wait: ``None`` if nothing is there."""
        raw = self._raw.try_recv()
        return None if raw is None else self._frame(raw)

    def latest(self) -> Frame | None:
        """Receives the newest frame, without a wait, and passes those before it, which :attr:`total_lagged`
        counts. ``None``: there is no new one. ``ValueError``: the publisher waits for this subscriber."""
        raw = self._raw.latest()
        return None if raw is None else self._frame(raw)

    def __iter__(self) -> Iterator[Frame]:
        """The frames as they come, until the ring is closed. If the publisher has died, the end is a
        :class:`annulus.ClosedError`. (A loop lets a frame go only when it has the next: hold at least 2.)"""
        while True:
            try:
                raw = next(self._raw)
            except StopIteration:
                return
            yield self._frame(raw)
            del raw

    async def recv_async(self) -> Frame:
        """As :meth:`recv`, for ``asyncio``."""
        while True:
            frame = self.try_recv()
            if frame is not None:
                return frame
            await _asyncio.readable(self)

    async def __aiter__(self) -> AsyncIterator[Frame]:
        """The frames as they come, as by ``for``."""
        while True:
            try:
                frame = await self.recv_async()
            except ClosedError as error:
                if error.peer_died:
                    raise
                return
            yield frame
            del frame

    def __len__(self) -> int:
        """How many frames wait to be received."""
        return len(self._raw)

    def __bool__(self) -> Literal[True]:
        return True

    @property
    def total_lagged(self) -> int:
        """How many frames it has lost because it fell behind, or has passed: 0 where the publisher waits."""
        return self._raw.total_lagged

    @property
    def cursor(self) -> int:
        """The number of the next frame."""
        return self._raw.cursor

    @property
    def most_held(self) -> int:
        """How many frames it may hold at one time."""
        return self._raw.most_held


def made(
    name: str | None,
    shape: Shape | None,
    dtype: Any,
    schema: SchemaLike | None,
    frame_bytes: int | None,
    directory: Directory,
    **options: Any,
) -> tuple[_annulus.RawFramePublisher, tuple[int, ...] | None]:
    """A ring of frames, and the shape that a loan of it has by default."""
    if schema is not None and dtype is not None:
        raise TypeError("dtype and schema are given: one of them says what is in the frames")
    if shape is None:
        if frame_bytes is None:
            raise TypeError("how large is a frame? Give a shape and a dtype, or frame_bytes")
        text = None
        if dtype is not None:
            text = Schema.of(_numpy.dtype(dtype)).text
        elif schema is not None:
            text = (schema if isinstance(schema, Schema) else Schema(schema)).text
        return _annulus.make_frames(name, directory, frame_bytes, schema=text, **options), None
    if dtype is None or frame_bytes is not None:
        raise TypeError("a shape goes with a dtype, and without frame_bytes")
    dims = _tuple(shape)
    if not dims:
        raise ValueError("shape=(): a frame has one dimension at least")
    dtype = _numpy.dtype(dtype)
    item = _numpy.numpy().dtype((dtype, dims[1:])) if dims[1:] else dtype
    text = Schema.of(item).text
    raw = _annulus.make_frames(name, directory, item.itemsize * dims[0], schema=text, **options)
    return raw, dims
