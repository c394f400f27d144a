//! [`Record`]: a record that the consumer reads in the ring, and gives back when it is dropped.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Deref;
use core::ptr::NonNull;

use super::layout::{PADDING, bytes_of, words_of};
use crate::lane::ControlBlock;
use crate::queue::SharedSlice;
use crate::queue::ends::Read;
use crate::queue::kind::{InPlace, QueueKind};
use crate::queue::read::ReadEnd;
use crate::spsc::Spsc;
use crate::sync::seeded;

/// One record, which lies in the ring. Made by [`Consumer::read`](super::Consumer::read) and similar verbs.
///
/// In a queue within one process it is a slice of bytes. Between processes the other one may write to it
/// while it is read, so there it is no slice: its bytes are copied, by [`to_vec`](Self::to_vec) or from what
/// [`shared`](Self::shared) shows.
///
/// When it is dropped, the record is received, and its room is free again. If it is
/// [forgotten](core::mem::forget), the next read returns the same record once more.
#[must_use = "a record that is dropped is gone"]
pub struct Record<'c, K: InPlace = Spsc> {
    /// Its next words are the record.
    end: &'c mut ReadEnd<K::Cell<u64>, K::ControlBlock>,
    len: usize,
}

impl<'c, K: InPlace> Record<'c, K> {
    /// The next record of `read`, of the length that [`next_len`] found.
    #[inline]
    pub(super) fn new(read: &'c mut K::Read<u64>, len: usize) -> Self {
        Self { end: K::current(read), len }
    }

    /// How many bytes it has.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A copy of its bytes. Allocates.
    #[must_use]
    pub fn to_vec(&self) -> Vec<u8> {
        self.shared().to_vec()
    }

    /// Its bytes, of which parts can be copied; also in a queue between processes.
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
    /// producer.write(b"\x02hi and more")?;
    ///
    /// let record = consumer.read()?;
    /// let length = usize::from(record.shared().get(0).unwrap());
    /// let text = record.shared().slice(1..1 + length).to_vec(); // a copy, which nobody changes
    /// assert_eq!(str::from_utf8(&text)?, "hi");
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn shared(&self) -> SharedSlice<'_, u8> {
        let words = words_in(self.end.cached_slice(words_of(self.len)));
        let bytes = bytes_of(words, self.len);
        // SAFETY: the record was sent, and stays until this is dropped.
        unsafe { SharedSlice::new(bytes) }
    }
}

/// Looks for the next record, and returns its length. Passes padding before it.
#[inline]
pub(super) fn next_len<K: InPlace>(read: &mut K::Read<u64>) -> Option<usize> {
    let (mut first, mut words) = first_word::<K>(read);
    if first == Some(PADDING) && !seeded!("padding_not_skipped") {
        // Up to the last slot: the record behind it was sent together with it.
        K::current(read).advance(words);
        (first, words) = first_word::<K>(read);
    }
    // What is known ends with a record, so the whole of it is known.
    let len = first? as usize;
    if K::ControlBlock::ACROSS && words_of(len) > words && !seeded!("record_of_any_length") {
        // Another process has written what can't be: nothing behind it can be told apart.
        K::current(read).advance(words);
        read.state().close();
        return None;
    }
    Some(len)
}

/// The words of cells: a cell has the layout of one.
#[inline(always)]
fn words_in<C>(cells: NonNull<[C]>) -> NonNull<[u64]> {
    const { assert!(size_of::<C>() == size_of::<u64>()) }
    NonNull::slice_from_raw_parts(cells.cast(), cells.len())
}

/// The next word, read once, and how many lie beside each other.
#[inline(always)]
fn first_word<K: InPlace>(read: &mut K::Read<u64>) -> (Option<u64>, usize) {
    let words = K::read_end(read).readable(usize::MAX);
    // SAFETY: they were sent, and stay while the end is borrowed. A cell has the layout of a word.
    let words = unsafe { SharedSlice::new(words_in(words)) };
    (words.get(0), words.len())
}

/// Within one process.
impl<K: InPlace + QueueKind> Deref for Record<'_, K> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: this process alone has the memory, and its producer leaves the record as it is.
        unsafe { self.shared().as_slice() }
    }
}

/// Within one process.
impl<K: InPlace + QueueKind> AsRef<[u8]> for Record<'_, K> {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl<K: InPlace> Drop for Record<'_, K> {
    #[inline]
    fn drop(&mut self) {
        self.end.advance(words_of(self.len));
    }
}

/// A copy.
impl<K: InPlace> From<Record<'_, K>> for Box<[u8]> {
    fn from(record: Record<'_, K>) -> Self {
        record.to_vec().into()
    }
}

impl<K: InPlace> fmt::Debug for Record<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Record").field(&self.shared()).finish()
    }
}
