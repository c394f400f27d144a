//! `annulus bench` as its users see it: processes, signals, reports.

use std::fs;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::names::Names;
use crate::running::{Running, has_mapped, has_thread, mapped, until_it_receives};
use annulus::Settings;
use annulus::shm::{Directory, Shared, broadcast};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

impl Names {
    fn bench(&self, arguments: &[&str]) -> Command {
        let mut command = self.command("bench", &["load"]);
        command.args(arguments);
        command
    }

    fn start_load(&self, arguments: &[&str]) -> Running {
        Running(self.bench(arguments).spawn().unwrap())
    }
}

/// What it prints, what it says, and its exit code.
fn run(command: &mut Command) -> (String, String, i32) {
    let output = command.output().expect("the program was built");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

/// Asserts that each part's sums add up, and that its percentiles are in order. Returns how many messages
/// were published in each.
#[track_caller]
fn assert_adds_up(report: &Value, subscribers: usize) -> Vec<u64> {
    assert_eq!(
        (&report["schema"], &report["name"], &report["ok"]),
        (&1.into(), &"load".into(), &true.into())
    );
    let number = |value: &Value| value.as_u64().unwrap();
    let parts = report["parts"].as_array().unwrap().iter().map(|part| {
        let published = number(&part["published"]);
        let [count, elapsed, rate] =
            ["published", "elapsed_s", "messages_per_s"].map(|key| part[key].as_f64().unwrap());
        assert!((count / elapsed / rate - 1.0).abs() < 1e-9, "{part}");
        let receipts = part["subscribers"].as_array().unwrap();
        assert_eq!(receipts.len(), subscribers);
        for receipt in receipts {
            assert!(number(&receipt["received"]) > 0, "{part}");
            assert_eq!(number(&receipt["received"]) + number(&receipt["lost"]), published);
            // At full speed there is none.
            assert_eq!(receipt["latency_ns"].is_null(), part["rate"].is_null());
            if let Some(latency) = receipt["latency_ns"].as_object() {
                let shown = ["p50", "p90", "p99", "p99_9", "max"].map(|key| number(&latency[key]));
                assert!(shown.is_sorted(), "{shown:?}");
            }
        }
        published
    });
    parts.collect()
}

/// The ring has room for the second part: a late subscriber still finds some of the first one.
#[test]
fn parts_go_to_subscribers_in_other_processes() {
    let names = Names::new("both");
    let (said, complaint, code) =
        run(&mut names.bench(&["--seconds", "0.2", "--subscribers", "2", "--capacity", "5000", "--json"]));
    assert_eq!((complaint.as_str(), code), ("", 0));
    let report: Value = serde_json::from_str(&said).unwrap();
    assert_eq!((&report["size"], &report["capacity"]), (&56.into(), &5_000.into()));
    let published = assert_adds_up(&report, 2);
    let parts = &report["parts"];
    assert_eq!((published.len(), &parts[0]["rate"], &parts[1]["rate"]), (2, &Value::Null, &10_000.0.into()));
    // 2,000 are due.
    assert!(published[0] > 0 && (1..=2_000).contains(&published[1]), "{published:?}");
    names.assert_empty();
}

/// The ring is short, so the publisher waits often.
#[test]
fn lossless_ring_loses_nothing() {
    let names = Names::new("lossless");
    let arguments = ["--lossless", "--seconds", "0.2", "--capacity", "64", "--subscribers", "2", "--json"];
    let (said, complaint, code) = run(&mut names.bench(&arguments));
    assert_eq!((complaint.as_str(), code), ("", 0));
    let report: Value = serde_json::from_str(&said).unwrap();
    assert_eq!(report["lossless"], true);
    println!("published {:?}", assert_adds_up(&report, 2));
    for part in report["parts"].as_array().unwrap() {
        for receipt in part["subscribers"].as_array().unwrap() {
            assert_eq!((&receipt["received"], &receipt["lost"]), (&part["published"], &0.into()));
        }
    }
    names.assert_empty();

    // A subscriber by hand takes a seat as well.
    let mut subscriber = names.start_load(&["--subscribe", "--json"]);
    subscriber.says("waiting for a publisher");
    let publisher =
        names.start_load(&["--lossless", "--publish", "--rate", "1000", "--seconds", "600", "--json"]);
    while !mapped(&subscriber) {
        thread::yield_now();
    }
    until_it_receives(subscriber.0.id());
    publisher.signal(Signal::TERM);
    assert_eq!(publisher.end().2, 143);
    let (said, _, code) = subscriber.end();
    let report: Value = serde_json::from_slice(&said).unwrap();
    assert_eq!((&report["lossless"], &report["ok"], code), (&true.into(), &true.into(), 0));
    assert_eq!(report["parts"][0]["subscribers"][0]["lost"], 0);
}

#[test]
fn run_at_a_rate_has_one_part_of_messages_of_any_size() {
    let names = Names::new("rate");
    for size in ["32", "120", "4096"] {
        let arguments = ["--rate", "500", "--seconds", "0.1", "--spin", "--size", size];
        let (said, _, code) = run(names.bench(&arguments).arg("--json"));
        let report: Value = serde_json::from_str(&said).unwrap();
        assert_eq!((report["size"].to_string().as_str(), code), (size, 0));
        let published = assert_adds_up(&report, 1);
        assert!(published.len() == 1 && (1..=50).contains(&published[0]), "{published:?}");
    }
    let (said, complaint, code) = run(&mut names.bench(&["--rate", "500", "--seconds", "0.1"]));
    assert_eq!((complaint.as_str(), code), ("", 0));
    for words in [
        "`load`, lossy, 65,536 slots, messages of 56 bytes",
        "at 500 messages a second in",
        "p99.9",
        "Check passed: ",
    ] {
        assert!(said.contains(words), "{words}\nis not in\n{said}");
    }
}

/// Each side is a process that the user has started. The subscriber comes first.
#[test]
fn sides_can_be_run_by_hand() {
    let names = Names::new("sides");
    for (signal, expected) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let mut subscriber = names.start_load(&["--subscribe", "--json"]);
        subscriber.says("waiting for a publisher of `load`");
        let publisher =
            names.start_load(&["--publish", "--rate", "1000", "--seconds", "600", "--size", "64", "--json"]);
        while !mapped(&subscriber) {
            thread::yield_now();
        }
        until_it_receives(subscriber.0.id());
        publisher.signal(signal);
        let (said, complaint, code) = publisher.end();
        assert_eq!((complaint.as_str(), code), ("", expected));
        let sent: Value = serde_json::from_slice(&said).unwrap();
        let published = assert_adds_up(&sent, 0)[0];

        let (said, complaint, code) = subscriber.end();
        assert_eq!((complaint.as_str(), code), ("", 0));
        let report: Value = serde_json::from_slice(&said).unwrap();
        assert_eq!((&report["ok"], &report["size"]), (&true.into(), &64.into()));
        let part = &report["parts"][0];
        assert_eq!((&part["published"], &part["rate"]), (&Value::Null, &Value::Null));
        let [received, lost] = ["received", "lost"].map(|key| part["subscribers"][0][key].as_u64().unwrap());
        assert!(received > 0 && received + lost <= published, "{received} + {lost} of {published}");
        assert!(part["subscribers"][0]["latency_ns"]["p50"].is_u64());
        names.assert_empty();
    }
}

