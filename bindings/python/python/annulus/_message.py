"""``@annulus.message``: a dataclass with the fields of a schema."""

from __future__ import annotations

import dataclasses
import enum
import inspect
import operator
import struct
import sys
import types
import typing
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypeVar, Union, overload

from . import _annulus
from . import _kinds as k

if TYPE_CHECKING:
    from typing_extensions import dataclass_transform
else:

    def dataclass_transform(**_: Any) -> Callable[[Any], Any]:
        """Only for checkers, and not in ``typing`` of Python 3.10."""
        return lambda decorated: decorated


T = TypeVar("T")


class MessageError(_annulus.AnnulusError, ValueError):
    """A value that no message of the ring can have. The text names the field, the value, and what would be
    right."""


MessageError.__module__ = "annulus"

u8 = Annotated[int, k.Scalar("u8")]
u16 = Annotated[int, k.Scalar("u16")]
u32 = Annotated[int, k.Scalar("u32")]
u64 = Annotated[int, k.Scalar("u64")]
u128 = Annotated[int, k.Scalar("u128")]
i8 = Annotated[int, k.Scalar("i8")]
i16 = Annotated[int, k.Scalar("i16")]
i32 = Annotated[int, k.Scalar("i32")]
i64 = Annotated[int, k.Scalar("i64")]
i128 = Annotated[int, k.Scalar("i128")]
f32 = Annotated[float, k.Scalar("f32")]
f64 = Annotated[float, k.Scalar("f64")]
char = Annotated[str, k.Scalar("char")]


@dataclass(frozen=True)
class Text:
    """A text of up to ``capacity`` bytes of UTF-8: ``Annotated[str, Text(12)]``, or ``Text[12]`` for short,
    which checkers of types do not know. ``Annotated[bytes, Text(12)]`` gives the bytes, which may be no
    UTF-8.

    >>> @message
    ... class Name:
    ...     name: Annotated[str, Text(12)]
    >>> schema_text(Name)
    'Name{name:text 12}'
    """

    capacity: int

    def __class_getitem__(cls, capacity: int) -> Any:
        return Annotated[str, cls(capacity)]


@dataclass(frozen=True)
class Array:
    """``length`` values: ``Annotated[list[float], Array(f64, 4)]``, or ``Array[f64, 4]`` for short, which
    checkers of types do not know. A message has a list there, and takes any sequence of that length.

    >>> @message
    ... class Levels:
    ...     prices: Annotated[list[float], Array(f64, 4)]
    >>> schema_text(Levels)
    'Levels{prices:[f64;4]}'
    """

    of: Any
    length: int

    def __class_getitem__(cls, of_and_length: tuple[Any, int]) -> Any:
        of, length = of_and_length
        return Annotated[list[of], cls(of, length)]  # type: ignore[valid-type]


@dataclass(frozen=True)
class EnumOf:
    """An ``IntEnum`` by an integer of this kind: ``Annotated[Side, EnumOf(annulus.u16)]``, or ``"u16"``.
    Without it, an ``IntEnum`` has the smallest integer that holds all its numbers."""

    scalar: Any

    def name(self) -> str:
        """What the schema calls it."""
        marks = typing.get_args(self.scalar) if typing.get_origin(self.scalar) is Annotated else (self.scalar,)
        for mark in marks:
            name = mark.scalar if isinstance(mark, k.Scalar) else mark
            if isinstance(name, str) and name in FORMS and name[0] in "ui":
                return name
        raise TypeError(f"EnumOf takes an integer, as annulus.u16 or 'u16', and not {self.scalar!r}")


@dataclass(frozen=True)
class NonZero:
    """An integer that is not 0: ``Annotated[u32, NonZero()]``."""


@dataclass(frozen=True)
class Unit:
    """What the numbers of a field count: ``Annotated[f64, Unit("EUR")]``."""

    unit: str


@dataclass(frozen=True)
class Comment:
    """What a field means: ``Annotated[f64, Comment("Of the best bid.")]``."""

    comment: str


