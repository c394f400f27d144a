//! `annulus get` as its users see it.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::shm::blocks::MessageType;
use annulus::shm::watch::{self, Sender};
use annulus::shm::{Directory, PublishedName, Shared, WhenGone, broadcast, dynamic, spsc};
use annulus::{Message, Text};
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::names::Names;
use crate::running::Running;

#[derive(Clone, Copy, Message)]
struct Quote {
    bid: f64,
    name: Text<6>,
}

/// What it prints, what it says, and its exit code.
fn got(names: &Names, arguments: &[&str]) -> (String, String, i32) {
    let output = names.command("get", arguments).output().unwrap();
    let [printed, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (printed, said, output.status.code().unwrap())
}

fn quote(bid: f64, name: &str) -> Quote {
    Quote { bid, name: Text::truncated(name) }
}

/// A table `prices` of four cells: two with keys and values, one with a value only, one with nothing.
fn prices(names: &Names) -> (Sender<Quote>, PublishedName) {
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: mut sender, invitation, .. } = watch::table(Settings::new(4)).unwrap();
    let name = invitation.publish(&directory, "prices").unwrap();
    for (cell, key, bid) in [(0, "EURUSD", 1.5), (1, "a\u{1b}b", 2.5)] {
        assert_eq!(sender.cell(key), Ok(cell));
        sender.send_to(cell, quote(0.5, "old")).unwrap();
        sender.send_to(cell, quote(bid, "new")).unwrap();
    }
    sender.send_to(3, quote(4.5, "last")).unwrap();
    (sender, name)
}

#[test]
fn newest_values_are_printed() {
    let names = Names::new("get");
    let (_sender, _name) = prices(&names);
    let [euro, other, last] = [
        "EURUSD  bid: 1.5  name: \"new\"\n",
        "a\\u{1b}b  bid: 2.5  name: \"new\"\n",
        "3  bid: 4.5  name: \"last\"\n",
    ];
    let printed = |text: &str| (text.to_owned(), String::new(), 0);
    assert_eq!(got(&names, &["prices"]), printed(&[euro, other, last].concat()));
    assert_eq!(got(&names, &["prices", "EURUSD"]), printed(euro));
    assert_eq!(got(&names, &["prices", "0"]), printed(euro));
    assert_eq!(got(&names, &["prices", "3"]), printed(last));
    let nothing = (String::new(), "annulus: nothing was sent to cell 2 of `prices` yet\n".into(), 1);
    assert_eq!(got(&names, &["prices", "2"]), nothing);
    let (text, _, code) = got(&names, &["prices", "--json"]);
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = [
        json!({"cell": 0, "key": "EURUSD", "value": {"bid": 1.5, "name": "new"}}),
        json!({"cell": 1, "key": "a\u{1b}b", "value": {"bid": 2.5, "name": "new"}}),
        json!({"cell": 3, "key": null, "value": {"bid": 4.5, "name": "last"}}),
    ];
    assert_eq!((&lines[..], code), (&expected[..], 0));
    for cell in ["GBPUSD", "4", "-"] {
        let (printed, said, code) = got(&names, &["prices", cell]);
        let expected =
            format!("error: `prices` has no cell `{cell}`: it has 4 cells, from 0 on, and 2 keys\n");
        assert_eq!((printed.as_str(), said, code), ("", expected, 2));
    }
}

/// One value, without a struct, of a sender in another language; and a table without any.
#[test]
fn one_value_and_none() {
    let names = Names::new("get-one");
    let directory = Directory::open(&names.path).unwrap();
    let of = MessageType::described("f64".parse().unwrap(), 8);
    let Shared { handle: mut sender, invitation, .. } = dynamic::watch::table(Settings::new(1), &of).unwrap();
    let _name = invitation.publish(&directory, "room").unwrap();
    let nothing = (String::new(), "annulus: nothing was sent to `room` yet\n".into(), 1);
    assert_eq!(got(&names, &["room"]), nothing);
    sender.send(&20.5_f64.to_ne_bytes()).unwrap();
    assert_eq!(got(&names, &["room"]), ("0  value: 20.5\n".into(), String::new(), 0));
    let expected = "{\"cell\":0,\"key\":null,\"value\":20.5}\n";
    assert_eq!(got(&names, &["room", "--json"]), (expected.into(), String::new(), 0));
    // The value stays when it is closed.
    sender.closer().close();
    assert_eq!(got(&names, &["room", "--changes"]), ("0  value: 20.5\n".into(), String::new(), 0));

    let of = MessageType::described("bool".parse().unwrap(), 1);
    let Shared { handle: mut sender, invitation, .. } = dynamic::watch::table(Settings::new(2), &of).unwrap();
    let _name = invitation.publish(&directory, "flags").unwrap();
    sender.send(&[7]).unwrap();
    sender.send_to(1, &[1]).unwrap();
    let (printed, said, code) = got(&names, &["flags"]);
    assert!(printed == "1  value: true\n" && code == 1, "{printed} {code}");
    assert!(said.starts_with("annulus: cell 0: corrupt: ") && said.lines().count() == 1, "{said}");
}

fn line_of(child: &mut BufReader<&mut std::process::ChildStdout>) -> String {
    let mut line = String::new();
    child.read_line(&mut line).unwrap();
    line
}

