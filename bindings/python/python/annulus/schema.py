"""Schemas: what the messages of a ring are made of, as text, as a dtype, as a class.

A schema comes from its text, or from what a Python program has: :meth:`Schema.of` takes a
``@annulus.message`` class, a ``numpy.dtype`` or a ``ctypes.Structure``.

>>> schema = Schema('quote@2{bid:f64(EUR)"Of the best bid.",side:enum u8{buy=0,sell=1}}')
>>> [(field.name, str(field.kind), field.offset, field.unit) for field in schema.fields]
[('bid', 'f64', 0, 'EUR'), ('side', 'enum u8{buy=0,sell=1}', 8, '')]
>>> schema.enums["side"].sell
<side.sell: 1>
>>> schema.dtype
dtype([('bid', '<f8'), ('side', 'u1')])
"""

from __future__ import annotations

import enum
import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, Union

from . import _annulus, _ctypes, _message, _numpy
from . import _kinds as k
from ._kinds import Array, Enum, Field, Kind, NonZero, Option, Scalar, Struct, Text, Variant

if TYPE_CHECKING:
    import numpy as np

__all__ = [
    "Array",
    "Enum",
    "Field",
    "Kind",
    "NonZero",
    "Option",
    "Scalar",
    "Schema",
    "Struct",
    "Text",
    "Variant",
]


class Schema:
    """What the messages of a ring are made of.

    ``Schema(text)`` parses a text, and raises :class:`annulus.SchemaError`, which says at which byte the text
    is wrong and what would be right there. Two schemas are equal if their canonical texts are.

    >>> Schema("{ bid: f64, ask: f64 }").text
    '{bid:f64,ask:f64}'
    """

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise TypeError(f"a schema's text is a str, such as '{{bid:f64}}', not {text!r}; see Schema.of")
        self._text = _annulus.canonical(text)
        self._root = k.root_from_json(json.loads(_annulus.schema_json(self._text)))

    @classmethod
    def of(cls, what: Any, *, name: str | None = None, version: int | None = None) -> Schema:
        """The schema of a ``@annulus.message`` class, a ``numpy.dtype`` or what makes one, a
        ``ctypes.Structure``, or a schema, with another ``name`` or ``version`` if these are given.

        A message class and a structure give their own name. A dtype has none: a program in another language,
        whose type has a name, takes messages of that name only.

        >>> Schema.of([("bid", "f8"), ("size", "u4")], name="Quote").text
        'Quote{bid:f64,size:u32}'
        """
        root = _root_of(what)
        root = k.Root(
            root.kind, root.name if name is None else name, root.version if version is None else version
        )
        return cls(root.text())

    @property
    def text(self) -> str:
        """The canonical text."""
        return self._text

    @property
    def name(self) -> str:
        """The name of the message's type; empty if it has none."""
        return self._root.name

    @property
    def version(self) -> int:
        """The version of the message's type, or 0."""
        return self._root.version

    @property
    def kind(self) -> Kind:
        """What a message is: a :class:`Struct`, most often."""
        return self._root.kind

    @property
    def size(self) -> int:
        """How many bytes a message has."""
        return self._root.kind.size

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of a message, each with its name, kind, offset, unit and comment, and without gaps.
        Empty if the message is no struct."""
        kind = self._root.kind
        return tuple(f for f in kind.fields if not f.is_gap) if isinstance(kind, Struct) else ()

    @cached_property
    def dtype(self) -> np.dtype[Any]:
        """The dtype whose items have the bytes of a message.

        ======================  ============================================================================
        kind                    dtype
        ======================  ============================================================================
        numbers, ``bool``       the same; a gap is padding, without a field
        ``char``                ``u4``
        ``u128``, ``i128``      ``[('low', 'u8'), ('high', 'u8')]``
        ``nonzero u32``         ``u4``
        ``text n``              ``[('length', 'u2'), ('bytes', 'Sn')]``; :func:`annulus.text` makes ``str`` of it
        ``[k;n]``               the dtype of k, in the shape ``(n,)``
        ``enum u8{…}``          ``u1``; where a variant has fields, ``[('number', 'u1'), ('rest', 'u1', (n,))]``
        ``k?``                  ``[('present', '?'), ('value', the dtype of k)]``
        ======================  ============================================================================
        """
        return _numpy.dtype_of(self._root.kind)

    @cached_property
    def enums(self) -> dict[str, type[enum.IntEnum]]:
        """The enums of the message by the path of their field, such as ``"side"`` or ``"leg.side"``; a
        message that is an enum has the path ``""``.

        >>> side = Schema("{leg:{side:enum u8{buy=0,sell=1}}}").enums["leg.side"]
        >>> side(1).name
        'sell'
        """
        found: dict[str, type[enum.IntEnum]] = {}
        _find_enums(self._root.kind, "", self.name or "Message", found)
        return found

    def same_layout(self, other: Schema) -> bool:
        """Whether messages of the one are messages of the other: units, comments and the names of gaps do not
        count.

        >>> Schema("{bid:f64(EUR)}").same_layout(Schema("{bid:f64(USD)}"))
        True
        """
        ours, theirs = self._root, other._root
        same_names = (ours.name, ours.version) == (theirs.name, theirs.version)
        return same_names and k.layout(ours.kind) == k.layout(theirs.kind)

    def fits(self, dtype: Any) -> bool:
        """Whether a dtype, or a ``ctypes.Structure``, has the fields of this schema at the same places: what
        :func:`annulus.subscribe` demands. An enum counts as its number there.

        >>> schema = Schema("quote{bid:f64,side:enum u8{buy=0,sell=1}}")
        >>> schema.fits([("bid", "f8"), ("side", "u1")]), schema.fits([("bid", "f8"), ("side", "u2")])
        (True, False)
        """
        return k.plain(_root_of(dtype).kind) == k.plain(self._root.kind)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Schema) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Schema({self._text!r})"

    def __reduce__(self) -> tuple[type[Schema], tuple[str]]:
        return (Schema, (self._text,))


SchemaLike = Union[Schema, str]
"""A :class:`Schema`, or its text."""


def _root_of(what: Any) -> k.Root:
    if isinstance(what, Schema):
        return what._root
    if _message.is_message(what):
        return _message.root_of(what)
    if _ctypes.is_structure(what):
        return k.Root(_ctypes.kind_of(what), what.__name__)
    return k.Root(_numpy.kind_of(_numpy.dtype(what)))


def _find_enums(kind: Kind, path: str, name: str, found: dict[str, type[enum.IntEnum]]) -> None:
    if isinstance(kind, Enum):
        found[path] = kind.numbers(name)
        for variant in kind.variants:
            for field in variant.fields:
                _find_enums(field.kind, _under(path, f"{variant.name}.{field.name}"), field.name, found)
    elif isinstance(kind, (Array, Option)):
        _find_enums(kind.of, path, name, found)
    elif isinstance(kind, Struct):
        for field in kind.fields:
            _find_enums(field.kind, _under(path, field.name), field.name, found)


def _under(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name
