//! What a signal does where a side hangs: in its output, or in a full ring; and what the other side learns.

use std::fs::File;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use annulus::Settings;
use annulus::shm::{Directory, Shared, broadcast};
use rustix::process::Signal;

use super::quotes;
use crate::names::Names;
use crate::running::{Running, but_waiting, until_it_hangs};

/// A number in what the program says.
fn number(text: &str) -> u64 {
    text.replace(',', "").parse().unwrap()
}

/// It ends, and says how much it has printed at most.
#[test]
fn signal_ends_a_subscriber_whose_output_is_full() {
    let names = Names::new("hangs");
    let _publisher = names.publisher(&quotes(5_000), &[]);
    let directory = Directory::open(&names.path).unwrap();
    let made = broadcast::lossy::<[u64; 4]>(Settings::new(16_384)).unwrap();
    let Shared { handle: mut publisher, invitation, .. } = made;
    let _name = invitation.publish(&directory, "numbers").unwrap();
    (0..16_384).for_each(|number| publisher.publish([number << 40; 4]));
    for (subcommand, arguments, thing, most) in [
        ("sub", &["quotes"][..], "lines", 5_000),
        ("sub", &["quotes", "--json"], "lines", 5_000),
        ("sub", &["quotes", "--follow"], "lines", 5_000),
        ("sub", &["numbers", "--json"], "messages", 16_384),
        ("watch", &["numbers"], "messages", 16_384),
    ] {
        let mut command = names.command(subcommand, &["--from", "oldest"]);
        command.args(arguments).env("ANNULUS_PATIENCE_SECONDS", "0");
        let mut subscriber = Running(command.spawn().unwrap());
        let output = subscriber.0.stdout.take().unwrap();
        until_it_hangs(&subscriber, &output);
        subscriber.signal(Signal::TERM);
        assert_eq!(subscriber.0.wait().unwrap().code(), Some(143));
        let mut said = String::new();
        subscriber.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        let count = said.strip_prefix("annulus: printed at most ").expect(&said);
        let count = count.strip_suffix("; nobody reads the output\n").expect(&said);
        let (count, rest) = count.split_once(' ').unwrap();
        assert!(rest.starts_with(thing) && (500..most).contains(&number(count)), "{arguments:?}: {said}");
    }
}

/// Nobody reads what it says either.
#[test]
fn signal_ends_a_subscriber_that_can_say_nothing() {
    let names = Names::new("hangs-mute");
    let _publisher = names.publisher(&quotes(5_000), &[]);
    let sub = names.command("sub", &["quotes", "--from", "oldest"]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec \"$@\" 2>&1", "sh"]).arg(sub.get_program()).args(sub.get_args());
    shell.env("ANNULUS_PATIENCE_SECONDS", "0").stdout(Stdio::piped());
    let mut subscriber = Running(shell.spawn().unwrap());
    let output = subscriber.0.stdout.take().unwrap();
    until_it_hangs(&subscriber, &output);
    subscriber.signal(Signal::TERM);
    assert_eq!(subscriber.0.wait().unwrap().code(), Some(143));
}

/// The last piece, which says that input is left, has no room in the ring, if the publisher had come so far.
#[test]
fn publisher_that_is_stopped_in_a_full_ring_has_not_published_all() {
    let names = Names::new("full-ring");
    let input = names.folder.file("input", quotes(5_000));
    let mut command = names.command("pub", &["quotes", "--lossless", "--capacity", "16", "--file"]);
    let publisher = Running(command.arg(&input).spawn().unwrap());
    let mut subscriber = Running(names.command("sub", &["quotes", "--wait"]).spawn().unwrap());
    let mut output = subscriber.0.stdout.take().unwrap();
    until_it_hangs(&subscriber, &output);
    publisher.signal(Signal::TERM);
    let (_, said, code) = publisher.end();
    assert!(code == 143 && said.contains("annulus: published "), "{said}");
    let mut printed = Vec::new();
    output.read_to_end(&mut printed).unwrap();
    let mut said = String::new();
    subscriber.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    let ends = ["died\n", "failed or was stopped: not all of its input was published\n"]
        .map(|end| format!("annulus: the publisher of `quotes` has {end}"));
    assert!(ends.iter().any(|end| end == but_waiting(&said)), "{said}");
    assert_eq!(subscriber.0.wait().unwrap().code(), Some(1));
    assert!(quotes(5_000).starts_with(&printed) && printed.ends_with(b"\n"), "{} bytes", printed.len());
}

/// Of a ring of its own with `--json`: its subscribers take it for dead. Where the input has come to its
/// end, it is an end like any other.
#[test]
fn publisher_of_messages_that_is_stopped_has_not_published_all() {
    let names = Names::new("stopped-json");
    for (stay, outcome) in [(&[][..], 1), (&["--stay"], 0)] {
        let mut command = names.command("pub", &["numbers", "--json", "--schema", "u64"]);
        let mut publisher = Running(command.args(stay).stdin(Stdio::piped()).spawn().unwrap());
        let mut input = publisher.0.stdin.take();
        publisher.says("publishing");
        input.as_mut().unwrap().write_all(b"1\n").unwrap();
        let copy = names.folder.0.join("copy");
        let mut command = names.command("sub", &["numbers", "--json", "--from", "oldest"]);
        let mut subscriber = Running(command.stdout(File::create(&copy).unwrap()).spawn().unwrap());
        while std::fs::read(&copy).unwrap() != b"1\n" {
            std::thread::yield_now();
        }
        if outcome == 0 {
            drop(input.take());
            publisher.says("staying");
        }
        assert_eq!(publisher.interrupt(), 130);
        assert_eq!(subscriber.0.wait().unwrap().code(), Some(outcome));
        names.assert_empty();
    }
}