@dataclass(frozen=True)
class Name:
    """The name of a field in the schema, if that is none in Python: ``Annotated[f64, Name("lambda")]``.
    Without it, a name that Python reserves has ``_`` behind it: ``lambda_`` is ``lambda`` in the schema."""

    name: str


Load = Callable[[Sequence[Any], int], Any]
Dump = Callable[[Any, "list[Any]"], None]


class Part:
    """What a value is, and how it becomes the values of a ``struct`` format, and comes from them.

    ``load(values, at)`` makes it of ``values[at : at + count]``; ``dump(value, values)`` appends them.
    Without these it is its one value.
    """

    def __init__(
        self, kind: k.Kind, form: str, count: int = 1, load: Load | None = None, dump: Dump | None = None
    ):
        self.kind, self.form, self.count = kind, form, count
        self.is_itself = load is None and dump is None
        self.load: Load = load or (lambda values, at: values[at])
        self.dump: Dump = dump or (lambda value, values: values.append(value))


FORMS = {
    "u8": "B", "u16": "H", "u32": "I", "u64": "Q", "i8": "b", "i16": "h", "i32": "i", "i64": "q",
    "f32": "f", "f64": "d", "bool": "?",
}  # fmt: skip


def _scalar(scalar: str) -> Part:
    kind = k.Scalar(scalar)
    if scalar == "char":

        def dump_char(value: str, values: list[Any]) -> None:
            values.append(ord(value))

        return Part(kind, "I", 1, lambda values, at: chr(values[at]), dump_char)
    if scalar in ("u128", "i128"):
        signed = scalar == "i128"
        order: Any = sys.byteorder

        def load(values: Sequence[Any], at: int) -> int:
            return int.from_bytes(values[at], order, signed=signed)

        def dump(value: int, values: list[Any]) -> None:
            values.append(value.to_bytes(16, order, signed=signed))

        return Part(kind, "16s", 1, load, dump)
    return Part(kind, FORMS[scalar])


def _nonzero(part: Part) -> Part:
    if not isinstance(part.kind, k.Scalar) or part.kind.scalar[0] not in "ui":
        raise TypeError(f"NonZero() is for integers, such as Annotated[u32, NonZero()], not for {part.kind}")

    def dump(value: int, values: list[Any]) -> None:
        if value == 0:
            raise ValueError("it is 0, and its kind is an integer that is not 0")
        part.dump(value, values)

    return Part(k.NonZero(part.kind.scalar), part.form, 1, part.load, dump)


def _text(capacity: int, of: Any) -> Part:
    if of not in (str, bytes):
        raise TypeError(f"Text({capacity}) is for str or bytes, not for {of!r}")
    if not 0 <= capacity <= 65535:
        raise TypeError(f"Text({capacity}): a text has room for 0 to 65535 bytes")

    def load(values: Sequence[Any], at: int) -> Any:
        found = values[at + 1][: values[at]]
        return found if of is bytes else found.decode()

    def dump(value: Any, values: list[Any]) -> None:
        encoded = value.encode() if isinstance(value, str) else bytes(value)
        if len(encoded) > capacity:
            raise ValueError(f"{value!r} has {len(encoded)} bytes in UTF-8, and there is room for {capacity}")
        values += (len(encoded), encoded)

    return Part(k.Text(capacity), f"H{capacity}s", 2, load, dump)


def _array(of: Part, length: int) -> Part:
    if length < 0:
        raise TypeError(f"an array has 0 or more values, not {length}")
    step = of.count

    def load(values: Sequence[Any], at: int) -> list[Any]:
        if of.is_itself:
            return list(values[at : at + length])
        return [of.load(values, at + step * i) for i in range(length)]

    def dump(value: Sequence[Any], values: list[Any]) -> None:
        if len(value) != length:
            raise ValueError(f"it has {len(value)} values, and the array has {length}")
        if of.is_itself:
            values.extend(value)
            return
        for item in value:
            of.dump(item, values)

    # (`3d` is `ddd`, and a long array has a short text.)
    form = f"{length}{of.form}" if of.form in FORMS.values() else of.form * length
    return Part(k.Array(of.kind, length), form, step * length, load, dump)


