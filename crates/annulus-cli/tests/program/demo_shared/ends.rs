//! How such a demo ends: processes that are killed or stopped, and signals.

use std::collections::BTreeMap;
use std::fs;
use std::thread;
use std::time::Duration;

use annulus::shm::{Directory, PeerState};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::{LONG, assert_accounts, json, parts};
use crate::names::Names;
use crate::running::Running;

/// Whether a process is there, and no zombie.
fn is_there(process: u32) -> bool {
    fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| !stat.contains(") Z "))
}

fn wait_until_gone(parts: &BTreeMap<String, u32>) {
    while parts.values().any(|&process| is_there(process)) {
        thread::sleep(Duration::from_millis(5));
    }
}

fn kill(process: u32, signal: Signal) {
    kill_process(Pid::from_raw(process.try_into().unwrap()).unwrap(), signal).unwrap();
}

/// Any process, and whether the feed waits for it or not.
#[test]
fn process_that_is_killed_is_named_and_nothing_is_left() {
    let names = Names::new("killed");
    let file = names.folder.0.join("orders.csv");
    for (arguments, victim) in [
        (&LONG[..], "gateway"),
        (&LONG, "subscriber-2"),
        (&LONG[..4], "subscriber-1"),
        // The feed sleeps at a full ring.
        (&["--messages", "100000000", "--capacity", "64", "--lossless"], "subscriber-1"),
        (&["--messages", "100000000", "--capacity", "64", "--lossless"], "gateway"),
    ] {
        let arguments = [arguments, &["--output", file.to_str().unwrap()]].concat();
        let (demo, parts) = names.start(&arguments);
        let process = parts[victim];
        kill(process, Signal::KILL);
        let (said, complaint, code) = demo.end();
        assert_eq!((said.as_slice(), code), (&b""[..], 2), "{complaint}");
        let expected = format!(
            "error: {victim} (process {process}) was killed by signal 9: the demo has ended \
             without a report\n"
        );
        assert_eq!(complaint, expected);
        assert!(parts.values().all(|&process| !is_there(process)), "{parts:?}");
        names.assert_empty();
        // The directory of the names is all.
        assert_eq!(names.folder.count(), 1);
    }
}

/// The feed waits for one that does not go on, and learns that another has died.
#[test]
fn process_that_is_killed_beside_one_that_is_stopped_is_named() {
    let names = Names::new("beside");
    let (demo, parts) = names.start(&["--messages", "100000000", "--capacity", "64", "--lossless"]);
    kill(parts["subscriber-1"], Signal::STOP);
    thread::sleep(Duration::from_millis(100));
    kill(parts["subscriber-2"], Signal::KILL);
    let (said, complaint, code) = demo.end();
    assert_eq!((said.as_slice(), code), (&b""[..], 2), "{complaint}");
    let expected = format!("subscriber-2 (process {}) was killed by signal 9", parts["subscriber-2"]);
    assert!(complaint.contains(&expected), "{complaint}");
    assert!(parts.values().all(|&process| !is_there(process)), "{parts:?}");
    names.assert_empty();
}

/// As soon as there is a process, whatever it has done by then.
#[test]
fn process_that_is_killed_early_is_named() {
    let names = Names::new("early");
    for victim in [None, Some("gateway"), Some("subscriber-1"), Some("subscriber-2")] {
        let demo = Running(names.shared(&LONG).args(["--subscribers", "2"]).spawn().unwrap());
        let process = loop {
            // (The first one has not got its name yet, or just now.)
            let parts = parts(demo.0.id());
            let process = victim.map_or_else(|| parts.values().next(), |victim| parts.get(victim));
            if let Some(&process) = process {
                break process;
            }
            thread::yield_now();
        };
        kill(process, Signal::KILL);
        let (said, complaint, code) = demo.end();
        assert_eq!((said.as_slice(), code), (&b""[..], 2), "{complaint}");
        let expected = format!("(process {process}) was killed by signal 9");
        assert!(complaint.contains(&expected), "{complaint}");
        names.assert_empty();
    }
}

