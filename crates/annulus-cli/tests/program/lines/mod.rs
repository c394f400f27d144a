//! `annulus pub` and `annulus sub` as their users see them: processes, pipes, and names.

mod follow;
mod json;
mod lossless;
mod records;
mod stopped;

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use crate::names::Names;
use crate::running::{Running, but_waiting, mapped, readable, shows_position, watches_folder};
use annulus::shm::{Directory, Fingerprint, PeerState, Shared};
use rustix::process::Signal;
use serde_json::Value;

impl Names {
    /// A publisher of this text, which stays. It has published all when this returns.
    fn publisher(&self, text: &[u8], arguments: &[&str]) -> Running {
        let file = self.folder.file("input", text);
        let mut command = self.command("pub", arguments);
        command.args(["quotes", "--stay", "--file"]).arg(file);
        let mut child = Running(command.spawn().unwrap());
        child.says("staying");
        child
    }
}

/// Lines of every length, with bytes of every kind; the last one has no line feed.
fn odd_lines() -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..300_usize {
        text.extend((0..number).map(|index| (number * 7 + index) as u8).filter(|&byte| byte != b'\n'));
        text.push(b'\n');
    }
    text.extend(b"the last");
    text
}

#[test]
fn last_lines_are_printed_and_then_those_that_come() {
    let names = Names::new("last");
    let long = "x".repeat(500);
    let text = format!("one\ntwo\n{long}\nfour\n");
    let _publisher = names.publisher(text.as_bytes(), &[]);
    let last = |count: &str, lines: &str| {
        let sub = ["quotes", "--last", count, "--count", lines];
        let sub = names.command("sub", &sub).output().unwrap();
        (String::from_utf8(sub.stdout).unwrap(), String::from_utf8(sub.stderr).unwrap())
    };
    assert_eq!(last("2", "2"), (format!("{long}\nfour\n"), String::new()));
    assert_eq!(last("1", "1"), ("four\n".into(), String::new()));
    assert_eq!(last("1e6", "4"), (text.clone(), String::new()));
    let both = names.command("sub", &["quotes", "--last", "2", "--from", "oldest"]).output().unwrap();
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn two_subscribers_print_it_byte_for_byte() {
    let names = Names::new("two");
    let text = odd_lines();
    // The first comes before the publisher.
    let first = Running(names.command("sub", &["quotes", "--wait", "--from", "oldest"]).spawn().unwrap());
    let mut publisher = names.publisher(&text, &[]);
    let second = Running(names.command("sub", &["quotes", "--from", "oldest"]).spawn().unwrap());
    // Both have all of it: they are told the end when they have printed everything.
    let third = names.command("sub", &["quotes", "--from", "oldest", "--count", "301"]).output().unwrap();
    assert_eq!((third.stdout == text, third.status.code()), (true, Some(0)));
    // (Until the first two have mapped the ring, a close would keep them from finding it.)
    while !mapped(&first) || !mapped(&second) {
        std::thread::yield_now();
    }
    assert_eq!(publisher.interrupt(), 130);
    for subscriber in [first, second] {
        let (printed, said, code) = subscriber.end();
        assert_eq!((but_waiting(&said), code), ("", 0));
        assert!(printed == text, "{} of {} bytes", printed.len(), text.len());
    }
    names.assert_empty();
}

/// For a subscriber that comes before the publisher, the next line is the first one, also without an option
/// that says so.
#[test]
fn subscriber_that_waits_for_a_publisher_misses_nothing() {
    let names = Names::new("waits");
    let text = odd_lines();
    for follows in [false, true] {
        let arguments = ["quotes", "--wait", "--follow", "--count", "301"];
        let arguments = if follows { &arguments[..] } else { &arguments[..2] };
        let first = Running(names.command("sub", arguments).spawn().unwrap());
        // It has looked for the ring before it watches the directory.
        while !watches_folder(&first) {
            std::thread::yield_now();
        }
        let mut publisher = names.publisher(&text, &[]);
        let printed = if follows {
            first.end()
        } else {
            while !mapped(&first) {
                std::thread::yield_now();
            }
            assert_eq!(publisher.interrupt(), 130);
            first.end()
        };
        assert!(printed.0 == text && printed.2 == 0, "{} bytes; {}", printed.0.len(), printed.1);
        if follows {
            publisher.interrupt();
        }
    }
    names.assert_empty();
}

/// Subscribers that wait for a ring come a moment after its name: a short input does not take it away before.
#[test]
fn ring_without_subscribers_stays_for_a_second() {
    let names = Names::new("short");
    let begun = std::time::Instant::now();
    let output = names.command("pub", &["quotes"]).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success() && begun.elapsed() >= std::time::Duration::from_secs(1));
    names.assert_empty();
}