def _option(of: Part) -> Part:
    blank = struct.unpack(f"={of.form}", bytes(of.kind.size))

    def load(values: Sequence[Any], at: int) -> Any:
        return of.load(values, at + 1) if values[at] else None

    def dump(value: Any, values: list[Any]) -> None:
        values.append(value is not None)
        if value is None:
            values.extend(blank)
        else:
            of.dump(value, values)

    return Part(k.Option(of.kind), "?" + of.form, 1 + of.count, load, dump)


def _enum(of: type[enum.IntEnum], scalar: str | None) -> Part:
    numbers = [int(variant) for variant in of]
    if not numbers:
        raise TypeError(f"{of.__name__} has no variant")
    choices = [scalar] if scalar else ["u8", "u16", "u32", "u64", "i8", "i16", "i32", "i64"]
    fitting = [s for s in choices if s in FORMS and s[0] in "ui" and _holds(s, numbers)]
    if not fitting:
        raise TypeError(
            f"{of.__name__} has numbers from {min(numbers)} to {max(numbers)}: no {' or '.join(choices)}"
        )
    kind = k.Enum(fitting[0], tuple(k.Variant(k.unescaped(v.name), int(v)) for v in of))

    def dump(value: Any, values: list[Any]) -> None:
        values.append(int(of(value)))

    return Part(kind, FORMS[fitting[0]], 1, lambda values, at: of(values[at]), dump)


def _holds(scalar: str, numbers: list[int]) -> bool:
    least, greatest = k.limits(scalar)
    return least <= min(numbers) and max(numbers) <= greatest


def part_of(annotation: Any, where: str) -> tuple[Part, tuple[Any, ...]]:
    """What an annotation says, and its marks. ``where`` names it in errors."""
    of: Any = annotation
    marks: tuple[Any, ...] = ()
    if typing.get_origin(annotation) is Annotated:
        of, *rest = typing.get_args(annotation)
        marks = tuple(rest)
    if isinstance(annotation, (Text, Array)):  # in an array
        of, marks = str if isinstance(annotation, Text) else list, (annotation,)
    try:
        part = _marked(of, marks, where)
    except TypeError as error:
        if str(error).startswith(where):
            raise
        raise TypeError(f"{where}: {error}") from None
    if any(isinstance(mark, NonZero) for mark in marks):
        part = _nonzero(part)
    return part, marks


def _marked(of: Any, marks: tuple[Any, ...], where: str) -> Part:
    for mark in marks:
        if isinstance(mark, k.Scalar):
            return _scalar(mark.scalar)
        if isinstance(mark, Text):
            return _text(mark.capacity, of)
        if isinstance(mark, Array):
            return _array(part_of(mark.of, f"{where}[]")[0], mark.length)
        if isinstance(mark, EnumOf):
            if not (isinstance(of, type) and issubclass(of, enum.IntEnum)):
                raise TypeError(f"EnumOf is for an IntEnum, not for {of!r}")
            return _enum(of, mark.name())
    return _unmarked(of, where)


def _unmarked(of: Any, where: str) -> Part:
    if is_message(of):
        return of.__annulus_message__.part  # type: ignore[no-any-return]
    if typing.get_origin(of) in (Union, types.UnionType):
        others = [arg for arg in typing.get_args(of) if arg is not type(None)]
        if len(others) == 1:
            return _option(part_of(others[0], where)[0])
    if isinstance(of, type) and issubclass(of, enum.IntEnum):
        return _enum(of, None)
    if of is bool:
        return _scalar("bool")
    if of is float:
        return _scalar("f64")
    if dataclasses.is_dataclass(of):
        raise TypeError(f"{of} is a dataclass: decorate it by @annulus.message, too")
    instead = {
        int: "an int has no size: use annulus.i64, annulus.u32, …",
        str: "a str has no size: use Annotated[str, annulus.Text(12)]",
        bytes: "bytes have no size: use Annotated[bytes, annulus.Text(12)] or annulus.Array(annulus.u8, 12)",
        list: "a list has no size: use Annotated[list[float], annulus.Array(annulus.f64, 4)]",
    }
    hint = instead.get(
        typing.get_origin(of) or of, "use annulus.f64, annulus.u32, …, bool, an IntEnum, a message"
    )
    raise TypeError(f"{of!r} can't be a part of a message: {hint}")


