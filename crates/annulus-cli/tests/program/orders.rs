//! The orders of `annulus demo`: what a strategy must order, and the file that they are written to.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::support::{Folder, demo};

/// Runs a command that must succeed and print JSON.
fn json(command: &mut Command) -> Value {
    let Output { status, stdout, stderr } = command.arg("--json").output().expect("the program was built");
    assert!(status.success(), "{}", String::from_utf8_lossy(&stderr));
    serde_json::from_slice(&stdout).unwrap()
}

/// Asserts that it ends with exit code 2, this message, and no report.
#[track_caller]
fn assert_refused(command: &mut Command, message: &str) {
    let output = command.output().expect("the program was built");
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(stderr.contains(message), "{message}\nis not in\n{stderr}");
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
}

/// The lines of a file of orders, and its header.
fn lines(path: &Path) -> (String, Vec<String>) {
    let content = fs::read_to_string(path).unwrap();
    assert!(content.ends_with('\n'));
    let mut lines = content.lines().map(String::from);
    (lines.next().unwrap(), lines.collect())
}

/// As [`lines`], sorted, without the header.
fn sorted_lines(path: &Path) -> Vec<String> {
    let (header, mut lines) = lines(path);
    assert_eq!(header, "strategy,symbol,sequence,time,side,price,fast,slow");
    lines.sort_unstable();
    lines
}

/// A file of `count` quotes with five decimals (in the form without a header) and their times as orders write
/// them: prices that go up and down at random, and stand still now and then.
fn quotes(count: u64, seed: u64) -> (String, Vec<String>) {
    let (mut file, mut times) = (String::new(), Vec::new());
    let (mut random, mut price) = (seed, 112_000_u64);
    for number in 0..count {
        // Knuth's MMIX generator.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        price = price + (random >> 33) % 9 - 4;
        let ask = price + (random >> 50) % 7;
        let (hour, minute, second, milli) =
            (number / 3_600 % 24, number / 60 % 60, number % 60, random >> 54 & 511);
        let time = format!("{hour:02}{minute:02}{second:02}{milli:03}");
        writeln!(
            file,
            "20200102 {time},{}.{:05},{}.{:05},0",
            price / 100_000,
            price % 100_000,
            ask / 100_000,
            ask % 100_000
        )
        .unwrap();
        // Times have no fraction where it is 0.
        let fraction = if milli == 0 { String::new() } else { format!(".{milli:03}") };
        times.push(format!("2020-01-02T{hour:02}:{minute:02}:{second:02}{fraction}Z"));
    }
    (file, times)
}

/// What must be ordered, sorted: computed quote by quote from the text of the files, each average summed
/// anew.
fn expected(strategies: &[(usize, usize)], files: &[(&str, &str, &[String])]) -> Vec<String> {
    let mut orders = Vec::new();
    for &(fast, slow) in strategies {
        let mut sequence = 0;
        let mut histories: BTreeMap<&str, (Vec<u128>, Option<bool>)> = BTreeMap::new();
        for &(symbol, file, times) in files {
            let (mids, above) = histories.entry(symbol).or_default();
            for (line, time) in file.lines().zip(times) {
                let fields: Vec<&str> = line.split(',').collect();
                let [bid, ask] = [fields[1], fields[2]];
                // Twice the price between them, in hundred-thousandths.
                let hundred_thousandths = |price: &str| price.replace('.', "").parse::<u128>().unwrap();
                mids.push(hundred_thousandths(bid) + hundred_thousandths(ask));
                if mids.len() >= slow {
                    let [fast_sum, slow_sum] =
                        [fast, slow].map(|window| mids[mids.len() - window..].iter().sum::<u128>());
                    let (left, right) = (fast_sum * slow as u128, slow_sum * fast as u128);
                    let before = *above;
                    if left != right {
                        *above = Some(left > right);
                    }
                    if before.is_some() && before != *above {
                        let (side, price) = if left > right { ("buy", ask) } else { ("sell", bid) };
                        let price = price.trim_end_matches('0').trim_end_matches('.');
                        // From halves of hundred-thousandths to hundred-millionths.
                        let average = |sum, window| {
                            let units = sum * 1_000 / (2 * window as u128);
                            format!("{}.{:08}", units / 100_000_000, units % 100_000_000)
                        };
                        let (fast_mean, slow_mean) = (average(fast_sum, fast), average(slow_sum, slow));
                        orders.push(format!(
                            "{fast}/{slow},{symbol},{sequence},{time},{side},{price},{fast_mean},{slow_mean}"
                        ));
                    }
                }
                sequence += 1;
            }
        }
    }
    orders.sort_unstable();
    orders
}

