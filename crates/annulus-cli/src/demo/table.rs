//! The report for people.

use super::findings::Findings;
use super::killed::Killed;
use super::report::Report;
use super::statistics::Statistics;
use super::subscriber::Receipt;
use crate::measure::{LATENCY_COLUMNS, TOO_FEW, pace, per_second, percentiles};
use crate::outcome::Outcome;
use crate::page::Page;
use crate::table::{Column, Table};
use crate::text::{BAD, GOOD, TITLE, counted, duration, grouped, painted, quoted};

/// The most decimals that a price is shown with.
const DECIMALS_MAX: usize = 8;

/// In the place of what a process would have told.
const KILLED: &str = "killed";
const NONE: &str = "–";

/// What a person wants to know of a run in addition to its report.
pub(super) struct Setting<'a> {
    /// What was replayed, in words.
    pub(super) feed: String,
    /// The names of the symbols, by index.
    pub(super) symbols: &'a [String],
    /// Slots of the ring.
    pub(super) capacity: usize,
    /// If processes share the ring: its name.
    pub(super) ring: Option<String>,
    /// What has stopped the feed, if it was stopped.
    pub(super) stopped_by: &'static str,
    /// Which process was to be killed.
    pub(super) kill: Option<&'a str>,
    /// Where the orders were written to.
    pub(super) output: Option<String>,
}

/// The whole report, in lines that are no wider than `room`.
pub(super) fn render(findings: &Findings, setting: &Setting<'_>, room: usize) -> String {
    let run = &findings.run;
    let mut page = Page::new(room);
    page.say(format!("Feed: {}", setting.feed));
    page.say(format!(
        "Ring: {}{}, {}, 1 publisher, {}{}",
        setting.ring.as_ref().map_or_else(String::new, |name| format!("{}, ", quoted(name))),
        counted(setting.capacity as u64, "slot"),
        if run.lossless { "lossless" } else { "lossy" },
        counted(run.receipts.len() as u64, "subscriber"),
        if setting.ring.is_some() { ", each a process" } else { "" }
    ));
    page.gap();
    page.say(throughput(run, findings.rate, setting));
    if findings.rate.is_none() {
        page.table(&receipts(run));
    }
    page.gap();
    if let Some((paced, rate)) = findings.paced() {
        let which = match &findings.calm {
            Some(_) => {
                page.say(format!(
                    "{}: the first {} once more, {}.",
                    painted(TITLE, "Latency in a calm ring"),
                    counted(paced.total, "quote"),
                    pace(rate)
                ));
                String::from("in the calm ring")
            }
            None => pace(rate),
        };
        page.say(format!("{}, {which}, from publication to reception:", painted(TITLE, "One-way")));
        page.table(&latencies(&paced.receipts));
        page.gap();
        page.say(format!(
            "{}, {which}, from publication of a quote to reception of the order at the gateway:",
            painted(TITLE, "Tick to order")
        ));
        page.table(&trades(paced));
        page.gap();
    }
    if let Some((number, receipt)) = exemplar(&run.receipts) {
        let is_whole = receipt.ledger.lost == 0;
        let whole = if is_whole { "every quote" } else { "what it received: every subscriber lost some" };
        page.say(format!("{} as subscriber {number} saw it (of {whole}):", painted(TITLE, "The market")));
        page.table(&market(setting.symbols, &receipt.statistics));
        page.gap();
    }
    let written = setting.output.as_ref().filter(|_| run.outcome() != Outcome::Failed);
    if let Some((output, orders)) = written.zip(run.orders()) {
        page.say(format!("Wrote {} to {output}.", counted(orders, "order")));
    }
    if let Some(killed) = &run.killed {
        killed.tell(&mut page, run.total);
    }
    for line in remarks(findings, setting).into_iter().chain(verdict(findings)) {
        page.say(line);
    }
    page.into_text()
}

/// One line a subscriber: how much, and not how fast. In a ring that is flooded, a latency is the wait behind
/// all quotes that came before.
fn receipts(report: &Report) -> Table {
    let mut table = Table::framed(&["subscriber", "received", "lost", "orders"].map(Column::number));
    for (number, receipt) in (1..).zip(&report.receipts) {
        table.row(match receipt {
            Some(Receipt { ledger, placed, .. }) => {
                let orders = placed.iter().map(|&(_, count)| count).sum();
                [number, ledger.received, ledger.lost, orders].map(grouped)
            }
            None => [grouped(number), KILLED.into(), NONE.into(), NONE.into()],
        });
    }
    table
}

/// One line a subscriber.
fn latencies(receipts: &[Option<Receipt>]) -> Table {
    let counts = ["subscriber", "received", "lost"].map(Column::number);
    let mut table = Table::framed(&[&counts[..], &LATENCY_COLUMNS].concat());
    for (number, receipt) in (1..).zip(receipts) {
        let row: Vec<_> = match receipt {
            Some(Receipt { ledger, latency_ns, .. }) => {
                let counts = [number, ledger.received, ledger.lost].map(grouped);
                counts.into_iter().chain(percentiles(latency_ns)).collect()
            }
            None => [grouped(number), KILLED.into()].into_iter().chain([NONE; 6].map(String::from)).collect(),
        };
        table.row(row);
    }
    table
}

