//! `annulus top NAME`: the page of one ring.

use annulus::Settings;
use annulus::shm::{Directory, Shared, broadcast, frames};
use serde_json::Value;

use super::{publisher, top};
use crate::names::Names;
use crate::running::Running;

/// Quotes carry their time.
#[test]
fn ring_with_times_says_how_far_its_readers_are_behind() {
    let names = Names::new("one");
    let arguments = ["--shared", "market", "--rate", "2000", "--messages", "10000000", "--lossless"];
    let demo = Running(names.command("demo", &arguments).args(["--subscribers", "2"]).spawn().unwrap());
    let report = loop {
        let (said, _, code) = top(&names, &["market-quotes", "--interval", "0.3", "--json"]);
        let report: Value = serde_json::from_str(&said).unwrap_or_default();
        let ring = &report["rings"][0];
        if code == 0 && ring["published"].as_u64() > Some(0) && ring["readers"].as_array().unwrap().len() == 2
        {
            break report;
        }
    };
    let rings = report["rings"].as_array().unwrap();
    assert_eq!((rings.len(), &rings[0]["name"]), (1, &"market-quotes".into()));
    assert!(rings[0]["behind_ns"]["max"].is_u64() && rings[0]["behind_ns"]["p50"].is_u64(), "{report}");
    let behind = |reader: &Value| reader["behind_ns"].is_u64() || reader["lag"].as_u64() > Some(0);
    assert!(rings[0]["readers"].as_array().unwrap().iter().all(behind), "{report}");
    let (page, complaint, code) = top(&names, &["market-quotes", "--interval", "0.3"]);
    assert_eq!((complaint.as_str(), code), ("", 0));
    assert!(page.starts_with("market-quotes, a lossless broadcast ring, alive\nprocess    "), "{page}");
    let titles = "SEAT STATE POSITION LAG BEHIND PROCESS";
    let squeezed = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(page.lines().any(|line| squeezed(line) == titles), "{page}");
    assert!(page.contains("\nHow long the message had waited that a reader takes next, in "), "{page}");
    drop(demo);
}

#[test]
fn ring_without_times_has_a_page_too() {
    let names = Names::new("plain");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let _name = invitation.publish(&directory, "ticks").unwrap();
    let (page, complaint, code) = top(&names, &["ticks", "--interval", "0.1"]);
    assert_eq!((complaint.as_str(), code), ("", 0));
    assert!(page.ends_with("waiting    nobody is waited for\nNo other process has it.\n"), "{page}");
    let report: Value =
        serde_json::from_str(&top(&names, &["ticks", "--interval", "0.1", "--json"]).0).unwrap();
    assert!(report["rings"][0]["behind_ns"].is_null(), "{report}");
}

#[test]
fn page_of_a_ring_of_frames_says_what_is_held() {
    let names = Names::new("frames");
    let directory = Directory::open(&names.path).unwrap();
    let builder = frames::Builder::new(Settings::new(4), 100_000).subscribers(3);
    let Shared { handle: mut camera, invitation, .. } = builder.build().unwrap();
    let _name = invitation.publish(&directory, "camera").unwrap();
    let mut viewer = invitation.accept_frames().unwrap().subscribe().unwrap();
    for picture in [b"one", b"two"] {
        camera.publish(picture).unwrap();
    }
    let _held = [viewer.recv().unwrap(), viewer.recv().unwrap()];
    let (page, complaint, code) = top(&names, &["camera", "--interval", "0.1"]);
    assert_eq!((complaint.as_str(), code), ("", 0));
    for line in [
        "frames     11 of up to 100,000 bytes each\n",
        "held       2 by 1 subscriber (3 at most, 2 each)\n",
        "published  2 messages\n",
    ] {
        assert!(page.contains(line), "{line}\nis not in\n{page}");
    }
    let report: Value =
        serde_json::from_str(&top(&names, &["camera", "--interval", "0.1", "--json"]).0).unwrap();
    assert_eq!(report["rings"][0]["frames"]["held"], Value::from([2].as_slice()));
}

#[test]
fn ring_of_a_dead_process_has_a_page_and_a_free_name_none() {
    let names = Names::new("gone");
    let mut dead = publisher(&names, "dead");
    dead.kill();
    let (page, _, code) = top(&names, &["dead", "--interval", "0.1"]);
    assert_eq!((page, code), (format!("dead, dead\nprocess    {} –\n", dead.0.id()), 0));
    let (said, complaint, code) = top(&names, &["nobody"]);
    assert_eq!((said.as_str(), code), ("", 2));
    assert!(complaint.starts_with("error: there is no ring \"nobody\" in `"), "{complaint}");
}
