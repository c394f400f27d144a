//! The method: rounds in which every contender runs once, and what is made of them.
//!
//! Two cores of a machine may lie near each other or far apart, and under a hypervisor that changes while a
//! program runs. So contenders take turns, in one order and then in the other, and only numbers of the same
//! round are divided by each other. Around every contender a raw ping-pong between the two cores is timed; a
//! round in which it changed by more than [`TOLERANCE`] does not count and is run again. It is kept among the
//! results, and nothing else is a reason not to count.

use serde::{Deserialize, Serialize};

use crate::digits::rounded;
use crate::row::{Plan, Row, Sample};

/// How much the slowest probe of a round may differ from its fastest.
const TOLERANCE: f64 = 1.30;

/// First quartile, median, third quartile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "[f64; 3]", into = "[f64; 3]")]
pub struct Quartiles {
    pub lower: f64,
    pub median: f64,
    pub upper: f64,
}

impl From<[f64; 3]> for Quartiles {
    fn from([lower, median, upper]: [f64; 3]) -> Self {
        Self { lower, median, upper }
    }
}

impl From<Quartiles> for [f64; 3] {
    fn from(Quartiles { lower, median, upper }: Quartiles) -> Self {
        [lower, median, upper]
    }
}

impl Quartiles {
    /// Of at least one value; between two of them, linearly.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Option<Self> {
        let mut sorted: Vec<f64> = values.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let last = sorted.len().checked_sub(1)?;
        let at = |part: f64| {
            let place = part * last as f64;
            let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
            below + (above - below) * place.fract()
        };
        Some(Self { lower: at(0.25), median: at(0.5), upper: at(0.75) })
    }
}

/// One run of every entry of a row.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Round {
    /// In the row's order.
    pub samples: Vec<Sample>,
    /// The fastest timing of the raw ping-pong, the one in the middle, and the slowest, in nanoseconds a
    /// round trip; none where the cores do not matter.
    pub probes: Option<[f64; 3]>,
}

/// The order in which the entries of a row run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    Forward,
    Backward,
}

impl Round {
    /// Its figures have the digits that a file has.
    pub fn run(row: &Row, plan: &Plan, order: Order, mut probe: impl FnMut() -> f64) -> Self {
        let mut places: Vec<usize> = (0..row.entries.len()).collect();
        if order == Order::Backward {
            places.reverse();
        }
        let mut samples = vec![Sample::default(); places.len()];
        let mut probes = vec![];
        for place in places {
            if row.crosses_cores() {
                probes.push(probe());
            }
            samples[place] = (row.entries[place].run)(plan).rounded();
        }
        if row.crosses_cores() {
            probes.push(probe());
        }
        Self { samples, probes: of_probes(probes) }
    }

    /// Whether the cores stayed where they were. Without probes, nothing is known and nothing is held against
    /// the round.
    pub fn counts(&self) -> bool {
        self.probes.is_none_or(|[fastest, _, slowest]| slowest <= fastest * TOLERANCE)
    }
}

fn of_probes(mut probes: Vec<f64>) -> Option<[f64; 3]> {
    probes.sort_by(f64::total_cmp);
    Some([*probes.first()?, probes[probes.len() / 2], *probes.last()?].map(rounded))
}

/// All rounds of a row, those that do not count among them.
#[derive(Debug, Default)]
pub struct Rounds(pub Vec<Round>);

impl Rounds {
    fn counting(&self) -> impl Iterator<Item = &Round> {
        self.0.iter().filter(|round| round.counts())
    }

    /// How many count.
    pub fn kept(&self) -> usize {
        self.counting().count()
    }

    /// How many do not.
    pub fn dropped(&self) -> usize {
        self.0.len() - self.kept()
    }

    /// The raw ping-pong of each round.
    pub fn probes(&self) -> impl Iterator<Item = f64> {
        self.0.iter().filter_map(|round| round.probes.map(|[_, middle, _]| middle))
    }

    pub fn samples(&self, entry: usize) -> impl Iterator<Item = &Sample> {
        self.counting().map(move |round| &round.samples[entry])
    }

    pub fn ns(&self, entry: usize) -> Option<Quartiles> {
        Quartiles::of(self.samples(entry).map(|sample| sample.ns))
    }

    /// None where a round did not look at it.
    pub fn cpu_ns(&self, entry: usize) -> Option<Quartiles> {
        Quartiles::of(self.samples(entry).map(|sample| sample.cpu_ns).collect::<Option<Vec<f64>>>()?)
    }

    /// None where every message of every round was received.
    pub fn share(&self, entry: usize) -> Option<Quartiles> {
        self.samples(entry).any(|sample| sample.share.is_some()).then_some(())?;
        Quartiles::of(self.samples(entry).map(|sample| sample.share.unwrap_or(1.0)))
    }

