//! [`Reservation`]: room in the ring for a record that is still to be written.

use core::fmt;
use core::ops::{Deref, DerefMut};
use core::ptr::{self, NonNull};

use super::WriteError;
use super::layout::{PADDING, bytes_of, finish, padding_before, words_of};
use crate::queue::kind::{InPlace, QueueKind};
use crate::queue::write::WriteEnd;
use crate::spsc::Spsc;
use crate::sync::seeded;

/// Room for one record, which is written in place. Made by
/// [`Producer::try_reserve`](super::Producer::try_reserve) and similar verbs.
///
/// In a queue within one process it is a slice of bytes. Between processes the other one may write there,
/// too, so there it is no slice, and [`write_at`](Self::write_at) writes to it.
///
/// At first it has any bytes: zeros, or parts of records that this queue had before. [`commit`](Self::commit)
/// sends it. A reservation that is dropped has sent nothing.
#[must_use = "nothing is sent until it is committed"]
pub struct Reservation<'p, K: InPlace = Spsc> {
    end: &'p mut WriteEnd<K::Cell<u64>, K::ControlBlock>,
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
    pub(super) fn new(end: &'p mut WriteEnd<K::Cell<u64>, K::ControlBlock>, len: usize) -> Option<Self> {
        let words = words_of(len);
        let padding = padding_before(words, end.to_storage_end());
        let slots = end.free_slots_behind(padding, words)?;
        // The slots hold words: they are zeroes in a new queue, and only words are written there.
        let record = NonNull::slice_from_raw_parts(slots.cast(), words);
        Some(Self { end, padding, record, len })
    }

    /// How many bytes are reserved.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none is: the record is to be empty.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Copies `bytes` to the record, from its byte number `at` on.
    ///
    /// # Panics
    ///
    /// If the room ends before.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(all(feature = "shm", target_os = "linux"))] {
    /// use annulus::Settings;
    /// use annulus::shm::{Shared, WhenGone, bytes};
    ///
    /// let Shared { handle: mut producer, invitation, .. } =
    ///     bytes::producer(Settings::new(64), WhenGone::Close)?;
    /// let (mut consumer, _) = bytes::consumer(&invitation)?; // usually in another process
    /// let mut record = producer.reserve(20)?;
    /// record.write_at(0, &7_u32.to_le_bytes());
    /// record.write_at(4, b"seven");
    /// record.commit_len(9)?;
    /// assert_eq!(consumer.read()?.to_vec(), b"\x07\0\0\0seven");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn write_at(&mut self, at: usize, bytes: &[u8]) {
        let fits = at <= self.len && bytes.len() <= self.len - at;
        assert!(fits, "{} bytes from {at} on: {} are reserved", bytes.len(), self.len);
        // SAFETY: within the record (asserted), whose slots are `end`'s, and `bytes` lie elsewhere.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.as_mut_ptr().add(at), bytes.len()) };
    }

    /// The first byte; the others lie behind it. For code that fills it by a pointer, such as a system call.
    ///
    /// Between processes, what was written there may be something else a moment later.
    #[must_use]
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.bytes().as_ptr().cast()
    }

    /// The same as a slice, for a process that trusts the other one.
    ///
    /// # Safety
    ///
    /// While the slice lives, no other process writes there. The handles of this library do not, but a
    /// process can write to all of the memory: it is in its hands alone.
    #[must_use]
    #[inline]
    pub unsafe fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: the slots are `end`'s alone as long as this borrows it; the caller promises this of
        // other processes, too.
        unsafe { self.bytes().as_mut() }
    }

    #[inline(always)]
    fn bytes(&self) -> NonNull<[u8]> {
        bytes_of(self.record, self.len)
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
    /// As [`commit`](Self::commit).
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
    pub(super) fn publish(self, len: usize) -> bool {
        // SAFETY: the slots are `end`'s as long as this borrows it.
        unsafe { finish(self.record, len) };
        if self.padding > 0 && !seeded!("padding_unmarked") {
            let slots = self.end.free_slots_behind(0, 1).expect("it is one of those that are left out");
            // SAFETY: a slot of `end`.
            unsafe { slots.cast().write(PADDING) };
        }
        if seeded!("record_in_two") && self.padding == 0 && len > 0 {
            // SAFETY: as below, of the header.
            let is_sent = unsafe { self.end.publish_copies(1) };
            // SAFETY: as below, of the rest.
            return is_sent && unsafe { self.end.publish_copies(words_of(len) - 1) };
        }
        // SAFETY: `new` found so many slots free. All hold a word (as said there), and those that the
        // consumer looks at were written.
        unsafe { self.end.publish_copies(self.padding + words_of(len)) }
    }
}

/// Within one process.
impl<K: InPlace + QueueKind> Deref for Reservation<'_, K> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: they are `end`'s alone as long as this borrows it, and this process alone has the memory.
        unsafe { self.bytes().as_ref() }
    }
}

/// Within one process.
impl<K: InPlace + QueueKind> DerefMut for Reservation<'_, K> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: this process alone has the memory.
        unsafe { self.as_mut_slice() }
    }
}

impl<K: InPlace> fmt::Debug for Reservation<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation").field("len", &self.len).finish_non_exhaustive()
    }
}
