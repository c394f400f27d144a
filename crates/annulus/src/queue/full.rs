//! How a producer waits for a free slot in its lane, whichever kind of lane that is.

use super::lane_node::{LaneNode, QueueLane};
use super::state::QueueState;
use crate::error::Refusal;
use crate::sync::AtomicU64;
use crate::wait::{Deadline, EventCount, Look, Wait, WaitStrategy, WriterBackoff, wait_until};

/// Waits for a free slot of `node`, and returns how many slots `count_free` then found free: `freed` is the
/// word that changes when the first of them becomes free. For a few looks it waits until there are
/// `preferred` of them. Returns [`Refusal::Full`] once `deadline` has passed.
#[cold]
#[inline(never)]
pub(super) fn wait_for_free_slot<L: QueueLane>(
    state: &QueueState<L>,
    node: &LaneNode<L>,
    preferred: u64,
    count_free: impl Fn(&L) -> u64,
    freed: &AtomicU64,
    strategy: WaitStrategy,
    deadline: Deadline,
) -> Result<u64, Refusal> {
    if let Some(counters) = &state.counters {
        counters.saw_waiting(state.plan.capacity as u64);
    }
    let backoff = WriterBackoff::new(preferred, deadline);
    wait_until(&mut FullLane { state, node, count_free, freed, backoff }, strategy, deadline)
        .unwrap_or(Err(Refusal::Full))
}

/// A producer whose lane is full.
struct FullLane<'a, L: QueueLane, R> {
    state: &'a QueueState<L>,
    node: &'a LaneNode<L>,
    count_free: R,
    freed: &'a AtomicU64,
    backoff: WriterBackoff,
}

impl<L: QueueLane, R: Fn(&L) -> u64> Wait for FullLane<'_, L, R> {
    type Found = Result<u64, Refusal>;

    fn event(&self) -> &EventCount {
        &self.node.released
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.freed)
    }

    fn backoff(&mut self) -> Option<&mut WriterBackoff> {
        Some(&mut self.backoff)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        if self.state.is_closed() {
            return Look::Found(Err(Refusal::Closed));
        }
        let free = (self.count_free)(&self.node.lane);
        self.backoff.judge(free, Ok(free))
    }
}