    /// None where a row has no neighbour.
    pub fn neighbour_lost(&self, entry: usize) -> Option<Quartiles> {
        let lost = self.samples(entry).map(|sample| sample.neighbour_lost);
        Quartiles::of(lost.collect::<Option<Vec<f64>>>()?)
    }

    /// Of what `one` and `other` have of `figure`, divided round by round; none where a round lacks it.
    pub fn ratio(
        &self,
        one: usize,
        other: usize,
        figure: impl Fn(&Sample) -> Option<f64>,
    ) -> Option<Quartiles> {
        let ratios = self.counting().map(|round| {
            let figure = |place: usize| figure(&round.samples[place]);
            Some(figure(one)? / figure(other)?)
        });
        Quartiles::of(ratios.collect::<Option<Vec<f64>>>()?)
    }

    /// They are many, and what is made of them is kept elsewhere.
    pub fn forget_latencies(&mut self) {
        let samples = self.0.iter_mut().flat_map(|round| &mut round.samples);
        samples.for_each(|sample| sample.latencies.clear());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::row::{Entry, Kind};
    use std::cell::RefCell;

    #[test]
    fn quartiles_lie_between_the_values_they_fall_between() {
        let of = |values: &[f64]| Quartiles::of(values.iter().copied()).map(|q| [q.lower, q.median, q.upper]);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[7.0]), Some([7.0, 7.0, 7.0]));
        assert_eq!(of(&[4.0, 2.0]), Some([2.5, 3.0, 3.5]));
        assert_eq!(of(&[5.0, 1.0, 4.0, 2.0, 3.0]), Some([2.0, 3.0, 4.0]));
        assert_eq!(of(&[40.0, 10.0, 20.0, 30.0]), Some([17.5, 25.0, 32.5]));
    }

    fn probed(probes: &[f64]) -> Round {
        Round { samples: vec![1.0.into(), 2.0.into()], probes: of_probes(probes.to_vec()) }
    }

    #[test]
    fn round_counts_while_its_probes_stay_within_the_tolerance() {
        assert!(probed(&[]).counts());
        assert!(probed(&[100.0]).counts());
        assert!(probed(&[129.0, 100.0, 110.0]).counts());
        assert!(!probed(&[100.0, 110.0, 131.0]).counts());
        assert!(!probed(&[490.0, 110.0]).counts());
    }

    #[test]
    fn round_that_does_not_count_is_kept_and_left_out_of_the_statistics() {
        let mut moved = probed(&[490.0, 110.0]);
        moved.samples[0].ns = 1_000.0;
        let rounds = Rounds(vec![probed(&[100.0, 110.0]), moved]);
        assert_eq!((rounds.kept(), rounds.dropped(), rounds.probes().count()), (1, 1, 2));
        assert_eq!(rounds.ratio(0, 1, |sample| Some(sample.ns)).unwrap().upper, 0.5);
        assert_eq!(rounds.ratio(0, 1, |sample| sample.cpu_ns), None);
        assert_eq!(rounds.ns(0).unwrap().upper, 1.0);
        assert_eq!(rounds.share(0), None);
        assert_eq!(Rounds(vec![]).ns(0), None);
    }

    thread_local! {
        static ORDER: RefCell<String> = const { RefCell::new(String::new()) };
    }

    fn sample(name: char, ns: f64) -> Sample {
        ORDER.with_borrow_mut(|order| order.push(name));
        ns.into()
    }

    fn run(threads: usize, order: Order) -> (Round, String) {
        let mut row = Row::new("test", "", 0, 0);
        row.threads = threads;
        row.entries = vec![
            Entry { name: "a", kind: Kind::Ours, run: |_| sample('a', 3.0) },
            Entry { name: "b", kind: Kind::Rival, run: |_| sample('b', 6.0) },
        ];
        ORDER.with_borrow_mut(String::clear);
        let plan = row.plan("0,1".parse().unwrap());
        let round = Round::run(&row, &plan, order, || sample('p', 100.0).ns);
        (round, ORDER.with_borrow(String::clone))
    }

    #[test]
    fn rounds_swap_their_order_and_samples_do_not() {
        for (order, ran) in [(Order::Forward, "papbp"), (Order::Backward, "pbpap")] {
            let (round, what) = run(2, order);
            assert_eq!(what, ran);
            assert_eq!([round.samples[0].ns, round.samples[1].ns], [3.0, 6.0]);
            assert_eq!(round.probes, Some([100.0; 3]));
        }
    }

    #[test]
    fn placement_does_not_matter_on_one_core() {
        let (round, what) = run(1, Order::Forward);
        assert_eq!((what.as_str(), round.probes), ("ab", None));
    }
}
