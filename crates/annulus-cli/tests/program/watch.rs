//! `annulus watch` as its users see it.

use std::io::{BufRead, BufReader, Read};

use annulus::Settings;
use annulus::shm::{Directory, Shared, WhenGone, broadcast, spsc};
use annulus::{Message, Text};
use rustix::process::Signal;
use serde_json::Value;

use crate::names::Names;
use crate::running::Running;

#[derive(Clone, Copy, Message)]
#[repr(u8)]
enum Side {
    Buy,
    Sell,
}

#[derive(Clone, Copy, Message)]
#[message(packed)]
struct Quote {
    bid: f64,
    side: Side,
    name: Text<6>,
}

/// What it prints, what it says, and its exit code.
fn watched(names: &Names, arguments: &[&str]) -> (String, String, i32) {
    let output = names.command("watch", arguments).output().unwrap();
    let [printed, said] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (printed, said, output.status.code().unwrap())
}

#[test]
fn messages_have_their_fields() {
    let names = Names::new("watch");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<[f64; 2]>(Settings::new(4)).unwrap();
    let _name = invitation.publish(&directory, "quotes").unwrap();
    (0..6).for_each(|number| publisher.publish([f64::from(number), 0.5]));
    let expected = "2  value: [2.0,0.5]\n3  value: [3.0,0.5]\n4  value: [4.0,0.5]\n5  value: [5.0,0.5]\n";
    let all = watched(&names, &["quotes", "--from", "oldest", "--count", "4"]);
    assert_eq!(all, (expected.into(), String::new(), 0));
    let newest = watched(&names, &["quotes", "--count", "1"]);
    assert_eq!(newest, ("5  value: [5.0,0.5]\n".into(), String::new(), 0));
    let (printed, _, _) = watched(&names, &["quotes", "--count", "1", "--json"]);
    let message: Value = serde_json::from_str(&printed).unwrap();
    assert_eq!((&message["number"], &message["fields"]["value"][1]), (&Value::from(5), &Value::from(0.5)));
    let (printed, said, _) = watched(&names, &["quotes", "--count", "1", "--hex"]);
    assert!(said.is_empty() && printed.starts_with("5\n  0000  00 00 00 00 00 00 14 40  00 "), "{printed}");

    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossless::<Quote>(Settings::new(4), 1).unwrap();
    let _name = invitation.publish(&directory, "foreign").unwrap();
    let [buy, sell] = [Side::Buy, Side::Sell];
    publisher.publish(Quote { bid: 1.0, side: buy, name: Text::truncated("") }).unwrap();
    publisher.publish(Quote { bid: 1.5, side: sell, name: Text::try_from("a \"b\"").unwrap() }).unwrap();
    let (printed, said, code) = watched(&names, &["foreign", "--count", "1"]);
    let expected = "1  bid: 1.5  side: \"Sell\"  name: \"a \\\"b\\\"\"\n";
    assert_eq!((printed.as_str(), said.as_str(), code), (expected, "", 0));
}

#[test]
fn lines_and_a_death_are_shown() {
    let names = Names::new("watch-lines");
    let input = names.folder.file("input", "one\ntwo\n");
    let mut command = names.command("pub", &["quotes", "--stay", "--file"]);
    let mut publisher = Running(command.arg(input).spawn().unwrap());
    publisher.says("staying");
    let mut child = Running(names.command("watch", &["quotes", "--from", "oldest"]).spawn().unwrap());
    let expected = "0  line: 0  part: \"whole\"  text: \"one\"\n1  line: 1  part: \"whole\"  text: \"two\"\n";
    let mut printed = vec![0; expected.len()];
    child.0.stdout.as_mut().unwrap().read_exact(&mut printed).unwrap();
    assert_eq!(String::from_utf8(printed).unwrap(), expected);
    publisher.kill();
    let (rest, said, code) = child.end();
    assert_eq!((rest.as_slice(), said.as_str(), code), (&b""[..], "annulus: `quotes` is dead\n", 1));
}

#[test]
fn queue_is_refused() {
    let names = Names::new("watch-queue");
    let directory = Directory::open(&names.path).unwrap();
    let settings = annulus::Settings::new(8);
    let Shared { handle: _producer, invitation, .. } =
        spsc::producer::<u64>(settings, WhenGone::Close).unwrap();
    let _name = invitation.publish(&directory, "queue").unwrap();
    let (printed, said, code) = watched(&names, &["queue"]);
    assert_eq!((printed.as_str(), code), ("", 2));
    assert!(
        said.contains("`queue` is a queue of one producer: only broadcast rings can be watched"),
        "{said}"
    );
}

#[test]
fn signal_has_its_count() {
    let names = Names::new("watch-count");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let _name = invitation.publish(&directory, "numbers").unwrap();
    publisher.publish(7);
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut watch = Running(names.command("watch", &["numbers"]).spawn().unwrap());
        let mut printed = String::new();
        BufReader::new(watch.0.stdout.as_mut().unwrap()).read_line(&mut printed).unwrap();
        watch.signal(signal);
        let (_, said, ended) = watch.end();
        assert_eq!((said.as_str(), ended), ("annulus: printed 1 message, missed 0\n", code));
    }
}
