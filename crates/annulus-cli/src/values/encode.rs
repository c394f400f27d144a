//! [`encode`]: bytes for a ring.

use annulus::schema::{Field, Kind, Scalar, Schema};
use serde_json::{Map, Value};

use super::counted;
use crate::text::quoted;

/// The bytes of that message. What it does not say of an option is `null`; gaps are zeros. An error names the
/// field, what was given, and what would be right.
pub(crate) fn encode(schema: &Schema, value: &Value) -> Result<Vec<u8>, String> {
    let mut writer = Writer { bytes: vec![0; schema.size()], path: Vec::new() };
    writer.value(&schema.kind, 0, value)?;
    Ok(writer.bytes)
}

struct Writer<'m> {
    bytes: Vec<u8>,
    /// The fields that lead to what is written.
    path: Vec<&'m str>,
}

impl<'m> Writer<'m> {
    fn value(&mut self, kind: &'m Kind, at: usize, value: &Value) -> Result<(), String> {
        match kind {
            Kind::Scalar(scalar) => self.scalar(kind, *scalar, at, value),
            Kind::NonZero(scalar) => {
                self.scalar(kind, *scalar, at, value)?;
                let is_zero = self.bytes[at..][..scalar.size()].iter().all(|byte| *byte == 0);
                if is_zero { Err(self.misfit(kind, value)) } else { Ok(()) }
            }
            Kind::Text(most) => {
                let text = value.as_str().filter(|text| text.len() <= *most);
                let text = text.ok_or_else(|| self.misfit(kind, value))?;
                self.put(at, &u16::try_from(text.len()).expect("no text is longer").to_ne_bytes());
                self.put(at + 2, text.as_bytes());
                Ok(())
            }
            Kind::Array(inner, length) => {
                let size = inner.size();
                let values = value.as_array().filter(|values| values.len() == counted(*length, size));
                let values = values.ok_or_else(|| self.misfit(kind, value))?;
                let mut each = values.iter().enumerate();
                each.try_for_each(|(index, value)| self.value(inner, at + index * size, value))
            }
            Kind::Struct(fields) => {
                let values = value.as_object().ok_or_else(|| self.misfit(kind, value))?;
                self.fields(fields, at, values)
            }
            Kind::Enum(scalar, variants) => {
                let empty = Map::new();
                let (name, values) = match value {
                    Value::String(name) => (name, &empty),
                    Value::Object(object) => match object.iter().next() {
                        Some((name, Value::Object(values))) if object.len() == 1 => (name, values),
                        _ => return Err(self.misfit(kind, value)),
                    },
                    _ => return Err(self.misfit(kind, value)),
                };
                let variant = variants.iter().find(|variant| variant.name == name.as_str());
                let variant = variant.ok_or_else(|| self.misfit(kind, value))?;
                self.integer(kind, *scalar, at, variant.number, value)?;
                self.fields(&variant.fields, at + scalar.size(), values)
            }
            Kind::Optional(_) if value.is_null() => Ok(()),
            Kind::Optional(inner) => {
                self.bytes[at] = 1;
                self.value(inner, at + 1, value)
            }
            _ => Err(self.misfit(kind, value)),
        }
    }

    fn fields(&mut self, fields: &'m [Field], at: usize, values: &Map<String, Value>) -> Result<(), String> {
        let known = || fields.iter().filter(|field| !field.is_padding());
        if let Some(name) = values.keys().find(|name| known().all(|field| field.name != name.as_str())) {
            let names: Vec<_> = known().map(|field| quoted(&field.name)).collect();
            let there = if names.is_empty() { "there is none".into() } else { names.join(", ") };
            return Err(format!("{}there is no field {}: {there}", self.whose(), quoted(name)));
        }
        for field in known() {
            let value = values.get(&*field.name);
            let value = match (value, &*field.kind) {
                (Some(value), _) => value,
                (None, Kind::Optional(_)) => &Value::Null,
                (None, kind) => {
                    let name = quoted(&field.name);
                    return Err(format!("{}the field {name} is missing: {kind}", self.whose()));
                }
            };
            self.path.push(&field.name);
            self.value(&field.kind, at + field.offset, value)?;
            self.path.pop();
        }
        Ok(())
    }

    fn scalar(&mut self, kind: &Kind, scalar: Scalar, at: usize, value: &Value) -> Result<(), String> {
        match scalar {
            Scalar::F32 => {
                let number = float(value).ok_or_else(|| self.misfit(kind, value))?;
                // (What is finite stays so.)
                let narrow = number as f32;
                if narrow.is_infinite() && number.is_finite() {
                    return Err(self.misfit(kind, value));
                }
                self.put(at, &narrow.to_ne_bytes());
            }
            Scalar::F64 => {
                let number = float(value).ok_or_else(|| self.misfit(kind, value))?;
                self.put(at, &number.to_ne_bytes());
            }
            Scalar::Bool => {
                let is = value.as_bool().ok_or_else(|| self.misfit(kind, value))?;
                self.bytes[at] = is.into();
            }
            Scalar::Char => {
                let mut letters = value.as_str().unwrap_or_default().chars();
                let (Some(letter), None) = (letters.next(), letters.next()) else {
                    return Err(self.misfit(kind, value));
                };
                self.put(at, &u32::from(letter).to_ne_bytes());
            }
            Scalar::U128 if value.is_string() => {
                let number: Option<u128> = value.as_str().and_then(|text| text.parse().ok());
                self.put(at, &number.ok_or_else(|| self.misfit(kind, value))?.to_ne_bytes());
            }
            _ => {
                let number = match value {
                    Value::String(text) => text.parse().ok(),
                    _ => value.as_u64().map(i128::from).or_else(|| value.as_i64().map(i128::from)),
                };
                let number = number.ok_or_else(|| self.misfit(kind, value))?;
                self.integer(kind, scalar, at, number, value)?;
            }
        }
        Ok(())
    }

