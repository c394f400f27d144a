//! Storage for messages that are copied: a flat block of atomic words, a seqlock in each slot.
//!
//! ```text
//! write(sequence) ─▶ index_of (`slots.rs`) ─▶ the words from index · stride on ─▶ Slot::write (`slot.rs`)
//! ```

use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::slot::{self, Run, Slot};
use super::storage::Storage;
use super::{Read, Slots, Store, Strided, Writers, Written};
use crate::base::room::Before;
use crate::base::sequence::Sequence;
use crate::error::CapacityError;
use crate::memory::{Block, Memory};
use crate::message::Message;
use crate::sync::{AtomicU64, mutated};

/// Slots of a stride of words each.
pub(crate) struct Copied<T> {
    words: Storage,
    /// A message is moved in and copied out; no `T` is ever stored as such, so `Send` and `Sync` do not hang
    /// on it.
    message: PhantomData<fn(T) -> T>,
}

impl<T: Message> Copied<T> {
    #[inline(always)]
    pub(crate) fn new(
        capacity: usize,
        stride: usize,
        memory: &Memory,
        before: Before,
    ) -> Result<Self, CapacityError> {
        let words = Storage::zeroed(capacity, stride, memory, before)
            .map_err(|refused| CapacityError::of_block(refused, capacity, stride * size_of::<u64>()))?;
        Ok(Self { words, message: PhantomData })
    }
}

/// Over memory that other processes have, too.
#[cfg(feature = "shm")]
impl<T: Message> Copied<T> {
    /// The slots in this block, which has [such a layout](slots_layout).
    ///
    /// # Safety
    ///
    /// All processes access these words by atomic operations only; those that can't write there load them
    /// only. If another process can write there, each message that is read is checked.
    pub(crate) unsafe fn over(block: Block) -> Self {
        // SAFETY: the caller's promise.
        Self { words: unsafe { Storage::over(block) }, message: PhantomData }
    }
}

/// The layout of so many slots of a stride of words. `None` if there can't be so many.
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) fn slots_layout(stride: usize, capacity: usize) -> Option<core::alloc::Layout> {
    Storage::layout(capacity, stride)
}

impl<T: Message> Strided for Copied<T> {
    const IS_CONSTANT: bool = T::BLOCK_AT == 0;

    #[inline(always)]
    fn stride(writers: Writers) -> usize {
        slot::stride_for(size_of::<T::Wire>(), writers)
    }
}

impl<T> Store for Copied<T> {
    type Unit = AtomicU64;

    fn start(&self) -> NonNull<AtomicU64> {
        self.words.start()
    }

    #[inline(always)]
    fn block_mut(&mut self) -> &mut Block {
        self.words.block_mut()
    }

    #[cfg(feature = "std")]
    fn block(&self) -> &Block {
        self.words.block()
    }

    #[inline]
    unsafe fn stamp<'a>(start: NonNull<AtomicU64>, at: usize) -> &'a AtomicU64 {
        // SAFETY: as in `Slots::slot`; the stamp is a slot's first word.
        unsafe { start.add(at).as_ref() }
    }
}

impl<T: Message> Slots<Copied<T>> {
    /// The slot that message `sequence` uses, whatever it holds now.
    ///
    /// # Safety
    ///
    /// The ring lives for `'a`.
    #[inline]
    unsafe fn slot<'a>(self, sequence: Sequence) -> Slot<'a, T> {
        // SAFETY: the ring lives.
        let first = unsafe { self.index_of(sequence) } * self.stride;
        // SAFETY: `Copied::new` made a stride of words for each index below the capacity, all initialised; a
        // slot uses at most that many of them. The caller keeps them alive.
        Slot::new(unsafe {
            let words = Slot::<T>::words(self.stride);
            core::slice::from_raw_parts(self.start.as_ptr().add(first), words)
        })
    }

    /// Where they lie, in a ring of this `capacity`, for code in another language.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    pub(crate) fn lend(self, capacity: usize) -> super::LentSlots {
        let payload_at = slot::payload_at(size_of::<T::Wire>());
        super::LentSlots { start: self.start.cast(), capacity, stride: self.stride, payload_at }
    }

    /// Writes message `sequence`, for the caller to publish: slot.w1 to slot.w3 of `docs/ORDERING.md`.
    ///
    /// # Safety
    ///
    /// The ring lives for `'a`, is for these `writers`, and nobody else writes this slot meanwhile. (Two
    /// writers at once would be no data race, but readers could accept a mixture of both messages, which may
    /// be no valid `T`.) In a ring for one writer, all messages before this one were published before, or
    /// their numbers left out; in one for many, the caller publishes it.
    #[inline]
    pub(crate) unsafe fn write<'a>(self, writers: Writers, sequence: Sequence, message: &T) -> Written<'a> {
        // SAFETY: the caller's promise.
        unsafe { self.of(writers).slot(sequence) }.write(sequence, message)
    }

    /// Copies message `sequence` into `message`, or says why it can't be had.
    ///
    /// # Safety
    ///
    /// The ring lives.
    #[inline]
    pub(crate) unsafe fn read(self, sequence: Sequence, message: &mut MaybeUninit<T::Wire>) -> Read<'_, T> {
        // SAFETY: the caller's promise.
        unsafe { self.slot(sequence) }.read(sequence, message)
    }

    /// Copies messages from `first` on into `buffer`: those that are there, or at least half of them; none
    /// where many write, because that takes a look at each. If it is checked, it ends before what is no
    /// message.
    ///
    /// # Safety
    ///
    /// The ring lives. It is checked if other processes can write to it. Its writer, if it is one, leaves out
    /// no number between messages of this run.
    #[inline]
    pub(crate) unsafe fn read_run(
        self,
        first: Sequence,
        buffer: &mut [MaybeUninit<T::Wire>],
        is_checked: bool,
    ) -> Run<'_, T> {
        let one = self.writers == Writers::One || mutated!("run_of_many_writers");
        let buffer = if one { buffer } else { &mut [] };
        // SAFETY: the caller's promise. The ring is for one writer, and who calls `write` promises the order.
        unsafe { slot::read_run(|sequence| self.slot(sequence), first, buffer, is_checked) }
    }
}