/// A subscriber that waits may find the ring when the first lines are in it: these come, too.
#[test]
fn subscriber_that_waits_while_lines_come_misses_nothing() {
    let names = Names::new("beside");
    let mut publisher = names.publisher(b"one\ntwo\n", &[]);
    for follow in [&[][..], &["--follow"]] {
        let mut command = names.command("sub", &["quotes", "--wait", "--count", "2"]);
        let output = command.args(follow).output().unwrap();
        assert_eq!((output.stdout.as_slice(), output.status.code()), (&b"one\ntwo\n"[..], Some(0)));
    }
    // A subscriber with an option for the begin begins there.
    let subscriber =
        Running(names.command("sub", &["quotes", "--wait", "--from", "newest"]).spawn().unwrap());
    while !shows_position(&subscriber) {
        std::thread::yield_now();
    }
    assert_eq!(publisher.interrupt(), 130);
    assert_eq!(subscriber.end(), (Vec::new(), String::new(), 0));
}

#[test]
fn publisher_that_is_killed_is_told_from_one_that_ends() {
    let names = Names::new("killed");
    let mut publisher = names.publisher(b"one\ntwo\n", &[]);
    let subscriber = Running(names.command("sub", &["quotes", "--from", "oldest"]).spawn().unwrap());
    while !mapped(&subscriber) {
        std::thread::yield_now();
    }
    publisher.kill();
    let (printed, said, code) = subscriber.end();
    assert_eq!((printed.as_slice(), code), (&b"one\ntwo\n"[..], 1));
    assert!(said.contains("has died") && said.contains("quotes"), "{said}");
    let directory = Directory::open(&names.path).unwrap();
    assert_eq!(directory.list().unwrap()[0].state, PeerState::Dead);
    // Another one takes the name.
    let mut publisher = names.publisher(b"three\n", &[]);
    let output = names.command("sub", &["quotes", "--from", "oldest", "--count", "1"]).output().unwrap();
    assert_eq!(output.stdout, b"three\n");
    publisher.interrupt();
}

/// With `--wait`, too: there will be no ring of that name as long as that process has it.
#[test]
fn name_of_no_file_is_an_error() {
    let names = Names::new("no-file");
    let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
    let directory = Directory::open(&names.path).unwrap();
    let _published = directory.publish("quotes", &socket, Fingerprint::of::<u64>()).unwrap();
    for arguments in [&["quotes"][..], &["quotes", "--wait"]] {
        let output = names.command("sub", arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains("\"quotes\" leads to no ring: process "), "{said}");
    }
}

/// A file of quotes, of which no line is like another.
fn quotes(count: usize) -> Vec<u8> {
    let mut text = Vec::new();
    for number in 0..count {
        let (minute, second, milli) = (number / 60_000 % 60, number / 1_000 % 60, number % 1_000);
        let (bid, volume) = (112_000 + number * 7_919 % 1_000, number % 100);
        writeln!(text, "20200102 17{minute:02}{second:02}{milli:03},1.{bid},1.{},{volume}", bid + 5).unwrap();
    }
    text
}

/// One process publishes a file of quotes, and two others print it. The ring holds all of it.
#[test]
fn file_of_quotes_comes_byte_for_byte() {
    let names = Names::new("quotes");
    let text = quotes(20_000);
    // One comes before the publisher, the other one while it publishes, or after that.
    let first = Running(names.command("sub", &["quotes", "--wait", "--from", "oldest"]).spawn().unwrap());
    let arguments = ["--capacity", "20000", "--rate", "200000"];
    let mut publisher = names.publisher(&text, &arguments);
    let second = Running(names.command("sub", &["quotes", "--from", "oldest"]).spawn().unwrap());
    while !mapped(&first) || !mapped(&second) {
        std::thread::yield_now();
    }
    publisher.signal(Signal::TERM);
    assert_eq!(publisher.0.wait().unwrap().code(), Some(143));
    for subscriber in [first, second] {
        let (printed, said, code) = subscriber.end();
        assert_eq!((but_waiting(&said), code), ("", 0));
        assert!(printed == text, "{} of {} bytes", printed.len(), text.len());
    }
}

