//! An area of words in which records of any length lie one behind the other, and the newest overwrite the
//! oldest.
//!
//! A record is found by its [`Extent`], which travels as a message in a ring of stamped slots. So a reader
//! has a length and a beginning that were once right, and its number is the number of the message. Left to
//! prove is that nobody has overwritten the bytes since:
//!
//! ```text
//! writer                                       reader, with the extent of a record (slot.r1 to slot.r4)
//! area.w1  overwritten := past what goes       area.r1  read the words            Relaxed
//!          (where that is further)  Relaxed    area.r2  fence                     Acquire
//! area.w2  fence                    Release    area.r3  overwritten <= start?     Relaxed
//! area.w3  write the words          Relaxed
//!          slot.w1 to slot.w4 with the extent
//! ```
//!
//! *Why the reader gets whole records.* slot.r1 reads the value of slot.w4, so the words are at least as new
//! as the record. If a word were newer, its area.w3 belongs to a record that was written later, and the
//! area.w1 of that record, or of one before it, went past the start of this one. area.r2 pairs with the
//! area.w2 after it, so area.r3 sees that value or a later one; and it only grows.
//!
//! After Boehm's seqlock, as `slots.rs`; with the "tail intent" of Agrona's `BroadcastTransmitter` in place
//! of a stamp. Here it moves by a sixteenth of the area at a time, so that its line stays in readers' caches.
//!
//! Between processes, the words and that number lie in memory that readers map read-only. The steps are the
//! same. A reader there has extents of another process, which may be any numbers: it asks whether the area
//! [has](Area::has) them first.

use alloc::vec::Vec;
use core::mem::MaybeUninit;
#[cfg(all(feature = "shm", not(annulus_loom)))]
use core::ptr::NonNull;

use super::copy::{self, RECORD_FLOOR, WORD};
use super::slots::Storage;
use crate::base::allocation::Before;
#[cfg(feature = "std")]
use crate::memory::Block;
use crate::memory::{Memory, NoBlock};
use crate::sync::{AtomicU64, Ordering, fence, seeded, unlikely};

/// Where a record lies: the number of its first word, counted from the first record on, and its length in
/// bytes. (An array, because it is a message.)
pub(crate) type Extent = [u64; 2];

/// The words of records. One writer; any number of readers.
pub(crate) struct Area {
    words: Storage,
    /// How many words there are, less one; they are a power of two. Constant.
    mask: u64,
    overwritten: Overwritten,
}

/// The number of the first word that stands: those before it are overwritten, or may be at any moment.
enum Overwritten {
    Here(Line),
    /// In memory that other processes have, too. It lives as long as the words.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    Across(NonNull<AtomicU64>),
}

#[repr(align(128))]
struct Line(AtomicU64);

// SAFETY: a pointer to an atomic word is as a borrow of it, and the area keeps it (see `Area::across`).
#[cfg(all(feature = "shm", not(annulus_loom)))]
unsafe impl Send for Overwritten {}
// SAFETY: as above.
#[cfg(all(feature = "shm", not(annulus_loom)))]
unsafe impl Sync for Overwritten {}

impl Overwritten {
    #[inline(always)]
    fn word(&self) -> &AtomicU64 {
        match self {
            Self::Here(line) => &line.0,
            // SAFETY: it lives as long as the area, in which this is.
            #[cfg(all(feature = "shm", not(annulus_loom)))]
            Self::Across(word) => unsafe { word.as_ref() },
        }
    }
}

/// Where the writer of an area is. Only the writer has it.
pub(crate) struct Pen {
    /// The number of the next word.
    next: u64,
    /// The first word of the newest record.
    newest: u64,
    /// As in the area.
    overwritten: u64,
    /// The first word of the oldest record that a reader needs for which the writer waits. Nothing from there
    /// on is overwritten.
    kept: u64,
}

