//! `annulus demo` as its users see it: the built program, its output and its exit codes.

use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

use crate::support::{Folder, demo};

/// Quotes of the form without a header.
const PLAIN: &str = "\
20200101 170000065,1.121200,1.121720,0
20200101 170010447,1.121200,1.121920,0
20200101 170010498,1.121170,1.121610,5
";

/// Quotes of the form with a header.
const HEADED: &str = "\
timestamp,bid,ask
2013-01-01 22:00:00.295000+00:00,86.655,86.728
2013-01-01 22:02:35.907000+00:00,86.657,86.728
";

/// Runs `command` to its end.
fn output(command: &mut Command) -> Output {
    command.output().expect("the program was built")
}

/// The JSON that a run which must succeed prints.
fn json(command: &mut Command) -> Value {
    let output = output(command.arg("--json"));
    let (stdout, stderr) = (text(&output.stdout), text(&output.stderr));
    assert!(output.status.success(), "{stdout}{stderr}");
    assert_eq!(stderr, "");
    serde_json::from_str(stdout).unwrap()
}

fn text(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap()
}

/// Asserts that it is refused with this message, before anything is printed.
#[track_caller]
fn assert_refused(command: &mut Command, message: &str) {
    let output = output(command);
    assert_eq!(text(&output.stdout), "");
    let stderr = text(&output.stderr);
    assert!(stderr.contains(message), "{message}\nis not in\n{stderr}");
    assert_eq!(output.status.code(), Some(2));
}

/// Asserts that each of `subscribers` received or lost each message.
#[track_caller]
fn assert_accounts(report: &Value, published: u64, subscribers: usize) {
    assert_eq!(report["published"], published);
    assert_eq!(report["ok"], true);
    let receipts = report["subscribers"].as_array().unwrap();
    assert_eq!(receipts.len(), subscribers);
    for receipt in receipts {
        let [received, lost] = ["received", "lost"].map(|key| receipt[key].as_u64().unwrap());
        assert_eq!(received + lost, published, "{report}");
    }
}

/// Asserts that nothing was lost, too.
#[track_caller]
fn assert_lossless(report: &Value, published: u64, subscribers: usize) {
    assert_accounts(report, published, subscribers);
    for receipt in report["subscribers"].as_array().unwrap() {
        assert_eq!(receipt["lost"], 0);
    }
}

/// Asserts that it is a latency, and nothing else.
#[track_caller]
fn assert_percentiles(latency_ns: &Value) {
    assert_eq!(sorted_keys(latency_ns), ["max", "p50", "p90", "p99", "p99_9"]);
    let percentiles = ["p50", "p90", "p99", "p99_9", "max"].map(|key| latency_ns[key].as_u64().unwrap());
    assert!(percentiles.is_sorted(), "{latency_ns}");
}

fn sorted_keys(value: &Value) -> Vec<&str> {
    let mut keys: Vec<&str> = value.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    keys
}

#[test]
fn files_of_both_forms_come_to_every_subscriber() {
    let folder = Folder::new("forms");
    let (plain, headed) = (folder.file("eurusd.csv", PLAIN), folder.file("usdjpy.csv", HEADED));
    assert_lossless(&json(demo().arg("--input").arg(&plain).args(["--subscribers", "3"])), 3, 3);
    assert_lossless(&json(demo().arg("--input").arg(&headed).args(["--subscribers", "1"])), 2, 1);

    let both = json(demo().arg("--input").arg(&plain).arg("--input").arg(&headed).args(["--repeat", "400"]));
    let subscribers = both["subscribers"].as_array().unwrap().len();
    assert!(subscribers >= 2);
    assert_lossless(&both, 2_000, subscribers);
}

