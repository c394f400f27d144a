//! A lane: a queue between one writer and one reader.
//!
//! ```text
//! writer                                      reader
//! L1  tail < head + count?      Acquire       L5  head < tail?           Acquire
//! L2  move the message in                     L6  move the message out
//! L3  tail := tail + 1          Release       L7  head := head + 1       Release
//! L4  look who needs to know (queue/state.rs) L8  look who waits for slots
//! ```
//!
//! After Lamport (1977), with each side's copy of the other's number, after Rigtorp's `SPSCQueue`: a writer does L1 only when the slots
//! that it knows to be free are used up, a reader does L5 only when it has taken what it knew of. These copies are in the handles, not here.
//!
//! *Why no slot has two users.* L3 gives a slot to the reader, L5 takes it (Release, Acquire); L7 and L1 give it back. Numbers only
//! grow, and each has one writer, so an old copy is only too careful.
//!
//! *The end.* Any handle may close a queue while a writer is between L2 and L4, and a message is then delivered or given back, never
//! both and never neither. Whoever is first to write `end` decides: the reader, who has seen the close, writes what it saw of the tail (E1); a
//! writer that sees the close after L3 writes its tail (E2). From then on the reader goes by `end`, and a writer whose message lies
//! behind it takes it back. Both come after a pair of fences (L4's, and the reader's before E1): a writer that does not see the
//! close has been seen by E1.
//!
//! Numbers are 64 bits wide and may wrap.

use super::hand_off::HandOff;
use super::{Cells, Position};
use crate::error::CapacityError;
use crate::os::numa::NumaNode;
use crate::sync::{AtomicU64, Ordering, UnsafeCell, mutated, ordering};

/// A number on a pair of lines of its own, which processors fetch together.
#[repr(align(128))]
pub(super) struct CacheLine(pub(super) AtomicU64);

/// What the writer writes and a reader that waits looks at: one line. On the next one, what the writer has for itself.
#[repr(C, align(128))]
// Decision 0054: what else was tried with this line.
struct ProducerLine<T> {
    tail: AtomicU64,
    hand_off: HandOff<T>,
    /// The message before which the writer knows of free slots. Here and not in its handle, which has no more than each message needs.
    cached_limit: UnsafeCell<u64>,
}

/// One queue. Which handle writes and which reads is the business of whoever makes it.
#[repr(C)]
// Decision 0042: no stamps.
pub(crate) struct Lane<T> {
    cells: Cells<T>,
    /// The number of its first message. Constant.
    first: u64,
    /// 0 while open; then, how many messages it will have had in all, and one.
    end: AtomicU64,
    /// The next message to be sent. Written by the writer.
    front: ProducerLine<T>,
    /// The next message to be taken. Written by the reader.
    head: CacheLine,
}

impl<T> Lane<T> {
    /// A lane of `capacity` slots in memory of `node`, whose first message is number `first`.
    pub(crate) fn new(capacity: usize, first: u64, node: NumaNode) -> Result<Self, CapacityError> {
        if capacity == 0 {
            return Err(CapacityError::TooSmall { capacity, minimum: 1 });
        }
        Ok(Self {
            cells: Cells::new(capacity, node)?,
            first,
            end: AtomicU64::new(0),
            front: ProducerLine {
                tail: AtomicU64::new(first),
                hand_off: HandOff::new(first),
                cached_limit: UnsafeCell::new(first),
            },
            head: CacheLine(AtomicU64::new(first)),
        })
    }

    /// The slots, for who is their only user now.
    #[inline(always)]
    pub(crate) fn cells(&self) -> &Cells<T> {
        &self.cells
    }

    #[inline(always)]
    pub(crate) fn capacity(&self) -> usize {
        self.cells.count()
    }

    /// Where message `number` lies.
    pub(crate) fn position(&self, number: u64) -> Position<T> {
        let slot = number.wrapping_sub(self.first) % self.capacity() as u64;
        Position::new(number, slot as usize, &self.cells)
    }

    /// L1: the message before which slots are free. What was in the slots is moved out.
    #[inline(always)]
    pub(crate) fn read_limit(&self) -> u64 {
        // Acquire: pairs with L7.
        self.head.0.load(ordering!(Acquire unless "lane_limit_relaxed")).wrapping_add(self.capacity() as u64)
    }

