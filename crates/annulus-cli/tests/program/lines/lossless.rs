//! `annulus pub --lossless`, lines that are too long, and what becomes of their subscribers.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::process::Stdio;

use rustix::process::Signal;

use super::{odd_lines, quotes};
use crate::names::Names;
use crate::running::{Running, but_waiting, mapped, readable};

/// What a subscriber that prints to a file said, and its exit code, when it has ended.
fn to_file(mut subscriber: Running) -> (String, i32) {
    let mut said = String::new();
    subscriber.0.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    (said, subscriber.0.wait().unwrap().code().unwrap())
}

/// In a short ring, with any subscriber slow: all of it comes to both.
#[test]
fn lines_are_not_lost_however_slow_the_subscribers_are() {
    let names = Names::new("lossless");
    let text = quotes(5_000);
    let input = names.folder.file("input", &text);
    let mut command =
        names.command("pub", &["quotes", "--lossless", "--subscribers", "2", "--capacity", "16"]);
    let publisher = Running(command.arg("--file").arg(input).spawn().unwrap());
    let subscribers = ["one", "other"].map(|copy| {
        let copy = names.folder.0.join(copy);
        let mut command = names.command("sub", &["quotes", "--wait"]);
        (Running(command.stdout(File::create(&copy).unwrap()).spawn().unwrap()), copy)
    });
    for (subscriber, copy) in subscribers {
        let (said, code) = to_file(subscriber);
        assert_eq!((but_waiting(&said), code), ("", 0));
        let printed = fs::read(copy).unwrap();
        assert!(printed == text, "{} of {} bytes", printed.len(), text.len());
    }
    let (_, said, code) = publisher.end();
    assert!(code == 0 && said.contains("published 5,000 lines\n"), "{said}");
    names.assert_empty();
}

/// It stops reading and ends; the other one, and the publisher, do not mind.
#[test]
fn subscriber_may_go() {
    let names = Names::new("goes");
    let text = quotes(5_000);
    let input = names.folder.file("input", &text);
    let mut command =
        names.command("pub", &["quotes", "--lossless", "--subscribers", "3", "--capacity", "16"]);
    let publisher = Running(command.arg("--file").arg(input).spawn().unwrap());
    let copy = names.folder.0.join("copy");
    let subscriber = |arguments: &[&str], output: Stdio| {
        let mut command = names.command("sub", &["quotes", "--wait"]);
        Running(command.args(arguments).stdout(output).spawn().unwrap())
    };
    let all = subscriber(&[], File::create(&copy).unwrap().into());
    let few = subscriber(&["--count", "7"], Stdio::piped());
    let mut killed = subscriber(&[], Stdio::piped());
    let lines: Vec<_> = text.split_inclusive(|&byte| byte == b'\n').collect();
    let (printed, said, code) = few.end();
    assert_eq!((but_waiting(&said), code), ("", 0));
    assert!(printed == lines[..7].concat());
    // It hangs in its output, so that everybody waits for it.
    while !readable(killed.0.stdout.as_ref().unwrap()) {}
    killed.kill();
    let (said, code) = to_file(all);
    assert_eq!((but_waiting(&said), code), ("", 0));
    let printed = fs::read(copy).unwrap();
    assert!(printed == text, "{} of {} bytes", printed.len(), text.len());
    assert_eq!(publisher.end().2, 0);
}

#[test]
fn signals_end_both_sides() {
    let names = Names::new("lossless-signals");
    for (signal, expected) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        // It waits for a second subscriber, which does not come.
        let mut command = names.command("pub", &["quotes", "--lossless", "--subscribers", "2"]);
        let mut publisher = Running(command.spawn().unwrap());
        let path = names.path.to_str().unwrap();
        publisher.says(&format!(
            "waiting for 2 subscribers of `quotes` before the first line: start each with `annulus sub quotes \
             --directory {path}`, or stop with Ctrl-C\n"
        ));
        let subscriber = Running(names.command("sub", &["quotes"]).spawn().unwrap());
        // (Before it has its seat, a signal ends it as it ends any process.)
        let info = || names.command("info", &["quotes"]).output().unwrap().stdout;
        while !String::from_utf8(info()).unwrap().contains("seat 0") {
            std::thread::yield_now();
        }
        subscriber.signal(signal);
        let (printed, said, code) = subscriber.end();
        assert_eq!(
            (printed.as_slice(), said.as_str(), code),
            (&b""[..], "annulus: printed 0 lines\n", expected)
        );
        publisher.signal(signal);
        assert_eq!(publisher.0.wait().unwrap().code(), Some(expected));
        names.assert_empty();
    }
}

/// A name that begins with a hyphen stands where it is no option.
#[test]
fn advice_is_a_command_that_works() {
    let names = Names::new("advice");
    let path = names.path.to_str().unwrap();
    let mut publisher = Running(names.command("pub", &["--lossless", "--", "-x"]).spawn().unwrap());
    publisher.says(&format!("start it with `annulus sub --directory {path} -- -x`, or stop with Ctrl-C\n"));
    let subscriber = Running(names.command("sub", &["--", "-x"]).spawn().unwrap());
    let (_, said, code) = subscriber.end();
    assert_eq!((said.as_str(), code), ("", 0));
    assert_eq!(publisher.end().2, 0);
}

