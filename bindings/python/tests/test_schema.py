"""Schemas as text, as dtypes, and of dtypes and ctypes structures."""

from __future__ import annotations

import ctypes
import json
import pickle
from typing import Any

import numpy as np
import pytest

import annulus
from annulus import Schema, _kinds, schema

QUOTE = 'quote@2{bid:f64(EUR)"Of the best bid.",ask:f64,symbol:text 12,side:enum u8{buy=0,sell=1},live:bool}'


def test_literal_json_gives_tree_and_its_text() -> None:
    side = {
        "kind": "enum",
        "scalar": "u8",
        "variants": [
            {"name": "buy", "number": 0, "fields": []},
            {
                "name": "limit",
                "number": -3,
                "fields": [
                    {
                        "name": "price",
                        "kind": {"kind": "nonzero", "scalar": "u32"},
                        "unit": None,
                        "comment": None,
                        "offset": 0,
                    }
                ],
            },
        ],
    }
    node = {
        "name": "order",
        "version": 3,
        "size": 24,
        "kind": "struct",
        "fields": [
            {"name": "side", "kind": side, "unit": None, "comment": None, "offset": 3},
            {
                "name": "name",
                "kind": {"kind": "text", "capacity": 1},
                "unit": "EUR",
                "comment": 'a "b" \\',
                "offset": 0,
            },
            {
                "name": "levels",
                "kind": {
                    "kind": "array",
                    "of": {"kind": "option", "of": {"kind": "scalar", "scalar": "f32"}},
                    "length": 2,
                },
                "unit": None,
                "comment": None,
                "offset": 8,
            },
        ],
    }
    root = _kinds.root_from_json(json.loads(json.dumps(node)))
    text = r'order@3{name:text 1(EUR)"a \"b\" \\",side:enum u8{buy=0,limit=-3{price:nonzero u32}},levels:[f32?;2]}'
    assert root.text() == text
    assert root.kind.size == 3 + 5 + 10


def test_unknown_kind_of_json_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="'matrix'"):
        _kinds.from_json({"kind": "matrix"})


@pytest.mark.parametrize(
    "text",
    [
        QUOTE,
        "u64",
        "ticks:u64",
        "@3:text 0",
        "{}",
        "{0:u8?}?",
        "[[f64;3];2]",
        "{_gap:[u8;3],a:u32}",
        "enum i8{a=-128,b=127{x:f64,y:text 3},c=0{z:u8}}",
        "{a:u128,b:i128,c:char,d:nonzero i64}",
        r'{a:u8"a \"quoted\" \\ word"}',
        "{größe:f32(µm)}",
    ],
)
def test_text_of_tree_is_canonical_text(text: str) -> None:
    parsed = Schema(text)
    assert parsed.text == text
    assert parsed._root.text() == text
    assert parsed.size == parsed.kind.size == parsed.dtype.itemsize
    assert pickle.loads(pickle.dumps(parsed)) == parsed
    assert hash(parsed) == hash(Schema(text))


def test_fields_keep_names_units_and_comments() -> None:
    found = [(f.name, f.offset, f.unit, f.comment, str(f.kind)) for f in Schema(QUOTE).fields]
    assert found[0] == ("bid", 0, "EUR", "Of the best bid.", "f64")
    assert found[2] == ("symbol", 16, "", "", "text 12")
    assert found[3] == ("side", 30, "", "", "enum u8{buy=0,sell=1}")
    assert (Schema(QUOTE).name, Schema(QUOTE).version, Schema(QUOTE).size) == ("quote", 2, 32)


def test_bad_text_says_where_it_is_wrong() -> None:
    with pytest.raises(annulus.SchemaError, match="f65"):
        Schema("{bid:f65}")
    with pytest.raises(ValueError):
        Schema("{bid:f65}")
    with pytest.raises(TypeError, match="Schema.of"):
        Schema(np.dtype("f8"))  # type: ignore[arg-type]


def test_dtype_has_offsets_of_fields() -> None:
    dtype = Schema(QUOTE).dtype
    assert dtype.names == ("bid", "ask", "symbol", "side", "live")
    places: Any = dtype.fields
    assert [places[field.name][1] for field in Schema(QUOTE).fields] == [0, 8, 16, 30, 31]
    assert dtype["symbol"] == np.dtype([("length", "u2"), ("bytes", "S12")])


