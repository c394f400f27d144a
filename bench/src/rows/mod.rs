//! The rows of the table: what is measured, by which loop, beside which floor, and what it has to reach.
//!
//! A loop is written once, generic over the contender. To add a rival, add its adapter to `contenders` and its name to
//! `contenders!` here; to add a row, add a file.
//!
//! What is received is checked by `assert!(a == b)`: `assert_eq!` takes the address of both, and so stores both, for each
//! message.

mod inlining;
mod live;
mod one_thread;
mod page;
mod round_trip;
mod wake_up;

use std::ops::Range;
use std::time::Instant;

use serde::Serialize;

use crate::cores::Cores;
pub use page::Page;
pub use wake_up::{HandOver, Sleeper, Waker};

/// How much one run of an entry does, and where.
pub struct Plan {
    pub capacity: usize,
    pub messages: u64,
    pub cores: Cores,
}

/// What one run of an entry found.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Sample {
    /// Nanoseconds a message.
    pub ns: f64,
    /// The part of the messages that the reader received, where it may lose some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
}

impl From<f64> for Sample {
    fn from(ns: f64) -> Self {
        Self { ns, share: None }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Ours,
    Rival,
    Floor,
}

/// One column of a row: a contender, or the floor.
pub struct Entry {
    pub name: &'static str,
    pub kind: Kind,
    pub run: fn(&Plan) -> Sample,
}

/// The most that our time may be of another's.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Target {
    pub against: Kind,
    pub at_most: f64,
    /// What is hoped for beyond it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub aim: Option<f64>,
}

pub struct Row {
    pub name: &'static str,
    /// What is done, for the reader of the table.
    pub about: &'static str,
    pub capacity: usize,
    /// Messages in one run.
    pub messages: u64,
    /// Whether it matters how far apart the cores are.
    pub two_cores: bool,
    pub entries: Vec<Entry>,
    pub targets: Vec<Target>,
}

impl Row {
    pub fn new(name: &'static str, about: &'static str, capacity: usize, messages: u64) -> Self {
        Self { name, about, capacity, messages, two_cores: false, entries: vec![], targets: vec![] }
    }

    fn on_two_cores(mut self) -> Self {
        self.two_cores = true;
        self
    }

    fn entries(mut self, entries: impl IntoIterator<Item = Entry>) -> Self {
        self.entries.extend(entries);
        self
    }

    fn floor(self, name: &'static str, run: fn(&Plan) -> Sample) -> Self {
        self.entries([Entry { name, kind: Kind::Floor, run }])
    }

    fn target(mut self, against: Kind, at_most: f64) -> Self {
        self.targets.push(Target { against, at_most, aim: None });
        self
    }

    fn aim(mut self, ratio: f64) -> Self {
        if let Some(target) = self.targets.last_mut() {
            target.aim = Some(ratio);
        }
        self
    }
}

/// One function, run for every ring, or for `$adapter` around every ring.
macro_rules! contenders {
    ($function:ident) => {
        contenders!(@ $function, Annulus, PhotonRing)
    };
    ($function:ident, $adapter:ident) => {
        contenders!(@ $function, $adapter<Annulus>, $adapter<PhotonRing>)
    };
    (@ $function:ident, $ours:ty, $rival:ty) => {{
        use crate::contenders::{Annulus, Contender, PhotonRing};
        use crate::rows::{Entry, Kind};
        [
            Entry { name: Annulus::NAME, kind: Kind::Ours, run: $function::<$ours> },
            Entry { name: PhotonRing::NAME, kind: Kind::Rival, run: $function::<$rival> },
        ]
    }};
}
use contenders;

pub fn all() -> Vec<Row> {
    let mut rows = vec![];
    rows.extend(one_thread::rows());
    rows.extend(inlining::rows());
    rows.push(live::row());
    rows.push(round_trip::row());
    rows.extend(page::rows());
    rows.push(wake_up::row());
    rows
}

/// Round trips before those that are timed.
pub const WARM_UP: u64 = 1_000;

/// Messages before those that are timed, where a reader has to get going on the other core.
pub const LIVE_WARM_UP: u64 = 20_000;

/// The sequences of a warm-up, then those of the messages that are timed. One loop runs over both, with the clock started
/// anew before each: with a loop for each, the compiler may inline what is measured into one and not into the other.
pub fn phases(warm_up: u64, messages: u64) -> [Range<u64>; 2] {
    [0..warm_up, warm_up..warm_up + messages]
}

/// The value of message `sequence`: easy to check, and not what a slot held a lap before.
#[inline(always)]
pub fn mix(sequence: u64) -> u64 {
    sequence.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x55
}

/// Nanoseconds for each of `count` since `begun`.
pub fn ns_each(begun: Instant, count: u64) -> f64 {
    begun.elapsed().as_secs_f64() * 1e9 / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Few messages, with all the checks.
    #[test]
    fn every_entry_of_every_row_runs() {
        let cores = Cores::first_two().unwrap();
        crate::cores::pin(cores.here);
        for row in all() {
            let plan = Plan { capacity: row.capacity, messages: row.messages.min(100), cores };
            for entry in &row.entries {
                let sample = (entry.run)(&plan);
                assert!(sample.ns > 0.0, "{}: {}", row.name, entry.name);
                assert!(sample.share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{}", row.name);
            }
        }
    }

    #[test]
    fn every_row_has_one_entry_of_ours_and_whom_its_targets_name() {
        for row in all() {
            assert_eq!(
                row.entries.iter().filter(|entry| entry.kind == Kind::Ours).count(),
                1,
                "{}",
                row.name
            );
            for target in &row.targets {
                assert!(row.entries.iter().any(|entry| entry.kind == target.against), "{}", row.name);
            }
        }
    }
}