#[test]
fn signal_stops_feed_with_a_report() {
    let names = Names::new("stopped");
    let file = names.folder.0.join("orders.csv");
    for (signal, expected) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        for lossless in [&LONG[..], &LONG[..4]] {
            let arguments = [lossless, &["--json", "--output", file.to_str().unwrap()]].concat();
            let (demo, parts) = names.start(&arguments);
            // The sender signals all processes. (A terminal tells the feed alone.)
            if signal == Signal::INT {
                for &process in parts.values() {
                    kill(process, signal);
                }
                thread::sleep(Duration::from_millis(20));
            }
            demo.signal(signal);
            let (said, complaint, code) = demo.end();
            assert_eq!((complaint.as_str(), code), ("", expected));
            let report: Value = serde_json::from_slice(&said).unwrap();
            let published = assert_accounts(&report);
            assert!((1..10_000_000).contains(&published), "{published}");
            let orders = fs::read_to_string(&file).unwrap().lines().count() as u64 - 1;
            assert_eq!(report["orders"], orders);
            assert!(parts.values().all(|&process| !is_there(process)), "{parts:?}");
            names.assert_empty();
        }
    }
    let (demo, _) = names.start(&LONG);
    demo.signal(Signal::TERM);
    let (said, _, code) = demo.end();
    let said = String::from_utf8(said).unwrap();
    assert!(code == 143 && said.contains("Stopped by SIGTERM: published "), "{said}");
}

/// Each process still joins. (How much the feed publishes depends on when it learns of the signal.)
#[test]
fn signal_before_all_have_joined_ends_in_a_report() {
    let names = Names::new("joining");
    for round in 0..10 {
        let demo = Running(names.shared(&LONG).args(["--subscribers", "4", "--json"]).spawn().unwrap());
        let gateway = loop {
            if let Some(&process) = parts(demo.0.id()).get("gateway") {
                break process;
            }
            thread::yield_now();
        };
        kill(gateway, Signal::STOP);
        demo.signal(Signal::TERM);
        thread::sleep(Duration::from_millis(round));
        kill(gateway, Signal::CONT);
        let (said, complaint, code) = demo.end();
        assert_eq!((complaint.as_str(), code), ("", 143));
        let report: Value = serde_json::from_slice(&said).unwrap();
        assert_eq!(report["ok"], true);
        println!("published {}", report["published"]);
        names.assert_empty();
    }
}

/// The feed can't go on, and the subscriber does not end. The second signal ends all of them.
#[test]
fn second_signal_ends_a_demo_that_hangs() {
    let names = Names::new("hangs");
    let file = names.folder.0.join("orders.csv");
    let arguments = ["--messages", "100000000", "--capacity", "64", "--lossless", "--output"];
    let (demo, parts) = names.start(&[&arguments[..], &[file.to_str().unwrap()]].concat());
    kill(parts["subscriber-1"], Signal::STOP);
    thread::sleep(Duration::from_millis(100));
    demo.signal(Signal::INT);
    thread::sleep(Duration::from_millis(200));
    assert!(is_there(demo.0.id()));
    // Where it has not yet noticed the first one, the two are one.
    while is_there(demo.0.id()) {
        demo.signal(Signal::INT);
        thread::sleep(Duration::from_millis(100));
    }
    // It may have ended: the kernel sends SIGHUP and SIGCONT to a stopped job whose parent has ended, but not
    // in each container. There it still has the pipes.
    let _ = kill_process(Pid::from_raw(parts["subscriber-1"].try_into().unwrap()).unwrap(), Signal::CONT);
    let (said, complaint, code) = demo.end();
    assert_eq!((said.as_slice(), complaint.as_str(), code), (&b""[..], "", 130));
    wait_until_gone(&parts);
    names.assert_empty();
    assert_eq!(names.folder.count(), 1);
}

/// Its processes end with it. Its own name is that of a dead process, as after any such death.
#[test]
fn feed_that_is_killed_leaves_no_process() {
    let names = Names::new("feed");
    let (mut demo, parts) = names.start(&LONG);
    demo.kill();
    wait_until_gone(&parts);
    let left = Directory::open(&names.path).unwrap().list().unwrap();
    let left: Vec<_> = left.iter().map(|entry| (entry.name.as_str(), entry.state)).collect();
    assert_eq!(left, [("market-quotes", PeerState::Dead)]);
    // The next one takes its place.
    assert_accounts(&json(&mut names.shared(&["--messages", "500", "--subscribers", "2"])));
    names.assert_empty();
}
