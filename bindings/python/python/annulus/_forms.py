"""What Python has for a message: a NumPy record, a dataclass, a ctypes structure, or bytes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from . import _ctypes, _message, _numpy, _rows
from . import _kinds as k
from ._annulus import MismatchError
from .schema import Schema, SchemaLike

if TYPE_CHECKING:
    import numpy as np

M = TypeVar("M")

BYTES = (bytes, bytearray, memoryview)


@dataclass
class Form(Generic[M]):
    """How the bytes of a message become what Python has for it, and the reverse.

    ``load`` is ``None`` where the extension makes the value itself: a NumPy scalar of the dtype ``scalar``, or
    bytes without one. ``dump`` gives something with the buffer protocol. ``dtype`` is for arrays of messages,
    and ``is_buffer`` says whether these have the buffer protocol. ``batch`` is ``dtype``, where an array of one
    dimension with it needs no other look.
    """

    schema: Schema | None
    size: int
    dtype: np.dtype[Any] | None
    load: Callable[[bytes], M] | None
    dump: Callable[[Any], Any]
    scalar: np.dtype[Any] | None = None
    is_buffer: bool = True
    batch: np.dtype[Any] | None = None

    def __post_init__(self) -> None:
        self.is_buffer = self.dtype is None or _is_buffer(self.dtype)
        if self.dtype is not None and self.is_buffer and self.dtype.subdtype is None:
            self.batch = self.dtype


def _is_buffer(dtype: np.dtype[Any]) -> bool:
    """Whether arrays of it have the buffer protocol: those with ``datetime64`` have not."""
    try:
        memoryview(_numpy.numpy().empty(0, dtype))
    except ValueError:
        return False
    return True


def of_class(message: Any, schema: Schema) -> Form[Any]:
    """Messages as instances of a ``@annulus.message`` class."""
    known = message.__annulus_message__
    return Form(schema, schema.size, _dtype_if_any(schema), known.unpack, known.pack)


def of_structure(structure: Any, schema: Schema) -> Form[Any]:
    """Messages as instances of a ``ctypes.Structure``."""

    def dump(message: Any) -> Any:
        if isinstance(message, (structure, *BYTES)):
            return message
        raise TypeError(f"the messages of this ring are {structure.__name__}, not {message!r}")

    return Form(schema, schema.size, _dtype_if_any(schema), structure.from_buffer_copy, dump)


def of_dtype(dtype: np.dtype[Any], schema: Schema) -> Form[Any]:
    """Messages as NumPy scalars; of a structured dtype, as records: ``numpy.void``."""
    np = _numpy.numpy()
    pack = _lazy_packer(schema.kind)
    base, shape = dtype.subdtype or (dtype, ())

    record, known = dtype.type, dtype

    def dump(message: Any) -> Any:
        nonlocal known
        of = type(message)
        if of is bytes or of is record and message.dtype is known and is_buffer:
            return message
        if isinstance(message, (np.generic, np.ndarray)):
            if message.dtype != base or message.shape != shape:
                had = f"{message.dtype} in the shape {message.shape}" if message.shape else str(message.dtype)
                raise TypeError(f"the message is {had}, and the messages of this ring are {dtype}")
            if not shape:
                known = message.dtype  # the next one of it needs no comparison, which takes microseconds
            return message if is_buffer else message.tobytes()
        if isinstance(message, BYTES):
            return message
        if is_buffer:
            return pack(message)
        # Dates and times, which NumPy alone knows.
        row = tuple(message[name] for name in base.names or ()) if isinstance(message, dict) else message
        return np.array(row, dtype).tobytes()

    def load_array(message: bytes) -> Any:
        return np.frombuffer(message, base).reshape(shape).copy()

    form: Form[Any] = Form(schema, schema.size, dtype, load_array if shape else None, dump, dtype)
    is_buffer = form.is_buffer
    return form


def of_bytes(schema: Schema | None, size: int) -> Form[bytes]:
    """Messages as bytes. Where there is a schema, ``send`` takes tuples and dicts, too."""
    pack = _lazy_packer(schema.kind) if schema else None

    def dump(message: Any) -> Any:
        if pack and isinstance(message, (tuple, list, dict, str, int, float)):
            return pack(message)
        return message

    dtype = None
    if _numpy.has_numpy():
        dtype = schema.dtype if schema else _numpy.numpy().dtype(f"V{size}")
    return Form(schema, size, dtype, None, dump)


def _lazy_packer(kind: k.Kind) -> Callable[[Any], bytes]:
    """What packs tuples, made when the first one comes."""
    made: list[Callable[[Any], bytes]] = []

    def pack(message: Any) -> bytes:
        if not made:
            made.append(_rows.packer(kind))
        return made[0](message)

    return pack


def _dtype_if_any(schema: Schema) -> np.dtype[Any] | None:
    return schema.dtype if _numpy.has_numpy() else None


class Asked:
    """What a program says of a ring's messages: a class or a dtype, a schema, or only how many bytes they
    have."""

    def __init__(self, dtype: Any, schema: SchemaLike | None, message_bytes: int | None) -> None:
        if isinstance(dtype, Schema) and schema is None:
            dtype, schema = None, dtype
        said = {"dtype": dtype, "schema": schema, "message_bytes": message_bytes}
        given = [name for name, value in said.items() if value is not None]
        if len(given) > 1:
            raise TypeError(f"{' and '.join(given)} are given: one of them says what the messages are")
        if message_bytes is not None and message_bytes < 1:
            raise ValueError(f"message_bytes={message_bytes}: a message has 1 byte or more")
        self.message_bytes = message_bytes
        self.is_class = _message.is_message(dtype)
        self.is_structure = _ctypes.is_structure(dtype)
        self.of: Any = dtype
        if dtype is not None and not self.is_class and not self.is_structure:
            self.of = _numpy.dtype(dtype)
        self.schema: Schema | None = None
        if schema is not None:
            self.schema = schema if isinstance(schema, Schema) else Schema(schema)
        elif dtype is not None:
            self.schema = Schema.of(self.of)
        # A dtype and a structure have no enums and no texts: they say where which bytes lie.
        self.is_layout_only = dtype is not None and not self.is_class
        self.is_said = bool(given)

    def expected(self) -> str | None:
        """The text of the schema that the ring must have, where that is said exactly."""
        return None if self.schema is None or self.is_layout_only else self.schema.text

    def form(self, ring: str, text: str | None, size: int) -> Form[Any]:
        """What the messages of a ring, as texts call it, are in Python. Its schema has this text.

        ``MismatchError`` shows both sides, if the ring's messages are not what is asked for.
        """
        schema = Schema(text) if text is not None else None
        if self.is_layout_only:
            self._check_layout(ring, schema, size)
        if self.is_class:
            assert self.schema is not None
            return of_class(self.of, self.schema)
        known = schema or self.schema
        if known is None:
            return of_bytes(None, size)
        if self.is_structure:
            return of_structure(self.of, known)
        if not _numpy.has_numpy() or self.message_bytes is not None:
            return of_bytes(known, size)
        return of_dtype(known.dtype if self.of is None else self.of, known)

    def _check_layout(self, ring: str, schema: Schema | None, size: int) -> None:
        assert self.schema is not None
        if schema is None and self.schema.size == size or schema is not None and schema.fits(self.of):
            return
        theirs = f"{size} bytes, without a schema" if schema is None else _shown(schema)
        what = f"the structure {self.of.__name__}" if self.is_structure else f"the dtype {self.of}"
        raise MismatchError(
            f"the messages of {ring} are\n  {theirs}\nand what is asked for is\n  {what}: {self.schema}"
        )


def _shown(schema: Schema) -> str:
    return f"{schema}\n  as a dtype: {schema.dtype}" if _numpy.has_numpy() else schema.text


def loader(form: Form[Any]) -> Callable[[bytes], Any]:
    """What makes a value of the bytes of a message."""
    if form.load is not None:
        return form.load
    scalar = form.scalar
    if scalar is None:
        return bytes
    np = _numpy.numpy()
    # (Its own memory, which the program may change.)
    return lambda message: np.frombuffer(bytearray(message), scalar)[0]
