//! A lane in its queue state: what lies beside the lane.

#[cfg(not(annulus_loom))]
use core::mem::offset_of;
use core::ptr::NonNull;

use super::latency_sampler::LatencySampler;
use super::plan::Plan;
use super::queue_lane::QueueLane;
use crate::base::aligned::OwnLines;
use crate::base::free_list::END;
#[cfg(not(annulus_loom))]
use crate::lane::OneToOne;
use crate::lane::{Number, Span};
use crate::stats::ProducerStats;
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::wait::EventCount;

/// A lane in its queue state.
#[repr(C)]
pub(crate) struct LaneNode<L> {
    pub(super) lane: L,
    /// The queue state, a `Common`. [`state_of`](super::state::state_of) knows its type. Constant.
    pub(super) state: NonNull<()>,
    /// Whether the lane is active: its producer may rely on it that consumers look here. If not, the producer
    /// [activates](super::roster::Roster::activate) the lane.
    pub(super) active: AtomicBool,
    /// Whether a producer has it.
    pub(super) has_producer: AtomicBool,
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
    /// A node in room of its own, until [`OwnLines::free`].
    pub(super) fn made(
        lane: impl FnOnce(*mut L),
        index: u32,
        id: u64,
        state: NonNull<()>,
        plan: &Plan,
        released: EventCount,
    ) -> NonNull<Self> {
        let room = OwnLines::<Self>::new();
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
            (&raw mut (*place).has_producer).write(AtomicBool::new(true));
            (&raw mut (*place).recently_used).write(AtomicBool::new(false));
            (&raw mut (*place).index).write(index);
            (&raw mut (*place).released).write(released);
            (&raw mut (*place).link).write(AtomicU32::new(END));
            (&raw mut (*place).id).write(AtomicU64::new(id));
            (&raw mut (*place).base).write(AtomicU64::new(plan.first.get()));
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

impl<L: QueueLane> LaneNode<L> {
    /// What its producer has done, where `span` lies in the lane. `None` if there is no producer, and
    /// nothing.
    pub(super) fn producer_now(&self, span: Span) -> Option<ProducerStats> {
        // Relaxed, here and below: numbers for whoever asks. While a producer joins, they may be those of the
        // producer before.
        if !self.has_producer.load(Ordering::Relaxed) && span.count() == 0 {
            return None;
        }
        let base = Number::new(self.base.load(Ordering::Relaxed));
        // Messages before its first one are those of an earlier producer.
        let since_base = |number: Number| if number.is_before(base) { 0 } else { number.since(base) };
        Some(ProducerStats {
            id: self.id.load(Ordering::Relaxed),
            sent: since_base(span.tail),
            received: since_base(span.head),
            pending: span.count(),
            latency: self.sampler.as_ref().and_then(LatencySampler::latency),
        })
    }
}
