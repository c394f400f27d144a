//! [`ChannelStats`]: what a queue looks like at one moment.

use alloc::vec::Vec;

/// What a queue looks like at one moment; made by [`Consumer::snapshot`](crate::queue::Consumer::snapshot).
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

/// One producer's part of [`ChannelStats`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProducerStats {
    /// The number of the producer. Producers are numbered from 0 in the order of joining.
    pub id: u64,
    /// How many messages it has sent.
    pub sent: u64,
    /// How many of those were received.
    pub received: u64,
    /// How many messages lie in its ring, including those that the ring's previous producer left there. Never
    /// more than the capacity.
    pub pending: u64,
    /// How long messages lay in its ring. `None` if `Builder::statistics` is off, or nothing was measured
    /// yet.
    pub latency: Option<Latency>,
}

/// How long messages lay in a ring, in nanoseconds: from just before the send until the consumer came to the
/// message. If the consumer took many messages at once, the time ends when it next looked for more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Latency {
    /// How many messages were measured.
    pub samples: u64,
    /// The shortest time.
    pub min_ns: u64,
    /// The mean.
    pub mean_ns: u64,
    /// The longest time.
    pub max_ns: u64,
}
