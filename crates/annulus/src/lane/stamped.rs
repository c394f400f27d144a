//! Slots with stamps, and the one-to-many lane: a queue between one writer and many readers. A
//! [many-to-many lane](super::ManyToMany) has the same slots, and the same steps of a message.
//!
//! ```text
//! writer                                                 reader
//! stamped.send1  stamp = free(n)?          Acquire       stamped.take4  stamp of the head = full(n)?   Acquire
//! stamped.send2  move the message in                     stamped.take5  head: n → n + 1, if nobody was faster
//! stamped.send3  stamp := full(n)          Release       stamped.take6  move it out; stamp := free(n + count)  Release
//! ```
//!
//! After Vyukov's bounded queue. A reader claims messages before it moves them, several at once where they
//! are full, so nothing is read that another one may move, and any type will do. A reader that is held up
//! between stamped.take5 and stamped.take6 holds up only the slots that it has claimed: other readers go on
//! behind it, and writers until they come round to them.
//!
//! *Why no slot has two users.* A full slot is no longer the writer's (stamped.send3). It goes to the one
//! reader whose stamped.take5 moved the head past its number; the head only grows, so that happens once.
//! stamped.take6 and stamped.send1 give it back. Where there are many writers, they claim free slots as
//! readers claim full ones.
//!
//! *The end of a one-to-many lane.* As in `one_to_one.rs`, a message may be on its way while the queue is
//! closed. A writer that sees the close after stamped.send3 tries to claim its own message (divide.settle1).
//! If it can, no reader has it, and it is given back. If it cannot, because readers are still before it, it
//! writes the head without changing it. A reader that moves the head next then sees this message too
//! (Release, Acquire).
//!
//! A reader that has seen the close, and then finds nothing, puts the head where no message will ever be
//! (divide.end2). From then on nobody can claim a message that is still on its way, and its writer takes it
//! back. So when one reader says that everything was received, this is true for all readers. divide.settle1
//! and divide.end2 come after a pair of fences: one of the writer after stamped.send3, and one of the
//! reader before divide.end2. So divide.end2 has seen every message of a writer that does not see the close.

use core::mem::MaybeUninit;
#[cfg(not(annulus_loom))]
use core::mem::offset_of;
use core::num::NonZeroUsize;
use core::ops::Deref;

use super::claim::{Claim, NextNumber, claim};
use super::{Cells, Number, Span};
use crate::base::allocation::Before;
use crate::base::drop_all::drop_all;
use crate::base::index::Index;
use crate::base::sequence::Sequence;
use crate::error::CapacityError;
#[cfg(feature = "std")]
use crate::memory::Block;
use crate::memory::Memory;
use crate::sync::{AtomicU64, Ordering, UnsafeCell, ordering, seeded};

/// A slot, with a word that says for which message it is free, or with which it is full.
pub(crate) struct StampedSlot<T> {
    stamp: AtomicU64,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// The word of a [`StampedSlot`], and the only home of its encoding: 2 · number, and one more if the slot is
/// full. It wraps with the numbers.
#[derive(Clone, Copy, PartialEq, Eq)]
struct LaneStamp(u64);

impl LaneStamp {
    /// Free for message `number`.
    fn free(number: Number) -> Self {
        Self(number.get() << 1)
    }

    /// Full with message `number`.
    fn full(number: Number) -> Self {
        Self(Self::free(number).0 + 1)
    }

    /// Whether this is `other`, or a later stamp of the same slot. Stamps wrap as numbers do, so they are
    /// compared as numbers are.
    fn is_at_or_after(self, other: Self) -> bool {
        !Number::new(self.0).is_before(Number::new(other.0))
    }
}

impl<T> StampedSlot<T> {
    /// The slots of a lane: `capacity` free ones in `memory`. The first message is number `first`.
    #[inline(always)]
    pub(crate) fn slots(
        capacity: usize,
        first: Number,
        memory: &Memory,
        before: Before,
    ) -> Result<Cells<Self>, CapacityError> {
        let slots = Cells::new(capacity, memory, before)?;
        for count in 0..capacity {
            // SAFETY: below the capacity, and nobody else has them yet.
            unsafe { Self::make(slots.slot(count), first.plus(count as u64)) };
        }
        Ok(slots)
    }

