//! [`decode`]: what bytes of a ring mean.

use std::fmt::Display;

use annulus::schema::{Field, Kind, Scalar, Schema};
use serde_json::{Map, Value};

use super::counted;

/// The message in these bytes. An error names the first value that its field can't have, and where it is.
///
/// # Panics
///
/// If there are fewer bytes than a message has.
pub(crate) fn decode(schema: &Schema, bytes: &[u8]) -> Result<Value, String> {
    Reader { bytes, field: None }.value(&schema.kind, 0)
}

/// The bytes of a message, and the innermost field that is read.
#[derive(Clone, Copy)]
struct Reader<'m> {
    bytes: &'m [u8],
    field: Option<&'m str>,
}

impl<'m> Reader<'m> {
    fn value(self, kind: &'m Kind, at: usize) -> Result<Value, String> {
        Ok(match kind {
            Kind::Scalar(scalar) => self.scalar(*scalar, at)?,
            Kind::NonZero(scalar) => {
                let value = self.scalar(*scalar, at)?;
                if value == 0 {
                    return Err(self.bad(kind, at, "0"));
                }
                value
            }
            Kind::Text(most) => {
                let length = usize::from(u16::from_ne_bytes(self.array(at)));
                let text = self.bytes[at + 2..][..*most].get(..length);
                let text = text.ok_or_else(|| self.bad(kind, at, format_args!("{length} bytes long")))?;
                let text = str::from_utf8(text).map_err(|_| self.bad(kind, at, "no UTF-8"))?;
                text.into()
            }
            Kind::Array(inner, length) => {
                let size = inner.size();
                (0..counted(*length, size))
                    .map(|index| self.value(inner, at + index * size))
                    .collect::<Result<_, _>>()?
            }
            Kind::Struct(fields) => self.fields(fields, at)?,
            Kind::Enum(scalar, variants) => {
                let number = self.number(*scalar, at);
                let found = variants.iter().find(|variant| Some(variant.number) == number);
                let Some(variant) = found else {
                    let number = number.map_or_else(|| "too large".into(), |number| number.to_string());
                    return Err(self.bad(kind, at, number));
                };
                let name = variant.name.to_string();
                if variant.fields.is_empty() {
                    name.into()
                } else {
                    let fields = self.fields(&variant.fields, at + scalar.size())?;
                    Map::from_iter([(name, fields)]).into()
                }
            }
            Kind::Optional(inner) => match self.bytes[at] {
                0 => Value::Null,
                1 => self.value(inner, at + 1)?,
                other => return Err(self.bad(kind, at, other)),
            },
            // (A kind that a later version of the library has, and of which it has taught this program
            // nothing.)
            _ => return Err(self.bad(kind, at, "unknown to this program")),
        })
    }

    fn fields(self, fields: &'m [Field], at: usize) -> Result<Value, String> {
        let shown = fields.iter().filter(|field| !field.is_padding());
        let values = shown.map(|field| {
            let value = Self { field: Some(&field.name), ..self }.value(&field.kind, at + field.offset)?;
            Ok((field.name.to_string(), value))
        });
        Ok(Value::Object(values.collect::<Result<_, String>>()?))
    }

    fn scalar(self, scalar: Scalar, at: usize) -> Result<Value, String> {
        let kind = Kind::Scalar(scalar);
        Ok(match scalar {
            Scalar::F32 => {
                // (The shortest number that means it.)
                let number = f32::from_ne_bytes(self.array(at));
                float(number.is_finite().then(|| number.to_string().parse().ok()).flatten(), number)
            }
            Scalar::F64 => {
                let number = f64::from_ne_bytes(self.array(at));
                float(number.is_finite().then_some(number), number)
            }
            Scalar::Bool => match self.bytes[at] {
                0 => false.into(),
                1 => true.into(),
                other => return Err(self.bad(&kind, at, other)),
            },
            Scalar::Char => {
                let number = u32::from_ne_bytes(self.array(at));
                char::from_u32(number).ok_or_else(|| self.bad(&kind, at, number))?.to_string().into()
            }
            Scalar::U128 => {
                let number = u128::from_ne_bytes(self.array(at));
                u64::try_from(number).map_or_else(|_| number.to_string().into(), Value::from)
            }
            _ => {
                let number = self.number(scalar, at).ok_or_else(|| self.bad(&kind, at, "unknown"))?;
                match (u64::try_from(number), i64::try_from(number)) {
                    (Ok(number), _) => number.into(),
                    (_, Ok(number)) => number.into(),
                    _ => number.to_string().into(),
                }
            }
        })
    }