#[test]
fn signal_stops_bench_with_a_report() {
    let names = Names::new("stopped");
    for (signal, expected) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let bench = names.start_load(&["--rate", "1000", "--seconds", "600", "--json"]);
        let subscriber = child_of(&bench);
        while !has_mapped(subscriber) {
            thread::yield_now();
        }
        until_it_receives(subscriber);
        // As a terminal does, which tells all of its processes. The subscriber goes on up to the end.
        if signal == Signal::INT {
            kill_process(pid(subscriber), signal).unwrap();
            thread::sleep(Duration::from_millis(50));
        }
        bench.signal(signal);
        let (said, complaint, code) = bench.end();
        assert_eq!((complaint.as_str(), code), ("", expected));
        let report = serde_json::from_slice(&said).unwrap();
        assert!(assert_adds_up(&report, 1)[0] < 600_000);
        names.assert_empty();
    }
}

/// A subscriber by hand that is stopped has a report as well. One that still waits has none.
#[test]
fn signal_stops_a_subscriber() {
    let names = Names::new("subscriber");
    let waiting = names.start_load(&["--subscribe"]);
    while !has_thread(&waiting, "signals") {
        thread::yield_now();
    }
    waiting.signal(Signal::TERM);
    let (said, _, code) = waiting.end();
    assert_eq!((said.as_slice(), code), (&b""[..], 143));

    let _publisher = names.start_load(&["--publish", "--rate", "2000", "--seconds", "600"]);
    let subscriber = names.start_load(&["--subscribe", "--json"]);
    while !mapped(&subscriber) {
        thread::yield_now();
    }
    until_it_receives(subscriber.0.id());
    subscriber.signal(Signal::INT);
    let (said, _, code) = subscriber.end();
    let report: Value = serde_json::from_slice(&said).unwrap();
    assert_eq!((&report["ok"], code), (&true.into(), 130));
}

