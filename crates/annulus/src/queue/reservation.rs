//! [`Reservation`]: slots that a producer writes in place.

use core::fmt;
use core::mem::MaybeUninit;
use core::ptr::{self, NonNull};

use super::kind::{AnyKind, QueueKind};
use super::write::WriteEnd;
use crate::base::drop_all::drop_values;

/// Adjacent free slots of a producer's ring; made by
/// [`Producer::try_reserve`](crate::queue::Producer::try_reserve).
///
/// Each verb that commits takes the reservation and sends all that it wrote at once, as the next messages.
/// Dropping the reservation sends nothing. If the queue was closed meanwhile, nothing is sent: the verbs
/// return 0, and what they wrote is dropped.
#[doc(alias = "Permit")]
#[doc(alias = "OwnedPermit")]
#[doc(alias = "WriteChunk")]
#[doc(alias = "WriteChunkUninit")]
#[doc(alias = "commit")]
#[must_use = "nothing is sent until a verb commits"]
pub struct Reservation<'p, T, K: AnyKind> {
    end: &'p mut WriteEnd<K::Cell<T>, K::ControlBlock>,
    /// Free slots of `end`: at least 1.
    slots: NonNull<[MaybeUninit<T>]>,
}

// SAFETY: a borrow of an end, and of slots that are that end's alone.
unsafe impl<T: Send, K: AnyKind> Send for Reservation<'_, T, K> {}
// SAFETY: a shared reference allows to ask for the length.
unsafe impl<T: Send, K: AnyKind> Sync for Reservation<'_, T, K> {}

impl<'p, T, K: AnyKind> Reservation<'p, T, K> {
    /// Up to `most` slots; `None` where there is none.
    #[inline]
    pub(super) fn new(end: &'p mut WriteEnd<K::Cell<T>, K::ControlBlock>, most: usize) -> Option<Self> {
        let cells = end.free_slots(most);
        // (A cell has the layout of a message.)
        let slots = NonNull::slice_from_raw_parts(cells.cast(), cells.len());
        (!slots.is_empty()).then_some(Self { end, slots })
    }

    /// How many slots are reserved: at least 1.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "it is never empty")]
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Writes the items of `values` until the iterator ends or the slots are full, sends them, and returns
    /// how many they are. If the iterator panics, nothing is sent, and what was written is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// let sent = producer.try_reserve(3).unwrap().write_iter(["a", "b"].map(String::from));
    /// assert_eq!(sent, 2);
    /// assert_eq!(consumer.try_iter().collect::<String>(), "ab");
    /// ```
    #[doc(alias = "commit_all")]
    #[doc(alias = "fill_from_iter")]
    #[must_use = "it says how many were sent: there may have been fewer slots, or the queue is closed"]
    #[inline]
    pub fn write_iter(self, values: impl IntoIterator<Item = T>) -> usize {
        let mut written = WrittenSlots { first: self.first(), count: 0 };
        for (index, value) in (0..self.slots.len()).zip(values) {
            // SAFETY: one of the slots.
            unsafe { written.first.add(index).write(value) };
            written.count = index + 1;
        }
        let count = written.count;
        core::mem::forget(written);
        // SAFETY: they were written just now.
        unsafe { self.end.publish_slots(count) }
    }

    /// Copies and sends as many of `values` as there are slots, and returns how many they are.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// assert_eq!(producer.try_reserve(2).unwrap().write_slice(&[1, 2, 3]), 2);
    /// assert_eq!(consumer.try_iter().collect::<Vec<_>>(), [1, 2]);
    /// ```
    #[must_use = "it says how many were sent: there may have been fewer slots, or the queue is closed"]
    #[inline]
    pub fn write_slice(self, values: &[T]) -> usize
    where
        T: Copy,
    {
        let count = self.slots.len().min(values.len());
        // SAFETY: so many slots are there, and nobody else looks at them.
        unsafe { ptr::copy_nonoverlapping(values.as_ptr(), self.first(), count) };
        // SAFETY: they were written just now.
        unsafe { self.end.publish_slots(count) }
    }

    /// Writes `value` to every slot, sends all slots, and returns how many they are.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// assert_eq!(producer.try_reserve(10).unwrap().fill(7), 4);
    /// assert_eq!(consumer.readable(), [7, 7, 7, 7]);
    /// ```
    #[must_use = "it says how many were sent: there may have been fewer slots, or the queue is closed"]
    #[inline]
    pub fn fill(self, value: T) -> usize
    where
        T: Copy,
    {
        for index in 0..self.slots.len() {
            // SAFETY: one of the slots.
            unsafe { self.first().add(index).write(value) };
        }
        // SAFETY: they were written just now.
        unsafe { self.end.publish_slots(self.slots.len()) }
    }

    /// The slots as uninitialized memory. Write them, then [commit](Self::commit) them. Within one process:
    /// otherwise the other one may write there, too, so there is [`as_mut_ptr`](Self::as_mut_ptr).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel::<u32>(4);
    /// let mut reservation = producer.try_reserve(2).unwrap();
    /// for (slot, value) in reservation.as_uninit().iter_mut().zip([10, 20]) {
    ///     slot.write(value);
    /// }
    /// // SAFETY: both slots were written.
    /// assert_eq!(unsafe { reservation.commit(2) }, 2);
    /// assert_eq!(consumer.recv(), Ok(10));
    /// ```
    #[inline]
    pub fn as_uninit(&mut self) -> &mut [MaybeUninit<T>]
    where
        K: QueueKind,
    {
        // SAFETY: they are `end`'s alone, and the borrow of this keeps it so.
        unsafe { self.slots.as_mut() }
    }

    /// The first slot; the others lie behind it. Write them, then [commit](Self::commit) them. It points to
    /// them until a verb commits, or this is dropped.
    ///
    /// For queues between processes: what was written there may be something else a moment later, so there is
    /// no slice, and what is read there is to be read by volatile or atomic reads. A message is any bytes all
    /// the same.
    #[must_use]
    #[inline]
    pub fn as_mut_ptr(&mut self) -> *mut T {
        self.first()
    }

    /// The first slot.
    #[inline(always)]
    fn first(&self) -> *mut T {
        self.slots.as_ptr().cast()
    }

    /// Sends the first `count` slots and returns how many are sent: all of them, or none if the queue was
    /// closed meanwhile. In that case they are dropped. A `count` of 0 sends nothing.
    ///
    /// # Safety
    ///
    /// The first `count` slots were written.
    ///
    /// # Panics
    ///
    /// If `count` is above [`len`](Self::len). Nothing is sent then.
    #[inline]
    #[allow(
        clippy::must_use_candidate,
        reason = "a caller that knows that the queue is open knows the answer"
    )]
    pub unsafe fn commit(self, count: usize) -> usize {
        assert!(count <= self.len(), "can't commit {count} slots: {} are reserved", self.len());
        // SAFETY: the caller wrote them, and there are as many.
        unsafe { self.end.publish_slots(count) }
    }
}

impl<T, K: AnyKind> fmt::Debug for Reservation<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reservation").field("len", &self.len()).finish_non_exhaustive()
    }
}

/// Slots that were written, and are dropped if what writes them panics.
struct WrittenSlots<T> {
    first: *mut T,
    count: usize,
}

impl<T> Drop for WrittenSlots<T> {
    fn drop(&mut self) {
        // SAFETY: they were written, and nobody else will read them.
        unsafe { drop_values(self.first, self.count) };
    }
}