#[test]
fn json_has_exactly_these_keys() {
    let report = json(demo().args(["--messages", "5000", "--subscribers", "3", "--lossless"]));
    assert_eq!(
        sorted_keys(&report),
        [
            "elapsed_s",
            "flooded_tick_to_order_ns",
            "lossless",
            "messages_per_s",
            "ok",
            "orders",
            "paced",
            "published",
            "strategies",
            "subscribers",
            "tick_to_order_ns"
        ]
    );
    assert_eq!(report["lossless"], true);
    for receipt in report["subscribers"].as_array().unwrap() {
        assert_eq!(sorted_keys(receipt), ["flooded_latency_ns", "latency_ns", "lost", "received"]);
        assert_percentiles(&receipt["latency_ns"]);
        assert_percentiles(&receipt["flooded_latency_ns"]);
    }
    let mut orders = 0;
    for (strategy, subscriber) in report["strategies"].as_array().unwrap().iter().zip([1, 2, 3, 1]) {
        let keys = [
            "flooded_tick_to_order_ns",
            "lost",
            "name",
            "orders",
            "received",
            "subscriber",
            "tick_to_order_ns",
        ];
        assert_eq!(sorted_keys(strategy), keys);
        assert_percentiles(&strategy["flooded_tick_to_order_ns"]);
        assert_eq!(strategy["subscriber"], subscriber);
        assert_eq!((&strategy["received"], &strategy["lost"]), (&json!(5_000), &json!(0)));
        assert_percentiles(&strategy["tick_to_order_ns"]);
        orders += strategy["orders"].as_u64().unwrap();
    }
    assert!(orders > 0);
    assert_eq!(report["orders"], orders);
    assert_percentiles(&report["tick_to_order_ns"]);
    assert!(report["elapsed_s"].is_f64() && report["messages_per_s"].is_f64());
    assert_eq!(report["paced"], json!({ "published": 5_000, "messages_per_s": 10_000.0 }));
}

/// In a ring that is flooded a message waits behind hundreds of thousands of others; in a calm one it waits
/// behind next to none, unless the machine is busy with other things.
#[test]
fn latency_that_is_shown_is_of_a_calm_ring() {
    let report = json(demo().args(["--messages", "300000", "--subscribers", "1"]));
    assert_eq!(report["paced"], json!({ "published": 10_000, "messages_per_s": 10_000.0 }));
    let p50 = |key: &str| report["subscribers"][0][key]["p50"].as_u64().unwrap();
    println!("p50: {} ns calm, {} ns flooded", p50("latency_ns"), p50("flooded_latency_ns"));
}

#[test]
fn table_tells_subscribers_symbols_and_the_verdict() {
    let folder = Folder::new("table");
    let (plain, headed) = (folder.file("q-eurusd.csv", PLAIN), folder.file("my feed.csv", HEADED));
    let output =
        output(demo().arg("--input").arg(plain).arg("--input").arg(headed).args(["--subscribers", "2"]));
    assert_eq!(output.status.code(), Some(0));
    let report = text(&output.stdout);
    for part in [
        "Feed: 5 quotes of 2 symbols, read from 2 files\n",
        "Ring: 5 slots, lossy, 1 publisher, 2 subscribers\n",
        "Published 5 messages at full speed in ",
        "│          1 ┆        5 ┆    0 ┆      0 │",
        "│          2 ┆        5 ┆    0 ┆      0 │",
        "Latency in a calm ring: the first 5 quotes once more, at 10,000 messages a second.\n",
        "One-way, in the calm ring, from publication to reception:\n",
        "│          1 ┆        5 ┆    0 ┆  ",
        "│          2 ┆        5 ┆    0 ┆  ",
        "Tick to order, in the calm ring, from publication of a quote to reception of the order at the gateway:\n",
        "│ 50/200   ┆          2 ┆    0 ┆      0 ┆   – ┆",
        "│ all      ┆            ┆      ┆      0 ┆   – ┆",
        "│ EURUSD  ┆      3 ┆  1.12117 ┆  1.12161 ┆ 1.12117 ┆ 1.12192 ┆    0.000560 │",
        "│ MY FEED ┆      2 ┆   86.657 ┆   86.728 ┆  86.655 ┆  86.728 ┆      0.0720 │",
        "Check passed: ",
    ] {
        assert!(report.contains(part), "{part}\nis not in\n{report}");
    }
}