#[test]
fn subscriber_that_is_killed_is_named() {
    let names = Names::new("lost");
    // While it begins, and while the publisher waits for it.
    for (arguments, has_joined) in [(&[][..], false), (&["--lossless", "--capacity", "64"], true)] {
        let bench = names.start_load(&[&["--seconds", "600"], arguments].concat());
        let subscriber = child_of(&bench);
        while has_joined && !has_mapped(subscriber) {
            thread::yield_now();
        }
        kill_process(pid(subscriber), Signal::KILL).unwrap();
        bench.signal(Signal::INT);
        let (said, complaint, code) = bench.end();
        assert_eq!((said.as_slice(), code), (&b""[..], 2));
        assert!(complaint.contains("subscriber 1 has ended too early: signal: 9"), "{complaint}");
        names.assert_empty();
    }
}

/// Its subscribers end with it: those of its own, and those by hand, which say so.
#[test]
fn publisher_that_is_killed_leaves_no_process() {
    let names = Names::new("killed");
    let mut bench = names.start_load(&["--rate", "1000", "--seconds", "600"]);
    let child = child_of(&bench);
    let subscriber = names.start_load(&["--subscribe", "--json"]);
    while !mapped(&subscriber) {
        thread::yield_now();
    }
    bench.kill();
    let (said, complaint, code) = subscriber.end();
    let report: Value = serde_json::from_slice(&said).unwrap();
    assert_eq!((&report["ok"], code), (&false.into(), 1));
    assert!(complaint.contains("the publisher of `load` has died"), "{complaint}");
    // (A process that nobody has waited for yet is a zombie.)
    let is_there =
        || fs::read_to_string(format!("/proc/{child}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    while is_there() {
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn name_that_is_taken_names_the_process() {
    let names = Names::new("taken");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: _publisher, invitation, .. } =
        broadcast::lossy::<[f64; 2]>(Settings::new(8)).unwrap();
    let name = invitation.publish(&directory, "load").unwrap();
    let (said, complaint, code) = run(&mut names.bench(&[]));
    assert_eq!((said.as_str(), code), ("", 2));
    let pid = format!("process {}", std::process::id());
    assert!(complaint.contains("\"load\"") && complaint.contains(&pid), "{complaint}");
    // It is none of this program's, either.
    let (said, complaint, code) = run(&mut names.bench(&["--subscribe"]));
    assert_eq!((said.as_str(), code), ("", 2));
    assert!(complaint.contains("`load` carries no messages of `annulus bench`"), "{complaint}");
    drop(name);
    // Of a size that it knows, but of another type.
    let Shared { handle: _publisher, invitation, .. } =
        broadcast::lossy::<[u64; 8]>(Settings::new(8)).unwrap();
    let _name = invitation.publish(&directory, "load").unwrap();
    let (_, complaint, code) = run(&mut names.bench(&["--subscribe"]));
    assert!(code == 2 && complaint.contains("`load` carries no messages of `annulus bench`"), "{complaint}");
}

#[test]
fn wrong_arguments_are_refused_with_a_correction() {
    let names = Names::new("wrong");
    for (arguments, words) in [
        (&["--rate", "0"][..], "such as `100000`"),
        (&["--rate", "-5"], "`-5` is no rate"),
        (&["--rate", "fast"], "`fast` is no rate"),
        (&["--rate", "inf"], "`inf` is no rate"),
        (&["--seconds", "0"], "such as `5` or `0.5`"),
        (&["--seconds", "-1"], "`-1` is no time"),
        (&["--seconds", "1e9"], "at most 86400"),
        (&["--size", "40"], "one of 32, 56, 64, 120, 128, 256, 512, 1024, 4096"),
        (&["--size", "many"], "`many` is no size"),
        (&["--capacity", "1"], "at least 2 slots"),
        (&["--capacity", "99999999999999"], "--capacity 99999999999999"),
        (&["--subscribers", "0"], "from 1 to 64"),
        (&["--publish", "--subscribe"], "cannot be used with"),
        (&["--subscribe", "--size", "64"], "cannot be used with"),
        (&["--subscribe", "--rate", "64"], "cannot be used with"),
    ] {
        let (said, complaint, code) = run(&mut names.bench(arguments));
        assert_eq!((said.as_str(), code), ("", 2), "{arguments:?}");
        assert!(complaint.contains(words), "{words}\nis not in\n{complaint}");
    }
}

fn pid(number: u32) -> Pid {
    Pid::from_raw(number.try_into().unwrap()).unwrap()
}

/// The subscriber that this process has started, as soon as it is there. (Before its `exec` it is a copy of
/// the publisher.)
fn child_of(parent: &Running) -> u32 {
    let id = parent.0.id();
    loop {
        // (Its first thread starts it.)
        let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
        let is_subscriber = |child: &&str| {
            fs::read_to_string(format!("/proc/{child}/cmdline")).is_ok_and(|line| line.contains("--child"))
        };
        if let Some(child) = children.split_whitespace().find(is_subscriber) {
            return child.parse().unwrap();
        }
        thread::yield_now();
    }
}
