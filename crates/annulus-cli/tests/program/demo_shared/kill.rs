//! `--kill`: one of the processes is killed in the middle, and the report says what was lost.

use rustix::process::Signal;
use serde_json::Value;

use super::{json, run};
use crate::names::Names;
use crate::running::Running;
use crate::support::demo;

/// So many quotes; a half of them is published when one is killed.
const QUOTES: u64 = 20_000;
const BASE: [&str; 4] = ["--messages", "20000", "--subscribers", "2"];

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

/// A run in which that process is killed, after a half.
#[track_caller]
fn killed(names: &Names, victim: &str, arguments: &[&str]) -> Value {
    let kill = format!("--kill={victim}");
    let report = json(names.shared(&BASE).args(arguments).arg(kill));
    assert_eq!((&report["ok"], &report["killed"]["name"]), (&true.into(), &victim.into()), "{report}");
    assert_eq!(report["killed"]["after"], QUOTES / 2);
    assert!(report["paced"].is_null(), "it runs once");
    names.assert_empty();
    report
}

/// Any process, in a ring that loses nothing, in a short one, and in a lossy one.
#[test]
fn the_others_lose_nothing() {
    let names = Names::new("kill");
    let alone = json(demo().args(BASE).arg("--lossless"));
    for arguments in [&["--lossless"][..], &["--lossless", "--capacity", "64"], &[]] {
        for place in 0..2 {
            let report = killed(&names, &format!("subscriber-{}", place + 1), arguments);
            assert_eq!(report["published"], QUOTES);
            let (dead, other) = (&report["subscribers"][place], &report["subscribers"][1 - place]);
            assert!(dead["received"].is_null() && dead["lost"].is_null(), "{report}");
            assert_eq!(number(&other["received"]) + number(&other["lost"]), QUOTES);
            let taken = &report["killed"]["quotes_taken"];
            if arguments.is_empty() {
                assert!(taken.is_null() && report["killed"]["orders_unplaced"].is_null(), "{report}");
                continue;
            }
            assert!(number(taken) <= QUOTES / 2, "{report}");
            // Of the other's strategies each order is there, and of the dead one's what it had placed.
            let mut missing = 0;
            for (index, strategy) in report["strategies"].as_array().unwrap().iter().enumerate() {
                let (all, here) =
                    (number(&alone["strategies"][index]["orders"]), number(&strategy["orders"]));
                let is_dead = number(&strategy["subscriber"]) == place as u64 + 1;
                assert!(if is_dead { here < all } else { here == all }, "{report}");
                missing += all - here;
            }
            assert_eq!(number(&report["killed"]["orders_unplaced"]), missing);
        }
        let report = killed(&names, "gateway", arguments);
        assert_eq!(report["published"], QUOTES);
        for receipt in report["subscribers"].as_array().unwrap() {
            assert_eq!(number(&receipt["received"]) + number(&receipt["lost"]), QUOTES);
        }
        assert!(report["orders"].is_null() && report["strategies"][0]["orders"].is_null());
        let orders = |key: &str| number(&report["killed"][key]);
        let gone = orders("orders_received") + orders("orders_queued") + orders("orders_refused");
        assert_eq!(orders("orders_placed"), gone);
        if !arguments.is_empty() {
            assert_eq!(Value::from(gone), alone["orders"], "each was placed");
        }

        let report = killed(&names, "feed", arguments);
        assert_eq!(
            (&report["published"], number(&report["killed"]["quotes_unpublished"])),
            (&(QUOTES / 2).into(), QUOTES / 2)
        );
        for receipt in report["subscribers"].as_array().unwrap() {
            assert_eq!(number(&receipt["received"]) + number(&receipt["lost"]), QUOTES / 2);
        }
    }
}

/// Without a name it is the first subscriber; there is nobody else here.
#[test]
fn report_in_words_names_the_killed_process_and_the_rest() {
    let names = Names::new("kill-words");
    let output = names.folder.0.join("orders.csv");
    let arguments =
        ["--messages", "1000", "--subscribers", "1", "--lossless", "--output", output.to_str().unwrap()];
    let (said, complaint, code) = run(names.shared(&arguments).arg("--kill"));
    assert_eq!((complaint.as_str(), code), ("", 0), "{said}");
    for words in [
        "│          1 ┆   killed ┆    – ┆      – │",
        "Killed: subscriber-1 (process ",
        "Lost with it: its account",
    ] {
        assert!(said.contains(words), "{words}\nis not in\n{said}");
    }
    assert!(said.contains("Check passed: nothing else was lost. ") && output.exists(), "{said}");
    std::fs::remove_file(&output).unwrap();
    let (said, complaint, code) = run(names.shared(&arguments).args(["--kill", "gateway"]));
    let expected = format!("annulus: {}: not written, as the gateway was killed\n", output.display());
    assert_eq!((complaint, code), (expected, 0), "{said}");
    assert!(!output.exists() && said.contains("Lost with it: its account of the orders."), "{said}");
    // A pace is kept also by a feed of its own; and the quotes may be those of files.
    let file = names.folder.file("q-eurusd.csv", "20200101 170000065,1.121200,1.121720,0\n".repeat(10));
    let arguments = ["--input", file.to_str().unwrap(), "--repeat", "4", "--rate", "1000", "--kill", "feed"];
    let report = json(&mut names.shared(&arguments));
    assert_eq!((&report["published"], &report["killed"]["quotes_unpublished"]), (&20.into(), &20.into()));
    assert!(
        !report["subscribers"][0]["latency_ns"].is_null() && report["paced"]["published"] == 20,
        "{report}"
    );
    names.assert_empty();
}

#[test]
fn signal_before_the_middle_kills_no_process() {
    let names = Names::new("kill-signal");
    for victim in ["subscriber-1", "gateway", "feed"] {
        let arguments = ["--rate", "500", "--messages", "10000000", "--kill", victim];
        let demo: Running = names.start_until(&arguments, 20).0;
        demo.signal(Signal::TERM);
        let (said, complaint, code) = demo.end();
        let said = String::from_utf8(said).unwrap();
        assert_eq!((complaint.as_str(), code), ("", 143), "{said}");
        let expected = format!("{victim} was not killed: the feed was stopped before it came to the middle.");
        assert!(said.contains(&expected), "{said}");
        assert!(said.contains("Check passed: received + lost = published"), "{said}");
        names.assert_empty();
    }
}

#[test]
fn unknown_process_name_is_refused() {
    let names = Names::new("kill-wrong");
    for name in ["subscriber-3", "orders.csv", ""] {
        let kill = format!("--kill={name}");
        let (said, complaint, code) =
            run(names.shared(&BASE).args([kill.as_str(), "--output", "orders.csv"]));
        assert_eq!((said.as_str(), code), ("", 2));
        let expected = format!(
            "error: --kill: `{name}` is no process of this demo: it must be one of feed, subscriber-1, \
             subscriber-2, gateway\n"
        );
        assert_eq!(complaint, expected);
    }
    let (_, complaint, code) = run(demo().arg("--kill"));
    assert!(code == 2 && complaint.contains("--shared <NAME>"), "{complaint}");
}