    /// Makes an empty slot at `dst`, free for message `number`. It passes no slot by value: where nothing
    /// is optimized, that would go over the stack, and a message may be larger than the stack.
    ///
    /// # Safety
    ///
    /// There is memory for a slot, which nobody else looks at.
    unsafe fn make(dst: *mut Self, number: Number) {
        // SAFETY: the caller's promise.
        unsafe { (&raw mut (*dst).stamp).write(AtomicU64::new(LaneStamp::free(number).0)) };
        // Whatever lies in the memory of the value is an empty cell; only loom's is more than its memory.
        // SAFETY: the caller's promise.
        #[cfg(annulus_loom)]
        unsafe {
            (&raw mut (*dst).value).write(UnsafeCell::new(MaybeUninit::uninit()));
        }
    }

    /// stamped.send2 and stamped.send3.
    ///
    /// # Safety
    ///
    /// It is the slot of message `number`, free for it, and the caller's alone.
    #[inline(always)]
    pub(super) unsafe fn write(&self, number: Number, value: T) {
        // SAFETY: a free slot is the writer's alone.
        self.value.with_mut(|there| unsafe { (*there).write(value) });
        // stamped.send3. Release: pairs with stamped.take4.
        self.stamp.store(LaneStamp::full(number).0, ordering!(Release unless "one_to_many_full_relaxed"));
    }

    /// stamped.take6: moves the message out, and gives the slot to message `next` of the next lap.
    ///
    /// # Safety
    ///
    /// It is full, and the caller's alone.
    #[inline(always)]
    unsafe fn take(&self, next: Number) -> T {
        // SAFETY: a full slot has a message, and this one is the caller's alone.
        let value = self.value.with_mut(|there| unsafe { (*there).assume_init_read() });
        self.free(next);
        value
    }

    /// stamped.take6, of a message that is dropped where it is.
    ///
    /// # Safety
    ///
    /// As of [`take`](Self::take).
    unsafe fn discard(&self, next: Number) {
        /// Gives the slot away on drop, also if a destructor panics.
        struct Leaving<'s, T>(&'s StampedSlot<T>, Number);

        impl<T> Drop for Leaving<'_, T> {
            fn drop(&mut self) {
                self.0.free(self.1);
            }
        }

        let _leaving = Leaving(self, next);
        // SAFETY: a full slot has a message, and this one is the caller's alone.
        self.value.with_mut(|there| unsafe { (*there).assume_init_drop() });
    }

    /// Gives the slot, which is empty, to message `next`.
    #[inline(always)]
    fn free(&self, next: Number) {
        // Release: pairs with stamped.send1.
        self.stamp.store(LaneStamp::free(next).0, ordering!(Release unless "one_to_many_taken_relaxed"));
    }
}

/// The slots, and the head.
#[repr(C)]
pub(crate) struct Stamped<T> {
    /// Each holds a [`StampedSlot`], from here to the drop.
    slots: Cells<StampedSlot<T>>,
    index: Index,
    /// The number of the first message. Constant.
    pub(super) first: Number,
    /// The next message to be claimed by a reader.
    pub(super) head: NextNumber,
}

// What does not change is on lines of its own (docs/LAYOUT.md).
#[cfg(not(annulus_loom))]
const _: () = assert!(offset_of!(Stamped<u64>, head) == 128 && size_of::<Stamped<u64>>() == 256);

// SAFETY: messages move in on one thread and out on another, or are dropped there: that takes `T: Send`.
unsafe impl<T: Send> Send for Stamped<T> {}
// SAFETY: as above; no two threads ever look at a slot at once.
unsafe impl<T: Send> Sync for Stamped<T> {}

/// A lane. The queue that makes it decides which handle writes. Any consumer may read.
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

impl<T> Stamped<T> {
    /// These slots, and the head.
    #[inline(always)]
    pub(super) fn new(slots: Cells<StampedSlot<T>>, first: Number) -> Self {
        let index = Index::new(slots.count());
        Self { slots, index, first, head: NextNumber::new(first) }
    }

    #[inline(always)]
    pub(crate) fn capacity(&self) -> usize {
        self.slots.count()
    }

    /// Where the slots lie.
    #[cfg(feature = "std")]
    pub(crate) fn block(&self) -> &Block {
        self.slots.block()
    }

    #[inline(always)]
    pub(super) fn slot(&self, number: Number) -> &StampedSlot<T> {
        let index = self.index.of(Sequence::new(number.since(self.first)));
        // SAFETY: the index is below the capacity; the slots are there as long as this is.
        unsafe { self.slots.value(index) }
    }
}

