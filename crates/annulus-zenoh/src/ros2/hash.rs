//! The hash of a type, RIHS01: SHA-256 of a description of its fields, and of all types that are in it.
//!
//! The description is a text in JSON. Each space counts, and so does the order of its parts: the parts of a
//! field, the fields of a type, and the other types by their names. As `rosidl_generator_type_description`
//! writes it, and REP-2016 says. Comments, constants and defaults have no part in it.

use std::collections::BTreeMap;
use std::fmt::Write;

use sha2::{Digest, Sha256};

use super::names::TypeName;
use super::shape::{Member, Shape, Value};
use crate::description::Refused;

/// What is added to the number of a value for an array of them.
const ARRAY: u8 = 48;

/// The hash of this type, such as `RIHS01_df66…`.
///
/// # Errors
///
/// One type of ROS 2 was said of two structs that differ.
pub(crate) fn hash(shape: &Shape) -> Result<String, Refused> {
    let mut inner = BTreeMap::new();
    let outer = describe(shape, &mut inner)?;
    if inner.contains_key(&shape.of) {
        return Err(format!("{} is in itself, which no type of ROS 2 can be", shape.of));
    }
    let inner = inner.into_values().collect::<Vec<_>>().join(", ");
    let whole = format!(r#"{{"type_description": {outer}, "referenced_type_descriptions": [{inner}]}}"#);
    let mut hash = String::from("RIHS01_");
    for byte in Sha256::digest(whole) {
        _ = write!(hash, "{byte:02x}");
    }
    Ok(hash)
}

/// Describes the fields of a type, and adds the types that are in it to `inner`.
fn describe<'a>(shape: &'a Shape, inner: &mut BTreeMap<&'a TypeName, String>) -> Result<String, Refused> {
    let mut fields = Vec::new();
    for member in &shape.members {
        if let Value::Struct(part) = &member.value {
            let described = describe(part, inner)?;
            let known = inner.entry(&part.of).or_insert_with(|| described.clone());
            if *known != described {
                return Err(format!(
                    "its field `{}` has other fields than another one that is {}, too",
                    member.name, part.of
                ));
            }
        }
        fields.push(field(member));
    }
    let fields = fields.join(", ");
    Ok(format!(r#"{{"type_name": "{}", "fields": [{fields}]}}"#, shape.of))
}

/// Describes a field. (No name has a character that JSON writes in another way.)
fn field(member: &Member) -> String {
    let (id, most, of) = match &member.value {
        Value::Number { id, .. } => (*id, 0, String::new()),
        Value::Text { most: None } => (17, 0, String::new()),
        Value::Text { most: Some(most) } => (21, *most, String::new()),
        Value::Struct(part) => (1, 0, part.of.to_string()),
        Value::NoFields => (3, 0, String::new()),
    };
    let id = id + member.length.map_or(0, |_| ARRAY);
    let (name, length) = (&member.name, member.length.unwrap_or(0));
    format!(
        r#"{{"name": "{name}", "type": {{"type_id": {id}, "capacity": {length}, "string_capacity": {most}, "nested_type_name": "{of}"}}}}"#
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIME: &str = "builtin_interfaces/msg/Time";
    const HEADER: &str = "std_msgs/msg/Header";
    const VECTOR: &str = "geometry_msgs/msg/Vector3";

    fn of(name: &str, schema: &str, types: &[(&str, &str)]) -> Result<String, Refused> {
        let types = types.iter().map(|(path, of)| ((*path).into(), (*of).into())).collect();
        hash(&Shape::of(&schema.parse().unwrap(), &TypeName::of(name).unwrap(), &types)?)
    }

    /// `std_msgs/msg/String` is from `docs/design.md` of `rmw_zenoh`; `Twist` is what `ros2 topic info
    /// --verbose` says on the net. The others are what rosbags 0.11.9 computes of the definitions of Jazzy.
    #[test]
    fn hash_is_the_one_that_ros_has() {
        let vector = "{x:f64,y:f64,z:f64}";
        let twist = format!("{{linear:{vector},angular:{vector}}}");
        let parts = [("linear", VECTOR), ("angular", VECTOR)];
        for (name, schema, types, hash) in [
            (
                "std_msgs/msg/String",
                "text 100",
                &[][..],
                "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18",
            ),
            (
                "geometry_msgs/msg/Twist",
                &twist,
                &parts,
                "RIHS01_9c45bf16fe0983d80e3cfe750d6835843d265a9a6c46bd2e609fcddde6fb8d2a",
            ),
            (
                "std_msgs/msg/Empty",
                "{_gap:u8}",
                &[],
                "RIHS01_20b625256f32d5dbc0d04fee44f43c41e51c70d3502f84b4a08e7a9c26a96312",
            ),
            (
                "std_msgs/msg/Byte",
                "u8",
                &[("data", "byte")],
                "RIHS01_41e1a3345f73fe93ede006da826a6ee274af23dd4653976ff249b0f44e3e798f",
            ),
            (
                "rosgraph_msgs/msg/Clock",
                "{clock:{sec:i32,nanosec:u32}}",
                &[("clock", TIME)],
                "RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564",
            ),
            (
                "sensor_msgs/msg/Range",
                "{header:{stamp:{sec:i32,nanosec:u32},frame_id:text 30},radiation_type:u8,field_of_view:f32,\
                 min_range:f32,max_range:f32,range:f32,variance:f32}",
                &[("header", HEADER), ("header.stamp", TIME)],
                "RIHS01_b42b62562e93cbfe9d42b82fe5994dfa3d63d7d5c90a317981703f7388adff3a",
            ),
            (
                "geometry_msgs/msg/PoseWithCovariance",
                "{pose:{position:{x:f64,y:f64,z:f64},orientation:{x:f64,y:f64,z:f64,w:f64}},\
                 covariance:[f64;36]}",
                &[
                    ("pose", "geometry_msgs/msg/Pose"),
                    ("pose.position", "geometry_msgs/msg/Point"),
                    ("pose.orientation", "geometry_msgs/msg/Quaternion"),
                ],
                "RIHS01_9a7c0fd234b7f45c6098745ecccd773ca1085670e64107135397aee31c02e1bb",
            ),
        ] {
            assert_eq!(of(name, schema, types).as_deref(), Ok(hash), "{name}");
        }
    }

    #[test]
    fn type_that_is_two_structs_is_refused() {
        let parts = [("a", VECTOR), ("b", VECTOR)];
        let why = of("a/msg/A", "{a:{x:f64},b:{y:f64}}", &parts).unwrap_err();
        assert!(why.contains("`b`") && why.contains(VECTOR), "{why}");
        let why = of(VECTOR, "{a:{x:f64}}", &parts[..1]).unwrap_err();
        assert!(why.contains("in itself"), "{why}");
    }
}
