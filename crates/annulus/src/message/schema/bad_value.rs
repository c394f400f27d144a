//! [`BadValue`]: where bytes are no message, and what is there instead.

use core::fmt;

use super::{Field, Kind, Scalar, Schema};
use crate::sync::seeded;

/// What a process wrote into a ring that is no message: the first field that has a value which its type does
/// not have, and that value.
///
/// ```
/// # #[cfg(feature = "derive")] {
/// use annulus::Message;
/// use annulus::schema::BadValue;
///
/// #[derive(Clone, Copy, Message)]
/// #[repr(u8)]
/// enum Side {
///     Buy,
///     Sell,
/// }
///
/// #[derive(Clone, Copy, Message)]
/// #[repr(C)]
/// struct Order {
///     quantity: u8,
///     side: Side,
/// }
///
/// let bad = BadValue::find(Order::SCHEMA, &[100, 7]).unwrap();
/// assert_eq!((&*bad.field().unwrap().name, bad.number()), ("side", 7));
/// assert_eq!(bad.to_string(), "`side`, at byte 1, is 7: no value of enum u8{Buy=0,Sell=1}");
/// assert_eq!(BadValue::find(Order::SCHEMA, &[100, 1]), None);
/// # let _ = (Side::Buy, Side::Sell, |order: Order| (order.quantity, order.side));
/// # }
/// ```
// Of whole words. In a `Result`, a message lies where this error would lie, and the compiler stores a word of
// the message in pieces where the error has smaller fields. Such a word is slow to load: a read of 32 bytes
// took 5 ns in place of 2.4.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct BadValue {
    /// The innermost one with a name.
    field: Option<&'static Field>,
    number: u64,
    /// The offset, and [`SIGNED`] or [`HIDDEN`].
    place: u64,
}

/// The number is a signed one.
const SIGNED: u64 = 1 << 62;

/// Nobody knows which value it is.
const HIDDEN: u64 = 1 << 63;

impl BadValue {
    /// The first value in `bytes` that no message of this schema has: in a `bool`, a `char`, an enum, a text,
    /// an option, or an integer that is not 0. `None` if there is none. Takes O(bytes).
    ///
    /// # Panics
    ///
    /// If there are fewer bytes than a message has.
    #[must_use]
    pub fn find(schema: &'static Schema, bytes: &[u8]) -> Option<Self> {
        let size = schema.size();
        assert!(bytes.len() >= size, "{} bytes: a message of this schema has {size}", bytes.len());
        Checked { bytes, field: None }.of(&schema.kind, 0)
    }

    /// The first in bytes that are no message of that schema.
    pub(crate) fn of(schema: &'static Schema, bytes: &[u8]) -> Self {
        Self::find(schema, bytes).unwrap_or(Self::hidden())
    }

    /// A value in a field of which only its own type knows what it may be.
    fn hidden() -> Self {
        Self { field: None, number: 0, place: HIDDEN }
    }

    /// The field that has it: the innermost one. `None` if the message has no fields; or if the value is in a
    /// field with `#[message(bytes)]`, because only its type knows what it may be.
    #[must_use]
    pub fn field(&self) -> Option<&'static Field> {
        self.field
    }

    /// What is there: the number of an enum's variant, of a character, or of a `bool`; of a text its length,
    /// if that is too long, or else the first byte that is no UTF-8; of an option the byte that says whether
    /// something is there. (Of an enum of 128 bits, which only the text of a schema has, the lower 64.)
    #[must_use]
    pub fn number(&self) -> i128 {
        let Self { number, .. } = *self;
        let is_signed = self.place & SIGNED != 0;
        if is_signed { i64::from_ne_bytes(number.to_ne_bytes()).into() } else { number.into() }
    }

    /// Where it is, in bytes from the beginning of the message.
    #[must_use]
    pub fn offset(&self) -> usize {
        (self.place & !(SIGNED | HIDDEN)) as usize
    }

    fn is_hidden(&self) -> bool {
        self.place & HIDDEN != 0
    }
}

