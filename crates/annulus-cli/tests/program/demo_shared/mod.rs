//! `annulus demo --shared` as its users see it: processes that meet at rings by name.

mod ends;
mod kill;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use crate::names::Names;
use crate::running::Running;
use crate::support::demo;
use annulus::Settings;
use annulus::shm::{Directory, RingObserver, Shared, broadcast};
use rustix::process::Signal;
use serde_json::Value;

/// A run that goes on until it is stopped.
const LONG: [&str; 5] = ["--rate", "2000", "--messages", "10000000", "--lossless"];

impl Names {
    fn shared(&self, arguments: &[&str]) -> Command {
        let mut command = self.command("demo", &["--shared", "market"]);
        command.args(arguments);
        command
    }

    /// Starts a run with two subscribers, and waits until some quotes are published: then all have joined.
    fn start(&self, arguments: &[&str]) -> (Running, BTreeMap<String, u32>) {
        self.start_until(arguments, 200)
    }

    fn start_until(&self, arguments: &[&str], quotes: u64) -> (Running, BTreeMap<String, u32>) {
        let mut running = Running(self.shared(arguments).args(["--subscribers", "2"]).spawn().unwrap());
        let directory = Directory::open(&self.path).unwrap();
        let published = || {
            let observer = RingObserver::of(&directory.find("market-quotes").ok()?).ok()?;
            observer.numbers().map(|numbers| numbers.published)
        };
        while published() < Some(quotes) {
            assert_eq!(running.0.try_wait().unwrap(), None, "it has ended");
            thread::sleep(Duration::from_millis(1));
        }
        let parts = parts(running.0.id());
        assert!(parts.len() == 3 || parts.contains_key("feed"), "{parts:?}");
        (running, parts)
    }
}

/// The processes that this one has started, by name.
fn parts(id: u32) -> BTreeMap<String, u32> {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap();
    let named = |child: &str| {
        let name = fs::read_to_string(format!("/proc/{child}/comm")).ok()?;
        Some((name.trim_end().to_owned(), child.parse().unwrap()))
    };
    children.split_whitespace().filter_map(named).collect()
}

