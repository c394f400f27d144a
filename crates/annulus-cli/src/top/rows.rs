//! [`rows()`]: the rings that the user wants to see, in that order, each as text.

use annulus::shm::PeerState;

use super::figures::{rate, short_count};
use super::history::History;
use super::view::{Sort, View};
use crate::rings::sample::{Process, Reader, Ring, Sample, short};
use crate::text::printable;

/// For what is not known, or is not there.
pub(super) const NONE: &str = "–";
/// For what nobody but the process itself knows.
pub(super) const UNKNOWN: &str = "?";

/// A ring, as a row of the table.
pub(super) struct Row<'a> {
    pub(super) ring: &'a Ring,
    pub(super) name: String,
    pub(super) kind: &'static str,
    pub(super) rate: String,
    pub(super) rates: Vec<f64>,
    /// What waits, and how many slots there are.
    pub(super) depth: String,
    /// Of each reader that says so, the slowest first.
    pub(super) lags: String,
    /// How many processes have it, but the publisher's.
    pub(super) readers: String,
    pub(super) process: String,
}

/// The rows that the view shows, in its order.
pub(super) fn rows<'a>(sample: &'a Sample, history: &History, view: &View) -> Vec<Row<'a>> {
    let mut rows: Vec<_> = sample.rings.iter().map(|ring| Row::of(ring, history)).collect();
    rows.retain(|row| row.has(&view.filter));
    rows.sort_by(|one, other| {
        let (one, other) = if view.is_reversed { (other, one) } else { (one, other) };
        let by_name = || one.ring.name.cmp(&other.ring.name);
        let order = match view.sort {
            Sort::Name => by_name(),
            Sort::Kind => one.kind.cmp(other.kind),
            Sort::State => rank(one.ring).cmp(&rank(other.ring)),
            Sort::Rate => newest(&other.rates).total_cmp(&newest(&one.rates)),
            Sort::Depth => pending(other.ring).cmp(&pending(one.ring)),
            Sort::Lag => other.ring.lags().cmp(&one.ring.lags()),
            Sort::Process => pid(one.ring).cmp(&pid(other.ring)),
        };
        order.then_with(by_name)
    });
    rows
}

impl<'a> Row<'a> {
    fn of(ring: &'a Ring, history: &History) -> Self {
        let or_none = |text: Option<String>| text.unwrap_or_else(|| NONE.into());
        let depth = ring.header.map(|header| {
            let pending = ring.numbers.and_then(|numbers| numbers.pending);
            or_none(pending.map(short_count)) + "/" + &short_count(header.capacity)
        });
        // A closed or dead ring has no rate any more.
        let rates = history.rates(ring);
        let newest = rates.last().filter(|_| ring.state == PeerState::Alive);
        Self {
            ring,
            name: printable(&ring.name),
            kind: ring.header.map_or(NONE, |header| short(header.kind)),
            rate: or_none(newest.map(|&newest| rate(newest, ring.word_bytes()))),
            rates,
            depth: or_none(depth),
            lags: lags(ring),
            readers: ring.header.map_or_else(|| NONE.into(), |_| ring.readers.len().to_string()),
            process: or_none(ring.process.as_ref().map(line)),
        }
    }

    /// Whether a filter lets it through.
    fn has(&self, filter: &str) -> bool {
        let filter = filter.to_lowercase();
        let state = self.ring.state();
        let texts = [self.name.as_str(), self.kind, &state, &self.process];
        let readers = self.ring.readers.iter().filter_map(|reader| reader.process.as_ref()).map(line);
        let mut all = texts.into_iter().map(String::from).chain(readers);
        all.any(|text| text.to_lowercase().contains(&filter))
    }
}

/// Whether readers still need all slots but an eighth, or more: the ring is full, or nearly so.
pub(super) fn is_full(ring: &Ring) -> bool {
    let waiting = ring.header.zip(ring.numbers.and_then(|numbers| numbers.pending));
    waiting.is_some_and(|(header, pending)| pending >= header.capacity - header.capacity / 8)
}

/// Its number, and its command.
pub(super) fn line(process: &Process) -> String {
    let command = process.command_to_text();
    let command = command.as_deref().unwrap_or(NONE);
    process.pid.map_or_else(|| command.into(), |pid| format!("{pid} {command}"))
}

