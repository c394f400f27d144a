//! [`LaneNode`]: a lane in its queue state, and what lies beside it. [`QueueLane`] is what a queue needs of a
//! lane of any kind; [`KeptPlan`] says how the lanes of a queue are to be.
//!
//! An end has its lane by the node, and the queue state by the node's pointer. After a send (lane.send4) it
//! looks at `active` and `state`, which lie on one line behind the lane.

use alloc::boxed::Box;
#[cfg(not(annulus_loom))]
use core::mem::offset_of;
use core::ptr::NonNull;

use super::latency_sampler::LatencySampler;
use crate::base::aligned::OwnLines;
use crate::base::allocation::Before;
use crate::base::free_list::END;
use crate::error::CapacityError;
use crate::lane::{Cells, ControlBlock, Number, OneToMany, OneToOne, OtherSide, Own, Span, StampedSlot};
#[cfg(feature = "std")]
use crate::memory::Block;
use crate::memory::Memory;
use crate::settings::Settings;
use crate::stats::{Counting, Name, ProducerStats};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use crate::wait::{EventCount, WaitStrategy};

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
    /// Whether consumers look at this lane.
    #[inline(always)]
    pub(super) fn is_active(&self) -> bool {
        // Relaxed: two fences decide what it sees, the one before this load, and the one of the consumer
        // that deactivates the lane.
        self.active.load(Ordering::Relaxed)
    }
}

/// What a queue needs of a lane, whichever kind of lane it is.
pub(crate) trait QueueLane: Sized {
    /// What is known of the process on the other side.
    type OtherSide: OtherSide;

    /// Whether nothing lies in it, for a consumer of it.
    fn is_quiet(&self) -> bool;

    /// What lies in it. For any thread.
    fn span(&self) -> Span;

    /// The next message to be received. For any thread.
    fn head(&self) -> Number;

    /// How many messages lie in it. For its producer and its consumers.
    fn len(&self) -> usize;

    /// Where its slots lie.
    #[cfg(feature = "std")]
    fn block(&self) -> &Block;
}

impl<T, C: ControlBlock> QueueLane for OneToOne<T, C> {
    type OtherSide = C::OtherSide;

    #[inline(always)]
    fn is_quiet(&self) -> bool {
        self.tail() == self.head()
    }

    fn span(&self) -> Span {
        self.span()
    }

    fn head(&self) -> Number {
        self.head()
    }

    fn len(&self) -> usize {
        self.len()
    }

    #[cfg(feature = "std")]
    fn block(&self) -> &Block {
        self.block()
    }
}

impl<T> QueueLane for OneToMany<T> {
    type OtherSide = ();

    fn is_quiet(&self) -> bool {
        self.is_empty()
    }

    fn span(&self) -> Span {
        self.span()
    }

    fn head(&self) -> Number {
        (**self).head()
    }

    fn len(&self) -> usize {
        (**self).len()
    }

    #[cfg(feature = "std")]
    fn block(&self) -> &Block {
        (**self).block()
    }
}

/// What a queue keeps of its plan. Constant.
pub(crate) struct KeptPlan {
    pub(super) capacity: usize,
    pub(super) first: Number,
    /// Few queues have options, and those are as large as all else.
    memory: Option<Box<Memory>>,
    pub(super) name: Name,
    pub(super) strategy: WaitStrategy,
}

impl Settings {
    #[inline(always)]
    pub(super) fn kept(&self) -> KeptPlan {
        let Self { capacity, strategy, memory, first, ref name, .. } = *self;
        let memory = memory.asks().then(|| Box::new(memory));
        KeptPlan { capacity, first: Number::new(first), memory, name: name.clone(), strategy }
    }
}

impl KeptPlan {
    /// The settings of another lane, which needs no name.
    pub(super) fn again(&self, counters: &Counting) -> Settings {
        let mut settings = Settings::new(self.capacity).first(self.first.get());
        settings.strategy = self.strategy;
        settings.memory = self.memory.as_deref().copied().unwrap_or_default();
        settings.statistics = counters.is_some();
        settings
    }
}

/// A lane that a queue makes. (Lanes between processes lie in memory that was made before the queue.)
pub(crate) trait NewLane: QueueLane {
    /// What lies in a slot.
    type Cell;

