//! [`LaneShare`]: how an end reaches its lane, and keeps the queue alive.

use core::ops::Deref;
use core::ptr::NonNull;

use super::node::{LaneNode, NewLane, QueueLane};
use super::plan::Plan;
use super::roster::Round;
use super::state::QueueState;
use crate::base::common::Common;
use crate::error::CapacityError;
use crate::wait::EventCount;
#[cfg(feature = "shm")]
use crate::wait::Remote;

/// A share in a queue state, and a reference to one of its lane nodes: what a `Common` of the one and a
/// reference to the other would be, in one pointer. Each end of a lane has one, and nothing else keeps a
/// queue state alive.
// Decision 0004: a handle has no more than four numbers.
pub(super) struct LaneShare<L: QueueLane> {
    /// A node of a queue state of which this owns one share. A node lives as long as its queue state.
    node: NonNull<LaneNode<L>>,
}

// SAFETY: as an `Arc` of the queue state, and a shared reference to a part of it.
unsafe impl<L: QueueLane + Send + Sync> Send for LaneShare<L> {}
// SAFETY: as above.
unsafe impl<L: QueueLane + Send + Sync> Sync for LaneShare<L> {}

impl<L: QueueLane> LaneShare<L> {
    /// The first two shares in a new queue state, which has one lane, of these slots. The lane is active. The
    /// queue state counts one producer and one consumer, which are still to be made.
    #[inline(always)]
    pub(super) fn first(mut slots: L::Slots, plan: &Plan) -> [Self; 2]
    where
        L: NewLane<Peer = ()>,
    {
        let room = L::block_of(&mut slots).room_before();
        // SAFETY: `made` has room for it.
        let lane = |place| unsafe { L::write_at(place, slots, plan) };
        QueueState::made(room, plan, [EventCount::counting; 2], lane, 1, ()).map(Self::of_first)
    }

    /// The first share in a new queue state, whose other side is of another process, and which has the lane
    /// `first` and those of `others`. The queue state counts a handle of the other side, too. All lanes are
    /// active. The consumer sleeps at `published`, and each producer at the place that comes with its lane.
    #[cfg(feature = "shm")]
    pub(super) fn across(
        plan: Plan,
        first: (L, Remote),
        others: impl IntoIterator<Item = (L, Remote)>,
        published: Remote,
        peer: L::Peer,
    ) -> Self {
        let (lane, released) = first;
        let event = |remote| |counters| EventCount::across(remote, counters);
        let events = [published, released].map(event);
        // SAFETY: `made` has room for it.
        let lane = |place: *mut L| unsafe { place.write(lane) };
        let [state] = QueueState::made(Common::room(), &plan, events, lane, 0, peer);
        for ((lane, released), number) in others.into_iter().zip(1..) {
            let released = EventCount::across(released, state.counters.clone());
            // SAFETY: `add_lane` has room for it.
            state.roster.activate(state.add_lane(|place| unsafe { place.write(lane) }, released, number));
        }
        Self::of_first(state)
    }

    /// A share at the first lane.
    #[inline(always)]
    fn of_first(state: Common<QueueState<L>>) -> Self {
        let node = NonNull::from(state.roster.first());
        // `give_up` drops it.
        let _ = state.into_raw();
        Self { node }
    }

    /// A share in the same queue state, with a lane for a producer that joins.
    pub(super) fn join(&self) -> Result<Self, CapacityError>
    where
        L: NewLane,
    {
        let node = NonNull::from(self.state().lane_for_producer()?);
        // (A clone, with another node of the same queue state.)
        let mut share = self.clone();
        share.node = node;
        Ok(share)
    }

    #[inline(always)]
    pub(super) fn state(&self) -> &QueueState<L> {
        state_of(self)
    }

    /// Moves on to the next lane of `round` that `is_wanted` accepts, and returns its number. Stays where it
    /// is if there is none.
    #[inline(always)]
    pub(super) fn move_on(
        &mut self,
        round: &mut Round,
        mut is_wanted: impl FnMut(&LaneNode<L>) -> bool,
    ) -> Option<usize> {
        loop {
            let (index, node) = self.state().roster.next(round)?;
            if is_wanted(node) {
                self.node = NonNull::from(node);
                return Some(index);
            }
        }
    }
}

/// The queue state that `node` belongs to.
#[inline(always)]
pub(super) fn state_of<L: QueueLane>(node: &LaneNode<L>) -> &QueueState<L> {
    // SAFETY: `QueueState::lane_for_producer` put the address of the queue state there. Whoever borrows a
    // node has borrowed a share, or the queue state, which the node is a part of.
    unsafe { node.state.cast().as_ref() }
}

impl<L: QueueLane> Deref for LaneShare<L> {
    type Target = LaneNode<L>;

    #[inline(always)]
    fn deref(&self) -> &LaneNode<L> {
        // SAFETY: this has a share in the node's queue state. A node is only borrowed shared.
        unsafe { self.node.as_ref() }
    }
}

impl<L: QueueLane> Clone for LaneShare<L> {
    fn clone(&self) -> Self {
        // SAFETY: the address is that of a `Common`, of which this owns a share.
        let _ = unsafe { Common::another(self.state.cast::<QueueState<L>>()) }.into_raw();
        Self { node: self.node }
    }
}

impl<L: QueueLane> Drop for LaneShare<L> {
    #[inline(always)]
    fn drop(&mut self) {
        give_up(self.node);
    }
}

/// By value, so that an end has no address (decision 0002).
#[cold]
#[inline(never)]
fn give_up<L: QueueLane>(node: NonNull<LaneNode<L>>) {
    // SAFETY: the share that is given up here is still there.
    let state = unsafe { node.as_ref() }.state;
    // SAFETY: the address is that of a `Common`, and the share is given up once: it is being dropped.
    drop(unsafe { Common::from_raw(state.cast::<QueueState<L>>()) });
}