    /// An integer. `None` if it is larger than any number of a variant.
    fn number(self, scalar: Scalar, at: usize) -> Option<i128> {
        Some(match scalar {
            Scalar::U8 => self.bytes[at].into(),
            Scalar::U16 => u16::from_ne_bytes(self.array(at)).into(),
            Scalar::U32 => u32::from_ne_bytes(self.array(at)).into(),
            Scalar::U64 => u64::from_ne_bytes(self.array(at)).into(),
            Scalar::U128 => return u128::from_ne_bytes(self.array(at)).try_into().ok(),
            Scalar::I8 => i8::from_ne_bytes(self.array(at)).into(),
            Scalar::I16 => i16::from_ne_bytes(self.array(at)).into(),
            Scalar::I32 => i32::from_ne_bytes(self.array(at)).into(),
            Scalar::I64 => i64::from_ne_bytes(self.array(at)).into(),
            Scalar::I128 => i128::from_ne_bytes(self.array(at)),
            _ => return None,
        })
    }

    fn array<const LENGTH: usize>(self, at: usize) -> [u8; LENGTH] {
        self.bytes[at..][..LENGTH].try_into().expect("so many were taken")
    }

    fn bad(self, kind: &Kind, at: usize, found: impl Display) -> String {
        let field = self.field.map_or_else(|| "it".into(), |name| format!("`{name}`"));
        format!("{field}, at byte {at}, is {found}: no value of {kind}")
    }
}

/// A number, or in words what JSON has no number for.
fn float(finite: Option<f64>, number: impl Display) -> Value {
    finite.map_or_else(|| number.to_string().into(), Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text of a message in JSON, or what is wrong with it.
    fn told(schema: &str, bytes: &[u8]) -> Result<String, String> {
        let schema: Schema = schema.parse().unwrap();
        assert_eq!(schema.size(), bytes.len());
        decode(&schema, bytes).map(|value| value.to_string())
    }

    fn good(schema: &str, bytes: &[u8]) -> String {
        told(schema, bytes).unwrap()
    }

    #[test]
    fn kinds_have_forms_of_their_own() {
        assert_eq!(good("u8", &[200]), "200");
        assert_eq!(good("i16", &(-2_i16).to_ne_bytes()), "-2");
        assert_eq!(good("u64", &u64::MAX.to_ne_bytes()), "18446744073709551615");
        assert_eq!(good("i128", &i128::MIN.to_ne_bytes()), "\"-170141183460469231731687303715884105728\"");
        assert_eq!(good("u128", &u128::MAX.to_ne_bytes()), "\"340282366920938463463374607431768211455\"");
        assert_eq!(good("u128", &7_u128.to_ne_bytes()), "7");
        assert_eq!(good("f32", &0.1_f32.to_ne_bytes()), "0.1");
        assert_eq!(good("f64", &f64::NAN.to_ne_bytes()), "\"NaN\"");
        assert_eq!(good("f32", &f32::NEG_INFINITY.to_ne_bytes()), "\"-inf\"");
        assert_eq!(good("bool", &[1]), "true");
        assert_eq!(good("char", &u32::from('ß').to_ne_bytes()), "\"ß\"");
        assert_eq!(good("nonzero u8", &[7]), "7");
        let text = [&2_u16.to_ne_bytes()[..], b"hi!"].concat();
        assert_eq!(good("text 3", &text), "\"hi\"");
        assert_eq!(good("[[u8;2];2]", &[1, 2, 3, 4]), "[[1,2],[3,4]]");
        assert_eq!(good("{last:u8,first:u8,_:[u8;2]}", &[1, 2, 3, 4]), r#"{"last":1,"first":2}"#);
        assert_eq!(good("enum u8{buy=0,sell=7}", &[7]), "\"sell\"");
        assert_eq!(good("enum i8{none=0,limit=-1{price:u8}}", &[255, 9]), r#"{"limit":{"price":9}}"#);
        assert_eq!(good("u8?", &[0, 0]), "null");
        assert_eq!(good("u8?", &[1, 5]), "5");
    }

    #[test]
    fn bytes_that_are_no_value_are_named() {
        for (schema, bytes, expected) in [
            ("{live:bool}", &[2][..], "`live`, at byte 0, is 2: no value of bool"),
            ("bool", &[2], "it, at byte 0, is 2: no value of bool"),
            ("{a:u8,at:[enum u8{buy=0};2]}", &[0, 0, 3], "`at`, at byte 2, is 3: no value of enum u8{buy=0}"),
            ("nonzero u8", &[0], "it, at byte 0, is 0: no value of nonzero u8"),
            ("u8?", &[2, 5], "it, at byte 0, is 2: no value of u8?"),
        ] {
            assert_eq!(told(schema, bytes).unwrap_err(), expected);
        }
        let long = [&4_u16.to_ne_bytes()[..], b"hi!"].concat();
        assert_eq!(told("text 3", &long).unwrap_err(), "it, at byte 0, is 4 bytes long: no value of text 3");
        let broken = [&3_u16.to_ne_bytes()[..], b"h\xFF!"].concat();
        assert_eq!(told("text 3", &broken).unwrap_err(), "it, at byte 0, is no UTF-8: no value of text 3");
        let surrogate = 0xD800_u32.to_ne_bytes();
        assert_eq!(told("char", &surrogate).unwrap_err(), "it, at byte 0, is 55296: no value of char");
    }
}
