//! [`SharedSlice`]: messages where they lie, in memory that another process may write to.
//!
//! A `&[T]` promises that its bytes stay as they are while it lives. The compiler relies on that: it may load
//! a byte once or twice, and what `from_utf8` has checked is not checked again. No safe verb can promise that
//! of memory that another process can write to. So safe code gets copies: each read here is a volatile read,
//! or one by vectors in an `asm!` block, so the compiler executes it once, keeps the value, and assumes
//! nothing of the next one.
//!
//! *Why that is no data race*: a race is between threads of one program. This program's own threads keep to
//! the protocol of the lane: no end of theirs writes a slot that is shown. What another process does there is
//! outside of this program, as what a device does is, and a volatile read may find any bytes. Any bytes are a
//! `T`, which is [`Pod`].

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use core::ops::{Bound, RangeBounds};
use core::ptr::NonNull;

use bytemuck::Pod;

use crate::ring::copy_shared;

/// Messages, or the bytes of a record, which another process may change while this one reads them.
///
/// It is like a `&[T]` of which each read is a copy: what was copied stays as it is, and two copies of one
/// message may differ. So copy a message, check the copy, and use the copy. If the other process writes to a
/// message while this one copies it, the copy has bytes of before and after.
///
/// Made by verbs such as [`Consumer::readable_shared`](super::Consumer::readable_shared) and
/// [`Record::shared`](super::bytes::Record::shared). They work for each kind of queue, but within one process
/// there are plain slices.
///
/// ```
/// # #[cfg(all(feature = "shm", target_os = "linux"))] {
/// use annulus::shm::{Shared, WhenGone, spsc};
///
/// let builder = annulus::Settings::new(8);
/// let Shared { handle: mut producer, invitation, .. } = spsc::producer::<u32>(builder, WhenGone::Close)?;
/// let (mut consumer, _) = spsc::consumer::<u32>(&invitation)?; // usually in another process
/// producer.send_batch(&[1, 2, 3]).unwrap();
///
/// let messages = consumer.readable_shared();
/// assert_eq!((messages.len(), messages.get(0), messages.get(3)), (3, Some(1), None));
/// assert_eq!(messages.slice(1..).to_vec(), [2, 3]);
/// assert_eq!(messages.iter().sum::<u32>(), 6);
/// consumer.advance(3);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub struct SharedSlice<'a, T> {
    messages: NonNull<[T]>,
    /// Of the end that shows them.
    borrow: PhantomData<&'a [T]>,
}

// SAFETY: it allows what a `&[T]` does, or less.
unsafe impl<T: Sync> Send for SharedSlice<'_, T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for SharedSlice<'_, T> {}

impl<T> Clone for SharedSlice<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for SharedSlice<'_, T> {}

impl<'a, T> SharedSlice<'a, T> {
    /// # Safety
    ///
    /// For `'a` the memory is there, and no handle of this process writes to it. It holds values, if no other
    /// process can.
    #[inline(always)]
    pub(crate) unsafe fn new(messages: NonNull<[T]>) -> Self {
        Self { messages, borrow: PhantomData }
    }

    /// How many messages, or bytes, there are.
    #[must_use]
    #[inline(always)]
    pub fn len(self) -> usize {
        self.messages.len()
    }

    /// Whether there is none.
    #[must_use]
    #[inline(always)]
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The first of them, for code that reads them by pointers, volatile or atomic ones.
    #[must_use]
    #[inline(always)]
    pub fn as_ptr(self) -> *const T {
        self.messages.as_ptr().cast_const().cast()
    }

    /// The same as a slice, for a process that trusts the other one.
    ///
    /// # Safety
    ///
    /// While the slice lives, no other process writes there, and what it has written are values of `T`. The
    /// handles of this library see to that, but a process can write to all of the memory: it is in its hands
    /// alone.
    #[must_use]
    #[inline(always)]
    pub unsafe fn as_slice(self) -> &'a [T] {
        // SAFETY: `new` promises the memory, the caller that nobody else writes there.
        unsafe { self.messages.as_ref() }
    }

    /// The messages of `range`.
    ///
    /// # Panics
    ///
    /// If the range reaches beyond the last one, or begins behind its own end.
    #[inline]
    pub fn slice(self, range: impl RangeBounds<usize>) -> Self {
        let past = |index: &usize| index.checked_add(1).expect("the range ends beyond all numbers");
        let from = match range.start_bound() {
            Bound::Included(&from) => from,
            Bound::Excluded(before) => past(before),
            Bound::Unbounded => 0,
        };
        let to = match range.end_bound() {
            Bound::Included(last) => past(last),
            Bound::Excluded(&to) => to,
            Bound::Unbounded => self.len(),
        };
        assert!(from <= to && to <= self.len(), "no range {from}..{to}: {} are there", self.len());
        // SAFETY: a part of it (asserted).
        unsafe { Self::new(NonNull::slice_from_raw_parts(self.messages.cast().add(from), to - from)) }
    }
}

