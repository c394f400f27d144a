//! [`History`]: how many messages went through each ring in a second, from one sample to the next.

use std::collections::{HashMap, VecDeque};
use std::time::Instant;

use super::waits::Waits;
use crate::rings::sample::{Ring, Sample};

/// So many rates are kept of each ring. No curve is wider.
const KEPT: usize = 240;

/// The rates of all rings that the last sample has.
#[derive(Default)]
pub(super) struct History {
    traces: HashMap<String, Trace>,
}

/// The rates of one ring.
struct Trace {
    identity: u64,
    last: Option<(Instant, u64)>,
    rates: VecDeque<f64>,
    waits: Waits,
}

impl History {
    /// Goes on with the next sample. A ring that has the name of another one begins anew.
    pub(super) fn add(&mut self, sample: &Sample) {
        let mut traces = HashMap::new();
        for ring in &sample.rings {
            let before = self.traces.remove(&ring.name).filter(|trace| trace.identity == ring.identity);
            let new = Trace {
                identity: ring.identity,
                last: None,
                rates: VecDeque::new(),
                waits: Waits::default(),
            };
            let mut trace = before.unwrap_or(new);
            if let Some(numbers) = ring.numbers {
                trace.add(sample.at, numbers.published);
            }
            // A dead one takes nothing any more.
            let alive = ring.readers.iter().filter(|reader| !reader.is_dead());
            alive.filter_map(|reader| reader.behind_ns).for_each(|ns| trace.waits.add(ns));
            traces.insert(ring.name.clone(), trace);
        }
        self.traces = traces;
    }

    /// Goes on with what was seen of a ring between two samples: how far its readers are behind, in time.
    pub(super) fn add_waits(&mut self, name: &str, behind_ns: Vec<u64>) {
        if let Some(trace) = self.traces.get_mut(name) {
            for ns in behind_ns {
                trace.waits.add(ns);
            }
        }
    }

    /// How far its readers were behind in time, if its messages carry theirs.
    pub(super) fn waits(&self, ring: &Ring) -> Option<&Waits> {
        self.traces.get(&ring.name).filter(|_| ring.is_timed).map(|trace| &trace.waits)
    }

    /// The newest rate; `None` before the second sample.
    pub(super) fn rate(&self, ring: &Ring) -> Option<f64> {
        self.traces.get(&ring.name)?.rates.back().copied()
    }

    /// All that are kept, the oldest first.
    pub(super) fn rates(&self, ring: &Ring) -> Vec<f64> {
        self.traces.get(&ring.name).map(|trace| trace.rates.iter().copied().collect()).unwrap_or_default()
    }
}

impl Trace {
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    fn add(&mut self, at: Instant, published: u64) {
        if let Some((before, earlier)) = self.last {
            let seconds = at.saturating_duration_since(before).as_secs_f64();
            if seconds <= 0.0 {
                return;
            }
            self.rates.push_back(published.saturating_sub(earlier) as f64 / seconds);
            if self.rates.len() > KEPT {
                self.rates.pop_front();
            }
        }
        self.last = Some((at, published));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::rings::sample::tests::{dead, ring, sample, timed};

    #[test]
    fn rate_is_what_came_between_two_samples() {
        let mut history = History::default();
        let mut now = sample(vec![ring("a", 100, &[]), dead("b")]);
        history.add(&now);
        assert_eq!(history.rate(&now.rings[0]), None);
        for (published, rate) in [(150, 100.0), (150, 0.0), (50, 0.0), (250, 400.0)] {
            now =
                Sample { at: now.at + Duration::from_millis(500), ..sample(vec![ring("a", published, &[])]) };
            history.add(&now);
            assert_eq!(history.rate(&now.rings[0]), Some(rate));
        }
        assert_eq!(history.rates(&now.rings[0]), [100.0, 0.0, 0.0, 400.0]);
        assert_eq!((history.rate(&dead("b")), history.rates(&dead("b"))), (None, vec![]), "it is gone");

        // Without time between them, the sample says nothing.
        history.add(&now);
        assert_eq!(history.rates(&now.rings[0]).len(), 4);
        // Another ring of that name.
        now.rings[0].identity = 2;
        history.add(&now);
        assert!(history.rates(&now.rings[0]).is_empty());
    }

    #[test]
    fn waits_are_of_all_looks_at_all_readers() {
        let mut history = History::default();
        let now = sample(vec![timed("a", 100, &[(0, 0), (7, 5_000)]), ring("b", 9, &[3])]);
        history.add(&now);
        history.add_waits("a", vec![6_000, 0]);
        history.add_waits("gone", vec![1]);
        let waits = history.waits(&now.rings[0]).unwrap();
        assert_eq!((waits.looks(), waits.none()), (4, 2));
        assert!(history.waits(&now.rings[1]).is_none(), "its messages carry no time");
    }

    #[test]
    fn rates_are_kept_as_far_as_a_curve_shows() {
        let mut history = History::default();
        let mut now = sample(vec![]);
        for published in 0..2 * KEPT as u64 {
            now = Sample { at: now.at + Duration::from_secs(1), ..sample(vec![ring("a", published, &[])]) };
            history.add(&now);
        }
        assert_eq!(history.rates(&now.rings[0]), [1.0; KEPT]);
    }
}