#[test]
fn line_that_is_too_long_is_named() {
    let names = Names::new("long");
    let published = |text: &[u8], arguments: &[&str]| {
        let input = names.folder.file("input.txt", text);
        let mut command = names.command("pub", &["quotes", "--file"]);
        let output = command.arg(&input).args(arguments).output().unwrap();
        (String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
    };
    let long = |bytes: usize, end: &str| format!("one\n{}{end}", "x".repeat(bytes)).into_bytes();
    for end in ["", "\n"] {
        assert_eq!(published(&long(1024, end), &[]).1, 0);
        let (said, code) = published(&long(1025, end), &[]);
        let expected = "line 2 of `";
        let advice = "is longer than 1,024 bytes: say with --size how long a line may be\n";
        assert!(code == 2 && said.contains(expected) && said.ends_with(advice), "{said}");
        assert!(said.contains("published 1 line\n") && said.contains("input.txt"), "{said}");
        assert_eq!(published(&long(1025, end), &["--size", "2_000"]).1, 0);
    }
    let text = odd_lines();
    let lengths = text.split(|&byte| byte == b'\n').map(<[u8]>::len);
    let number = 1 + lengths.take_while(|&length| length <= 100).count();
    let (said, code) = published(&text, &["--size", "100"]);
    assert!(code == 2 && said.contains(&format!("line {number} of")), "{said}");
    names.assert_empty();
}

/// What had come before the failure is printed.
#[test]
fn failed_publisher_is_told_from_one_that_ends() {
    let names = Names::new("fails");
    for mode in [&[][..], &["--lossless"]] {
        let mut command = names.command("pub", &["quotes", "--size", "9"]);
        let mut publisher = Running(command.args(mode).stdin(Stdio::piped()).spawn().unwrap());
        let mut input = publisher.0.stdin.take().unwrap();
        publisher.says("publishing");
        let subscriber = Running(names.command("sub", &["quotes", "--wait"]).spawn().unwrap());
        while !mapped(&subscriber) {
            std::thread::yield_now();
        }
        input.write_all(b"one\ntwo\nthis is too long\nfour\n").unwrap();
        assert_eq!(publisher.0.wait().unwrap().code(), Some(2));
        let (printed, said, code) = subscriber.end();
        assert_eq!((printed.as_slice(), code), (&b"one\ntwo\n"[..], 1), "{said}");
        assert!(said.contains("the publisher of `quotes` has failed"), "{said}");
    }
    names.assert_empty();
}

/// Also if none is that long.
#[test]
fn size_that_the_ring_never_holds_is_refused() {
    let names = Names::new("size");
    let complaint = |arguments: &[&str]| {
        let output = names.command("pub", &["quotes"]).args(arguments).output().unwrap();
        (String::from_utf8(output.stderr).unwrap(), output.status.code().unwrap())
    };
    for (arguments, words) in [
        (&["--size", "1e18"][..], &["'1e18'", "from 1 to 1073741824"][..]),
        (&["--size", "1e18", "--lossless"], &["'1e18'", "from 1 to 1073741824"]),
        (&["--size", "2_000_000"], &["--size 2000000: ", "--capacity 19231 or more", "up to 1703935"]),
        (&["--size", "208", "--capacity", "2"], &["--size 208: ", "--capacity 3 or more", "up to 207"]),
        (&["--capacity", "1"], &["--capacity 1: ", "at least 2"]),
        (&["--json", "--schema", "u64", "--capacity", "1"], &["error: --capacity 1: ", "at least 2"]),
        (&["--capacity", "1e18"], &["--capacity 1000000000000000000: ", "too large"]),
    ] {
        let (said, code) = complaint(arguments);
        assert!(code == 2 && words.iter().all(|words| said.contains(words)), "{arguments:?}: {said}");
    }
    // Nobody has asked for the usual size, and the longest that the ring holds comes through it.
    for (length, arguments) in [(207, &["--capacity", "2"][..]), (207, &["--capacity", "2", "--size", "207"])]
    {
        let mut publisher = names.publisher(&vec![b'x'; length], arguments);
        let output = names.command("sub", &["quotes", "--from", "oldest", "--count", "1"]).output().unwrap();
        assert_eq!((output.stdout.len(), output.status.code()), (length, Some(0)));
        publisher.interrupt();
    }
    let input = names.folder.file("long", [b'x'; 208]);
    let (said, code) = complaint(&["--capacity", "2", "--file", input.to_str().unwrap()]);
    assert!(code == 2 && said.contains("longer than 207 bytes"), "{said}");
}

#[test]
fn lossless_ring_is_not_followed() {
    let names = Names::new("unfollowed");
    let mut publisher = Running(names.command("pub", &["quotes", "--lossless"]).spawn().unwrap());
    publisher.says("publishing");
    let output = names.command("sub", &["quotes", "--follow"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("leave out --follow"), "{said}");
}
