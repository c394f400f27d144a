//! Rings as ROS 2 has them: what a Zenoh subscriber gets under the keys of `rmw_zenoh`, and what a library of
//! Python (rosbags) reads in it. `ANNULUS_ZENOH_ROSBAGS` is a folder with `rosbags`, and
//! `ANNULUS_ZENOH_PYTHON` one with `eclipse-zenoh`; without them these parts are not tested (`ci/zenoh`
//! fetches them).

mod common;
#[path = "common/kinds.rs"]
mod kinds;

use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use annulus::Settings;
use annulus::schema::Schema;
use annulus::shm::blocks::{self, Block, MessageType, classes};
use annulus::shm::{PublishedName, Shared};
use annulus_zenoh::{Bridge, Config, Direction, Error, RouteState};
use common::{Machine, PATIENCE, is_open, listens_at, route, tick, until};
use kinds::{Kind, Numbers};
use serde_json::{Map, Value, json};
use zenoh::handlers::FifoChannelHandler;
use zenoh::pubsub::Subscriber;
use zenoh::sample::Sample;
use zenoh::{Session, Wait};

const POINT: &str = "geometry_msgs/msg/Point";

/// Publishes a message of so many bytes.
type Put = Box<dyn FnMut(&[u8])>;

/// A ring whose messages are known by their schema, and that ends with it.
struct Ring {
    put: Put,
    _name: PublishedName,
}

impl Ring {
    fn new(machine: &Machine, name: &str, schema: &str) -> Self {
        let schema: Schema = schema.parse().unwrap();
        let (bytes, of) = (schema.size(), MessageType::described(schema, 1));
        let (put, invitation) = classes!(bytes, WORDS, LARGE => {
            let Shared { handle: mut publisher, invitation, .. } =
                blocks::lossy::<WORDS, LARGE>(Settings::new(64), &of).unwrap();
            let put = move |message: &[u8]| {
                let mut words = [0; WORDS];
                bytemuck::cast_slice_mut(&mut words)[..bytes].copy_from_slice(message);
                publisher.publish(Block(words));
            };
            (Box::new(put) as Put, invitation)
        })
        .unwrap();
        Self { put, _name: invitation.publish(&machine.directory(), name).unwrap() }
    }
}

