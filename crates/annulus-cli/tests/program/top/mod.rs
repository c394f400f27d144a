//! `annulus top` as its users see it: piped, as JSON, and in a terminal.
#![allow(clippy::disallowed_types, reason = "a test")]

mod disturbs;
mod one;
mod terminal;

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::names::Names;
use crate::running::Running;
use crate::support::annulus;
use annulus::Settings;
use annulus::shm::{Directory, Invitation, Shared, broadcast, recv_fd};
use serde_json::Value;

/// What it prints to standard output and to standard error, and its exit code.
#[track_caller]
fn top(names: &Names, arguments: &[&str]) -> (String, String, i32) {
    let output = names.command("top", arguments).output().expect("the program was built");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr), output.status.code().unwrap())
}

/// A process of the program that publishes to this name, and stays.
fn publisher(names: &Names, name: &str) -> Running {
    let input = names.folder.file("input", "one\ntwo\n");
    let mut command = names.command("pub", &[name, "--stay", "--file"]);
    let mut child = Running(command.arg(input).spawn().unwrap());
    child.says("staying");
    child
}

/// A live publisher, a dead one, one whose subscriber is behind, and one that another process reads.
#[test]
fn rings_are_in_one_table() {
    let names = Names::new("table");
    let mut dead = publisher(&names, "dead");
    dead.kill();
    let lines = publisher(&names, "lines");
    let reader = Running(names.command("sub", &["lines"]).spawn().unwrap());
    while !crate::running::shows_position(&reader) {
        thread::yield_now();
    }
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: mut orders, invitation, .. } =
        broadcast::lossless::<u64>(Settings::new(128), 4).unwrap();
    let _orders_name = invitation.publish(&directory, "orders").unwrap();
    let _behind = invitation.accept_lossless::<u64>().unwrap().subscribe().unwrap();
    (0..100).for_each(|number| orders.publish(number).unwrap());
    let Shared { handle: mut ticks, invitation, .. } = broadcast::lossy::<u64>(Settings::new(1024)).unwrap();
    let _ticks_name = invitation.publish(&directory, "ticks").unwrap();
    ticks.publish(7);

    // Another one that looks is no reader.
    let looks = Running(names.command("top", &["--interval", "60"]).spawn().unwrap());
    while !crate::running::mapped(&looks) {
        thread::yield_now();
    }

    let stop = AtomicBool::new(false);
    let (table, json) = thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                ticks.publish(7);
                thread::sleep(Duration::from_millis(1));
            }
        });
        let table = top(&names, &["--interval", "0.5"]);
        let json = top(&names, &["--interval", "0.5", "--json"]);
        stop.store(true, Ordering::Relaxed);
        (table, json)
    });

    let (table, complaint, code) = table;
    assert_eq!((complaint.as_str(), code), ("", 0));
    let me = std::process::id().to_string();
    let words = |begin: &str| {
        let line = table.lines().find(|line| line.trim_start().starts_with(begin));
        let words = line.unwrap_or_else(|| panic!("no {begin:?} in\n{table}")).split_whitespace();
        words.map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(words("NAME")[..4], ["NAME", "STATE", "KIND", "RATE/S"]);
    assert_eq!(words("dead")[..3], ["dead", "dead", "–"]);
    assert_eq!(words("orders")[..7], ["orders", "alive", "lossless", "0", "100", "128", &me]);
    assert_eq!(words("seat 0")[..5], ["seat", "0", "alive", "100", &me]);
    let lines_pid = lines.0.id().to_string();
    assert_eq!(words("lines")[..8], ["lines", "alive", "lossy", "0", "–", "16,384", &lines_pid, "annulus"]);
    let reader_pid = reader.0.id().to_string();
    assert_eq!(words("no seat")[..6], ["no", "seat", "0", &reader_pid, "annulus", "sub"]);
    assert_eq!(words("ticks")[..3], ["ticks", "alive", "lossy"]);
    assert!(table.trim_end().ends_with(", 1 dead") && table.contains("4 rings in "), "{table}");

    let report: Value = serde_json::from_str(&json.0).unwrap();
    assert_eq!((&report["schema"], json.2), (&Value::from(1), 0));
    let ring =
        |name: &str| report["rings"].as_array().unwrap().iter().find(|ring| ring["name"] == name).unwrap();
    assert_eq!((&ring("dead")["state"], &ring("dead")["kind"]), (&Value::from("dead"), &Value::Null));
    let seat = &ring("orders")["readers"][0];
    assert_eq!((&seat["seat"], &seat["lag"], &seat["position"]), (&0.into(), &100.into(), &0.into()));
    assert_eq!((&seat["pid"], &ring("orders")["pending"]), (&std::process::id().into(), &100.into()));
    let without_seat = &ring("lines")["readers"][0];
    assert_eq!((&without_seat["seat"], &without_seat["lag"]), (&Value::Null, &0.into()));
    assert_eq!(without_seat["position"], ring("lines")["published"]);
    // Some hundreds, unless the machine is busy.
    println!("{} a second", ring("ticks")["published_per_second"].as_f64().unwrap());
    assert!(ring("ticks")["published"].as_u64().unwrap() > 0);
    assert_eq!(ring("ticks")["readers"], Value::Array(vec![]), "a program that only looks is none");
}

