//! What a row says of latencies: percentiles, made of the histograms of its rounds.

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

use crate::rounds::Quartiles;
use crate::row::Sample;

/// Points of a curve: so many nines, in steps of a quarter of one.
const POINTS: usize = 21;

/// The percentile of a point.
fn percentile(point: usize) -> f64 {
    100.0 * (1.0 - 0.1_f64.powf(point as f64 / 4.0))
}

/// In nanoseconds. Each percentile is the median of those of the rounds: one round in which a thread lost its
/// core for milliseconds would otherwise be all that is seen of the slowest hundredth. Rounds of less than a
/// thousand messages are taken together: the slowest hundredth of one round would be a few messages.
#[derive(Debug, Serialize, Deserialize)]
pub struct Latency {
    pub p50: u64,
    /// Of those at 99 % of the rounds, one by one, also where rounds are taken together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99_of_rounds: Option<Quartiles>,
    /// Of all rounds.
    pub max: u64,
    /// At each point.
    curve: [u64; POINTS],
}

impl Latency {
    /// The columns of a table of latencies.
    pub const COLUMNS: [&str; 6] = ["p50", "p90", "p99", "p99.9", "p99.99", "max"];

    /// In the order of the columns.
    pub fn cells(&self) -> [u64; 6] {
        [self.p50, self.nines(1), self.p99(), self.nines(3), self.nines(4), self.max]
    }

    pub fn p99(&self) -> u64 {
        self.nines(2)
    }

    /// At so many nines.
    fn nines(&self, nines: usize) -> u64 {
        self.curve[4 * nines]
    }

    /// Percentiles, and the latency at each.
    pub fn curve(&self) -> impl Iterator<Item = (f64, u64)> {
        self.curve.iter().enumerate().map(|(point, &ns)| (percentile(point), ns))
    }

    pub fn of<'a>(samples: impl Iterator<Item = &'a Sample>) -> Option<Self> {
        let samples: Vec<&Sample> = samples.filter(|sample| !sample.latencies.is_empty()).collect();
        let max = samples.iter().flat_map(|sample| &sample.latencies).map(|&(ns, _)| ns).max()?;
        let mut rounds: Vec<Histogram<u64>> = samples.into_iter().map(histogram).collect();
        let p99_of_rounds = Quartiles::of(rounds.iter().map(|round| round.value_at_percentile(99.0) as f64));
        if rounds.iter().all(|round| round.len() < 1_000) {
            let all = rounds.into_iter().reduce(|all, round| all + round);
            rounds = all.into_iter().collect();
        }
        let at = |percentile: f64| {
            let rounds = rounds.iter().map(|round| round.value_at_percentile(percentile) as f64);
            Quartiles::of(rounds).expect("there is a round").median.round() as u64
        };
        let curve = std::array::from_fn(|point| at(percentile(point)));
        Some(Self { p50: at(50.0), p99_of_rounds, max, curve })
    }
}

fn histogram(sample: &Sample) -> Histogram<u64> {
    let mut histogram = Histogram::new(3).expect("three digits are few enough");
    for &(ns, count) in &sample.latencies {
        histogram.record_n(ns, count).expect("it grows as needed");
    }
    histogram
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::results::tests::row;

    #[test]
    fn percentile_is_the_median_of_those_of_the_rounds() {
        let row = row(1.0, 2.0, true);
        let latency = row.ours().latency.as_ref().unwrap();
        assert_eq!(latency.cells(), [100, 900, 900, 900, 900, 900]);
        assert!(latency.curve.is_sorted());
        let held_up =
            [100, 100, 5_000_000].map(|ns| Sample { latencies: vec![(ns, 900)], ..Sample::default() });
        let together = Latency::of(held_up.iter()).unwrap();
        assert_eq!((together.p50, together.nines(1)), (100, 5_001_215));
        let each = together.p99_of_rounds.unwrap();
        assert_eq!((each.lower, each.median), (100.0, 100.0), "one by one");
        assert!(each.upper > 2e6, "{}", each.upper);
        let held_up =
            held_up.map(|sample| Sample { latencies: vec![(sample.latencies[0].0, 9_000)], ..sample });
        let latency = Latency::of(held_up.iter()).unwrap();
        assert_eq!((latency.p99(), latency.max), (100, 5_000_000));
        assert!(
            row.rounds.0.iter().flat_map(|round| &round.samples).all(|sample| sample.latencies.is_empty())
        );
    }
}
