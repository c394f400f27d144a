//! What `#[derive(Message)]` writes of a type: what its fields are called, where they lie, and what they are.

use std::mem::{MaybeUninit, offset_of};
use std::num::{NonZeroI16, NonZeroU32, Wrapping};

use annulus::__private::Encoded;
use annulus::schema::{BadValue, Field, Kind, Schema};
use annulus::{Message, Text};

/// Without `#[repr(C)]`: the compiler has an order of its own.
#[derive(Clone, Copy, Message)]
#[message(name = "quote", version = 3)]
struct Quote {
    live: bool,
    /// Of the best bid,
    /// as "seen" by us.
    #[message(unit = "EUR")]
    bid: f64,
    side: Side,
    r#type: char,
    #[message(name = "id")]
    number: Option<NonZeroU32>,
    name: Text<6>,
    _gap: [u8; 5],
}

#[derive(Clone, Copy, Message)]
#[repr(i16)]
enum Side {
    Buy = -7,
    #[message(name = "sell")]
    Sell,
    Ärger = 300,
}

#[derive(Clone, Copy, Message)]
#[repr(C)]
struct Matrix([[u16; 3]; 2], #[message(name = "_gap")] [u8; 4], Inner, [Inner; 2]);

#[derive(Clone, Copy, Message)]
#[repr(transparent)]
struct Inner<T: Copy = Wrapping<i64>>(T);

/// All that `packed` can have.
#[derive(Clone, Copy, Message)]
#[message(packed)]
struct Packed<T, const N: usize> {
    first: u8,
    #[message(unit = "ns")]
    value: T,
    maybe: Option<T>,
    #[allow(clippy::option_option, reason = "that is what is tested")]
    twice: Option<Option<u8>>,
    pair: (u8, Option<u32>),
    all: [Option<(u8, T)>; N],
    order: Order,
    not_zero: NonZeroI16,
    nothing: (),
}

#[derive(Clone, Copy, Message)]
enum Order {
    Limit {
        price: f64,
        /// How many.
        quantity: u32,
    },
    Market(u32),
    Cancel,
}

#[derive(Clone, Copy, Message)]
struct Unit;

#[derive(Clone, Copy, Message)]
#[repr(C)]
struct OfAnother {
    before: u32,
    #[message(bytes)]
    complex: Complex,
}

#[derive(Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Complex {
    real: f32,
    imaginary: f32,
}

/// A type can derive both.
#[derive(Clone, Copy, Message, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct AlsoPod {
    price: f64,
    symbol: u64,
}

/// Another one with the name and the fields.
mod elsewhere {
    #[derive(Clone, Copy, annulus::Message)]
    #[repr(C)]
    pub(super) struct AlsoPod {
        pub(super) price: f64,
        /// With a comment.
        #[message(unit = "number")]
        pub(super) symbol: u64,
    }
}

#[test]
fn schema_tells_names_and_kinds() {
    let said = [
        (u8::SCHEMA, "u8"),
        (<[[f32; 2]; 3]>::SCHEMA, "[[f32;2];3]"),
        (usize::SCHEMA, if cfg!(target_pointer_width = "64") { "u64" } else { "u32" }),
        (NonZeroU32::SCHEMA, "nonzero u32"),
        (Text::<12>::SCHEMA, "text 12"),
        (Side::SCHEMA, "Side:enum i16{Buy=-7,sell=-6,Ärger=300}"),
        (Unit::SCHEMA, "Unit{}"),
        (Matrix::SCHEMA, "Matrix{0:[[u16;3];2],_gap:[u8;4],2:{0:i64},3:[{0:i64};2]}"),
        (Inner::<char>::SCHEMA, "Inner{0:char}"),
        (OfAnother::SCHEMA, "OfAnother{before:u32,complex:[u8;8]}"),
        (AlsoPod::SCHEMA, "AlsoPod{price:f64,symbol:u64}"),
        (
            Order::SCHEMA,
            "Order:enum u8{Limit=0{price:f64,quantity:u32\"How many.\"},Market=1{0:u32},Cancel=2}",
        ),
        (
            Packed::<i16, 2>::SCHEMA,
            "Packed{first:u8,value:i16(ns),maybe:i16?,twice:{0:u8?}?,pair:{0:u8,1:u32?},all:[{0:u8,1:i16}?;2],\
             order:enum u8{Limit=0{price:f64,quantity:u32\"How many.\"},Market=1{0:u32},Cancel=2},\
             not_zero:nonzero i16,nothing:{}}",
        ),
    ];
    for (schema, text) in said {
        assert_eq!(schema.to_string(), text);
    }
}

