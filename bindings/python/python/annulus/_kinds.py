"""What a message is made of, as a tree: the same kinds as in a schema's text.

The library parses texts, and gives the tree as JSON. Here are the tree, its text, and what Python calls its
numbers.
"""

from __future__ import annotations

import enum
import keyword
from dataclasses import dataclass
from typing import Any, Final, Union

SIZES: Final[dict[str, int]] = {
    "u8": 1, "u16": 2, "u32": 4, "u64": 8, "u128": 16,
    "i8": 1, "i16": 2, "i32": 4, "i64": 8, "i128": 16,
    "f32": 4, "f64": 8, "bool": 1, "char": 4,
}  # fmt: skip
"""How many bytes each scalar takes."""


def limits(scalar: str) -> tuple[int, int]:
    """The least and the greatest number of an integer, such as ``u8``."""
    bits = SIZES[scalar] * 8
    return (0, 2**bits - 1) if scalar[0] == "u" else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


class _Shown:
    """What is shown as its text."""

    def text(self) -> str:
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text()


@dataclass(frozen=True)
class Scalar(_Shown):
    """An integer, a float, a ``bool`` or a ``char``."""

    scalar: str

    @property
    def size(self) -> int:
        return SIZES[self.scalar]

    def text(self) -> str:
        return self.scalar


@dataclass(frozen=True)
class NonZero(_Shown):
    """An integer that is not 0."""

    scalar: str

    @property
    def size(self) -> int:
        return SIZES[self.scalar]

    def text(self) -> str:
        return f"nonzero {self.scalar}"


@dataclass(frozen=True)
class Text(_Shown):
    """UTF-8 of up to ``capacity`` bytes, behind a ``u16`` that counts them."""

    capacity: int

    @property
    def size(self) -> int:
        return self.capacity + 2

    def text(self) -> str:
        return f"text {self.capacity}"


@dataclass(frozen=True)
class Array(_Shown):
    """``length`` values of one kind, adjacent."""

    of: Kind
    length: int

    @property
    def size(self) -> int:
        return self.of.size * self.length

    def text(self) -> str:
        return f"[{self.of.text()};{self.length}]"


@dataclass(frozen=True)
class Field(_Shown):
    """A field of a struct or of a variant.

    >>> Field("bid", Scalar("f64"), unit="EUR").text()
    'bid:f64(EUR)'
    """

    name: str
    kind: Kind
    offset: int = 0
    unit: str = ""
    comment: str = ""

    @property
    def is_gap(self) -> bool:
        """Whether its bytes mean nothing: its name begins with ``_``."""
        return self.name.startswith("_")

    def text(self) -> str:
        unit = f"({self.unit})" if self.unit else ""
        quoted = self.comment.replace("\\", "\\\\").replace('"', '\\"')
        comment = f'"{quoted}"' if self.comment else ""
        return f"{self.name}:{self.kind.text()}{unit}{comment}"


@dataclass(frozen=True)
class Struct(_Shown):
    """Fields, adjacent."""

    fields: tuple[Field, ...]

    @property
    def size(self) -> int:
        return sum(field.kind.size for field in self.fields)

    def text(self) -> str:
        return "{" + ",".join(field.text() for field in self.fields) + "}"


@dataclass(frozen=True)
class Variant(_Shown):
    """A variant of an enum; the offsets of its fields are from behind the number."""

    name: str
    number: int
    fields: tuple[Field, ...] = ()

    def text(self) -> str:
        return f"{self.name}={self.number}" + (Struct(self.fields).text() if self.fields else "")


@dataclass(frozen=True)
class Enum(_Shown):
    """A number that says which variant is there, and then room for the longest variant."""

    scalar: str
    variants: tuple[Variant, ...]

    @property
    def room(self) -> int:
        """How many bytes are behind the number."""
        return max((Struct(variant.fields).size for variant in self.variants), default=0)

    @property
    def size(self) -> int:
        return SIZES[self.scalar] + self.room

    def text(self) -> str:
        return f"enum {self.scalar}{{" + ",".join(variant.text() for variant in self.variants) + "}"

    def numbers(self, name: str) -> type[enum.IntEnum]:
        """An ``IntEnum`` of its variants. A name that Python reserves gets ``_`` behind it, as ``None_``.

        >>> Enum("u8", (Variant("buy", 0), Variant("None", 1))).numbers("Side").None_
        <Side.None_: 1>
        """
        members: dict[str, int] = {}
        for variant in self.variants:
            called = member(variant.name)
            while called in members:
                called += "_"
            members[called] = variant.number
        return make_int_enum(name, members)


def make_int_enum(name: str, members: dict[str, int]) -> type[enum.IntEnum]:
    """``enum.IntEnum(name, members)``, for checkers that want literals there."""
    make: Any = enum.IntEnum
    made: type[enum.IntEnum] = make(name, members)
    return made


def member(name: str) -> str:
    """The name of a variant as an ``IntEnum`` can have it."""
    if name.startswith("_"):
        return f"v{name}"
    return f"{name}_" if keyword.iskeyword(name) or hasattr(enum.IntEnum, name) or name == "mro" else name


def unescaped(name: str) -> str:
    """The name in a schema of a name in Python: ``class_`` stands for ``class``, which Python reserves.

    >>> unescaped("class_"), unescaped("buy_")
    ('class', 'buy_')
    """
    return name[:-1] if name.endswith("_") and keyword.iskeyword(name[:-1]) else name


