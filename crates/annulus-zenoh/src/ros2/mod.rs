//! [`Ros2`]: the messages of a ring, as a publisher of ROS 2 with the middleware `rmw_zenoh` would send them.
//!
//! Each message is a sample of its own. Its payload is CDR, its attachment has 33 bytes, little-endian:
//!
//! | offset | size | what |
//! | --- | --- | --- |
//! | 0 | 8 | the message's number in the ring, and 1: the first that `rmw_zenoh` sends is 1 |
//! | 8 | 8 | when it was sent, in nanoseconds since 1970 |
//! | 16 | 1 | 16: so many bytes follow |
//! | 17 | 16 | which publisher it is: XXH3 (128 bits) of its liveliness token |

mod cdr;
mod hash;
mod names;
mod shape;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use annulus::shm::RingInfo;
use zenoh::liveliness::LivelinessToken;
use zenoh::matching::MatchingStatus;
use zenoh::qos::CongestionControl;
use zenoh::{Session, Wait};

use self::cdr::Cdr;
use self::names::{HIGHEST_DOMAIN, Names, Topic, TypeName};
use self::shape::Shape;
use crate::description::Refused;

/// How long an attachment is.
const ATTACHMENT: usize = 33;

/// Rings that go out as ROS 2 has them, too.
#[derive(Clone, Default)]
pub(crate) struct Settings {
    pub(crate) domain: u32,
    /// The topics and types, by the names of the rings.
    pub(crate) rings: BTreeMap<String, (String, String)>,
    /// The types of fields by their paths, by the names of the rings.
    pub(crate) fields: BTreeMap<String, BTreeMap<String, String>>,
}

impl Settings {
    /// # Errors
    ///
    /// A topic, a type or the domain that ROS 2 can't have, or a field of a ring that does not go out.
    pub(crate) fn check(&self) -> Result<(), Refused> {
        if self.domain > HIGHEST_DOMAIN {
            return Err(format!("{} is no domain: they go from 0 to {HIGHEST_DOMAIN}", self.domain));
        }
        for (topic, of) in self.rings.values() {
            Topic::of(topic)?;
            TypeName::of(of)?;
        }
        match self.fields.keys().find(|ring| !self.rings.contains_key(*ring)) {
            Some(ring) => Err(format!("{ring:?} has no topic: say it with --ros2 {ring}=TOPIC:TYPE")),
            None => Ok(()),
        }
    }
}

/// A publisher of ROS 2, for the messages of a ring.
pub(crate) struct Ros2 {
    publisher: zenoh::pubsub::Publisher<'static>,
    cdr: Cdr,
    /// Of a message in the ring, in bytes.
    size: usize,
    id: [u8; 16],
    /// Whether a node wants the messages. (Relaxed: it is seen soon enough.)
    is_matched: Arc<AtomicBool>,
    /// Of the publisher, and of the node, which ends after it.
    _tokens: [LivelinessToken; 2],
}

impl Ros2 {
    /// Begins to be a publisher, if such a one was asked for.
    ///
    /// # Errors
    ///
    /// ROS 2 can't have the messages of the ring, or the network fails.
    pub(crate) fn begin(
        session: &Session,
        settings: &Settings,
        (host, name): (&str, &str),
        info: &RingInfo,
    ) -> Result<Option<Self>, Refused> {
        // Of this process: so it is of the session, too.
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        let Some((topic, of)) = settings.rings.get(name) else { return Ok(None) };
        let (topic, of) = (Topic::of(topic)?, TypeName::of(of)?);
        let schema = info.schema().map_err(|error| error.to_string())?;
        let Some(schema) = schema else {
            return Err(format!("{of} it can't be: the ring does not say what its messages are made of"));
        };
        let none = BTreeMap::new();
        let shape = Shape::of(&schema, &of, settings.fields.get(name).unwrap_or(&none));
        let shape = shape.map_err(|why| format!("{of} it can't be: {why}"))?;
        // Relaxed: a number that nobody else has.
        let node_id = NEXT_ID.fetch_add(2, Ordering::Relaxed);
        let names = Names {
            domain: settings.domain,
            session: &session.zid().to_string(),
            node: (&names::node(host, name), node_id),
            id: node_id + 1,
            topic: &topic,
            of: &of,
            hash: &hash::hash(&shape)?,
        };
        let failed = |error: zenoh::Error| error.to_string();
        let publisher = session.declare_publisher(names.key());
        let publisher = publisher.congestion_control(CongestionControl::Drop).wait().map_err(failed)?;
        let is_matched = Arc::new(AtomicBool::new(false));
        let matched = Arc::clone(&is_matched);
        let told = move |status: MatchingStatus| matched.store(status.matching(), Ordering::Relaxed);
        publisher.matching_listener().callback(told).background().wait().map_err(failed)?;
        let node = session.liveliness().declare_token(names.node_token()).wait().map_err(failed)?;
        let token = names.publisher_token();
        let id = id_of(&token);
        let token = session.liveliness().declare_token(token).wait().map_err(failed)?;
        let (cdr, size) = (Cdr::new(&schema, &shape), info.payload_bytes());
        Ok(Some(Self { publisher, cdr, size, id, is_matched, _tokens: [token, node] }))
    }