/// The objects that `annulus sub --json` has printed.
fn objects(printed: &[u8]) -> Vec<Value> {
    printed.split_inclusive(|&byte| byte == b'\n').map(|line| serde_json::from_slice(line).unwrap()).collect()
}

/// What a small ring no longer has is counted, and nothing is printed in part.
#[test]
fn lines_that_are_gone_before_the_first_one_count() {
    let names = Names::new("gone");
    let text = odd_lines();
    let _publisher = names.publisher(&text, &["--capacity", "50"]);
    let oldest = ["quotes", "--from", "oldest", "--count", "5"];
    let output = names.command("sub", &oldest).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let lines: Vec<_> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let first = lines.windows(5).position(|five| five.concat() == output.stdout).unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    for words in
        [format!("lost {first} lines before line {first}\n"), format!("printed 5 lines, lost {first}")]
    {
        assert!(first > 100 && said.contains(&words), "{said}");
    }
    let output = names.command("sub", &oldest).arg("--json").output().unwrap();
    let numbers: Vec<_> = objects(&output.stdout)
        .iter()
        .map(|line| (line["line"].as_u64().unwrap(), line["lost"].as_u64().unwrap()))
        .collect();
    let first = first as u64;
    assert_eq!(numbers[0], (first, first));
    assert_eq!(numbers[1..], [1, 2, 3, 4].map(|more| (first + more, 0)));
}

/// A subscriber whose output nobody reads for a while loses lines. With what it printed they are all lines.
#[test]
fn printed_and_lost_lines_are_all_lines() {
    const LINES: u64 = 20_000;
    let names = Names::new("lost");
    let mut publisher =
        Running(names.command("pub", &["quotes", "--capacity", "64"]).stdin(Stdio::piped()).spawn().unwrap());
    let mut input = publisher.0.stdin.take().unwrap();
    publisher.says("publishing");
    let subscriber = Running(names.command("sub", &["quotes", "--json"]).spawn().unwrap());
    let mut written = 0;
    let mut write = |input: &mut std::process::ChildStdin| {
        writeln!(input, "line {written:090}").unwrap();
        written += 1;
    };
    // It has joined when it has printed something. What was published before is not lost.
    while !readable(subscriber.0.stdout.as_ref().unwrap()) {
        write(&mut input);
    }
    for _ in 0..LINES {
        write(&mut input);
    }
    drop(input);
    assert_eq!(publisher.0.wait().unwrap().code(), Some(0));
    let (printed, said, code) = subscriber.end();
    assert_eq!(code, 0, "{said}");
    let lines = objects(&printed);
    let number = |line: &Value| line["line"].as_u64().unwrap();
    let lost = |line: &Value| line["lost"].as_u64().unwrap();
    for pair in lines.windows(2) {
        assert_eq!(number(&pair[1]), number(&pair[0]) + 1 + lost(&pair[1]));
    }
    for line in &lines {
        assert_eq!(line["text"], format!("line {:090}", number(line)));
    }
    assert_eq!(number(lines.last().unwrap()) + 1, written, "the newest are there");
    let lost: u64 = lines.iter().map(lost).sum();
    assert!(lost > LINES / 2, "{lost} lost");
    let summary = format!("printed {} lines, lost {}\n", grouped(lines.len() as u64), grouped(lost));
    assert!(said.ends_with(&summary), "{summary} is not at the end of {said}");
}

/// `number` below a million, as the program writes it.
fn grouped(number: u64) -> String {
    if number < 1_000 { number.to_string() } else { format!("{},{:03}", number / 1_000, number % 1_000) }
}