@dataclass(frozen=True)
class Option(_Shown):
    """A byte that is 1 or 0, and then the value, zeros if there is none."""

    of: Kind

    @property
    def size(self) -> int:
        return self.of.size + 1

    def text(self) -> str:
        return f"{self.of.text()}?"


Kind = Union[Scalar, NonZero, Text, Array, Struct, Enum, Option]
"""What a value is."""


@dataclass(frozen=True)
class Root(_Shown):
    """A whole schema: the name and version of a type, and what it is."""

    kind: Kind
    name: str = ""
    version: int = 0

    def text(self) -> str:
        """Its canonical text."""
        version = f"@{self.version}" if self.version else ""
        colon = ":" if (self.name or version) and not isinstance(self.kind, Struct) else ""
        return f"{self.name}{version}{colon}{self.kind.text()}"


def from_json(node: dict[str, Any]) -> Kind:
    """The tree of a node that ``_annulus.schema_json`` gives.

    >>> from_json({"kind": "array", "of": {"kind": "scalar", "scalar": "f64"}, "length": 3}).text()
    '[f64;3]'
    """
    kind = node["kind"]
    if kind == "scalar":
        return Scalar(node["scalar"])
    if kind == "nonzero":
        return NonZero(node["scalar"])
    if kind == "text":
        return Text(node["capacity"])
    if kind == "array":
        return Array(from_json(node["of"]), node["length"])
    if kind == "struct":
        return Struct(_fields(node["fields"]))
    if kind == "option":
        return Option(from_json(node["of"]))
    if kind == "enum":
        variants = (Variant(v["name"], int(v["number"]), _fields(v["fields"])) for v in node["variants"])
        return Enum(node["scalar"], tuple(variants))
    raise ValueError(
        f"the schema has a part of the kind {kind!r}, which this version of annulus does not know"
    )


def _fields(nodes: list[dict[str, Any]]) -> tuple[Field, ...]:
    fields = (
        Field(n["name"], from_json(n["kind"]), n["offset"], n.get("unit") or "", n.get("comment") or "")
        for n in nodes
    )
    return tuple(sorted(fields, key=lambda field: (field.offset, field.kind.size)))


def root_from_json(node: dict[str, Any]) -> Root:
    """The schema of what ``_annulus.schema_json`` gives: the root has also its name and version."""
    return Root(from_json(node), node.get("name") or "", node.get("version") or 0)


def laid_out(fields: list[Field]) -> Struct:
    """A struct of these fields, one behind the other."""
    placed, end = [], 0
    for field in fields:
        placed.append(Field(field.name, field.kind, end, field.unit, field.comment))
        end += field.kind.size
    return Struct(tuple(placed))


def layout(kind: Kind) -> Kind:
    """The same kind without units and comments, and with each gap called ``_``: what two sides must agree
    on."""
    if isinstance(kind, Array):
        return Array(layout(kind.of), kind.length)
    if isinstance(kind, Option):
        return Option(layout(kind.of))
    if isinstance(kind, Struct):
        return Struct(_layouts(kind.fields))
    if isinstance(kind, Enum):
        return Enum(kind.scalar, tuple(Variant(v.name, v.number, _layouts(v.fields)) for v in kind.variants))
    return kind


def _layouts(fields: tuple[Field, ...]) -> tuple[Field, ...]:
    return tuple(Field("_" if f.is_gap else f.name, layout(f.kind), f.offset) for f in fields)


def gap(size: int) -> Field:
    """A field that fills so many bytes."""
    return Field("_", Array(Scalar("u8"), size))


def plain(kind: Kind) -> Kind:
    """The same bytes, by the kinds that NumPy and ctypes know: numbers, arrays and structs.

    Two trees with an equal plain text can stand for each other where only the layout is known.

    >>> plain(Text(3)).text()
    '{length:u16,bytes:[u8;3]}'
    """
    if isinstance(kind, (Scalar, NonZero)):
        return _plain_scalar(kind.scalar)
    if isinstance(kind, Text):
        return laid_out([Field("length", Scalar("u16")), Field("bytes", Array(Scalar("u8"), kind.capacity))])
    if isinstance(kind, Array):
        return Array(plain(kind.of), kind.length)
    if isinstance(kind, Struct):
        return _plain_struct(kind.fields)
    if isinstance(kind, Option):
        return laid_out([Field("present", Scalar("bool")), Field("value", plain(kind.of))])
    number = _plain_scalar(kind.scalar)
    if kind.room == 0:
        return number
    return laid_out([Field("number", number), Field("rest", Array(Scalar("u8"), kind.room))])


def _plain_struct(fields: tuple[Field, ...]) -> Struct:
    """Adjacent gaps are one: no dtype tells them apart."""
    parts: list[Field] = []
    for field in fields:
        before = parts[-1].kind.size if parts and parts[-1].is_gap else 0
        if not field.is_gap:
            parts.append(Field(field.name, plain(field.kind)))
        elif before:
            parts[-1] = gap(before + field.kind.size)
        elif field.kind.size:
            parts.append(gap(field.kind.size))
    return laid_out(parts)


def _plain_scalar(scalar: str) -> Kind:
    if scalar == "char":
        return Scalar("u32")
    if scalar in ("u128", "i128"):
        return laid_out([Field("low", Scalar("u64")), Field("high", Scalar("u64"))])
    return Scalar(scalar)
