//! [`Schema`]: what a message is made of, so that a program that does not know its type can read it.

mod bad_value;
#[cfg(feature = "schema")]
mod checker;
#[cfg(feature = "schema")]
mod compare;
#[cfg(feature = "schema")]
mod parse;
#[cfg(all(test, feature = "schema", not(annulus_loom)))]
mod tests;
mod text;

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::vec::Vec;
use core::hash::{Hash, Hasher};
use core::ops::Deref;

pub use bad_value::BadValue;
#[cfg(feature = "schema")]
pub use {
    checker::Checker,
    compare::{Difference, Fingerprint},
    parse::SchemaError,
};

/// What a message is made of: its name, its fields, where each of them lies, and of which kind it is.
///
/// It describes the bytes that lie in a ring. They have no padding, so each byte belongs to a field, and the
/// order of the fields and their sizes say where each lies.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schema {
    /// The name of the type, without the path of its module; empty if it has none.
    pub name: Cow<'static, str>,
    /// Which version of the type, or 0.
    pub version: u32,
    /// What it is.
    pub kind: KindRef,
    /// Only the derive and a text make one, so that a field may be added.
    #[doc(hidden)]
    pub __made_by_annulus: (),
}

/// What a value is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// An integer, a float, a `bool` or a `char`.
    Scalar(Scalar),
    /// An integer that is not 0.
    NonZero(Scalar),
    /// UTF-8 of up to so many bytes: a `u16` that counts them, and then their space, without alignment.
    Text(usize),
    /// So many values of one kind, one after the other.
    Array(KindRef, usize),
    /// Fields, one after the other.
    Struct(Cow<'static, [Field]>),
    /// A number that says which variant is there, and then the fields of that one. What a shorter one leaves
    /// of the space of the longest is zero.
    Enum(Scalar, Cow<'static, [Variant]>),
    /// A byte that is 1 if the value behind it is there, and otherwise 0, as that value is then.
    Optional(KindRef),
}

/// A [`Kind`] that something consists of.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum KindRef {
    /// Of a type.
    Static(&'static Kind),
    /// Of a text that was parsed.
    Owned(Box<Kind>),
}

/// A value without parts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
#[allow(missing_docs, reason = "they are called as in Rust")]
pub enum Scalar {
    U8,
    U16,
    U32,
    U64,
    U128,
    I8,
    I16,
    I32,
    I64,
    I128,
    F32,
    F64,
    /// One byte, 0 or 1.
    Bool,
    /// Four bytes: the number of a character.
    Char,
}

/// A field of a struct, or of a variant.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Its name; its number if it has none. One that begins with `_` fills a gap, and has no meaning.
    pub name: Cow<'static, str>,
    /// Where it begins, in bytes from the beginning of the message; of a variant, from behind the number.
    pub offset: usize,
    /// What it is.
    pub kind: KindRef,
    /// What its numbers count, such as `ns`; empty if nothing says so.
    pub unit: Cow<'static, str>,
    /// What it means; empty if nothing says so.
    pub comment: Cow<'static, str>,
    /// Only the derive and a text make one, so that a field may be added.
    #[doc(hidden)]
    pub __made_by_annulus: (),
}

/// A variant of an enum.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Variant {
    /// Its name.
    pub name: Cow<'static, str>,
    /// The number that stands for it.
    pub number: i128,
    /// What comes with it.
    pub fields: Cow<'static, [Field]>,
    /// Only the derive and a text make one, so that a field may be added.
    #[doc(hidden)]
    pub __made_by_annulus: (),
}

impl Scalar {
    /// All of them, with their names in a schema's text.
    const ALL: [(Self, &'static str); 14] = [
        (Self::U8, "u8"),
        (Self::U16, "u16"),
        (Self::U32, "u32"),
        (Self::U64, "u64"),
        (Self::U128, "u128"),
        (Self::I8, "i8"),
        (Self::I16, "i16"),
        (Self::I32, "i32"),
        (Self::I64, "i64"),
        (Self::I128, "i128"),
        (Self::F32, "f32"),
        (Self::F64, "f64"),
        (Self::Bool, "bool"),
        (Self::Char, "char"),
    ];

    /// How many bytes it takes.
    #[must_use]
    pub const fn size(self) -> usize {
        match self {
            Self::U8 | Self::I8 | Self::Bool => 1,
            Self::U16 | Self::I16 => 2,
            Self::U32 | Self::I32 | Self::F32 | Self::Char => 4,
            Self::U64 | Self::I64 | Self::F64 => 8,
            Self::U128 | Self::I128 => 16,
        }
    }

    /// Its name in a schema's text.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL[self as usize].1
    }

    fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, its)| *its == name).map(|(scalar, _)| *scalar)
    }

    const fn is_signed(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64 | Self::I128)
    }

    /// Whether an enum can be told by it.
    fn holds(self, number: i128) -> bool {
        if matches!(self, Self::F32 | Self::F64 | Self::Bool | Self::Char) {
            return false;
        }
        match (self.size() * 8, self.is_signed()) {
            (128, true) => true,
            (128, false) => number >= 0,
            (bits, true) => (-(1 << (bits - 1))..1 << (bits - 1)).contains(&number),
            (bits, false) => (0..1 << bits).contains(&number),
        }
    }
}

impl Schema {
    /// How many bytes a message takes in a ring.
    #[must_use]
    pub fn size(&self) -> usize {
        self.kind.size()
    }
}

impl Kind {
    /// How many bytes a value takes.
    #[must_use]
    pub fn size(&self) -> usize {
        match self {
            Self::Scalar(scalar) | Self::NonZero(scalar) => scalar.size(),
            Self::Text(most) => most.saturating_add(2),
            Self::Array(inner, length) => inner.size().saturating_mul(*length),
            Self::Struct(fields) => end(fields),
            Self::Enum(number, variants) => {
                let longest = variants.iter().map(|variant| end(&variant.fields)).max().unwrap_or(0);
                number.size().saturating_add(longest)
            }
            Self::Optional(inner) => inner.size().saturating_add(1),
        }
    }
}

/// Where the last of these fields ends.
fn end(fields: &[Field]) -> usize {
    fields.iter().map(|field| field.offset.saturating_add(field.kind.size())).max().unwrap_or(0)
}

/// Fields in the order in which they lie.
fn in_order(fields: &[Field]) -> Vec<&Field> {
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort_by_key(|field| (field.offset, field.kind.size()));
    sorted
}

impl Field {
    /// Whether it only fills a gap.
    #[must_use]
    pub fn is_padding(&self) -> bool {
        self.name.starts_with('_')
    }
}

impl Schema {
    /// What a part of a message is, whose type has this schema.
    ///
    /// # Panics
    ///
    /// If the schema is of a text, which no constant is.
    #[doc(hidden)]
    #[must_use]
    pub const fn part(&self) -> KindRef {
        match &self.kind {
            KindRef::Static(kind) => KindRef::Static(kind),
            KindRef::Owned(_) => panic!("a constant is of a type"),
        }
    }
}

impl From<Kind> for KindRef {
    fn from(kind: Kind) -> Self {
        Self::Owned(Box::new(kind))
    }
}

impl Deref for KindRef {
    type Target = Kind;

    fn deref(&self) -> &Kind {
        match self {
            Self::Static(kind) => kind,
            Self::Owned(kind) => kind,
        }
    }
}

impl PartialEq for KindRef {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for KindRef {}

impl Hash for KindRef {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}