#[test]
fn malformed_line_is_named_and_nothing_is_published() {
    let folder = Folder::new("malformed");
    let good = folder.file("good.csv", PLAIN);
    for (content, line, what) in [
        (format!("{PLAIN}20200101 170010498,1.121170\n"), 4, "`20200101 170010498,1.121170` has 2 fields"),
        (format!("{PLAIN}20200101 170010498,1.1,1.2,"), 4, "volume `` is not a number"),
        (PLAIN.replace("1.121920", "x"), 2, "ask `x` is not a number"),
        (HEADED.replace("86.655", "-86.655"), 2, "bid `-86.655` is not above 0"),
        (HEADED.replace("+00:00", ""), 2, "`2013-01-01 22:00:00.295000` is no ISO 8601 time with a zone"),
        ("bid,ask\n1,2\n".into(), 1, "`bid,ask` begins no file of quotes"),
    ] {
        let bad = folder.file("bad.csv", content);
        let message = format!("error: {}:{line}: {what}", bad.display());
        assert_refused(demo().arg("--input").arg(&good).arg("--input").arg(&bad), &message);
    }
}

#[test]
fn file_without_quotes_and_a_missing_file_are_named() {
    let folder = Folder::new("no-quotes");
    let empty = folder.file("empty.csv", "timestamp,bid,ask\n");
    assert_refused(
        demo().arg("--input").arg(&empty),
        &format!("error: {}: holds no quotes", empty.display()),
    );
    let missing = folder.0.join("missing.csv");
    assert_refused(
        demo().arg("--input").arg(&missing),
        &format!("error: {}: cannot be read", missing.display()),
    );
    assert_refused(demo().arg("--input").arg(&folder.0), ": is a directory");
}

#[test]
fn wrong_arguments_are_refused_with_a_correction() {
    for (arguments, message) in [
        (
            &["--capacity", "1"][..],
            "error: --capacity: capacity 1 is too small: this ring needs at least 2 slots",
        ),
        (&["--rate", "0"], "`0` is no rate: it must be a positive number of messages a second"),
        (&["--subscribers", "0"], "must be a whole number from 1 to 4096"),
        (&["--threads", "0"], "must be a whole number from 1 to 4096"),
        (
            &["--strategies", "momentum"],
            "`momentum` is no strategy: it must be two windows FAST/SLOW such as `5/20`",
        ),
        (&["--strategies", "20/5"], "`20/5` is no strategy"),
        (&["--strategies", ""], "`` is no strategy"),
        (&["--strategies", "5/20,5/20"], "error: --strategies: `5/20` is there twice"),
        (&["--output", "-"], "error: --output -: standard output is where the report goes"),
        (&["--output", ""], "a value is required for '--output <FILE>'"),
        (&["--lossless", "--capacity", "0"], "error: --capacity: capacity 0 is too small"),
        (&["--describe=svg"], "`svg` is no form of a graph: it must be `text`, `mermaid`, `dot` or `json`"),
        (&["--describe", "dot", "--json"], "error: --describe=dot is no JSON: use --describe=json"),
        (&["--describe", "--capacity", "1"], "error: --capacity: capacity 1 is too small"),
        (&["--describe", "--output", "-"], "error: --output -: standard output is where the report goes"),
        (&["--describe", "--input", "missing.csv"], "error: missing.csv: cannot be read"),
        (&["--repeat", "2"], "--repeat 2: there is no file to replay: name one with --input"),
        (&["--input", "q.csv", "--seed", "2"], "cannot be used with"),
    ] {
        assert_refused(demo().args(arguments), message);
    }
}

#[test]
fn ring_of_two_slots_loses_much_and_accounts_for_all_of_it() {
    let report = json(demo().args(["--capacity", "2", "--messages", "50000", "--subscribers", "2"]));
    assert_accounts(&report, 50_000, 2);
}