    /// Whether a subscription of ROS 2 is there.
    pub(crate) fn is_matched(&self) -> bool {
        self.is_matched.load(Ordering::Relaxed)
    }

    /// Sends these messages, of which `first` is the number of the first. Returns how many of them ROS 2
    /// has not: they are left out, and their numbers tell of it.
    pub(crate) fn send(&self, first: u64, messages: &[u8]) -> u64 {
        if !self.is_matched() {
            return 0;
        }
        let (mut left_out, mut written) = (0, Vec::new());
        for (number, message) in (first..).zip(messages.chunks_exact(self.size)) {
            if self.cdr.write(message, &mut written) {
                let attachment = attachment(number, SystemTime::now(), &self.id);
                // (What the network can't take is lost, and told by the number of what comes next.)
                _ = self.publisher.put(written.as_slice()).attachment(attachment.as_slice()).wait();
            } else {
                left_out += 1;
            }
        }
        left_out
    }
}

/// Which publisher that is of which this is the token.
fn id_of(token: &str) -> [u8; 16] {
    twox_hash::XxHash3_128::oneshot(token.as_bytes()).to_le_bytes()
}

/// What goes with a message.
fn attachment(number: u64, sent: SystemTime, id: &[u8; 16]) -> [u8; ATTACHMENT] {
    let since = sent.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    let mut bytes = [0; ATTACHMENT];
    bytes[..8].copy_from_slice(&number.wrapping_add(1).to_le_bytes());
    bytes[8..16].copy_from_slice(&i64::try_from(since).unwrap_or(i64::MAX).to_le_bytes());
    bytes[16] = 16;
    bytes[17..].copy_from_slice(id);
    bytes
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn attachment_has_number_time_and_publisher() {
        let id = *b"0123456789abcdef";
        let bytes = attachment(0, UNIX_EPOCH + Duration::from_nanos(0x0102_0304), &id);
        assert_eq!(bytes[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(bytes[8..16], [4, 3, 2, 1, 0, 0, 0, 0]);
        assert_eq!(bytes[16], 16);
        assert_eq!(bytes[17..], id);
    }

    /// What `simplified_xxhash3.cpp` of `rmw_zenoh` makes of tokens of three lengths, which take three ways
    /// through the hash.
    #[test]
    fn publisher_is_known_by_the_hash_of_its_token() {
        let hash = |token: &str| u128::from_be_bytes(id_of(token));
        let node = "@ros2_lv/2/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener";
        assert_eq!(hash(node), 0x4987_7999_dacb_8587_02d1_1ac8_2378_5912);
        let publisher = "@ros2_lv/2/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/\
            std_msgs::msg::dds_::String_/\
            RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18/::,7:,:,:,,";
        assert_eq!(hash(publisher), 0xac17_0f31_eadc_d9ff_0cd8_6d7a_1790_7d1c);
        let long = "@ros2_lv/0/8b20917502ee955ac4476e0266340d5c/0/1/MP/%/%/\
            annulus_trading_1_poses_of_the_left_arm/%robot1%left_arm%pose/\
            geometry_msgs::msg::dds_::PoseWithCovarianceStamped_/\
            RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18/::,10:,:,:,,";
        assert_eq!(hash(long), 0xa93f_51c8_7c63_3e89_8fe6_4650_9d09_5d65);
    }

    #[test]
    fn settings_that_ros_has_not_are_refused() {
        let good = || {
            let of = ("/pose".into(), "geometry_msgs/msg/Point".into());
            Settings { domain: 232, rings: BTreeMap::from([("a".into(), of)]), ..Settings::default() }
        };
        assert_eq!(good().check(), Ok(()));
        let refused = |change: fn(&mut Settings)| {
            let mut settings = good();
            change(&mut settings);
            settings.check().unwrap_err()
        };
        assert!(refused(|it| it.domain = 233).contains("233"));
        assert!(refused(|it| it.rings.get_mut("a").unwrap().0 = "a b".into()).contains("a b"));
        assert!(refused(|it| it.rings.get_mut("a").unwrap().1 = "Point".into()).contains("Point"));
        let other = refused(|it| _ = it.fields.insert("b".into(), BTreeMap::new()));
        assert!(other.contains("--ros2 b=TOPIC:TYPE"), "{other}");
    }
}
