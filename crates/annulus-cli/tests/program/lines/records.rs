//! `annulus sub` of a broadcast ring of records, which another program has made.

use annulus::Settings;
use annulus::shm::{Directory, PublishedName, Shared, broadcast};

use crate::names::Names;

type Publisher = annulus::broadcast::bytes::Publisher;

fn ring(names: &Names, capacity: usize) -> (Publisher, PublishedName) {
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle, invitation, .. } = broadcast::bytes::lossy(Settings::new(capacity)).unwrap();
    (handle, invitation.publish(&directory, "log").unwrap())
}

/// What it prints and says, and how it ends.
fn printed(names: &Names, arguments: &[&str]) -> (String, String, Option<i32>) {
    let output = names.command("sub", arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code())
}

#[test]
fn record_is_a_line() {
    let names = Names::new("records");
    let (mut publisher, _name) = ring(&names, 4096);
    for record in ["one", "", "with a feed\n", "four"] {
        publisher.publish(record.as_bytes()).unwrap();
    }
    let all = ["log", "--from", "oldest", "--count", "4"];
    assert_eq!(printed(&names, &all), ("one\n\nwith a feed\nfour\n".into(), String::new(), Some(0)));
    let (json, said, code) = printed(&names, &["log", "--from", "oldest", "--count", "3", "--json"]);
    let lines: Vec<_> = json.lines().collect();
    assert_eq!(lines[0], r#"{"line":0,"text":"one","lost":0}"#);
    assert_eq!(lines[2], r#"{"line":2,"text":"with a feed","lost":0}"#);
    assert_eq!((lines.len(), said.as_str(), code), (3, "", Some(0)));
    let observed = names.command("ls", &[]).output().unwrap();
    let observed = String::from_utf8(observed.stdout).unwrap();
    assert!(observed.contains("broadcast ring of records"), "{observed}");
}

/// A lossless ring: it has a seat, so the publisher waits for it, and it can be stopped.
#[test]
fn lossless_records_are_lines_too() {
    let names = Names::new("records-lossless");
    let directory = Directory::open(&names.path).unwrap();
    let made = broadcast::bytes::lossless(Settings::new(64), 1).unwrap();
    let (mut publisher, _name) = (made.handle, made.invitation.publish(&directory, "log").unwrap());
    publisher.publish(b"before").unwrap();
    let last = ["log", "--last", "1", "--count", "1"];
    assert_eq!(printed(&names, &last), ("before\n".into(), String::new(), Some(0)));
    let child = crate::running::Running(names.command("sub", &["log"]).spawn().unwrap());
    assert!(publisher.wait_for_subscribers(1));
    let mut all = String::new();
    // Far more than the ring holds.
    for number in 0..500 {
        let line = format!("line {number}\n");
        publisher.publish(line.trim_end().as_bytes()).unwrap();
        all.push_str(&line);
    }
    let observed = names.command("info", &["log"]).output().unwrap();
    let observed = String::from_utf8(observed.stdout).unwrap();
    assert!(observed.contains("lossless broadcast ring of records"), "{observed}");
    assert!(observed.contains("seat 0, alive"), "{observed}");
    drop(publisher);
    let (printed, said, code) = child.end();
    assert_eq!((String::from_utf8(printed).unwrap(), said.as_str(), code), (all, "", 0));
}

/// To the end of the ring, and it says what the reader has lost.
#[test]
fn subscriber_prints_until_the_ring_ends() {
    let names = Names::new("records-end");
    let (mut publisher, _name) = ring(&names, 4096);
    let mut command = names.command("sub", &["log", "--from", "oldest"]);
    publisher.publish(b"before").unwrap();
    let child = crate::running::Running(command.spawn().unwrap());
    while !crate::running::shows_position(&child) {
        std::thread::yield_now();
    }
    publisher.publish(b"after").unwrap();
    drop(publisher);
    let (printed, said, code) = child.end();
    assert_eq!((String::from_utf8(printed).unwrap(), said.as_str(), code), ("before\nafter\n".into(), "", 0));
}
