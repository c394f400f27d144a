//! [`Ring`]: slots, and how far its publishers have come; [`Head`]: their progress.
//!
//! *One publisher* keeps it lazily: a lower bound that it stores now and then, and a walk along the stamps
//! that completes it for whoever needs it exactly. *Many publishers* claim their sequences from one counter.
//! What was claimed is written, or about to be: the stamps tell which, each for its slot, so the head is the
//! first message that some slot still waits for.
//!
//! A store to any line but the slot's is what costs a publisher with live readers, so the head is not stored
//! with each message by a single publisher. Those who receive in order never need it; joining, lag, `pending`
//! and `latest` do, and pay for the walk.

use alloc::boxed::Box;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::claims::Claims;
use super::end::RingEnd;
use super::mirror::Mirror;
use super::shared_numbers::Seen;
use super::slots::{Copied, Read, Slots, Store, Strided, WithoutSlot, Writers, Written};
use crate::base::common::written;
use crate::base::index::Index;
use crate::base::sequence::{Sequence, Stamp, State};
use crate::memory::Block;
use crate::message::Message;
use crate::sync::{AtomicU64, Ordering, fence, light_fence, pause, seeded, unlikely};

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

/// The publishers' progress. Of one publisher: never more than the truth, and less by `interval` messages at
/// most. Of many: what they claimed.
#[repr(C, align(128))]
pub(crate) struct Head {
    /// One publisher: the next sequence to publish, or an earlier one. Many: the next sequence to claim, and
    /// [`CLOSED`]. Of several processes only that: theirs is elsewhere.
    bound: AtomicU64,
    /// One publisher: it takes the slow path for the messages whose number has none of these bits. This is
    /// `interval_mask`, or 0: for all messages.
    slow_path_mask: AtomicU64,
    /// Where it ends, once somebody has closed it.
    end: RingEnd,
    /// How many messages pass between two stores of one publisher, less one; the interval is a power of two.
    /// Constant.
    interval_mask: u64,
    /// Constant.
    writers: Writers,
    /// Of a ring whose slots other processes have. Constant.
    mirror: Option<Box<Mirror>>,
}

// All that a publisher looks at is one line, and nothing else is on it (docs/LAYOUT.md).
#[cfg(not(annulus_loom))]
const _: () = assert!(core::mem::offset_of!(Head, writers) < 64 && size_of::<Head>() == 128);

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

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.index.capacity()
    }

    /// The sequence of the ring's first message.
    pub(crate) fn first(&self) -> Sequence {
        self.first
    }

    /// How far the publishers have come.
    #[inline]
    pub(crate) fn head(&self) -> &Head {
        &self.head
    }

    /// Where its slots lie.
    #[cfg(feature = "std")]
    pub(crate) fn block(&self) -> &Block {
        self.store.block()
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
}

impl<T: Message> Ring<Copied<T>> {
    /// As [`Slots::read`].
    #[inline]
    pub(crate) fn read<'m>(&self, sequence: Sequence, message: &'m mut MaybeUninit<T::Wire>) -> Read<'m, T> {
        // SAFETY: this is the ring, and lives.
        unsafe { self.slots().read(sequence, message) }
    }
}

impl Head {
    /// Writes that of a ring. `mirror`: other processes have the slots.
    ///
    /// # Safety
    ///
    /// There is room for it, which nobody else uses.
    #[inline(always)]
    pub(super) unsafe fn write_at(
        place: *mut Self,
        capacity: usize,
        first: Sequence,
        writers: Writers,
        mirror: Option<Box<Mirror>>,
    ) {
        // A quarter of the ring at most, so that a walk is short beside the ring; every message in the
        // smallest.
        let quarter = (capacity as u64 / 4).clamp(1, 64);
        let interval_mask = (1 << quarter.ilog2()) - 1;
        let is_elsewhere = !matches!(writers, Writers::One | Writers::Many);
        let bound = if is_elsewhere { CLOSED } else { first.get() };
        // SAFETY: the caller's promise.
        unsafe {
            written!(
                place,
                Self {
                    bound: AtomicU64::new(bound),
                    slow_path_mask: AtomicU64::new(interval_mask),
                    end: RingEnd::open(),
                    interval_mask: interval_mask,
                    writers: writers,
                    mirror: mirror,
                }
            );
        }
    }

