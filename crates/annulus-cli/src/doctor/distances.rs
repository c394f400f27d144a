//! How long a cache line takes between each pair of CPUs.

use std::io::{self, IsTerminal};

use annulus::affinity::{self, Topology};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde::Serialize;

use super::arguments::Cores;
use super::cpu_list::show;
use super::ping_pong::ping_pong;
use crate::outcome::Failure;

/// The most CPUs that are measured unasked.
const CPUS_MAX: usize = 32;

/// How much is measured of each pair.
#[derive(Clone, Copy)]
pub(super) struct Effort {
    /// An odd number: one of them is the median.
    pub(super) rounds: usize,
    pub(super) round_trips: u64,
}

/// What users wait for.
pub(super) const USUAL: Effort = Effort { rounds: 9, round_trips: 10_000 };

/// A tenth of it.
pub(super) const QUICK: Effort = Effort { rounds: 3, round_trips: 3_000 };

/// What was measured. Programs rely on the keys.
#[derive(Debug, Serialize)]
pub(super) struct Distances {
    /// In ascending order.
    pub(super) cpus: Vec<usize>,
    /// How many CPUs could have been measured.
    #[serde(skip)]
    pub(super) of: usize,
    pub(super) rounds: usize,
    pub(super) round_trips: u64,
    /// Why there are no pairs.
    pub(super) not_measured: Option<String>,
    /// Each with each.
    pub(super) pairs: Vec<Pair>,
}

/// Two CPUs, `a` below `b`; nanoseconds a round trip, to a tenth.
#[derive(Debug, Default, Serialize)]
pub(super) struct Pair {
    pub(super) a: usize,
    pub(super) b: usize,
    pub(super) median_ns: Option<f64>,
    pub(super) min_ns: Option<f64>,
    pub(super) max_ns: Option<f64>,
    /// Why it could not be measured.
    pub(super) error: Option<String>,
}

/// Which CPUs to measure between.
pub(super) struct Choice {
    cpus: Vec<usize>,
    /// How many there are to choose from.
    of: usize,
    not_measured: Option<String>,
}

impl Choice {
    /// Those that the user named.
    ///
    /// # Errors
    ///
    /// One of them can't be used.
    pub(super) fn named(cores: &Cores) -> Result<Self, Failure> {
        let available = affinity::available().map_err(|error| {
            Failure::new(format!("--cores: threads can't be pinned here ({error}): leave it out"))
        })?;
        let Cores(cpus) = cores;
        if let Some(&cpu) = cpus.iter().find(|cpu| !available.contains(cpu)) {
            let topology = Topology::read();
            let reason = match topology.cpu(cpu) {
                None => format!("the machine has no CPU {cpu}"),
                Some(known) if known.is_online == Some(false) => format!("CPU {cpu} is offline"),
                Some(_) => format!("this program may not use CPU {cpu}"),
            };
            return Err(Failure::new(format!("--cores: {reason}: use some of {}", show(&available))));
        }
        Ok(Self { cpus: cpus.clone(), of: cpus.len(), not_measured: None })
    }

    /// Those on which the program may run, if they are not too many.
    pub(super) fn unasked() -> Self {
        let none = |why: String| Self { cpus: Vec::new(), of: 0, not_measured: Some(why) };
        match affinity::allowed() {
            Ok(cpus) if cpus.len() < 2 => none("this program may run on one CPU only".into()),
            Ok(mut cpus) => {
                let of = cpus.len();
                cpus.truncate(CPUS_MAX);
                Self { cpus, of, not_measured: None }
            }
            Err(error) => none(format!("threads can't be pinned here ({error})")),
        }
    }

    /// Measures, with a progress bar.
    pub(super) fn measure(self, effort: Effort) -> Distances {
        let Self { cpus, of, not_measured } = self;
        let couples: Vec<_> = cpus
            .iter()
            .enumerate()
            .flat_map(|(place, &b)| cpus[..place].iter().map(move |&a| (a, b)))
            .collect();
        let bar = bar(couples.len() as u64);
        let mut pairs = Vec::with_capacity(couples.len());
        for (a, b) in couples {
            pairs.push(pair(a, b, effort));
            bar.inc(1);
        }
        bar.finish_and_clear();
        Distances { cpus, of, rounds: effort.rounds, round_trips: effort.round_trips, not_measured, pairs }
    }
}

/// All rounds of one pair.
fn pair(a: usize, b: usize, effort: Effort) -> Pair {
    let rounds = (0..effort.rounds).map(|_| ping_pong(a, b, effort.round_trips));
    match rounds.collect::<Result<Vec<f64>, String>>() {
        Ok(mut rounds) => {
            rounds.sort_unstable_by(f64::total_cmp);
            let tenth = |place: usize| rounds.get(place).map(|ns| (ns * 10.0).round() / 10.0);
            let last = rounds.len().saturating_sub(1);
            Pair {
                a,
                b,
                median_ns: tenth(rounds.len() / 2),
                min_ns: tenth(0),
                max_ns: tenth(last),
                error: None,
            }
        }
        Err(error) => Pair { a, b, error: Some(error), ..Pair::default() },
    }
}

/// A bar on standard error, if that is a terminal.
fn bar(total: u64) -> ProgressBar {
    if total == 0 || !io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} pairs of CPUs  {eta} left");
    bar.set_style(style.expect("the template names what indicatif has").progress_chars("━╸ "));
    bar
}

#[cfg(test)]
mod tests {
    use super::*;

    const LITTLE: Effort = Effort { rounds: 3, round_trips: 10 };

    #[test]
    #[cfg(target_os = "linux")]
    fn pairs_are_measured_once_each() {
        let mut cpus = affinity::allowed().unwrap();
        cpus.truncate(3);
        if cpus.len() >= 2 {
            let named = Choice::named(&Cores(cpus.clone())).unwrap_or_else(|failure| panic!("{failure}"));
            let distances = named.measure(LITTLE);
            assert_eq!(distances.pairs.len(), cpus.len() * (cpus.len() - 1) / 2);
            for pair in &distances.pairs {
                assert!(pair.a < pair.b, "{pair:?}");
                // On a machine that is busy with other things.
                if pair.error.as_ref().is_some_and(|error| error.starts_with("no round trip in ")) {
                    continue;
                }
                assert_eq!(pair.error, None);
                assert!(pair.min_ns <= pair.median_ns && pair.median_ns <= pair.max_ns, "{pair:?}");
                assert!(pair.min_ns > Some(0.0), "{pair:?}");
            }
        }
        assert!(Choice::unasked().cpus.len() <= CPUS_MAX);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn cpu_that_is_not_there_is_refused() {
        let failure = Choice::named(&Cores(vec![0, 9_999])).err().unwrap().to_string();
        assert!(failure.starts_with("--cores: "), "{failure}");
        assert!(
            failure.contains("CPU 9999: use some of ") || failure.contains("CPU 0: use some of "),
            "{failure}"
        );
    }

    #[test]
    #[cfg(any(target_os = "linux", target_os = "freebsd", windows))]
    fn pair_that_fails_says_why() {
        let pair = pair(0, 1_000_000, LITTLE);
        assert!(pair.median_ns.is_none() && pair.error.is_some(), "{pair:?}");
    }
}
