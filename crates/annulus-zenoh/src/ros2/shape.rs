//! [`Shape`]: a message of a ring, as ROS 2 has it; or why ROS 2 can't have it.
//!
//! | in a schema | in ROS 2 |
//! | --- | --- |
//! | `u8` to `u64`, `i8` to `i64`, `f32`, `f64`, `bool` | `uint8` to `uint64`, `int8` to `int64`, `float32`, `float64`, `bool` |
//! | `nonzero u32` and its like | as the integer |
//! | an enum whose variants have no fields | its integer |
//! | `text n` | `string`; `string<=m`, if that is said |
//! | `[k;n]` | `k[n]` |
//! | a struct | the type that is said |
//! | a struct without fields | a type without fields, which has one byte |
//! | a field that fills a gap | nothing |
//! | a message that is no struct | a message with the field `data`, as in `std_msgs` |

use std::collections::{BTreeMap, BTreeSet};

use annulus::schema::{Field, Kind, Scalar, Schema};

use super::names::{TypeName, can_name_field};
use crate::description::Refused;

/// The one field of a type without fields.
pub(crate) const NO_FIELDS: &str = "structure_needs_at_least_one_member";

/// A struct.
#[derive(Debug)]
pub(crate) struct Shape {
    pub(crate) of: TypeName,
    pub(crate) members: Vec<Member>,
}

/// A field of a struct.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Where it begins, in bytes from the beginning of the message; of an array of structs, in the first one.
    pub(crate) at: usize,
    pub(crate) value: Value,
    /// Of an array: how many there are.
    pub(crate) length: Option<usize>,
    /// How many bytes of the ring each has.
    pub(crate) stride: usize,
}

/// What a field is, or each of an array.
#[derive(Debug)]
pub(crate) enum Value {
    /// A number of so many bytes, and what it is called in descriptions of types.
    Number {
        id: u8,
        bytes: usize,
    },
    /// A text, and how long it may be by its type.
    Text {
        most: Option<usize>,
    },
    Struct(Shape),
    /// The byte of a type without fields, which no byte of the ring is.
    NoFields,
}

impl Shape {
    /// Messages of this schema, as that type of ROS 2. `types` says what fields are by their paths, such as
    /// `header.stamp`: the type of a struct, `byte` for a `u8`, `string<=20` for a text.
    ///
    /// # Errors
    ///
    /// The field that ROS 2 can't have, or of which the type was not said, and what would be right.
    pub(crate) fn of(
        schema: &Schema,
        of: &TypeName,
        types: &BTreeMap<String, String>,
    ) -> Result<Self, Refused> {
        let mut walk = Walk { types, used: BTreeSet::new() };
        let members = match &*schema.kind {
            Kind::Struct(fields) => walk.members("", fields, 0)?,
            kind => vec![walk.member("data", "data", kind, 0)?],
        };
        if let Some(path) = types.keys().find(|path| !walk.used.contains(*path)) {
            return Err(format!("its field `{path}`, of which a type is said, is none, or needs none"));
        }
        Ok(Self { of: of.clone(), members })
    }
}

/// What is known on the way through a schema.
struct Walk<'a> {
    types: &'a BTreeMap<String, String>,
    /// The paths whose types were asked for.
    used: BTreeSet<String>,
}

