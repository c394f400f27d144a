"""From schemas to NumPy's dtypes, and back. Nothing else imports NumPy when the package is imported."""

from __future__ import annotations

import dataclasses
import sys
from typing import TYPE_CHECKING, Any

from . import _kinds as k

if TYPE_CHECKING:
    import numpy as np

DTypeOf = {
    "u8": "u1", "u16": "u2", "u32": "u4", "u64": "u8", "i8": "i1", "i16": "i2", "i32": "i4", "i64": "i8",
    "f32": "f4", "f64": "f8", "bool": "?", "char": "u4",
}  # fmt: skip
SCALARS = {code: scalar for scalar, code in DTypeOf.items() if scalar != "char"}


def numpy() -> Any:
    """NumPy, or an error that says how to get it."""
    try:
        import numpy
    except ImportError as error:
        raise ImportError("this needs NumPy: pip install 'annulus[numpy]'") from error
    return numpy


def has_numpy() -> bool:
    """Whether NumPy can be imported."""
    if "numpy" in sys.modules:
        return sys.modules["numpy"] is not None
    try:
        import numpy  # noqa: F401
    except ImportError:
        return False
    return True


def dtype(what: Any) -> np.dtype[Any]:
    """``numpy.dtype(what)``, with errors that say what else there is."""
    if isinstance(what, type) and dataclasses.is_dataclass(what):
        raise TypeError(f"{what.__name__} is a dataclass: decorate it by @annulus.message")
    try:
        return numpy().dtype(what)  # type: ignore[no-any-return]
    except TypeError as error:
        raise TypeError(f"{what!r} is no dtype: {error}. The text of a schema is given by schema=…") from None


def dtype_of(kind: k.Kind) -> np.dtype[Any]:
    """The dtype of a message's bytes; gaps are padding, without a field."""
    np = numpy()
    if isinstance(kind, (k.Scalar, k.NonZero)):
        if kind.scalar in ("u128", "i128"):
            return _record([k.Field("low", k.Scalar("u64")), k.Field("high", k.Scalar("u64"), 8)])
        return np.dtype(DTypeOf[kind.scalar])  # type: ignore[no-any-return]
    if isinstance(kind, k.Text):
        return np.dtype([("length", "u2"), ("bytes", f"S{kind.capacity}")])  # type: ignore[no-any-return]
    if isinstance(kind, k.Array):
        return np.dtype((dtype_of(kind.of), (kind.length,)))  # type: ignore[no-any-return]
    if isinstance(kind, k.Struct):
        return _record(list(kind.fields))
    if isinstance(kind, k.Option):
        return np.dtype([("present", "?"), ("value", dtype_of(kind.of))])  # type: ignore[no-any-return]
    number = dtype_of(k.Scalar(kind.scalar))
    if kind.room == 0:
        return number
    return np.dtype([("number", number), ("rest", "u1", (kind.room,))])  # type: ignore[no-any-return]


def _record(fields: list[k.Field]) -> np.dtype[Any]:
    seen = [field for field in fields if not field.is_gap]
    size = max((field.offset + field.kind.size for field in fields), default=0)
    parts = {
        "names": [field.name for field in seen],
        "formats": [dtype_of(field.kind) for field in seen],
        "offsets": [field.offset for field in seen],
        "itemsize": size,
    }
    return numpy().dtype(parts)  # type: ignore[no-any-return]


def kind_of(dtype: np.dtype[Any], path: str = "") -> k.Kind:
    """What a dtype is as a schema. Its padding becomes gaps.

    ``(length: u2, bytes: Sn)`` is a text and ``(present: ?, value: …)`` an option, as :func:`dtype_of` makes
    them.
    """
    at = path or "the message"
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        kind = kind_of(base, f"{path}[]")
        for length in reversed(shape):
            kind = k.Array(kind, length)
        return kind
    if dtype.names is not None:
        return _struct_of(dtype, path)
    if dtype.hasobject:
        raise TypeError(
            f"{at} is Python objects ({dtype}): a ring carries bytes; use numbers, or 'S16' for short texts"
        )
    if dtype.byteorder == (">" if sys.byteorder == "little" else "<"):
        swapped = dtype.newbyteorder("=").str
        raise TypeError(
            f"{at} is {dtype.str!r}, and rings have the byte order of this machine: use {swapped!r}"
        )
    code = dtype.str[1:]
    if code in SCALARS:
        return k.Scalar(SCALARS[code])
    if dtype.kind == "b":
        return k.Scalar("bool")
    if dtype.kind in "mM":
        return k.Scalar("i64")
    if dtype.kind == "c" and dtype.itemsize in (8, 16):
        return k.Array(k.Scalar("f32" if dtype.itemsize == 8 else "f64"), 2)
    if dtype.kind in "SV":
        return k.Scalar("u8") if dtype.itemsize == 1 else k.Array(k.Scalar("u8"), dtype.itemsize)
    instead = {
        "U": "use 'S16', or annulus.Text in a @annulus.message",
        "f": "use 'f4' or 'f8'",
        "c": "use 'c16'",
    }
    raise TypeError(f"{at} is {dtype}, which no ring carries: {instead.get(dtype.kind, 'use numbers')}")