    pub(crate) fn writers(&self) -> Writers {
        self.writers
    }
}

// One publisher, with each message.
impl Head {
    /// end.send4: whether the one publisher, which has announced `sequence` (slot.w1), has to take the slow
    /// path before it publishes the message: [`note`](Self::note) and [`goes_on`](Self::goes_on). It has to
    /// where somebody has closed the ring. Once in `interval` messages, where there is nothing else to do,
    /// this call notes how far the publisher is (head.pass1).
    #[inline(always)]
    pub(crate) fn needs_slow_path(&self, sequence: Sequence) -> bool {
        // For the compiler; pairs with end.close3, which makes every core execute a barrier.
        light_fence();
        // Relaxed: that fence and end.close3 decide what it sees.
        let mask = self.slow_path_mask.load(Ordering::Relaxed);
        // Decision 0001: only the slot is stored for each message.
        if unlikely(sequence.get() & mask == 0) {
            if mask == 0 {
                return true;
            }
            self.store_bound(sequence);
        }
        false
    }

    /// head.pass1.
    #[inline(always)]
    fn store_bound(&self, sequence: Sequence) {
        let sequence = if seeded!("head_one_too_far") { sequence.plus(2) } else { sequence };
        // Release: pairs with the Acquire in `walk`. Who sees the bound sees the stamps before it.
        self.bound.store(sequence.get(), Ordering::Release);
        if let Some(mirror) = &self.mirror {
            mirror.show_bound(sequence);
        }
    }

    /// head.pass1: notes, once in `interval` messages, that all before `sequence` have been published.
    pub(crate) fn note(&self, sequence: Sequence) {
        if sequence.get() & self.interval_mask == 0 {
            self.store_bound(sequence);
        }
    }

    /// end.send5: whether the one publisher, which has announced `sequence`, is to publish it.
    #[inline]
    pub(crate) fn goes_on(&self, sequence: Sequence) -> bool {
        seeded!("end_unheeded") || self.end.is_open() || self.end.settle(sequence) > sequence
    }

    /// The one publisher has announced `sequence`, and does not publish it: its stamp is that of the lap
    /// before again. Whether the ring ends there.
    pub(crate) fn withdraw(&self, sequence: Sequence) -> bool {
        let ends = !self.end.is_open();
        if ends {
            self.end.withdraw(sequence);
        }
        ends
    }

    /// The one publisher takes the slow path for each message, because of the fence there: where no light
    /// fence is enough.
    pub(crate) fn always_take_slow_path(&self) {
        // end.close1. Relaxed: end.close2 and end.close3 decide who sees it.
        self.slow_path_mask.store(0, Ordering::Relaxed);
    }

    /// The words of end.send4 and head.pass1, for a publisher in another language.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    pub(crate) fn lend(&self) -> LentHead {
        let (mask, bound) = (NonNull::from(&self.slow_path_mask), NonNull::from(&self.bound));
        LentHead { slow_path_mask: mask.cast(), bound: bound.cast() }
    }
}

/// Many publishers: nothing can be claimed any more. (Sequences have one bit less.)
const CLOSED: u64 = 1 << 63;

// Many publishers: they claim.
impl Head {
    /// The next sequence that can be claimed; `None` where somebody has closed the ring.
    #[inline]
    pub(crate) fn claimable(&self) -> Option<Sequence> {
        // Relaxed: as in `claim_at`.
        let bound = self.bound.load(Ordering::Relaxed);
        if unlikely(bound & CLOSED != 0) {
            // Acquire: pairs with end.many7; what came before the close is seen by whoever is refused.
            fence(Ordering::Acquire);
            return None;
        }
        Some(Sequence::new(bound))
    }

    /// claim.take1: takes `count` sequences from `first` on, if nobody else has claimed since
    /// [`claimable`](Self::claimable) returned `first`. They must be published, or the ring stands still at
    /// them.
    #[inline]
    pub(crate) fn claim_at(&self, first: Sequence, count: u64) -> bool {
        if seeded!("claim_whoever_was_faster") {
            self.bound.store(first.plus(count).get(), Ordering::Relaxed);
            return true;
        }
        // Relaxed: the counter is all that is shared here. A slot is written only by the publisher that has
        // seen the stamp of the lap before (`Ring::is_left`).
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        self.bound.compare_exchange_weak(first.get(), first.plus(count).get(), success, failure).is_ok()
    }

