//! The rows of the table: what is measured, by which loop, beside which floor, and what it has to reach.
//!
//! A loop is written once, generic over the contender. To add a rival, add its adapter to `contenders` and its name where a
//! row calls `contenders!`; to add a row, add a file.
//!
//! What is received is checked by `assert!(a == b)` (`assert_eq!` takes the address of both, and so stores both, for each message), in
//! batches by [`Check`].

mod events;
mod fan_out;
mod group;
mod inlining;
pub mod latency;
mod live;
mod lossless;
mod many_publishers;
mod message;
mod one_thread;
mod page;
mod pool;
mod pool_across;
mod queue_blocks;
mod queue_many;
mod queue_many_blocks;
mod queue_one;
mod queue_one_order;
mod queue_shared;
mod queue_wake;
mod quote;
mod round_trip;
mod stream;
mod wake_up;

use std::borrow::Cow;
use std::ops::Range;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::contenders::BATCH;
use crate::cores::Cores;
pub use many_publishers::side_by_side;
pub use message::{Check, mix};
pub use page::Page;
pub use queue_blocks::{BLOCK, Word, across_blocks, fill, is_all};
pub use stream::across;
pub use wake_up::{HandOver, Sleeper, Waker, wake_up};

/// How much one run of an entry does, and where.
pub struct Plan {
    pub capacity: usize,
    pub messages: u64,
    pub cores: Cores,
}

/// What one run of an entry found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Nanoseconds a message.
    pub ns: f64,
    /// The part of the messages that the reader received, where it may lose some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Latencies in nanoseconds, each with how often it was found, where a row is about them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<(u64, u64)>,
}

impl From<f64> for Sample {
    fn from(ns: f64) -> Self {
        Self { ns, ..Self::default() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Ours,
    Rival,
    Floor,
    /// Ours again, used in another way.
    Other,
}

/// A contender of a row, or its floor.
pub struct Entry {
    pub name: &'static str,
    pub kind: Kind,
    pub run: fn(&Plan) -> Sample,
}

/// The most that our time may be of another's.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Target {
    /// The name of an entry.
    pub against: Cow<'static, str>,
    pub at_most: f64,
    /// What is hoped for beyond it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aim: Option<f64>,
}

/// The section of the report that a row is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Group {
    BroadcastOneThread,
    BroadcastAcross,
    Lossless,
    Payload,
    QueueOne,
    QueueMany,
    Latency,
    Memory,
}

/// Where a row stands on the axis of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// What is counted along the axis; rows of the same axis are in one chart.
    pub axis: Cow<'static, str>,
    pub at: u64,
}

pub struct Row {
    pub name: &'static str,
    /// What is done, for the reader of the table.
    pub about: &'static str,
    pub group: Group,
    pub capacity: usize,
    /// Messages in one run.
    pub messages: u64,
    /// Threads that are busy at once.
    pub threads: usize,
    /// Its place among rows that differ in one number, where it has one.
    pub place: Option<Place>,
    pub entries: Vec<Entry>,
    pub targets: Vec<Target>,
}

impl Row {
    pub fn new(name: &'static str, about: &'static str, capacity: usize, messages: u64) -> Self {
        let group = Group::BroadcastOneThread;
        Self {
            name,
            about,
            group,
            capacity,
            messages,
            threads: 1,
            place: None,
            entries: vec![],
            targets: vec![],
        }
    }

    fn on_two_cores(self) -> Self {
        self.threads(2)
    }

    fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    fn at(mut self, axis: &'static str, at: u64) -> Self {
        self.place = Some(Place { axis: axis.into(), at });
        self
    }

    /// Whether it matters how far apart the cores are.
    pub fn crosses_cores(&self) -> bool {
        self.threads > 1
    }

    fn entries(mut self, entries: impl IntoIterator<Item = Entry>) -> Self {
        self.entries.extend(entries);
        self
    }

    fn floor(self, name: &'static str, run: fn(&Plan) -> Sample) -> Self {
        self.entries([Entry { name, kind: Kind::Floor, run }])
    }

    fn other(self, name: &'static str, run: fn(&Plan) -> Sample) -> Self {
        self.entries([Entry { name, kind: Kind::Other, run }])
    }

    fn target(mut self, against: &'static str, at_most: f64) -> Self {
        self.targets.push(Target { against: against.into(), at_most, aim: None });
        self
    }

    fn aim(mut self, ratio: f64) -> Self {
        if let Some(target) = self.targets.last_mut() {
            target.aim = Some(ratio);
        }
        self
    }
}