/// A client of Zenoh, as a node of ROS 2 is one, and what comes to it in this domain.
fn client(bridge: &Bridge, domain: u32) -> (Session, Subscriber<FifoChannelHandler<Sample>>) {
    let mut config = zenoh::Config::default();
    config.insert_json5("mode", r#""client""#).unwrap();
    let at = format!(r#"["tcp/{}"]"#, listens_at(bridge));
    config.insert_json5("connect/endpoints", &at).unwrap();
    let session = zenoh::open(config).wait().unwrap();
    let subscriber = session.declare_subscriber(format!("{domain}/**")).wait().unwrap();
    (session, subscriber)
}

fn next(subscriber: &Subscriber<FifoChannelHandler<Sample>>) -> Sample {
    subscriber.recv_timeout(PATIENCE).unwrap().expect("a sample comes")
}

/// The number, the time and the publisher of a sample.
fn attachment(sample: &Sample) -> (i64, u64, [u8; 16]) {
    let bytes = sample.attachment().unwrap().to_bytes();
    assert_eq!((bytes.len(), bytes[16]), (33, 16));
    let number = i64::from_le_bytes(bytes[..8].try_into().unwrap());
    (number, u64::from_le_bytes(bytes[8..16].try_into().unwrap()), bytes[17..].try_into().unwrap())
}

/// The tokens of this domain.
fn tokens(session: &Session, domain: u32) -> Vec<String> {
    let replies = session.liveliness().get(format!("@ros2_lv/{domain}/**")).wait().unwrap();
    replies.iter().map(|reply| reply.result().unwrap().key_expr().to_string()).collect()
}

#[test]
fn ring_is_there_as_ros_has_it() {
    let a = Machine::new("a");
    let config = a.config().ros2("points", "/robot1/point", POINT).ros2_domain(7);
    let bridge = Bridge::open(config.listen("tcp/127.0.0.1:0")).unwrap();
    let mut ring = Ring::new(&a, "points", "{x:f64,y:f64,z:f64}");
    let message = |x: f64| [x, -x, 0.5].map(f64::to_ne_bytes).concat();
    (ring.put)(&message(1.0));
    let (session, subscriber) = client(&bridge, 7);
    (ring.put)(&message(2.0));
    let mut publisher = None;
    for number in 1..=2_u32 {
        let sample = next(&subscriber);
        // The hash of the type in ROS 2, as rosbags computes it of the definition of Jazzy.
        assert_eq!(
            sample.key_expr().as_str(),
            "7/robot1/point/geometry_msgs::msg::dds_::Point_/\
             RIHS01_6963084842a9b04494d6b2941d11444708d892da2f4b09843b9c43f42a7f6881"
        );
        let x = f64::from(number);
        assert_eq!(
            *sample.payload().to_bytes(),
            [&[0, 1, 0, 0][..], &[x, -x, 0.5].map(f64::to_le_bytes).concat()].concat()
        );
        let (of, sent, id) = attachment(&sample);
        assert_eq!((of, *publisher.get_or_insert(id)), (number.into(), id));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        assert!(now.abs_diff(Duration::from_nanos(sent)) < PATIENCE, "{sent}");
    }
    let tokens = tokens(&session, 7);
    assert_eq!(tokens.len(), 2, "{tokens:?}");
    let of_node = tokens.iter().find(|token| token.contains("/NN/")).unwrap();
    let of_publisher = tokens.iter().find(|token| token.contains("/MP/")).unwrap();
    let mut parts: Vec<_> = of_node.split('/').collect();
    assert_eq!(parts[4], parts[3]);
    assert_eq!(parts[5..], ["NN", "%", "%", "annulus_a_points"]);
    let (node, zid) = (parts[3], parts[2]);
    assert_eq!(zid, session.info().routers_zid().wait().next().unwrap().to_string());
    parts = of_publisher.split('/').collect();
    assert_eq!((parts[2], parts[3]), (zid, node));
    assert_eq!(parts[5..10], ["MP", "%", "%", "annulus_a_points", "%robot1%point"]);
    assert_eq!((parts[10], parts[12]), ("geometry_msgs::msg::dds_::Point_", "::,10:,:,:,,"));
    let id = twox_hash::XxHash3_128::oneshot(of_publisher.as_bytes()).to_le_bytes();
    assert_eq!(publisher, Some(id));
    drop(ring);
    until("the node goes with the ring", || self::tokens(&session, 7).is_empty());
}

#[test]
fn message_that_ros_has_not_is_left_out_and_counted() {
    let (a, b) = (Machine::new("a"), Machine::new("b"));
    let config = a.config().carry("*").ros2("flags", "flags", "std_msgs/msg/Bool");
    let near = Bridge::open(config.listen("tcp/127.0.0.1:0")).unwrap();
    let (_session, subscriber) = client(&near, 0);
    let far = b.connected(listens_at(&near));
    let mut ring = Ring::new(&a, "flags", "bool");
    until("both are there", || is_open(&far, Direction::In, "flags"));
    for value in [0, 7, 1] {
        (ring.put)(&[value]);
    }
    for (number, value) in [(1, 0), (3, 1)] {
        let sample = next(&subscriber);
        assert_eq!((attachment(&sample).0, sample.payload().to_bytes()[4..].to_vec()), (number, vec![value]));
    }
    until("the far ring has all of them", || {
        route(&far, Direction::In, "flags").is_some_and(|route| route.messages + route.lagged == 3)
    });
    until("it is counted", || route(&near, Direction::Out, "flags").unwrap().corrupt == 1);
}

#[test]
fn ring_that_ros_can_not_have_is_refused() {
    let a = Machine::new("a");
    let config = a.config().ros2("wide", "/wide", "a/msg/Wide").ros2("ticks", "/ticks", "a/msg/Ticks");
    let bridge = Bridge::open(config.listen("tcp/127.0.0.1:0")).unwrap();
    let _wide = Ring::new(&a, "wide", "{price:u128}");
    let (mut publisher, _name) = a.publish("ticks", 16);
    publisher.publish(tick(0));
    until("both are known", || {
        ["wide", "ticks"].iter().all(|name| route(&bridge, Direction::Out, name).is_some())
    });
    let RouteState::Refused(why) = route(&bridge, Direction::Out, "wide").unwrap().state else { panic!() };
    assert!(why.contains("a/msg/Wide") && why.contains("`price`"), "{why}");
    assert!(is_open(&bridge, Direction::Out, "ticks"), "[u64;3] is a field `data`");
}

#[test]
fn settings_that_ros_has_not_are_errors() {
    let a = Machine::new("a");
    for (config, word) in [
        (a.config().ros2("r", "/a b", POINT), "a b"),
        (a.config().ros2("r", "/a", "Point"), "Point"),
        (a.config().ros2_type("r", "header", "std_msgs/msg/Header"), "--ros2 r="),
        (a.config().ros2("r", "/a", POINT).ros2_domain(1000), "1000"),
    ] {
        let config: Config = config.listen("tcp/127.0.0.1:0");
        match Bridge::open(config) {
            Err(Error::Ros2(why)) => assert!(why.contains(word), "{why}"),
            other => panic!("{:?}", other.map(|bridge| bridge.listens_at())),
        }
    }
}

/// Reads messages as rosbags knows them: the hash of their type, their values, and their bytes when it writes
/// these values itself. A byte of a type without fields is no value.
const READS: &str = r#"
import json, sys
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

def plain(value):
    if hasattr(value, "__msgtype__"):
        names = (name for name in vars(value) if name not in ("__msgtype__", NOTHING))
        return {name: plain(getattr(value, name)) for name in names}
    if hasattr(value, "tolist"):
        return value.tolist()
    return [plain(each) for each in value] if isinstance(value, list) else value

NOTHING = "structure_needs_at_least_one_member"
messages = json.load(sys.stdin)
for message in messages:
    store = get_typestore(Stores.EMPTY)
    for name, text in message["definitions"].items():
        store.register(get_types_from_msg(text, name))
    of, raw = message["type"], bytes(message["payload"])
    assert store.hash_rihs01(of) == message["hash"], message
    value = store.deserialize_cdr(raw, of)
    assert plain(value) == message["value"], (plain(value), message)
    assert bytes(store.serialize_cdr(value, of)) == raw, message
print(len(messages), "messages")
"#;

/// What a library that others wrote reads in the messages, and writes of them.
#[test]
fn rosbags_reads_the_messages_and_writes_the_same_bytes() {
    let Some(packages) = std::env::var_os("ANNULUS_ZENOH_ROSBAGS") else {
        println!("not tested: ANNULUS_ZENOH_ROSBAGS does not say where rosbags is");
        return;
    };
    // More of them outside of the gate.
    let count = std::env::var("ANNULUS_ZENOH_KINDS").map_or(15, |count| count.parse().unwrap());
    let mut numbers = Numbers(1);
    let any = (0..count).map(|_| Kind::any(&mut numbers, "Any", 2)).collect::<Vec<_>>();
    // (No ring has messages without bytes.)
    let any = any.into_iter().filter(|kind| kind.schema().parse::<Schema>().unwrap().size() > 0);
    let kinds: Vec<_> = [Kind::all(), Kind::Text(20, false)].into_iter().chain(any).collect();
    let a = Machine::new("a");
    let (mut config, mut rings, mut expected) = (a.config(), Vec::new(), Vec::new());
    for (at, kind) in kinds.iter().enumerate() {
        let (name, mut definitions, mut said) = (format!("ring{at}"), Map::new(), Vec::new());
        let of = match kind {
            Kind::Struct(of, _) => of.as_str(),
            _ => "std_msgs/msg/String",
        };
        kind.definitions(&mut definitions);
        if definitions.is_empty() {
            definitions.insert(of.into(), "string data".into());
        }
        kind.said("", &mut said);
        config = config.ros2(&name, &name, of);
        config = said.iter().fold(config, |config, (field, of)| config.ros2_type(&name, field, of));
        let mut ring = Ring::new(&a, &name, &kind.schema());
        for _ in 0..3 {
            let mut bytes = Vec::new();
            let value = kind.fill(&mut numbers, &mut bytes);
            (ring.put)(&bytes);
            let value = if value.is_string() { json!({ "data": value }) } else { value };
            expected.push(json!({ "name": name, "type": of, "definitions": definitions, "value": value }));
        }
        rings.push(ring);
    }
    let bridge = Bridge::open(config.listen("tcp/127.0.0.1:0")).unwrap();
    let (_session, subscriber) = client(&bridge, 0);
    for _ in 0..expected.len() {
        let sample = next(&subscriber);
        let key: Vec<_> = sample.key_expr().as_str().split('/').collect();
        let waits = |message: &&mut Value| message["name"] == key[1] && message["payload"].is_null();
        let message = expected.iter_mut().find(waits).unwrap();
        message["hash"] = key[3].into();
        message["payload"] = json!(*sample.payload().to_bytes());
    }
    let mut python = Command::new("timeout");
    python.args(["60", "python3", "-c", READS]).env("PYTHONPATH", packages);
    let mut python = python.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    python.stdin.take().unwrap().write_all(Value::from(expected.clone()).to_string().as_bytes()).unwrap();
    let said = python.wait_with_output().unwrap().stdout;
    assert_eq!(String::from_utf8(said).unwrap(), format!("{} messages\n", expected.len()));
}

/// Receives by the kind of subscriber that `rmw_zenoh` has, and reads attachments by the functions that it
/// reads them by: both are Zenoh's.
const RECEIVES: &str = r#"
import sys, zenoh, zenoh.ext
from zenoh.ext import Int64, z_deserialize, z_serialize

config = zenoh.Config()
config.insert_json5("mode", '"client"')
config.insert_json5("connect/endpoints", '["tcp/' + sys.argv[1] + '"]')
with zenoh.open(config) as session:
    subscriber = zenoh.ext.declare_advanced_subscriber(session, sys.argv[2])
    for sample in (subscriber.recv(), subscriber.recv()):
        attachment = sample.attachment.to_bytes()
        number, sent, publisher = z_deserialize(tuple[Int64, Int64, bytes], sample.attachment)
        written = z_serialize((Int64(number), Int64(sent), publisher))
        print(number, len(publisher), sample.payload.to_bytes().hex(), written.to_bytes() == attachment)
"#;

#[test]
fn advanced_subscriber_of_zenoh_gets_the_messages() {
    let Some(packages) = std::env::var_os("ANNULUS_ZENOH_PYTHON") else {
        println!("not tested: ANNULUS_ZENOH_PYTHON does not say where eclipse-zenoh is");
        return;
    };
    let a = Machine::new("a");
    let config = a.config().ros2("text", "/chatter", "std_msgs/msg/String");
    let bridge = Bridge::open(config.listen("tcp/127.0.0.1:0")).unwrap();
    let mut ring = Ring::new(&a, "text", "text 4");
    for text in [b"one.", b"more"] {
        (ring.put)(&[&4_u16.to_ne_bytes(), &text[..]].concat());
    }
    // The key of `docs/design.md` of `rmw_zenoh`.
    let key = "0/chatter/std_msgs::msg::dds_::String_/\
        RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18";
    let mut python = Command::new("timeout");
    python.args(["60", "python3", "-c", RECEIVES, &listens_at(&bridge).to_string(), key]);
    let output = python.env("PYTHONPATH", packages).output().unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "1 16 00010000050000006f6e652e00 True\n2 16 00010000050000006d6f726500 True\n",
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Is killed with the test.
struct Process(Child);

impl Drop for Process {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

#[test]
fn command_line_says_topic_types_and_domain() {
    let a = Machine::new("a");
    let mut ring = Ring::new(&a, "clock", "{clock:{sec:i32,nanosec:u32}}");
    (ring.put)(&[0; 8]);
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_annulus-bridge"));
    command.args(["--host", "a", "--listen", &format!("tcp/{free}")]).arg("--directory").arg(&a.path);
    command.args(["--ros2", "clock=/clock:rosgraph_msgs/msg/Clock"]);
    command.args(["--ros2-type", "clock:clock=builtin_interfaces/msg/Time"]);
    let _process = Process(command.env("ROS_DOMAIN_ID", "42").stderr(Stdio::null()).spawn().unwrap());
    let mut config = zenoh::Config::default();
    config.insert_json5("mode", r#""client""#).unwrap();
    config.insert_json5("connect/endpoints", &format!(r#"["tcp/{free}"]"#)).unwrap();
    let mut session = None;
    until("the bridge is there", || {
        session = zenoh::open(config.clone()).wait().ok();
        session.is_some()
    });
    let session = session.unwrap();
    let subscriber = session.declare_subscriber("42/**").wait().unwrap();
    let sample = next(&subscriber);
    assert_eq!(
        sample.key_expr().as_str(),
        "42/clock/rosgraph_msgs::msg::dds_::Clock_/\
         RIHS01_692f7a66e93a3c83e71765d033b60349ba68023a8c689a79e48078bcb5c58564"
    );
}