/// As the bridge says it, in the schema that its README has.
#[test]
fn routes_of_bridges_are_shown() {
    let readme = concat!(env!("CARGO_MANIFEST_DIR"), "/../annulus-zenoh/README.md");
    let readme = fs::read_to_string(readme).unwrap();
    let schema = readme.lines().find(|line| line.starts_with("BridgeRoute{")).unwrap();
    let route = |place: &str, name: &str, rest: &str| {
        let numbers = r#""messages":7,"samples":7,"bytes":56,"readers":0,"kept":0,"corrupt":0,"unanswered":2,"next":10"#;
        format!("{{{place},\"name\":{name:?},\"host\":\"far\",{rest},{numbers}}}\n")
    };
    let down = r#""direction":"In","state":"Down","refused":"","messages_per_second":0.5,"again":0,"lagged":3,"round_trip_ns":1500000"#;
    let refused = r#""direction":"Out","state":"Refused","refused":"it is a queue","messages_per_second":0,"again":0,"lagged":0,"round_trip_ns":null"#;
    // A round, and the beginning of the next one.
    let lines = route(r#""index":0,"routes":2"#, "quotes", down)
        + &route(r#""index":1,"routes":2"#, "orders", refused)
        + &route(r#""index":0,"routes":9"#, "half", down);
    let names = Names::new("bridges");
    let input = names.folder.file("input", &lines);
    let mut command =
        names.command("pub", &["bridge@here", "--json", "--stay", "--schema", schema, "--file"]);
    let mut child = Running(command.arg(input).spawn().unwrap());
    child.says("staying");

    let (table, complaint, code) = top(&names, &["--interval", "0.1"]);
    assert_eq!((complaint.as_str(), code), ("", 0));
    assert!(table.contains("orders → network: not carried: it is a queue"), "{table}");
    assert!(table.contains("quotes   ← far      down") && !table.contains("half"), "{table}");
    let (report, ..) = top(&names, &["--interval", "0.1", "--json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let routes = report["routes"].as_array().unwrap();
    let of =
        |route: &Value| [&route["name"], &route["state"], &route["lagged"]].map(Value::to_string).join(" ");
    assert_eq!(
        routes.iter().map(of).collect::<Vec<_>>(),
        [r#""orders" "refused" 0"#, r#""quotes" "down" 3"#]
    );
    assert_eq!(routes[1]["round_trip_ns"], 1_500_000);
}

/// Neither in the rings, nor beside them.
#[test]
fn top_changes_nothing() {
    let names = Names::new("nothing");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossless::<u64>(Settings::new(8), 2).unwrap();
    let _name = invitation.publish(&directory, "orders").unwrap();
    let ring = invitation.accept_lossless::<u64>().unwrap();
    let _behind = ring.subscribe().unwrap();
    (0..8).for_each(|number| publisher.publish(number).unwrap());
    let bytes = || {
        let all = |file: &File| {
            let mut bytes = vec![0; file.metadata().unwrap().len().try_into().unwrap()];
            file.read_exact_at(&mut bytes, 0).unwrap();
            bytes
        };
        files_of(&invitation).map(|file| all(&file))
    };
    let listed = || {
        let entries = fs::read_dir(&names.path).unwrap().map(Result::unwrap);
        let mut entries: Vec<_> =
            entries.map(|entry| (entry.file_name(), entry.metadata().unwrap().modified().unwrap())).collect();
        entries.sort();
        entries
    };
    let before = (bytes(), listed());
    assert_eq!(top(&names, &["--interval", "0.2"]).2, 0);
    assert!(before == (bytes(), listed()));
    // It has neither taken a seat nor kept one.
    let second = ring.subscribe().unwrap();
    assert!(ring.subscribe().is_err());
    drop(second);
}

/// The memory of a ring, and that of its sleepers.
fn files_of(invitation: &Invitation) -> [File; 2] {
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    [0; 2].map(|_| File::from(recv_fd(&there).unwrap()))
}

#[test]
fn no_directory_is_made() {
    let names = Names::new("none");
    let folder = names.folder.0.to_str().unwrap();
    let mut command = annulus("top");
    command.args(["--interval", "0.1"]).env("XDG_RUNTIME_DIR", folder).stdout(Stdio::piped());
    let output = command.output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    assert_eq!(said, format!("There is no ring in {folder}/annulus.\n"));
    assert_eq!((output.status.code(), names.folder.count()), (Some(0), 0));

    let (said, complaint, code) = top(&names, &[]);
    assert_eq!((said.as_str(), code), ("", 2));
    assert!(complaint.contains("there is no directory"), "{complaint}");
    let file = names.folder.file("names", "");
    let (said, complaint, code) = top(&names, &["--interval", "0.1"]);
    assert_eq!((said.as_str(), code), ("", 2));
    assert!(complaint.contains(file.to_str().unwrap()), "{complaint}");
}