/// One function, run for each contender, ours first, and where it is for several readers with their number last. Without any that are named, for the lossy rings; with one adapter in
/// their place, for the lossy rings in that adapter.
macro_rules! contenders {
    ($function:ident) => {
        contenders!($function: crate::contenders::Annulus, crate::contenders::PhotonRing)
    };
    ($function:ident, $adapter:ident) => {
        contenders!($function: $adapter<crate::contenders::Annulus>, $adapter<crate::contenders::PhotonRing>)
    };
    ($function:ident: $ours:ty $(, $rival:ty)*) => {
        contenders!(@ $ours, $function::<$ours> $(; $rival, $function::<$rival>)*)
    };
    ($function:ident: $ours:ty $(, $rival:ty)*; $count:ident) => {
        contenders!(@ $ours, $function::<$ours, $count> $(; $rival, $function::<$rival, $count>)*)
    };
    (@ $ours:ty, $run:expr $(; $rival:ty, $rival_run:expr)*) => {{
        use crate::contenders::Named;
        use crate::rows::{Entry, Kind};
        [
            Entry { name: <$ours>::NAME, kind: Kind::Ours, run: $run },
            $(Entry { name: <$rival>::NAME, kind: Kind::Rival, run: $rival_run },)*
        ]
    }};
}
use contenders;

pub fn all() -> Vec<Row> {
    let mut rows = vec![];
    let mut of = |group, more: Vec<Row>| rows.extend(more.into_iter().map(|row| Row { group, ..row }));
    of(Group::BroadcastOneThread, one_thread::rows().into());
    of(Group::BroadcastOneThread, inlining::rows().into());
    of(Group::BroadcastOneThread, vec![group::row(), many_publishers::on_one_thread()]);
    of(Group::BroadcastOneThread, vec![quote::on_one_thread()]);
    of(Group::BroadcastOneThread, fan_out::rows().into());
    of(Group::BroadcastAcross, vec![live::row(), many_publishers::at_once(), quote::market_data()]);
    of(Group::Lossless, lossless::rows().into());
    of(Group::Lossless, events::rows().into());
    of(Group::Payload, page::rows().into());
    of(Group::QueueOne, queue_one::rows().into());
    of(Group::QueueOne, queue_blocks::rows().into());
    of(Group::QueueMany, queue_many::rows().into());
    of(Group::QueueMany, queue_one_order::rows().into());
    of(Group::QueueMany, queue_many_blocks::rows());
    of(Group::QueueMany, queue_shared::rows().into());
    of(Group::Latency, vec![round_trip::row(), wake_up::row()]);
    of(Group::Latency, queue_wake::rows().into());
    of(Group::Latency, latency::rows());
    of(Group::Memory, vec![pool::row()]);
    of(Group::Memory, pool_across::rows().into());
    rows
}

/// Round trips before those that are timed.
pub const WARM_UP: u64 = 1_000;

/// Messages before those that are timed, where a thread has to get going on the other core. Whole batches.
pub const LIVE_WARM_UP: u64 = 320 * BATCH as u64;

/// The sequences of a warm-up, then those of the messages that are timed. One loop runs over both, with the clock started
/// anew before each: with a loop for each, the compiler may inline what is measured into one and not into the other.
pub fn phases(warm_up: u64, messages: u64) -> [Range<u64>; 2] {
    [0..warm_up, warm_up..warm_up + messages]
}

/// Nanoseconds for each of `count` since `begun`.
pub fn ns_each(begun: Instant, count: u64) -> f64 {
    begun.elapsed().as_secs_f64() * 1e9 / count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// Few messages, with all the checks.
    #[test]
    fn every_entry_of_every_row_runs() {
        let cores = Cores::first_two().unwrap();
        crate::cores::pin(cores.here);
        for row in all() {
            let plan = Plan { capacity: row.capacity, messages: row.messages.min(2 * BATCH as u64), cores };
            for entry in &row.entries {
                let sample = (entry.run)(&plan);
                assert!(sample.ns > 0.0, "{}: {}", row.name, entry.name);
                assert!(sample.share.is_none_or(|share| (0.0..=1.0).contains(&share)), "{}", row.name);
            }
        }
    }

    /// A round is asked for by its row's name.
    #[test]
    fn no_two_rows_have_the_same_name() {
        let rows = all();
        let names: BTreeSet<&str> = rows.iter().map(|row| row.name).collect();
        assert_eq!(names.len(), rows.len());
    }

    #[test]
    fn every_row_has_one_entry_of_ours_beside_others_and_whom_its_targets_name() {
        for row in all() {
            let (ours, others): (Vec<&Entry>, _) =
                row.entries.iter().partition(|entry| entry.kind == Kind::Ours);
            assert_eq!(ours.len(), 1, "{}", row.name);
            let names: BTreeSet<&str> = others.iter().map(|entry| entry.name).collect();
            assert!(!names.is_empty() && names.len() == others.len(), "{}", row.name);
            assert!(row.targets.iter().all(|target| names.contains(&*target.against)), "{}", row.name);
        }
    }
}
