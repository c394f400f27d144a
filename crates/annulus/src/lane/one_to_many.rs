//! A one-to-many lane: a queue between one writer and many readers.
//!
//! The slots, and the steps stamped.send1 to stamped.take6 of a message, are those of `stamped.rs`. This file
//! has the end of the lane.
//!
//! *The end.* As in `one_to_one.rs`, a message may be on its way while the queue is closed. A writer that
//! sees the close after stamped.send3 tries to claim its own message (divide.settle1). If it can, no reader
//! has it, and it is given back. If it cannot, because readers are still before it, it writes the head
//! without changing it. Whoever moves the head next then sees this message too (Release, Acquire).
//!
//! A reader that has seen the close, and then finds nothing, puts the head where no message will ever be
//! (divide.end2). From then on nobody can claim a message that is still on its way, and its writer takes it
//! back. So when one reader says that everything was received, this is true for all readers. divide.settle1
//! and divide.end2 come after a pair of fences: that of the writer after stamped.send3, and that of the
//! reader before divide.end2. So divide.end2 has seen every message of a writer that does not see the close.

use core::ops::Deref;

use super::stamped::{Claimed, OVER, Stamped, StampedSlot};
use super::{Cells, Number, Span};
use crate::base::room::Before;
use crate::error::CapacityError;
#[cfg(feature = "std")]
use crate::memory::Block;
use crate::memory::Memory;
use crate::sync::{AtomicU64, Ordering};

/// One queue. Whoever makes it decides which handle writes. Anybody may read.
#[repr(C)]
pub(crate) struct OneToMany<T> {
    slots: Stamped<T>,
    /// Where the writer that left stopped, and the next one continues.
    left_at: AtomicU64,
}

/// The steps of a message, and the looks at what is there: as of any stamped slots.
impl<T> Deref for OneToMany<T> {
    type Target = Stamped<T>;

    #[inline(always)]
    fn deref(&self) -> &Stamped<T> {
        &self.slots
    }
}

impl<T> OneToMany<T> {
    /// The slots of a lane: `capacity` of them in `memory`, of which the first message is number `first`.
    #[inline(always)]
    pub(crate) fn slots(
        capacity: usize,
        first: Number,
        memory: &Memory,
        before: Before,
    ) -> Result<Cells<StampedSlot<T>>, CapacityError> {
        Stamped::slots(capacity, first, memory, before)
    }

    /// A lane of these slots.
    #[inline(always)]
    pub(crate) fn new(slots: Cells<StampedSlot<T>>, first: Number) -> Self {
        Self { slots: Stamped::new(slots, first), left_at: AtomicU64::new(first.get()) }
    }

    /// Where the slots lie.
    #[cfg(feature = "std")]
    pub(crate) fn block(&self) -> &Block {
        self.slots.block()
    }

