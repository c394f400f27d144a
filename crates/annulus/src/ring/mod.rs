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

use crate::error::CapacityError;
use crate::message::Message;
pub(crate) use head::Frontier;
use head::Head;
use index::Index;
pub(crate) use sequence::{Sequence, Stamp};
use slot::Slot;
pub(crate) use slot::Whole;
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

    /// The slot that message `sequence` uses, whatever it holds now.
    #[inline]
    fn slot(&self, sequence: Sequence) -> Slot<'_, T> {
        let start = self.index.of(sequence) * Slot::<T>::STRIDE;
        // SAFETY: `index.of` is below the capacity, and `Ring::new`, which made both, gave the storage
        // `capacity * STRIDE` words; a slot uses at most `STRIDE` of them.
        let words = unsafe { self.storage.words().get_unchecked(start..start + Slot::<T>::WORDS) };
        Slot::new(words)
    }

    /// Writes message `sequence` and makes it visible to readers: W1 to W5 of `docs/ORDERING.md`.
    ///
    /// Only one thread may write a given slot at a time; a lossy ring has one publisher for that. Calling it from
    /// two at once is no data race, but readers could accept a mixture of both messages.
    #[inline]
    pub(crate) fn write(&self, sequence: Sequence, message: &T) {
        self.slot(sequence).write(sequence, message);
        self.head.passed(sequence);
    }

    /// Copies message `sequence` into `message`, or returns the stamp that shows why it can't be had.
    ///
    /// A stamp below [`Stamp::done`] of it means not yet there; above, overwritten.
    #[inline]
    pub(crate) fn read<'m>(
        &self,
        sequence: Sequence,
        message: &'m mut MaybeUninit<T>,
    ) -> Result<Whole<'m, T>, Stamp> {
        self.slot(sequence).read(sequence, message)
    }

    /// The stamp of the slot that `sequence` uses (Acquire).
    #[inline]
    pub(crate) fn stamp(&self, sequence: Sequence) -> Stamp {
        self.slot(sequence).stamp()
    }

    /// Makes the head exact: `sequence` is the next to be published, and nobody publishes meanwhile.
    pub(crate) fn set_head(&self, sequence: Sequence) {
        self.head.store(sequence);
    }

    /// How far the publisher has come; `known` is a bound the caller already has, as from a stamp it saw.
    ///
    /// Counts at least every message whose publication happens before this call. It takes a bounded number of
    /// steps, however fast the publisher runs.
    pub(crate) fn frontier(&self, known: Sequence) -> Frontier {
        self.head.walk(known, self.index.capacity(), |sequence| self.stamp(sequence))
    }
}
