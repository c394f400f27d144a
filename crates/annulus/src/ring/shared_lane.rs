//! A shared lane: a queue between one writer and many readers.
//!
//! ```text
//! writer                                      reader
//! V1  stamp = free(n)?          Acquire       V4  stamp of the head = full(n)?   Acquire
//! V2  move the message in                     V5  head: n → n + 1, if nobody was faster
//! V3  stamp := full(n)          Release       V6  move the message out; stamp := free(n + count)   Release
//! ```
//!
//! After Vyukov's bounded queue, with one writer. A reader claims messages before it moves them, several at once where they are full, so
//! nothing is read that another one may move, and any type will do. A reader that is held up between V5 and V6 holds up only the slots that
//! it has claimed: other readers go on behind it, and the writer until it comes round to them.
//!
//! *Why no slot has two users.* A full slot is the writer's no more (V3), and goes to the one reader whose V5 moved the head past its
//! number; the head only grows, so that happens once. V6 and V1 give it back.
//!
//! *The end.* As in `lane.rs`, a message may be on its way while somebody closes the queue. A writer that sees the close after V3 tries to
//! claim its own message (E3). If it can, no reader has it, and it is given back. If not, because readers are still before it, it
//! writes the head as it is: whoever comes next to the head then sees this message too (Release, Acquire).
//!
//! A reader that has seen the close, and then finds nothing, puts the head where no message will ever be (E4): what is still on its way can't
//! be claimed by anybody from then on, and its writer takes it back. So when one reader says that everything was received, it is so for all.
//! Both come after a pair of fences (the writer's after V3, the reader's before E4): a writer that does not see the close has been seen by E4.

use core::mem::MaybeUninit;

use super::index::Index;
use super::{Cells, Sequence, lane::Alone};
use crate::error::CapacityError;
use crate::os::numa::Node;
use crate::sync::{AtomicU64, Ordering, UnsafeCell, mutated};

/// A slot, with a word that says for which message it is free, or with which it is full.
struct Slot<T> {
    stamp: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// Free for message `number`.
fn free(number: u64) -> u64 {
    number.wrapping_mul(2)
}

/// Full with message `number`.
fn full(number: u64) -> u64 {
    free(number).wrapping_add(1)
}

/// How far E4 moves the head: behind every message that there will ever be.
const OVER: u64 = 1 << 61;

/// A difference of two numbers, the first of which may be the earlier one.
#[allow(clippy::cast_possible_wrap, reason = "that is what it is for")]
fn signed(difference: u64) -> i64 {
    difference as i64
}

/// One queue. Which handle writes is the business of whoever makes it; anybody may read.
#[repr(C)]
pub(crate) struct SharedLane<T> {
    /// Each holds a [`Slot`], from here to the drop.
    slots: Cells<Slot<T>>,
    index: Index,
    /// The number of its first message. Constant.
    first: u64,
    /// The writer that left: where the next one goes on.
    left_at: AtomicU64,
    /// The next message to be claimed.
    head: Alone,
}

// SAFETY: messages move in on one thread and out on another, or are dropped there: that takes `T: Send`.
unsafe impl<T: Send> Send for SharedLane<T> {}
// SAFETY: as above; no two threads ever look at a slot at once.
unsafe impl<T: Send> Sync for SharedLane<T> {}

impl<T> SharedLane<T> {
    /// A lane of `capacity` slots in memory of `node`, whose first message is number `first`.
    pub(crate) fn new(capacity: usize, first: u64, node: Node) -> Result<Self, CapacityError> {
        if capacity == 0 {
            return Err(CapacityError::TooSmall { capacity, minimum: 1 });
        }
        let slots = Cells::new(capacity, node)?;
        for count in 0..capacity {
            let stamp = AtomicU64::new(free(first.wrapping_add(count as u64)));
            // SAFETY: below the capacity, and nobody else has them yet.
            unsafe { slots.write(count, Slot { stamp, value: UnsafeCell::new(MaybeUninit::uninit()) }) };
        }
        Ok(Self {
            slots,
            index: Index::new(capacity),
            first,
            left_at: AtomicU64::new(first),
            head: Alone(AtomicU64::new(first)),
        })
    }

