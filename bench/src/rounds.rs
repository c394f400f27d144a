//! The method: rounds in which every contender runs once, and what is made of them.
//!
//! Two cores of a machine may lie near each other or far apart, and under a hypervisor that changes while a program runs.
//! So contenders take turns, in one order and then in the other, and only numbers of the same round are divided by each
//! other. Around every contender a raw ping-pong between the two cores is timed; a round in which it changed by more than
//! [`TOLERANCE`] is dropped and run again.

use serde::Serialize;

use crate::rows::{Kind, Plan, Row, Sample};

/// How much the slowest probe of a round may differ from its fastest.
const TOLERANCE: f64 = 1.30;

/// First quartile, median, third quartile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Quartiles {
    pub lower: f64,
    pub median: f64,
    pub upper: f64,
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

/// What came of a row.
#[derive(Debug, Default, Serialize)]
pub struct Rounds {
    /// The rounds that count: a sample of each entry, in the row's order.
    pub kept: Vec<Vec<Sample>>,
    /// How many more were run and did not count.
    pub dropped: usize,
    /// Every timing of the raw ping-pong, in nanoseconds a round trip.
    pub probes: Vec<f64>,
}

impl Rounds {
    pub fn ns(&self, entry: usize) -> Option<Quartiles> {
        Quartiles::of(self.kept.iter().map(|round| round[entry].ns))
    }

    /// The share of the messages that were received, where a row has such a thing.
    pub fn share(&self, entry: usize) -> Option<Quartiles> {
        Quartiles::of(self.kept.iter().filter_map(|round| round[entry].share))
    }

    /// Of the times of `one` and `other`, divided round by round.
    pub fn ratio(&self, one: usize, other: usize) -> Option<Quartiles> {
        Quartiles::of(self.kept.iter().map(|round| round[one].ns / round[other].ns))
    }
}

/// Runs `row` until `rounds` rounds count, or twice as many were tried.
pub fn measure(row: &Row, plan: &Plan, rounds: usize, mut probe: impl FnMut() -> f64) -> Rounds {
    let mut result = Rounds::default();
    for round in 0..2 * rounds {
        if result.kept.len() == rounds {
            break;
        }
        let mut order: Vec<usize> = (0..row.entries.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        let mut probes = vec![];
        let mut samples = vec![Sample::default(); row.entries.len()];
        for entry in order {
            if row.crosses_cores() {
                probes.push(probe());
            }
            samples[entry] = (row.entries[entry].run)(plan);
        }
        if row.crosses_cores() {
            probes.push(probe());
        }
        if is_steady(&probes) {
            result.kept.push(samples);
        } else {
            result.dropped += 1;
        }
        result.probes.extend(probes);
    }
    result
}

/// Whether the cores stayed where they were. Without probes, nothing is known and nothing is held against the round.
fn is_steady(probes: &[f64]) -> bool {
    let fastest = probes.iter().copied().fold(f64::INFINITY, f64::min);
    probes.iter().all(|&probe| probe <= fastest * TOLERANCE)
}

/// The place of ours among the entries of `row`: what the others are compared with.
pub fn ours(row: &Row) -> usize {
    row.entries.iter().position(|entry| entry.kind == Kind::Ours).expect("every row has an entry of ours")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cores::Cores;
    use crate::rows::Entry;
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

    #[test]
    fn a_round_is_steady_while_its_probes_stay_within_the_tolerance() {
        assert!(is_steady(&[]));
        assert!(is_steady(&[100.0]));
        assert!(is_steady(&[129.0, 100.0, 110.0]));
        assert!(!is_steady(&[100.0, 110.0, 131.0]));
        assert!(!is_steady(&[490.0, 110.0]));
    }

    thread_local! {
        static ORDER: RefCell<String> = const { RefCell::new(String::new()) };
    }

    fn sample(name: char, ns: f64) -> Sample {
        ORDER.with_borrow_mut(|order| order.push(name));
        ns.into()
    }

    fn row(threads: usize) -> Row {
        let mut row = Row::new("test", "", 0, 0);
        row.threads = threads;
        row.entries = vec![
            Entry { name: "a", kind: Kind::Ours, run: |_| sample('a', 3.0) },
            Entry { name: "b", kind: Kind::Rival, run: |_| sample('b', 6.0) },
        ];
        row
    }

    fn run(row: &Row, rounds: usize, probe: impl FnMut() -> f64) -> (Rounds, String) {
        ORDER.with_borrow_mut(String::clear);
        let plan = Plan { capacity: 0, messages: 0, cores: Cores { here: 0, there: 1 } };
        let result = measure(row, &plan, rounds, probe);
        (result, ORDER.with_borrow(String::clone))
    }

    #[test]
    fn rounds_swap_their_order_and_samples_do_not() {
        let (result, order) = run(&row(2), 3, || 100.0);
        assert_eq!(order, "abbaab");
        assert_eq!((result.kept.len(), result.dropped, result.probes.len()), (3, 0, 9));
        assert!(result.kept.iter().all(|round| round[0].ns == 3.0 && round[1].ns == 6.0));
        assert_eq!(result.ratio(0, 1).unwrap().median, 0.5);
        assert_eq!(result.share(0), None);
    }

    #[test]
    fn a_round_in_which_the_cores_moved_is_dropped_and_run_again() {
        let mut count = 0;
        // The fifth probe, in the middle of the second round, finds the cores far apart.
        let (result, order) = run(&row(2), 3, || {
            count += 1;
            if count == 5 { 490.0 } else { 110.0 }
        });
        assert_eq!((result.kept.len(), result.dropped), (3, 1));
        assert_eq!(order, "abbaabba");
    }

    #[test]
    fn it_gives_up_where_the_cores_never_rest() {
        let mut probe = 1.0;
        let (result, _) = run(&row(2), 3, || {
            probe *= 2.0;
            probe
        });
        assert_eq!((result.kept.len(), result.dropped), (0, 6));
        assert_eq!(result.ns(0), None);
    }

    #[test]
    fn on_one_core_the_placement_does_not_matter() {
        let (result, _) = run(&row(1), 3, || unreachable!());
        assert_eq!((result.kept.len(), result.dropped, result.probes.len()), (3, 0, 0));
    }
}