    /// The sequence behind all that were claimed. (Of a ring that is just being closed it may be a later
    /// one.)
    #[inline]
    pub(crate) fn claimed(&self) -> Sequence {
        // Relaxed: as in `claim_at`.
        let bound = self.bound.load(Ordering::Relaxed);
        let end = if unlikely(bound & CLOSED != 0) { self.claimed_elsewhere_or_end() } else { None };
        end.unwrap_or(Sequence::new(bound & !CLOSED))
    }

    #[cold]
    fn claimed_elsewhere_or_end(&self) -> Option<Sequence> {
        self.claims().map(Claims::claimed).or_else(|| self.end.decided())
    }

    /// Of [fellows](Writers::Fellows).
    pub(crate) fn claims(&self) -> Option<&Claims> {
        self.mirror.as_ref()?.claims()
    }
}

/// How far publishers have come, as a reader found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frontier {
    /// Every message before this one has been written, and this thread sees it; of one publisher, at least
    /// those whose publication happens before the look. Of many, this one has been claimed and was still to
    /// be written, or nobody has claimed it.
    pub(crate) head: Sequence,
    /// The oldest message before `head` that was not overwritten; of one publisher, nor about to be. `head`
    /// where none stands.
    pub(crate) oldest: Sequence,
}

// How far the publishers have come, for readers.
impl<S: Store> Ring<S> {
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
}

// How far the publishers have come, for readers.
impl Head {
    /// One publisher: completes the bound by the stamps: from the larger of it and `known`, on while the next
    /// slot shows that its message, or one of a later lap, was published, or that its number was left out.
    ///
    /// A message whose publication happens before this call is counted: the bound visible here is then at
    /// most `interval` behind it, and the walk takes twice as many steps where stamps allow it. No more,
    /// though, so a publisher that runs ahead of it can't keep it walking.
    pub(super) fn walk(
        &self,
        known: Sequence,
        capacity: usize,
        stamp: impl Fn(Sequence) -> Stamp,
    ) -> Frontier {
        let capacity = capacity as u64;
        let bound = match self.seen() {
            Some(seen) => seen.bound(),
            // Acquire: pairs with the Release in `note`.
            None => Sequence::new(self.bound.load(Ordering::Acquire)),
        };
        let mut head = known.max(bound);
        if seeded!("head_no_walk") {
            return Frontier { head, oldest: head.back(capacity) };
        }
        for _ in 0..2 * self.interval() {
            match stamp(head).state() {
                State::Done(sequence) if sequence >= head => head = sequence.next(),
                // Being written: what its slot held a lap before is gone already.
                State::Writing(sequence) if sequence == head => {
                    return Frontier { head, oldest: head.next().back(capacity) };
                }
                // A later lap. slot.w1 of a message may be seen before slot.w4 of the one before it, but not
                // before slot.w2 of that one, and so not before slot.w4 of any earlier: those are done, and
                // the next turn looks at this one. Decision 0011: back by one, because the stamp is a relaxed
                // store.
                // Mutants: `> head with true`: no slot of a message to come is being written
                // for an earlier lap, because all before it are done.
                // Mutants: `> with >=`: the arm before has taken it.
                // Or the number before `sequence` was left out, and this is its slot (slot.skip1, which is
                // Release): all before it are done. If that is the number of `head`, it is passed.
                State::Writing(sequence) if sequence > head => head = sequence.back(1).max(head.next()),
                _ => break,
            }
        }
        Frontier { head, oldest: head.back(capacity) }
    }

    fn interval(&self) -> u64 {
        self.interval_mask + 1
    }

    /// What can be believed of that: another process may have written any stamp. No number that comes of it
    /// is too large to count on from.
    pub(super) fn believed(&self, frontier: Frontier) -> Frontier {
        if self.is_seen() && !seeded!("mirror_believes_all") {
            let Frontier { head, oldest } = frontier;
            let most = Sequence::LAST_BELIEVED;
            return Frontier { head: head.min(most), oldest: oldest.min(most) };
        }
        frontier
    }

