//! A many-to-many lane: a queue between many writers and many readers, with one order and one capacity.
//!
//! Its slots, and the steps stamped.send1 to stamped.take6 by which messages come and go, are as in
//! `stamped.rs`; writers claim as readers do:
//!
//! ```text
//! stamped.send1  stamp of the tail = free(n)?   Acquire
//! ordered.tail1  tail: n → n + 1, if nobody was faster
//! stamped.send2  move the message in
//! stamped.send3  stamp := full(n)               Release
//! ```
//!
//! This is Vyukov's bounded queue. Messages are received in the order in which ordered.tail1 moved the tail,
//! and there are no more of them than slots, because stamped.send1 comes first: a slot that is free for
//! message n was left by message n − capacity, and by all the laps before.
//!
//! *Which thread holds up which.* A writer that stops between ordered.tail1 and stamped.send3 holds up all
//! readers at its message, though not other writers; once these are a lap further, they find no free slot
//! either. A reader that stops between stamped.take5 and stamped.take6 holds up writers a lap later, and no
//! other reader.
//!
//! *The end.* A thread that closes the lane puts the tail where no message will ever be (ordered.close2). So
//! each message was claimed before the close, and is received, or it was not claimed, and never will be:
//! there is nothing to take back. Readers are done once the head is where the tail was then.

use core::num::NonZeroUsize;
use core::ops::Deref;

use super::claim::{Claim, NextNumber, claim};
use super::stamped::{FreeSlot, OVER, Stamped, StampedSlot, Taken};
use super::{Cells, Number, Span};
use crate::error::Refusal;
use crate::sync::{AtomicU64, Ordering, seeded};

/// One queue. Anybody may write, and anybody may read.
#[repr(C)]
pub(crate) struct ManyToMany<T> {
    slots: Stamped<T>,
    /// The next message to be claimed by a writer; where the lane is ended, far behind it.
    tail: NextNumber,
}

// The senders' lines, behind the receivers' (docs/LAYOUT.md).
#[cfg(not(annulus_loom))]
const _: () = assert!(core::mem::offset_of!(ManyToMany<u64>, tail) == size_of::<Stamped<u64>>());

/// Messages that were sent at once: `count` of them, from number `first` on.
pub(crate) struct Sent {
    pub(crate) first: Number,
    pub(crate) count: usize,
}

/// The steps of a message, and the looks at what is there: as of any stamped slots.
impl<T> Deref for ManyToMany<T> {
    type Target = Stamped<T>;

    #[inline(always)]
    fn deref(&self) -> &Stamped<T> {
        &self.slots
    }
}

impl<T> ManyToMany<T> {
    /// A lane of these slots. Nothing can fail here, so a lane is made where it is to be.
    #[inline(always)]
    pub(crate) fn new(slots: Cells<StampedSlot<T>>, first: Number) -> Self {
        Self { slots: Stamped::new(slots, first), tail: NextNumber::new(first) }
    }