#[test]
fn pipe_gets_no_control_characters() {
    let output =
        output(demo().args(["--messages", "5000"]).env("TERM", "xterm-256color").env("CLICOLOR", "1"));
    assert!(output.status.success());
    for stream in [text(&output.stdout), text(&output.stderr)] {
        assert!(
            !stream.contains(|character: char| character.is_control() && character != '\n'),
            "{stream:?}"
        );
    }
    assert_eq!(text(&output.stderr), "");
}

#[test]
fn rate_is_kept() {
    let report = json(demo().args(["--messages", "200", "--rate", "2000", "--subscribers", "2"]));
    assert_lossless(&report, 200, 2);
    // Its latencies are those of that rate, and there is no run at full speed.
    assert_eq!(report["paced"], json!({ "published": 200, "messages_per_s": 2_000.0 }));
    assert!(report.get("flooded_tick_to_order_ns").is_none());
    assert_percentiles(&report["tick_to_order_ns"]);
    // The last of 200 messages is due after 199 intervals of half a millisecond.
    let elapsed_s = report["elapsed_s"].as_f64().unwrap();
    assert!(elapsed_s >= 0.0995, "{elapsed_s}");
}

#[test]
fn the_same_seed_gives_the_same_market() {
    let market = |seed: &str| {
        let output = output(demo().args(["--messages", "2000", "--seed", seed]));
        let report = text(&output.stdout).to_owned();
        report.lines().filter(|line| line.contains("USD")).map(String::from).collect::<Vec<_>>()
    };
    assert_eq!(market("7").len(), 7);
    assert_eq!(market("7"), market("7"));
    assert_ne!(market("7"), market("8"));
}

