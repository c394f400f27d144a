//! [`LaneNode`]: a lane in its queue state, and what lies beside it. [`LaneShare`]: how an end reaches its
//! lane, and keeps the queue alive.
//!
//! ```text
//! an end                          the queue state
//! ┌───────────────────┐          ┌──────────────────────────────────────────────────┐
//! │ LaneShare: a node │─────────▶│ LaneNode: the lane │ active, released │ state ──┐ │
//! │ its own numbers   │          │ published, roster …  ◀────────────────────────┘ │
//! └───────────────────┘          └──────────────────────────────────────────────────┘
//! ```
//!
//! So the lane is one step from an end, and the queue state another one.

#[cfg(not(annulus_loom))]
use core::mem::offset_of;
use core::ops::Deref;
use core::ptr::NonNull;

use super::latency_sampler::LatencySampler;
use super::plan::Plan;
use super::queue_lane::{NewLane, QueueLane};
use super::roster::Round;
use super::state::QueueState;
use crate::base::aligned::Aligned;
use crate::base::common::Common;
use crate::base::free_list::END;
use crate::error::CapacityError;
#[cfg(not(annulus_loom))]
use crate::lane::OneToOne;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::wait::EventCount;
#[cfg(feature = "shm")]
use crate::wait::Remote;

/// A lane in its queue state.
#[repr(C)]
pub(crate) struct LaneNode<L> {
    pub(super) lane: L,
    /// The queue state, a `Common`. [`state_of`] knows its type. Constant.
    pub(super) state: NonNull<()>,
    /// Whether the lane is active: its producer may rely on it that consumers look here. If not, the producer
    /// [activates](super::roster::Roster::activate) the lane.
    pub(super) active: AtomicBool,
    /// Whether a consumer has found something here since lanes were last deactivated. A hint, which consumers
    /// write.
    pub(super) recently_used: AtomicBool,
    /// Its number in the roster. Constant.
    pub(super) index: u32,
    /// Where its producer sleeps.
    pub(super) released: EventCount,
    /// The number of the lane below it on the free list.
    pub(super) link: AtomicU32,
    /// The number of its producer, in the order of joining.
    pub(super) id: AtomicU64,
    /// The number of its producer's first message.
    pub(super) base: AtomicU64,
    /// Whether a producer has it.
    pub(super) has_producer: AtomicBool,
    /// Measures how long messages take, where that is asked for.
    pub(super) sampler: Option<LatencySampler>,
}

// What a producer looks at after a send (lane.send4) is one line, and not the lane's (docs/LAYOUT.md).
#[cfg(not(annulus_loom))]
const _: () = {
    assert!(offset_of!(LaneNode<OneToOne<u64>>, state) == size_of::<OneToOne<u64>>());
    assert!(offset_of!(LaneNode<OneToOne<u64>>, active) < offset_of!(LaneNode<OneToOne<u64>>, state) + 64);
};

impl<L> LaneNode<L> {
    /// A node in room of its own, until [`Aligned::free`].
    pub(super) fn made(
        lane: impl FnOnce(*mut L),
        index: u32,
        id: u64,
        state: NonNull<()>,
        plan: &Plan,
        released: EventCount,
    ) -> NonNull<Self> {
        let room = Aligned::<Self>::room();
        // SAFETY: the room is new, and the place is in it.
        unsafe {
            Self::write_at(room.place().as_ptr(), lane, index, id, state, plan, released);
            room.filled()
        }
    }

    /// Writes the node with number `index` in the roster, for producer `id`, of the queue state at `state`.
    /// `lane` writes the lane to its place, which nobody else uses.
    ///
    /// # Safety
    ///
    /// There is room for it, which nobody else uses.
    // Decision 0130: it is written where it stays.
    #[inline(always)]
    pub(super) unsafe fn write_at(
        place: *mut Self,
        lane: impl FnOnce(*mut L),
        index: u32,
        id: u64,
        state: NonNull<()>,
        plan: &Plan,
        released: EventCount,
    ) {
        // SAFETY: the caller's promise. `lane` writes the lane, and these are all other fields.
        unsafe {
            lane(&raw mut (*place).lane);
            (&raw mut (*place).state).write(state);
            // The first lane stays so, if it is the only one.
            (&raw mut (*place).active).write(AtomicBool::new(index == 0));
            (&raw mut (*place).recently_used).write(AtomicBool::new(false));
            (&raw mut (*place).index).write(index);
            (&raw mut (*place).released).write(released);
            (&raw mut (*place).link).write(AtomicU32::new(END));
            (&raw mut (*place).id).write(AtomicU64::new(id));
            (&raw mut (*place).base).write(AtomicU64::new(plan.first.get()));
            (&raw mut (*place).has_producer).write(AtomicBool::new(true));
            let sampler = &raw mut (*place).sampler;
            if plan.statistics {
                sampler.write(Some(LatencySampler::new()));
            } else {
                sampler.write(None);
            }
        }
    }

    /// Whether consumers look at this lane.
    #[inline(always)]
    pub(super) fn is_active(&self) -> bool {
        // Relaxed: two fences decide what it sees, the one before this load and that of whoever deactivates
        // the lane.
        self.active.load(Ordering::Relaxed)
    }
}

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