def test_gap_is_padding() -> None:
    dtype = Schema("{a:u8,_gap:[u8;3],b:u32,_:u16}").dtype
    assert dtype.names == ("a", "b")
    assert dtype.itemsize == 10
    parts: Any = {"names": ["a", "b"], "formats": ["u1", "u4"], "offsets": [0, 4], "itemsize": 10}
    assert dtype == np.dtype(parts)


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        ("f8", "f64"),
        ("?", "bool"),
        (np.uint16, "u16"),
        ([("a", "i1"), ("b", "<u8")], "{a:i8,b:u64}"),
        ([("a", "f4", (2, 3))], "{a:[[f32;3];2]}"),
        ([("a", [("b", "u1")], 2)], "{a:[{b:u8};2]}"),
        (np.dtype([("a", "u1"), ("b", "u4")], align=True), "{a:u8,_:[u8;3],b:u32}"),
        (np.dtype([("a", "u4"), ("b", "u1")], align=True), "{a:u32,b:u8,_:[u8;3]}"),
        ([("s", "S5"), ("v", "V2"), ("c", "c16")], "{s:[u8;5],v:[u8;2],c:[f64;2]}"),
        ([("t", "M8[ns]"), ("d", "m8[10us]")], "{t:i64(ns),d:i64(10 us)}"),
        ([("t", [("length", "u2"), ("bytes", "S12")])], "{t:text 12}"),
        ([("o", [("present", "?"), ("value", "f8")])], "{o:f64?}"),
        ([("o", [("present", "?"), ("other", "f8")])], "{o:{present:bool,other:f64}}"),
    ],
)
def test_schema_of_dtype(dtype: Any, text: str) -> None:
    assert Schema.of(dtype).text == text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("{a:f64,b:[u16;3],t:text 5,o:{x:u8}?}", None),
        ("{e:enum u16{a=1},c:char,n:nonzero u8}", "{e:u16,c:u32,n:u8}"),
        ("{w:u128}", "{w:{low:u64,high:u64}}"),
        ("{e:enum u8{a=1{x:f64}}}", "{e:{number:u8,rest:[u8;8]}}"),
        ("{_a:u8,_b:u16,c:u8}", "{_:[u8;3],c:u8}"),
    ],
)
def test_dtype_of_schema_fits_it(text: str, plain: str | None) -> None:
    full = Schema(text)
    assert Schema.of(full.dtype).text == (plain or text)
    assert full.fits(full.dtype)
    assert Schema.of(full.dtype).dtype == full.dtype


@pytest.mark.parametrize(
    ("dtype", "words"),
    [
        ([("bid", ">f8")], ["bid", "'>f8'", "'<f8'", "byte order"]),
        ([("a", [("b", ">u4")], 2)], ["a[].b is", "'>u4'"]),
        ([("who", "O")], ["who", "objects"]),
        ([("name", "U4")], ["name", "<U4", "annulus.Text"]),
        ("f2", ["the message", "float16", "'f4' or 'f8'"]),
        (np.longdouble, ["float128", "'f4' or 'f8'"]),
        ({"names": ["a", "b"], "formats": ["u4", "u4"], "offsets": [0, 2]}, ["b", "byte 2", "ends at 4"]),
        ([("_a", "u1")], ["_a", "gap"]),
    ],
)
def test_dtype_that_no_ring_carries_is_refused(dtype: Any, words: list[str]) -> None:
    with pytest.raises(TypeError) as error:
        Schema.of(dtype)
    for word in words:
        assert word in str(error.value)


class Leg(ctypes.Structure):
    _fields_ = [("price", ctypes.c_double), ("size", ctypes.c_int32)]


class Order(ctypes.Structure):
    _fields_ = [
        ("number", ctypes.c_uint8),
        ("legs", Leg * 2),
        ("symbol", ctypes.c_char * 3),
        ("live", ctypes.c_bool),
    ]


def test_schema_of_structure_has_its_padding() -> None:
    made = Schema.of(Order)
    leg = "{price:f64,size:i32,_:[u8;4]}"
    assert made.text == f"Order{{number:u8,_:[u8;7],legs:[{leg};2],symbol:[u8;3],live:bool,_:[u8;4]}}"
    assert made.size == ctypes.sizeof(Order)
    assert made.fits(np.dtype(Order))


