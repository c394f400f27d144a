//! What a row is: which contenders run, how much they do, what one run finds, and what it has to reach.

use std::borrow::Cow;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::cores::Cores;
use crate::digits::rounded;
use crate::placement::Placement;

/// How much one run of an entry does, and where.
pub struct Plan {
    pub capacity: usize,
    /// Of a row that counts its messages beforehand.
    pub messages: u64,
    /// Of a row that has so much time and counts afterwards.
    pub span: Duration,
    pub cores: Cores,
    pub placement: Placement,
}

/// What one run of an entry found.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Sample {
    /// Nanoseconds a message.
    pub ns: f64,
    /// Processor time of all threads together, or of the one that the row names, in nanoseconds a message,
    /// where it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_ns: Option<f64>,
    /// The part of the messages that the reader received, where it may lose some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// The part of its work that a thread which is busy on the reader's core loses meanwhile, where a row has
    /// one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub neighbour_lost: Option<f64>,
    /// Latencies in nanoseconds, each with how often it was found, where a row is about them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub latencies: Vec<(u64, u64)>,
}

impl Sample {
    pub fn rounded(self) -> Self {
        let Self { ns, cpu_ns, share, neighbour_lost, latencies } = self;
        Self {
            ns: rounded(ns),
            cpu_ns: cpu_ns.map(rounded),
            share: share.map(rounded),
            neighbour_lost: neighbour_lost.map(rounded),
            latencies,
        }
    }
}

impl From<f64> for Sample {
    fn from(ns: f64) -> Self {
        Self { ns, ..Self::default() }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Ours,
    #[default]
    Rival,
    Floor,
    /// Ours again, used in another way.
    Other,
}

impl Kind {
    /// Most entries are, so a file does not say it.
    pub fn is_rival(&self) -> bool {
        *self == Self::Rival
    }
}

/// A contender of a row, or its floor.
#[derive(Clone, Copy)]
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

/// The most that ours may take of what the best rival takes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Of the time of the rival that takes the least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<f64>,
    /// Of that rival's processor time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu: Option<f64>,
    /// Of the latency at 99 %, beside the rival that has the least.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
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
    ShortLives,
    BeyondThreads,
    Pipelines,
    Statistics,
    Memory,
    Placement,
    NowAndThen,
    BusyMachine,
    Sleepers,
    ManyCores,
    Processes,
}

/// Where a row stands on the axis of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// What is counted along the axis; rows of the same axis are in one chart.
    pub axis: Cow<'static, str>,
    pub at: u64,
}

/// Where a row stands in a table of the same work in several placements.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placed {
    pub work: String,
    pub placement: String,
}

/// One row of the table: what is done, by which contenders, and what is asked of ours.
pub struct Row {
    pub name: Cow<'static, str>,
    /// What is done, for the reader of the table.
    pub about: Cow<'static, str>,
    pub group: Group,
    pub capacity: usize,
    /// Messages in one run; 0 where it runs for a time.
    pub messages: u64,
    /// How long one run is, where that is given.
    pub span: Duration,
    pub placement: Placement,
    /// Where it is one of several that differ in that.
    pub placed: Option<Placed>,
    /// So many rounds are enough.
    pub most_rounds: usize,
    /// Threads that are busy at once.
    pub threads: usize,
    /// Its place among rows that differ in one number, where it has one.
    pub place: Option<Place>,
    pub entries: Vec<Entry>,
    pub targets: Vec<Target>,
    pub limits: Option<Limits>,
}

impl Row {
    pub fn new(
        name: impl Into<Cow<'static, str>>,
        about: impl Into<Cow<'static, str>>,
        capacity: usize,
        messages: u64,
    ) -> Self {
        let group = Group::BroadcastOneThread;
        Self {
            name: name.into(),
            about: about.into(),
            group,
            capacity,
            messages,
            span: Duration::ZERO,
            placement: Placement::Apart,
            placed: None,
            most_rounds: usize::MAX,
            threads: 1,
            place: None,
            entries: vec![],
            targets: vec![],
            limits: None,
        }
    }

    /// What one run of it is to do on `cores`.
    pub fn plan(&self, cores: Cores) -> Plan {
        let &Self { capacity, messages, span, placement, .. } = self;
        Plan { capacity, messages, span, cores, placement }
    }

    pub fn on_two_cores(self) -> Self {
        self.threads(2)
    }

    pub fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    pub fn at(mut self, axis: &'static str, at: u64) -> Self {
        self.place = Some(Place { axis: axis.into(), at });
        self
    }

    /// Whether it matters how far apart the cores are.
    pub fn crosses_cores(&self) -> bool {
        self.cores() > 1
    }

    /// Whether its threads are more than the cores that it has of so many.
    pub fn oversubscribes(&self, cores: usize) -> bool {
        self.threads > if self.placement == Placement::OwnCores { cores } else { cores.min(2) }
    }

    /// Cores without which it can't be what it says.
    pub fn cores(&self) -> usize {
        if self.threads > 1 { self.placement.cores(self.threads) } else { 1 }
    }

    pub fn entries(mut self, entries: impl IntoIterator<Item = Entry>) -> Self {
        self.entries.extend(entries);
        self
    }

    pub fn floor(self, name: &'static str, run: fn(&Plan) -> Sample) -> Self {
        self.entries([Entry { name, kind: Kind::Floor, run }])
    }

    pub fn other(self, name: &'static str, run: fn(&Plan) -> Sample) -> Self {
        self.entries([Entry { name, kind: Kind::Other, run }])
    }

    pub fn target(mut self, against: &'static str, at_most: f64) -> Self {
        self.targets.push(Target { against: against.into(), at_most, aim: None });
        self
    }

    /// What ours may take of the best rival's time.
    pub fn at_most_of_the_best(mut self, time: f64) -> Self {
        self.limits = Some(Limits { time: Some(time), cpu: None, p99: None });
        self
    }

    pub fn most_rounds(mut self, rounds: usize) -> Self {
        self.most_rounds = rounds;
        self
    }

    pub fn aim(mut self, ratio: f64) -> Self {
        if let Some(target) = self.targets.last_mut() {
            target.aim = Some(ratio);
        }
        self
    }
}