/// Also where the compiler chose the order: of the text it is that of the bytes.
#[test]
fn text_says_all_of_a_derived_type() {
    let all = [
        Quote::SCHEMA,
        Matrix::SCHEMA,
        Packed::<u128, 3>::SCHEMA,
        Packed::<Quote, 0>::SCHEMA,
        Order::SCHEMA,
        OfAnother::SCHEMA,
        <[AlsoPod; 2]>::SCHEMA,
    ];
    for schema in all {
        let text = schema.to_string();
        let parsed: Schema = text.parse().unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(parsed.to_string(), text);
        assert_eq!((parsed.differences(schema), parsed.size()), (Vec::new(), schema.size()));
        assert_eq!(parsed.fingerprint(), schema.fingerprint());
    }
}

#[test]
fn field_is_where_the_compiler_put_it() {
    let field = |name: &str| field_of(Quote::SCHEMA, name);
    assert_eq!((Quote::SCHEMA.version, Quote::SCHEMA.size()), (3, size_of::<Quote>()));
    assert_eq!(field("live").offset, offset_of!(Quote, live));
    assert_eq!(field("bid").offset, offset_of!(Quote, bid));
    assert_eq!(field("type").offset, offset_of!(Quote, r#type));
    assert_eq!(field("id").offset, offset_of!(Quote, number));
    assert_eq!(field("name").offset, offset_of!(Quote, name));
    assert_eq!((&*field("bid").unit, &*field("bid").comment), ("EUR", "Of the best bid, as \"seen\" by us."));
    assert!(field("_gap").is_padding() && !field("live").is_padding());
}

#[test]
fn field_of_a_packed_type_is_where_it_is_written() {
    let value = Packed {
        first: 1,
        value: 0x0203_u16,
        maybe: Some(0x0405),
        twice: Some(None),
        pair: (6, Some(0x0708_090A)),
        all: [None, Some((11, 0x0C0D))],
        order: Order::Market(0x0E0F_1011),
        not_zero: NonZeroI16::MIN,
        nothing: (),
    };
    let (bytes, schema) = (bytes_of(&value), Packed::<u16, 2>::SCHEMA);
    assert_eq!(bytes.len(), schema.size());
    let field = |name: &str| {
        let field = field_of(schema, name);
        &bytes[field.offset..][..field.kind.size()]
    };
    assert_eq!(field("first"), [1]);
    assert_eq!(field("value"), 0x0203_u16.to_ne_bytes());
    assert_eq!(field("maybe"), [&[1], &0x0405_u16.to_ne_bytes()[..]].concat());
    assert_eq!(field("twice"), [1, 0, 0]);
    assert_eq!(field("pair"), [&[6, 1], &0x0708_090A_u32.to_ne_bytes()[..]].concat());
    assert_eq!(field("all"), [&[0, 0, 0, 0, 1, 11], &0x0C0D_u16.to_ne_bytes()[..]].concat());
    assert_eq!(field("order"), [&[1], &0x0E0F_1011_u32.to_ne_bytes()[..], &[0; 8]].concat());
    assert_eq!(field("not_zero"), i16::MIN.to_ne_bytes());
    assert_eq!(field("nothing"), []);
}

/// Each byte of a message in turn is given each value: what is a message then comes out of it, and what is
/// none is told. (`decode` of what is said to be one is sound: Miri runs this.)
#[test]
fn bytes_are_a_value_or_are_refused() {
    let quote = Quote {
        live: true,
        bid: 1.5,
        side: Side::Buy,
        r#type: 'ß',
        number: None,
        name: "roof".try_into().unwrap(),
        _gap: [0; 5],
    };
    const { assert!(!Quote::ANY_BITS && AlsoPod::ANY_BITS && <[Wrapping<u16>; 4]>::ANY_BITS) };
    let (bytes, at) = (bytes_of(&quote), |name: &str| field_of(Quote::SCHEMA, name).offset);
    assert!(is_value::<Quote>(&bytes));
    let with = |name: &str, value: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[at(name)..][..value.len()].copy_from_slice(value);
        is_value::<Quote>(&bytes)
    };
    assert!(with("live", &[0]) && !with("live", &[2]) && with("bid", &[255; 8]) && with("_gap", &[7; 5]));
    for number in -10..310_i16 {
        let is_one = [-7, -6, 300].contains(&number);
        assert_eq!(with("side", &number.to_ne_bytes()), is_one, "{number}");
    }
    assert!(!with("type", &0xD800_u32.to_ne_bytes()) && with("type", &0x10_FFFF_u32.to_ne_bytes()));
    assert!(with("name", &[6, 0]) && !with("name", &[7, 0]) && !with("name", &[1, 0, 0xC3]));
    let packed = Packed::<bool, 1> {
        first: 9,
        value: true,
        maybe: None,
        twice: None,
        pair: (1, None),
        all: [Some((2, false))],
        order: Order::Cancel,
        not_zero: NonZeroI16::MIN,
        nothing: (),
    };
    let (bytes, schema) = (bytes_of(&packed), Packed::<bool, 1>::SCHEMA);
    assert!(is_value::<Packed<bool, 1>>(&bytes));
    let with = |name: &str, value: &[u8]| {
        let mut bytes = bytes.clone();
        bytes[field_of(schema, name).offset..][..value.len()].copy_from_slice(value);
        is_value::<Packed<bool, 1>>(&bytes)
    };
    assert!(with("first", &[255]) && !with("value", &[3]));
    assert!(with("maybe", &[0, 3]) && !with("maybe", &[1, 3]) && !with("maybe", &[2]));
    assert!(with("twice", &[1, 1, 9]) && !with("twice", &[1, 2]) && with("twice", &[0, 2]));
    assert!(!with("all", &[1, 0, 2]) && with("all", &[0, 0, 2]) && !with("all", &[3]));
    assert!(with("order", &[0]) && with("order", &[1]) && !with("order", &[3]) && !with("not_zero", &[0, 0]));
    assert_eq!(BadValue::find(<[(); usize::MAX]>::SCHEMA, &[]), None, "in no time");
    let bad = BadValue::find(<[bool; 2]>::SCHEMA, &[1, 2]).unwrap();
    assert_eq!(format!("{bad:?}"), "BadValue { field: None, number: 2, offset: 1, .. }");
    const { assert!(!Packed::<u8, 1>::ANY_BITS && !Order::ANY_BITS && !OfAnother::ANY_BITS) };
}

#[test]
fn types_of_two_crates_have_one_layout() {
    let (ours, theirs) = (AlsoPod::SCHEMA, elsewhere::AlsoPod::SCHEMA);
    assert_eq!((ours.differences(theirs), ours.fingerprint()), (Vec::new(), theirs.fingerprint()));
    let message = elsewhere::AlsoPod { price: 1.5, symbol: 7 };
    let received: AlsoPod = bytemuck::pod_read_unaligned(&bytes_of(&message));
    assert_eq!((received.price, received.symbol), (message.price, message.symbol));
}

fn field_of<'s>(schema: &'s Schema, name: &str) -> &'s Field {
    let Kind::Struct(fields) = &*schema.kind else { panic!("no struct: {schema}") };
    fields.iter().find(|field| field.name == name).unwrap_or_else(|| panic!("no {name}: {schema}"))
}