    /// The slots of an empty lane, behind what is to be before them.
    fn slots(plan: &Settings, before: Before) -> Result<Cells<Self::Cell>, CapacityError>;

    /// Writes an empty lane of these slots.
    ///
    /// # Safety
    ///
    /// There is memory for it, which nobody else uses.
    unsafe fn write_at(dst: *mut Self, slots: Cells<Self::Cell>, plan: &Settings);
}

impl<T, const SOLE: bool> NewLane for OneToOne<T, Own<SOLE>> {
    type Cell = T;

    #[inline(always)]
    fn slots(plan: &Settings, before: Before) -> Result<Cells<Self::Cell>, CapacityError> {
        Cells::new(plan.capacity, &plan.memory, before)
    }

    #[inline(always)]
    unsafe fn write_at(dst: *mut Self, slots: Cells<Self::Cell>, plan: &Settings) {
        // SAFETY: the caller's promise.
        unsafe { OneToOne::write_at(dst, slots, Number::new(plan.first)) };
    }
}

impl<T> NewLane for OneToMany<T> {
    type Cell = StampedSlot<T>;

    #[inline(always)]
    fn slots(plan: &Settings, before: Before) -> Result<Cells<Self::Cell>, CapacityError> {
        StampedSlot::slots(plan.capacity, Number::new(plan.first), &plan.memory, before)
    }

    #[inline(always)]
    unsafe fn write_at(dst: *mut Self, slots: Cells<Self::Cell>, plan: &Settings) {
        // SAFETY: the caller's promise.
        unsafe { dst.write(OneToMany::new(slots, Number::new(plan.first))) };
    }
}

impl<L> LaneNode<L> {
    /// A node in an allocation of its own, until [`OwnLines::free`].
    pub(super) fn made(
        lane: impl FnOnce(*mut L),
        index: u32,
        id: u64,
        state: NonNull<()>,
        plan: &Settings,
        released: EventCount,
    ) -> NonNull<Self> {
        let allocation = OwnLines::<Self>::new();
        // SAFETY: the allocation is new, and `dst` is in it.
        unsafe {
            Self::write_at(allocation.dst().as_ptr(), lane, index, id, state, plan, released);
            allocation.filled()
        }
    }

    /// Writes the node with number `index` in the roster, for producer `id`, of the queue state at `state`.
    /// `lane` writes the lane to where it is to be, which nobody else uses.
    ///
    /// # Safety
    ///
    /// There is memory for it, which nobody else uses.
    // Decision 0130: it is written where it stays.
    #[inline(always)]
    pub(super) unsafe fn write_at(
        dst: *mut Self,
        lane: impl FnOnce(*mut L),
        index: u32,
        id: u64,
        state: NonNull<()>,
        plan: &Settings,
        released: EventCount,
    ) {
        // SAFETY: the caller's promise. `lane` writes the lane, and these are all other fields.
        unsafe {
            lane(&raw mut (*dst).lane);
            (&raw mut (*dst).state).write(state);
            // The first lane stays so, if it is the only one.
            (&raw mut (*dst).active).write(AtomicBool::new(index == 0));
            (&raw mut (*dst).has_producer).write(AtomicBool::new(true));
            (&raw mut (*dst).recently_used).write(AtomicBool::new(false));
            (&raw mut (*dst).index).write(index);
            (&raw mut (*dst).released).write(released);
            (&raw mut (*dst).link).write(AtomicU32::new(END));
            (&raw mut (*dst).id).write(AtomicU64::new(id));
            (&raw mut (*dst).base).write(AtomicU64::new(plan.first));
            let sampler = &raw mut (*dst).sampler;
            if plan.statistics {
                sampler.write(Some(LatencySampler::new()));
            } else {
                sampler.write(None);
            }
        }
    }
}

impl<L: QueueLane> LaneNode<L> {
    /// What its producer has done, where `span` lies in the lane. `None` if there is no producer, and
    /// nothing.
    pub(super) fn producer_now(&self, span: Span) -> Option<ProducerStats> {
        // Relaxed, here and below: numbers for statistics. While a producer joins, they may be the
        // numbers of the producer before.
        if !self.has_producer.load(Ordering::Relaxed) && span.count() == 0 {
            return None;
        }
        let base = Number::new(self.base.load(Ordering::Relaxed));
        // An earlier producer sent the messages before its first one.
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