impl<'a> SharedSlice<'a, u8> {
    /// The bytes as values of another type. `None` if they are no whole number of `U`s, or do not begin where
    /// a `U` may.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(all(feature = "shm", target_os = "linux"))] {
    /// use annulus::shm::frames::Builder;
    ///
    /// let made = Builder::new(annulus::Settings::new(2), 64).build()?;
    /// let mut publisher = made.handle;
    /// let mut subscriber = made.invitation.accept_frames()?.subscribe()?;
    /// publisher.publish(&[1, 0, 0, 0, 2, 0, 0, 0, 3])?;
    /// let frame = subscriber.recv()?;
    /// let bytes = frame.shared();
    /// assert_eq!(bytes.slice(..8).cast::<u32>().unwrap().get(1), Some(u32::from_ne_bytes([2, 0, 0, 0])));
    /// assert!(bytes.cast::<u32>().is_none());
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn cast<U: Pod>(self) -> Option<SharedSlice<'a, U>> {
        let (first, bytes) = (self.messages.cast::<U>(), self.len());
        let count = bytes.checked_div(size_of::<U>()).filter(|count| count * size_of::<U>() == bytes)?;
        // SAFETY: so many lie in these bytes, aligned.
        first.is_aligned().then(|| unsafe { SharedSlice::new(NonNull::slice_from_raw_parts(first, count)) })
    }
}

impl<'a, T: Pod> SharedSlice<'a, T> {
    /// A copy of number `index`; `None` if there are fewer.
    #[must_use]
    #[inline]
    pub fn get(self, index: usize) -> Option<T> {
        // SAFETY: it is one of them, and any bytes are a `T`.
        (index < self.len()).then(|| unsafe { self.as_ptr().add(index).read_volatile() })
    }

    /// Copies of all, one after the other.
    #[must_use]
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = T> + DoubleEndedIterator + 'a {
        // SAFETY: as in `get`.
        (0..self.len()).map(move |index| unsafe { self.as_ptr().add(index).read_volatile() })
    }

    /// Copies all of them to `copy`.
    ///
    /// # Panics
    ///
    /// If `copy` is longer or shorter.
    #[inline]
    pub fn copy_to(self, copy: &mut [T]) {
        assert!(copy.len() == self.len(), "{} do not fit in a slice of {}", self.len(), copy.len());
        // SAFETY: both are as long. Any bytes are a `T`.
        unsafe { self.copy_all(copy.as_mut_ptr()) };
    }

    /// A copy of all of them. Allocates.
    #[must_use]
    pub fn to_vec(self) -> Vec<T> {
        let mut copy = Vec::with_capacity(self.len());
        // SAFETY: there is memory for so many. Any bytes are a `T`.
        unsafe { self.copy_all(copy.as_mut_ptr()) };
        // SAFETY: they were written just now.
        unsafe { copy.set_len(self.len()) };
        copy
    }

    /// # Safety
    ///
    /// At `copy` there is memory for as many, which is nobody else's.
    #[inline]
    pub(super) unsafe fn copy_all(self, copy: *mut T) {
        // SAFETY: `new` and the caller promise the memory on both sides.
        unsafe { copy_shared(copy.cast(), self.as_ptr().cast(), size_of::<T>() * self.len()) };
    }
}

/// A copy of what is there now.
impl<T: Pod + fmt::Debug> fmt::Debug for SharedSlice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared<T>(messages: &[T]) -> SharedSlice<'_, T> {
        // SAFETY: they are borrowed as long, and nobody writes to them.
        unsafe { SharedSlice::new(NonNull::from(messages)) }
    }

    fn copies_of<T: Pod + PartialEq + fmt::Debug>(value: fn(u8) -> T) {
        let all: Vec<T> = (0..=if cfg!(miri) { 20 } else { 200 }).map(value).collect();
        for len in 0..=all.len() {
            let messages = shared(&all).slice(..len);
            assert_eq!((messages.len(), messages.is_empty()), (len, len == 0));
            assert_eq!(messages.to_vec(), all[..len]);
            let mut copy = alloc::vec![value(255); len];
            messages.copy_to(&mut copy);
            assert_eq!(copy, all[..len]);
            assert!(messages.iter().eq(all[..len].iter().copied()));
            assert_eq!((messages.get(len), messages.get(0)), (None, all[..len].first().copied()));
            // SAFETY: nobody writes to them.
            assert_eq!(unsafe { messages.as_slice() }, &all[..len]);
        }
        assert_eq!(alloc::format!("{:?}", shared(&all)), alloc::format!("{all:?}"));
    }

    #[test]
    fn copies_of_any_length_are_whole() {
        copies_of(|number| number);
        copies_of(u64::from);
        copies_of(|number| [number; 3]);
        copies_of(|_| ());
    }

    #[test]
    fn parts() {
        let numbers = shared(&[0, 1, 2, 3]);
        assert_eq!(numbers.slice(..).to_vec(), [0, 1, 2, 3]);
        assert_eq!(numbers.slice(1..=2).slice(1..).to_vec(), [2]);
        assert_eq!(numbers.slice((Bound::Excluded(2), Bound::Unbounded)).to_vec(), [3]);
        assert!(numbers.slice(4..).is_empty() && numbers.slice(2..2).is_empty());
    }

    #[test]
    #[cfg(feature = "std")]
    fn range_that_is_not_there_is_refused() {
        let numbers = shared(&[0, 1, 2, 3]);
        let refused =
            |verb: &dyn Fn()| std::panic::catch_unwind(core::panic::AssertUnwindSafe(verb)).is_err();
        #[allow(clippy::reversed_empty_ranges, reason = "on purpose")]
        let backwards = 3..2;
        assert!(refused(&|| _ = numbers.slice(backwards.clone())));
        assert!(refused(&|| _ = numbers.slice(..5)));
        assert!(refused(&|| _ = numbers.slice(..=usize::MAX)));
        assert!(refused(&|| numbers.copy_to(&mut [0; 3])));
    }
}
