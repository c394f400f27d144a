"""From ``ctypes`` structures to schemas."""

from __future__ import annotations

import ctypes
import sys
from typing import Any

from . import _kinds as k

INTEGERS = (
    ctypes.c_uint8, ctypes.c_uint16, ctypes.c_uint32, ctypes.c_uint64,
    ctypes.c_int8, ctypes.c_int16, ctypes.c_int32, ctypes.c_int64,
    ctypes.c_byte, ctypes.c_ubyte, ctypes.c_short, ctypes.c_ushort, ctypes.c_int, ctypes.c_uint,
    ctypes.c_long, ctypes.c_ulong, ctypes.c_longlong, ctypes.c_ulonglong,
)  # fmt: skip
OTHERS: dict[type, k.Kind] = {
    ctypes.c_float: k.Scalar("f32"),
    ctypes.c_double: k.Scalar("f64"),
    ctypes.c_bool: k.Scalar("bool"),
    ctypes.c_char: k.Scalar("u8"),
}


def is_structure(what: Any) -> bool:
    """Whether it is a subclass of ``ctypes.Structure``, of either byte order."""
    return isinstance(what, type) and issubclass(what, (ctypes.Structure, ctypes.BigEndianStructure))


def kind_of(of: Any, path: str = "") -> k.Kind:
    """What a type of ctypes is as a schema. The padding of a structure becomes gaps."""
    at = path or "the message"
    if is_structure(of):
        return _struct_of(of, path)
    if of in OTHERS:
        return OTHERS[of]
    if of in INTEGERS:
        sign = "i" if of(-1).value == -1 else "u"
        return k.Scalar(f"{sign}{ctypes.sizeof(of) * 8}")
    if isinstance(of, type) and issubclass(of, ctypes.Array):
        length: Any = of._length_
        return k.Array(kind_of(of._type_, f"{path}[]"), length)
    name = getattr(of, "__name__", repr(of))
    if getattr(of, "__ctype_be__", None) is of or getattr(of, "__ctype_le__", None) is of:
        raise TypeError(
            f"{at} is {name}, and rings have the byte order of this machine: use a plain Structure"
        )
    raise TypeError(
        f"{at} is {name}, which no ring carries: use numbers, arrays and structures, no pointer, no union"
    )


def _struct_of(of: Any, path: str) -> k.Kind:
    swapped = ctypes.BigEndianStructure if sys.byteorder == "little" else ctypes.LittleEndianStructure
    if issubclass(of, swapped):
        raise TypeError(
            f"{of.__name__} has the other byte order, and a ring has the order of this machine: use Structure"
        )
    fields: list[k.Field] = []
    end = 0
    for name, kind, *bits in (
        part for base in reversed(of.__mro__) for part in base.__dict__.get("_fields_", ())
    ):
        where = f"{path}.{name}" if path else name
        if bits:
            raise TypeError(
                f"{where} is a bit field of {bits[0]} bits, which no schema has: use a whole integer"
            )
        if name.startswith("_"):
            raise TypeError(f"{where}: a name that begins with '_' is for a gap, whose bytes mean nothing")
        offset = getattr(of, name).offset
        if offset > end:
            fields.append(k.gap(offset - end))
        fields.append(k.Field(name, kind_of(kind, where)))
        end = offset + ctypes.sizeof(kind)
    if ctypes.sizeof(of) > end:
        fields.append(k.gap(ctypes.sizeof(of) - end))
    return k.laid_out(fields)