    /// Many publishers: the first message from `known` on that is not written, by a look at the slot of each
    /// that was claimed; and the oldest that stands before it. `first` is the ring's first message.
    ///
    /// At most `capacity` looks for each of the two. A slot tells of all its messages: those before the one
    /// it waits for are written, and stay so. So it does not matter that publishers go on meanwhile, nor how
    /// many laps lie between the claims and one who stopped.
    pub(super) fn survey(
        &self,
        known: Sequence,
        first: Sequence,
        capacity: usize,
        stamp: impl Fn(Sequence) -> Stamp,
    ) -> Frontier {
        let laps = capacity as u64;
        let first_open = |known: Sequence, claimed: Sequence| {
            let (mut head, mut sequence) = (claimed, known.max(claimed.back(laps)));
            // Mutants: `< with <=`: one more look, at a slot that waits for nothing earlier.
            while sequence < claimed && !seeded!("survey_by_claims") {
                // Acquire: pairs with slot.w4, so the messages before it are seen.
                let waits_for = match stamp(sequence).state() {
                    State::Never => first.plus(sequence.since(first) % laps),
                    State::Writing(being_written) => being_written,
                    State::Done(written) => written.plus(laps),
                };
                // One before `known` is not asked about.
                let laps_before = known.since(waits_for).div_ceil(laps);
                head = head.min(waits_for.plus(laps_before * laps));
                sequence = sequence.next();
            }
            head
        };
        self.survey_by(known, first, capacity, first_open, &stamp)
    }

    /// The same, where `first_open` says which message from `known` on is the first that is not written, and
    /// is claimed: a look at each slot, or at who has claimed; the head, if there is none.
    pub(super) fn survey_by(
        &self,
        known: Sequence,
        first: Sequence,
        capacity: usize,
        first_open: impl FnOnce(Sequence, Sequence) -> Sequence,
        stamp: impl Fn(Sequence) -> Stamp,
    ) -> Frontier {
        let capacity = capacity as u64;
        // Decision 0029: no count of what is written.
        let claimed = self.claimed().max(known);
        let head = first_open(known.max(first), claimed);
        let mut oldest = head.back(capacity).max(first);
        // Mutants: `< with <=`: one more look, at a slot that waits for nothing earlier.
        while oldest < head && stamp(oldest) != Stamp::done(oldest) {
            oldest = oldest.next();
        }
        Frontier { head, oldest }
    }

    /// Many publishers: the newest message from `from` on that stands whole, by looks from the last claim
    /// back. One that stands during all of them is found, or a newer one.
    ///
    /// At most `capacity` looks: one for each claim that is still to be written, as a rule, and one more. And
    /// again, where there is nothing and publishers went on meanwhile: in a small ring each slot may have
    /// been in use just when it was looked at.
    pub(super) fn newest(
        &self,
        from: Sequence,
        capacity: usize,
        stamp: impl Fn(Sequence) -> Stamp,
    ) -> Option<Sequence> {
        loop {
            let claimed = self.claimed();
            let (mut sequence, mut newest) = (claimed, None);
            while sequence > from.max(claimed.back(capacity as u64)) {
                sequence = sequence.back(1);
                // Where it is still to be written, its slot holds a message of an earlier lap: the newest of
                // all may be among those.
                if let State::Done(written) = stamp(sequence).state() {
                    if written >= sequence {
                        return Some(written);
                    }
                    let stands = written >= from && !seeded!("latest_by_claims");
                    newest = newest.max(stands.then_some(written));
                }
            }
            if newest.is_some() || self.claimed() == claimed {
                return newest;
            }
            // Unreached: publishers go on while newest finds nothing: they have to meet in every slot;
            // Promela claim, loom many
            pause();
        }
    }
}

