//! The foundation of every ring: where a message lies, how it gets in and out, what its stamp says, and whom a publisher
//! may not overtake.
//!
//! ```text
//! gate        the cursors that a publisher may not overtake: joining, leaving, the look at the slowest (registry: where they are)
//! head        how far the publishers have come: a lower bound and the walk that completes it, or the claims of many
//! copied      storage for messages that are copied through words (slot: the seqlock; copy: words and vectors)
//! owned       storage for messages that stay in their slots and are changed in place
//! lane        a queue between one writer and one reader, without stamps (cells: its storage; place: where a message lies in it)
//! hand_off    a message beside the tail of a lane
//! shared_lane a queue between one writer and many readers
//! claimed_lane a queue between many writers and many readers
//! stamped     what these two have in common: slots with stamps, and claims
//! index       sequence → slot number, for any capacity, without a division
//! sequence    the numbers of messages, and the encoding of a stamp
//! ```
//!
//! Arrows point down. The families (`broadcast`, later `queue`) add who may write, who waits, and when it closes.

mod cells;
mod claimed_lane;
mod copied;
mod copy;
mod gate;
mod hand_off;
mod head;
mod index;
mod lane;
mod owned;
mod place;
mod registry;
mod sequence;
mod shared_lane;
mod slot;
mod stamped;
mod storage;

use core::ptr::NonNull;

use crate::error::CapacityError;
use crate::hint::unlikely;
use crate::sync::{AtomicU64, Ordering, mutated};
use cells::Cells;
pub(crate) use claimed_lane::ClaimedLane;
pub(crate) use copied::Copied;
pub(crate) use gate::Gate;
use head::Head;
pub(crate) use head::{Frontier, Writers};
use index::Index;
pub(crate) use lane::Lane;
pub(crate) use owned::Owned;
pub(crate) use place::Place;
pub(crate) use registry::Pass;
pub(crate) use sequence::{Sequence, Stamp};
pub(crate) use shared_lane::SharedLane;
pub(crate) use slot::{Missing, Run, Whole};

/// What a ring keeps its messages in: a block of units, a slot of which has a stamp.
pub(crate) trait Store {
    /// What the block consists of.
    type Unit;

    /// The first unit; the block lives as long as the store.
    fn start(&self) -> NonNull<Self::Unit>;

    /// The stamp of the slot that begins with unit number `at`.
    ///
    /// # Safety
    ///
    /// `start` is that of a store that lives for `'a`, and `at` is a multiple of its stride, below its number of units.
    unsafe fn stamp<'a>(start: NonNull<Self::Unit>, at: usize) -> &'a AtomicU64;
}

/// How far its slots lie from each other.
pub(crate) trait Strided: Store {
    /// Units from one slot to the next.
    fn stride(writers: Writers) -> usize;
}

/// A ring of stamped slots.
///
/// Everything but `head` and the slots is constant after construction, so its line stays shared between all caches.
pub(crate) struct Ring<S> {
    store: S,
    index: Index,
    /// Of the store: units from one slot to the next.
    stride: usize,
    /// The sequence of the ring's first message.
    first: Sequence,
    head: Head,
}

/// The smallest ring in which a reader can read one slot while the writer writes another.
pub(crate) const MIN_CAPACITY: usize = 2;

impl<S: Store> Ring<S> {
    /// A ring around the store that `make` makes for `capacity` slots of a stride, whose first message is number `first`.
    pub(crate) fn new(
        capacity: usize,
        first: Sequence,
        writers: Writers,
        make: impl FnOnce(usize, usize) -> Result<S, CapacityError>,
    ) -> Result<Self, CapacityError>
    where
        S: Strided,
    {
        if capacity < MIN_CAPACITY {
            return Err(CapacityError::TooSmall { capacity, minimum: MIN_CAPACITY });
        }
        let stride = S::stride(writers);
        let store = make(capacity, stride)?;
        let head = Head::new(capacity, first, writers);
        let ring = Self { store, index: Index::new(capacity), stride, first, head };
        if first > Sequence::FIRST {
            // As if all laps before had been written.
            for sequence in (0..capacity as u64).map(|slot| first.plus(slot)) {
                let stamp = Stamp::of_the_lap_before(sequence, capacity);
                // SAFETY: the ring lives. Relaxed: nobody else has it yet.
                unsafe { ring.slots().stamp_word(sequence) }.store(stamp.bits(), Ordering::Relaxed);
            }
        }
        Ok(ring)
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.index.capacity()
    }

    /// The sequence of the ring's first message.
    pub(crate) fn first(&self) -> Sequence {
        self.first
    }

    /// Where the slots are, for a handle that keeps the ring alive.
    pub(crate) fn slots(&self) -> Slots<S> {
        Slots {
            start: self.store.start(),
            mask: self.index.mask(),
            index: NonNull::from(&self.index),
            stride: self.stride,
            writers: self.head.writers(),
        }
    }

    /// The stamp of the slot that `sequence` uses (Acquire).
    pub(crate) fn stamp(&self, sequence: Sequence) -> Stamp {
        // SAFETY: the ring lives as long as this borrow of it.
        unsafe { self.slots().stamp(sequence) }
    }