fn lags(ring: &Ring) -> String {
    let mut lags: Vec<_> = ring.lags().into_iter().map(short_count).collect();
    let is_hidden = |reader: &Reader| reader.lag().is_none();
    if ring.header.is_some() && !ring.tells_lag() && ring.readers.iter().any(is_hidden) {
        lags.push(UNKNOWN.into());
    }
    if lags.is_empty() { NONE.into() } else { lags.join(" ") }
}

fn rank(ring: &Ring) -> u8 {
    match ring.state {
        PeerState::Dead => 0,
        _ if ring.overdue.is_some() => 1,
        PeerState::Closed => 2,
        _ => 3,
    }
}

fn newest(rates: &[f64]) -> f64 {
    rates.last().copied().unwrap_or(-1.0)
}

fn pending(ring: &Ring) -> Option<u64> {
    ring.numbers?.pending
}

fn pid(ring: &Ring) -> Option<u32> {
    ring.process.as_ref()?.pid
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::rings::sample::tests::{dead, lossy, ring, sample};

    /// Four rings, and their rates.
    fn rings() -> (Sample, History) {
        let before = sample(vec![lossy("b-ticks", 0), ring("a-orders", 1_050, &[0])]);
        let mut history = History::default();
        history.add(&before);
        let mut full = ring("d-full", 9_000, &[1024, 3, 0]);
        full.process = None;
        let rings = vec![lossy("b-ticks", 5_000), ring("a-orders", 1_060, &[600]), dead("c-gone"), full];
        let now = Sample { at: before.at + Duration::from_secs(1), ..sample(rings) };
        history.add(&now);
        (now, history)
    }

    fn order(view: &View) -> String {
        let (sample, history) = rings();
        rows(&sample, &history, view).iter().map(|row| &row.name[..1]).collect()
    }

    #[test]
    fn rows_come_in_the_users_order() {
        for (sort, forth, back) in [
            (Sort::Name, "abcd", "dcba"),
            (Sort::Kind, "adbc", "cbda"),
            (Sort::State, "cabd", "dbac"),
            (Sort::Rate, "bacd", "dcab"),
            (Sort::Depth, "dabc", "cbad"),
            (Sort::Lag, "dabc", "cbad"),
            (Sort::Process, "dabc", "cbad"),
        ] {
            assert_eq!(order(&View { sort, ..View::default() }), forth, "{sort:?}");
            assert_eq!(order(&View { sort, is_reversed: true, ..View::default() }), back, "{sort:?}");
        }
    }

    #[test]
    fn filter_looks_at_all_words() {
        for (filter, shown) in [
            ("", "abcd"),
            ("ORD", "a"),
            ("lossless", "ad"),
            ("dead", "c"),
            ("101", "c"),
            ("feed --to", "ab"),
            ("annulus sub", "b"),
            ("reader-2", "d"),
            ("nothing", ""),
        ] {
            assert_eq!(order(&View { filter: filter.into(), ..View::default() }), shown, "{filter}");
        }
    }

    #[test]
    fn row_says_what_is_known() {
        let (sample, history) = rings();
        let rows = rows(&sample, &history, &View::default());
        let text = |row: &Row<'_>| {
            [row.kind, &row.rate, &row.depth, &row.lags, &row.readers, &row.process].join("|")
        };
        let said: Vec<_> = rows.iter().map(text).collect();
        assert_eq!(
            said,
            [
                "lossless|10|600/1.02k|600|1|100 feed --to a-orders",
                "lossy|5.00k|–/65.5k|?|1|100 feed --to b-ticks",
                "–|–|–|–|–|101 –",
                "lossless|–|1.02k/1.02k|1.02k 3 0|3|–",
            ]
        );
        let full: Vec<_> = rows.iter().map(|row| is_full(row.ring)).collect();
        assert_eq!(full, [false, false, false, true]);
        assert_eq!(rows[0].rates, [10.0]);
    }

    /// A ring with a dead publisher keeps its curve, and has no rate.
    #[test]
    fn dead_have_no_rate() {
        let (mut sample, history) = rings();
        sample.rings[0].state = PeerState::Dead;
        let rows = rows(&sample, &history, &View::default());
        assert_eq!((rows[1].rate.as_str(), rows[1].rates.as_slice()), (NONE, &[5_000.0][..]));
    }
}
