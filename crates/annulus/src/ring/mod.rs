//! The foundation of every ring: where a message lies, how its words are copied, and what its stamp says.
//!
//! ```text
//! head        the lower bound of the publisher's progress, and the walk that completes it
//! slot        stamp + payload: the seqlock, writer's side and reader's side
//! copy        a message into relaxed atomic words and back; vector instructions for large ones
//! index       sequence → slot number, for any capacity, without a division
//! storage     the words: flat, line-aligned, zeroed
//! sequence    the numbers of messages, and the encoding of a stamp
//! ```
//!
//! Arrows point down. The families (`broadcast`, later `queue`) add who may write, who waits, and when it closes.

mod copy;
mod head;
mod index;
mod sequence;
mod slot;
mod storage;

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use crate::error::CapacityError;
use crate::hint::unlikely;
use crate::message::Message;
use crate::sync::AtomicU64;
pub(crate) use head::Frontier;
use head::Head;
use index::Index;
pub(crate) use sequence::{Sequence, Stamp};
use slot::Slot;
pub(crate) use slot::{Missing, Whole};
use storage::Storage;

/// A ring of stamped slots for messages of type `T`.
///
/// Everything but `head` is constant after construction, so its line stays shared between all caches.
pub(crate) struct Ring<T> {
    storage: Storage,
    index: Index,
    head: Head,
    /// A message is moved in and copied out; no `T` is ever stored as such, so `Send` and `Sync` do not hang on it.
    message: PhantomData<fn(T) -> T>,
}

impl<T: Message> Ring<T> {
    /// The smallest ring in which a reader can read one slot while the writer writes another.
    pub(crate) const MIN_CAPACITY: usize = 2;

    pub(crate) fn new(capacity: usize) -> Result<Self, CapacityError> {
        if capacity < Self::MIN_CAPACITY {
            return Err(CapacityError::TooSmall { capacity, minimum: Self::MIN_CAPACITY });
        }
        let stride = Slot::<T>::STRIDE;
        let storage = Storage::zeroed(capacity, stride)
            .ok_or(CapacityError::TooLarge { capacity, slot_bytes: stride * size_of::<u64>() })?;
        Ok(Self { storage, index: Index::new(capacity), head: Head::new(capacity), message: PhantomData })
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.index.capacity()
    }

    /// Where the slots are, for a handle that keeps the ring alive.
    pub(crate) fn slots(&self) -> Slots<T> {
        Slots {
            words: self.storage.start(),
            mask: self.index.mask(),
            index: NonNull::from(&self.index),
            message: PhantomData,
        }
    }

    /// The stamp of the slot that `sequence` uses (Acquire).
    pub(crate) fn stamp(&self, sequence: Sequence) -> Stamp {
        // SAFETY: the ring lives as long as this borrow of it.
        unsafe { self.slots().stamp(sequence) }
    }

    /// W5: notes, now and then, that `sequence` has been published.
    #[inline]
    pub(crate) fn passed(&self, sequence: Sequence) {
        self.head.passed(sequence);
    }

    /// How far the publisher has come; `known` is a bound the caller already has, as from a stamp it saw.
    ///
    /// Counts at least every message whose publication happens before this call. It takes a bounded number of
    /// steps, however fast the publisher runs.
    pub(crate) fn frontier(&self, known: Sequence) -> Frontier {
        self.head.walk(known, self.index.capacity(), |sequence| self.stamp(sequence))
    }
}

/// Where the slots of a ring are. Each handle has a copy, so that it finds a slot without a look at shared memory, and may keep
/// that copy in registers.
pub(crate) struct Slots<T> {
    /// The storage of the ring: `capacity * STRIDE` words.
    words: NonNull<AtomicU64>,
    /// As [`Index::mask`].
    mask: u64,
    /// The ring's. A pointer rather than a copy: its multiplications are then not carried out in advance.
    index: NonNull<Index>,
    message: PhantomData<fn(T) -> T>,
}

// SAFETY: it stands for shared borrows of atomic words and of a constant, which any thread may use; whoever uses it promises that the ring lives.
unsafe impl<T> Send for Slots<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Slots<T> {}

impl<T> Clone for Slots<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Slots<T> {}

impl<T: Message> Slots<T> {
    /// The slot that message `sequence` uses, whatever it holds now.
    ///
    /// # Safety
    ///
    /// The ring lives for `'a`.
    #[inline]
    unsafe fn slot<'a>(self, sequence: Sequence) -> Slot<'a, T> {
        let index = if unlikely(self.mask == 0) {
            // SAFETY: the ring lives, and nobody writes its index.
            unsafe { self.index.as_ref() }.of(sequence)
        } else {
            (sequence.get() & self.mask) as usize
        };
        let start = index * Slot::<T>::STRIDE;
        // SAFETY: `index` is below the capacity, and `Ring::new`, which made both, gave the storage `capacity * STRIDE`
        // words, all initialised; a slot uses at most `STRIDE` of them. The caller keeps them alive.
        Slot::new(unsafe { core::slice::from_raw_parts(self.words.as_ptr().add(start), Slot::<T>::WORDS) })
    }

    /// Writes message `sequence` and makes it visible to readers: W1 to W4 of `docs/ORDERING.md`.
    ///
    /// # Safety
    ///
    /// The ring lives, and nobody else writes this slot meanwhile. (Two writers at once would be no data race, but readers
    /// could accept a mixture of both messages, which may be no valid `T`.)
    #[inline]
    pub(crate) unsafe fn write(self, sequence: Sequence, message: &T) {
        // SAFETY: the caller's promise.
        unsafe { self.slot(sequence) }.write(sequence, message);
    }

    /// Copies message `sequence` into `message`, or says why it can't be had.
    ///
    /// # Safety
    ///
    /// The ring lives.
    #[inline]
    pub(crate) unsafe fn read(
        self,
        sequence: Sequence,
        message: &mut MaybeUninit<T>,
    ) -> Result<Whole<'_, T>, Missing> {
        // SAFETY: the caller's promise.
        unsafe { self.slot(sequence) }.read(sequence, message)
    }

    /// The stamp of the slot that `sequence` uses (Acquire).
    ///
    /// # Safety
    ///
    /// The ring lives.
    #[inline]
    unsafe fn stamp(self, sequence: Sequence) -> Stamp {
        // SAFETY: the caller's promise.
        unsafe { self.slot(sequence) }.stamp()
    }
}