impl Pen {
    /// At the beginning of an area whose writer waits for nobody.
    pub(crate) fn new() -> Self {
        Self { next: 0, newest: 0, overwritten: 0, kept: u64::MAX }
    }

    /// The same of a writer that waits until there is [room](Area::has_room).
    pub(crate) fn that_waits() -> Self {
        Self { kept: 0, ..Self::new() }
    }

    /// From now on readers need no word before the extent's, or none at all.
    pub(crate) fn keep_from(&mut self, oldest: Option<Extent>) {
        self.kept = oldest.map_or(self.next, |[start, _]| start);
    }
}

impl Area {
    /// An area of so many words: a power of two, and at least two.
    pub(crate) fn new(words: usize, memory: &Memory) -> Result<Self, NoBlock> {
        assert!(words.is_power_of_two() && words > 1, "an area of {words} words");
        let overwritten = Overwritten::Here(Line(AtomicU64::new(0)));
        Ok(Self {
            words: Storage::zeroed(words, 1, memory, Before::NOTHING)?,
            mask: words as u64 - 1,
            overwritten,
        })
    }

    /// An area in memory that other processes have, too: so many words, a power of two, and at least two; and
    /// the number of the first that stands.
    ///
    /// # Safety
    ///
    /// The block has so many words, and keeps `overwritten`. All processes access both by atomic operations
    /// only; those that can't write there only read.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) unsafe fn across(block: Block, words: usize, overwritten: NonNull<AtomicU64>) -> Self {
        assert!(words.is_power_of_two() && words > 1, "an area of {words} words");
        // SAFETY: the caller's promise.
        let storage = unsafe { Storage::over(block) };
        Self { words: storage, mask: words as u64 - 1, overwritten: Overwritten::Across(overwritten) }
    }

    /// Whether there can be such a record. Any numbers are allowed.
    #[inline(always)]
    pub(crate) fn has(&self, [_, length]: Extent) -> bool {
        length <= self.longest() as u64 || seeded!("area_lengths_believed")
    }

    /// Where its words lie.
    #[cfg(feature = "std")]
    pub(crate) fn block(&self) -> &Block {
        self.words.block()
    }

    /// How many bytes it has.
    pub(crate) fn bytes(&self) -> usize {
        self.words().len() * WORD
    }

    /// The longest record, in bytes: half of the area. So the newest record stands while the next one is
    /// written.
    pub(crate) fn longest(&self) -> usize {
        self.bytes() / 2
    }

    #[inline]
    fn words(&self) -> &[AtomicU64] {
        // SAFETY: the storage has `mask + 1` words, all initialised, and lives as long as this borrow.
        unsafe { core::slice::from_raw_parts(self.words.start().as_ptr(), self.mask as usize + 1) }
    }

    /// The words from number `start` on, up to the end of the area, and all words: where a record that begins
    /// there goes on.
    #[inline]
    fn beginning_at(&self, start: u64) -> (&[AtomicU64], &[AtomicU64]) {
        let words = self.words();
        (&words[(start & self.mask) as usize..], words)
    }

    /// How many words are not needed, of a writer that waits.
    #[inline]
    pub(crate) fn free(&self, pen: &Pen) -> u64 {
        self.mask + 1 - (pen.next - pen.kept)
    }

    /// Whether a record of so many bytes overwrites nothing that is needed.
    #[inline]
    pub(crate) fn has_room(&self, pen: &Pen, bytes: usize) -> bool {
        bytes.div_ceil(WORD) as u64 <= self.free(pen) || seeded!("lossless_bytes_overtake")
    }

    /// area.w1 to area.w3: writes `record` behind the newest one. The caller publishes the extent. `pen` is
    /// the one of this area, and `record` is not longer than the [longest](Self::longest). A writer
    /// that waits has [room](Self::has_room) for it.
    #[inline]
    pub(crate) fn write(&self, pen: &mut Pen, record: &[u8]) -> Extent {
        debug_assert!(record.len() <= self.longest());
        let start = pen.next;
        let end = start + record.len().div_ceil(WORD) as u64;
        let goes_past = unlikely(end - pen.overwritten > self.mask + 1) && !seeded!("area_never_overwritten");
        if goes_past && !seeded!("area_overwritten_late") {
            self.overwrite_up_to(pen, end);
        }
        // area.w3.
        let (first, all) = self.beginning_at(start);
        let (head, rest) = record.split_at(record.len().min(first.len() * WORD));
        copy::store_bytes::<RECORD_FLOOR>(first, head);
        copy::store_bytes::<RECORD_FLOOR>(all, rest);
        if seeded!("area_overwritten_late") && goes_past {
            self.overwrite_up_to(pen, end);
        }
        (pen.newest, pen.next) = (start, end);
        [start, record.len() as u64]
    }

    /// area.w1 and area.w2: before the words up to number `end` are written.
    // Decision 0084: ahead of what is needed, and never past the newest record, nor past what is kept.
    fn overwrite_up_to(&self, pen: &mut Pen, end: u64) {
        let size = self.mask + 1;
        // The newest record and the next one are half of the area each, at most: so that much is needed, and
        // it is never more than `newest`.
        let needed = end - size;
        let most = if seeded!("area_overwrites_newest") { pen.next } else { pen.newest };
        let most = if seeded!("area_overwrites_kept") { most } else { most.min(pen.kept) };
        pen.overwritten = (needed + size / 16).min(most);
        debug_assert!(pen.overwritten >= needed);
        // area.w1. Relaxed: area.w2 orders it before the words.
        self.overwritten.word().store(pen.overwritten, Ordering::Relaxed);
        if !seeded!("area_no_release_fence") {
            // area.w2. Release: pairs with area.r2. A thread that sees a word that is written from now on
            // also sees area.w1.
            fence(Ordering::Release);
        }
    }

    /// area.r1 to area.r3: copies a record into `buffer`, in place of what is there. False if it was
    /// overwritten, or may have been; the buffer is then empty. `extent` was made by [`write`](Self::write)
    /// of this area, and the caller has seen it published; or it is another process's, and the area
    /// [has](Self::has) it.
    #[inline]
    pub(crate) fn read(&self, extent: Extent, buffer: &mut Vec<u8>) -> bool {
        let [start, length] = extent;
        // At most the longest record.
        let length = length as usize;
        buffer.clear();
        buffer.reserve(length);
        let bytes = &mut buffer.spare_capacity_mut()[..length];
        self.copy(start, bytes);
        if !seeded!("area_no_acquire_fence") {
            // area.r2. Acquire: pairs with area.w2.
            fence(Ordering::Acquire);
        }
        // area.r3. Relaxed: area.r2 orders it after the words.
        let is_whole =
            self.overwritten.word().load(Ordering::Relaxed) <= start || seeded!("area_no_second_look");
        if is_whole {
            // SAFETY: `copy` wrote each of these bytes, and the capacity was reserved.
            unsafe { buffer.set_len(length) };
        }
        is_whole
    }

    /// area.r1: writes each of `bytes`. They may be torn; area.r3 tells.
    #[inline]
    fn copy(&self, start: u64, bytes: &mut [MaybeUninit<u8>]) {
        let (first, all) = self.beginning_at(start);
        let (head, rest) = bytes.split_at_mut(bytes.len().min(first.len() * WORD));
        copy::load_bytes::<RECORD_FLOOR>(first, head);
        copy::load_bytes::<RECORD_FLOOR>(all, rest);
    }

    /// The number of the first word that stands, as far as this thread knows. A record that begins before it
    /// can't be read.
    pub(crate) fn first_standing(&self) -> u64 {
        // Relaxed: a hint. Each read decides by area.r3.
        self.overwritten.word().load(Ordering::Relaxed)
    }
}
