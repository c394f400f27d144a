//! [`QueueLane`]: what a queue needs of a lane, of any kind.

use super::plan::Plan;
use crate::base::room::Before;
use crate::error::CapacityError;
use crate::lane::Number;
use crate::lane::{Cells, ControlBlock, OneToMany, OneToOne, Own, Peer, Span, StampedSlot};
use crate::memory::Block;

/// What a queue needs of a lane, whichever kind of lane it is.
pub(crate) trait QueueLane: Sized {
    /// What is known of the process on the other side.
    type Peer: Peer;

    /// Whether nothing lies in it, for a consumer of it.
    fn is_quiet(&self) -> bool;

    /// What lies in it. For any thread.
    fn span(&self) -> Span;

    /// The next message to be received. For any thread.
    fn head(&self) -> Number;

    /// Where its slots lie.
    #[cfg(feature = "std")]
    fn block(&self) -> &Block;
}

/// A lane that a queue makes.
pub(crate) trait NewLane: QueueLane {
    /// What its messages lie in.
    type Slots;

    /// The slots of an empty lane, behind what is to be before them.
    fn slots(plan: &Plan, before: Before) -> Result<Self::Slots, CapacityError>;

    /// Writes an empty lane of these slots.
    ///
    /// # Safety
    ///
    /// There is room for it, which nobody else uses.
    unsafe fn write_at(place: *mut Self, slots: Self::Slots, plan: &Plan);

    /// Where the slots lie.
    fn block_of(slots: &mut Self::Slots) -> &mut Block;
}

impl<T, const LONE: bool> NewLane for OneToOne<T, Own<LONE>> {
    type Slots = Cells<T>;

    #[inline(always)]
    fn slots(plan: &Plan, before: Before) -> Result<Self::Slots, CapacityError> {
        OneToOne::<T, Own<LONE>>::slots(plan.capacity, &plan.memory, before)
    }

    #[inline(always)]
    unsafe fn write_at(place: *mut Self, slots: Self::Slots, plan: &Plan) {
        // SAFETY: the caller's promise.
        unsafe { OneToOne::write_at(place, slots, plan.first) };
    }

    #[inline(always)]
    fn block_of(slots: &mut Self::Slots) -> &mut Block {
        slots.block_mut()
    }
}

impl<T> NewLane for OneToMany<T> {
    type Slots = Cells<StampedSlot<T>>;

    #[inline(always)]
    fn slots(plan: &Plan, before: Before) -> Result<Self::Slots, CapacityError> {
        OneToMany::slots(plan.capacity, plan.first, &plan.memory, before)
    }

    #[inline(always)]
    unsafe fn write_at(place: *mut Self, slots: Self::Slots, plan: &Plan) {
        // SAFETY: the caller's promise.
        unsafe { place.write(OneToMany::new(slots, plan.first)) };
    }

    #[inline(always)]
    fn block_of(slots: &mut Self::Slots) -> &mut Block {
        slots.block_mut()
    }
}

impl<T, C: ControlBlock> QueueLane for OneToOne<T, C> {
    type Peer = C::Peer;

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

    #[cfg(feature = "std")]
    fn block(&self) -> &Block {
        self.block()
    }
}

impl<T> QueueLane for OneToMany<T> {
    type Peer = ();

    fn is_quiet(&self) -> bool {
        self.is_empty()
    }

    fn span(&self) -> Span {
        self.span()
    }

    fn head(&self) -> Number {
        self.head()
    }

    #[cfg(feature = "std")]
    fn block(&self) -> &Block {
        self.block()
    }
}