impl<T> OneToMany<T> {
    /// A lane of these slots.
    #[inline(always)]
    pub(crate) fn new(slots: Cells<StampedSlot<T>>, first: Number) -> Self {
        Self { slots: Stamped::new(slots, first), left_at: AtomicU64::new(first.get()) }
    }
}

/// The steps of writers.
impl<T> Stamped<T> {
    /// stamped.send1: whether the slot of message `number` is empty; then it belongs to the
    /// writer, or to the thread that claims the number.
    #[inline(always)]
    pub(crate) fn is_free(&self, number: Number) -> bool {
        self.free_slot(number).is_some()
    }

    /// stamped.send1: the slot of message `number`, if it [is free](Self::is_free).
    #[inline(always)]
    pub(super) fn free_slot(&self, number: Number) -> Option<&StampedSlot<T>> {
        let slot = self.slot(number);
        // Acquire: pairs with stamped.take6; what was there is moved out.
        let stamp = LaneStamp(slot.stamp.load(ordering!(Acquire unless "one_to_many_free_relaxed")));
        (stamp == LaneStamp::free(number)).then_some(slot)
    }

    /// How many slots are free from message `number` on: about, and at most `preferred`, which is not 0.
    /// Readers come by in order, more or less, so it looks at few of them. O(log `preferred`).
    pub(crate) fn free_slots(&self, number: Number, preferred: u64) -> u64 {
        if !self.is_free(number) {
            return 0;
        }
        let mut count = 1;
        while count < preferred {
            let next = (2 * count).min(preferred);
            let last = if seeded!("free_slots_one_too_many") { next - 2 } else { next - 1 };
            if !self.is_free(number.plus(last)) {
                break;
            }
            count = next;
        }
        count
    }

    /// The word of stamped.send1 of message `number`, for a writer that watches it.
    pub(crate) fn word_of(&self, number: Number) -> &AtomicU64 {
        &self.slot(number).stamp
    }

    /// stamped.send2 and stamped.send3.
    ///
    /// # Safety
    ///
    /// The caller saw [`is_free`](Self::is_free) of message `number`, and nobody but the caller may write it.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, number: Number, value: T) {
        // SAFETY: the caller's promise.
        unsafe { self.slot(number).write(number, value) };
    }
}

/// A free slot that a writer has claimed.
#[must_use = "readers wait for this message"]
pub(crate) struct FreeSlot<'l, T> {
    slot: &'l StampedSlot<T>,
    number: Number,
}

impl<'l, T> FreeSlot<'l, T> {
    /// The slot of message `number`.
    ///
    /// # Safety
    ///
    /// It is free, and the caller has claimed it, and has it once.
    #[inline(always)]
    pub(super) unsafe fn new(slot: &'l StampedSlot<T>, number: Number) -> Self {
        Self { slot, number }
    }

    /// stamped.send2 and stamped.send3. Returns the message's number.
    #[inline(always)]
    pub(crate) fn write(self, value: T) -> Number {
        // SAFETY: the slot is free, and was claimed for this message (`new`).
        unsafe { self.slot.write(self.number, value) };
        self.number
    }
}

/// The steps of readers.
impl<T> Stamped<T> {
    /// stamped.take4 to stamped.take6, of one message. As [`claim`](Self::claim), but the slot is looked for
    /// once.
    #[inline(always)]
    pub(crate) fn take_next(&self) -> Option<Taken<T>> {
        let one = NonZeroUsize::MIN;
        let Claim { first, slot, raced, .. } =
            claim(&self.head, one, |number| self.full_slot(number)).ok()?;
        // SAFETY: claimed just now.
        let value = unsafe { slot.take(first.plus(self.capacity() as u64)) };
        Some(Taken { number: first, value, raced })
    }