    #[inline(always)]
    pub(crate) fn capacity(&self) -> usize {
        self.slots.count()
    }

    #[inline(always)]
    fn slot(&self, number: u64) -> &Slot<T> {
        let index = self.index.of(Sequence::new(number.wrapping_sub(self.first)));
        // SAFETY: the index is below the capacity; the slots are there as long as this is.
        unsafe { self.slots.value(index) }
    }

    /// V1: whether the slot of message `number` is empty; it is the writer's then.
    #[inline(always)]
    pub(crate) fn is_free(&self, number: u64) -> bool {
        let ordering = if mutated!("shared_free_relaxed") { Ordering::Relaxed } else { Ordering::Acquire };
        // Acquire: pairs with V6; what was there is moved out.
        self.slot(number).stamp.load(ordering) == free(number)
    }

    /// V2 and V3.
    ///
    /// # Safety
    ///
    /// The caller is the one writer, and its next message is `number`, for which it saw [`is_free`](Self::is_free).
    #[inline(always)]
    pub(crate) unsafe fn send(&self, number: u64, value: T) {
        let slot = self.slot(number);
        // SAFETY: a free slot is the writer's alone.
        slot.value.with_mut(|place| unsafe { (*place).write(value) });
        let ordering = if mutated!("shared_full_relaxed") { Ordering::Relaxed } else { Ordering::Release };
        // V3. Release: pairs with V4.
        slot.stamp.store(full(number), ordering);
    }

    /// V4: whether message `number` is there, or was.
    fn is_full(&self, number: u64) -> bool {
        let ordering = if mutated!("shared_look_relaxed") { Ordering::Relaxed } else { Ordering::Acquire };
        // Acquire: pairs with V3.
        self.slot(number).stamp.load(ordering) == full(number)
    }

    /// V4 and V5: claims up to `most` messages, and returns the first and how many; `None` where nothing is there.
    #[inline]
    pub(crate) fn claim(&self, most: usize) -> Option<(u64, usize)> {
        // Acquire: as a failure below.
        let mut head = self.head.0.load(Ordering::Acquire);
        loop {
            let most = most.min(self.capacity()) as u64;
            let count = (0..most).take_while(|&count| self.is_full(head.wrapping_add(count))).count();
            let now = if count == 0 {
                // Empty, if the head was not an old one.
                self.head.0.load(Ordering::Acquire)
            } else {
                if mutated!("shared_claim_not_atomic") {
                    self.head.0.store(head.wrapping_add(count as u64), Ordering::Release);
                    return Some((head, count));
                }
                let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
                // V5. The stamps order the messages. Acquire and Release: pair with E3, and on with the next claim.
                match self.head.0.compare_exchange_weak(
                    head,
                    head.wrapping_add(count as u64),
                    success,
                    failure,
                ) {
                    Ok(_) => return Some((head, count)),
                    Err(now) => now,
                }
            };
            if count == 0 && now == head {
                return None;
            }
            head = now;
        }
    }

    /// V4: whether nothing is there, for certain: where another reader was faster, it may say that something is.
    pub(crate) fn is_empty(&self) -> bool {
        // Acquire: as in `claim`.
        let head = self.head.0.load(Ordering::Acquire);
        !self.is_full(head) && self.head.0.load(Ordering::Acquire) == head
    }

    /// V6.
    ///
    /// # Safety
    ///
    /// The caller has claimed message `number`, and moves it out once.
    #[inline(always)]
    pub(crate) unsafe fn take(&self, number: u64) -> T {
        let slot = self.slot(number);
        // SAFETY: it is full, and the caller's alone.
        let value = slot.value.with_mut(|place| unsafe { (*place).assume_init_read() });
        let ordering = if mutated!("shared_taken_relaxed") { Ordering::Relaxed } else { Ordering::Release };
        // Release: pairs with V1.
        slot.stamp.store(free(number.wrapping_add(self.capacity() as u64)), ordering);
        value
    }

