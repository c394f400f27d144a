//! Whether two schemas are equal: [`Fingerprint`]. And if not, where they differ: [`Difference`].

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

use super::text::Written;
use super::{Field, Kind, Schema, in_order};

/// A number that is equal where names, kinds and places of a [`Schema`] are equal.
///
/// It is FNV-1a, as its authors (Fowler, Noll, Vo) give it for 64 bits, of the text without units and
/// comments, in which each field that begins with `_` is called `_` (`docs/SCHEMA.md`). So it does not depend
/// on the crate, the compiler or the language. A ring between processes has the fingerprint of its messages
/// in its header.
///
/// It protects from mistakes, not from malice: a process that lies about its type can garble messages. It can
/// do no more than that, because bytes are checked before they become a value, or any bytes are one.
///
/// ```
/// use annulus::schema::{Fingerprint, Schema};
///
/// assert_ne!(Fingerprint::of::<u64>(), Fingerprint::of::<i64>());
/// assert_eq!("[u64;3]".parse::<Schema>()?.fingerprint(), Fingerprint::of::<[u64; 3]>());
/// # Ok::<(), annulus::schema::SchemaError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Fingerprint(u64);

impl Fingerprint {
    /// Of no schema.
    #[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
    pub(crate) const NONE: Self = Self(0);

    /// As it lies in the header of a ring between processes.
    #[must_use]
    pub const fn to_u64(self) -> u64 {
        self.0
    }

    /// From what [`to_u64`](Self::to_u64) returned.
    #[must_use]
    pub const fn from_u64(number: u64) -> Self {
        Self(number)
    }
}

/// 16 hexadecimal digits.
impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Schema {
    /// What tells it from others.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        let mut hash = Fnv(0xCBF2_9CE4_8422_2325);
        // (The hash refuses nothing.)
        let _ = self.write(&mut hash, Written::Layout);
        Fingerprint(hash.0)
    }
}

struct Fnv(u64);

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0 =
            text.bytes().fold(self.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
        Ok(())
    }
}

/// What one schema has and another one does not.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Which field, such as `levels[].price`; or `the message`, `the name`, `the version`, `the size`.
    pub path: String,
    /// What it is in the one, such as `f64 at 8`, if it is there.
    pub ours: Option<String>,
    /// What it is in the other.
    pub theirs: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |side: &Option<String>| match side {
            Some(what) => format!("{}: {what}", self.path),
            None => format!("no {}", self.path),
        };
        write!(f, "{} / {}", side(&self.ours), side(&self.theirs))
    }
}

impl Schema {
    /// Where the two differ, in the order of the bytes of this one: in names, kinds and places. Units,
    /// comments and names of gaps do not matter. If there is no difference, messages of the one are messages
    /// of the other.
    #[must_use]
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let (ours, theirs) = (self.parts(), other.parts());
        let index =
            |parts: &[(String, String)]| -> BTreeMap<String, String> { parts.iter().cloned().collect() };
        let (in_ours, in_theirs) = (index(&ours), index(&theirs));
        let changed = ours.into_iter().filter_map(|(path, what)| {
            let there = in_theirs.get(&path).cloned();
            (there.as_ref() != Some(&what)).then_some(Difference { path, ours: Some(what), theirs: there })
        });
        let added = theirs.into_iter().filter_map(|(path, what)| {
            (!in_ours.contains_key(&path)).then_some(Difference { path, ours: None, theirs: Some(what) })
        });
        changed.chain(added).collect()
    }

    /// Each part by its path, and what it is.
    fn parts(&self) -> Vec<(String, String)> {
        let mut parts = Vec::from([
            ("the name".to_owned(), format!("`{}`", self.name)),
            ("the version".to_owned(), self.version.to_string()),
            ("the size".to_owned(), self.size().to_string()),
        ]);
        add_kind(&mut parts, String::new(), &self.kind, 0);
        parts
    }
}

fn add_kind(parts: &mut Vec<(String, String)>, path: String, kind: &Kind, at: usize) {
    let mut add = |what: String| {
        let path = if path.is_empty() { "the message" } else { &path };
        parts.push((path.to_owned(), format!("{what} at {at}")));
    };
    match kind {
        Kind::Scalar(_) | Kind::NonZero(_) | Kind::Text(_) => add(kind.to_string()),
        Kind::Array(inner, length) => {
            add(format!("array of {length}"));
            add_kind(parts, path + "[]", inner, at);
        }
        Kind::Struct(fields) => {
            add("struct".to_owned());
            add_fields(parts, &path, fields, at);
        }
        Kind::Enum(number, variants) => {
            add(format!("enum {}", number.name()));
            for (index, variant) in variants.iter().enumerate() {
                let path = format!("{path}.{}", variant.name);
                parts.push((path.clone(), format!("variant {index}, number {}", variant.number)));
                add_fields(parts, &path, &variant.fields, at + number.size());
            }
        }
        Kind::Optional(inner) => {
            add("option".to_owned());
            add_kind(parts, path + "?", inner, at + 1);
        }
    }
}

fn add_fields(parts: &mut Vec<(String, String)>, path: &str, fields: &[Field], begin: usize) {
    for (index, field) in in_order(fields).into_iter().enumerate() {
        let at = begin + field.offset;
        if field.is_padding() {
            let mut kind = String::new();
            // (A `String` takes all.)
            let _ = field.kind.write(&mut kind, Written::Layout);
            parts.push((format!("{path}._{index}"), format!("{kind} at {at}")));
        } else {
            let dot = if path.is_empty() { "" } else { "." };
            add_kind(parts, format!("{path}{dot}{}", field.name), &field.kind, at);
        }
    }
}