#[test]
fn orders_without_loss_equal_a_plain_loop() {
    let folder = Folder::new("plain");
    let ((euro, euro_times), (yen, yen_times)) = (quotes(3_000, 1), quotes(2_000, 2));
    let (euro_path, yen_path) = (folder.file("eurusd.csv", &euro), folder.file("my \"yen\", say.csv", &yen));
    let output = folder.0.join("orders.csv");
    let mut command = demo();
    command.arg("--input").arg(&euro_path).arg("--input").arg(&yen_path).arg("--output").arg(&output);
    // Euros again: their averages go on. Nothing is read from a name but the name.
    command.arg("--input").arg(&euro_path).args(["--lossless", "--strategies", "1/2,4/9,10/50"]);
    let report = json(&mut command);

    let yen_name = "\"MY \"\"YEN\"\", SAY\"";
    let files: [(&str, &str, &[String]); 3] =
        [("EURUSD", &euro, &euro_times), (yen_name, &yen, &yen_times), ("EURUSD", &euro, &euro_times)];
    let expected = expected(&[(1, 2), (4, 9), (10, 50)], &files);
    assert!(expected.len() > 1_000, "{}", expected.len());
    let orders = sorted_lines(&output);
    if let Some((ours, theirs)) = orders.iter().zip(&expected).find(|(ours, theirs)| ours != theirs) {
        panic!("{ours}\nmust be\n{theirs}");
    }
    assert_eq!(orders.len(), expected.len());
    assert_eq!(report["orders"], expected.len());
    for strategy in report["strategies"].as_array().unwrap() {
        let name = format!("{},", strategy["name"].as_str().unwrap());
        let count = expected.iter().filter(|order| order.starts_with(&name)).count();
        assert_eq!(strategy["orders"], count, "{name}");
    }
}

#[test]
fn orders_without_loss_are_equal_in_each_run_with_any_number_of_threads() {
    let folder = Folder::new("same");
    let mut first: Option<Vec<String>> = None;
    // The ring is short, so the publisher waits often.
    for threads in ["1", "2", "3", "3", "7"] {
        let output = folder.0.join("orders.csv");
        let arguments = ["--lossless", "--messages", "20000", "--capacity", "64", "--threads", threads];
        let report = json(demo().args(arguments).arg("--output").arg(&output));
        let orders = sorted_lines(&output);
        assert!(orders.len() > 1_000);
        assert_eq!(report["orders"], orders.len());
        assert_eq!(first.get_or_insert_with(|| orders.clone()), &orders, "{threads} threads");
    }
}

#[test]
fn orders_of_a_strategy_are_in_order() {
    let folder = Folder::new("order");
    let output = folder.0.join("orders.csv");
    json(demo().args(["--messages", "20000"]).arg("--output").arg(&output));
    let mut latest: BTreeMap<String, u64> = BTreeMap::new();
    for line in lines(&output).1 {
        let fields: Vec<&str> = line.split(',').collect();
        let sequence = fields[2].parse().unwrap();
        let before = latest.insert(fields[0].into(), sequence);
        assert!(before < Some(sequence), "{line}");
    }
    assert_eq!(latest.len(), 4);
}