    /// stamped.take4 and stamped.take5: claims up to `most` messages. `None` where nothing is there, or if
    /// `most` is 0.
    #[inline]
    pub(crate) fn claim(&self, most: usize) -> Option<Claimed<'_, T>> {
        let most = NonZeroUsize::new(most.min(self.capacity()))?;
        let Claim { first, count, .. } = claim(&self.head, most, |number| self.full_slot(number)).ok()?;
        Some(Claimed { slots: self, next: first, left: count })
    }

    /// stamped.take4: whether message `number` is there, or was.
    #[inline(always)]
    pub(super) fn is_full(&self, number: Number) -> bool {
        self.full_slot(number).is_some()
    }

    /// stamped.take4: the slot of message `number`, if that [is there](Self::is_full).
    #[inline(always)]
    fn full_slot(&self, number: Number) -> Option<&StampedSlot<T>> {
        let slot = self.slot(number);
        // Acquire: pairs with stamped.send3.
        let stamp = LaneStamp(slot.stamp.load(ordering!(Acquire unless "one_to_many_look_relaxed")));
        (stamp == LaneStamp::full(number)).then_some(slot)
    }

    /// The word of stamped.take4 of the next message, for a reader that watches it.
    pub(crate) fn next_word(&self) -> &AtomicU64 {
        // Relaxed: where it is not the next one any more, the word changes, or has changed.
        self.word_of(self.head.load(Ordering::Relaxed))
    }

    /// stamped.take4: whether nothing is there, for certain: where another reader was faster, it may say that
    /// something is.
    pub(crate) fn is_empty(&self) -> bool {
        // Acquire: as in `claim`.
        let head = self.head.load(Ordering::Acquire);
        !self.is_full(head) && self.head.load(Ordering::Acquire) == head
    }
}

/// A message that was claimed and moved out.
pub(crate) struct Taken<T> {
    pub(crate) number: Number,
    pub(crate) value: T,
    /// Whether another reader was faster at the same time. It may say so where nobody was.
    pub(crate) raced: bool,
}

/// Messages that a reader has claimed (stamped.take5), in their order. Each is moved out (stamped.take6) as
/// the iterator returns it. Those that are left are dropped with it: no writer waits for ever for a slot that
/// nobody leaves.
#[must_use = "what is claimed and not taken is dropped"]
pub(crate) struct Claimed<'l, T> {
    slots: &'l Stamped<T>,
    /// The number of the next message. It and those after it are there, and nobody else's.
    next: Number,
    /// How many there are.
    left: usize,
}

impl<T> Claimed<'_, T> {
    /// The number of the next message.
    pub(crate) fn number(&self) -> Number {
        self.next
    }

    #[cold]
    fn discard_all(&mut self) {
        drop_all(|| {
            let Some((slot, after)) = self.next_slot() else { return false };
            // SAFETY: as in `next`.
            unsafe { slot.discard(after) };
            true
        });
    }

    /// The slot of the next message, which is passed, and the message of the next lap.
    #[inline(always)]
    fn next_slot(&mut self) -> Option<(&StampedSlot<T>, Number)> {
        self.left = self.left.checked_sub(1)?;
        let number = self.next;
        self.next = number.next();
        Some((self.slots.slot(number), number.plus(self.slots.capacity() as u64)))
    }
}

impl<T> Iterator for Claimed<'_, T> {
    type Item = T;

    #[inline(always)]
    fn next(&mut self) -> Option<T> {
        let (slot, after) = self.next_slot()?;
        // SAFETY: it was claimed, and is moved out once: the next one is next now.
        Some(unsafe { slot.take(after) })
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for Claimed<'_, T> {}

impl<T> Drop for Claimed<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.left != 0 {
            self.discard_all();
        }
    }
}

/// How far a counter is moved that is to end: behind every message that there will ever be.
pub(super) const OVER: u64 = 1 << 61;