    /// stamped.send1 and ordered.tail1: claims one free slot.
    #[inline(always)]
    pub(crate) fn claim_free_slot(&self) -> Result<FreeSlot<'_, T>, Refusal> {
        let Claim { first, slot, .. } = self.claim_slots(NonZeroUsize::MIN)?;
        // SAFETY: stamped.send1 and ordered.tail1, just now.
        Ok(unsafe { FreeSlot::new(slot, first) })
    }

    /// stamped.send1 and ordered.tail1.
    #[inline(always)]
    fn claim_slots(&self, most: NonZeroUsize) -> Result<Claim<&StampedSlot<T>>, Refusal> {
        // (No slot is ever free for a message behind the end.)
        let free = |number| {
            let overwrites = || seeded!("ordered_overwrites").then(|| self.slots.slot(number));
            self.slots.free_slot(number).or_else(overwrites)
        };
        claim(&self.tail, most, free)
            .map_err(|tail| if self.slots.is_over(tail) { Refusal::Closed } else { Refusal::Full })
    }

    /// stamped.send1 to stamped.send3, of one message, which is given back where there is no room; returns
    /// its number.
    #[inline(always)]
    pub(crate) fn send(&self, value: T) -> Result<Number, (Refusal, T)> {
        match self.claim_free_slot() {
            Ok(slot) => Ok(slot.write(value)),
            Err(refusal) => Err((refusal, value)),
        }
    }

    /// stamped.send1 to stamped.send3, of as many of `values` as there are free slots in a row, from the
    /// first on. `Full` if there are no `values`.
    #[inline(always)]
    pub(crate) fn send_some(&self, values: &[T]) -> Result<Sent, Refusal>
    where
        T: Copy,
    {
        let most = NonZeroUsize::new(values.len().min(self.capacity())).ok_or(Refusal::Full)?;
        let Claim { first, count, .. } = self.claim_slots(most)?;
        for (number, &value) in (0..).map(|count| first.plus(count)).zip(&values[..count]) {
            // SAFETY: stamped.send1 and ordered.tail1, just now; each number comes once.
            unsafe { self.slots.write(number, value) };
        }
        Ok(Sent { first, count })
    }

    /// stamped.take4 to stamped.take6: the next message and its number, if it is there.
    #[inline(always)]
    pub(crate) fn take_next(&self) -> Option<(Number, T)> {
        self.slots.take_next().map(|Taken { number, value, .. }| (number, value))
    }

    /// stamped.send1: how many slots a writer would find free: 0, or 1, or `preferred` where there seem to be
    /// as many.
    // Mutants: `with 1`: it tries to claim, and finds no room.
    pub(crate) fn free_slots(&self, preferred: u64) -> u64 {
        // Acquire: as in `claim`.
        let mut tail = self.tail.load(Ordering::Acquire);
        loop {
            let count = self.slots.free_slots(tail, preferred);
            if count > 0 {
                return count;
            }
            let now = self.tail.load(Ordering::Acquire);
            if now == tail {
                return 0;
            }
            // Unreached: a claim between two looks for room: two threads have to meet there; loom
            // claimed_wake
            tail = now;
        }
    }

    /// The word of stamped.send1 of the next message, for writers.
    pub(crate) fn free_word(&self) -> &AtomicU64 {
        // Relaxed: where it is not the next one any more, the word changes, or has changed.
        self.slots.word_of(self.tail.load(Ordering::Relaxed))
    }

    /// stamped.take4: how many messages in a row were written, from number `first` on, also where they were
    /// taken meanwhile. O(messages that overtook `first`).
    pub(crate) fn written_from(&self, first: Number) -> usize {
        self.count_from(first, |number| {
            if seeded!("ordered_forgets_what_is_released") {
                return self.slots.is_full(number);
            }
            self.slots.was_written(number)
        })
    }

    /// stamped.send1: how many slots in a row were left, from the slot of message `first` on, also where they
    /// were written meanwhile. O(slots that were left before it).
    pub(crate) fn left_from(&self, first: Number) -> usize {
        self.count_from(first, |number| self.slots.was_left(number))
    }

    fn count_from(&self, first: Number, holds: impl Fn(Number) -> bool) -> usize {
        if seeded!("ordered_counts_all") {
            return self.capacity();
        }
        (0..self.capacity()).take_while(|&count| holds(first.plus(count as u64))).count()
    }

    /// ordered.close2: no message can be claimed from now on.
    pub(crate) fn end(&self) {
        let mut tail = self.tail.load(Ordering::Relaxed);
        while !self.slots.is_over(tail) {
            let over = tail.plus(OVER);
            let (success, failure) = (Ordering::Release, Ordering::Relaxed);
            // Release: pairs with the Acquire of `is_ended`, `is_done` and ordered.tail1; the close comes
            // before a thread that sees it.
            match self.tail.compare_exchange(tail, over, success, failure) {
                Ok(()) => return,
                // Unreached: a close beside a claim: two threads have to meet there; loom claimed
                Err(now) => tail = now,
            }
        }
    }

    /// Whether the lane is ended.
    pub(crate) fn is_ended(&self) -> bool {
        // Acquire: pairs with ordered.close2.
        self.slots.is_over(self.tail.load(Ordering::Acquire))
    }

    /// Whether the lane is ended, and readers have claimed all its messages.
    pub(crate) fn is_done(&self) -> bool {
        // Acquire: pairs with ordered.close2.
        let tail = self.tail.load(Ordering::Acquire);
        // Acquire: pairs with stamped.take5; what its reader has seen comes before.
        self.slots.is_over(tail) && self.slots.head.load(Ordering::Acquire) == tail.back(OVER)
    }

    /// The messages that are claimed by writers and not by readers. For any thread.
    pub(crate) fn span(&self) -> Span {
        Span::read(self.capacity(), || self.head(), || self.tail())
    }

    /// How many messages are claimed by writers and not by readers. A snapshot, never above the capacity.
    pub(crate) fn len(&self) -> usize {
        self.span().count() as usize
    }

    /// The next message to be claimed by a writer, or the end.
    pub(crate) fn tail(&self) -> Number {
        // Acquire: as in `claim`.
        let tail = self.tail.load(Ordering::Acquire);
        if self.slots.is_over(tail) { tail.back(OVER) } else { tail }
    }
}
