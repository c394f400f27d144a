//! [`Waits`]: how long messages have waited that readers had not taken yet, over many looks.
//!
//! A program that only looks does not see when a message is received. It sees which one each reader takes
//! next, and the message says when it was published. So each look at each reader adds how far that one is
//! behind, in time. Looks come at an even pace, so their distribution is the one of a moment chosen by
//! chance.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::measure::Latency;

/// The time between two looks at how far the readers of the ring are behind that has the page. These are
/// cheap: nothing but its numbers and the messages that come next.
pub(super) const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// Where the picture begins.
const FIRST_NS: u64 = 100;
/// Powers of ten from there.
const DECADES: usize = 8;
/// Where a decade is divided, in tenths of its begin.
const STEPS: [u64; 4] = [10, 18, 32, 56];
/// So many bars the picture has.
pub(super) const BARS: usize = DECADES * STEPS.len();
/// The longest wait that is told apart.
const LONGEST_NS: u64 = 3_600_000_000_000;

/// What many looks have seen.
#[derive(Clone, Debug)]
pub(super) struct Waits(Histogram<u64>);

impl Default for Waits {
    fn default() -> Self {
        // Small, for there may be many rings: a figure and a half.
        Self(Histogram::new_with_max(LONGEST_NS, 1).expect("an hour is within what a histogram can hold"))
    }
}

impl Waits {
    /// A reader was so far behind; 0 if nothing waited for it.
    pub(super) fn add(&mut self, behind_ns: u64) {
        self.0.saturating_record(behind_ns);
    }

    /// How often a reader was looked at.
    pub(super) fn looks(&self) -> u64 {
        self.0.len()
    }

    /// How often nothing waited.
    pub(super) fn none(&self) -> u64 {
        self.0.count_at(0)
    }

    /// Over all looks, those included where nothing waited.
    pub(super) fn percentiles(&self) -> Option<Latency> {
        (!self.0.is_empty()).then(|| Latency::of(&self.0))
    }

    /// How many looks found each wait, in bars that each begin at three quarters more than the one before.
    /// Shorter waits are in the first bar, longer ones in the last; looks where nothing waited are in none.
    pub(super) fn bars(&self) -> [u64; BARS] {
        let mut bars = [0; BARS];
        for step in self.0.iter_recorded().filter(|step| step.value_iterated_to() > 0) {
            let bar = (1..BARS).take_while(|&bar| begin_ns(bar) <= step.value_iterated_to()).count();
            bars[bar] += step.count_at_value();
        }
        bars
    }
}

/// The shortest wait of a bar.
fn begin_ns(bar: usize) -> u64 {
    FIRST_NS * 10_u64.pow((bar / STEPS.len()) as u32) * STEPS[bar % STEPS.len()] / 10
}

/// What is below the bars: where every other decade begins.
pub(super) const AXIS: &str = "100 ns  10 µs   1 ms    100 ms  ";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::duration;

    #[test]
    fn wait_is_in_its_bar() {
        let mut waits = Waits::default();
        for (behind_ns, bar) in [
            (1, 0),
            (170, 0),
            (200, 1),
            (340, 2),
            (590, 3),
            (1_060, 4),
            (1_060_000, 16),
            (9_000_000_000, 31),
            (u64::MAX, 31),
        ] {
            let before = waits.bars()[bar];
            waits.add(behind_ns);
            assert_eq!(waits.bars()[bar], before + 1, "{behind_ns}");
        }
        waits.add(0);
        assert_eq!((waits.looks(), waits.none(), waits.bars().iter().sum::<u64>()), (10, 1, 9));
    }

    #[test]
    fn axis_is_that_of_the_bars() {
        assert_eq!(AXIS.chars().count(), BARS);
        for (bar, ns) in [(0, 100), (8, 10_000), (16, 1_000_000), (24, 100_000_000)] {
            let label: String = AXIS.chars().skip(bar).take(8).collect();
            assert_eq!(
                (begin_ns(bar), duration(ns).replace(".0", "").replace('0', "")),
                (ns, label.trim().replace('0', ""))
            );
        }
    }

    #[test]
    fn percentiles_are_of_all_looks() {
        let mut waits = Waits::default();
        assert_eq!(waits.percentiles(), None);
        (0..99).for_each(|_| waits.add(0));
        waits.add(1_000);
        let Latency { p50, p90, max, .. } = waits.percentiles().unwrap();
        assert_eq!((p50, p90), (0, 0));
        assert!((1_000..1_100).contains(&max), "{max}");
    }
}
