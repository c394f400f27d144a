//! `annulus pub --json` and `annulus sub --json`: messages of any ring that has a schema.

use std::io::Write;
use std::process::{Output, Stdio};

use annulus::shm::blocks::{self, Block, MessageType};
use annulus::shm::{Directory, Invitation, Shared, broadcast, mp_broadcast, mpsc};
use annulus::{Message, RecvError};

use crate::names::Names;
use crate::running::{Running, but_waiting};

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[repr(u8)]
enum Side {
    Buy,
    Sell,
}

#[derive(Clone, Copy, Debug, PartialEq, Message)]
#[message(name = "order", packed)]
struct Order {
    id: u64,
    price: Option<f64>,
    side: Side,
    live: bool,
}

const ORDERS: [Order; 2] = [
    Order { id: 7, price: Some(1.5), side: Side::Sell, live: true },
    Order { id: 8, price: None, side: Side::Buy, live: false },
];

const LINES: &str = "{\"id\":7,\"price\":1.5,\"side\":\"Sell\",\"live\":true}\n\
                     {\"id\":8,\"price\":null,\"side\":\"Buy\",\"live\":false}\n";

const SCHEMA: &str = "order{id:u64,price:f64?,side:enum u8{Buy=0,Sell=1},live:bool}";

impl Names {
    /// What a publisher of these lines says, and how it ends.
    fn publish(&self, text: &str, arguments: &[&str]) -> (String, i32) {
        let mut command = self.command("pub", arguments);
        let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
        // (It is an error if the program has ended without a look at it.)
        let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
        let Output { stderr, status, .. } = child.wait_with_output().unwrap();
        (String::from_utf8(stderr).unwrap(), status.code().unwrap())
    }
}

/// Rings that other programs have made: a queue, and a ring with several publishers.
#[test]
fn messages_go_to_rings_of_any_program() {
    let names = Names::new("json-to");
    let directory = Directory::open(&names.path).unwrap();
    let builder = mpsc::Builder::new(annulus::Settings::new(2)).producers(2);
    let Shared { handle: mut consumer, invitation, .. } = builder.build::<Order>().unwrap();
    let _name = invitation.publish(&directory, "orders").unwrap();
    let told = names.publish(LINES, &["orders", "--json"]);
    assert_eq!(told, ("annulus: published 2 messages\n".into(), 0));
    assert_eq!([consumer.recv().unwrap(), consumer.recv().unwrap()], ORDERS);

    let builder = mp_broadcast::Builder::new(annulus::Settings::new(8)).publishers(2);
    let Shared { handle: _own, invitation, .. } = builder.build::<Order>().unwrap();
    let _name = invitation.publish(&directory, "many").unwrap();
    let ring = invitation.accept::<Order>().unwrap();
    let mut subscriber = ring.subscribable().subscribe();
    // Empty lines are none, and what is not said of an option is null.
    let text = LINES.replace("\"price\":null,", "").replace('\n', "\n\n");
    assert_eq!(names.publish(&text, &["many", "--json"]), ("annulus: published 2 messages\n".into(), 0));
    assert_eq!([subscriber.recv().unwrap(), subscriber.recv().unwrap()], ORDERS);
    let sub = names.command("sub", &["many", "--json", "--from", "oldest", "--count", "2"]).output().unwrap();
    assert_eq!((String::from_utf8(sub.stdout).unwrap(), sub.status.code()), (LINES.into(), Some(0)));
    let last = names.command("sub", &["many", "--json", "--last", "1", "--count", "1"]).output().unwrap();
    assert_eq!(LINES.lines().last(), String::from_utf8(last.stdout).unwrap().lines().last());
}

/// A ring that was closed before is no end of the input: nobody stays for it.
#[test]
fn end_of_a_queue_is_not_stayed_for() {
    let names = Names::new("json-closed");
    let directory = Directory::open(&names.path).unwrap();
    let builder = mpsc::Builder::new(annulus::Settings::new(2)).producers(1);
    let Shared { handle: mut consumer, invitation, .. } = builder.build::<Order>().unwrap();
    let _name = invitation.publish(&directory, "orders").unwrap();
    let mut child =
        Running(names.command("pub", &["orders", "--json", "--stay"]).stdin(Stdio::piped()).spawn().unwrap());
    let mut input = child.0.stdin.take().unwrap();
    let line = LINES.lines().next().unwrap();
    writeln!(input, "{line}").unwrap();
    assert_eq!(consumer.recv(), Ok(ORDERS[0]));
    drop(consumer);
    writeln!(input, "{line}").unwrap();
    let (_, said, code) = child.end();
    assert_eq!((said.as_str(), code), ("annulus: `orders` is closed\nannulus: published 1 message\n", 1));
}

