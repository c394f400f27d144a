//! [`Stats`]: what a pipeline has done so far. It is read from counters, each of which has one writer, a
//! thread of the pipeline.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::graph::{Graph, Node, RingKind};
use crate::sync::{AtomicU64, Ordering};

/// What a pipeline has done so far; made by [`Pipeline::stats`](super::Pipeline::stats).
///
/// The numbers are taken one after the other while the stages run. So they may differ by the messages that
/// move meanwhile. Once the pipeline has ended, the numbers of messages and of batches are exact, and no
/// number changes any more, except that an output is still received from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Stats {
    /// One for each stage, in the order of [`Graph::stages`].
    pub stages: Vec<StageStats>,
    /// One for each edge, in the order of [`Graph::edges`].
    pub edges: Vec<EdgeStats>,
}

/// What a stage has done so far.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StageStats {
    /// The name of the stage.
    pub name: String,
    /// How many messages it has received. A pair counts as two.
    pub received: u64,
    /// How many messages it has sent. A message that goes to several branches through one ring counts once.
    pub sent: u64,
    /// How many batches it has received: how often its function was called. A [stage of
    /// batches](super::Stages::then_batch) gets several messages at once, and any other stage one.
    pub batches: u64,
    /// How long its threads worked on messages, all together. Where less than 8 messages are there at a time
    /// and take less than a microsecond, one time in 8 is measured and counts for all, so this is an
    /// estimate.
    pub busy: Duration,
    /// How long its threads waited, for messages or for room, all together: the rest of the time from the
    /// build to their end.
    pub waiting: Duration,
}

/// What has passed an edge so far.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EdgeStats {
    /// The name of the stage that sends, or `input`.
    pub from: String,
    /// The name of the stage that receives, or of the output.
    pub to: String,
    /// What the ring is.
    pub ring: RingKind,
    /// How many messages `from` has sent into the ring. 0 at a [source](super::Builder::source), where others
    /// send.
    pub sent: u64,
    /// How many messages `to` has received from the ring. If several send into one ring, this counts the
    /// messages of all.
    pub received: u64,
    /// How many messages `to` has lost: those that were overwritten before it received them. Always 0, except
    /// at a [lossy](super::Stages::lossy) edge, and at a [source](super::Builder::source) that loses
    /// messages. (Of a source, those that it knew of when it received last.)
    pub lost: u64,
    /// How many messages `to` has yet to receive from the ring, of all its writers: how far it lags behind. 0
    /// once `to` has ended, or was dropped: then what was left is dropped, too, and counts as sent only. At a
    /// [source](super::Builder::source), how many were left when it last waited or ended, or 0 where the
    /// handle can't tell: a [group](crate::broadcast::SubscriberGroup) can, a [consumer of
    /// bytes](crate::queue::bytes::Consumer) and a [subscriber of a pattern](crate::bus::MatchingSubscriber)
    /// can't.
    pub depth: u64,
}

/// The statistics of an edge, of the numbers of all edges of its ring.
pub(super) fn edge(graph: &Graph, index: usize, numbers: &[EdgeNumbers]) -> EdgeStats {
    let info = &graph.edges[index];
    let EdgeNumbers { sent, received, mut lost, waiting, taken, is_over } = numbers[index];
    // All writers of the same reader of the ring; or the readers among whom the ring divides its messages.
    let of_ring = || graph.edges.iter().zip(numbers).filter(|(edge, _)| edge.ring_id == info.ring_id);
    let all_sent: u64 = of_ring().filter(|(edge, _)| edge.to == info.to).map(|(_, n)| n.sent).sum();
    let waiting = waiting.unwrap_or(0);
    let (received, mut depth) = match (info.to, taken) {
        // A snapshot may be behind what was sent meanwhile.
        (Node::Output(_), Some(taken)) => (taken.min(all_sent), 0),
        (Node::Output(_), None) => (all_sent.saturating_sub(waiting), waiting),
        _ if info.ring == RingKind::Source => (received, waiting),
        _ if is_over => (received, 0),
        _ if info.ring == RingKind::Ordered => (received, waiting),
        _ => (received, all_sent.saturating_sub(received + lost)),
    };
    if info.ring == RingKind::Lossy {
        // The reader finds out at its next receive.
        let overwritten = depth.saturating_sub(info.capacity as u64);
        (depth, lost) = (depth - overwritten, lost + overwritten);
    }
    EdgeStats {
        from: graph.name(info.from),
        to: graph.name(info.to),
        ring: info.ring,
        sent,
        received,
        lost,
        depth,
    }
}

/// What was counted at an edge.
#[derive(Clone, Copy, Default)]
pub(super) struct EdgeNumbers {
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) lost: u64,
    /// How many messages lie in the ring, if it can say so.
    pub(super) waiting: Option<u64>,
    /// Of an output that was dropped: how many messages it had received.
    pub(super) taken: Option<u64>,
    /// Whether the stage that receives has ended. What was left for it is dropped.
    pub(super) is_over: bool,
}

/// A number that one thread counts up and others read now and then.
#[derive(Default)]
pub(super) struct Counter(AtomicU64);

impl Counter {
    /// Adds `count`. Only one thread may do that.
    #[inline]
    pub(super) fn add(&self, count: u64) {
        // Relaxed: there is one writer.
        let number = self.0.load(Ordering::Relaxed);
        // Release: pairs with `get`. A thread that reads that a message was sent finds it in the ring, too.
        self.0.store(number + count, Ordering::Release);
    }

    /// Replaces the number.
    pub(super) fn set(&self, number: u64) {
        // Release: pairs with `get`, as above.
        self.0.store(number, Ordering::Release);
    }

    /// The number, which may be behind its writer.
    pub(super) fn get(&self) -> u64 {
        // Acquire: pairs with `add` and `set`.
        self.0.load(Ordering::Acquire)
    }
}

/// What a writer of a ring has put into it. Writers and readers do not share cache lines.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct SentCount(pub(super) Counter);

/// What a reader of a ring has taken from it, and lost.
#[derive(Default)]
#[repr(align(128))]
#[allow(clippy::struct_field_names, reason = "it is what this one counts")]
pub(super) struct ReadCounts {
    pub(super) received: Counter,
    pub(super) lost: Counter,
    /// How many messages were left there, where only the reader can say so.
    pub(super) left: Counter,
}

/// What a thread of a stage has done.
#[derive(Default)]
#[repr(align(128))]
pub(super) struct Work {
    /// How often it has called its function.
    pub(super) calls: Counter,
    /// How long that took, in nanoseconds.
    pub(super) busy_ns: Counter,
    /// When it ended, in nanoseconds since the build; 0 before.
    pub(super) ended_ns: Counter,
}
