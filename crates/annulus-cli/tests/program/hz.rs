//! `annulus hz` as its users see it.

use annulus::Settings;
use annulus::shm::{Directory, Shared, WhenGone, broadcast, bytes};
use serde_json::Value;

use crate::names::Names;
use crate::running::Running;

/// Messages of a type that the program does not know: they are counted all the same.
#[test]
fn messages_of_any_type_are_counted() {
    let names = Names::new("hz");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<[u16; 5]>(Settings::new(64)).unwrap();
    let _name = invitation.publish(&directory, "quotes").unwrap();
    let mut child = Running(
        names.command("hz", &["quotes", "--count", "50", "--seconds", "600", "--json"]).spawn().unwrap(),
    );
    while child.0.try_wait().unwrap().is_none() {
        publisher.publish([1; 5]);
        std::thread::yield_now();
    }
    let (printed, said, code) = child.end();
    assert_eq!((said.as_str(), code), ("", 0));
    let report: Value = serde_json::from_slice(&printed).unwrap();
    assert!(report["messages"].as_u64().unwrap() >= 50, "{report}");
    assert_eq!((&report["name"], &report["state"]), (&Value::from("quotes"), &Value::from("alive")));
    for key in ["gap_ns", "jitter_ns"] {
        let percentiles = ["p50", "p90", "p99", "p99_9", "max"].map(|at| report[key][at].as_u64().unwrap());
        assert!(percentiles.is_sorted(), "{report}");
    }
}

/// A sleep is never too short, so there are no more looks than this.
#[test]
fn hz_sleeps_between_two_looks_and_counts_all() {
    let names = Names::new("hz-sleeps");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<u64>(Settings::new(64)).unwrap();
    let _name = invitation.publish(&directory, "quotes").unwrap();
    let report = |arguments: &[&str]| -> Value {
        let output = names.command("hz", &[&["quotes", "--json"], arguments].concat()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    assert!(report(&["--seconds", "0.2"])["look_ns"].as_u64().unwrap() >= 990_000);
    assert!(report(&["--seconds", "0.2", "--spin"])["look_ns"].as_u64().unwrap() > 0);
    // A thousand in a moment, of which the ring keeps 64.
    let mut child = Running(
        names.command("hz", &["quotes", "--count", "1000", "--seconds", "600", "--json"]).spawn().unwrap(),
    );
    let mut published = 0;
    while child.0.try_wait().unwrap().is_none() {
        (0..1_000).for_each(|number| publisher.publish(number));
        published += 1_000;
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    let report: Value = serde_json::from_slice(&child.end().0).unwrap();
    let messages = report["messages"].as_u64().unwrap();
    assert!((1_000..=published).contains(&messages), "{report}");
}

#[test]
fn hz_ends_with_the_ring() {
    let names = Names::new("hz-ends");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(64)).unwrap();
    let _name = invitation.publish(&directory, "quotes").unwrap();
    publisher.close();
    let output = names.command("hz", &["quotes", "--seconds", "600"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.starts_with("`quotes`: 0 messages in "), "{text}");
    assert!(text.ends_with("The ring is closed.\n"), "{text}");
}

/// Of a ring of records only words could be counted.
#[test]
fn records_are_refused() {
    let names = Names::new("hz-records");
    let directory = Directory::open(&names.path).unwrap();
    let settings = annulus::Settings::new(64);
    let Shared { handle: _producer, invitation, .. } = bytes::producer(settings, WhenGone::Close).unwrap();
    let _name = invitation.publish(&directory, "records").unwrap();
    let output = names.command("hz", &["records"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(said.contains("`records` is a queue of records, whose messages can't be counted"), "{said}");
}
