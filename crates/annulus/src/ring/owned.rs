//! Storage for messages that stay in their slots: any `T`, made once, changed in place, read by reference.
//!
//! ```text
//! writer                                            reader
//! owned.write1  gate: all readers are done with     owned.read4  stamp = done(s)?        Acquire
//!               the message a lap before  Acquire   owned.read5  read by `&T`
//! owned.write7  one writer: stamp := writing(s),
//!               and look whether the ring ends
//! owned.write2  change by `&mut T`                  owned.read6  cursor := s + 1         Release
//! owned.write3  stamp := done(s)          Release
//! ```
//!
//! owned.write7 announces the message to a thread that closes the ring (`end.rs`), and to no other. Where
//! owned.write2 panics, it is taken back (owned.write8): the slot gets the stamp of the lap before again, for
//! which nobody looks any more, because all readers are past it (owned.write1). This is the one case in which
//! a stamp does not grow.
//!
//! There is no second look at the stamp: a reader and a writer never meet in a slot, because the gate
//! (`gate.rs`) keeps the writer a lap behind every cursor. owned.write3 and owned.read4 give the value to the
//! readers, owned.read6 and owned.write1 give it back.

use core::ptr::NonNull;

use super::{Slots, Store, Strided, Writers};
use crate::base::allocation::Before;
use crate::base::sequence::{Sequence, Stamp};
use crate::error::CapacityError;
use crate::memory::{Block, Memory, UnitBlock};
use crate::sync::{AtomicU64, Ordering, UnsafeCell, ordering};

/// A slot: the stamp, and the value that lives there.
pub(crate) struct OwnedSlot<T> {
    stamp: AtomicU64,
    value: UnsafeCell<T>,
}

/// Slots with a value each.
pub(crate) struct Owned<T> {
    slots: UnitBlock<OwnedSlot<T>>,
}

// SAFETY: the values are dropped where the store is, and move between threads in place: that takes `T: Send`.
unsafe impl<T: Send> Send for Owned<T> {}
// SAFETY: a shared store lets one thread at a time change a value (`T: Send`), and several read it by
// reference at once (`T: Sync`).
unsafe impl<T: Send + Sync> Sync for Owned<T> {}

impl<T> Owned<T> {
    /// Of a slot.
    const UNITS: usize = 1;

    /// `capacity` values from `factory`, in `memory`.
    pub(crate) fn new(
        capacity: usize,
        memory: &Memory,
        before: Before,
        mut factory: impl FnMut() -> T,
    ) -> Result<Self, CapacityError> {
        let slot = || OwnedSlot { stamp: AtomicU64::new(0), value: UnsafeCell::new(factory()) };
        let slots = UnitBlock::new(capacity, memory, before, slot)
            .map_err(|refused| CapacityError::of_block(refused, capacity, size_of::<OwnedSlot<T>>()))?;
        Ok(Self { slots })
    }
}

impl<T> Strided for Owned<T> {
    fn stride(_: Writers) -> usize {
        Self::UNITS
    }
}

impl<T> Store for Owned<T> {
    type Unit = OwnedSlot<T>;

    const STRIDE: Option<usize> = Some(Self::UNITS);

    fn start(&self) -> NonNull<OwnedSlot<T>> {
        self.slots.start()
    }

    #[inline(always)]
    fn block_mut(&mut self) -> &mut Block {
        self.slots.block_mut()
    }

    #[cfg(feature = "std")]
    fn block(&self) -> &Block {
        self.slots.block()
    }

    #[inline]
    unsafe fn stamp<'a>(start: NonNull<OwnedSlot<T>>, at: usize) -> &'a AtomicU64 {
        // SAFETY: there are as many slots as the ring has capacity, and the caller keeps them alive.
        unsafe { &(*start.as_ptr().add(at)).stamp }
    }
}

impl<T> Slots<Owned<T>> {
    /// The slot that message `sequence` uses, whatever it holds now.
    ///
    /// # Safety
    ///
    /// The ring lives for `'a`.
    #[inline]
    unsafe fn slot<'a>(self, sequence: Sequence) -> &'a OwnedSlot<T> {
        // SAFETY: the ring lives, and the index is below its capacity, which is the number of slots.
        unsafe { &*self.start.as_ptr().add(self.index_of(sequence)) }
    }

    /// owned.write7: announces message `sequence`.
    ///
    /// # Safety
    ///
    /// The ring lives; the caller is its one writer, and comes to `sequence` next.
    #[inline]
    pub(crate) unsafe fn announce(self, sequence: Sequence) {
        // SAFETY: the ring lives. Release: pairs with the look at the stamps; a thread that sees it sees the
        // messages before it.
        unsafe { self.slot(sequence) }.stamp.store(Stamp::writing(sequence).bits(), Ordering::Release);
    }

    /// owned.write8: takes back what [`announce`](Self::announce) did.
    ///
    /// # Safety
    ///
    /// As of that, and the ring has that `capacity`.
    pub(crate) unsafe fn take_back(self, sequence: Sequence, capacity: usize) {
        let before = Stamp::of_the_lap_before(sequence, capacity);
        // SAFETY: the ring lives. Release: as of owned.write7.
        unsafe { self.slot(sequence) }.stamp.store(before.bits(), Ordering::Release);
    }

    /// owned.write2: lets `change` at the value in the slot of `sequence`.
    ///
    /// # Safety
    ///
    /// The ring lives. The caller alone may write message `sequence`, and every reader is done with the
    /// message a lap before (owned.write1): no other handle looks at the value until
    /// [`finish`](Self::finish). Or the message is there, and no handle will look at it any more
    /// ([`Gate::take_clearable`](super::Gate::take_clearable)).
    #[inline]
    pub(crate) unsafe fn change<R>(self, sequence: Sequence, change: impl FnOnce(&mut T) -> R) -> R {
        // SAFETY: the ring lives; the caller has the value to itself.
        unsafe { self.slot(sequence) }.value.with_mut(|value| change(unsafe { &mut *value }))
    }

    /// owned.write3: makes message `sequence` visible to readers.
    ///
    /// # Safety
    ///
    /// As for [`change`](Self::change), which is over.
    #[inline]
    pub(crate) unsafe fn finish(self, sequence: Sequence) {
        // SAFETY: the ring lives. Release: pairs with the Acquire of owned.read4, so a reader that sees the
        // stamp sees the value.
        unsafe { self.slot(sequence) }
            .stamp
            .store(Stamp::done(sequence).bits(), ordering!(Release unless "owned_done_relaxed"));
    }

    /// owned.read4: whether message `sequence` is there.
    ///
    /// # Safety
    ///
    /// The ring lives.
    #[inline]
    pub(crate) unsafe fn is_there(self, sequence: Sequence) -> bool {
        // SAFETY: the ring lives.
        unsafe { self.stamp(sequence) == Stamp::done(sequence) }
    }

    /// owned.read5: the value of message `sequence`.
    ///
    /// # Safety
    ///
    /// The ring lives for `'a`, the caller saw [`is_there`](Self::is_there), and for `'a` a cursor of its own
    /// in the gate stands at `sequence` or earlier, so nobody writes to the value.
    #[inline]
    pub(crate) unsafe fn value<'a>(self, sequence: Sequence) -> &'a T {
        // SAFETY: the ring lives; nobody writes.
        unsafe { self.slot(sequence) }.value.with(|value| unsafe { &*value })
    }
}
