//! The ring: its slots, and how far its publishers have come.

use alloc::boxed::Box;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::claims::Claims;
use super::head::{Frontier, Head, Writers};
use super::mirror::Mirror;
use super::{Copied, Read, Slots, Store, Strided, WithoutSlot, Written};
use crate::base::index::Index;
use crate::base::sequence::{Sequence, Stamp};
use crate::memory::Block;
use crate::message::Message;
use crate::sync::{AtomicU64, Ordering, fence, mutated};

/// A ring of stamped slots.
///
/// Everything but `head` and the slots is constant after construction, so its line stays shared between all
/// caches.
pub(crate) struct Ring<S> {
    store: S,
    index: Index,
    /// Of the store: units from one slot to the next.
    stride: usize,
    /// The sequence of the ring's first message.
    first: Sequence,
    head: Head,
}

/// The smallest ring in which a reader can read one slot while the writer writes another.
pub(crate) const MIN_CAPACITY: usize = 2;

/// What a ring is made of. (A ring is as large as four lines, and is written where it stays.)
pub(crate) struct RingParts<S> {
    store: S,
    capacity: usize,
    /// The sequence of the ring's first message.
    first: Sequence,
    writers: Writers,
    stride: usize,
    /// Of a ring of fellows, or one whose slots other processes have.
    mirror: Option<Box<Mirror>>,
}

impl<S: Store> RingParts<S> {
    /// Those of a ring around a store of `capacity` slots of a stride, whose first message is number `first`.
    #[inline(always)]
    pub(crate) fn new(
        capacity: usize,
        first: Sequence,
        (writers, stride): (Writers, usize),
        store: S,
    ) -> Self {
        debug_assert!(capacity >= MIN_CAPACITY, "builders say so before");
        if first > Sequence::FIRST {
            let index = Index::new(capacity);
            let slots = Slots::<S>::new(store.start(), &index, stride, writers);
            // As if all laps before had been written.
            for sequence in (0..capacity as u64).map(|slot| first.plus(slot)) {
                let stamp = Stamp::of_the_lap_before(sequence, capacity);
                // SAFETY: the store and the index live. Relaxed: nobody else has the store yet.
                unsafe { slots.stamp_word(sequence) }.store(stamp.bits(), Ordering::Relaxed);
            }
        }
        Self { store, capacity, first, writers, stride, mirror: None }
    }

    /// Those of the same ring, with what its publishers share.
    pub(crate) fn mirrored(self, mirror: Mirror) -> Self {
        Self { mirror: Some(Box::new(mirror)), ..self }
    }

    /// Those of the ring of another process, over the same slots.
    #[cfg(feature = "shm")]
    pub(crate) fn of_another(
        (store, stride): (S, usize),
        capacity: usize,
        first: Sequence,
        mirror: Mirror,
    ) -> Self {
        let writers = if mirror.claims().is_some() { Writers::Fellows } else { Writers::One };
        Self { store, capacity, first, writers, stride, mirror: None }.mirrored(mirror)
    }

    pub(crate) fn capacity(&self) -> usize {
        self.capacity
    }

    pub(crate) fn first(&self) -> Sequence {
        self.first
    }

    /// The words of its slots, the stride and the capacity.
    pub(crate) fn words(&self) -> (NonNull<S::Unit>, usize, usize) {
        (self.store.start(), self.stride, self.capacity)
    }

    /// Where the slots lie.
    pub(crate) fn block_mut(&mut self) -> &mut Block {
        self.store.block_mut()
    }
}

impl<T: Message> Ring<Copied<T>> {
    /// As [`Slots::read`].
    #[inline]
    pub(crate) fn read<'m>(&self, sequence: Sequence, message: &'m mut MaybeUninit<T::Wire>) -> Read<'m, T> {
        // SAFETY: this is the ring, and lives.
        unsafe { self.slots().read(sequence, message) }
    }
}

impl<S: Store> Ring<S> {
    /// Writes the ring to its place. Nothing can fail here.
    ///
    /// # Safety
    ///
    /// There is room for it, which nobody else uses.
    // Decision 0130: it is written where it stays.
    #[inline(always)]
    pub(crate) unsafe fn write_at(place: *mut Self, parts: RingParts<S>) {
        let RingParts { store, capacity, first, writers, stride, mirror } = parts;
        // SAFETY: the caller's promise. These are all fields.
        unsafe {
            (&raw mut (*place).store).write(store);
            (&raw mut (*place).index).write(Index::new(capacity));
            (&raw mut (*place).stride).write(stride);
            (&raw mut (*place).first).write(first);
            Head::write_at(&raw mut (*place).head, capacity, first, writers, mirror);
        }
    }

