//! [`Route`]: what a bridge has carried of a ring, and how it is. [`Counters`]: where it is counted.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

use serde::Serialize;

/// Where the messages of a ring go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// From this machine to the network.
    Out,
    /// From the network to this machine.
    In,
}

/// How a route is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RouteState {
    /// It is asked what the ring is.
    Asking,
    /// Messages are carried.
    Open,
    /// The other bridge can't be reached. The far ring stands still.
    Down,
    /// The ring has ended.
    Ended,
    /// The ring is not carried. Why, in words.
    Refused(String),
}

/// A ring that a bridge carries, or has refused to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Route {
    /// Where its messages go.
    pub direction: Direction,
    /// The host where it is published.
    pub host: String,
    /// The ring's name.
    pub name: String,
    /// What the ring is: `lossy`, `mp_lossy`, `lossless`, `frames`, `watch` (newest values), or `service`.
    /// Empty while that is not known, and of what is not carried.
    pub kind: String,
    /// How it is.
    pub state: RouteState,
    /// Messages that were carried: also frames, changes of newest values, and questions that were answered.
    pub messages: u64,
    /// Samples of the network that they were in.
    pub samples: u64,
    /// The bytes of these messages.
    pub bytes: u64,
    /// Messages that were sent once more, because they were lost on the way.
    pub again: u64,
    /// Bridges that get a ring without loss that goes out.
    pub readers: u64,
    /// Messages that are kept because one of these bridges may not have them.
    pub kept: u64,
    /// Messages that were lost before they came here: out, to this bridge; in, on the way.
    pub lagged: u64,
    /// In: samples that were no messages of this ring, and were dropped. Out: messages that ROS 2 has not,
    /// and that went to other bridges only.
    pub corrupt: u64,
    /// Questions of a service that got no answer.
    pub unanswered: u64,
    /// The number of the next message.
    pub next: u64,
    /// In: how long the way to that host and back took, in nanoseconds, a second ago at most.
    pub round_trip_ns: Option<u64>,
}

/// Counts for one route.
#[derive(Debug)]
pub(crate) struct Counters {
    direction: Direction,
    host: String,
    name: String,
    /// Once it is known.
    kind: OnceLock<String>,
    state: Mutex<RouteState>,
    messages: AtomicU64,
    samples: AtomicU64,
    bytes: AtomicU64,
    again: AtomicU64,
    readers: AtomicU64,
    kept: AtomicU64,
    lagged: AtomicU64,
    corrupt: AtomicU64,
    unanswered: AtomicU64,
    next: AtomicU64,
}

impl Counters {
    pub(crate) fn new(direction: Direction, host: &str, name: &str, state: RouteState) -> Self {
        let zero = || AtomicU64::new(0);
        Self {
            direction,
            host: host.into(),
            name: name.into(),
            kind: OnceLock::new(),
            state: Mutex::new(state),
            messages: zero(),
            samples: zero(),
            bytes: zero(),
            again: zero(),
            readers: zero(),
            kept: zero(),
            lagged: zero(),
            corrupt: zero(),
            unanswered: zero(),
            next: zero(),
        }
    }

    // (All of these are Relaxed: numbers to be shown, which order nothing.)

    /// A sample with so many messages.
    pub(crate) fn carried(&self, messages: u64, bytes: u64) {
        self.messages.fetch_add(messages, Ordering::Relaxed);
        self.bytes.fetch_add(bytes, Ordering::Relaxed);
        self.samples.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn sent_again(&self, messages: u64) {
        self.again.fetch_add(messages, Ordering::Relaxed);
    }

    pub(crate) fn keeps(&self, messages: u64, readers: u64) {
        self.kept.store(messages, Ordering::Relaxed);
        self.readers.store(readers, Ordering::Relaxed);
    }

    pub(crate) fn lagged(&self, messages: u64) {
        self.lagged.fetch_add(messages, Ordering::Relaxed);
    }

    pub(crate) fn corrupt(&self) {
        self.corrupt.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn unanswered(&self) {
        self.unanswered.fetch_add(1, Ordering::Relaxed);
    }

    /// What the ring is, which does not change.
    pub(crate) fn is(&self, kind: &str) {
        _ = self.kind.set(kind.into());
    }

    /// The number of the next message.
    pub(crate) fn go_to(&self, next: u64) {
        self.next.store(next, Ordering::Relaxed);
    }

    pub(crate) fn next(&self) -> u64 {
        self.next.load(Ordering::Relaxed)
    }

    /// Returns whether it was another one.
    pub(crate) fn set(&self, state: RouteState) -> bool {
        let mut now = self.state.lock().expect("no panic while it is set");
        let is_new = *now != state;
        *now = state;
        is_new
    }

    pub(crate) fn state(&self) -> RouteState {
        self.state.lock().expect("no panic while it is set").clone()
    }

    pub(crate) fn route(&self) -> Route {
        let of = |number: &AtomicU64| number.load(Ordering::Relaxed);
        Route {
            direction: self.direction,
            host: self.host.clone(),
            name: self.name.clone(),
            kind: self.kind.get().cloned().unwrap_or_default(),
            state: self.state(),
            messages: of(&self.messages),
            samples: of(&self.samples),
            bytes: of(&self.bytes),
            again: of(&self.again),
            readers: of(&self.readers),
            kept: of(&self.kept),
            lagged: of(&self.lagged),
            corrupt: of(&self.corrupt),
            unanswered: of(&self.unanswered),
            next: of(&self.next),
            round_trip_ns: None,
        }
    }
}