def _struct_of(dtype: np.dtype[Any], path: str) -> k.Kind:
    names: tuple[str, ...] = dtype.names or ()
    places: Any = dtype.fields
    parts = sorted(((places[name][1], name, places[name][0]) for name in names), key=lambda part: part[0])
    if list(names) == ["length", "bytes"]:
        length, text = parts[0][2], parts[1][2]
        if length.str[1:] == "u2" and text.kind == "S" and dtype.itemsize == 2 + text.itemsize:
            return k.Text(text.itemsize)
    if list(names) == ["present", "value"] and parts[0][2].kind == "b" and parts[1][0] == 1:
        if dtype.itemsize == 1 + parts[1][2].itemsize:
            return k.Option(kind_of(parts[1][2], f"{path}?"))
    fields: list[k.Field] = []
    end = 0
    for offset, name, of in parts:
        where = f"{path}.{name}" if path else name
        if offset < end:
            raise TypeError(
                f"{where} begins at byte {offset}, inside the field before it, which ends at {end}"
            )
        if name.startswith("_"):
            raise TypeError(f"{where}: a name that begins with '_' is for a gap, whose bytes mean nothing")
        if offset > end:
            fields.append(k.gap(offset - end))
        unit = _unit(of)
        fields.append(k.Field(name, kind_of(of, where), unit=unit))
        end = offset + of.itemsize
    if dtype.itemsize > end:
        fields.append(k.gap(dtype.itemsize - end))
    return k.laid_out(fields)


def _unit(dtype: np.dtype[Any]) -> str:
    """``ns`` of ``datetime64[ns]``."""
    if dtype.kind not in "mM":
        return ""
    unit, count = numpy().datetime_data(dtype)
    return "" if unit == "generic" else unit if count == 1 else f"{count} {unit}"


def text(values: Any) -> Any:
    """The texts of a field ``text n``: one ``str`` of a record's field, an array of ``str`` of an array's
    field.

    >>> import numpy as np
    >>> dtype = [("symbol", [("length", "u2"), ("bytes", "S3")]), ("bid", "f8")]
    >>> messages = np.array([((3, b"EUR"), 1.5), ((2, b"XY?"), 2.5)], dtype)
    >>> text(messages["symbol"]).tolist()
    ['EUR', 'XY']
    >>> text(messages[0]["symbol"])
    'EUR'

    Bytes that are not UTF-8 are shown as U+FFFD, as another process may write anything.
    """
    np = numpy()
    if isinstance(values, str):
        return values
    dtype = getattr(values, "dtype", None)
    if dtype is None or not isinstance(kind_of(dtype), k.Text):
        raise TypeError(
            f"{values!r} is no text: a field 'text n' has the dtype [('length', 'u2'), ('bytes', 'Sn')]"
        )
    if getattr(values, "shape", ()) == ():
        return _decode(values)
    decoded = [_decode(value) for value in values.reshape(-1)]
    return np.array(decoded, dtype=f"U{max(1, max(map(len, decoded), default=1))}").reshape(values.shape)


def _decode(value: Any) -> str:
    capacity = value.dtype["bytes"].itemsize
    padded = bytes(value["bytes"]).ljust(capacity, b"\0")  # NumPy leaves out zeros at the end
    return padded[: int(value["length"])].decode("utf-8", "replace")


def set_text(field: Any, values: Any) -> None:
    """Writes texts into a field ``text n`` of an array of messages: one for each message, or one for all.

    >>> import numpy as np
    >>> messages = np.zeros(2, [("symbol", [("length", "u2"), ("bytes", "S3")]), ("bid", "f8")])
    >>> set_text(messages["symbol"], ["EUR", "XY"])
    >>> text(messages["symbol"]).tolist()
    ['EUR', 'XY']

    ``ValueError``: a text has more bytes in UTF-8 than there is room for.
    """
    np = numpy()
    dtype = getattr(field, "dtype", None)
    if dtype is None or not isinstance(kind_of(dtype), k.Text):
        raise TypeError(
            f"{field!r} is no text: a field 'text n' has the dtype [('length', 'u2'), ('bytes', 'Sn')]"
        )
    capacity = dtype["bytes"].itemsize
    encoded = [str(text).encode() for text in np.asarray(values, dtype=object).reshape(-1).tolist()]
    for text in encoded:
        if len(text) > capacity:
            raise ValueError(
                f"{text.decode()!r} has {len(text)} bytes in UTF-8, and there is room for {capacity}"
            )
    shape = np.shape(values)
    field["length"] = np.array([len(text) for text in encoded], "u2").reshape(shape)
    field["bytes"] = np.array(encoded, f"S{max(1, capacity)}").reshape(shape)