    /// stamped.send2 and stamped.send3.
    ///
    /// # Safety
    ///
    /// The caller is the one writer, and its next message is `number`, for which it saw
    /// [`is_free`](Stamped::is_free).
    #[inline(always)]
    pub(crate) unsafe fn send(&self, number: Number, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.slots.write(number, value) };
    }

    /// divide.settle1: the writer sent the messages from `first` to before `end`, and then saw that the queue
    /// is closed. Returns those that no reader will receive; the others belong to the readers.
    ///
    /// # Safety
    ///
    /// The caller is the one writer, sent these messages last, and calls this once for them.
    // Unreached: a close beside a send: two threads have to meet there; loom shared_wake
    pub(crate) unsafe fn settle(&self, first: Number, end: Number) -> Claimed<'_, T> {
        // SAFETY: the messages from there on lie behind the end (divide.end2), or are claimed
        // (divide.settle1).
        unsafe { self.slots.claimed(self.first_unsent(first, end), end) }
    }

    /// divide.settle1: the messages before the returned number belong to the readers. Those from there to
    /// before `end` are claimed.
    // Unreached: a close beside a send: two threads have to meet there; loom shared_wake
    fn first_unsent(&self, first: Number, end: Number) -> Number {
        let mut head = self.slots.head.load(Ordering::Acquire);
        loop {
            if self.slots.is_over(head) {
                // divide.end2 came first. It ended the lane at the first message that it did not see.
                let over = head.back(OVER);
                return if first.is_before(over) { over } else { first };
            }
            if !head.is_before(end) {
                return end;
            }
            // Whether readers are still before these messages.
            let is_before = head.is_before(first);
            let next = if is_before { head } else { end };
            // Release: pairs with the Acquire of stamped.take5, and of the look before it.
            match self.slots.head.compare_exchange(head, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(()) => return if is_before { end } else { head },
                Err(now) => head = now,
            }
        }
    }

    /// divide.end2: ends the lane if no message lies in it, and returns whether it is ended. The caller has
    /// seen that the queue is closed, and then called
    /// [`EventCount::barrier`](crate::wait::EventCount::barrier).
    pub(crate) fn seal(&self) -> bool {
        // Acquire: pairs with divide.settle1.
        let head = self.slots.head.load(Ordering::Acquire);
        if self.slots.is_over(head) {
            return true;
        }
        let over = head.plus(OVER);
        // Relaxed: nobody takes anything after it. It is a read-modify-write, so it continues the release of
        // divide.settle1, too.
        !self.slots.is_full(head)
            && self.slots.head.compare_exchange(head, over, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The writer leaves; its next message would be `number`.
    pub(crate) fn leave_at(&self, number: Number) {
        // Relaxed: the next writer comes through an Acquire that pairs with the Release of whoever lets it
        // come.
        self.left_at.store(number.get(), Ordering::Relaxed);
    }

    /// Where the next writer continues.
    pub(crate) fn left_at(&self) -> Number {
        Number::new(self.left_at.load(Ordering::Relaxed))
    }

    /// The next message to be claimed, or where the lane is over, a number far behind.
    pub(crate) fn head(&self) -> Number {
        self.slots.head()
    }

    /// The messages that wait to be claimed. For any thread. O(log capacity).
    pub(crate) fn span(&self) -> Span {
        let (head, tail) = self.slots.unclaimed();
        if self.slots.is_over(head) {
            // divide.end2: nothing lies in it.
            let end = head.back(OVER);
            return Span { head: end, tail: end };
        }
        Span { head, tail }
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use alloc::boxed::Box;

    use super::*;

    /// A lane of four with this many messages, of which so many are claimed and moved out.
    fn lane(first: Number, sent: u64, claimed: usize) -> OneToMany<Box<u64>> {
        let lane =
            OneToMany::new(OneToMany::slots(4, first, &Memory::default(), Before::NOTHING).unwrap(), first);
        for count in 0..sent {
            // SAFETY: nobody else writes, and four are free.
            unsafe { lane.send(first.plus(count), Box::new(count)) };
        }
        lane.claim(claimed).into_iter().flatten().for_each(drop);
        lane
    }

    const FIRSTS: [Number; 3] = [Number::new(0), Number::new(7), Number::new(0).back(2)];

    #[test]
    fn a_claimed_slot_is_not_the_next_laps() {
        for first in FIRSTS {
            let lane = lane(first, 4, 0);
            let claimed = lane.claim(4).unwrap();
            assert_eq!((claimed.number(), claimed.len()), (first, 4));
            // Claimed, and still full.
            assert!(lane.claim(4).is_none());
            assert!(lane.is_empty());
            let next = first.plus(4);
            assert!(!lane.is_free(next));
            drop(claimed);
            assert!(lane.is_free(next) && !lane.is_free(first) && !lane.is_free(next.plus(4)));
        }
    }

    /// From the next message on, as far as is looked for.
    #[test]
    fn free_slots_are_counted_in_powers_of_two() {
        for first in FIRSTS {
            let lane = lane(first, 4, 2);
            let next = first.plus(4);
            assert_eq!([1, 2, 3, 4, 7].map(|preferred| lane.free_slots(next, preferred)), [1, 2, 2, 2, 2]);
            assert_eq!(lane.free_slots(first, 4), 0, "that one is long over");
            let lane = self::lane(first, 4, 3);
            assert_eq!([1, 2, 3, 4].map(|preferred| lane.free_slots(next, preferred)), [1, 2, 3, 2]);
            let lane = self::lane(first, 4, 0);
            assert_eq!(lane.free_slots(next, 4), 0);
        }
    }

    #[test]
    fn empty_is_what_is_not_there() {
        for first in FIRSTS {
            let (none, two, left) = (lane(first, 0, 0), lane(first, 2, 0), lane(first, 2, 1));
            assert_eq!([&none, &two, &left].map(|lane| lane.is_empty()), [true, false, false]);
            assert_eq!([&none, &two, &left].map(|lane| lane.len()), [0, 2, 1]);
            let claimed = left.claim(4).unwrap();
            assert_eq!((claimed.number(), claimed.len()), (first.next(), 1));
            assert!(left.is_empty());
            drop(claimed);
        }
    }

    /// Of three messages, the writer settles all but the first: what becomes of them where so many were
    /// claimed.
    fn settled(first: Number, claimed: usize) -> (u64, usize) {
        let lane = lane(first, 3, claimed);
        // SAFETY: this is the writer, which sent three.
        let unsent = unsafe { lane.settle(first.next(), first.plus(3)) };
        let until = unsent.number().since(first);
        assert_eq!(until + unsent.len() as u64, 3);
        (until, lane.len())
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
            let at = |count| first.plus(count);
            let full = lane(first, 2, 1);
            assert!(!full.seal(), "something is there");
            let lane = lane(first, 2, 2);
            assert!(lane.seal() && lane.seal());
            assert!(lane.claim(4).is_none());
            for (from, until) in [(0, 2), (1, 2), (2, 2), (3, 3)] {
                assert_eq!(lane.first_unsent(at(from), at(4)), at(until));
            }
        }
    }

    #[test]
    fn what_is_left_is_dropped() {
        let message = alloc::sync::Arc::new(());
        let first = Number::new(u64::MAX);
        let lane =
            OneToMany::new(OneToMany::slots(4, first, &Memory::default(), Before::NOTHING).unwrap(), first);
        for number in (0..3).map(|count| first.plus(count)) {
            // SAFETY: nobody else writes, and four are free.
            unsafe { lane.send(number, message.clone()) };
        }
        drop(lane.take_next().unwrap());
        assert_eq!(alloc::sync::Arc::strong_count(&message), 3);
        drop(lane);
        assert_eq!(alloc::sync::Arc::strong_count(&message), 1);
    }

    #[test]
    fn who_finds_nothing_is_right() {
        let (rounds, capacity) = if cfg!(miri) { (5, 4) } else { (100, 5000) };
        for _ in 0..rounds {
            let start = std::sync::Barrier::new(2);
            let lane = OneToMany::new(
                OneToMany::slots(capacity, Number::new(0), &Memory::default(), Before::NOTHING).unwrap(),
                Number::new(0),
            );
            // SAFETY: nobody else writes, and all are free.
            (0..capacity as u64)
                .map(Number::new)
                .for_each(|number| unsafe { lane.send(number, Box::new(number)) });
            let receive_all = || {
                start.wait();
                while let Some(message) = lane.claim(1) {
                    let number = message.number();
                    message.for_each(|message| assert_eq!(*message, number));
                }
                assert_eq!(
                    lane.slots.head.load(Ordering::Relaxed),
                    Number::new(capacity as u64),
                    "some were still there"
                );
            };
            std::thread::scope(|scope| {
                scope.spawn(receive_all);
                receive_all();
            });
        }
    }
}