    /// E3: the writer sent the messages from `first` to before `end`, and then saw that the queue is closed. Returns before which of them
    /// they are the readers'; the others are claimed by the caller, who takes them back.
    pub(crate) fn settle(&self, first: u64, end: u64) -> u64 {
        let mut head = self.head.0.load(Ordering::Acquire);
        loop {
            if self.is_over(head) {
                // E4 came first. It ended the lane at the first message that it did not see.
                let over = head.wrapping_sub(OVER);
                return if signed(over.wrapping_sub(first)) > 0 { over } else { first };
            }
            // Of these messages, how many are claimed; negative where readers are still before them.
            let claimed = signed(head.wrapping_sub(first));
            let sent = end.wrapping_sub(first);
            if claimed >= signed(sent) {
                return end;
            }
            let next = if claimed < 0 { head } else { end };
            // Release: pairs with the Acquire of V5, and of the look before it.
            match self.head.0.compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return if claimed < 0 { end } else { head },
                Err(now) => head = now,
            }
        }
    }

    /// E4: ends the lane if nothing lies in it, and says whether it is ended. The caller has seen that the queue is closed, and called
    /// [`Event::barrier`](crate::wait::Event::barrier).
    pub(crate) fn seal(&self) -> bool {
        // Acquire: pairs with E3.
        let head = self.head.0.load(Ordering::Acquire);
        if self.is_over(head) {
            return true;
        }
        let over = head.wrapping_add(OVER);
        // Relaxed: after it nobody takes anything. As a change of what E3 wrote it stands for that, too.
        !self.is_full(head)
            && self.head.0.compare_exchange(head, over, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// Whether `head` is where E4 puts it.
    fn is_over(&self, head: u64) -> bool {
        head.wrapping_sub(self.first) >= OVER
    }

    /// The writer leaves; its next message would be `number`.
    pub(crate) fn leave_at(&self, number: u64) {
        // Relaxed: the next writer comes by an Acquire that pairs with the Release of whoever lets it come.
        self.left_at.store(number, Ordering::Relaxed);
    }

    /// Where the next writer goes on.
    pub(crate) fn left_at(&self) -> u64 {
        self.left_at.load(Ordering::Relaxed)
    }

    /// How many messages wait to be claimed. A snapshot, never above the capacity. O(log capacity): the writer stores no count, so this
    /// looks for the first slot that is not full.
    pub(crate) fn len(&self) -> usize {
        let head = self.head.0.load(Ordering::Acquire);
        let was_sent = |count: u64| {
            let number = head.wrapping_add(count);
            let stamp = self.slot(number).stamp.load(Ordering::Relaxed);
            // Full, or later.
            signed(stamp.wrapping_sub(full(number))) >= 0
        };
        let (mut low, mut high) = (0, self.capacity() as u64);
        while low < high {
            let middle = low.midpoint(high);
            if was_sent(middle) { low = middle + 1 } else { high = middle }
        }
        low as usize
    }
}

impl<T> Drop for SharedLane<T> {
    fn drop(&mut self) {
        while let Some((number, _)) = self.claim(1) {
            // SAFETY: claimed just now.
            drop(unsafe { self.take(number) });
        }
        for index in 0..self.capacity() {
            // SAFETY: made in `new`, and nobody uses them any more.
            let _: Slot<T> = unsafe { self.slots.take(index) };
        }
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use alloc::boxed::Box;

    use super::*;

    /// A lane of four with this many messages, of which so many are claimed and moved out.
    fn lane(first: u64, sent: u64, claimed: usize) -> SharedLane<Box<u64>> {
        let lane = SharedLane::new(4, first, None).unwrap();
        for count in 0..sent {
            // SAFETY: nobody else writes, and four are free.
            unsafe { lane.send(first.wrapping_add(count), Box::new(count)) };
        }
        if let Some((number, count)) = lane.claim(claimed) {
            // SAFETY: claimed just now.
            (0..count as u64).for_each(|count| drop(unsafe { lane.take(number.wrapping_add(count)) }));
        }
        lane
    }

    const FIRSTS: [u64; 3] = [0, 7, u64::MAX - 1];

    #[test]
    fn a_claimed_slot_is_not_the_next_laps() {
        for first in FIRSTS {
            let lane = lane(first, 4, 0);
            assert_eq!(lane.claim(4), Some((first, 4)));
            // Claimed, and still full.
            assert_eq!(lane.claim(4), None);
            assert!(lane.is_empty());
            let next = first.wrapping_add(4);
            assert!(!lane.is_free(next));
            // SAFETY: claimed above.
            (0..4).for_each(|count| drop(unsafe { lane.take(first.wrapping_add(count)) }));
            assert!(lane.is_free(next) && !lane.is_free(first) && !lane.is_free(next.wrapping_add(4)));
        }
    }

    #[test]
    fn empty_is_what_is_not_there() {
        for first in FIRSTS {
            let (none, two, left) = (lane(first, 0, 0), lane(first, 2, 0), lane(first, 2, 1));
            assert_eq!([&none, &two, &left].map(SharedLane::is_empty), [true, false, false]);
            assert_eq!([&none, &two, &left].map(SharedLane::len), [0, 2, 1]);
            assert_eq!(left.claim(4), Some((first.wrapping_add(1), 1)));
            assert!(left.is_empty());
            // SAFETY: claimed just now.
            drop(unsafe { left.take(first.wrapping_add(1)) });
        }
    }

    /// Of three messages, the writer settles all but the first: what becomes of them where so many were claimed.
    fn settled(first: u64, claimed: usize) -> (u64, usize) {
        let lane = lane(first, 3, claimed);
        let until = lane.settle(first.wrapping_add(1), first.wrapping_add(3));
        let left = lane.len();
        // SAFETY: the writer has claimed these.
        (until.wrapping_sub(first)..3)
            .for_each(|count| drop(unsafe { lane.take(first.wrapping_add(count)) }));
        (until.wrapping_sub(first), left)
    }

    #[test]
    fn what_no_reader_can_have_is_taken_back() {
        for first in FIRSTS {
            assert_eq!(settled(first, 0), (3, 3), "a reader comes to them by the one before");
            assert_eq!(settled(first, 1), (1, 0), "none was claimed");
            assert_eq!(settled(first, 2), (2, 0), "one was claimed");
            assert_eq!(settled(first, 3), (3, 0), "all were claimed");
        }
    }

    #[test]
    fn what_comes_after_the_end_is_taken_back() {
        for first in FIRSTS {
            let at = |count| first.wrapping_add(count);
            let full = lane(first, 2, 1);
            assert!(!full.seal(), "something is there");
            let lane = lane(first, 2, 2);
            assert!(lane.seal() && lane.seal());
            assert_eq!(lane.claim(4), None);
            for (from, until) in [(0, 2), (1, 2), (2, 2), (3, 3)] {
                assert_eq!(lane.settle(at(from), at(4)), at(until));
            }
        }
    }

    #[test]
    fn what_is_left_is_dropped() {
        let message = alloc::sync::Arc::new(());
        let lane = SharedLane::new(4, u64::MAX, None).unwrap();
        for number in [u64::MAX, 0, 1] {
            // SAFETY: nobody else writes, and four are free.
            unsafe { lane.send(number, message.clone()) };
        }
        assert_eq!(lane.claim(1), Some((u64::MAX, 1)));
        // SAFETY: claimed just now.
        drop(unsafe { lane.take(u64::MAX) });
        assert_eq!(alloc::sync::Arc::strong_count(&message), 3);
        drop(lane);
        assert_eq!(alloc::sync::Arc::strong_count(&message), 1);
    }

    #[test]
    fn who_finds_nothing_is_right() {
        let (rounds, capacity) = if cfg!(miri) { (5, 4) } else { (100, 5000) };
        for _ in 0..rounds {
            let start = std::sync::Barrier::new(2);
            let lane = SharedLane::new(capacity, 0, None).unwrap();
            // SAFETY: nobody else writes, and all are free.
            (0..capacity as u64).for_each(|number| unsafe { lane.send(number, Box::new(number)) });
            let receive_all = || {
                start.wait();
                while let Some((number, _)) = lane.claim(1) {
                    // SAFETY: claimed just now.
                    assert_eq!(*unsafe { lane.take(number) }, number);
                }
                assert_eq!(lane.head.0.load(Ordering::Relaxed), capacity as u64, "some were still there");
            };
            std::thread::scope(|scope| {
                scope.spawn(receive_all);
                receive_all();
            });
        }
    }
}