def test_schema_of_derived_structure_has_fields_of_both() -> None:
    class More(Leg):
        _fields_ = [("flag", ctypes.c_uint8)]

    assert Schema.of(More).size == ctypes.sizeof(More)
    assert [field.name for field in Schema.of(More).fields] == ["price", "size", "flag"]


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ([("p", ctypes.c_void_p)], ["p is c_void_p", "no pointer"]),
        ([("p", ctypes.POINTER(ctypes.c_int))], ["p is LP_c_int"]),
        ([("b", ctypes.c_uint32, 3)], ["b is a bit field of 3 bits"]),
        ([("c", ctypes.c_wchar)], ["c_wchar"]),
        ([("u", type("U", (ctypes.Union,), {"_fields_": [("a", ctypes.c_int)]}))], ["u is U", "no union"]),
    ],
)
def test_structure_that_no_ring_carries_is_refused(fields: list[Any], words: list[str]) -> None:
    made = type("Bad", (ctypes.Structure,), {"_fields_": fields})
    with pytest.raises(TypeError) as error:
        Schema.of(made)
    for word in words:
        assert word in str(error.value)


def test_structure_of_other_byte_order_is_refused() -> None:
    class Swapped(ctypes.BigEndianStructure):
        _fields_ = [("a", ctypes.c_uint32)]

    with pytest.raises(TypeError, match="byte order"):
        Schema.of(Swapped)


def test_enums_are_found_by_path() -> None:
    found = Schema("{side:enum u8{buy=0,sell=1},leg:{kind:[enum u8{class=0,_x=1,name=2}?;3]}}").enums
    assert found["side"].sell == 1  # type: ignore[attr-defined]
    assert set(found) == {"side", "leg.kind"}
    assert {v.name: int(v) for v in found["leg.kind"]} == {"class_": 0, "v_x": 1, "name": 2}
    same = Schema("e:enum u8{class=0,class_=1,None=2}").enums[""]
    assert [(v.name, int(v)) for v in same] == [("class_", 0), ("class__", 1), ("None_", 2)]
    assert Schema("side:enum i16{a=-1}").enums[""](-1).name == "a"


def test_name_and_version_can_be_given() -> None:
    assert Schema.of("f8", name="price", version=4).text == "price@4:f64"
    assert Schema.of(Schema(QUOTE), name="").text.startswith("@2{")
    assert Schema.of(Schema(QUOTE)) == Schema(QUOTE)


def test_same_layout_ignores_units_comments_and_names_of_gaps() -> None:
    one = Schema('q{a:f64(EUR)"x",_g:[u8;2],e:enum u8{x=1{u:u8(s)}}}')
    assert one.same_layout(Schema("q{a:f64,_h:[u8;2],e:enum u8{x=1{u:u8}}}"))
    for other in ["r{a:f64,_:[u8;2],e:enum u8{x=1{u:u8}}}", "q{a:f64,_:[u8;2],e:enum u8{x=1{v:u8}}}"]:
        assert not one.same_layout(Schema(other))


def test_text_helpers() -> None:
    dtype = Schema("{s:text 4}").dtype
    messages = np.zeros(3, dtype)
    annulus.set_text(messages["s"], ["añb", "", "a\0\0"])
    assert annulus.text(messages["s"]).tolist() == ["añb", "", "a"]  # NumPy leaves out zeros at the end
    assert annulus.text(messages[2]["s"]) == "a\0\0"
    assert annulus.text(messages[0]["s"]) == "añb"
    annulus.set_text(messages["s"], "xy")
    assert annulus.text(messages["s"]).tolist() == ["xy"] * 3
    with pytest.raises(ValueError, match="'ñññ' has 6 bytes in UTF-8, and there is room for 4"):
        annulus.set_text(messages["s"], ["ñññ", "", ""])
    messages["s"]["bytes"][0] = b"\xff\xfe"
    messages["s"]["length"][0] = 65535
    assert annulus.text(messages["s"])[0] == "\ufffd\ufffd\0\0".rstrip("\0")
    with pytest.raises(TypeError, match="no text"):
        annulus.text(np.zeros(3))


def test_module_schema_shows_kinds() -> None:
    kind = Schema("{a:[u8;2]}").kind
    assert isinstance(kind, schema.Struct)
    assert kind.fields[0].kind == schema.Array(schema.Scalar("u8"), 2)