impl fmt::Debug for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (field, number, offset) = (self.field, self.number(), self.offset());
        f.debug_struct("BadValue")
            .field("field", &field)
            .field("number", &number)
            .field("offset", &offset)
            .finish_non_exhaustive()
    }
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (number, offset) = (self.number(), self.offset());
        match self.field {
            _ if self.is_hidden() => f.write_str("a field of a type of another library has no value of it"),
            Some(Field { name, kind, .. }) => {
                write!(f, "`{name}`, at byte {offset}, is {number}: no value of {}", **kind)
            }
            None => write!(f, "it is {number} at byte {offset}: no value of its type"),
        }
    }
}

/// A message that is checked.
#[derive(Clone, Copy)]
struct Checked<'b> {
    bytes: &'b [u8],
    /// The innermost field.
    field: Option<&'static Field>,
}

impl Checked<'_> {
    fn of(self, kind: &'static Kind, at: usize) -> Option<BadValue> {
        match kind {
            Kind::Scalar(Scalar::Bool) => self.unless(Scalar::U8, at, |number| number < 2),
            Kind::Scalar(Scalar::Char) => self.unless(Scalar::U32, at, |number| {
                u32::try_from(number).is_ok_and(|number| char::from_u32(number).is_some())
            }),
            Kind::Scalar(_) => None,
            Kind::NonZero(scalar) => self.unless(*scalar, at, |number| number != 0),
            Kind::Text(most) => self.text(*most, at),
            Kind::Array(inner, length) => {
                let size = inner.size();
                // (What has no bytes has no bad ones, however long the array is.)
                let length = if size == 0 { 0 } else { *length };
                (0..length).find_map(|index| self.of(inner, at + index * size))
            }
            Kind::Struct(fields) => self.fields(fields, at),
            Kind::Enum(scalar, variants) => {
                let number = self.number(*scalar, at);
                match variants.iter().find(|variant| variant.number == number) {
                    Some(variant) => self.fields(&variant.fields, at + scalar.size()),
                    None => Some(self.bad(*scalar, at)),
                }
            }
            Kind::Optional(inner) => match self.number(Scalar::U8, at) {
                0 => None,
                1 => self.of(inner, at + 1),
                _ => Some(self.bad(Scalar::U8, at)),
            },
        }
    }

    fn fields(self, fields: &'static [Field], at: usize) -> Option<BadValue> {
        fields.iter().find_map(|field| Self { field: Some(field), ..self }.of(&field.kind, at + field.offset))
    }

    fn text(self, most: usize, at: usize) -> Option<BadValue> {
        let length = self.number(Scalar::U16, at);
        let text = usize::try_from(length).ok().filter(|&length| length <= most);
        let Some(length) = text else { return Some(self.bad(Scalar::U16, at)) };
        let text = core::str::from_utf8(&self.bytes[at + 2..][..length]);
        text.err().map(|error| self.bad(Scalar::U8, at + 2 + error.valid_up_to()))
    }

    fn unless(self, scalar: Scalar, at: usize, is_good: impl FnOnce(i128) -> bool) -> Option<BadValue> {
        (!is_good(self.number(scalar, at))).then(|| self.bad(scalar, at))
    }

    fn bad(self, scalar: Scalar, at: usize) -> BadValue {
        let number = self.number(scalar, at);
        // (The integer of an enum in Rust has no more bits, and of other integers only 0 is bad.)
        let number = u64::try_from(number & i128::from(u64::MAX)).unwrap_or_default();
        let number = if seeded!("bad_value_of_another") { 0 } else { number };
        let sign = if scalar.is_signed() { SIGNED } else { 0 };
        BadValue { field: self.field, number, place: at as u64 | sign }
    }

    /// As it lies there, in the order of this processor.
    fn number(self, scalar: Scalar, at: usize) -> i128 {
        let bytes = &self.bytes[at..][..scalar.size()];
        let is_big = cfg!(target_endian = "big");
        let highest = if is_big { bytes[0] } else { bytes[bytes.len() - 1] };
        let mut whole = if scalar.is_signed() && highest >> 7 == 1 { [0xFF; 16] } else { [0; 16] };
        let from = if is_big { whole.len() - bytes.len() } else { 0 };
        whole[from..from + bytes.len()].copy_from_slice(bytes);
        i128::from_ne_bytes(whole)
    }
}
