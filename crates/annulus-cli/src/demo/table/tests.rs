//! The tests of `table`.

use super::*;
use crate::demo::findings::tests::findings;
use crate::demo::report::tests::report;
use crate::messages::quote::Quote;
use crate::messages::quote::tests::tick;
use crate::text::plain;

static SYMBOLS: [String; 1] = [String::new()];

fn setting() -> Setting<'static> {
    Setting {
        feed: "10 quotes of 1 symbol".into(),
        symbols: &SYMBOLS,
        capacity: 16,
        ring: None,
        stopped_by: "Ctrl-C",
        kill: None,
        output: Some("orders.csv".into()),
    }
}

/// Without colours, in a wide terminal.
fn shown(findings: &Findings, setting: &Setting<'_>) -> String {
    plain(&render(findings, setting, usize::MAX))
}

/// As it is with room for it.
fn lines(table: &Table) -> String {
    plain(&table.render(usize::MAX))
}

/// What is rendered of a demo whose run at full speed came to `run`.
fn rendered(run: Report) -> String {
    let calm = if run.outcome() == Outcome::Passed { findings(10, None).calm } else { None };
    shown(&Findings { run, rate: None, calm }, &setting())
}

#[test]
fn subscriber_is_a_line() {
    let table = lines(&latencies(&report(12_345).receipts));
    let expected = "\
┌────────────┬──────────┬──────┬─────────┬─────────┬─────────┬─────────┬─────────┐
│ subscriber ┆ received ┆ lost ┆     p50 ┆     p90 ┆     p99 ┆   p99.9 ┆     max │
╞════════════╪══════════╪══════╪═════════╪═════════╪═════════╪═════════╪═════════╡
│          1 ┆   12,345 ┆    0 ┆ 1.50 µs ┆ 1.50 µs ┆ 1.50 µs ┆ 1.50 µs ┆ 1.50 µs │
└────────────┴──────────┴──────┴─────────┴─────────┴─────────┴─────────┴─────────┘";
    assert_eq!(table, expected);
}

#[test]
fn strategy_is_a_line() {
    let expected = "\
┌──────────┬────────────┬──────┬────────┬─────────┬─────────┬─────────┬─────────┬─────────┐
│ strategy ┆ subscriber ┆ lost ┆ orders ┆     p50 ┆     p90 ┆     p99 ┆   p99.9 ┆     max │
╞══════════╪════════════╪══════╪════════╪═════════╪═════════╪═════════╪═════════╪═════════╡
│ 5/20     ┆          1 ┆    0 ┆ 12,345 ┆ 2.50 µs ┆ 2.50 µs ┆ 2.50 µs ┆ 2.50 µs ┆ 2.50 µs │
│ all      ┆            ┆      ┆ 12,345 ┆ 2.50 µs ┆ 2.50 µs ┆ 2.50 µs ┆ 2.50 µs ┆ 2.50 µs │
└──────────┴────────────┴──────┴────────┴─────────┴─────────┴─────────┴─────────┴─────────┘";
    assert_eq!(lines(&trades(&report(12_345))), expected);
}

#[test]
fn symbol_is_a_line_with_the_decimals_of_its_prices() {
    let mut statistics = vec![Statistics::NONE; 2];
    statistics[0].add(&Quote::new(tick(0, 1.5, 1.503), 0, 0));
    statistics[0].add(&Quote::new(tick(0, 1.0, 1.002), 1, 0));
    let table = lines(&market(&["EURUSD".into(), "USDJPY".into()], &statistics));
    let expected = "\
┌────────┬────────┬──────────┬──────────┬─────────┬─────────┬─────────────┐
│ symbol ┆ quotes ┆ last bid ┆ last ask ┆ min bid ┆ max ask ┆ mean spread │
╞════════╪════════╪══════════╪══════════╪═════════╪═════════╪═════════════╡
│ EURUSD ┆      2 ┆    1.000 ┆    1.002 ┆   1.000 ┆   1.503 ┆      0.0025 │
│ USDJPY ┆      0 ┆        – ┆        – ┆       – ┆       – ┆           – │
└────────┴────────┴──────────┴──────────┴─────────┴─────────┴─────────────┘";
    assert_eq!(table, expected);
}

#[test]
fn subscriber_at_full_speed_is_a_line_without_times() {
    let expected = "\
┌────────────┬──────────┬──────┬────────┐
│ subscriber ┆ received ┆ lost ┆ orders │
╞════════════╪══════════╪══════╪════════╡
│          1 ┆    1,234 ┆    0 ┆     20 │
└────────────┴──────────┴──────┴────────┘";
    let mut report = report(1_234);
    report.receipts[0].as_mut().unwrap().placed = vec![(0, 15), (1, 5)];
    assert_eq!(lines(&receipts(&report)), expected);
}

