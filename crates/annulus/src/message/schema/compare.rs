//! Where two schemas differ.

use alloc::borrow::ToOwned;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;

use super::text::Written;
use super::{Field, Kind, Schema, in_order};

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
