//! [`Record`]: a record that the consumer reads in the ring, and gives back when it is dropped.

use alloc::boxed::Box;
use core::fmt;
use core::ops::Deref;

use super::layout::{PADDING, bytes_of, words_of};
use crate::lane::ControlBlock;
use crate::queue::InPlace;
use crate::queue::ends::Read;
use crate::queue::read::ReadEnd;
use crate::spsc::Spsc;
use crate::sync::mutated;

/// One record: a slice of bytes, which lies in the ring. Made by [`Consumer::read`](super::Consumer::read)
/// and similar verbs.
///
/// When it is dropped, the record is received, and its room is free again. If it is
/// [forgotten](core::mem::forget), the next read returns the same record once more.
#[must_use = "a record that is dropped is gone"]
pub struct Record<'c, K: InPlace = Spsc> {
    /// Its next words are the record.
    end: &'c mut ReadEnd<u64, K::ControlBlock>,
    len: usize,
}

impl<'c, K: InPlace> Record<'c, K> {
    /// The next record of `read`, of the length that [`next_len`] found.
    #[inline]
    pub(super) fn new(read: &'c mut K::Read<u64>, len: usize) -> Self {
        Self { end: K::current(read), len }
    }
}

/// Looks for the next record, and returns its length. Passes padding before it.
#[inline]
pub(super) fn next_len<K: InPlace>(read: &mut K::Read<u64>) -> Option<usize> {
    let mut words = K::read_end(read).readable(usize::MAX);
    if words.first() == Some(&PADDING) && !mutated!("padding_not_skipped") {
        // Up to the last slot: the record behind it was sent together with it.
        let padding = words.len();
        K::current(read).advance(padding);
        words = K::read_end(read).readable(usize::MAX);
    }
    // What is known ends with a record, so the whole of it is known.
    let len = words.first().map(|&len| len as usize)?;
    if K::ControlBlock::ACROSS && words_of(len) > words.len() && !mutated!("record_of_any_length") {
        // Another process has written what can't be: nothing behind it can be told apart.
        let left = words.len();
        K::current(read).advance(left);
        read.state().close();
        return None;
    }
    Some(len)
}

impl<K: InPlace> Deref for Record<'_, K> {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        bytes_of(self.end.known_beside(words_of(self.len)), self.len)
    }
}

impl<K: InPlace> AsRef<[u8]> for Record<'_, K> {
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
        Self::from(&*record)
    }
}

impl<K: InPlace> fmt::Debug for Record<'_, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Record").field(&&**self).finish()
    }
}