#[test]
fn rest_is_told_in_words() {
    let text = shown(&findings(10, None), &setting());
    let mut rest = &text[..];
    for line in [
        "Feed: 10 quotes of 1 symbol\n",
        "Ring: 16 slots, lossy, 1 publisher, 1 subscriber\n",
        "\nPublished 10 messages at full speed in 2.00 ms: 5,000 messages a second to every subscriber.\n",
        "\nLatency in a calm ring: the first 5 quotes once more, at 100,000 messages a second.\n",
        "One-way, in the calm ring, from publication to reception:\n",
        "\nTick to order, in the calm ring, from publication of a quote to reception of the order at the gateway:\n",
        "\nThe market as subscriber 1 saw it (of every quote):\n",
        "\nWrote 10 orders to orders.csv.\n",
        "Check passed: received + lost = published, every order reached the gateway, and nothing came twice, \
             out of order or corrupted.\n",
    ] {
        let (_, after) = rest.split_once(line).unwrap_or_else(|| panic!("{line}\nis not in\n{rest}"));
        rest = after;
    }
    assert_eq!(rest, "");
}

#[test]
fn processes_have_a_ring_with_a_name_and_may_be_stopped_otherwise() {
    let setting = Setting { ring: Some("a-quotes".into()), stopped_by: "SIGTERM", ..setting() };
    let text = shown(&findings(10, None), &setting);
    let ring = "Ring: `a-quotes`, 16 slots, lossy, 1 publisher, 1 subscriber, each a process\n";
    assert!(text.contains(ring), "{text}");
    let run = Report { total: 20, ..report(10) };
    let text = shown(&Findings { run, rate: None, calm: None }, &setting);
    assert!(text.contains("Stopped by SIGTERM: published 10 of 20 messages"), "{text}");
}

#[test]
fn rate_is_named_with_each_figure() {
    let text = shown(&findings(10, Some(5_000.0)), &setting());
    for line in [
        "Published 10 messages at 5,000 messages a second in 2.00 ms: 5,000 messages a second to every subscriber.",
        "One-way, at 5,000 messages a second, from publication to reception:",
        "Tick to order, at 5,000 messages a second, from publication of a quote to reception of the order at the gateway:",
    ] {
        assert!(text.lines().any(|found| found == line), "{line}\nis not in\n{text}");
    }
    assert!(!text.contains("full speed") && !text.contains("calm"), "{text}");
    assert_eq!(pace(0.5), "at 0.5 messages a second");
    assert_eq!(pace(1e300), "at 1e300 messages a second");
}

#[test]
fn failed_check_says_what_failed() {
    let text = rendered(Report { published: 11, total: 11, ..report(10) });
    let expected = "Check FAILED:\n  subscriber 1: received 10 + lost 0 is not the 11 that were published\n";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn interrupted_run_says_so() {
    let text = rendered(Report { total: 1_000, ..report(10) });
    for part in [
        "Stopped by Ctrl-C: published 10 of 1,000 messages at full speed in 2.00 ms: 5,000 messages a second",
        "There are no latencies: these are measured in a calm ring, after the run at full speed.\n",
    ] {
        assert!(text.contains(part), "{part}\nis not in\n{text}");
    }
    let mut later = findings(10, None);
    later.calm.as_mut().unwrap().report.total = 9;
    let text = shown(&later, &setting());
    let expected = "Stopped by Ctrl-C in the calm ring, after 5 quotes: the latencies are of these.\n";
    assert!(text.contains(expected), "{text}");
}

#[test]
fn statistics_are_of_the_first_subscriber_that_lost_nothing() {
    let mut report = report(10);
    report.receipts[0].as_mut().unwrap().ledger.close(3);
    assert_eq!(exemplar(&report.receipts).unwrap().0, 1);
    report.receipts.extend(self::report(10).receipts);
    assert_eq!(exemplar(&report.receipts).unwrap().0, 2);

    let mut report = self::report(10);
    report.receipts[0].as_mut().unwrap().ledger.close(3);
    let text = rendered(report);
    assert!(
        text.contains("as subscriber 1 saw it (of what it received: every subscriber lost some):"),
        "{text}"
    );
    assert!(text.contains("A --capacity above 16 slots keeps more, --lossless keeps all."), "{text}");
}
