//! [`Reservation`]: room in the ring for a record that is still to be written.

use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use super::WriteError;
use super::layout::{PADDING, bytes_of, bytes_of_mut, finish, padding_before, words_of};
use crate::queue::InPlace;
use crate::queue::write::WriteEnd;
use crate::spsc::Spsc;
use crate::sync::mutated;

/// Room for one record, which is written in place: a slice of bytes. Made by
/// [`Producer::try_reserve`](super::Producer::try_reserve) and similar verbs.
///
/// At first it has any bytes: zeros, or parts of records that this queue had before. [`commit`](Self::commit)
/// sends it. A reservation that is dropped has sent nothing.
#[must_use = "nothing is sent until it is committed"]
pub struct Reservation<'p, K: InPlace = Spsc> {
    end: &'p mut WriteEnd<u64, K::ControlBlock>,
    /// So many free slots of `end` are left out before the record.
    padding: usize,
    /// The slots of the record, behind those: free slots of `end`.
    record: NonNull<[u64]>,
    len: usize,
}

// SAFETY: a borrow of an end, and of slots that are that end's alone.
unsafe impl<K: InPlace> Send for Reservation<'_, K> {}
// SAFETY: as above; a shared reference only reads the slots.
unsafe impl<K: InPlace> Sync for Reservation<'_, K> {}

impl<'p, K: InPlace> Reservation<'p, K> {
    /// Room for `len` bytes; `None` where there is none.
    #[inline]
    pub(super) fn new(end: &'p mut WriteEnd<u64, K::ControlBlock>, len: usize) -> Option<Self> {
        let words = words_of(len);
        let padding = padding_before(words, end.to_storage_end());
        let slots = NonNull::from(end.free_slots_behind(padding, words)?);
        // The slots hold words: a block is zeroed when it is made, and only words are written to it.
        let record = NonNull::slice_from_raw_parts(slots.cast(), words);
        Some(Self { end, padding, record, len })
    }

    /// Sends the record.
    ///
    /// # Errors
    ///
    /// [`Closed`](WriteError::Closed): the queue was closed meanwhile. Nothing is sent.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::queue::bytes::channel(64);
    /// let mut record = producer.try_reserve(3).unwrap();
    /// record.copy_from_slice(b"abc");
    /// record.commit()?;
    /// assert_eq!(*consumer.try_read().unwrap(), *b"abc");
    /// # Ok::<(), annulus::queue::bytes::WriteError>(())
    /// ```
    #[inline]
    pub fn commit(self) -> Result<(), WriteError> {
        let len = self.len;
        self.commit_len(len)
    }

    /// Sends the first `len` bytes as the record. For a record whose length is known only when it is written.
    ///
    /// # Errors
    ///
    /// Those of [`commit`](Self::commit).
    ///
    /// # Panics
    ///
    /// If `len` is above the length of the reservation. Nothing is sent then.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::io::Write;
    ///
    /// let (mut producer, mut consumer) = annulus::queue::bytes::channel(256);
    /// let mut record = producer.try_reserve(100).unwrap();
    /// let mut rest = &mut record[..];
    /// write!(rest, "{} + {} = {}", 1, 2, 1 + 2).unwrap();
    /// let unused = rest.len();
    /// record.commit_len(100 - unused)?;
    /// assert_eq!(*consumer.try_read().unwrap(), *b"1 + 2 = 3");
    /// # Ok::<(), annulus::queue::bytes::WriteError>(())
    /// ```
    #[inline]
    pub fn commit_len(self, len: usize) -> Result<(), WriteError> {
        assert!(len <= self.len, "can't commit {len} bytes: {} are reserved", self.len);
        if self.publish(len) { Ok(()) } else { Err(WriteError::Closed) }
    }

    /// Sends the first `len` bytes. False where the queue was closed before.
    #[inline]
    pub(super) fn publish(mut self, len: usize) -> bool {
        finish(self.words(), len);
        if self.padding > 0 && !mutated!("padding_unmarked") {
            let slots = self.end.free_slots_behind(0, 1).expect("it is one of those that are left out");
            slots[0].write(PADDING);
        }
        if mutated!("record_in_two") && self.padding == 0 && len > 0 {
            // SAFETY: as below, of the header.
            let is_sent = unsafe { self.end.publish_copies(1) };
            // SAFETY: as below, of the rest.
            return is_sent && unsafe { self.end.publish_copies(words_of(len) - 1) };
        }
        // SAFETY: `new` found so many slots free. All hold a word (as said there), and those that the
        // consumer looks at were written.
        unsafe { self.end.publish_copies(self.padding + words_of(len)) }
    }

    /// The slots of the record.
    #[inline(always)]
    fn words(&mut self) -> &mut [u64] {
        // SAFETY: they are `end`'s alone as long as this borrows it, and hold words.
        unsafe { self.record.as_mut() }
    }
}

impl<K: InPlace> Deref for Reservation<'_, K> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: as in `words`; nobody writes them while this is borrowed.
        bytes_of(unsafe { self.record.as_ref() }, self.len)
    }
}

impl<K: InPlace> DerefMut for Reservation<'_, K> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        let len = self.len;
        bytes_of_mut(self.words(), len)
    }
}

impl<K: InPlace> fmt::Debug for Reservation<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation").field("len", &self.len).finish_non_exhaustive()
    }
}
