"""Arrays of messages as columns, for pandas, Polars and plots."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, Literal

from . import _kinds as k
from . import _numpy
from ._annulus import ClosedError
from ._handles import _Receiver
from .schema import Schema

if TYPE_CHECKING:
    import numpy.typing as npt


def collect(receiver: _Receiver[Any], seconds: float = 1.0) -> npt.NDArray[Any]:
    """The messages that come in so many seconds, or until the ring is closed, as one array.

    What has come is returned, also if the process that sends has died: then ``receiver.state`` is ``dead``.

    >>> with annulus.publish("doc-collect", "u4") as ticks, annulus.subscribe("doc-collect") as sub:
    ...     ticks.send(7)
    ...     annulus.collect(sub, seconds=0.01).tolist()
    [7]
    """
    np = _numpy.numpy()
    end = time.monotonic() + seconds
    batches = []
    while True:
        left = end - time.monotonic()
        try:
            batch = receiver.recv_batch(1 << 16, timeout=max(left, 0))
        except ClosedError:
            break
        batches.append(batch)
        if left <= 0:
            break
    empty = np.empty(0, receiver.dtype)
    return np.concatenate([empty, *batches])  # type: ignore[no-any-return]


def columns(messages: npt.NDArray[Any], schema: Schema) -> dict[str, npt.NDArray[Any]]:
    """An array of messages as columns by their names: one array for each number in a message.

    A field of a nested struct is ``leg.price``, an item of an array ``levels[0]``. A text is ``str``. An enum
    is the name of its variant, and of an unknown number that number in digits. An option is its value, in a
    masked array. Of a ``char`` the column has strings of one character; of ``u128`` Python's integers.

    >>> import numpy as np
    >>> schema = annulus.Schema("{bid:f64,side:enum u8{buy=0,sell=1},sizes:[u32;2]}")
    >>> messages = np.array([(1.5, 0, (3, 4)), (2.5, 1, (5, 6))], schema.dtype)
    >>> {name: column.tolist() for name, column in annulus.columns(messages, schema).items()}
    {'bid': [1.5, 2.5], 'side': ['buy', 'sell'], 'sizes[0]': [3, 5], 'sizes[1]': [4, 6]}
    """
    found: dict[str, npt.NDArray[Any]] = {}
    _add(found, "" if schema.fields else "value", messages, schema.kind)
    return found


def _add(found: dict[str, npt.NDArray[Any]], name: str, values: npt.NDArray[Any], kind: k.Kind) -> None:
    np = _numpy.numpy()
    if isinstance(kind, k.Struct):
        for field in kind.fields:
            if not field.is_gap:
                _add(found, f"{name}.{field.name}" if name else field.name, values[field.name], field.kind)
    elif isinstance(kind, k.Array) and values.ndim < 2:
        found[name] = values  # bytes, or a complex number: the program's own dtype for these items
    elif isinstance(kind, k.Array):
        for i in range(kind.length):
            _add(found, f"{name}[{i}]", values[:, i], kind.of)
    elif isinstance(kind, k.Option):
        parts: dict[str, npt.NDArray[Any]] = {}
        _add(parts, name, values["value"], kind.of)
        absent = ~values["present"]
        for part, column in parts.items():
            found[part] = np.ma.masked_array(column, mask=np.ma.getmaskarray(column) | absent)
    elif isinstance(kind, k.Text):
        found[name] = _numpy.text(values)
    elif isinstance(kind, k.Enum):
        found[name] = _variants(values["number"] if kind.room else values, kind)
    elif kind.scalar == "char":
        found[name] = np.array([chr(c) if c < 0x110000 else "\ufffd" for c in values.tolist()], dtype="U1")
    elif kind.scalar in ("u128", "i128"):
        found[name] = _wide(values, kind.scalar == "i128")
    else:
        found[name] = values


def _wide(values: npt.NDArray[Any], signed: bool) -> npt.NDArray[Any]:
    high = values["high"].view("i8") if signed else values["high"]
    return high.astype(object) * (1 << 64) + values["low"].astype(object)  # type: ignore[no-any-return]


def _variants(numbers: npt.NDArray[Any], kind: k.Enum) -> npt.NDArray[Any]:
    np = _numpy.numpy()
    names = {variant.number: variant.name for variant in kind.variants}
    known, which = np.unique(numbers, return_inverse=True)
    shown = np.array([names.get(int(number), str(number)) for number in known], dtype=str)
    return shown[which] if len(known) else shown  # type: ignore[no-any-return]


def frame(
    source: _Receiver[Any], seconds: float = 1.0, library: Literal["pandas", "polars"] = "pandas"
) -> Any:
    """A data frame of the messages that come in so many seconds, or until the ring is closed:
    :func:`collect`, then :func:`columns`. The library, pandas or Polars, must be installed.

    ``annulus.frame(annulus.subscribe("prices"), seconds=1)`` is the next second of ``prices``. With
    ``start="oldest"`` it begins with the messages that the ring still holds.
    """
    messages = collect(source, seconds)
    schema = source.schema or Schema.of(source.dtype)
    by_name = columns(messages, schema)
    if library == "pandas":
        return _pandas(by_name)
    if library == "polars":
        return _polars(by_name)
    raise ValueError(f"library={library!r}: there are 'pandas' and 'polars'")


def _pandas(by_name: dict[str, npt.NDArray[Any]]) -> Any:
    import pandas  # type: ignore[import-not-found, import-untyped, unused-ignore]

    return pandas.DataFrame({name: _nullable(pandas, column) for name, column in by_name.items()})


def _nullable(pandas: Any, column: Any) -> Any:
    """The column of an option has one of pandas' own types, which know absent values."""
    np = _numpy.numpy()
    if not isinstance(column, np.ma.MaskedArray):
        return np.ascontiguousarray(column)
    values, absent = np.ascontiguousarray(column.data), np.ma.getmaskarray(column)
    arrays = pandas.arrays
    own = {
        "i": arrays.IntegerArray,
        "u": arrays.IntegerArray,
        "f": arrays.FloatingArray,
        "b": arrays.BooleanArray,
    }
    if values.dtype.kind in own:
        return own[values.dtype.kind](values, absent)
    return pandas.Series(values).mask(absent)


def _polars(by_name: dict[str, npt.NDArray[Any]]) -> Any:
    import polars  # type: ignore[import-not-found, unused-ignore]

    return polars.DataFrame({name: _series(polars, name, column) for name, column in by_name.items()})


def _series(polars: Any, name: str, column: Any) -> Any:
    np = _numpy.numpy()
    if not isinstance(column, np.ma.MaskedArray):
        return polars.Series(name, np.ascontiguousarray(column))
    series = polars.Series(name, np.ascontiguousarray(column.data))
    return series.to_frame().select(
        polars.when(polars.Series(~np.ma.getmaskarray(column)))
        .then(polars.col(name))
        .otherwise(None)
        .alias(name)
    )[name]
