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
//! After Lamport (1977); each side keeps a copy of the other's number, after Rigtorp's `SPSCQueue`. A writer
//! does L1 only when the slots that it knows to be free are used up, and a reader does L5 only when it has
//! taken the messages that it knew of. The writer's copy is in the lane (`cached_limit`), the reader's is in
//! its handle.
//!
//! *Why no slot has two users.* L3 gives a slot to the reader, and L5 takes it (Release, Acquire). L7 and L1
//! give it back. Numbers only grow, and each has one writer, so an old copy names fewer messages or free
//! slots than there are, never more.
//!
//! *The end.* Any handle may close a queue while a writer is between L2 and L4. The message is then either
//! delivered or given back. Whoever writes `end` first decides. A reader that has seen the close writes the
//! tail that it saw (E1). A writer that sees the close after L3 writes its own tail (E2). From then on the
//! reader goes by `end`, and a writer whose message lies behind it takes the message back. E1 and E2 come
//! after a pair of fences: the one in L4, and that of the reader before E1. So E1 has seen every message of a
//! writer that does not see the close.
//!
//! Numbers are 64 bits wide and may wrap.

#[cfg(not(annulus_loom))]
use core::mem::offset_of;

use super::hand_off::HandOff;
use super::{Cells, Position};
use crate::error::CapacityError;
use crate::os::numa::NumaNode;
use crate::sync::{AtomicU64, Ordering, UnsafeCell, mutated, ordering};

/// A number on two cache lines of its own, because processors fetch lines in pairs.
#[repr(align(128))]
pub(super) struct CacheLine(pub(super) AtomicU64);

/// The first line has what the writer writes and a waiting reader looks at. The next line has what only the
/// writer uses.
#[repr(C, align(128))]
// Decision 0054: what else was tried with this line.
struct ProducerLine<T> {
    tail: AtomicU64,
    hand_off: HandOff<T>,
    /// The slots before this message are known to be free. It is kept here and not in the handle, which has
    /// only what each message needs.
    cached_limit: UnsafeCell<u64>,
}

/// One queue. Whoever makes it decides which handle writes and which one reads.
#[repr(C)]
// Decision 0042: no stamps.
pub(crate) struct Lane<T> {
    cells: Cells<T>,
    /// The number of its first message. Constant.
    first: u64,
    /// 0 while the lane is open. Later, the number of its messages plus one.
    end: AtomicU64,
    /// The next message to be sent. Written by the writer.
    front: ProducerLine<T>,
    /// The next message to be taken. Written by the reader.
    head: CacheLine,
}

// Which lines they are on (docs/LAYOUT.md). A number that slips to another line slows the lane down, and no
// test fails. (Under loom an atomic is larger.)
#[cfg(not(annulus_loom))]
const _: () = {
    assert!(offset_of!(Lane<u64>, front) == 128, "what does not change is before it");
    assert!(offset_of!(ProducerLine<u64>, tail) == 0, "the hand-off ends with this line");
    assert!(offset_of!(ProducerLine<u64>, cached_limit) == 64, "no reader looks at this line");
    assert!(offset_of!(Lane<u64>, head) == 256, "the reader's lines");
    assert!(size_of::<Lane<u64>>() == 384, "nobody else is on the reader's lines");
};

// SAFETY: messages move in on one thread and out on another, or are dropped there: that takes `T: Send`.
unsafe impl<T: Send> Send for Lane<T> {}
// SAFETY: as above. No two threads ever look at a slot at once, and only the writer at what it knows of the
// room, as `cached_limit` and `cache_limit` demand.
unsafe impl<T: Send> Sync for Lane<T> {}

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

    /// The slots. Each may be used by its one user at that time.
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

    /// L1: the slots before this message are free. The messages in them were moved out.
    #[inline(always)]
    pub(crate) fn read_limit(&self) -> u64 {
        // Acquire: pairs with L7.
        self.head.0.load(ordering!(Acquire unless "lane_limit_relaxed")).wrapping_add(self.capacity() as u64)
    }

    /// The slots before this message are known to be free; there may be more.
    ///
    /// # Safety
    ///
    /// The caller is the writer, and there is no other one meanwhile.
    #[inline(always)]
    pub(crate) unsafe fn cached_limit(&self) -> u64 {
        // SAFETY: the caller's promise.
        self.front.cached_limit.with(|limit| unsafe { *limit })
    }

    /// Notes that the slots before message `until` are free.
    ///
    /// # Safety
    ///
    /// As of [`cached_limit`](Self::cached_limit).
    #[inline(always)]
    pub(crate) unsafe fn cache_limit(&self, until: u64) {
        // SAFETY: the caller's promise.
        self.front.cached_limit.with_mut(|limit| unsafe { *limit = until });
    }

    /// L3: gives the reader the messages before `tail`.
    #[inline(always)]
    pub(crate) fn publish(&self, tail: u64) {
        // Release: pairs with L5.
        self.front.tail.store(tail, ordering!(Release unless "lane_tail_relaxed"));
    }

    /// L5: messages are there before this number.
    #[inline(always)]
    pub(crate) fn tail(&self) -> u64 {
        // Acquire: pairs with L3.
        self.front.tail.load(ordering!(Acquire unless "lane_look_relaxed"))
    }

    /// A1: the reader has taken all messages before the one at `at`, and asks for that one.
    pub(crate) fn ask_for(&self, at: Position<T>) {
        if HandOff::<T>::FITS {
            self.front.hand_off.ask_for(at.number);
            // A4 will write there.
            at.prefetch_to_write();
        }
    }

    /// A2: whether the writer must [hand over](Self::hand_over) its next message, `number`.
    #[inline(always)]
    pub(crate) fn is_asked_for(&self, number: u64) -> bool {
        HandOff::<T>::FITS && self.front.hand_off.is_asked_for(number)
    }

    /// A3: hands over message `number`, instead of writing it to its slot.
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

    /// A4: afterwards the message at `at` is in its slot, whether it was handed over or not.
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

    /// The next message to be taken. For a thread that is about to become the reader or the writer, or where
    /// there is neither.
    pub(crate) fn head(&self) -> u64 {
        // Acquire: pairs with L7.
        self.head.0.load(Ordering::Acquire)
    }

    /// E1, E2: ends the lane before `number`, unless it was ended elsewhere before. Returns where it ends.
    pub(crate) fn seal(&self, number: u64) -> u64 {
        // A count, because any number may be the end, and 0 means open.
        let end = number.wrapping_sub(self.first).wrapping_add(1);
        if mutated!("seal_not_atomic") && self.end.load(Ordering::Acquire) == 0 {
            self.end.store(end, Ordering::Release);
            return number;
        }
        // Acquire and Release: they pair with each other, so the reader sees the tail of a writer that was
        // first.
        match self.end.compare_exchange(0, end, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => number,
            Err(end) => end.wrapping_sub(1).wrapping_add(self.first),
        }
    }

    /// How many messages lie in it. A snapshot, never above the capacity. One of the two sides calls it, so
    /// one of the numbers does not change.
    pub(crate) fn len(&self) -> usize {
        let (tail, head) = (self.tail(), self.head());
        // Negative where the reader took more meanwhile than there had been.
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
            // Before the drop, so that a destructor that panics does not run twice.
            self.release(position.number);
            // SAFETY: nobody else has the lane, and a message lies in every slot from the head to the tail.
            // (None was handed over and not accepted: the reader looks once more when it is dropped, and
            // nothing is sent after that.)
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