    /// The one publisher is gone, or has closed the ring: other processes are told where it ends.
    pub(crate) fn show_end(&self) {
        if self.head.is_mirrored() {
            let end = self.head.end().unwrap_or_else(|| self.frontier(Sequence::FIRST).head);
            self.head.show_end(end);
        }
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.index.capacity()
    }

    /// Where its slots lie.
    #[cfg(feature = "std")]
    pub(crate) fn block(&self) -> &Block {
        self.store.block()
    }

    /// The sequence of the ring's first message.
    pub(crate) fn first(&self) -> Sequence {
        self.first
    }

    /// Where the slots are, for a handle that keeps the ring alive.
    #[inline(always)]
    pub(crate) fn slots(&self) -> Slots<S> {
        Slots::new(self.store.start(), &self.index, self.stride, self.head.writers())
    }

    /// The stamp of the slot that `sequence` uses (Acquire).
    pub(crate) fn stamp(&self, sequence: Sequence) -> Stamp {
        // SAFETY: the ring lives as long as this borrow of it.
        unsafe { self.slots().stamp(sequence) }
    }

    /// The stamp itself, for whoever watches it.
    pub(crate) fn stamp_word(&self, sequence: Sequence) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { self.slots().stamp_word(sequence) }
    }

    /// As [`Slots::is_left`]; the ring is for many writers.
    pub(crate) fn is_left(&self, sequence: Sequence) -> bool
    where
        S: Strided,
    {
        // SAFETY: the ring lives as long as this borrow of it.
        unsafe { self.slots().is_left(Writers::Many, sequence, self.capacity()) }
    }

    /// Finds the slot of a message of this ring again: undoes [`Written::without_slot`].
    pub(crate) fn with_slot(&self, message: WithoutSlot) -> Written<'_> {
        let stamp = self.stamp_word(message.sequence());
        message.at(stamp)
    }

    /// How far the publishers have come.
    #[inline]
    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// How far the publishers have come; `known` is a bound the caller already has, as from a stamp it saw.
    ///
    /// Of one publisher it counts at least every message whose publication happens before this call. It takes
    /// a bounded number of steps, however fast publishers run: of many, at most two looks at each slot.
    pub(crate) fn frontier(&self, known: Sequence) -> Frontier {
        let (capacity, stamp) = (self.capacity(), |sequence| self.stamp(sequence));
        let frontier = match self.head.writers() {
            Writers::One => self.head.believed(self.head.walk(known, capacity, stamp)),
            Writers::Many => self.head.survey(known, self.first, capacity, stamp),
            Writers::Fellows => {
                let first_open = |from, claimed| {
                    self.head.claims().map_or(claimed, |claims| claims.first_open(from, claimed))
                };
                self.head.survey_by(known, self.first, capacity, first_open, stamp)
            }
        };
        Frontier { oldest: frontier.oldest.max(self.first), ..frontier }
    }

    /// The end of what is published, or about to be: every message whose publication happens before this call
    /// lies before it.
    pub(crate) fn end(&self, known: Sequence) -> Sequence {
        if self.head.writers() == Writers::One { self.frontier(known).head } else { self.head.claimed() }
    }

    /// Begins to close the ring: end.close1 and end.close2, or end.many7. What it does to one publisher is
    /// [settled](Self::settle) after a fence.
    pub(crate) fn begin_to_end(&self) {
        match self.head.writers() {
            Writers::One => self.head.begin_to_end(),
            Writers::Many => self.head.end_claims(),
            Writers::Fellows => self.head.end_of_fellows(),
        }
    }

    /// end.close6: the ring of one publisher ends behind the last message that is written or announced.
    pub(crate) fn settle(&self) {
        if self.head.writers() == Writers::One {
            let head = self.frontier(Sequence::FIRST).head;
            let announced =
                self.stamp(head) >= Stamp::writing(head) && !mutated!("end_forgets_the_announced");
            self.head.settle(if announced { head.next() } else { head });
        }
    }

    /// The newest message from `from` on that stands whole. Of one publisher: it stands, or a later one has
    /// taken its slot. That is the one before the head, unless that number was left out.
    pub(crate) fn newest(&self, from: Sequence) -> Option<Sequence> {
        match self.head.writers() {
            Writers::One => {
                // (The oldest: the next message may be on its way over the last one that stood.)
                let Frontier { head, oldest } = self.frontier(from);
                let (oldest, mut newest) = (oldest.max(from), head);
                while newest > oldest {
                    newest = newest.back(1);
                    let stamp = self.stamp(newest);
                    // A smaller stamp: the number was left out, and its slot is still to be marked.
                    if stamp >= Stamp::done(newest) && stamp != Stamp::left_out(newest) {
                        return Some(newest);
                    }
                }
                None
            }
            Writers::Many => self.head.newest(from, self.capacity(), |sequence| self.stamp(sequence)),
            // Another process may have written any stamp.
            Writers::Fellows => {
                let stamp = |sequence| self.stamp(sequence).believed();
                self.head.newest(from, self.capacity(), stamp)
            }
        }
    }

    /// Whether message `sequence` was claimed in a ring of fellows. Where all of them are gone, it is there
    /// now or never.
    pub(crate) fn is_claimed_by_a_fellow(&self, sequence: Sequence) -> bool {
        self.head.claims().is_some_and(|claims| claims.claimed() > sequence)
    }

    /// Whether message `sequence`, which is not there, will never be, or is no longer waited for: its
    /// publisher has passed over it, stands still while the others have gone round, or is of a process that
    /// is gone. Asks the kernel now and then, where there are other processes.
    #[inline]
    pub(crate) fn never_comes(&self, sequence: Sequence) -> bool {
        self.head.claims().is_some_and(|claims| claims.never_comes(sequence))
    }

    /// Whether publishers are of other processes.
    pub(crate) fn is_of_others(&self) -> bool {
        self.head.is_seen() && !self.head.claims().is_some_and(Claims::is_here)
    }

    /// Of a ring of fellows of this process, of which the last one is gone: closes it.
    pub(crate) fn end_with_last_fellow(&self) {
        if let Some(claims) = self.head.claims().filter(|claims| claims.is_here()) {
            claims.close();
        }
    }

    /// slot.skip1 to head.skip4: the one publisher, whose next message would be `first`, gives no message a
    /// number before `sequence`. It [holds the end](Head::hold_end).
    ///
    /// Only stamps are stored, those of the last lap before `sequence`: a slot tells of the latest number
    /// that is its own. Messages of the lap before are gone. O(`sequence` − `first`), or O(`capacity`).
    pub(crate) fn leave_out(&self, first: Sequence, sequence: Sequence) {
        let mut left_out = first.max(sequence.back(self.capacity() as u64));
        // Ascending, so that a walk that meets a mark finds the marks before it.
        while left_out < sequence && !mutated!("skip_unmarked") {
            // slot.skip1. Release: pairs with slot.r1, and with every other look at a stamp: who sees that
            // the number was left out sees all messages before it. No reader looks for the words behind it.
            self.stamp_word(left_out).store(Stamp::left_out(left_out).bits(), Ordering::Release);
            left_out = left_out.next();
        }
        self.head.go_to(sequence);
        if !mutated!("skip_no_release_fence") {
            // head.skip4. Release: pairs with the Acquire in `walk`. A walk may find slot.w1 of the next
            // message, which is Relaxed, and then takes all before it for published: so it sees them.
            fence(Ordering::Release);
        }
    }

    /// Whether the one publisher has left out the number `sequence`, and its slot still says so.
    pub(crate) fn is_left_out(&self, sequence: Sequence) -> bool {
        self.head.writers() == Writers::One && self.stamp(sequence) == Stamp::left_out(sequence)
    }

    /// The first number from `from` on that was not left out; `head`, if all before it were. At most
    /// `capacity` looks.
    pub(crate) fn behind_left_out(&self, from: Sequence, head: Sequence) -> Sequence {
        let end = head.min(from.plus(self.capacity() as u64));
        let mut sequence = from;
        while sequence < end && self.is_left_out(sequence) {
            sequence = sequence.next();
        }
        sequence
    }

    /// Whether message `sequence`, which no subscriber waits for any more, was never there.
    pub(crate) fn was_never_there(&self, sequence: Sequence) -> bool {
        self.head.writers() == Writers::Fellows && self.stamp(sequence) < Stamp::done(sequence)
    }
}
