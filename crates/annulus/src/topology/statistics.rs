//! [`Statistics`]: what a pipeline has done so far.

use alloc::string::String;
use alloc::vec::Vec;
use core::time::Duration;

use super::graph::{Graph, Node, RingKind};

/// What a pipeline has done so far; made by [`Pipeline::statistics`](super::Pipeline::statistics).
///
/// The numbers are taken one after the other while the stages run. So they may differ by the messages that
/// move meanwhile, and each is what it was at some moment of the call. Once the pipeline has ended, they are
/// exact.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// One for each stage, in the order of [`Graph::stages`].
    pub stages: Vec<StageStatistics>,
    /// One for each edge, in the order of [`Graph::edges`].
    pub edges: Vec<EdgeStatistics>,
}

/// What a stage has done so far.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct StageStatistics {
    /// The name of the stage.
    pub name: String,
    /// How many messages it has received. A pair counts as two.
    pub received: u64,
    /// How many messages it has sent. A message that goes to several branches through one ring counts once.
    pub sent: u64,
    /// How many batches it has received.
    pub batches: u64,
    /// How long its threads worked on messages, all together. Of batches of less than 8 messages, one in 8 is
    /// measured and counts for all, so this is an estimate. It includes waiting for room where a stage makes
    /// more than 256 results of one batch.
    pub busy: Duration,
    /// How long its threads waited, for messages or for room: the rest of the time since the build.
    pub waiting: Duration,
}

/// What has passed an edge so far.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct EdgeStatistics {
    /// The name of who sends.
    pub from: String,
    /// The name of who receives.
    pub to: String,
    /// What the ring is.
    pub ring: RingKind,
    /// How many messages `from` has sent into the ring. 0 at a [source](super::Builder::source), where others
    /// send.
    pub sent: u64,
    /// How many messages `to` has received from the ring. If several send into one ring, this counts the
    /// messages of all.
    pub received: u64,
    /// How many messages `to` has lost. Always 0, except at a [lossy](super::Stages::lossy) edge.
    pub lost: u64,
    /// How many messages `to` has yet to receive from the ring, whoever sent them: how far it lags behind.
    pub depth: u64,
}

/// The statistics of an edge, of the numbers of all edges of its ring.
pub(super) fn edge(graph: &Graph, index: usize, numbers: &[EdgeNumbers]) -> EdgeStatistics {
    let info = &graph.edges[index];
    let EdgeNumbers { sent, received, lost, waiting } = numbers[index];
    // All who send to the same reader of the ring; or the readers among whom the ring divides its messages.
    let of_ring = || graph.edges.iter().zip(numbers).filter(|(edge, _)| edge.ring_id == info.ring_id);
    let all_sent: u64 = of_ring().filter(|(edge, _)| edge.to == info.to).map(|(_, n)| n.sent).sum();
    let (received, depth) = match (info.to, waiting) {
        (Node::Output(_), Some(waiting)) => (all_sent.saturating_sub(waiting), waiting),
        (Node::Output(_), None) => (all_sent, 0),
        _ if info.ring == RingKind::Source => (received, 0),
        _ if info.ring == RingKind::Shared => (received, waiting.unwrap_or(0)),
        _ => (received, all_sent.saturating_sub(received + lost)),
    };
    EdgeStatistics {
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
#[derive(Clone, Copy)]
pub(super) struct EdgeNumbers {
    pub(super) sent: u64,
    pub(super) received: u64,
    pub(super) lost: u64,
    /// How many messages lie in the ring, if it can say so.
    pub(super) waiting: Option<u64>,
}
