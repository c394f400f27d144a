//! A schema as text: in one way only, so that two that say the same are equal.

#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
use alloc::string::{String, ToString};
use core::fmt::{self, Display, Formatter, Write};

use super::{Field, Kind, Schema, Variant, in_order};
use crate::sync::seeded;

/// What of a schema is written.
#[derive(Clone, Copy)]
pub(super) enum Written {
    /// All of it.
    All,
    /// What lies where, and what it is called: no unit, no comment, and gaps without their names.
    Layout,
}

impl Display for Schema {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f, Written::All)
    }
}

impl Display for Kind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.write(f, Written::All)
    }
}

impl Schema {
    /// The longest text, in bytes.
    pub(crate) const LONGEST: usize = 1 << 16;

    /// Its text. If that has more than [`LONGEST`](Self::LONGEST) bytes, it is without units and comments.
    #[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
    pub(crate) fn short_text(&self) -> String {
        let mut text = self.to_string();
        if text.len() > Self::LONGEST {
            text.clear();
            // (A `String` takes all.)
            let _ = self.write(&mut text, Written::Layout);
        }
        text
    }

    pub(super) fn write(&self, f: &mut dyn Write, what: Written) -> fmt::Result {
        f.write_str(&self.name)?;
        if self.version > 0 {
            write!(f, "@{}", self.version)?;
        }
        let is_named = self.version > 0 || !self.name.is_empty();
        if is_named && !matches!(*self.kind, Kind::Struct(_)) {
            f.write_char(':')?;
        }
        self.kind.write(f, what)
    }
}

impl Kind {
    pub(super) fn write(&self, f: &mut dyn Write, what: Written) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => f.write_str(scalar.name()),
            Self::NonZero(integer) => write!(f, "nonzero {}", integer.name()),
            Self::Text(most) => write!(f, "text {most}"),
            Self::Array(inner, length) => {
                f.write_char('[')?;
                inner.write(f, what)?;
                write!(f, ";{length}]")
            }
            Self::Struct(fields) => fields_in_brackets(fields, f, what),
            Self::Enum(number, variants) => {
                write!(f, "enum {}{{", number.name())?;
                for (at, Variant { name, number, fields, .. }) in variants.iter().enumerate() {
                    if at > 0 {
                        f.write_char(',')?;
                    }
                    write!(f, "{name}={number}")?;
                    if !fields.is_empty() {
                        fields_in_brackets(fields, f, what)?;
                    }
                }
                f.write_char('}')
            }
            Self::Optional(inner) => {
                inner.write(f, what)?;
                f.write_char('?')
            }
        }
    }
}

fn fields_in_brackets(fields: &[Field], f: &mut dyn Write, what: Written) -> fmt::Result {
    f.write_char('{')?;
    for (at, field) in in_order(fields).into_iter().enumerate() {
        if at > 0 {
            f.write_char(',')?;
        }
        let is_all = matches!(what, Written::All);
        f.write_str(if field.is_padding() && !is_all { "_" } else { &field.name })?;
        f.write_char(':')?;
        field.kind.write(f, what)?;
        if is_all && !field.unit.is_empty() {
            write!(f, "({})", field.unit)?;
        }
        if is_all && !field.comment.is_empty() {
            f.write_char('"')?;
            for letter in field.comment.chars() {
                if matches!(letter, '"' | '\\') && !seeded!("schema_quotes_stay") {
                    f.write_char('\\')?;
                }
                f.write_char(letter)?;
            }
            f.write_char('"')?;
        }
    }
    f.write_char('}')
}
