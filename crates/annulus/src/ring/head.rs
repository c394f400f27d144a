//! [`Head`]: how far the publishers of a ring have come.
//!
//! *One publisher* keeps it lazily: a lower bound that it stores now and then, and a walk along the stamps
//! that completes the bound for a caller that needs the exact head. *Many publishers* claim their sequences
//! from one counter. What was claimed is written, or about to be: the stamps tell which, each for its slot,
//! so the head is the first message that some slot still waits for.
//!
//! A store to any line but the slot's is what costs a publisher with live readers, so the head is not stored
//! with each message by a single publisher. A receive in order never needs it; joining, lag, `pending` and
//! `latest` do, and pay for the walk.

use alloc::boxed::Box;
#[cfg(all(feature = "std", not(annulus_loom)))]
use core::ptr::NonNull;

use super::claims::Claims;
use super::end::RingEnd;
use super::mirror::{MOST_INTERVAL, Mirror};
use super::shared_numbers::Seen;
use super::slots::Writers;
use crate::base::common::written;
use crate::base::sequence::{Sequence, Stamp, State};
use crate::sync::{AtomicU64, Ordering, fence, light_fence, pause, seeded, unlikely};

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

impl Head {
    /// Writes the head of a new ring. `mirror`: other processes have the slots.
    ///
    /// # Safety
    ///
    /// There is memory for it, which nobody else uses.
    #[inline(always)]
    pub(crate) unsafe fn write_at(
        dst: *mut Self,
        capacity: usize,
        first: Sequence,
        writers: Writers,
        mirror: Option<Box<Mirror>>,
    ) {
        // A quarter of the ring at most, so that a walk is short; every message in the smallest ring.
        let quarter = (capacity as u64 / 4).clamp(1, MOST_INTERVAL);
        let interval_mask = (1 << quarter.ilog2()) - 1;
        let is_elsewhere = !matches!(writers, Writers::One | Writers::Many);
        let bound = if is_elsewhere { CLOSED } else { first.get() };
        // SAFETY: the caller's promise.
        unsafe {
            written!(
                dst,
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
    /// path before it publishes the message: [`note`](Self::note) and [`may_publish`](Self::may_publish). It
    /// has to where somebody has closed the ring. Once in `interval` messages, where there is nothing else to
    /// do, this call notes how far the publisher is (head.pass1).
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
        // Release: pairs with the Acquire in `walk`. A thread that sees the bound sees the stamps before it.
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
    pub(crate) fn may_publish(&self, sequence: Sequence) -> bool {
        seeded!("end_unheeded") || self.end.is_open() || self.end.settle(sequence) > sequence
    }

    /// The one publisher has announced `sequence`, and does not publish it: its slot has the stamp of the lap
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
        // end.close1. Relaxed: end.close2 and end.close3 decide which thread sees it.
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
            // Acquire: pairs with end.many7; a publisher that is refused sees what came before the close.
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
        // seen the stamp of the lap before (`Slots::is_left`).
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

    /// Of [claimants](Writers::Claimants).
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
impl Head {
    /// One publisher: completes the bound by the stamps: from the larger of it and `known`, on while the next
    /// slot shows that its message, or one of a later lap, was published, or that its number was left out.
    ///
    /// A message whose publication happens before this call is counted: the bound visible here is then at
    /// most `interval` behind it, and the walk takes twice as many steps where stamps allow it. No more,
    /// though, so a publisher that runs ahead of it can't keep it walking.
    #[inline]
    pub(crate) fn walk(
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
    #[inline]
    pub(crate) fn believed(&self, frontier: Frontier) -> Frontier {
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
    /// many laps lie between the claims and a publisher that stopped.
    #[inline]
    pub(crate) fn survey(
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

    /// As [`survey`](Self::survey), where `first_open` says which message from `known` on is the first that
    /// is not written, and is claimed: by a look at each slot, or at the claims; the head, if there is none.
    #[inline]
    pub(crate) fn survey_by(
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
    #[inline]
    pub(crate) fn newest(
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
impl Head {
    /// end.hold7: the one publisher decides alone where the ring ends, until it
    /// [lets the end go](Self::let_end_go). `false` if somebody has closed the ring.
    pub(crate) fn hold_end(&self) -> bool {
        self.end.hold()
    }

    /// head.skip3: the one publisher has left out the numbers before `sequence`.
    pub(crate) fn go_to(&self, sequence: Sequence) {
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
impl Head {
    /// end.close1 and end.close2: the one publisher takes the slow path for each message from now on. In this
    /// order: a publisher that sees end.close2 (Acquire) also takes it.
    pub(crate) fn begin_to_end(&self) {
        if seeded!("end_before_the_mask") {
            self.end.begin();
        }
        self.always_take_slow_path();
        self.end.begin();
    }

    /// end.close6: the ring of one publisher ends before `sequence`, if the publisher has not decided
    /// otherwise.
    pub(crate) fn settle(&self, sequence: Sequence) {
        self.end.settle(sequence);
    }

    /// end.many7: many publishers claim nothing any more, and the ring ends behind what they have claimed.
    pub(crate) fn end_claims(&self) {
        // Release: pairs with the Acquire in `claimable`.
        let bound = self.bound.fetch_or(CLOSED, Ordering::Release);
        if bound & CLOSED == 0 {
            self.end.begin();
            self.end.settle(Sequence::new(bound));
        }
    }

    /// Closes a ring of claimants: for all of them, if this process can write there; otherwise for this one.
    pub(crate) fn end_of_claimants(&self) {
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
            Writers::Claimants => !self.end.is_open() || self.claims().is_some_and(Claims::is_closed),
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
    pub(crate) fn show_end(&self, end: Sequence) {
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

    /// Why nothing is left to receive of a ring that is closed: whether the publisher is of another process,
    /// which has died, and nobody closed the ring.
    pub(crate) fn publisher_has_died(&self) -> bool {
        self.end.decided().is_none() && self.mirror.as_ref().is_some_and(|mirror| mirror.publisher_has_died())
    }

    /// Whether the publisher is of another process, and has said that the ring ends, or is gone.
    pub(crate) fn publisher_has_ended(&self) -> bool {
        self.seen().is_some_and(Seen::publisher_has_ended)
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

#[cfg(test)]
mod tests {
    use core::mem::MaybeUninit;

    use super::*;

    fn head(capacity: usize, first: Sequence, writers: Writers) -> Head {
        let mut head = MaybeUninit::uninit();
        // SAFETY: there is memory for it, and it is there then.
        unsafe {
            Head::write_at(head.as_mut_ptr(), capacity, first, writers, None);
            head.assume_init()
        }
    }

    fn one(capacity: usize) -> Head {
        head(capacity, Sequence::FIRST, Writers::One)
    }

    #[test]
    fn interval_fits_the_ring() {
        let interval = |capacity| one(capacity).interval();
        assert_eq!([2, 3, 4, 7, 8, 12, 16].map(interval), [1, 1, 1, 1, 2, 2, 4]);
        assert_eq!([100, 255, 256, 1 << 20, usize::MAX].map(interval), [16, 32, 64, 64, 64]);
    }

    /// A publisher that sees that somebody closes the ring also takes the slow path for each message.
    #[test]
    fn publisher_that_sees_the_close_takes_the_slow_path() {
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
    fn walk_ends_although_the_publisher_runs_ahead() {
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
    fn slot_of_a_later_lap_moves_the_walk_on() {
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
    fn walk_passes_what_is_left_out() {
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

    /// A walk while a publisher leaves out 5 to 99, and has marked some of them: it goes to a number among
    /// these, and no further than the marks.
    #[test]
    fn walk_beside_a_skip_of_laps_ends_at_its_marks() {
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
        many_from(0, claimed)
    }

    /// The same from another message on.
    fn many_from(first: u64, claimed: u64) -> Head {
        let head = head(8, at(first), Writers::Many);
        // (It may fail although nobody else claims.)
        while !head.claim_at(at(first), claimed) {}
        head
    }

    fn at(number: u64) -> Sequence {
        Sequence::new(number)
    }

    /// Message 5 is being written; the later ones are done, and wait for its slot a lap and two laps later.
    fn stopped_at_five(sequence: Sequence) -> Stamp {
        match sequence.get() % 8 {
            5 => Stamp::writing(at(5)),
            slot @ (6 | 7) => Stamp::done(at(slot + 8)),
            slot => Stamp::done(at(slot + 16)),
        }
    }

    #[test]
    fn written_messages_end_at_a_stopped_publisher() {
        let survey = |known| many(22).survey(at(known), Sequence::FIRST, 8, stopped_at_five);
        assert_eq!(survey(0), Frontier { head: at(5), oldest: at(5) });
        // A reader that has passed it is not held up by it, but by the message that waits for its slot.
        assert_eq!(survey(6).head, at(13));
        assert_eq!(survey(14).head, at(21));
        assert_eq!(survey(30).head, at(30));
    }

    #[test]
    fn unwritten_messages_are_not_there() {
        let none = |_| Stamp::from_bits(0);
        let nothing = Frontier { head: at(0), oldest: at(0) };
        assert_eq!(many(3).survey(at(0), at(0), 8, none), nothing);
        assert_eq!(many(1_000_003).survey(at(0), at(0), 8, none), nothing);
        assert_eq!(many(1_000_003).newest(at(0), 8, none), None);
        // The ring's first message is number 3.
        assert_eq!(many_from(3, 100).survey(at(0), at(3), 8, none).head, at(3));
    }

    #[test]
    fn oldest_is_one_that_was_not_overwritten() {
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
    fn newest_is_one_that_stands() {
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