/// What is there first, then each change, until the sender ends; of one cell, of that one only.
#[test]
fn changes_are_printed_until_the_end() {
    let names = Names::new("get-changes");
    let (mut sender, _name) = prices(&names);
    let mut all = Running(names.command("get", &["prices", "--changes"]).spawn().unwrap());
    let one = Running(names.command("get", &["prices", "2", "--changes"]).spawn().unwrap());
    let first = Running(names.command("get", &["prices", "--changes", "--count", "2"]).spawn().unwrap());
    let mut lines = BufReader::new(all.0.stdout.as_mut().unwrap());
    for begin in ["EURUSD  bid: 1.5", "a\\u{1b}b  bid: 2.5", "3  bid: 4.5"] {
        assert!(line_of(&mut lines).starts_with(begin));
    }
    let (text, said, code) = first.end();
    let text = String::from_utf8(text).unwrap();
    assert_eq!((text.lines().count(), said.as_str(), code), (2, "", 0));
    for bid in [6.0, 7.0] {
        sender.send_to(2, quote(bid, "two")).unwrap();
        let expected = format!("2  bid: {bid:?}  name: \"two\"\n");
        assert_eq!(line_of(&mut lines), expected);
    }
    sender.send_to(0, quote(8.0, "end")).unwrap();
    sender.close();
    assert_eq!(line_of(&mut lines), "EURUSD  bid: 8.0  name: \"end\"\n");
    drop(lines);
    let (rest, said, code) = all.end();
    assert_eq!((rest.as_slice(), said.as_str(), code), (&b""[..], "", 0));
    let (text, said, code) = one.end();
    let text = String::from_utf8(text).unwrap();
    // (It may have come after the first of the two.)
    assert!(text.ends_with("2  bid: 7.0  name: \"two\"\n") && text.lines().count() <= 2, "{text}");
    assert_eq!((said.as_str(), code), ("", 0));
}

/// This program as a sender of another process, when it is run as a test by itself.
#[test]
#[ignore = "a child of the next test"]
fn child_that_sends() {
    let names = std::env::var_os("ANNULUS_TEST_NAMES").unwrap();
    let directory = Directory::open(names).unwrap();
    let Shared { invitation, handle: _sender, .. } = watch::sender(1.5_f64).unwrap();
    let _name = invitation.publish(&directory, "room").unwrap();
    println!("\nsending");
    thread::sleep(Duration::from_secs(600));
}

#[test]
fn death_of_the_sender_is_said() {
    let names = Names::new("get-death");
    drop(Directory::open(&names.path).unwrap());
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["get::child_that_sends", "--exact", "--ignored", "--nocapture"]);
    let mut child = child.env("ANNULUS_TEST_NAMES", &names.path).stdout(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    said.map(Result::unwrap).find(|line| line == "sending").expect("it sends");
    let mut get = Running(names.command("get", &["room", "--changes"]).spawn().unwrap());
    assert_eq!(line_of(&mut BufReader::new(get.0.stdout.as_mut().unwrap())), "0  value: 1.5\n");
    child.kill().unwrap();
    child.wait().unwrap();
    let (rest, said, code) = get.end();
    let expected = "annulus: the sender of `room` has died\n";
    assert_eq!((rest.as_slice(), said.as_str(), code), (&b""[..], expected, 1));
}

#[test]
fn signal_has_its_count() {
    let names = Names::new("get-signal");
    let (_sender, _name) = prices(&names);
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut get = Running(names.command("get", &["prices", "3", "--changes"]).spawn().unwrap());
        line_of(&mut BufReader::new(get.0.stdout.as_mut().unwrap()));
        get.signal(signal);
        let (_, said, ended) = get.end();
        assert_eq!((said.as_str(), ended), ("annulus: printed 1 value\n", code));
    }
}

/// Each subcommand names the right one.
#[test]
fn rings_of_other_kinds_are_refused() {
    let names = Names::new("get-kinds");
    let directory = Directory::open(&names.path).unwrap();
    let (_sender, _name) = prices(&names);
    let ring = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let queue = spsc::producer::<u64>(Settings::new(8), WhenGone::Close).unwrap();
    let _ring = ring.invitation.publish(&directory, "ring").unwrap();
    let _queue = queue.invitation.publish(&directory, "queue").unwrap();
    let of = MessageType::of_bytes(12, 4);
    let bytes = dynamic::watch::table(Settings::new(1), &of).unwrap();
    let _bytes = bytes.invitation.publish(&directory, "bytes").unwrap();
    for (subcommand, name, expected) in [
        ("get", "ring", "is a lossy broadcast ring, and has no newest values: `annulus sub --json` prints"),
        (
            "get",
            "queue",
            "is a queue of one producer, and has no newest values: `annulus sub --json` receives",
        ),
        ("get", "bytes", "has no schema: nobody knows what is in its values of 12 bytes"),
        ("sub", "prices", "has newest values, and no messages: `annulus get` prints its values"),
        (
            "watch",
            "prices",
            "has newest values: only broadcast rings can be watched; `annulus get` prints its",
        ),
    ] {
        let output = names.command(subcommand, &[name]).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(said.starts_with(&format!("error: `{name}` {expected}")), "{subcommand} {name}: {said}");
        assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0), "{subcommand} {name}");
    }
}
