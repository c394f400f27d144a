"""`@annulus.message`: dataclasses as messages."""

from __future__ import annotations

import dataclasses
import enum
import struct
from typing import Annotated, Any, Optional

import pytest

import annulus
from annulus import Schema, f64, message, u8, u16, u32


class Side(enum.IntEnum):
    buy = 0
    sell = 1


class Signed(enum.IntEnum):
    down = -1
    up = 300


@message
class Leg:
    price: f64
    size: u32


@message(version=2, frozen=True)
class Quote:
    bid: Annotated[f64, annulus.Unit("EUR"), annulus.Comment('Of the "best" bid.')]
    symbol: Annotated[str, annulus.Text(12)]
    side: Side
    live: bool
    legs: Annotated[list[Leg], annulus.Array(Leg, 2)]
    stop: Optional[f64] = None
    class_: u8 = 0

    def mid(self) -> float:
        return self.bid


@message
class Everything:
    a: annulus.u8
    b: annulus.u16
    c: annulus.u32
    d: annulus.u64
    e: annulus.u128
    f: annulus.i8
    g: annulus.i16
    h: annulus.i32
    i: annulus.i64
    j: annulus.i128
    k: annulus.f32
    m: float
    n: annulus.char
    o: Annotated[annulus.u32, annulus.NonZero()]
    p: Annotated[Side, annulus.EnumOf(annulus.u16)]
    q: Signed
    r: Annotated[str, annulus.Text(3)]
    s: Annotated[bytes, annulus.Text(3)]
    t: Annotated[list[int], annulus.Array(annulus.u16, 2)]
    u: u16 | None
    v: Annotated[float, annulus.Name("lambda")]
    w: Annotated[list[list[int]], annulus.Array(annulus.Array(u8, 2), 2)]


def example() -> Quote:
    return Quote(1.5, "EURUSD", Side.sell, True, [Leg(1.0, 2), Leg(3.0, 4)], 9.5, 7)


def everything() -> Everything:
    return Everything(
        1, 2, 3, 4, 2**128 - 1, -1, -2, -3, -4, -(2**127), 0.5, 2.5, "€", 5, Side.sell, Signed.down, "añ",
        b"\xff\0", [1, 2], 65535, 1.25, [[1, 2], [3, 4]],
    )  # fmt: skip


def test_annotations_make_schema() -> None:
    assert Schema.of(Quote).text == (
        r'Quote@2{bid:f64(EUR)"Of the \"best\" bid.",symbol:text 12,side:enum u8{buy=0,sell=1},live:bool,'
        "legs:[{price:f64,size:u32};2],stop:f64?,class:u8}"
    )
    kinds = {field.name: str(field.kind) for field in Schema.of(Everything).fields}
    assert kinds == {
        "a": "u8", "b": "u16", "c": "u32", "d": "u64", "e": "u128",
        "f": "i8", "g": "i16", "h": "i32", "i": "i64", "j": "i128",
        "k": "f32", "m": "f64", "n": "char", "o": "nonzero u32",
        "p": "enum u16{buy=0,sell=1}", "q": "enum i16{down=-1,up=300}",
        "r": "text 3", "s": "text 3", "t": "[u16;2]", "u": "u16?", "lambda": "f64", "w": "[[u8;2];2]",
    }  # fmt: skip


@pytest.mark.parametrize("sent", [example(), everything(), Leg(1.5, 2)])
def test_bytes_of_message_make_equal_message(sent: Any) -> None:
    packed = annulus.to_bytes(sent)
    assert len(packed) == Schema.of(type(sent)).size
    assert annulus.from_bytes(type(sent), packed) == sent


def test_bytes_are_where_schema_says() -> None:
    packed = annulus.to_bytes(example())
    assert packed[:8] == struct.pack("=d", 1.5)
    assert packed[8:16] == b"\x06\0EURUSD"
    assert packed[22:24] == b"\x01\x01"
    assert packed[24:48] == struct.pack("=dIdI", 1.0, 2, 3.0, 4)
    assert packed[48:] == b"\x01" + struct.pack("=dB", 9.5, 7)


def test_absent_option_is_zeros() -> None:
    packed = annulus.to_bytes(dataclasses.replace(example(), stop=None))
    assert packed[48:57] == bytes(9)
    assert annulus.from_bytes(Quote, packed).stop is None


def test_message_is_dataclass_with_its_options() -> None:
    assert dataclasses.is_dataclass(Quote)
    assert example().mid() == 1.5
    with pytest.raises(dataclasses.FrozenInstanceError):
        example().bid = 2.0  # type: ignore[misc]


def test_slots_and_keywords() -> None:
    @message(slots=True, kw_only=True, name="leg")
    class Local:
        price: f64
        part: Leg

    sent = Local(price=1.5, part=Leg(2.5, 3))
    assert annulus.from_bytes(Local, annulus.to_bytes(sent)) == sent
    assert Schema.of(Local).text == "leg{price:f64,part:{price:f64,size:u32}}"
    assert not hasattr(sent, "__dict__")