    /// An integer, if it fits.
    fn integer(
        &mut self,
        kind: &Kind,
        scalar: Scalar,
        at: usize,
        number: i128,
        value: &Value,
    ) -> Result<(), String> {
        macro_rules! put {
            ($($scalar:ident: $integer:ty),*) => {
                match scalar {
                    $(Scalar::$scalar => <$integer>::try_from(number).ok().map(|number| {
                        self.put(at, &number.to_ne_bytes());
                    }),)*
                    _ => None,
                }
            };
        }
        put!(U8: u8, U16: u16, U32: u32, U64: u64, U128: u128, I8: i8, I16: i16, I32: i32, I64: i64, I128: i128)
            .ok_or_else(|| self.misfit(kind, value))
    }

    fn put(&mut self, at: usize, bytes: &[u8]) {
        self.bytes[at..][..bytes.len()].copy_from_slice(bytes);
    }

    fn misfit(&self, kind: &Kind, value: &Value) -> String {
        format!("{}{value} is no value of {kind}", self.whose())
    }

    fn whose(&self) -> String {
        if self.path.is_empty() { String::new() } else { format!("{}: ", quoted(&self.path.join("."))) }
    }
}

/// A number, or its name.
fn float(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(name) if ["NaN", "inf", "-inf"].contains(&name.as_str()) => name.parse().ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::values::decode;

    fn told(schema: &str, json: &str) -> Result<Vec<u8>, String> {
        encode(&schema.parse().unwrap(), &serde_json::from_str(json).unwrap())
    }

    /// What is written reads as it was said.
    #[test]
    fn values_go_there_and_back() {
        for (schema, json) in [
            ("u8", "200"),
            ("i64", "-9223372036854775808"),
            ("i128", "\"-170141183460469231731687303715884105728\""),
            ("u128", "\"340282366920938463463374607431768211455\""),
            ("f32", "0.1"),
            ("f64", "\"NaN\""),
            ("f64", "1.1211847412109375"),
            ("f32", "\"-inf\""),
            ("bool", "true"),
            ("char", "\"ß\""),
            ("nonzero i16", "-1"),
            ("text 5", "\"ab\u{e9}\""),
            ("[[u8;2];2]", "[[1,2],[3,4]]"),
            ("{a:u16,_:[u8;2],b:{c:bool?}}", r#"{"a":1,"b":{"c":false}}"#),
            ("enum u8{buy=0,sell=7}", "\"sell\""),
            ("enum i8{none=0,limit=-1{price:u8}}", r#"{"limit":{"price":9}}"#),
            ("u8?", "null"),
        ] {
            let bytes = told(schema, json).unwrap();
            assert_eq!(decode(&schema.parse().unwrap(), &bytes).unwrap().to_string(), json);
        }
        assert_eq!(told("{a:u8?,b:u8}", r#"{"b":7}"#), Ok(vec![0, 0, 7]), "nothing is said of the option");
    }

    #[test]
    fn value_that_does_not_fit_is_named() {
        for (schema, json, expected) in [
            ("u8", "256", "256 is no value of u8"),
            ("u8", "1.5", "1.5 is no value of u8"),
            ("i8", "\"x\"", "\"x\" is no value of i8"),
            ("u128", "-1", "-1 is no value of u128"),
            ("f32", "1e39", "1e+39 is no value of f32"),
            ("f64", "null", "null is no value of f64"),
            ("bool", "1", "1 is no value of bool"),
            ("char", "\"ab\"", "\"ab\" is no value of char"),
            ("nonzero u8", "0", "0 is no value of nonzero u8"),
            ("text 2", "\"abc\"", "\"abc\" is no value of text 2"),
            ("[u8;2]", "[1]", "[1] is no value of [u8;2]"),
            ("{a:{b:u8}}", r#"{"a":{"b":-1}}"#, "`a.b`: -1 is no value of u8"),
            ("{a:u8,b:u8}", r#"{"a":1}"#, "the field `b` is missing: u8"),
            ("{a:u8}", r#"{"a":1,"z":2}"#, "there is no field `z`: `a`"),
            ("{a:{b:u8}}", r#"{"a":{}}"#, "`a`: the field `b` is missing: u8"),
            ("enum u8{buy=0}", "\"sell\"", "\"sell\" is no value of enum u8{buy=0}"),
            ("enum u8{at=0{a:u8}}", "\"at\"", "the field `a` is missing: u8"),
        ] {
            assert_eq!(told(schema, json).unwrap_err(), expected, "{schema}");
        }
    }
}