class Message(Generic[T]):
    """What ``@annulus.message`` knows of its class: the schema, and how bytes become an instance."""

    def __init__(self, of: type[T], name: str, version: int, locals_: dict[str, Any]) -> None:
        hints = typing.get_type_hints(of, localns=locals_, include_extras=True)
        self.of, self.names, self.parts = of, [], []
        fields: list[k.Field] = []
        for each in dataclasses.fields(of):  # type: ignore[arg-type]
            where = f"{of.__name__}.{each.name}"
            if each.name.startswith("_"):
                raise TypeError(
                    f"{where}: a name that begins with '_' is for a gap, whose bytes mean nothing"
                )
            if not each.init:
                raise TypeError(
                    f"{where}: each field of a message is an argument of its class, so no init=False"
                )
            part, marks = part_of(hints[each.name], where)
            name_of, unit, comment = k.unescaped(each.name), "", ""
            for mark in marks:
                name_of = mark.name if isinstance(mark, Name) else name_of
                unit = mark.unit if isinstance(mark, Unit) else unit
                comment = mark.comment if isinstance(mark, Comment) else comment
            fields.append(k.Field(name_of, part.kind, 0, unit, comment))
            self.names.append(each.name)
            self.parts.append(part)
        self.by_keyword = any(each.kw_only for each in dataclasses.fields(of))  # type: ignore[arg-type]
        self.root = k.Root(k.laid_out(fields), name, version)
        self.struct = struct.Struct("=" + "".join(part.form for part in self.parts))
        count = sum(part.count for part in self.parts)
        self.part = Part(self.root.kind, self.struct.format[1:], count, self._load, self._dump)
        self.values = operator.attrgetter(*self.names) if len(self.names) > 1 else None
        self.is_flat = (
            self.values is not None and all(part.is_itself for part in self.parts) and not self.by_keyword
        )

    def unpack(self, message: bytes) -> T:
        """The instance of a message's bytes."""
        values = self.struct.unpack(message)
        return self.of(*values) if self.is_flat else self._load(values, 0)

    def pack(self, message: T) -> bytes:
        """The bytes of an instance. A ``MessageError`` names the field that can't be sent, and its value."""
        if not isinstance(message, self.of):
            raise TypeError(f"the messages of this ring are {self.of.__name__}, not {message!r}")
        values: list[Any] = []
        try:
            if self.is_flat and self.values:
                return self.struct.pack(*self.values(message))
            self._dump(message, values)
            return self.struct.pack(*values)
        except (struct.error, OverflowError):
            self._explain(message)
            raise

    def _load(self, values: Sequence[Any], at: int) -> T:
        loaded = []
        for part in self.parts:
            loaded.append(part.load(values, at))
            at += part.count
        return self.of(**dict(zip(self.names, loaded))) if self.by_keyword else self.of(*loaded)

    def _dump(self, message: T, values: list[Any]) -> None:
        for name, part in zip(self.names, self.parts):
            value = getattr(message, name)
            try:
                part.dump(value, values)
            except (ValueError, TypeError, AttributeError, OverflowError) as error:
                raise MessageError(f"{self.of.__name__}.{name} = {value!r}: {error}") from None

    def _explain(self, message: T) -> None:
        for name, part in zip(self.names, self.parts):
            value, values = getattr(message, name), list[Any]()
            try:
                part.dump(value, values)
                struct.pack(f"={part.form}", *values)
            except (struct.error, OverflowError) as error:
                text = f"{self.of.__name__}.{name} = {value!r} is no {part.kind}: {error}"
                raise MessageError(text) from None


