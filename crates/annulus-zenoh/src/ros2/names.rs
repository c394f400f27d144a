//! Names of ROS 2: of types, topics and fields, and the keys of `rmw_zenoh` that they are part of.
//!
//! ```text
//! DOMAIN/TOPIC/TYPE/HASH                                          messages
//! @ros2_lv/DOMAIN/SESSION/ID/ID/NN/%/%/NODE                       a liveliness token: a node
//! @ros2_lv/DOMAIN/SESSION/NODE ID/ID/MP/%/%/NODE/TOPIC/TYPE/HASH/QOS
//!                                                                 a liveliness token: its publisher
//! ```
//!
//! In tokens, `/` of names is written as `%`; a single `%` is a namespace, or an enclave, without a name.
//! These are the keys of `rmw_zenoh` from Jazzy on (its `docs/design.md`).

use std::fmt;

use crate::description::Refused;

/// How a publisher sends, as `rmw_zenoh` writes it in a token: what is left out is its default. So it is
/// reliable, volatile, and keeps the last 10, as most publishers of ROS 2.
const QOS: &str = "::,10:,:,:,,";

/// The highest domain: those above it have no ports in other middleware.
pub(crate) const HIGHEST_DOMAIN: u32 = 232;

/// The name of a type, such as `geometry_msgs/msg/Vector3`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TypeName(String);

impl TypeName {
    pub(crate) fn of(text: &str) -> Result<Self, Refused> {
        let mut parts = text.split('/');
        let is_good = match (parts.next(), parts.next(), parts.next(), parts.next()) {
            (Some(package), Some("msg"), Some(name), None) => {
                can_name_field(package)
                    && name.starts_with(|first: char| first.is_ascii_uppercase())
                    && name.chars().all(|character| character.is_ascii_alphanumeric())
            }
            _ => false,
        };
        if is_good {
            Ok(Self(text.into()))
        } else {
            Err(format!("{text:?} is no type of ROS 2: say it as `geometry_msgs/msg/Vector3`"))
        }
    }

    /// As keys have it: `geometry_msgs::msg::dds_::Vector3_`.
    fn in_keys(&self) -> String {
        let (package, name) = self.0.split_once("/msg/").expect("it was looked at");
        format!("{package}::msg::dds_::{name}_")
    }
}

impl fmt::Display for TypeName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Whether a field of a message can have that name; and a package, for which the same rule holds.
pub(crate) fn can_name_field(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|other| other.is_ascii_lowercase() || other.is_ascii_digit() || other == '_')
        && !name.contains("__")
        && !name.ends_with('_')
}

/// The whole name of a topic, without the slash that it begins with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Topic(String);

impl Topic {
    pub(crate) fn of(text: &str) -> Result<Self, Refused> {
        let name = text.strip_prefix('/').unwrap_or(text);
        let is_good = |part: &str| {
            part.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
                && part.chars().all(|other| other.is_ascii_alphanumeric() || other == '_')
                && !part.contains("__")
        };
        if name.split('/').all(is_good) {
            Ok(Self(name.into()))
        } else {
            Err(format!("{text:?} is no topic of ROS 2: say its whole name, such as `/robot1/pose`"))
        }
    }
}

/// A publisher of ROS 2, and where its keys are.
pub(crate) struct Names<'a> {
    pub(crate) domain: u32,
    /// Of the session with Zenoh.
    pub(crate) session: &'a str,
    /// The node, which has its own number.
    pub(crate) node: (&'a str, u64),
    /// Of the publisher.
    pub(crate) id: u64,
    pub(crate) topic: &'a Topic,
    pub(crate) of: &'a TypeName,
    /// Of the type.
    pub(crate) hash: &'a str,
}

impl Names<'_> {
    /// Of the messages.
    pub(crate) fn key(&self) -> String {
        format!("{}/{}/{}/{}", self.domain, self.topic.0, self.of.in_keys(), self.hash)
    }

    pub(crate) fn node_token(&self) -> String {
        let (node, id) = self.node;
        format!("@ros2_lv/{}/{}/{id}/{id}/NN/%/%/{node}", self.domain, self.session)
    }

    pub(crate) fn publisher_token(&self) -> String {
        let (node, node_id) = self.node;
        let (domain, session, id) = (self.domain, self.session, self.id);
        let topic = self.topic.0.replace('/', "%");
        let (of, hash) = (self.of.in_keys(), self.hash);
        format!("@ros2_lv/{domain}/{session}/{node_id}/{id}/MP/%/%/{node}/%{topic}/{of}/{hash}/{QOS}")
    }
}

/// A name for the node that publishes this ring: what no name can have becomes `_`.
pub(crate) fn node(host: &str, ring: &str) -> String {
    let mut node = String::from("annulus");
    for part in [host, ring] {
        node.push('_');
        node.extend(part.chars().map(|it| if it.is_ascii_alphanumeric() { it } else { '_' }));
    }
    node
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of `docs/design.md` of `rmw_zenoh`, but for the depth of a queue in the last one.
    #[test]
    fn keys_are_those_of_rmw_zenoh() {
        let hash = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
        let (of, topic) = (TypeName::of("std_msgs/msg/String").unwrap(), Topic::of("/chatter").unwrap());
        let names = Names {
            domain: 2,
            session: "8b20917502ee955ac4476e0266340d5c",
            node: ("talker", 0),
            id: 10,
            topic: &topic,
            of: &of,
            hash,
        };
        assert_eq!(names.key(), format!("2/chatter/std_msgs::msg::dds_::String_/{hash}"));
        assert_eq!(names.node_token(), "@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/0/NN/%/%/talker");
        assert_eq!(
            names.publisher_token(),
            format!(
                "@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/\
                 std_msgs::msg::dds_::String_/{hash}/::,10:,:,:,,"
            )
        );
        let topic = Topic::of("robot1/chatter").unwrap();
        let names = Names { topic: &topic, ..names };
        assert_eq!(names.key(), format!("2/robot1/chatter/std_msgs::msg::dds_::String_/{hash}"));
        assert!(names.publisher_token().contains("/talker/%robot1%chatter/std"));
    }

    #[test]
    fn names_that_ros_has_not_are_refused() {
        for text in ["", "Vector3", "a/Vector3", "a/srv/Vector3", "a/msg/vector3", "a/msg/V_3", "A/msg/V"] {
            assert!(TypeName::of(text).is_err(), "{text}");
        }
        for text in ["", "/", "a/", "/a//b", "a b", "~/a", "1a", "a__b", "a/*", "/a/b?"] {
            assert!(Topic::of(text).is_err(), "{text}");
        }
        for text in ["", "0", "X", "x__y", "x_", "_x", "größe"] {
            assert!(!can_name_field(text), "{text}");
        }
        assert_eq!(node("host-1.local", "a b"), "annulus_host_1_local_a_b");
    }
}
