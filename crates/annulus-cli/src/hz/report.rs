//! What was seen, for people and as JSON.

use annulus::schema::Schema;
use annulus::shm::PeerState;
use serde::Serialize;

use super::cadence::Cadence;
use crate::measure::{LATENCY_COLUMNS, Latency, TOO_FEW, per_second};
use crate::messages::{Newest, Object, message_to_text, newest_to_text};
use crate::page::Page;
use crate::table::{Column, Table};
use crate::text::{TITLE, counted, duration, painted, quoted};

/// It grows if a key of the JSON changes its meaning.
const SCHEMA: u64 = 1;

/// Programs rely on the keys.
#[derive(Serialize)]
pub(super) struct Report {
    schema: u64,
    name: String,
    state: String,
    elapsed_s: f64,
    messages: u64,
    messages_per_s: f64,
    gap_ns: Option<Latency>,
    jitter_ns: Option<Latency>,
    look_ns: u64,
    /// What messages are made of, as text.
    message: Option<String>,
    /// What is in the newest one.
    newest: Option<Object>,
    /// The same in words, or why it is no message.
    #[serde(skip)]
    newest_text: Option<String>,
    #[serde(skip)]
    gaps: u64,
    #[serde(skip)]
    elapsed_ns: u64,
    /// Whether it slept between two looks.
    #[serde(skip)]
    pub(super) sleeps: bool,
}

impl Report {
    #[expect(clippy::cast_precision_loss, reason = "a time and a rate")]
    pub(super) fn new(name: &str, cadence: &Cadence, elapsed_ns: u64, state: PeerState) -> Self {
        let (messages, elapsed_s) = (cadence.messages(), elapsed_ns as f64 / 1e9);
        let gaps = cadence.gap_ns().len();
        let of = |latency| (gaps > 0).then_some(latency);
        Self {
            schema: SCHEMA,
            name: name.into(),
            state: state.to_string(),
            elapsed_s,
            messages,
            messages_per_s: if elapsed_ns == 0 { 0.0 } else { messages as f64 / elapsed_s },
            gap_ns: of(Latency::of(cadence.gap_ns())),
            jitter_ns: of(Latency::of(&cadence.jitter_ns())),
            look_ns: elapsed_ns / cadence.looks().max(1),
            message: None,
            newest: None,
            newest_text: None,
            gaps,
            elapsed_ns,
            sleeps: false,
        }
    }

    /// What is in its messages, by the schema that the ring has.
    pub(super) fn add_messages(&mut self, schema: &Schema, newest: Option<Newest>) {
        self.message = Some(schema.to_string());
        self.newest_text = newest.as_ref().map(newest_to_text);
        self.newest = newest.and_then(Result::ok);
    }

    /// One object on one line.
    pub(super) fn to_json(&self) -> String {
        serde_json::to_string(self).expect("numbers and words have a form in JSON") + "\n"
    }

    /// For people, in lines that are no wider than `room`.
    pub(super) fn to_text(&self, room: usize) -> String {
        let mut page = Page::new(room);
        page.say(format!(
            "{}: {} in {}, {} a second.",
            quoted(&self.name),
            counted(self.messages, "message"),
            duration(self.elapsed_ns),
            painted(TITLE, &per_second(self.messages_per_s))
        ));
        if let Some((gap_ns, jitter_ns)) = self.gap_ns.zip(self.jitter_ns) {
            let mut table = Table::framed(&[&[Column::text("")], &LATENCY_COLUMNS[..]].concat());
            let rows = [("gap", gap_ns.cells(self.gaps)), ("jitter", jitter_ns.cells(self.gaps))];
            for (title, cells) in &rows {
                table.row([(*title).into()].into_iter().chain(cells.clone()));
            }
            page.table(&table);
            let look = duration(self.look_ns);
            let advice = if self.sleeps { " (--spin keeps a CPU busy, and looks more often.)" } else { "" };
            page.say(format!("It looked each {look}: no gap is told more exactly.{advice}"));
            if rows.iter().any(|(_, cells)| cells.contains(&"–".into())) {
                page.say(TOO_FEW);
            }
        }
        if let Some(message) = &self.message {
            page.say(format!("A message is {}", message_to_text(message)));
        }
        if let Some(newest) = &self.newest_text {
            page.say(format!("The newest: {newest}"));
        }
        if self.state != "alive" {
            page.say(format!("The ring is {}.", self.state));
        }
        page.into_text()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::plain;

    #[test]
    fn report_says_how_often_and_how_evenly() {
        let mut cadence = Cadence::new(0);
        for number in 1..=1_001 {
            cadence.see(number * 1_000_000, number);
        }
        let report = Report::new("quotes", &cadence, 1_001_000_000, PeerState::Closed);
        let expected = "\
`quotes`: 1,001 messages in 1.00 s, 1,000 a second.
┌────────┬─────────┬─────────┬─────────┬───────┬─────────┐
│        ┆     p50 ┆     p90 ┆     p99 ┆ p99.9 ┆     max │
╞════════╪═════════╪═════════╪═════════╪═══════╪═════════╡
│ gap    ┆ 1.00 ms ┆ 1.00 ms ┆ 1.00 ms ┆     – ┆ 1.00 ms │
│ jitter ┆    0 ns ┆    0 ns ┆    0 ns ┆     – ┆    0 ns │
└────────┴─────────┴─────────┴─────────┴───────┴─────────┘
It looked each 1.00 ms: no gap is told more exactly.
A percentile is left out (–) where fewer than ten messages took longer than that.
The ring is closed.
";
        assert_eq!(plain(&report.to_text(usize::MAX)), expected);
        let sleeps = Report { sleeps: true, ..report };
        let advice = "exactly. (--spin keeps a CPU busy, and looks more often.)\n";
        assert!(plain(&sleeps.to_text(usize::MAX)).contains(advice));
        let report = Report::new("quotes", &cadence, 1_001_000_000, PeerState::Closed);
        let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        assert_eq!(json["jitter_ns"]["max"], 0);
        assert_eq!((&json["messages"], &json["state"]), (&1_001.into(), &"closed".into()));
        assert!(json.get("gaps").is_none(), "{json}");
    }

    #[test]
    fn report_without_messages_has_no_gaps() {
        let report = Report::new("quotes", &Cadence::new(7), 0, PeerState::Alive);
        assert_eq!(plain(&report.to_text(80)), "`quotes`: 0 messages in 0 ns, 0.00 a second.\n");
        let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        assert!(json["gap_ns"].is_null() && json["messages_per_s"] == 0.0, "{json}");
    }
}
