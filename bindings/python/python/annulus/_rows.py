"""Messages from tuples and dicts, for any schema: what ``send((1.5, "EURUSD"))`` needs, with NumPy or
without."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import _kinds as k
from ._message import FORMS, MessageError, Part, _array, _nonzero, _option, _scalar, _text


def packer(kind: k.Kind) -> Callable[[Any], bytes]:
    """A function that makes the bytes of a message.

    A struct is a tuple or a dict, a text a ``str`` or ``bytes``, an option ``None`` or its value, an enum its
    number or the name of a variant; a variant with fields is a pair of that and of its fields.

    >>> from annulus import Schema
    >>> pack = packer(Schema("{size:u16,side:enum u8{buy=0,sell=1},symbol:text 3}").kind)
    >>> pack((258, "sell", "EUR"))
    b'\\x02\\x01\\x01\\x03\\x00EUR'
    >>> pack({"size": 70000, "side": 0, "symbol": "EUR"})
    Traceback (most recent call last):
    annulus.MessageError: size = 70000 is no u16: ...
    """
    part = row_part(kind, "", False)
    form = struct.Struct("=" + part.form)
    is_flat = isinstance(kind, k.Struct) and all(f.is_gap or _is_number(f.kind) for f in kind.fields)

    def pack(message: Any) -> bytes:
        try:
            if is_flat and type(message) is tuple:
                return form.pack(*message)
            values: list[Any] = []
            part.dump(message, values)
            return form.pack(*values)
        except (struct.error, OverflowError, ValueError, TypeError, AttributeError) as error:
            # Once more, with a look at each field, for an error that names it.
            row_part(kind, "", True).dump(message, [])
            raise MessageError(f"{message!r} is no {kind}: {error}") from None

    return pack


def _is_number(kind: k.Kind) -> bool:
    return isinstance(kind, k.Scalar) and kind.scalar in FORMS


def row_part(kind: k.Kind, path: str, named: bool) -> Part:
    """What dumps a value of this kind; with errors that name the value and the field, by this path, if ``named``."""
    if isinstance(kind, k.Option):
        return _option(row_part(kind.of, path, named))
    if isinstance(kind, k.Struct):
        return _struct(kind, path, named)
    if isinstance(kind, k.Array):
        part = _array(row_part(kind.of, f"{path}[]", named), kind.length)
        return _named(part, path, False) if named else part
    if isinstance(kind, k.Enum):
        part = _enum(kind, path, named)
    elif isinstance(kind, k.Text):
        part = _text(kind.capacity, str)
    else:
        part = _scalar(kind.scalar)
        part = _nonzero(part) if isinstance(kind, k.NonZero) else part
    return _named(part, path, True) if named else part


def _named(part: Part, path: str, check: bool) -> Part:
    """The same with errors that name the value and the field."""
    form = struct.Struct("=" + part.form)

    def dump(value: Any, values: list[Any]) -> None:
        before = len(values)
        try:
            part.dump(value, values)
            if check:
                form.pack(*values[before:])
        except MessageError:
            raise
        except (struct.error, OverflowError, ValueError, TypeError, AttributeError) as error:
            raise MessageError(f"{path or 'the message'} = {value!r} is no {part.kind}: {error}") from None

    return Part(part.kind, part.form, part.count, part.load, dump)


def _struct(kind: k.Struct, path: str, named: bool) -> Part:
    names = [field.name for field in kind.fields if not field.is_gap]
    parts = [
        (f.name, f.is_gap, row_part(f.kind, f"{path}.{f.name}" if path else f.name, named))
        for f in kind.fields
    ]
    form = "".join(
        f"{field.kind.size}x" if is_gap else part.form for field, (_, is_gap, part) in zip(kind.fields, parts)
    )
    count = sum(part.count for _, is_gap, part in parts if not is_gap)

    def dump(value: Any, values: list[Any]) -> None:
        if isinstance(value, Mapping):
            if set(value) != set(names):
                raise MessageError(
                    f"{path or 'the message'} has the fields {', '.join(names)}, not {', '.join(value)}"
                )
            row = [value[name] for name in names]
        else:
            if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
                what = f"a tuple or a dict of {', '.join(names)}"
                raise MessageError(f"{path or 'the message'} = {value!r}, and it is to be {what}")
            row = list(value)
            if len(row) != len(names):
                raise MessageError(
                    f"{path or 'the message'} has {len(names)} fields, {', '.join(names)}, not {len(row)}"
                )
        each = iter(row)
        for _, is_gap, part in parts:
            if not is_gap:
                part.dump(next(each), values)

    return Part(kind, form, count, lambda values, at: tuple(values[at : at + count]), dump)


def _enum(kind: k.Enum, path: str, named: bool) -> Part:
    number = _scalar(kind.scalar)
    by_name = {variant.name: variant for variant in kind.variants}
    by_number = {variant.number: variant for variant in kind.variants}
    packers = {
        v.number: row_part(k.Struct(v.fields), f"{path}.{v.name}" if path else v.name, named)
        for v in kind.variants
    }

    def dump(value: Any, values: list[Any]) -> None:
        which, fields = value if isinstance(value, tuple) else (value, ())
        variant = by_name.get(which) if isinstance(which, str) else by_number.get(int(which))
        if variant is None:
            raise ValueError(f"there are {', '.join(f'{v.name}={v.number}' for v in kind.variants)}")
        number.dump(variant.number, values)
        if kind.room:
            part, of_fields = packers[variant.number], list[Any]()
            part.dump(fields, of_fields)
            values.append(struct.pack(f"={part.form}", *of_fields))
        elif fields:
            raise ValueError(f"the variant {variant.name} has no fields")

    form = number.form + (f"{kind.room}s" if kind.room else "")
    return Part(kind, form, 2 if kind.room else 1, lambda values, at: values[at], dump)