fn is_value<T: Message>(bytes: &[u8]) -> bool {
    assert_eq!(bytes.len(), T::SCHEMA.size());
    // SAFETY: there are as many, which have values.
    let is_value = unsafe { T::is_value(bytes.as_ptr()) };
    assert_eq!(BadValue::find(T::SCHEMA, bytes).is_none(), is_value, "{}: {bytes:?}", T::SCHEMA);
    if is_value {
        let mut wire = MaybeUninit::<T::Wire>::uninit();
        // SAFETY: it has room for as many bytes, which are a message.
        let message = unsafe {
            wire.as_mut_ptr().cast::<u8>().copy_from(bytes.as_ptr(), bytes.len());
            T::decode(wire.as_ptr())
        };
        // (What a variant leaves, or an option that is none, it may have as any bytes.)
        assert!(is_value_again(&message));
    }
    is_value
}

fn is_value_again<T: Message>(message: &T) -> bool {
    BadValue::find(T::SCHEMA, &bytes_of(message)).is_none()
}

/// A message as it lies in a ring.
fn bytes_of<T: Message>(message: &T) -> Vec<u8> {
    let mut space = MaybeUninit::uninit();
    let wire = &raw const *message.encode(&mut space);
    // SAFETY: all bytes of a wire have a value.
    unsafe { std::slice::from_raw_parts(wire.cast::<u8>(), size_of::<T::Wire>()) }.to_vec()
}
