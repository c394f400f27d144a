//! [`Checker`]: whether bytes are a message, for types that are known at run time. It is made of a schema
//! once, and has only what a message can be wrong in.

use alloc::vec::Vec;

use super::{Field, Kind, Scalar, Schema};

/// Finds out whether bytes that another process has written are a message of a schema: no `bool`, `char`,
/// enum, text, option or integer that is not 0 has a value that is none. It is for types that are known at
/// run time only, such as types of C, and for many messages. [`BadValue::find`](super::BadValue::find) says
/// what is wrong. (Of a field with `#[message(bytes)]` a schema knows only how long it is.)
///
/// ```
/// use annulus::schema::{Checker, Schema};
///
/// let order: Schema = "order{quantity:u8,side:enum u8{buy=0,sell=1}}".parse()?;
/// let checker = Checker::new(&order);
/// assert!(checker.is_message(&[100, 1]) && !checker.is_message(&[100, 2]));
///
/// let quote: Schema = "quote{bid:f64,ask:f64}".parse()?;
/// assert!(Checker::new(&quote).any_bytes_are_messages());
/// # Ok::<(), annulus::schema::SchemaError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Checker {
    size: usize,
    parts: Vec<Part>,
}

/// What is looked at, and where it begins: in the message, or in what it is a part of.
#[derive(Clone, Debug)]
struct Part {
    at: usize,
    of: Of,
}

/// Numbers have so many bytes.
#[derive(Clone, Debug)]
enum Of {
    Bool,
    Char,
    /// A number that is not 0.
    NonZero(usize),
    Text(usize),
    /// A number that is one of these, and then what that one has.
    Enum(usize, Vec<(u128, Vec<Part>)>),
    /// A byte that is 0, or 1 and then this is there.
    Optional(Vec<Part>),
    /// So many, of so many bytes each.
    Array(usize, usize, Vec<Part>),
}

impl Checker {
    /// Makes one. Takes O(fields and variants), however long the arrays are.
    #[must_use]
    pub fn new(schema: &Schema) -> Self {
        Self { size: schema.size(), parts: parts_of(&schema.kind) }
    }

    /// How many bytes a message has.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether any bytes are a message, so that none has to be looked at.
    #[must_use]
    pub fn any_bytes_are_messages(&self) -> bool {
        self.parts.is_empty()
    }

    /// Whether these bytes begin with a message. Takes O(bytes), and O(variants) for each enum. Allocates
    /// nothing.
    ///
    /// # Panics
    ///
    /// If there are fewer bytes than a message has.
    #[must_use]
    pub fn is_message(&self, bytes: &[u8]) -> bool {
        assert!(bytes.len() >= self.size, "{} bytes: a message has {}", bytes.len(), self.size);
        hold(&self.parts, bytes)
    }
}

/// Whether all of them are as they have to be, in what these bytes begin with.
fn hold(parts: &[Part], bytes: &[u8]) -> bool {
    parts.iter().all(|part| part.of.holds(&bytes[part.at..]))
}

impl Of {
    fn holds(&self, bytes: &[u8]) -> bool {
        match self {
            Self::Bool => bytes[0] < 2,
            Self::Char => char::from_u32(number(bytes, 4) as u32).is_some(),
            Self::NonZero(size) => number(bytes, *size) != 0,
            Self::Text(most) => {
                let text = bytes[2..][..*most].get(..number(bytes, 2) as usize);
                // (Most text is ASCII, which takes a tenth of the time.)
                text.is_some_and(|text| text.is_ascii() || core::str::from_utf8(text).is_ok())
            }
            Self::Enum(size, variants) => {
                let number = number(bytes, *size);
                let variant = variants.iter().find(|(of, _)| *of == number);
                variant.is_some_and(|(_, parts)| hold(parts, &bytes[*size..]))
            }
            Self::Optional(parts) => bytes[0] == 0 || bytes[0] == 1 && hold(parts, &bytes[1..]),
            Self::Array(count, size, parts) => (0..*count).all(|number| hold(parts, &bytes[number * size..])),
        }
    }
}

/// The number that these bytes begin with, without a sign.
#[inline]
fn number(bytes: &[u8], size: usize) -> u128 {
    match size {
        1 => bytes[0].into(),
        2 => u16::from_ne_bytes(first(bytes)).into(),
        4 => u32::from_ne_bytes(first(bytes)).into(),
        8 => u64::from_ne_bytes(first(bytes)).into(),
        _ => u128::from_ne_bytes(first(bytes)),
    }
}

#[inline]
fn first<const SIZE: usize>(bytes: &[u8]) -> [u8; SIZE] {
    *bytes.first_chunk().expect("a message has as many bytes as its schema says")
}

/// What can be wrong in one of this kind.
fn parts_of(kind: &Kind) -> Vec<Part> {
    let of = match kind {
        Kind::Struct(fields) => return parts_of_fields(fields),
        Kind::Scalar(Scalar::Bool) => Of::Bool,
        Kind::Scalar(Scalar::Char) => Of::Char,
        Kind::Scalar(_) => return Vec::new(),
        Kind::NonZero(scalar) => Of::NonZero(scalar.size()),
        Kind::Text(most) => Of::Text(*most),
        Kind::Array(inner, count) => {
            let parts = parts_of(inner);
            if parts.is_empty() || *count == 0 {
                return Vec::new();
            }
            Of::Array(*count, inner.size(), parts)
        }
        Kind::Enum(scalar, variants) => {
            let size = scalar.size();
            let as_it_lies = |number: i128| {
                u128::from_ne_bytes(number.to_ne_bytes()) << (128 - 8 * size) >> (128 - 8 * size)
            };
            let variants = variants.iter();
            Of::Enum(size, variants.map(|it| (as_it_lies(it.number), parts_of_fields(&it.fields))).collect())
        }
        Kind::Optional(inner) => Of::Optional(parts_of(inner)),
    };
    [Part { at: 0, of }].into()
}

fn parts_of_fields(fields: &[Field]) -> Vec<Part> {
    let parts = fields.iter().flat_map(|field| {
        parts_of(&field.kind).into_iter().map(|part| Part { at: field.offset + part.at, ..part })
    });
    parts.collect()
}