// One publisher leaves out numbers.
impl<S: Store> Ring<S> {
    /// slot.skip1 to head.skip4: the one publisher, whose next message would be `first`, gives no message a
    /// number before `sequence`. It [holds the end](Head::hold_end).
    ///
    /// Only stamps are stored, those of the last lap before `sequence`: a slot tells of the latest number
    /// that is its own. Messages of the lap before are gone. O(`sequence` − `first`), or O(`capacity`).
    pub(crate) fn leave_out(&self, first: Sequence, sequence: Sequence) {
        let mut left_out = first.max(sequence.back(self.capacity() as u64));
        // Ascending, so that a walk that meets a mark finds the marks before it.
        while left_out < sequence && !seeded!("skip_unmarked") {
            // slot.skip1. Release: pairs with slot.r1, and with every other look at a stamp: who sees that
            // the number was left out sees all messages before it. No reader looks for the words behind it.
            self.stamp_word(left_out).store(Stamp::left_out(left_out).bits(), Ordering::Release);
            left_out = left_out.next();
        }
        self.head.go_to(sequence);
        if !seeded!("skip_no_release_fence") {
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
}

// One publisher leaves out numbers.
impl Head {
    /// end.hold7: the one publisher decides alone where the ring ends, until it
    /// [lets the end go](Self::let_end_go). `false` if somebody has closed the ring.
    pub(crate) fn hold_end(&self) -> bool {
        self.end.hold()
    }

    /// head.skip3: the one publisher has left out the numbers before `sequence`.
    pub(super) fn go_to(&self, sequence: Sequence) {
        if !seeded!("skip_bound_unstored") {
            self.store_bound(sequence);
        }
    }

    /// end.hold8: the next message of the one publisher is `next`. Whether somebody has closed the ring
    /// meanwhile; then it ends before that.
    pub(crate) fn let_end_go(&self, next: Sequence) -> bool {
        self.end.let_go(next)
    }
}

// The end of the ring.
impl<S: Store> Ring<S> {
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
            let announced = self.stamp(head) >= Stamp::writing(head) && !seeded!("end_forgets_the_announced");
            self.head.settle(if announced { head.next() } else { head });
        }
    }

    /// The one publisher is gone, or has closed the ring: other processes are told where it ends.
    pub(crate) fn show_end(&self) {
        if self.head.is_mirrored() {
            let end = self.head.end().unwrap_or_else(|| self.frontier(Sequence::FIRST).head);
            self.head.show_end(end);
        }
    }
}

// The end of the ring.
impl Head {
    /// end.close1 and end.close2: the one publisher takes the slow path for each message from now on. In this
    /// order: whoever sees end.close2 (Acquire) also takes it.
    pub(super) fn begin_to_end(&self) {
        if seeded!("end_before_the_mask") {
            self.end.begin();
        }
        self.always_take_slow_path();
        self.end.begin();
    }

    /// end.close6: the ring of one publisher ends before `sequence`, if the publisher has not decided
    /// otherwise.
    pub(super) fn settle(&self, sequence: Sequence) {
        self.end.settle(sequence);
    }

    /// end.many7: many publishers claim nothing any more, and the ring ends behind what they have claimed.
    pub(super) fn end_claims(&self) {
        // Release: pairs with the Acquire in `claimable`.
        let bound = self.bound.fetch_or(CLOSED, Ordering::Release);
        if bound & CLOSED == 0 {
            self.end.begin();
            self.end.settle(Sequence::new(bound));
        }
    }

    /// Closes a ring of fellows: for all of them, if this process can write there; otherwise for this one.
    pub(super) fn end_of_fellows(&self) {
        let Some(claims) = self.claims() else { return };
        if claims.is_writable() {
            claims.close();
        } else {
            self.end.begin();
            self.end.settle(claims.claimed());
        }
    }

    /// The first message that will never be, once somebody has closed the ring, and it is decided.
    #[inline]
    pub(crate) fn end(&self) -> Option<Sequence> {
        self.end.decided().or_else(|| self.seen()?.end())
    }

    /// Whether somebody has closed the ring.
    pub(crate) fn is_ending(&self) -> bool {
        match self.writers {
            Writers::One => !self.end.is_open(),
            Writers::Many => self.claimable().is_none(),
            Writers::Fellows => !self.end.is_open() || self.claims().is_some_and(Claims::is_closed),
        }
    }
}

// Fellows: which messages are there, or will never be.
impl<S: Store> Ring<S> {
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

    /// Whether message `sequence`, which no subscriber waits for any more, was never there.
    pub(crate) fn was_never_there(&self, sequence: Sequence) -> bool {
        self.head.writers() == Writers::Fellows && self.stamp(sequence) < Stamp::done(sequence)
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
}

// Other processes.
impl Head {
    /// Whether other processes are to be told of the end.
    #[inline]
    pub(crate) fn is_mirrored(&self) -> bool {
        self.mirror.is_some()
    }