/// One line a strategy, and one for all.
fn trades(report: &Report) -> Table {
    let counts = [
        Column::text("strategy"),
        Column::number("subscriber").spared(6),
        Column::number("lost").spared(4),
        Column::number("orders"),
    ];
    let mut table = Table::framed(&[&counts[..], &LATENCY_COLUMNS].concat());
    for trade in &report.trades {
        let or_none = |number: Option<u64>| number.map_or_else(|| NONE.into(), grouped);
        let lost = report.receipts[trade.subscriber].as_ref().map(|receipt| receipt.ledger.lost);
        let orders = trade.account.as_ref().map(|account| account.orders);
        let counts = [Some(trade.subscriber as u64 + 1), lost, orders].map(or_none);
        let row = std::iter::once(trade.windows.to_string()).chain(counts);
        let latencies = trade.account.as_ref().map(|account| percentiles(&account.latency_ns));
        table.row(row.chain(latencies.unwrap_or_else(|| [NONE; 5].map(String::from))));
    }
    let orders = report.orders().map_or_else(|| NONE.into(), grouped);
    let all = ["all".into(), String::new(), String::new(), orders];
    table.row(all.into_iter().chain(percentiles(&report.tick_to_order_ns())));
    table
}

/// The subscriber whose statistics are shown: the first that lost nothing, else the first; and its number.
/// None if all were killed.
fn exemplar(receipts: &[Option<Receipt>]) -> Option<(usize, &Receipt)> {
    let all = || (1..).zip(receipts).filter_map(|(number, receipt)| Some((number, receipt.as_ref()?)));
    all().find(|(_, receipt)| receipt.ledger.lost == 0).or_else(|| all().next())
}

/// One line a symbol.
fn market(symbols: &[String], statistics: &[Statistics]) -> Table {
    let mut table = Table::framed(&[
        Column::text("symbol"),
        Column::number("quotes"),
        Column::number("last bid"),
        Column::number("last ask"),
        Column::number("min bid").spared(2),
        Column::number("max ask").spared(2),
        Column::number("mean spread").spared(1),
    ]);
    for (symbol, statistics) in symbols.iter().zip(statistics) {
        let mut row = vec![symbol.clone(), grouped(statistics.quotes)];
        if let Some(spread_mean) = statistics.spread_mean() {
            let Statistics { bid_last, ask_last, bid_min, ask_max, .. } = *statistics;
            let prices = [bid_last, ask_last, bid_min, ask_max];
            let decimals = prices.map(decimals).into_iter().max().unwrap_or(0);
            row.extend(prices.map(|price| format!("{price:.decimals$}")));
            row.push(format!("{spread_mean:.*}", decimals + 1));
        } else {
            row.extend(["–"; 5].map(String::from));
        }
        table.row(row);
    }
    table
}

/// How many decimals it takes to write `price`.
fn decimals(price: f64) -> usize {
    price.to_string().split_once('.').map_or(0, |(_, decimals)| decimals.len().min(DECIMALS_MAX))
}

/// How much was published in what time.
fn throughput(report: &Report, rate: Option<f64>, setting: &Setting<'_>) -> String {
    let published = match report.outcome() {
        Outcome::Interrupted => {
            let [published, total] = [report.published, report.total].map(grouped);
            let by = setting.stopped_by;
            format!("Stopped by {by}: published {published} of {total} messages")
        }
        _ => format!("Published {}", counted(report.published, "message")),
    };
    let per_second = per_second(report.messages_per_s());
    let elapsed = duration(report.elapsed_ns);
    let speed = rate.map_or_else(|| "at full speed".into(), pace);
    format!("{published} {speed} in {elapsed}: {per_second} messages a second to every subscriber.")
}

/// What may surprise in the figures.
fn remarks(findings: &Findings, setting: &Setting<'_>) -> Vec<String> {
    let mut remarks = Vec::new();
    if findings.run.receipts.iter().flatten().any(|receipt| receipt.ledger.lost > 0) {
        let slots = counted(setting.capacity as u64, "slot");
        remarks.push(format!(
            "Lost quotes were overwritten unread: the publisher never waits. \
             A --capacity above {slots} keeps more, --lossless keeps all."
        ));
    }
    match &findings.calm {
        Some(calm) if calm.report.published < calm.report.total => remarks.push(format!(
            "Stopped by {} in the calm ring, after {}: the latencies are of these.",
            setting.stopped_by,
            counted(calm.report.published, "quote")
        )),
        None if findings.run.killed.is_some() && findings.rate.is_none() => {
            remarks.push("There are no latencies: at full speed each is the wait behind other quotes. --rate has them.".into());
        }
        None if findings.rate.is_none() => remarks.push(
            "There are no latencies: these are measured in a calm ring, after the run at full speed.".into(),
        ),
        _ => {}
    }
    if let (Some(name), None) = (setting.kill, &findings.run.killed) {
        remarks.push(format!("{name} was not killed: the feed was stopped before it came to the middle."));
    }
    if let Some((paced, _)) = findings.paced() {
        let samples = paced.receipts.iter().flatten().map(|receipt| &receipt.latency_ns);
        let accounts = paced.trades.iter().filter_map(|trade| trade.account.as_ref());
        let mut samples = samples.chain(accounts.map(|account| &account.latency_ns));
        if samples.any(|latency_ns| percentiles(latency_ns).contains(&"–".into())) {
            remarks.push(TOO_FEW.into());
        }
    }
    remarks
}

/// Whether the check passed, and else what it found.
fn verdict(findings: &Findings) -> Vec<String> {
    let mut faults = findings.faults().map(|fault| format!("  {fault}")).peekable();
    if faults.peek().is_none() {
        let all = "received + lost = published, every order reached the gateway, and nothing came twice, out of \
             order or corrupted.";
        let holds = findings.run.killed.as_ref().map_or(all, Killed::verdict);
        vec![format!("{} {holds}", painted(GOOD, "Check passed:"))]
    } else {
        [painted(BAD, "Check FAILED:")].into_iter().chain(faults).collect()
    }
}

#[cfg(test)]
mod tests;