def test_dataclass_may_be_decorated() -> None:
    @message
    @dataclasses.dataclass(order=True)
    class Price:
        value: f64

    low, high = list[Any]((Price(1.0), Price(2.0)))
    assert low < high
    assert Schema.of(Price).text == "Price{value:f64}"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"symbol": "thirteen chars"}, ["Quote.symbol", "'thirteen chars'", "14 bytes", "room for 12"]),
        ({"side": 5}, ["Quote.side = 5", "Side"]),
        ({"legs": [Leg(1.0, 2)]}, ["Quote.legs", "1 values", "2"]),
        ({"class_": 256}, ["Quote.class_ = 256", "u8"]),
        ({"class_": "x"}, ["Quote.class_ = 'x'", "u8"]),
        ({"stop": "x"}, ["Quote.stop = 'x'", "f64?"]),
        ({"legs": [Leg(1.0, 2), (3.0, 4)]}, ["Quote.legs"]),
    ],
)
def test_value_that_is_no_message_is_named(changes: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(annulus.MessageError) as error:
        annulus.to_bytes(dataclasses.replace(example(), **changes))
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize(
    ("field", "value"), [("a", -1), ("e", 2**128), ("j", 2**127), ("n", "ab"), ("o", 0), ("q", 0)]
)
def test_numbers_out_of_range_are_named(field: str, value: Any) -> None:
    with pytest.raises(annulus.MessageError, match=f"Everything.{field} = {value!r}"):
        annulus.to_bytes(dataclasses.replace(everything(), **{field: value}))


def test_number_of_flat_message_is_named() -> None:
    with pytest.raises(annulus.MessageError, match="Leg.size = -1 is no u32"):
        annulus.to_bytes(Leg(1.0, -1))


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (int, ["Bad.field", "annulus.i64"]),
        (str, ["Bad.field", "annulus.Text(12)"]),
        (bytes, ["Bad.field", "annulus.Text(12)"]),
        (list[float], ["Bad.field", "annulus.Array"]),
        (dict, ["Bad.field", "dict"]),
        (Annotated[int, annulus.Text(3)], ["Text(3)", "str or bytes"]),
        (Annotated[str, annulus.Text(70000)], ["70000", "65535"]),
        (Annotated[Side, annulus.EnumOf("f32")], ["an integer, as annulus.u16", "'f32'"]),
        (Annotated[Side, annulus.EnumOf(annulus.f32)], ["an integer, as annulus.u16", "f32"]),
        (Annotated[Signed, annulus.EnumOf("u8")], ["from -1 to 300", "u8"]),
        (Annotated[f64, annulus.NonZero()], ["NonZero()", "f64"]),
        (Annotated[list[float], annulus.Array(list, 2)], ["Bad.field[]"]),
        (enum.IntEnum("Empty", {}), ["no variant"]),
        (int | str, ["Bad.field"]),
    ],
)
def test_annotation_that_is_no_field_is_refused(annotation: Any, words: list[str]) -> None:
    bad = type("Bad", (), {"__annotations__": {"field": annotation}, "__module__": __name__})
    with pytest.raises(TypeError) as error:
        message(bad)
    for word in words:
        assert word in str(error.value)


def test_plain_dataclass_is_no_part() -> None:
    @dataclasses.dataclass
    class Plain:
        value: float

    bad = type("Bad", (), {"__annotations__": {"field": Plain}})
    with pytest.raises(TypeError, match="@annulus.message, too"):
        message(bad)


def test_gap_and_field_that_is_no_argument_are_refused() -> None:
    with pytest.raises(TypeError, match="Bad._a: .*gap"):
        message(type("Bad", (), {"__annotations__": {"_a": f64}}))
    made = {"__annotations__": {"a": f64}, "a": dataclasses.field(init=False, default=1.0)}
    with pytest.raises(TypeError, match="Bad.a: .*init=False"):
        message(type("Bad", (), made))


def test_short_forms() -> None:
    text, array = list[Any]((annulus.Text, annulus.Array))  # which checkers of types do not know so
    shorts = {"name": text[3], "names": array[annulus.Text(2), 2]}
    made: Any = message(type("Short", (), {"__annotations__": shorts}))
    assert Schema.of(made).text == "Short{name:text 3,names:[text 2;2]}"
    assert annulus.from_bytes(made, annulus.to_bytes(made("abc", ["d", "ef"]))) == made("abc", ["d", "ef"])


def test_subclass_is_no_message_until_decorated() -> None:
    class More(Leg):
        pass

    with pytest.raises(TypeError, match="no instance"):
        annulus.to_bytes(More(1.0, 2))
    with pytest.raises(TypeError, match="no class"):
        annulus.from_bytes(More, bytes(12))

    @message
    class Third(Leg):
        flag: bool = False

    assert Schema.of(Third).text == "Third{price:f64,size:u32,flag:bool}"
