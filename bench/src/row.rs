//! What a row is: who runs, how much they do, what one run finds, and what it has to reach.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::cores::Cores;

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

/// One row of the table: what is done, by whom, and what is asked of ours.
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
        self.threads > 1
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

    pub fn aim(mut self, ratio: f64) -> Self {
        if let Some(target) = self.targets.last_mut() {
            target.aim = Some(ratio);
        }
        self
    }
}
