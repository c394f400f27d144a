//! How far the publishers have come.
//!
//! *One publisher* keeps it lazily: a lower bound that it stores now and then, and a walk along the stamps that completes it
//! for whoever needs it exactly. *Many publishers* claim their sequences from one counter, which is the head: what was
//! claimed is published, or about to be.
//!
//! A store to any line but the slot's is what costs a publisher with live readers, so the head is not stored with
//! each message by a single publisher. Those who receive in order never need it; joining, lag, `pending` and `latest` do, and pay for
//! the walk.

use crate::hint::unlikely;
use crate::sync::{AtomicU64, Ordering, mutated};

use super::sequence::State;
use super::{Sequence, Stamp};

/// Who writes to a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    /// One, which knows its sequence by itself.
    One,
    /// Any number, which claim theirs.
    Many,
}

/// The publishers' progress. Of one publisher: never more than the truth, and less by fewer than `interval` messages. Of many: what
/// they claimed.
#[repr(C, align(128))]
pub(crate) struct Head {
    /// One publisher: the next sequence to publish, or an earlier one. Many: the next sequence to claim.
    bound: AtomicU64,
    /// How many messages pass between two stores of one publisher, less one; the interval is a power of two. Constant.
    interval_mask: u64,
    /// Constant.
    writers: Writers,
}

/// How far a publisher has come, as a reader found it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Frontier {
    /// One publisher: every message before this one has been published, and this thread sees it. Many: every message
    /// before this one has been claimed, and those whose publication happens before are among them.
    pub(crate) head: Sequence,
    /// The oldest message that was not overwritten, or about to be; `head` where none stands.
    pub(crate) oldest: Sequence,
}

impl Head {
    pub(super) fn new(capacity: usize, first: Sequence, writers: Writers) -> Self {
        // A quarter of the ring at most, so that a walk is short beside the ring; every message in the smallest.
        let quarter = (capacity as u64 / 4).clamp(1, 64);
        Self { bound: AtomicU64::new(first.get()), interval_mask: (1 << quarter.ilog2()) - 1, writers }
    }

    pub(super) fn writers(&self) -> Writers {
        self.writers
    }

    /// C1: takes the next `count` sequences, and returns the first. They must be published, or the ring stands still at them.
    #[inline]
    pub(crate) fn claim(&self, count: u64) -> Sequence {
        debug_assert_eq!(self.writers, Writers::Many);
        if mutated!("claim_not_atomic") {
            let first = self.claimed();
            self.bound.store(first.plus(count).get(), Ordering::Relaxed);
            return first;
        }
        // Relaxed: the counter is all that is shared here. Whoever writes a slot waits for its stamp (`Ring::is_left`).
        Sequence::new(self.bound.fetch_add(count, Ordering::Relaxed))
    }

    /// C1, if nobody else has claimed since [`claimed`](Self::claimed) returned `first`.
    #[inline]
    pub(crate) fn claim_at(&self, first: Sequence, count: u64) -> bool {
        if mutated!("claim_whoever_was_faster") {
            self.bound.store(first.plus(count).get(), Ordering::Relaxed);
            return true;
        }
        // Relaxed: as in `claim`.
        let (success, failure) = (Ordering::Relaxed, Ordering::Relaxed);
        self.bound.compare_exchange_weak(first.get(), first.plus(count).get(), success, failure).is_ok()
    }

    /// The next sequence that will be claimed.
    #[inline]
    pub(crate) fn claimed(&self) -> Sequence {
        // Relaxed: as in `claim`.
        Sequence::new(self.bound.load(Ordering::Relaxed))
    }

    /// W5: notes that `sequence` has been published, once in `interval` messages.
    #[inline]
    pub(crate) fn passed(&self, sequence: Sequence) {
        let next = sequence.next();
        if unlikely(next.get() & self.interval_mask == 0) {
            let next = if mutated!("head_one_too_far") { next.next() } else { next };
            // Release: pairs with the Acquire in `walk`. Who sees the bound sees the stamps before it.
            self.bound.store(next.get(), Ordering::Release);
        }
    }

    fn interval(&self) -> u64 {
        self.interval_mask + 1
    }

    /// Completes the bound by the stamps: from the larger of it and `known`, on while the next slot shows that its
    /// message, or one of a later lap, was published.
    ///
    /// A message whose publication happens before this call is counted: the bound visible here is then less than
    /// `interval` behind it, and the walk takes twice as many steps where stamps allow it. No more, though, so a
    /// publisher that runs ahead of it can't keep it walking.
    pub(super) fn walk(
        &self,
        known: Sequence,
        capacity: usize,
        stamp: impl Fn(Sequence) -> Stamp,
    ) -> Frontier {
        let capacity = capacity as u64;
        // Acquire: pairs with the Release in `passed`.
        let mut head = known.max(Sequence::new(self.bound.load(Ordering::Acquire)));
        if self.writers == Writers::Many || mutated!("head_no_walk") {
            return Frontier { head, oldest: head.back(capacity) };
        }
        for _ in 0..2 * self.interval() {
            match stamp(head).state() {
                State::Done(sequence) if sequence >= head => head = sequence.next(),
                // Being written: what its slot held a lap before is gone already.
                State::Writing(sequence) if sequence == head => {
                    return Frontier { head, oldest: head.next().back(capacity) };
                }
                // A later lap. W1 of a message may be seen before W4 of the one before it, but not before W2 of that
                // one, and so not before W4 of any earlier: those are done, and the next turn looks at this one.
                State::Writing(sequence) if sequence > head => head = sequence.back(1),
                _ => break,
            }
        }
        Frontier { head, oldest: head.back(capacity) }
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    fn one(capacity: usize) -> Head {
        Head::new(capacity, Sequence::FIRST, Writers::One)
    }

    #[test]
    fn the_interval_fits_the_ring() {
        let interval = |capacity| one(capacity).interval();
        assert_eq!([2, 3, 4, 7, 8, 12, 16].map(interval), [1, 1, 1, 1, 2, 2, 4]);
        assert_eq!([100, 255, 256, 1 << 20, usize::MAX].map(interval), [16, 32, 64, 64, 64]);
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
}
