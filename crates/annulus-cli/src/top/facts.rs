//! [`facts()`]: what is known of a ring, in words, for its page in a terminal and for its page in a pipe.

use annulus::shm::ShmKind;

use super::figures::rate;
use super::history::History;
use super::routes;
use super::rows::{NONE, Row, UNKNOWN, is_full, line};
use crate::measure::Latency;
use crate::messages::{message_to_text, newest_to_text};
use crate::rings::FramesInfo;
use crate::rings::bridges::BridgeRoute;
use crate::rings::sample::{Reader, Ring};
use crate::text::{counted, duration, grouped, printable};

/// Something that is known.
pub(super) struct Fact {
    pub(super) name: &'static str,
    pub(super) text: String,
    pub(super) tone: Tone,
}

/// How much it matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tone {
    Plain,
    /// It is to be looked at.
    Fair,
    /// Something is wrong.
    Bad,
}

/// What the ring is, without its name and its state: `, a lossy broadcast ring`.
pub(super) fn kind(ring: &Ring) -> String {
    ring.header.map_or(String::new(), |header| format!(", a {}", header.kind))
}

/// All but its name, kind and state.
pub(super) fn facts(row: &Row<'_>, routes: &[BridgeRoute], history: &History) -> Vec<Fact> {
    let ring = row.ring;
    let plain = |name, text| Fact { name, text, tone: Tone::Plain };
    let mut facts = vec![plain("process", row.process.clone())];
    if let Some(trouble) = &ring.trouble {
        facts.push(Fact { name: "trouble", text: printable(trouble), tone: Tone::Bad });
    }
    let Some(header) = ring.header else { return facts };
    let what = match ring.word_bytes() {
        Some(bytes) => format!("words of {}", counted(bytes, "byte")),
        None if matches!(header.kind, ShmKind::BroadcastBytes | ShmKind::LosslessBytes) => {
            "records of any length".into()
        }
        None => format!("messages of {}", counted(header.payload_bytes, "byte")),
    };
    let frames = ring.frames.as_ref().map(FramesInfo::of);
    let slots = format!("{} of {}", counted(header.capacity, "slot"), counted(header.slot_bytes, "byte"));
    match &frames {
        Some(frames) => {
            facts.push(plain("frames", frames.size_to_text()));
            let tone = if frames.is_exhausted() { Tone::Fair } else { Tone::Plain };
            facts.push(Fact { name: "held", text: frames.held_to_text(), tone });
        }
        None => facts.push(plain("ring", format!("{slots}, for {what}"))),
    }
    facts.extend(ring.message.as_ref().map(|message| plain("message", message_to_text(message))));
    let Some(numbers) = ring.numbers else {
        facts.push(plain("published", "its numbers are not known to this program".into()));
        return facts;
    };
    let thing = if ring.word_bytes().is_some() { "word" } else { "message" };
    facts.push(plain("published", counted(numbers.published, thing)));
    facts.extend(ring.newest.as_ref().map(|newest| plain("newest", newest_to_text(newest))));
    let most = row.rates.iter().copied().fold(0.0, f64::max);
    let peak = if row.rates.is_empty() {
        String::new()
    } else {
        format!(" a second, {} at most", rate(most, ring.word_bytes()))
    };
    facts.push(plain("rate", row.rate.clone() + &peak));
    let waiting = match numbers.pending {
        Some(pending) => format!("{} of {}", grouped(pending), grouped(header.capacity)),
        None if ring.tells_lag() => "nobody has a seat, so nothing waits".into(),
        None => "nobody is waited for".into(),
    };
    facts.push(Fact {
        name: "waiting",
        text: waiting,
        tone: if is_full(ring) { Tone::Fair } else { Tone::Plain },
    });
    for route in routes::of_ring(row, routes) {
        let tone = if routes::is_in_trouble(route) { Tone::Fair } else { Tone::Plain };
        facts.push(Fact { name: "bridge", text: routes::words(route), tone });
    }
    if let Some(waits) = history.waits(ring) {
        facts.push(plain(
            "behind",
            match waits.percentiles() {
                Some(Latency { p50, p99, max, .. }) => {
                    let [p50, p99, max] = [p50, p99, max].map(duration);
                    let [none, looks] = [waits.none(), waits.looks()].map(grouped);
                    format!("p50 {p50}, p99 {p99}, max {max} (0 in {none} of {looks} looks)")
                }
                None => "no reader says where it is".into(),
            },
        ));
    }
    facts
}

/// The titles of what [`cells`] says. Those that are numbers end, rather than begin, in one line.
pub(super) const TITLES: [(&str, bool); 6] = [
    ("SEAT", true),
    ("STATE", false),
    ("POSITION", true),
    ("LAG", true),
    ("BEHIND", true),
    ("PROCESS", false),
];

/// What is known of a reader.
pub(super) fn cells(reader: &Reader) -> [String; 6] {
    let or_unknown = |number: Option<u64>| number.map_or(UNKNOWN.into(), grouped);
    [
        reader.seat.map_or(NONE.into(), |seat| seat.number.to_string()),
        reader.seat.map_or(String::new(), |seat| seat.state.to_string()),
        or_unknown(reader.position()),
        or_unknown(reader.lag()),
        reader.behind_ns.map_or(UNKNOWN.into(), duration),
        reader.process.as_ref().map_or(NONE.into(), line),
    ]
}