/// What it prints, what it says, and its exit code.
fn run(command: &mut Command) -> (String, String, i32) {
    let output = command.output().expect("the program was built");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

/// The JSON of a run that must succeed.
#[track_caller]
fn json(command: &mut Command) -> Value {
    let (said, complaint, code) = run(command.arg("--json"));
    assert_eq!((complaint.as_str(), code), ("", 0), "{said}");
    serde_json::from_str(&said).unwrap()
}

/// Asserts that each of two subscribers received or lost each message.
#[track_caller]
fn assert_accounts(report: &Value) -> u64 {
    let number = |value: &Value| value.as_u64().unwrap();
    let published = number(&report["published"]);
    assert_eq!(report["ok"], true);
    let receipts = report["subscribers"].as_array().unwrap();
    assert_eq!(receipts.len(), 2);
    for receipt in receipts {
        assert_eq!(number(&receipt["received"]) + number(&receipt["lost"]), published, "{report}");
    }
    published
}

/// The keys of all objects in it, with the numbers, texts and lists that both runs must have alike.
fn shape(value: &Value) -> Value {
    match value {
        Value::Object(object) => {
            object.iter().map(|(key, value)| (key.clone(), shape_of(key, value))).collect()
        }
        Value::Array(list) => list.iter().map(shape).collect(),
        other => other.clone(),
    }
}

fn shape_of(key: &str, value: &Value) -> Value {
    match value {
        Value::Number(_) if matches!(key, "elapsed_s" | "messages_per_s" | "max") => "a number".into(),
        Value::Number(_) if key.starts_with('p') && key.len() <= 5 => "a number".into(),
        _ => shape(value),
    }
}

#[test]
fn processes_and_threads_report_the_same() {
    let names = Names::new("same");
    let arguments = ["--messages", "20000", "--subscribers", "2", "--lossless"];
    let shared = json(&mut names.shared(&arguments));
    let alone = json(demo().args(arguments));
    assert_eq!(assert_accounts(&shared), 20_000);
    // The keys, the counts, and the orders of each strategy: all but times.
    assert_eq!(shape(&shared), shape(&alone));
    assert!(shared["orders"].as_u64() > Some(0));
    let latency = &shared["subscribers"][1]["latency_ns"];
    let shown = ["p50", "p90", "p99", "p99_9", "max"].map(|key| latency[key].as_u64().unwrap());
    assert!(shown.is_sorted(), "{shown:?}");
    names.assert_empty();
}

#[test]
fn processes_and_threads_print_the_same_table() {
    let names = Names::new("table");
    let file = names.folder.file("q-eurusd.csv", "20200101 170000065,1.121200,1.121720,0\n".repeat(40));
    let arguments = ["--input", file.to_str().unwrap(), "--subscribers", "2", "--strategies", "1/2"];
    let (shared, complaint, code) = run(&mut names.shared(&arguments));
    assert_eq!((complaint.as_str(), code), ("", 0));
    let (alone, _, _) = run(demo().args(arguments));
    // All lines but those with times in them.
    let has_time = |line: &&str| line.split_whitespace().any(|word| ["ns", "µs", "ms", "s"].contains(&word));
    let lines = |report: &str| {
        let lines = report.lines().filter(|line| !has_time(line));
        lines.filter(|line| !line.starts_with("Published")).map(String::from).collect::<Vec<_>>()
    };
    let ring = "Ring: `market-quotes`, 40 slots, lossy, 1 publisher, 2 subscribers, each a process";
    assert!(shared.lines().any(|line| line == ring), "{shared}");
    let alone = alone.replace("Ring: 40 slots", "Ring: `market-quotes`, 40 slots");
    let alone = alone.replace("2 subscribers\n", "2 subscribers, each a process\n");
    let width = |lines: Vec<String>| {
        lines.into_iter().filter(|line| !line.starts_with(['┌', '╞', '└'])).collect::<Vec<_>>()
    };
    let squeezed = |lines: Vec<String>| {
        lines.iter().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect::<Vec<_>>()
    };
    assert_eq!(squeezed(width(lines(&shared))), squeezed(width(lines(&alone))));
    assert!(shared.contains("Check passed: "), "{shared}");
}

#[test]
fn short_ring_loses_quotes_and_accounts_for_all() {
    let names = Names::new("short");
    let arguments = ["--capacity", "2", "--messages", "50000", "--subscribers", "2"];
    assert_eq!(assert_accounts(&json(&mut names.shared(&arguments))), 50_000);
    names.assert_empty();
}

/// The gateway's process writes them.
#[test]
fn processes_and_threads_write_the_same_orders() {
    let names = Names::new("orders");
    let orders = |file: &str, command: &mut Command| {
        let path = names.folder.0.join(file);
        json(
            command
                .args(["--messages", "20000", "--subscribers", "3", "--lossless"])
                .arg("--output")
                .arg(&path),
        );
        let mut lines: Vec<_> = fs::read_to_string(path).unwrap().lines().map(String::from).collect();
        lines.sort_unstable();
        lines
    };
    let shared = orders("shared.csv", &mut names.shared(&[]));
    assert!(shared.len() > 1_000, "{}", shared.len());
    assert_eq!(shared, orders("alone.csv", &mut demo()));
    // Both files, and the directory of the names.
    assert_eq!(names.folder.count(), 3);
}

#[test]
fn file_that_cannot_be_written_is_refused_before_the_demo_begins() {
    let names = Names::new("full");
    let (said, complaint, code) = run(names.shared(&LONG).args(["--output", "/dev/full"]));
    assert_eq!((said.as_str(), code), ("", 2));
    assert!(complaint.contains("/dev/full: cannot be written: No space left on device"), "{complaint}");
    names.assert_empty();
}

/// The gateway finds it while quotes are published, which would go on for hours; or at the end, when it
/// writes what it has kept. (A signal is the end, after the reader has gone.)
#[test]
fn orders_that_cannot_be_written_stop_the_demo() {
    let names = Names::new("unwritten");
    let pipe = names.folder.0.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let long = ["--rate", "20000", "--messages", "1000000000", "--lossless", "--strategies"];
    for (strategies, at_the_end) in [("1/2,1/3", false), ("50/200", true)] {
        let reader = {
            let pipe = pipe.clone();
            // It has seen enough after the header.
            thread::spawn(move || BufReader::new(File::open(pipe).unwrap()).read_line(&mut String::new()))
        };
        let arguments = [&long[..], &[strategies, "--output", pipe.to_str().unwrap()]].concat();
        let demo = if at_the_end {
            // Of so many quotes there are orders.
            names.start_until(&arguments, 20_000).0
        } else {
            Running(names.shared(&arguments).spawn().unwrap())
        };
        assert!(reader.join().unwrap().unwrap() > 1);
        if at_the_end {
            demo.signal(Signal::INT);
        }
        let (said, complaint, code) = demo.end();
        assert_eq!((said.as_slice(), code), (&b""[..], 2));
        let expected = format!("{}: cannot be written: Broken pipe", pipe.display());
        assert!(complaint.contains(&expected), "{complaint}");
        names.assert_empty();
    }
}

#[test]
fn name_that_is_taken_names_the_process() {
    let names = Names::new("taken");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    for name in ["market-quotes", "market-orders"] {
        let taken = invitation.publish(&directory, name).unwrap();
        let (said, complaint, code) = run(&mut names.shared(&["--messages", "500"]));
        assert_eq!((said.as_str(), code), ("", 2));
        let expected = format!("the name {name:?} is taken by process {}", std::process::id());
        assert!(complaint.contains(&expected), "{complaint}");
        assert_eq!(directory.list().unwrap().len(), 1);
        drop(taken);
    }
    // Two demos of one name.
    let (demo, _) = names.start(&LONG);
    let (_, complaint, code) = run(&mut names.shared(&["--messages", "500"]));
    let expected = format!("\"market-quotes\" is taken by process {}", demo.0.id());
    assert!(code == 2 && complaint.contains(&expected), "{complaint}");
}

/// The processes have the names that are in the graph, and the rings too.
#[test]
fn processes_of_a_run_match_the_graph() {
    let names = Names::new("graph");
    let graph = json(names.shared(&LONG).args(["--subscribers", "2", "--describe"]));
    let (_demo, parts) = names.start(&LONG);
    let threads = graph["threads"].as_array().unwrap().iter();
    let mut expected: Vec<_> = threads.map(|thread| thread["name"].as_str().unwrap()).collect();
    expected.retain(|&name| name != "feed");
    expected.sort_unstable();
    assert_eq!(parts.keys().collect::<Vec<_>>(), expected);
    let rings: Vec<_> =
        graph["edges"].as_array().unwrap().iter().map(|edge| edge["name"].as_str().unwrap()).collect();
    for entry in Directory::open(&names.path).unwrap().list().unwrap() {
        assert!(rings.contains(&entry.name.as_str()), "{}", entry.name);
        let name = if entry.name == "market-orders" { "gateway" } else { "annulus" };
        let process = entry.process.unwrap().pid();
        assert_eq!(fs::read_to_string(format!("/proc/{process}/comm")).unwrap().trim_end(), name);
    }
    let (text, _, _) = run(names.shared(&["--subscribers", "1", "--describe"]).args(["--messages", "9"]));
    assert!(text.starts_with("feed -> subscriber-1: lossy broadcast `market-quotes`, 9 slots\n"), "{text}");
}

#[test]
fn wrong_arguments_are_refused_with_a_correction() {
    let names = Names::new("wrong");
    for (arguments, words) in [
        (
            &["--subscribers", "65"][..],
            "error: --subscribers 65: with --shared each is a process: at most 64",
        ),
        (&["--capacity", "1"], "at least 2 slots"),
        (&["--capacity", "99999999999999"], "error: --capacity 99999999999999: "),
        (&["--shared", "a"], "cannot be used multiple times"),
        (&["--output", "/no/such/folder/orders.csv"], "cannot be written"),
        (&["--part", "gateway"], "error: --part is for processes that `annulus demo --shared` starts: "),
    ] {
        let (said, complaint, code) = run(&mut names.shared(arguments));
        assert_eq!((said.as_str(), code), ("", 2), "{arguments:?}");
        assert!(complaint.contains(words), "{words}\nis not in\n{complaint}");
    }
    for (name, words) in [
        ("", "error: --shared: no ring can have the name \"\": it is empty"),
        ("a/b", "error: --shared: no ring can have the name \"a/b\": it has the character '/'"),
        ("..", "error: --shared: no ring can have the name \"..\": it begins with a dot"),
    ] {
        let (_, complaint, code) = run(names.command("demo", &["--shared"]).arg(name));
        assert!(code == 2 && complaint.contains(words), "{words}\nis not in\n{complaint}");
    }
    let (_, complaint, code) = run(demo().arg("--directory").arg(Path::new("/tmp")));
    assert!(code == 2 && complaint.contains("--shared <NAME>"), "{complaint}");
    names.assert_empty();
}