#[test]
fn signals_end_a_subscriber_that_sleeps_or_waits() {
    let names = Names::new("signals");
    let mut publisher = names.publisher(b"one\ntwo\nthree\nfour", &["--capacity", "3"]);
    for (signal, expected) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut subscriber = Running(names.command("sub", &["quotes", "--from", "oldest"]).spawn().unwrap());
        // It has printed what is there, and sleeps.
        let mut printed = [0; 14];
        subscriber.0.stdout.as_mut().unwrap().read_exact(&mut printed).unwrap();
        subscriber.signal(signal);
        let (rest, said, code) = subscriber.end();
        assert_eq!((&printed, rest.as_slice(), code), (b"two\nthree\nfour", &b""[..], expected));
        // It has come to its end by itself.
        assert_eq!(said, "annulus: lost 1 line before line 1\nannulus: printed 3 lines, lost 1\n");

        // One that waits for a ring, and says so.
        let path = names.path.to_str().unwrap();
        for follow in [&[][..], &["--follow"]] {
            let mut command = names.command("sub", &["nothing", "--wait"]);
            let mut subscriber = Running(command.args(follow).spawn().unwrap());
            subscriber.says(&format!("annulus: waiting for a ring `nothing` in `{path}`\n"));
            subscriber.signal(signal);
            assert_eq!(subscriber.end(), (Vec::new(), "annulus: printed 0 lines\n".into(), expected));
        }
    }
    // The publisher has not noticed.
    assert_eq!(publisher.interrupt(), 130);
}

/// In the middle of its work, a publisher takes back its name and ends its ring. Its subscribers learn
/// that this is not the end of its input.
#[test]
fn signals_end_a_publisher() {
    let names = Names::new("ends");
    for (signal, expected) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut publisher = Running(names.command("pub", &["quotes"]).stdin(Stdio::piped()).spawn().unwrap());
        // (A wait would close it, and so end the publisher.)
        let _input = publisher.0.stdin.take();
        publisher.says("publishing");
        let subscriber = Running(names.command("sub", &["quotes"]).spawn().unwrap());
        while !mapped(&subscriber) {
            std::thread::yield_now();
        }
        publisher.signal(signal);
        let (_, said, code) = publisher.end();
        assert_eq!((said.as_str(), code), ("annulus: published 0 lines\n", expected));
        let stopped = "annulus: the publisher of `quotes` has failed or was stopped: not all of its input was \
                       published\n";
        assert_eq!(subscriber.end(), (Vec::new(), stopped.into(), 1));
        names.assert_empty();
    }
}

/// Each side says how many lines it had, whichever signal ends it.
#[test]
fn signal_has_its_count() {
    let names = Names::new("count");
    for (signal, expected) in [(Signal::INT, 130), (Signal::TERM, 143), (Signal::HUP, 129)] {
        let mut publisher = Running(names.command("pub", &["quotes"]).stdin(Stdio::piped()).spawn().unwrap());
        let mut input = publisher.0.stdin.take().unwrap();
        publisher.says("publishing");
        let subscribers = [&[][..], &["--follow"]].map(|follow| {
            let mut command = names.command("sub", &["quotes", "--from", "oldest"]);
            let subscriber = Running(command.args(follow).spawn().unwrap());
            while !mapped(&subscriber) {
                std::thread::yield_now();
            }
            subscriber
        });
        input.write_all(b"one\ntwo\n").unwrap();
        for mut subscriber in subscribers {
            let mut printed = [0; 8];
            subscriber.0.stdout.as_mut().unwrap().read_exact(&mut printed).unwrap();
            subscriber.signal(signal);
            assert_eq!(subscriber.end(), (Vec::new(), "annulus: printed 2 lines\n".into(), expected));
        }
        publisher.signal(signal);
        let (_, said, code) = publisher.end();
        assert_eq!((said.as_str(), code), ("annulus: published 2 lines\n", expected));
    }
    names.assert_empty();
}

#[test]
fn lines_as_json() {
    let names = Names::new("json");
    let _publisher = names.publisher(b"a\nb \xFF\"\n\n", &[]);
    let output =
        names.command("sub", &["quotes", "--from", "oldest", "--json", "--count", "3"]).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = printed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let texts: Vec<_> = lines.iter().map(|line| line["text"].as_str().unwrap()).collect();
    assert_eq!(texts, ["a", "b \u{FFFD}\"", ""]);
    assert_eq!((&lines[2]["line"], &lines[2]["lost"]), (&Value::from(2), &Value::from(0)));
}

