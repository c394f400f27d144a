//! How a producer waits for a free slot in its lane, whichever kind of lane that is.

use super::node::LaneNode;
use super::state::QueueState;
use crate::error::Refusal;
use crate::wait::{Deadline, Event, Look, Wait, WaitStrategy, WriterBackoff, wait_until};

/// Waits for a free slot of `node`, and returns how many slots `count_free` then found free. For a few looks
/// it waits until there are `preferred` of them. Returns [`Refusal::Full`] once `deadline` has passed.
#[cold]
#[inline(never)]
pub(super) fn wait_for_free_slot<L>(
    state: &QueueState<L>,
    node: &LaneNode<L>,
    preferred: u64,
    count_free: impl Fn(&L) -> u64,
    strategy: WaitStrategy,
    deadline: Deadline,
) -> Result<u64, Refusal> {
    let backoff = WriterBackoff::new(preferred, deadline);
    wait_until(&mut FullLane { state, node, count_free, backoff }, strategy, deadline)
        .unwrap_or(Err(Refusal::Full))
}

/// A producer whose lane is full.
struct FullLane<'a, L, R> {
    state: &'a QueueState<L>,
    node: &'a LaneNode<L>,
    count_free: R,
    backoff: WriterBackoff,
}

impl<L, R: Fn(&L) -> u64> Wait for FullLane<'_, L, R> {
    type Found = Result<u64, Refusal>;

    fn event(&self) -> &Event {
        &self.node.released
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