impl Walk<'_> {
    fn said(&mut self, path: &str) -> Option<&str> {
        let (path, said) = self.types.get_key_value(path)?;
        self.used.insert(path.clone());
        Some(said)
    }

    /// The fields of the struct that has this path, and begins there.
    fn members(&mut self, path: &str, fields: &[Field], at: usize) -> Result<Vec<Member>, Refused> {
        let mut members = Vec::new();
        for field in fields.iter().filter(|field| !field.is_padding()) {
            let whole =
                if path.is_empty() { field.name.to_string() } else { format!("{path}.{}", field.name) };
            if !can_name_field(&field.name) {
                return Err(format!(
                    "its field `{whole}` can't be called so in ROS 2: names are such as `max_speed2`"
                ));
            }
            members.push(self.member(&field.name, &whole, &field.kind, at + field.offset)?);
        }
        if members.is_empty() {
            let value = Value::NoFields;
            members.push(Member { name: NO_FIELDS.into(), at, value, length: None, stride: 0 });
        }
        Ok(members)
    }

    fn member(&mut self, name: &str, path: &str, kind: &Kind, at: usize) -> Result<Member, Refused> {
        let (kind, length) = match kind {
            Kind::Array(inner, length) => (&**inner, Some(*length)),
            kind => (kind, None),
        };
        if length.is_some() && (length == Some(0) || kind.size() == 0) {
            return Err(format!("its field `{path}` is an array without a byte, which ROS 2 has not"));
        }
        let value = self.value(path, kind, at)?;
        Ok(Member { name: name.into(), at, value, length, stride: kind.size() })
    }

    fn value(&mut self, path: &str, kind: &Kind, at: usize) -> Result<Value, Refused> {
        let no = |right: &str| Err(format!("its field `{path}` is {kind}, which ROS 2 has not: {right}"));
        match kind {
            Kind::Scalar(Scalar::U8) => match self.said(path) {
                None => Ok(Value::Number { id: 3, bytes: 1 }),
                Some("byte") => Ok(Value::Number { id: 16, bytes: 1 }),
                Some(other) => {
                    Err(format!("its field `{path}` is u8, which can be `byte`, but not {other:?}"))
                }
            },
            Kind::Scalar(scalar) | Kind::NonZero(scalar) => match number(*scalar) {
                Some(value) => Ok(value),
                None if *scalar == Scalar::Char => no("make it u32, u8 or a text"),
                None => no("make it u64, i64 or [u8;16]"),
            },
            Kind::Enum(scalar, variants) => match number(*scalar) {
                Some(value) if variants.iter().all(|variant| variant.fields.is_empty()) => Ok(value),
                Some(_) => no("its variants can't have fields; make it a struct"),
                None => no("its number can have 64 bits at most"),
            },
            Kind::Text(room) => self.text(path, *room),
            Kind::Struct(fields) => {
                let Some(said) = self.said(path) else {
                    return Err(format!(
                        "its field `{path}` is a struct: say what it is in ROS 2, such as \
                         `--ros2-type RING:{path}=geometry_msgs/msg/Point`"
                    ));
                };
                let of = TypeName::of(said).map_err(|why| format!("its field `{path}`: {why}"))?;
                Ok(Value::Struct(Shape { of, members: self.members(path, fields, at)? }))
            }
            Kind::Array(..) => no("make it one array"),
            Kind::Optional(_) => no("make it the value, and a bool beside it"),
            _ => no("this program does not know it"),
        }
    }

    fn text(&mut self, path: &str, room: usize) -> Result<Value, Refused> {
        let Some(said) = self.said(path) else { return Ok(Value::Text { most: None }) };
        match said.strip_prefix("string<=").and_then(|most| most.parse().ok()) {
            Some(most) if most >= room => Ok(Value::Text { most: Some(most) }),
            Some(_) => Err(format!("its field `{path}` may have {room} bytes, more than {said:?}")),
            None => {
                Err(format!("its field `{path}` is a text, which can be `string<={room}`, but not {said:?}"))
            }
        }
    }
}

/// A number, with its `type_id` of `type_description_interfaces/msg/FieldType`.
fn number(scalar: Scalar) -> Option<Value> {
    let id = match scalar {
        Scalar::I8 => 2,
        Scalar::U8 => 3,
        Scalar::I16 => 4,
        Scalar::U16 => 5,
        Scalar::I32 => 6,
        Scalar::U32 => 7,
        Scalar::I64 => 8,
        Scalar::U64 => 9,
        Scalar::F32 => 10,
        Scalar::F64 => 11,
        Scalar::Bool => 15,
        _ => return None,
    };
    Some(Value::Number { id, bytes: scalar.size() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(schema: &str, types: &[(&str, &str)]) -> String {
        let types = types.iter().map(|(path, of)| ((*path).into(), (*of).into())).collect();
        Shape::of(&schema.parse().unwrap(), &TypeName::of("a/msg/A").unwrap(), &types).unwrap_err()
    }

    #[test]
    fn field_that_ros_has_not_is_named_with_what_would_be_right() {
        for (schema, field, right) in [
            ("{a:u128}", "`a`", "u64"),
            ("{a:i128}", "`a`", "i64"),
            ("{a:char}", "`a`", "u32"),
            ("{a:nonzero u128}", "`a`", "u64"),
            ("{a:u8,b:u8?}", "`b`", "a bool beside it"),
            ("{a:[[u8;2];3]}", "`a`", "one array"),
            ("{a:[u8;0]}", "`a`", "without a byte"),
            ("{a:[text 3?;2]}", "`a`", "a bool beside it"),
            ("{a:enum u8{x=0,y=1{z:u8}}}", "`a`", "can't have fields"),
            ("{a:enum u128{x=0}}", "`a`", "64 bits"),
            ("{a:{b:u8}}", "`a`", "--ros2-type RING:a="),
            ("{Bid:u8}", "`Bid`", "max_speed2"),
            ("{0:u8}", "`0`", "max_speed2"),
            ("[[f64;3];3]", "`data`", "one array"),
        ] {
            let why = refused(schema, &[]);
            assert!(why.contains(field) && why.contains(right), "{schema}: {why}");
        }
    }

    #[test]
    fn type_that_does_not_fit_a_field_is_refused() {
        for (schema, path, of, why) in [
            ("{a:u8}", "b", "byte", "`b`"),
            ("{a:u16}", "a", "byte", "needs none"),
            ("{a:u8}", "a", "char", "\"char\""),
            ("{a:text 5}", "a", "string<=4", "may have 5 bytes"),
            ("{a:text 5}", "a", "wstring", "`string<=5`"),
            ("{a:{b:u8}}", "a", "Point", "`a`"),
        ] {
            let told = refused(schema, &[(path, of)]);
            assert!(told.contains(why), "{schema}: {told}");
        }
        let inner = refused("{a:{b:{c:u8}}}", &[("a", "a/msg/B")]);
        assert!(inner.contains("`a.b`"), "{inner}");
    }
}