    /// The message before which the writer knows of free slots; there may be more.
    ///
    /// # Safety
    ///
    /// The caller is the writer, and so is nobody else meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn cached_limit(&self) -> u64 {
        // SAFETY: the caller's promise.
        self.front.cached_limit.with(|limit| unsafe { *limit })
    }

    /// The writer knows that slots are free before message `until`.
    ///
    /// # Safety
    ///
    /// As of [`cached_limit`](Self::cached_limit).
    #[inline(always)]
    pub(crate) unsafe fn cache_limit(&self, until: u64) {
        // SAFETY: the caller's promise.
        self.front.cached_limit.with_mut(|limit| unsafe { *limit = until });
    }

    /// L3: gives the reader what lies before `tail`.
    #[inline(always)]
    pub(crate) fn publish(&self, tail: u64) {
        // Release: pairs with L5.
        self.front.tail.store(tail, ordering!(Release unless "lane_tail_relaxed"));
    }

    /// L5: the message before which there is something.
    #[inline(always)]
    pub(crate) fn tail(&self) -> u64 {
        // Acquire: pairs with L3.
        self.front.tail.load(ordering!(Acquire unless "lane_look_relaxed"))
    }

    /// A1: the reader has taken all messages before the one at `at`, and waits for that one.
    pub(crate) fn ask_for(&self, at: Position<T>) {
        if HandOff::<T>::FITS {
            self.front.hand_off.ask_for(at.number);
            // A4 will write there.
            at.prefetch_to_write();
        }
    }

    /// A2: whether the writer is to [hand over](Self::hand_over) its next message, `number`.
    #[inline(always)]
    pub(crate) fn is_asked_for(&self, number: u64) -> bool {
        HandOff::<T>::FITS && self.front.hand_off.is_asked_for(number)
    }

    /// A3: in place of writing message `number` to its slot.
    ///
    /// # Safety
    ///
    /// It [is asked for](Self::is_asked_for).
    #[inline(always)]
    pub(crate) unsafe fn hand_over(&self, number: u64, message: T) {
        // SAFETY: the caller's promise; it is asked for only if it fits.
        unsafe { self.front.hand_off.leave(number, message) };
    }

    /// Takes back what was handed over.
    ///
    /// # Safety
    ///
    /// The lane ends before that message.
    #[cold]
    pub(crate) unsafe fn take_back(&self) -> T {
        // SAFETY: the reader looks for no message behind the end.
        unsafe { self.front.hand_off.take_back() }
    }

    /// A4: the message at `at` is in its slot afterwards, handed over or not.
    ///
    /// # Safety
    ///
    /// The reader has asked for it, has seen that it is sent (L5), and has not accepted it before.
    #[inline(always)]
    pub(crate) unsafe fn accept(&self, at: Position<T>) {
        // SAFETY: the caller's promise.
        if let Some(message) = unsafe { self.front.hand_off.take(at.number) } {
            // SAFETY: L5 gave the slot to the reader, and the writer has left it empty.
            unsafe { self.cells.write_at(at, message) };
        }
    }

    /// L7: gives the writer the slots before `head`.
    #[inline(always)]
    pub(crate) fn release(&self, head: u64) {
        // Release: pairs with L1.
        self.head.0.store(head, ordering!(Release unless "lane_head_relaxed"));
    }

    /// The next message to be taken, for who is about to become its reader or writer, or nobody's.
    pub(crate) fn head(&self) -> u64 {
        // Acquire: pairs with L7.
        self.head.0.load(Ordering::Acquire)
    }

    /// E1, E2: the lane ends before `number`, unless it was decided before that it ends elsewhere. Returns the end.
    pub(crate) fn seal(&self, number: u64) -> u64 {
        // A count, because any number may be the end, and 0 is taken.
        let end = number.wrapping_sub(self.first).wrapping_add(1);
        if mutated!("seal_not_atomic") && self.end.load(Ordering::Acquire) == 0 {
            self.end.store(end, Ordering::Release);
            return number;
        }
        // Acquire and Release: pair with each other, so the reader sees the tail of a writer that was first.
        match self.end.compare_exchange(0, end, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => number,
            Err(end) => end.wrapping_sub(1).wrapping_add(self.first),
        }
    }

    /// How many messages lie in it. A snapshot, never above the capacity, for one of the two sides: so one of the numbers stands still.
    pub(crate) fn len(&self) -> usize {
        let (tail, head) = (self.tail(), self.head());
        // Negative where more were taken meanwhile than there had been.
        let len = tail.wrapping_sub(head);
        if len > u64::MAX / 2 { 0 } else { len as usize }
    }
}

impl<T> Drop for Lane<T> {
    fn drop(&mut self) {
        let mut position = self.position(self.head());
        while position.number != self.tail() {
            let at = position;
            position = position.next(&self.cells);
            // First, so that a destructor that panics is not run twice.
            self.release(position.number);
            // SAFETY: nobody else has the lane; a message lies in every slot from the head to the tail. (None was handed over and not accepted: the
            // reader looks once more when it goes, and nothing is sent after that.)
            drop(unsafe { self.cells.take_at(at) });
        }
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use alloc::boxed::Box;

    use super::*;

    #[test]
    fn what_is_handed_over_can_be_taken_back() {
        let lane = Lane::<Box<u8>>::new(2, 0, None).unwrap();
        lane.ask_for(lane.position(0));
        assert!(lane.is_asked_for(0) && !lane.is_asked_for(1));
        // SAFETY: it is asked for, and nothing is sent: so nobody looks for it.
        let back = unsafe {
            lane.hand_over(0, Box::new(7));
            lane.take_back()
        };
        assert_eq!(*back, 7);
    }

    #[test]
    fn the_first_to_write_the_end_decides() {
        let first = u64::MAX - 1;
        let lane = Lane::<u8>::new(2, first, None).unwrap();
        let end = first.wrapping_add(3);
        assert_eq!(lane.seal(end), end);
        assert_eq!(lane.seal(end.wrapping_add(1)), end);
        assert_eq!(lane.seal(first), end);
    }

    #[test]
    fn who_has_taken_more_than_is_seen_finds_none() {
        let lane = Lane::<u8>::new(4, 0, None).unwrap();
        lane.release(1);
        assert_eq!(lane.len(), 0);
        lane.release(0);
    }

    #[test]
    fn what_is_left_is_dropped() {
        let message = alloc::sync::Arc::new(());
        let lane = Lane::new(4, u64::MAX, None).unwrap();
        for number in [u64::MAX, 0, 1] {
            // SAFETY: the lane is empty, and this thread's.
            unsafe { lane.cells().write_at(lane.position(number), message.clone()) };
        }
        lane.publish(2);
        assert_eq!(lane.len(), 3);
        drop(lane);
        assert_eq!(alloc::sync::Arc::strong_count(&message), 1);
    }
}
