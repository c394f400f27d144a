//! The report for people.

use super::report::{Part, PartReceipt, Report};
use crate::measure::{LATENCY_COLUMNS, TOO_FEW, pace, per_second};
use crate::page::Page;
use crate::table::{Column, Table};
use crate::text::{BAD, GOOD, counted, duration, painted, quoted};

/// The whole report, in lines that are no wider than `room`.
pub(super) fn render(report: &Report, room: usize) -> String {
    let mut page = Page::new(room);
    page.say(format!(
        "Ring: {}, {}, {}, messages of {} bytes",
        quoted(&report.name),
        if report.lossless { "lossless" } else { "lossy" },
        counted(report.capacity as u64, "slot"),
        report.size
    ));
    for part in &report.parts {
        page.gap();
        for line in heading(part, report.size) {
            page.say(line);
        }
        if !part.subscribers.is_empty() {
            page.table(&if part.is_timed { latencies(part) } else { throughput(part) });
        }
    }
    page.gap();
    if report.parts.is_empty() {
        page.say("No message came.");
    }
    if report.is_stopped {
        page.say("It was stopped by a signal: this is what came until then.");
    }
    let mut receipts = report.parts.iter().flat_map(|part| &part.subscribers);
    if receipts.clone().any(|receipt| receipt.lost > 0) {
        page.say(
            "Lost messages were overwritten unread: the publisher never waits. A larger --capacity keeps more, --lossless all.",
        );
    }
    if receipts.any(|receipt| receipt.latency_ns.is_some() && latency(receipt).contains(&"–".into())) {
        page.say(TOO_FEW);
    }
    for line in verdict(report) {
        page.say(line);
    }
    page.into_text()
}

/// What was published, and how fast.
#[expect(clippy::cast_precision_loss, reason = "a size of a message is small")]
fn heading(part: &Part, size: usize) -> Vec<String> {
    let speed = match part.rate {
        Some(rate) => pace(rate),
        None if part.is_timed => "at an even pace".into(),
        None => "at full speed".into(),
    };
    let Some(sent) = part.sent else { return vec![format!("Messages that were published {speed}:")] };
    let (count, elapsed) = (counted(sent.published, "message"), duration(sent.elapsed_ns));
    let reached = sent.messages_per_s();
    if part.is_timed {
        let published = format!("Published {count} {speed} in {elapsed}.");
        if part.subscribers.is_empty() { vec![published] } else { vec![published, "One-way latency:".into()] }
    } else {
        let megabytes = per_second(reached * size as f64 / 1e6);
        let rate = per_second(reached);
        vec![format!("Published {count} {speed} in {elapsed}: {rate} messages, {megabytes} MB a second.")]
    }
}

/// One line a subscriber.
fn throughput(part: &Part) -> Table {
    let mut table =
        Table::framed(&["subscriber", "received", "lost", "received a second"].map(Column::number));
    for (number, receipt) in (1..).zip(&part.subscribers) {
        table.row(counts(number, receipt).into_iter().chain([per_second(receipt.messages_per_s())]));
    }
    table
}

/// One line a subscriber.
fn latencies(part: &Part) -> Table {
    let numbers = ["subscriber", "received", "lost"].map(Column::number);
    let mut table = Table::framed(&[&numbers[..], &LATENCY_COLUMNS].concat());
    for (number, receipt) in (1..).zip(&part.subscribers) {
        table.row(counts(number, receipt).into_iter().chain(latency(receipt)));
    }
    table
}

fn latency(receipt: &PartReceipt) -> [String; 5] {
    receipt
        .latency_ns
        .as_ref()
        .map_or_else(|| ["–"; 5].map(String::from), |latency| latency.cells(receipt.received))
}

fn counts(number: u64, receipt: &PartReceipt) -> [String; 3] {
    [number, receipt.received, receipt.lost].map(crate::text::grouped)
}

/// Whether the check passed, and else what it found.
fn verdict(report: &Report) -> Vec<String> {
    let faults = report.faults();
    if !faults.is_empty() {
        let faults = faults.iter().map(|fault| format!("  {fault}"));
        return [painted(BAD, "Check FAILED:")].into_iter().chain(faults).collect();
    }
    if report.parts.iter().all(|part| part.subscribers.is_empty()) {
        return Vec::new();
    }
    // Only the publisher's process knows how many there were.
    let sum = if report.parts.iter().all(|part| part.sent.is_some()) {
        "received + lost = published"
    } else {
        "each gap is as long as the loss that the ring reported"
    };
    let passed = painted(GOOD, "Check passed:");
    vec![format!("{passed} {sum}, and no message came twice, out of order or corrupted.")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::report::tests::report;
    use crate::text::plain;

    /// Without colours, in a wide terminal.
    fn shown(report: &Report) -> String {
        plain(&render(report, usize::MAX))
    }

    #[test]
    fn report_says_how_much_and_how_long() {
        let expected = "\
Ring: `load`, lossy, 1,024 slots, messages of 56 bytes

Published 2,000,002 messages at full speed in 2.00 s: 1,000,001 messages, 56 MB a second.
┌────────────┬───────────┬───────────┬───────────────────┐
│ subscriber ┆  received ┆      lost ┆ received a second │
╞════════════╪═══════════╪═══════════╪═══════════════════╡
│          1 ┆ 1,000,001 ┆ 1,000,001 ┆         1,000,000 │
└────────────┴───────────┴───────────┴───────────────────┘

Published 10,000 messages at 5,000 messages a second in 2.00 s.
One-way latency:
┌────────────┬──────────┬──────┬────────┬─────────┬─────────┬─────────┬─────────┐
│ subscriber ┆ received ┆ lost ┆    p50 ┆     p90 ┆     p99 ┆   p99.9 ┆     max │
╞════════════╪══════════╪══════╪════════╪═════════╪═════════╪═════════╪═════════╡
│          1 ┆   10,000 ┆    0 ┆ 900 ns ┆ 1.00 µs ┆ 1.50 µs ┆ 20.0 µs ┆ 2.00 ms │
└────────────┴──────────┴──────┴────────┴─────────┴─────────┴─────────┴─────────┘

Lost messages were overwritten unread: the publisher never waits. A larger --capacity keeps more, --lossless all.
Check passed: received + lost = published, and no message came twice, out of order or corrupted.
";
        assert_eq!(shown(&report()), expected);
    }

    #[test]
    fn fault_is_told_and_nothing_passes_where_nobody_received() {
        let mut failed = report();
        failed.faults.push("subscriber 1: 1 message came twice".into());
        assert!(shown(&failed).ends_with("\nCheck FAILED:\n  subscriber 1: 1 message came twice\n"));

        let mut received = report();
        received.parts.iter_mut().for_each(|part| part.sent = None);
        let said = shown(&received);
        for words in
            ["\nMessages that were published at full speed:\n", "Check passed: each gap is as long as"]
        {
            assert!(said.contains(words), "{said}");
        }

        let mut alone = report();
        alone.parts.iter_mut().for_each(|part| part.subscribers.clear());
        assert!(shown(&alone).ends_with("messages a second in 2.00 s.\n\n"));
    }
}
