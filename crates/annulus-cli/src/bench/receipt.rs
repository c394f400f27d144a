//! [`Receipt`]: what a subscriber received, and what is wrong with it.

use serde::{Deserialize, Serialize};

use crate::measure::Latency;

/// What came to one subscriber. A process sends it to the one that publishes.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Receipt {
    /// Those of which a message came or was lost, in order.
    pub(super) parts: Vec<PartReceipt>,
    /// In words; empty if all is well.
    pub(super) faults: Vec<String>,
}

/// What came of one part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct PartReceipt {
    /// The number of the part's first message.
    pub(super) start: u64,
    pub(super) received: u64,
    pub(super) lost: u64,
    /// From the first message received to the last.
    pub(super) elapsed_ns: u64,
    /// Of a part whose messages have times.
    pub(super) latency_ns: Option<Latency>,
}

impl Receipt {
    /// What came of the part that begins with message `start`: nothing, if it is not there.
    pub(super) fn part(&self, start: u64) -> PartReceipt {
        let nothing = PartReceipt { start, received: 0, lost: 0, elapsed_ns: 0, latency_ns: None };
        self.parts.iter().find(|part| part.start == start).cloned().unwrap_or(nothing)
    }
}

impl PartReceipt {
    /// How many messages came in a second; 0 where no time has passed.
    #[expect(clippy::cast_precision_loss, reason = "a rate; it is as exact as the time")]
    pub(super) fn messages_per_s(&self) -> f64 {
        // The first message begins the time.
        if self.elapsed_ns == 0 {
            0.0
        } else {
            self.received.saturating_sub(1) as f64 / self.elapsed_ns as f64 * 1e9
        }
    }
}
