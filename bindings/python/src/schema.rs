//! Schemas as text, and their structure as JSON.

use std::fmt::Write;

use annulus::schema::{Field, Kind, Schema};
use pyo3::prelude::*;

use crate::errors::{Which, error};

/// The schema of a text.
pub(crate) fn parsed(py: Python<'_>, text: &str) -> PyResult<Schema> {
    text.parse().map_err(|wrong| error(py, Which::Schema, format!("{text:?} is no schema: {wrong}")))
}

/// The text of a schema as rings write it: two texts that say the same have one canonical text.
#[pyfunction]
fn canonical(py: Python<'_>, text: &str) -> PyResult<String> {
    parsed(py, text).map(|schema| schema.to_string())
}

/// How many bytes a message of this schema takes in a ring.
#[pyfunction]
fn schema_size(py: Python<'_>, text: &str) -> PyResult<usize> {
    parsed(py, text).map(|schema| schema.size())
}

/// A number of what a schema says of the layout: without units, comments and names of gaps. Two schemas with
/// one fingerprint can share a ring.
#[pyfunction]
fn fingerprint(py: Python<'_>, text: &str) -> PyResult<u64> {
    parsed(py, text).map(|schema| schema.fingerprint().to_u64())
}

/// The structure of a schema as JSON: nodes of the kinds scalar, nonzero, text, array, struct, enum and
/// option.
#[pyfunction]
fn schema_json(py: Python<'_>, text: &str) -> PyResult<String> {
    let schema = parsed(py, text)?;
    let mut json = Json::default();
    json.node(
        &schema.kind,
        Some(&|json| {
            json.member("name", |json| json.string(&schema.name));
            json.member("version", |json| json.number(schema.version));
            json.member("size", |json| json.number(schema.size()));
        }),
    );
    Ok(json.0)
}

/// JSON that is being written.
#[derive(Default)]
struct Json(String);

impl Json {
    /// A comma, unless something has just begun.
    fn next(&mut self) {
        if !matches!(self.0.chars().last(), None | Some('{' | '[' | ':')) {
            self.0.push(',');
        }
    }

    fn member(&mut self, name: &str, value: impl FnOnce(&mut Self)) {
        self.next();
        let _ = write!(self.0, "\"{name}\":");
        value(self);
    }

    fn number(&mut self, number: impl std::fmt::Display) {
        let _ = write!(self.0, "{number}");
    }

    fn string(&mut self, text: &str) {
        self.0.push('"');
        for character in text.chars() {
            match character {
                '"' | '\\' => self.0.extend(['\\', character]),
                '\u{20}'.. => self.0.push(character),
                _ => {
                    let _ = write!(self.0, "\\u{:04x}", u32::from(character));
                }
            }
        }
        self.0.push('"');
    }

    fn string_or_null(&mut self, text: &str) {
        if text.is_empty() { self.0.push_str("null") } else { self.string(text) }
    }

    fn object(&mut self, members: impl FnOnce(&mut Self)) {
        self.next();
        self.0.push('{');
        members(self);
        self.0.push('}');
    }

    fn array<T>(&mut self, items: &[T], mut item: impl FnMut(&mut Self, &T)) {
        self.0.push('[');
        for each in items {
            item(self, each);
        }
        self.0.push(']');
    }

    /// What a value is, with more members in front.
    fn node(&mut self, kind: &Kind, first: Option<&dyn Fn(&mut Self)>) {
        self.object(|json| {
            if let Some(first) = first {
                first(json);
            }
            let name = match kind {
                Kind::Scalar(_) => "scalar",
                Kind::NonZero(_) => "nonzero",
                Kind::Text(_) => "text",
                Kind::Array(..) => "array",
                Kind::Struct(_) => "struct",
                Kind::Enum(..) => "enum",
                Kind::Optional(_) => "option",
                _ => "unknown",
            };
            json.member("kind", |json| json.string(name));
            match kind {
                Kind::Scalar(scalar) | Kind::NonZero(scalar) => {
                    json.member("scalar", |json| json.string(scalar.name()));
                }
                Kind::Text(capacity) => json.member("capacity", |json| json.number(capacity)),
                Kind::Array(of, length) => {
                    json.member("of", |json| json.node(of, None));
                    json.member("length", |json| json.number(length));
                }
                Kind::Struct(fields) => json.member("fields", |json| json.fields(fields)),
                Kind::Enum(scalar, variants) => {
                    json.member("scalar", |json| json.string(scalar.name()));
                    json.member("variants", |json| {
                        json.array(variants, |json, variant| {
                            json.object(|json| {
                                json.member("name", |json| json.string(&variant.name));
                                json.member("number", |json| json.number(variant.number));
                                json.member("fields", |json| json.fields(&variant.fields));
                            });
                        });
                    });
                }
                Kind::Optional(of) => json.member("of", |json| json.node(of, None)),
                _ => {}
            }
        });
    }

    fn fields(&mut self, fields: &[Field]) {
        self.array(fields, |json, field| {
            json.object(|json| {
                json.member("name", |json| json.string(&field.name));
                json.member("kind", |json| json.node(&field.kind, None));
                json.member("unit", |json| json.string_or_null(&field.unit));
                json.member("comment", |json| json.string_or_null(&field.comment));
                json.member("offset", |json| json.number(field.offset));
            });
        });
    }
}

/// Gives the module its functions.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(canonical, module)?)?;
    module.add_function(wrap_pyfunction!(schema_size, module)?)?;
    module.add_function(wrap_pyfunction!(fingerprint, module)?)?;
    module.add_function(wrap_pyfunction!(schema_json, module)?)
}