/// A ring of this program's own, of which a program in Rust has the type; and one that this program reads.
#[test]
fn messages_go_from_a_ring_to_any_program() {
    let names = Names::new("json-from");
    let directory = Directory::open(&names.path).unwrap();
    let input = names.folder.file("input", LINES);
    let arguments = ["orders", "--json", "--schema", SCHEMA, "--lossless", "--subscribers", "2", "--file"];
    let publisher = Running(names.command("pub", &arguments).arg(input).spawn().unwrap());
    let invitation = Invitation::wait_for(&directory, "orders", None).unwrap();
    let ring = invitation.accept_lossless::<Order>().unwrap();
    let mut subscriber = ring.subscribe().unwrap();
    let other = Running(names.command("sub", &["orders", "--json"]).spawn().unwrap());
    assert_eq!(ORDERS.map(|_| subscriber.recv()), ORDERS.map(Ok));
    assert_eq!(subscriber.recv(), Err(RecvError::CLOSED));
    let (_, said, code) = publisher.end();
    assert!(code == 0 && said.contains("waiting for 2 subscribers"), "{said}");
    assert!(said.contains("--json`") && said.ends_with("published 2 messages\n"), "{said}");
    assert_eq!(other.end(), (LINES.into(), String::new(), 0));

    // What it reads of other programs; a queue has one consumer.
    let settings = annulus::Settings::new(4);
    let policy = annulus::shm::WhenGone::Close;
    let Shared { handle: mut producer, invitation, .. } =
        annulus::shm::spsc::producer::<Order>(settings, policy).unwrap();
    let _name = invitation.publish(&directory, "queue").unwrap();
    producer.send_batch(&ORDERS).unwrap();
    let mut sub = Running(names.command("sub", &["queue", "--json"]).spawn().unwrap());
    while !producer.is_empty() {
        std::thread::yield_now();
    }
    let refused = names.command("sub", &["queue", "--json"]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(
        refused.status.code() == Some(2) && said.contains("`queue` can't be used: the queue has"),
        "{said}"
    );
    assert_eq!(sub.interrupt(), 130);
    let (printed, said, _) = sub.end();
    assert_eq!(
        (String::from_utf8(printed).unwrap(), said.as_str()),
        (LINES.into(), "annulus: printed 2 messages\n")
    );
}

#[test]
fn line_that_is_no_message_is_reported() {
    let names = Names::new("json-bad");
    let directory = Directory::open(&names.path).unwrap();
    let builder = mpsc::Builder::new(annulus::Settings::new(4)).producers(4);
    let Shared { handle: mut consumer, invitation, .. } = builder.build::<Order>().unwrap();
    let _name = invitation.publish(&directory, "orders").unwrap();
    for (line, expected) in [
        ("{", "line 3 of the standard input: it is no JSON: "),
        ("{\"id\":-1}", "line 3 of the standard input: `id`: -1 is no value of u64"),
        ("{\"id\":1,\"side\":\"Hold\"}", "`side`: \"Hold\" is no value of enum u8{Buy=0,Sell=1}"),
        ("{\"id\":1}", "the field `side` is missing: enum u8{Buy=0,Sell=1}"),
        ("{\"Id\":1}", "there is no field `Id`: `id`, `price`, `side`, `live`"),
    ] {
        let (said, code) = names.publish(&format!("{LINES}{line}\n"), &["orders", "--json"]);
        assert!(code == 2 && said.contains(expected), "{said}");
        // What was good is published.
        assert_eq!([consumer.recv().unwrap(), consumer.recv().unwrap()], ORDERS);
    }
    assert!(consumer.is_empty());

    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<u64>(annulus::Settings::new(8)).unwrap();
    let _name = invitation.publish(&directory, "lossy").unwrap();
    publisher.publish(1);
    let (said, code) = names.publish("1\n", &["lossy", "--json"]);
    assert!(
        code == 2 && said.contains("`lossy` is a lossy broadcast ring, and has its one publisher"),
        "{said}"
    );
    for arguments in [&["orders", "--json", "--capacity", "8"][..], &["orders", "--json", "--lossless"]] {
        let (said, code) = names.publish("", arguments);
        let expected = format!("{} is for a ring of its own", arguments[2]);
        assert!(code == 2 && said.contains(&expected), "{said}");
    }
    let (said, code) = names.publish(LINES, &["orders", "--json", "--size", "44"]);
    assert!(code == 2 && said.contains("line 1 of the standard input is longer than 44 bytes"), "{said}");
    let (said, code) = names.publish("1\n", &["large", "--json", "--schema", "[u64;600]"]);
    assert!(
        code == 2
            && said.contains(
                "`large`: a message of a broadcast ring has up to 4,096 bytes here, and this one has 4,800"
            ),
        "{said}"
    );
    let (said, code) = names.publish("1\n", &["mine", "--json", "--schema", "quote{bid:f65}"]);
    assert!(code == 2 && said.contains("--schema"), "{said}");
    let (said, code) = names.publish("1\n", &["mine", "--schema", "u64"]);
    assert!(code == 2 && said.contains("--json"), "{said}");
    let builder = annulus::Settings::new(4);
    let policy = annulus::shm::WhenGone::Close;
    let Shared { handle: _producer, invitation, .. } =
        annulus::shm::spsc::producer::<()>(builder, policy).unwrap();
    let _name = invitation.publish(&directory, "empty").unwrap();
    let output = names.command("sub", &["empty", "--json"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("`empty` have no bytes: {}"), "{said}");
    let said = String::from_utf8(names.command("sub", &["lossy"]).output().unwrap().stderr).unwrap();
    assert!(said.contains("--json prints messages of any ring"), "{said}");
}

/// Subscribers that have received the good lines are told that the rest does not come.
#[test]
fn publisher_that_fails_is_taken_for_dead() {
    let names = Names::new("json-fails");
    let sub = Running(names.command("sub", &["orders", "--json", "--wait"]).spawn().unwrap());
    let text = format!("{LINES}no JSON\n");
    let (said, code) = names.publish(&text, &["orders", "--json", "--schema", SCHEMA, "--lossless"]);
    assert!(code == 2 && said.contains("line 3 of the standard input: it is no JSON"), "{said}");
    let expected = "annulus: the publisher of `orders` has died\n";
    let (printed, said, code) = sub.end();
    assert_eq!((printed.as_slice(), but_waiting(&said), code), (LINES.as_bytes(), expected, 1));
}

/// Another process writes what no message has: it is left out, and said.
#[test]
fn corrupt_messages_are_left_out() {
    let names = Names::new("json-corrupt");
    let directory = Directory::open(&names.path).unwrap();
    let builder = annulus::Settings::new(8);
    let of = MessageType::described(SCHEMA.parse().unwrap(), 1);
    let Shared { handle: mut publisher, invitation, .. } = blocks::lossy::<4, false>(builder, &of).unwrap();
    let _name = invitation.publish(&directory, "orders").unwrap();
    // The side is byte 17.
    for side in [1, 9, 0] {
        publisher.publish(Block([7, 0, side << 8, 0]));
    }
    drop(publisher);
    let sub = names.command("sub", &["orders", "--json", "--from", "oldest"]).output().unwrap();
    let line = |side| format!("{{\"id\":7,\"price\":null,\"side\":\"{side}\",\"live\":false}}\n");
    assert_eq!(String::from_utf8(sub.stdout).unwrap(), line("Sell") + &line("Buy"));
    let said = String::from_utf8(sub.stderr).unwrap();
    let expected = "corrupt, and left out, before message 1: `side`, at byte 17, is 9: no value of enum u8{Buy=0,Sell=1}";
    assert!(said.contains(expected) && said.contains("printed 2 messages, lost 1"), "{said}");

    let watch = names.command("watch", &["orders", "--from", "oldest"]).output().unwrap();
    let printed = String::from_utf8(watch.stdout).unwrap();
    assert!(
        printed.contains("1  corrupt: `side`, at byte 17, is 9: no value of enum u8{Buy=0,Sell=1}\n"),
        "{printed}"
    );
}