#[test]
fn reader_that_has_seen_enough_is_no_error() {
    let mut child = demo()
        .args(["--messages", "1000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program was built");
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(text(&output.stderr), "");
    assert_eq!(output.status.code(), Some(0));
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_publisher_with_a_report() {
    let mut command = demo();
    command.args(["--rate", "1000", "--messages", "1000000000", "--subscribers", "2", "--json"]);
    let run = crate::running::Running::demo(&mut command);
    run.signal(rustix::process::Signal::INT);
    let (printed, said, code) = run.end();
    assert_eq!((said.as_str(), code), ("", 130));
    let report: Value = serde_json::from_slice(&printed).unwrap();
    let published = report["published"].as_u64().unwrap();
    assert!((1..1_000_000_000).contains(&published), "{published}");
    assert_accounts(&report, published, 2);
}

/// What `annulus demo --describe` prints with these arguments.
fn described(arguments: &[&str]) -> String {
    let output = output(demo().args(arguments));
    assert_eq!((text(&output.stderr), output.status.code()), ("", Some(0)));
    text(&output.stdout).to_owned()
}

#[test]
fn graph_is_printed_and_nothing_is_written() {
    let folder = Folder::new("graph");
    let orders = folder.0.join("orders.csv");
    let orders = orders.to_str().unwrap();
    let arguments =
        ["--messages", "5000", "--subscribers", "2", "--strategies", "1/2,3/4,5/6", "--output", orders];
    let form = |form: &str| described(&[&arguments[..], &[form]].concat());
    assert_eq!(
        form("--describe"),
        format!(
            "feed -> subscriber-1: lossy broadcast, 5,000 slots\n\
             feed -> subscriber-2: lossy broadcast, 5,000 slots\n\
             subscriber-1 -> gateway: mpsc, 4,096 slots, orders of 1/2\n\
             subscriber-1 -> gateway: mpsc, 4,096 slots, orders of 5/6\n\
             subscriber-2 -> gateway: mpsc, 4,096 slots, orders of 3/4\n\
             gateway -> {orders}: a file\n"
        )
    );
    let mermaid = form("--describe=mermaid");
    assert!(mermaid.starts_with("flowchart LR\n    feed[\"feed\"]\n"), "{mermaid}");
    assert!(
        mermaid.contains("    subscriber2 -->|\"mpsc, 4,096 slots, orders of 3/4\"| gateway\n"),
        "{mermaid}"
    );
    let dot = form("--describe=dot");
    assert!(dot.starts_with("digraph demo {\n") && dot.ends_with("}\n"), "{dot}");
    assert!(dot.contains("    feed -> subscriber1 [label = \"lossy broadcast, 5,000 slots\"];\n"), "{dot}");
    assert_eq!(folder.count(), 0);
}

/// The graph says of the rings and threads what a run with the same arguments says of them.
#[test]
fn graph_matches_the_run() {
    for arguments in [
        &["--messages", "3000", "--subscribers", "3", "--lossless"][..],
        &["--messages", "3000", "--subscribers", "5", "--capacity", "300"],
    ] {
        let graph = json(demo().args(arguments).arg("--describe"));
        let report = json(demo().args(arguments));
        let edges = graph["edges"].as_array().unwrap();
        let from = |node: &str| edges.iter().filter(|edge| edge["from"] == node).collect::<Vec<_>>();
        assert_eq!(from("feed").len(), report["subscribers"].as_array().unwrap().len());
        let kind = if report["lossless"] == true { "lossless broadcast" } else { "lossy broadcast" };
        let ring = output(demo().args(arguments)).stdout;
        for edge in from("feed") {
            assert_eq!(edge["ring"], kind);
            let slots = edge["capacity"].as_u64().unwrap();
            let slots = if slots == 3_000 { "3,000".into() } else { slots.to_string() };
            assert!(text(&ring).contains(&format!("Ring: {slots} slots, ")), "{edge}");
        }
        for strategy in report["strategies"].as_array().unwrap() {
            let edges = from(&format!("subscriber-{}", strategy["subscriber"]));
            let orders: Vec<_> = edges.iter().filter(|edge| edge["strategy"] == strategy["name"]).collect();
            assert_eq!(orders.len(), 1, "{strategy}");
            assert_eq!((&orders[0]["to"], &orders[0]["ring"]), (&json!("gateway"), &json!("mpsc")));
        }
        let orders = edges.iter().filter(|edge| edge["to"] == "gateway").count();
        assert_eq!(orders, report["strategies"].as_array().unwrap().len());
    }
}

/// The threads of a run have the names that are in the graph.
#[cfg(target_os = "linux")]
#[test]
fn threads_of_a_run_match_the_graph() {
    let arguments = ["--messages", "1000000000", "--rate", "1000", "--subscribers", "3"];
    let graph = json(demo().args(arguments).arg("--describe"));
    let threads = graph["threads"].as_array().unwrap();
    // The feed has the main thread, which the system names as the program.
    let mut expected: Vec<_> = threads[1..].iter().map(|thread| thread["name"].as_str().unwrap()).collect();
    expected.extend(["annulus", "signals"]);
    expected.sort_unstable();

    // (In a terminal there would be a bar, and a thread that draws it.)
    let mut command = demo();
    let mut child = command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let names = || {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", child.id())).unwrap();
        let name = |task: std::io::Result<std::fs::DirEntry>| {
            std::fs::read_to_string(task.ok()?.path().join("comm")).ok()
        };
        let mut names: Vec<_> = tasks.filter_map(name).map(|name| name.trim_end().to_owned()).collect();
        names.sort_unstable();
        names
    };
    // It takes a moment until all of them are there.
    let is_there = (0..6_000).any(|_| {
        std::thread::sleep(std::time::Duration::from_millis(10));
        names() == expected
    });
    let names = names();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(is_there, "{names:?}\nare not\n{expected:?}");
}

#[test]
fn help_and_version_are_there() {
    for (arguments, part) in [
        (&["--help"][..], "EXAMPLES:"),
        (&["demo", "--help"], "EXIT CODES:"),
        (&["demo", "-h"], "EXAMPLES:"),
        (&["demo", "--help"], "--describe [<FORM>]"),
        (&["--version"], concat!("annulus ", env!("CARGO_PKG_VERSION"))),
    ] {
        let output = output(Command::new(env!("CARGO_BIN_EXE_annulus")).args(arguments));
        assert!(output.status.success());
        assert!(text(&output.stdout).contains(part), "{arguments:?}");
    }
}