def is_message(what: Any) -> bool:
    """Whether it is a class that ``@annulus.message`` has made, and no subclass of one."""
    return isinstance(what, type) and "__annulus_message__" in what.__dict__


def root_of(of: Any) -> k.Root:
    """The schema of a message class."""
    return of.__annulus_message__.root  # type: ignore[no-any-return]


def schema_text(of: type) -> str:
    """The text of the schema of a message class."""
    return root_of(of).text()


@overload
def message(of: type[T], /) -> type[T]: ...
@overload
def message(
    *,
    name: str | None = None,
    version: int = 0,
    frozen: bool = False,
    slots: bool = False,
    kw_only: bool = False,
) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(field_specifiers=(dataclasses.field,))
def message(
    of: type[Any] | None = None, /, *, name: str | None = None, version: int = 0, **options: bool
) -> Any:
    """Makes a dataclass whose instances are messages. Its annotations say what the fields are:

    =============================================  ==================================================
    annotation                                     in the schema
    =============================================  ==================================================
    ``annulus.f64``, ``annulus.u32``, …            the same
    ``bool``, ``float``                            ``bool``, ``f64``
    ``Annotated[str, annulus.Text(12)]``           ``text 12``
    ``Annotated[list[float], Array(f64, 4)]``      ``[f64;4]``
    another message                                its fields
    a subclass of ``enum.IntEnum``                 ``enum u8{…}``; see :class:`annulus.EnumOf` for ``u16``
    ``annulus.f64 | None``                         ``f64?``
    ``Annotated[annulus.f64, annulus.Unit("ms")]`` ``f64(ms)``; so with :class:`annulus.Comment`
    =============================================  ==================================================

    >>> import enum
    >>> class Side(enum.IntEnum):
    ...     buy = 0
    ...     sell = 1
    >>> @message(version=2)
    ... class Quote:
    ...     bid: Annotated[f64, Unit("EUR")]
    ...     symbol: Annotated[str, Text(12)]
    ...     side: Side
    >>> schema_text(Quote)
    'Quote@2{bid:f64(EUR),symbol:text 12,side:enum u8{buy=0,sell=1}}'
    >>> to_bytes(Quote(1.5, "EURUSD", Side.sell))[:10]
    b'\\x00\\x00\\x00\\x00\\x00\\x00\\xf8?\\x06\\x00'
    >>> from_bytes(Quote, to_bytes(Quote(1.5, "EURUSD", Side.sell)))
    Quote(bid=1.5, symbol='EURUSD', side=<Side.sell: 1>)

    ``name`` is the name of the type in the schema, by default the name of the class: programs in other
    languages take only messages of a type with this name. The other options are as in
    ``dataclasses.dataclass``.
    """
    frame = inspect.currentframe()
    locals_ = dict(frame.f_back.f_locals) if frame and frame.f_back else {}

    def decorate(decorated: type[Any]) -> type[Any]:
        made = decorated
        if "__dataclass_fields__" not in decorated.__dict__:
            made = dataclasses.dataclass(**options)(decorated)
        known = Message(
            made, made.__name__ if name is None else name, version, {**locals_, made.__name__: made}
        )
        made.__annulus_message__ = known
        return made

    return decorate if of is None else decorate(of)


def to_bytes(message: Any) -> bytes:
    """The bytes of an instance of a message class, as they lie in a ring."""
    if not is_message(type(message)):
        raise TypeError(f"{message!r} is no instance of a class with @annulus.message")
    return type(message).__annulus_message__.pack(message)  # type: ignore[no-any-return]


def from_bytes(of: type[T], message: bytes) -> T:
    """The instance of a message class that these bytes are."""
    if not is_message(of):
        raise TypeError(f"{of!r} is no class with @annulus.message")
    return of.__annulus_message__.unpack(message)  # type: ignore[attr-defined, no-any-return]
