//! The page of one ring where nobody watches: its facts, its readers, and how far these are behind.

use super::facts::{TITLES, Tone, cells, facts, kind};
use super::history::History;
use super::rows::Row;
use crate::measure::{LATENCY_COLUMNS, Latency, TOO_FEW};
use crate::page::Page;
use crate::rings::bridges::BridgeRoute;
use crate::table::{Cell, Column, Table};
use crate::text::{BAD, FAIR, TITLE, counted, painted};

/// Lines of text, which are no wider than `room`.
pub(super) fn render(row: &Row<'_>, routes: &[BridgeRoute], history: &History, room: usize) -> String {
    let ring = row.ring;
    let mut page = Page::new(room);
    page.say(format!("{}{}, {}", painted(TITLE, &row.name), kind(ring), ring.state()));
    for fact in facts(row, routes, history) {
        let text = match fact.tone {
            Tone::Plain => fact.text,
            Tone::Fair => painted(FAIR, &fact.text),
            Tone::Bad => painted(BAD, &fact.text),
        };
        page.say(format!("{:<11}{text}", fact.name));
    }
    if ring.readers.is_empty() {
        if ring.header.is_some() {
            page.say("No other process has it.");
        }
        return page.into_text();
    }
    page.gap();
    let is_shown = |title: &str| ring.is_timed || title != "BEHIND";
    let column = |&(title, is_number): &(&'static str, bool)| {
        if is_number { Column::number(title) } else { Column::text(title) }
    };
    let columns: Vec<_> = TITLES.iter().filter(|(title, _)| is_shown(title)).map(column).collect();
    let mut table = Table::plain(&columns);
    for reader in &ring.readers {
        let both = TITLES.iter().zip(cells(reader)).filter(|((title, _), _)| is_shown(title));
        table.row(both.map(|((title, _), text)| {
            if *title == "STATE" && text == "dead" { Cell::styled(text, BAD) } else { text.into() }
        }));
    }
    page.table(&table);
    let waits = history.waits(ring);
    if let Some((waits, latency)) = waits.and_then(|waits| Some((waits, waits.percentiles()?))) {
        page.gap();
        page.say(format!(
            "How long the message had waited that a reader takes next, in {} (0 where there was none):",
            counted(waits.looks(), "look")
        ));
        let mut table = Table::framed(&LATENCY_COLUMNS);
        table.row(Latency::cells(&latency, waits.looks()));
        page.table(&table);
        if Latency::cells(&latency, waits.looks()).contains(&"–".into()) {
            page.say(TOO_FEW.replace("messages", "looks"));
        }
    }
    page.into_text()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::super::rows::rows;
    use super::super::view::View;
    use super::*;
    use crate::rings::sample::Sample;
    use crate::rings::sample::tests::{dead, sample, timed};
    use crate::text::plain;

    #[test]
    fn ring_has_its_page_in_a_pipe_too() {
        let before = sample(vec![timed("quotes", 1_000, &[(0, 0), (1_000, 0)])]);
        let mut history = History::default();
        history.add(&before);
        let mut rings = vec![dead("gone"), timed("quotes", 3_000, &[(0, 0), (1_000, 500_000)])];
        rings[0].trouble = Some("it is damaged".into());
        let now = Sample { at: before.at + Duration::from_secs(1), ..sample(rings) };
        history.add(&now);
        history.add_waits("quotes", [0; 18].to_vec());
        let rows = rows(&now, &history, &View::default());
        assert_eq!(
            plain(&render(&rows[1], &now.routes, &history, usize::MAX)),
            "\
quotes, a lossless broadcast ring, alive
process    100 feed --to quotes
ring       1,024 slots of 64 bytes, for messages of 56 bytes
published  3,000 messages
rate       2.00k a second, 2.00k at most
waiting    1,000 of 1,024
behind     p50 0 ns, p99 508 µs, max 508 µs (0 in 21 of 22 looks)

SEAT  STATE  POSITION    LAG  BEHIND  PROCESS
   0  alive     3,000      0    0 ns  200 reader-0 of quotes
   1  alive     2,000  1,000  500 µs  201 reader-1 of quotes

How long the message had waited that a reader takes next, in 22 looks (0 where there was none):
┌──────┬─────┬─────┬───────┬────────┐
│  p50 ┆ p90 ┆ p99 ┆ p99.9 ┆    max │
╞══════╪═════╪═════╪═══════╪════════╡
│ 0 ns ┆   – ┆   – ┆     – ┆ 508 µs │
└──────┴─────┴─────┴───────┴────────┘
A percentile is left out (–) where fewer than ten looks took longer than that.
"
        );
        let gone = plain(&render(&rows[0], &now.routes, &history, 80));
        assert_eq!(gone, "gone, dead\nprocess    101 –\ntrouble    it is damaged\n");
    }
}