    /// As [`Slots::is_left`]; the ring is for many writers.
    pub(crate) fn is_left(&self, sequence: Sequence) -> bool
    where
        S: Strided,
    {
        // SAFETY: the ring lives as long as this borrow of it.
        unsafe { self.slots().is_left(sequence, self.capacity()) }
    }

    /// How far the publishers have come.
    #[inline]
    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// How far the publishers have come; `known` is a bound the caller already has, as from a stamp it saw.
    ///
    /// Of one publisher it counts at least every message whose publication happens before this call. It takes a bounded number of
    /// steps, however fast publishers run: of many, at most two looks at each slot.
    pub(crate) fn frontier(&self, known: Sequence) -> Frontier {
        let (capacity, stamp) = (self.capacity(), |sequence| self.stamp(sequence));
        let frontier = match self.head.writers() {
            Writers::One => self.head.walk(known, capacity, stamp),
            Writers::Many => self.head.survey(known, self.first, capacity, stamp),
        };
        Frontier { oldest: frontier.oldest.max(self.first), ..frontier }
    }

    /// The end of what is published, or about to be: every message whose publication happens before this call lies before it.
    pub(crate) fn end(&self, known: Sequence) -> Sequence {
        match self.head.writers() {
            Writers::One => self.frontier(known).head,
            Writers::Many => self.head.claimed(),
        }
    }

    /// The newest message from `from` on that stands whole.
    pub(crate) fn newest(&self, from: Sequence) -> Option<Sequence> {
        match self.head.writers() {
            Writers::One => {
                let head = self.frontier(from).head;
                (head > from).then(|| head.back(1))
            }
            Writers::Many => self.head.newest(from, self.capacity(), |sequence| self.stamp(sequence)),
        }
    }
}

/// Where the slots of a ring are. Each handle has a copy, so that it finds a slot without a look at shared memory, and may keep
/// that copy in registers.
pub(crate) struct Slots<S: Store> {
    /// The block of the ring's store.
    start: NonNull<S::Unit>,
    /// As [`Index::mask`].
    mask: u64,
    /// The ring's. A pointer rather than a copy: its multiplications are then not carried out in advance.
    index: NonNull<Index>,
    /// As [`Ring::stride`].
    stride: usize,
    writers: Writers,
}

// SAFETY: it stands for a shared borrow of the store's slots and of a constant, which may go where a borrow of the store may go;
// whoever uses it promises that the ring lives.
unsafe impl<S: Store + Sync> Send for Slots<S> {}
// SAFETY: as above.
unsafe impl<S: Store + Sync> Sync for Slots<S> {}

impl<S: Store> Clone for Slots<S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: Store> Copy for Slots<S> {}

impl<S: Store> Slots<S> {
    /// The number of the slot that message `sequence` uses: always below the capacity.
    ///
    /// # Safety
    ///
    /// The ring lives.
    #[inline]
    unsafe fn index_of(self, sequence: Sequence) -> usize {
        if unlikely(self.mask == 0) {
            // SAFETY: the ring lives, and nobody writes its index.
            unsafe { self.index.as_ref() }.of(sequence)
        } else {
            (sequence.get() & self.mask) as usize
        }
    }

    /// The same slots, for a caller that knows by its type who writes: the stride is then a constant to the optimiser.
    ///
    /// # Safety
    ///
    /// The ring is for these `writers`.
    #[inline]
    unsafe fn of(self, writers: Writers) -> Self
    where
        S: Strided,
    {
        debug_assert_eq!(writers, self.writers);
        Self { stride: S::stride(writers), ..self }
    }

    /// The stamp word of the slot that `sequence` uses.
    ///
    /// # Safety
    ///
    /// The ring lives for `'a`.
    #[inline]
    unsafe fn stamp_word<'a>(self, sequence: Sequence) -> &'a AtomicU64 {
        // SAFETY: the caller's promise; the index is below the capacity, and the store has a stride for each.
        unsafe { S::stamp(self.start, self.index_of(sequence) * self.stride) }
    }

    /// The stamp of the slot that `sequence` uses. Acquire: pairs with W4, so what came before that message's publication is visible.
    ///
    /// # Safety
    ///
    /// The ring lives.
    #[inline]
    pub(crate) unsafe fn stamp(self, sequence: Sequence) -> Stamp {
        let ordering = if mutated!("stamp_look_relaxed") { Ordering::Relaxed } else { Ordering::Acquire };
        // SAFETY: the caller's promise.
        Stamp::from_bits(unsafe { self.stamp_word(sequence) }.load(ordering))
    }

    /// C2: whether the slot of `sequence` was left by the writer of the lap before, so that the one who claimed `sequence` may write.
    ///
    /// Acquire: pairs with W4, so everything that writer did to the slot comes before what the caller does to it.
    ///
    /// # Safety
    ///
    /// The ring lives, has that `capacity`, and is for many writers.
    #[inline]
    pub(crate) unsafe fn is_left(self, sequence: Sequence, capacity: usize) -> bool
    where
        S: Strided,
    {
        // SAFETY: the caller's promise.
        unsafe { self.of(Writers::Many).stamp(sequence) == Stamp::of_the_lap_before(sequence, capacity) }
    }
}
