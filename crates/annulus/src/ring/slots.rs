//! Where the slots of a ring are, as each of its handles knows it.
//!
//! ```text
//! slot of a message = sequence & mask        any other capacity: the remainder (`base/index.rs`)
//! ```

use core::ptr::NonNull;

use super::{Store, Strided, Writers};
use crate::base::hint::unlikely;
use crate::base::index::Index;
use crate::base::sequence::{Sequence, Stamp};
use crate::sync::{AtomicU64, ordering};

/// Where the slots of a ring are. Each handle has a copy, so that it finds a slot without a look at shared
/// memory, and may keep that copy in registers.
pub(crate) struct Slots<S: Store> {
    /// The block of the ring's store.
    pub(super) start: NonNull<S::Unit>,
    /// As [`Index::mask`].
    mask: u64,
    /// The ring's. A pointer rather than a copy: its multiplications are then not carried out in advance.
    index: NonNull<Index>,
    /// As [`Ring`](super::Ring) has it.
    pub(super) stride: usize,
    pub(super) writers: Writers,
}

// SAFETY: it stands for a shared borrow of the store's slots and of a constant, which may go where a borrow
// of the store may go; whoever uses it promises that the ring lives.
unsafe impl<S: Store + Sync> Send for Slots<S> {}
// SAFETY: as above.
unsafe impl<S: Store + Sync> Sync for Slots<S> {}

impl<S: Store> Clone for Slots<S> {
    // Unreached: asked for by Copy; copies are made without it
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Store> Copy for Slots<S> {}

impl<S: Store> Slots<S> {
    /// The slots of the ring with this block, this index and this stride.
    #[inline(always)]
    pub(super) fn new(start: NonNull<S::Unit>, index: &Index, stride: usize, writers: Writers) -> Self {
        Self { start, mask: index.mask(), index: NonNull::from(index), stride, writers }
    }

    /// The number of the slot that message `sequence` uses: always below the capacity.
    ///
    /// # Safety
    ///
    /// The ring lives.
    #[inline]
    pub(super) unsafe fn index_of(self, sequence: Sequence) -> usize {
        // One instruction tells both: the slot, and whether to ask. The first slot asks, too, but this
        // handle's own mask and no shared memory, because whoever polls an empty ring may stay there.
        let index = sequence.get() & self.mask;
        if unlikely(index == 0) && self.mask == 0 {
            // SAFETY: the ring lives, and nobody writes its index.
            unsafe { self.index.as_ref() }.without_mask(sequence)
        } else {
            index as usize
        }
    }

    /// The same slots, for a caller that knows by its type who writes: the stride is then a constant to the
    /// optimiser.
    ///
    /// # Safety
    ///
    /// The ring is for these `writers`.
    #[inline]
    pub(super) unsafe fn of(self, writers: Writers) -> Self
    where
        S: Strided,
    {
        debug_assert_eq!(writers, self.writers);
        if S::IS_CONSTANT { Self { stride: S::stride(writers), ..self } } else { self }
    }

    /// The stamp word of the slot that `sequence` uses.
    ///
    /// # Safety
    ///
    /// The ring lives for `'a`.
    #[inline]
    pub(super) unsafe fn stamp_word<'a>(self, sequence: Sequence) -> &'a AtomicU64 {
        // SAFETY: the caller's promise; the index is below the capacity, and the store has a stride for each.
        unsafe { S::stamp(self.start, self.index_of(sequence) * S::STRIDE.unwrap_or(self.stride)) }
    }

    /// The stamp of the slot that `sequence` uses. Acquire: pairs with slot.w4, so what came before that
    /// message's publication is visible.
    ///
    /// # Safety
    ///
    /// The ring lives.
    #[inline]
    pub(crate) unsafe fn stamp(self, sequence: Sequence) -> Stamp {
        // SAFETY: the caller's promise.
        Stamp::from_bits(
            unsafe { self.stamp_word(sequence) }.load(ordering!(Acquire unless "stamp_look_relaxed")),
        )
    }

    /// claim.wait2, fellow.take4: whether the slot of `sequence` was left by the writer of the lap before, so
    /// that the one who claimed `sequence` may write.
    ///
    /// Acquire: pairs with slot.w4, so everything that writer did to the slot comes before what the caller
    /// does to it.
    ///
    /// # Safety
    ///
    /// The ring lives, has that `capacity`, and is for these `writers`, who are many.
    #[inline]
    pub(crate) unsafe fn is_left(self, writers: Writers, sequence: Sequence, capacity: usize) -> bool
    where
        S: Strided,
    {
        // SAFETY: the caller's promise.
        unsafe { self.of(writers).stamp(sequence) == Stamp::of_the_lap_before(sequence, capacity) }
    }
}