/// From a pipe, to a pipe that nobody reads any more.
#[test]
fn pipes() {
    let names = Names::new("pipes");
    // (A rate may be a fraction.)
    let arguments = ["quotes", "--rate", "99999.5"];
    let mut publisher = Running(names.command("pub", &arguments).stdin(Stdio::piped()).spawn().unwrap());
    let mut input = publisher.0.stdin.take().unwrap();
    let mut subscriber = Running(names.command("sub", &["quotes", "--wait"]).spawn().unwrap());
    while !mapped(&subscriber) {
        std::thread::yield_now();
    }
    let mut output = BufReader::new(subscriber.0.stdout.take().unwrap());
    let mut line = String::new();
    // It may have joined a moment after it has mapped the ring.
    while line.is_empty() {
        input.write_all(b"again\n").unwrap();
        if !output.buffer().is_empty() || readable(output.get_ref()) {
            output.read_line(&mut line).unwrap();
        }
    }
    assert_eq!(line, "again\n");
    drop(output);
    // Its next line finds the pipe closed.
    while subscriber.0.try_wait().unwrap().is_none() {
        input.write_all(b"more\n").unwrap();
    }
    assert_eq!(subscriber.0.wait().unwrap().code(), Some(0));
    drop(input);
    let (_, said, code) = publisher.end();
    assert!(said.contains("published") && code == 0, "{said}");
}

#[test]
fn wrong_uses_are_errors_with_a_reason() {
    let names = Names::new("errors");
    let complaint = |command: &mut Command| {
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(output.stdout.is_empty());
        String::from_utf8(output.stderr).unwrap()
    };
    let said = complaint(&mut names.command("pub", &["quotes", "--file", "/nowhere/at all"]));
    assert!(said.contains("/nowhere/at all"), "{said}");
    // It is a folder, which is noticed with the first read: the name is given back.
    let said = complaint(names.command("pub", &["quotes", "--file"]).arg(&names.folder.0));
    assert!(said.contains("can't be read") && said.contains("errors"), "{said}");
    names.assert_empty();
    let said = complaint(&mut names.command("pub", &["a/b"]));
    assert!(said.contains("a/b"), "{said}");
    let said = complaint(&mut names.command("sub", &["quotes"]));
    assert!(said.contains("quotes"), "{said}");
    let publisher = names.publisher(b"one\n", &[]);
    let said = complaint(&mut names.command("pub", &["quotes"]));
    assert!(said.contains("quotes") && said.contains(&publisher.0.id().to_string()), "{said}");

    // A ring of something else.
    let directory = Directory::open(&names.path).unwrap();
    let settings = annulus::Settings::new(8);
    let Shared { handle: _other, invitation, .. } = annulus::shm::broadcast::lossy::<u64>(settings).unwrap();
    let _name = invitation.publish(&directory, "numbers").unwrap();
    let settings = annulus::Settings::new(8);
    let Shared { handle: _foreign, invitation, .. } =
        annulus::shm::broadcast::lossy::<[[u64; 5]; 3]>(settings).unwrap();
    let _foreign_name = invitation.publish(&directory, "foreign").unwrap();
    // Of the size and the alignment of a line's pieces.
    let settings = annulus::Settings::new(8);
    let Shared { handle: _alike, invitation, .. } =
        annulus::shm::broadcast::lossy::<[u64; 15]>(settings).unwrap();
    let _alike_name = invitation.publish(&directory, "alike").unwrap();
    for (name, what) in [
        ("numbers", "u64, of 8 bytes"),
        ("alike", "[u64;15], of 120 bytes"),
        ("foreign", "[[u64;5];3], of 120 bytes"),
    ] {
        for follow in [&[][..], &["--follow"]] {
            let said = complaint(names.command("sub", &[name]).args(follow));
            let expected = format!(
                "`{name}` carries no lines of `annulus pub` (pieces of 120 bytes): its messages are {what}"
            );
            assert!(said.contains(&expected), "{said}");
        }
        let said = complaint(&mut names.command("bench", &["--subscribe", name]));
        let expected =
            format!("`{name}` carries no messages of `annulus bench` of this version: its messages");
        assert!(said.contains(&expected) && said.contains(what), "{said}");
    }
}