#[test]
fn losses_of_a_strategy_are_reported() {
    let arguments =
        ["--messages", "50000", "--capacity", "2", "--threads", "2", "--strategies", "1/2,2/3,1/3"];
    let report = json(demo().args(arguments));
    assert_eq!((&report["ok"], &report["lossless"]), (&true.into(), &false.into()));
    let subscribers = report["subscribers"].as_array().unwrap();
    for (strategy, subscriber) in report["strategies"].as_array().unwrap().iter().zip([0, 1, 0]) {
        let [received, lost] = ["received", "lost"].map(|key| strategy[key].as_u64().unwrap());
        assert_eq!(received + lost, 50_000);
        assert_eq!(strategy["lost"], subscribers[subscriber]["lost"]);
    }
}

#[test]
fn more_threads_than_strategies_do_no_harm() {
    let report =
        json(demo().args(["--messages", "1000", "--threads", "3", "--strategies", "1/2", "--lossless"]));
    assert_eq!(report["subscribers"].as_array().unwrap().len(), 3);
    assert_eq!(report["strategies"].as_array().unwrap().len(), 1);
    assert!(report["orders"].as_u64() > Some(0));
}

#[test]
fn file_is_replaced_and_nothing_is_left_beside_it() {
    let folder = Folder::new("replaced");
    let output = folder.file("orders.csv", "old");
    let Output { status, stdout, .. } =
        demo().args(["--messages", "5000", "--output"]).arg(&output).output().expect("the program was built");
    assert!(status.success());
    let count = sorted_lines(&output).len();
    let report = String::from_utf8(stdout).unwrap();
    assert!(report.contains(&format!("Wrote {count} orders to {}.\n", output.display())), "{report}");
    assert_eq!(folder.count(), 1);
}

#[test]
fn output_that_cannot_be_is_named_and_nothing_is_published() {
    let folder = Folder::new("cannot");
    let input = folder.file("quotes.csv", quotes(100, 1).0);
    let existing = folder.file("orders.csv", "old");

    let folder_path = folder.0.display();
    let message = format!("error: {folder_path}: is a directory: --output takes a file");
    assert_refused(demo().arg("--output").arg(&folder.0), &message);
    assert_refused(
        demo().arg("--output").arg(folder.0.join("new/")),
        "/new/: is a directory: --output takes a file",
    );

    let nowhere = folder.0.join("no such folder").join("orders.csv");
    let message = format!("error: {}: cannot be written: ", nowhere.display());
    assert_refused(demo().arg("--output").arg(&nowhere), &message);

    let message = format!("error: {}: is a file of quotes that --input names", input.display());
    assert_refused(demo().arg("--input").arg(&input).arg("--output").arg(&input), &message);

    // The ring can't be made, when the output is there already.
    assert_refused(demo().args(["--capacity", "1", "--output"]).arg(&existing), "error: --capacity: ");
    assert_eq!(fs::read_to_string(&existing).unwrap(), "old");
    assert_eq!(folder.count(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn full_disk_ends_the_run_and_is_named() {
    // At this rate it would take an hour, were it not to end when the disk is found full.
    for arguments in [&["--messages", "2000"][..], &["--rate", "100000", "--messages", "360000000"]] {
        let message = "error: /dev/full: cannot be written: No space left on device";
        assert_refused(demo().args(arguments).args(["--lossless", "--output", "/dev/full"]), message);
    }
    assert!(!fs::metadata("/dev/full").unwrap().is_file());
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_leaves_the_orders_until_then() {
    let folder = Folder::new("interrupted");
    let output = folder.0.join("orders.csv");
    let mut command = demo();
    command.args(["--rate", "5000", "--messages", "1000000000", "--strategies", "1/2", "--json"]);
    let run = crate::running::Running::demo(command.arg("--output").arg(&output));
    run.signal(rustix::process::Signal::INT);
    let (printed, said, code) = run.end();
    assert_eq!((said.as_str(), code), ("", 130));
    let report: Value = serde_json::from_slice(&printed).unwrap();
    assert_eq!(report["orders"], sorted_lines(&output).len());
}