/// The end of a one-to-many lane, its writers one after the other, and what any thread sees.
impl<T> OneToMany<T> {
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
        // Relaxed: the next writer comes through an Acquire that pairs with the Release of the thread that
        // lets it come.
        self.left_at.store(number.get(), Ordering::Relaxed);
    }

    /// Where the next writer continues.
    pub(crate) fn left_at(&self) -> Number {
        Number::new(self.left_at.load(Ordering::Relaxed))
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

/// The end of either lane, and what any thread sees.
impl<T> Stamped<T> {
    /// Whether `counter` is where it was moved to end it.
    #[inline(always)]
    pub(super) fn is_over(&self, counter: Number) -> bool {
        counter.since(self.first) >= OVER
    }

    /// The messages from `first` to before `end`.
    ///
    /// # Safety
    ///
    /// They are there, no reader can claim them any more, and the caller has them once.
    // Unreached: a close beside a send: two threads have to meet there; loom shared_wake
    pub(super) unsafe fn claimed(&self, first: Number, end: Number) -> Claimed<'_, T> {
        Claimed { slots: self, next: first, left: end.since(first) as usize }
    }

    /// Whether message `number` was written, now or earlier.
    pub(super) fn was_written(&self, number: Number) -> bool {
        self.has_come_to(number, LaneStamp::full(number))
    }

    /// Whether the slot of message `number` was left by the message before, now or earlier.
    // Mutants: `with true`: it wakes more senders than there is room for.
    pub(super) fn was_left(&self, number: Number) -> bool {
        self.has_come_to(number, LaneStamp::free(number))
    }

    /// Whether the stamp of the slot of message `number` is that one, or a later one.
    fn has_come_to(&self, number: Number, stamp: LaneStamp) -> bool {
        // Relaxed: what is decided by it is only how many are counted, or woken.
        LaneStamp(self.slot(number).stamp.load(Ordering::Relaxed)).is_at_or_after(stamp)
    }

    /// How many messages wait to be claimed. A snapshot, never above the capacity. O(log capacity): nobody
    /// stores a count of what is written, so this looks for the first slot that is not full.
    pub(crate) fn len(&self) -> usize {
        let (head, tail) = self.unclaimed();
        tail.since(head) as usize
    }

    /// The next message to be claimed by a reader. Where a one-to-many lane is over: a number far behind.
    pub(crate) fn head(&self) -> Number {
        // Acquire: as in `claim`.
        self.head.load(Ordering::Acquire)
    }

    /// The head, and the first message from there on that is not written. As costly as [`len`](Self::len).
    pub(super) fn unclaimed(&self) -> (Number, Number) {
        // Acquire: as in `claim`.
        let head = self.head.load(Ordering::Acquire);
        // Decision 0044: no stored count.
        let was_sent = |count: u64| self.was_written(head.plus(count));
        let (mut low, mut high) = (0, self.capacity() as u64);
        while low < high {
            let middle = low.midpoint(high);
            if was_sent(middle) { low = middle + 1 } else { high = middle }
        }
        (head, head.plus(low))
    }
}

impl<T> Drop for Stamped<T> {
    fn drop(&mut self) {
        // (A message is left where a send was beside a close, and nobody receives any more.)
        drop_all(|| self.claim(1).is_some());
        for index in 0..self.capacity() {
            // SAFETY: made in `new`, and nobody uses them any more.
            unsafe { self.slots.drop_in_place(index) };
        }
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;

    use super::*;

    /// A lane of four with this many messages, of which so many are claimed and moved out.
    fn lane(first: Number, sent: u64, claimed: usize) -> OneToMany<Box<u64>> {
        let lane =
            OneToMany::new(StampedSlot::slots(4, first, &Memory::default(), Before::NOTHING).unwrap(), first);
        for count in 0..sent {
            // SAFETY: nobody else writes, and four are free.
            unsafe { lane.write(first.plus(count), Box::new(count)) };
        }
        lane.claim(claimed).into_iter().flatten().for_each(drop);
        lane
    }

    const FIRSTS: [Number; 3] = [Number::new(0), Number::new(7), Number::new(0).back(2)];

    #[test]
    fn claimed_slot_is_not_the_next_laps() {
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
    fn settle_takes_back_what_no_reader_can_claim() {
        for first in FIRSTS {
            assert_eq!(settled(first, 0), (3, 3), "a reader comes to them by the one before");
            assert_eq!(settled(first, 1), (1, 0), "none was claimed");
            assert_eq!(settled(first, 2), (2, 0), "one was claimed");
            assert_eq!(settled(first, 3), (3, 0), "all were claimed");
        }
    }

    #[test]
    fn messages_behind_the_end_are_unsent() {
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
    fn dropped_lane_drops_its_messages() {
        let message = alloc::sync::Arc::new(());
        let first = Number::new(u64::MAX);
        let lane =
            OneToMany::new(StampedSlot::slots(4, first, &Memory::default(), Before::NOTHING).unwrap(), first);
        for number in (0..3).map(|count| first.plus(count)) {
            // SAFETY: nobody else writes, and four are free.
            unsafe { lane.write(number, message.clone()) };
        }
        drop(lane.take_next().unwrap());
        assert_eq!(alloc::sync::Arc::strong_count(&message), 3);
        drop(lane);
        assert_eq!(alloc::sync::Arc::strong_count(&message), 1);
    }

    #[test]
    fn reader_that_finds_nothing_is_right() {
        let (rounds, capacity) = if cfg!(miri) { (5, 4) } else { (100, 5000) };
        for _ in 0..rounds {
            let start = std::sync::Barrier::new(2);
            let lane = OneToMany::new(
                StampedSlot::slots(capacity, Number::new(0), &Memory::default(), Before::NOTHING).unwrap(),
                Number::new(0),
            );
            // SAFETY: nobody else writes, and all are free.
            (0..capacity as u64)
                .map(Number::new)
                .for_each(|number| unsafe { lane.write(number, Box::new(number)) });
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