    /// Tells the other processes that nothing comes from `end` on.
    pub(super) fn show_end(&self, end: Sequence) {
        if let Some(mirror) = &self.mirror {
            mirror.show_end(end);
        }
    }

    /// What the publisher shows, if it is of another process.
    #[inline]
    fn seen(&self) -> Option<&Seen> {
        self.mirror.as_ref()?.seen()
    }

    /// Whether the publisher is of another process.
    #[inline]
    pub(crate) fn is_seen(&self) -> bool {
        self.seen().is_some()
    }

    /// Whether the publisher is of another process, which is gone.
    #[inline]
    pub(crate) fn publisher_is_gone(&self) -> bool {
        self.seen().is_some_and(Seen::publisher_is_gone)
    }
}

/// How far the one publisher of a ring says it is.
#[cfg(all(feature = "std", not(annulus_loom)))]
#[derive(Clone, Copy, Debug)]
pub struct LentHead {
    /// end.send4: a message whose number has none of these bits takes the slow path where they are 0, and
    /// head.pass1 otherwise.
    pub slow_path_mask: NonNull<u64>,
    /// head.pass1 stores here.
    pub bound: NonNull<u64>,
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use core::mem::MaybeUninit;

    use super::*;

    fn head(capacity: usize, first: Sequence, writers: Writers) -> Head {
        let mut place = MaybeUninit::uninit();
        // SAFETY: there is room for it, and it is there then.
        unsafe {
            Head::write_at(place.as_mut_ptr(), capacity, first, writers, None);
            place.assume_init()
        }
    }

    fn one(capacity: usize) -> Head {
        head(capacity, Sequence::FIRST, Writers::One)
    }

    #[test]
    fn the_interval_fits_the_ring() {
        let interval = |capacity| one(capacity).interval();
        assert_eq!([2, 3, 4, 7, 8, 12, 16].map(interval), [1, 1, 1, 1, 2, 2, 4]);
        assert_eq!([100, 255, 256, 1 << 20, usize::MAX].map(interval), [16, 32, 64, 64, 64]);
    }

    /// A publisher that sees that somebody closes the ring also takes the slow path for each message.
    #[test]
    fn who_sees_the_close_looks_up() {
        for _ in 0..if cfg!(miri) { 10 } else { 1000 } {
            let head = one(64);
            std::thread::scope(|scope| {
                scope.spawn(|| head.begin_to_end());
                while !head.is_ending() {
                    pause();
                }
                assert!(head.needs_slow_path(at(1)), "it would go on");
            });
        }
    }

    #[test]
    fn a_walk_ends_although_the_publisher_runs_ahead() {
        let steps = core::cell::Cell::new(0);
        let head = one(64);
        let frontier = head.walk(Sequence::FIRST, 64, |sequence| {
            steps.set(steps.get() + 1);
            Stamp::done(sequence)
        });
        assert_eq!(steps.get(), 2 * head.interval());
        assert_eq!(frontier.head.get(), steps.get());
    }

    #[test]
    fn a_slot_of_a_later_lap_moves_the_walk_on() {
        let frontier = one(8).walk(Sequence::FIRST, 8, |sequence| match sequence.get() {
            0 => Stamp::done(Sequence::new(16)),
            24 => Stamp::done(Sequence::new(24)),
            17 | 25 => Stamp::writing(Sequence::new(25)),
            _ => unreachable!(),
        });
        assert_eq!(frontier, Frontier { head: Sequence::new(25), oldest: Sequence::new(18) });
    }

    /// Numbers 3 and 4 of a ring of two slots are left out, and message 5 is there; or 3 alone, and 4 is
    /// being written.
    #[test]
    fn a_walk_passes_what_is_left_out() {
        let left_out = |number| Stamp::left_out(at(number));
        let walk = |from, stamps: [Stamp; 2]| {
            one(2).walk(at(from), 2, |sequence| stamps[sequence.get() as usize % 2]).head.get()
        };
        assert_eq!(walk(2, [Stamp::done(at(2)), left_out(3)]), 4);
        assert_eq!([3, 4].map(|from| walk(from, [left_out(4), Stamp::done(at(5))])), [6, 6]);
        assert_eq!(walk(3, [left_out(4), left_out(3)]), 5);
        let being_written = one(2)
            .walk(at(3), 2, |sequence| if sequence == at(3) { left_out(3) } else { Stamp::writing(at(4)) });
        assert_eq!(being_written, Frontier { head: at(4), oldest: at(3) });
    }

