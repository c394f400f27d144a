//! [`ChannelStats`]: what a queue looks like at one moment.

use alloc::vec::Vec;

use crate::stats::ProducerStats;

/// What a queue looks like at one moment: the short form of [`Stats`](crate::Stats). Made by
/// [`Consumer::snapshot`](crate::queue::Consumer::snapshot).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChannelStats {
    /// One entry for each producer, in the order of joining. A producer that has left is listed while its
    /// messages lie in a ring that no other producer has taken over.
    pub producers: Vec<ProducerStats>,
    /// Whether the queue is closed.
    pub closed: bool,
}

impl ChannelStats {
    /// How many messages wait to be received.
    #[must_use]
    pub fn pending(&self) -> u64 {
        self.producers.iter().map(|producer| producer.pending).sum()
    }
}
