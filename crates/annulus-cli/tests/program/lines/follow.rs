//! `annulus sub --follow`: one publisher after the other.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::Stdio;

use serde_json::Value;

use crate::names::Names;
use crate::running::{Running, but_waiting, watches_folder};

/// One publisher after the other: one is killed, one ends by itself, and the next ones are printed, too. Each
/// change is said, in JSON as a line of its own.
#[test]
fn subscriber_goes_on_with_the_next_publisher() {
    let names = Names::new("follow");
    let follow = |arguments: &[&str]| {
        let mut command = names.command("sub", &["quotes", "--wait", "--follow", "--from", "oldest"]);
        Running(command.args(arguments).spawn().unwrap())
    };
    let plain = follow(&["--count", "6"]);
    let json = follow(&["--json", "--count", "6"]);
    let mut newest = None;
    // The last one lives until all have what it publishes.
    let mut last = None;
    let mut publishers = Vec::new();
    for (number, text) in ["one\ntwo\n", "three\nfour\n", "five\nsix\n"].into_iter().enumerate() {
        let mut publisher = names.publisher(text.as_bytes(), &[]);
        publishers.push(publisher.0.id());
        // (With the last one they come to their ends, by themselves.)
        while number < 2 && !(maps_that_of(&plain, &publisher) && maps_that_of(&json, &publisher)) {
            std::thread::yield_now();
        }
        match number {
            0 => publisher.kill(),
            1 => {
                // It begins with the next line, which is the next publisher's first.
                let mut command = names.command("sub", &["quotes", "--follow", "--count", "2"]);
                let child = newest.insert(Running(command.spawn().unwrap()));
                while !maps_that_of(child, &publisher) {
                    std::thread::yield_now();
                }
                assert_eq!(publisher.interrupt(), 130);
            }
            _ => {
                last = Some(publisher);
                let (printed, said, code) = newest.take().unwrap().end();
                assert_eq!((printed.as_slice(), code), (&b"five\nsix\n"[..], 0), "{said}");
            }
        }
    }
    let (printed, said, code) = plain.end();
    assert_eq!((printed.as_slice(), code), (&b"one\ntwo\nthree\nfour\nfive\nsix\n"[..], 0), "{said}");
    let [first, second, third] = publishers[..] else { unreachable!("three") };
    let changes = [
        format!("process {first}, has died"),
        format!("next publisher, process {second}"),
        format!("process {second}, has ended"),
        format!("next publisher, process {third}"),
    ];
    let told: Vec<_> = but_waiting(&said).lines().collect();
    assert_eq!(told.len(), changes.len(), "{said}");
    assert!(told.iter().zip(&changes).all(|(told, change)| told.contains(change)), "{said}");

    let (printed, _, code) = json.end();
    let objects: Vec<Value> =
        String::from_utf8(printed).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let line = |line: u64, text: &str| serde_json::json!({ "line": line, "text": text, "lost": 0 });
    let change = |change: &str, process: u32| serde_json::json!({ "change": change, "process": process });
    let expected = [
        change("began", first),
        line(0, "one"),
        line(1, "two"),
        change("died", first),
        change("began", second),
        line(0, "three"),
        line(1, "four"),
        change("ended", second),
        change("began", third),
        line(0, "five"),
        line(1, "six"),
    ];
    assert_eq!((objects.as_slice(), code), (&expected[..], 0));
    drop(last);
}

/// It says which publisher did not come to the end of its input.
#[test]
fn failure_is_a_change_of_its_own() {
    let names = Names::new("follow-failure");
    let subscriber =
        Running(names.command("sub", &["quotes", "--wait", "--follow", "--json"]).spawn().unwrap());
    while !watches_folder(&subscriber) {
        std::thread::yield_now();
    }
    let mut publisher =
        Running(names.command("pub", &["quotes", "--size", "9"]).stdin(Stdio::piped()).spawn().unwrap());
    let mut input = publisher.0.stdin.take().unwrap();
    publisher.says("publishing");
    while !maps_that_of(&subscriber, &publisher) {
        std::thread::yield_now();
    }
    input.write_all(b"one\nthis is too long\n").unwrap();
    assert_eq!(publisher.0.wait().unwrap().code(), Some(2));
    let mut subscriber = subscriber;
    let mut lines = BufReader::new(subscriber.0.stdout.take().unwrap()).lines();
    let mut last = || lines.next().unwrap().unwrap();
    assert_eq!([last(), last()].map(|line| line.contains("failed")), [false; 2]);
    assert!(last().contains("failed"));
    subscriber.says("has failed");
    assert_eq!(subscriber.interrupt(), 130);
}

/// Whether the one has mapped the ring of the other, and the page beside it: both have the same files.
fn maps_that_of(subscriber: &Running, publisher: &Running) -> bool {
    let rings = |running: &Running| {
        let maps = std::fs::read_to_string(format!("/proc/{}/maps", running.0.id())).unwrap_or_default();
        let rings = maps.lines().filter(|line| line.contains("memfd:annulus"));
        rings.filter_map(|line| Some(line.split_whitespace().nth(4)?.to_string())).collect::<Vec<_>>()
    };
    let ours = rings(subscriber);
    rings(publisher).iter().all(|ring| ours.contains(ring))
}

/// A signal ends it as it ends any other, also between two publishers.
#[test]
fn signal_ends_one_that_follows() {
    let names = Names::new("follow-signal");
    let mut publisher = names.publisher(b"one\n", &[]);
    let mut command = names.command("sub", &["quotes", "--follow", "--from", "oldest"]);
    let mut subscriber = Running(command.spawn().unwrap());
    while !maps_that_of(&subscriber, &publisher) {
        std::thread::yield_now();
    }
    publisher.kill();
    let mut told = BufReader::new(subscriber.0.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert!(line.contains("has died"), "{line}");
    assert_eq!(subscriber.interrupt(), 130);
    let mut printed = String::new();
    subscriber.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!(printed, "one\n");

    // There is none now, and nobody said that it should wait.
    let output = names.command("sub", &["quotes", "--follow"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("is dead"), "{output:?}");
}