    /// A walk beside a publisher that leaves out 5 to 99, and has marked some of them: it goes on to a number
    /// among these, and no further than the marks.
    #[test]
    fn a_walk_beside_a_skip_of_laps_ends_at_its_marks() {
        for marked in 92..=100 {
            let stamp = |sequence: Sequence| {
                let marked = (92..marked).map(at).find(|mark| mark.get() % 8 == sequence.get() % 8);
                let before = (0..5).map(at).find(|done| done.get() % 8 == sequence.get() % 8);
                marked.map(Stamp::left_out).or(before.map(Stamp::done)).unwrap_or(Stamp::from_bits(0))
            };
            for from in 0..=5 {
                let head = one(8).walk(at(from), 8, stamp).head.get();
                assert!((from..=5).contains(&head) || (92..=marked).contains(&head), "{head} of {marked}");
            }
        }
    }

    /// Of eight slots from message 0 on, `claimed` claimed, with these stamps.
    fn many(claimed: u64) -> Head {
        let head = head(8, Sequence::FIRST, Writers::Many);
        assert!(head.claim_at(at(0), claimed));
        head
    }

    fn at(number: u64) -> Sequence {
        Sequence::new(number)
    }

    /// Message 5 is being written; those who came later are done, and wait for its slot a lap and two laps
    /// later.
    fn stopped_at_five(sequence: Sequence) -> Stamp {
        match sequence.get() % 8 {
            5 => Stamp::writing(at(5)),
            slot @ (6 | 7) => Stamp::done(at(slot + 8)),
            slot => Stamp::done(at(slot + 16)),
        }
    }

    #[test]
    fn what_is_written_ends_at_one_who_stopped() {
        let survey = |known| many(22).survey(at(known), Sequence::FIRST, 8, stopped_at_five);
        assert_eq!(survey(0), Frontier { head: at(5), oldest: at(5) });
        // Whoever has passed it is not held up by it, but by whoever waits for its slot.
        assert_eq!(survey(6).head, at(13));
        assert_eq!(survey(14).head, at(21));
        assert_eq!(survey(30).head, at(30));
    }

    #[test]
    fn what_nobody_wrote_is_not_there() {
        let none = |_| Stamp::from_bits(0);
        let nothing = Frontier { head: at(0), oldest: at(0) };
        assert_eq!(many(3).survey(at(0), at(0), 8, none), nothing);
        assert_eq!(many(1_000_003).survey(at(0), at(0), 8, none), nothing);
        assert_eq!(many(1_000_003).newest(at(0), 8, none), None);
        // The ring's first message is number 3.
        let head = head(8, at(3), Writers::Many);
        assert!(head.claim_at(at(3), 100));
        assert_eq!(head.survey(at(0), at(3), 8, none).head, at(3));
    }

    #[test]
    fn the_oldest_is_one_that_was_not_overwritten() {
        // Messages 8 to 15 are there; 16 and 18 have been claimed, and 17 is written.
        let stamps = |sequence: Sequence| match sequence.get() % 8 {
            0 => Stamp::writing(at(16)),
            1 => Stamp::done(at(17)),
            slot => Stamp::done(at(slot + 8)),
        };
        assert_eq!(
            many(19).survey(at(0), Sequence::FIRST, 8, stamps),
            Frontier { head: at(16), oldest: at(10) }
        );
    }

    #[test]
    fn the_newest_is_one_that_stands() {
        let newest = |claimed, from| many(claimed).newest(at(from), 8, stopped_at_five).map(Sequence::get);
        assert_eq!(newest(22, 0), Some(20));
        // Later claims, of which none is written.
        assert_eq!(newest(27, 0), Some(20));
        assert_eq!(newest(1_000_000, 20), Some(20));
        assert_eq!(newest(22, 21), None);
        // A lap earlier than all that are asked for.
        let a_lap_ago = |sequence: Sequence| Stamp::done(sequence.back(8));
        assert_eq!([16, 15].map(|from| many(24).newest(at(from), 8, a_lap_ago)), [None, Some(at(15))]);
    }
}
