//! What a subscriber finds out about a message that is not there: whether it is waited for, or lost.

use super::Claims;
use crate::base::sequence::{Sequence, Stamp};
use crate::ring::range::Range;
use crate::sync::{Ordering, mutated};

impl Claims {
    /// Whether message `sequence`, which is not there, will never be, or is no longer waited for. Looks for
    /// that now and then, and where somebody has said that it may be missed, when the next message comes to
    /// its slot. Asks the kernel now and then.
    // Decision 0133: a poll in vain leaves the head's line to the publishers.
    // Decision 0142: and that of the next message.
    #[inline]
    pub(in crate::ring) fn never_comes(&self, sequence: Sequence) -> bool {
        let next = sequence.next();
        // Within one process the hint is exact: who passes over a message stores it before it publishes
        // another one.
        let is_due =
            if self.is_here() { self.seen.shown().may_be_missed(sequence) } else { self.looked.is_due() };
        // Relaxed: a hint. Where one message is lost, the next one often is.
        let is_next = sequence.get() < self.lost.load(Ordering::Relaxed);
        if !(is_due || is_next || self.seen.shown().may_be_missed(sequence)) {
            return false;
        }
        // (Whoever passes over a message writes the next one, as a rule.)
        let stamp = self.stamp(next);
        let is_passed = stamp >= Stamp::writing(next) && !mutated!("fellow_pass_unseen");
        let is_lapped = stamp >= Stamp::writing(self.lap_after(next));
        if !(is_due || is_next || is_passed) {
            return false;
        }
        // Relaxed: a hint. As long as this one is to write the message, no line of another publisher is
        // looked at.
        let likely = self.awaited.load(Ordering::Relaxed);
        let is_thorough = is_due || is_next || is_lapped;
        (is_thorough || !self.is_awaited(likely, sequence, false)) && self.is_lost(sequence, is_due)
    }

    /// The same, with a look at all that it can depend on. `is_due`: nobody has looked for a while.
    fn is_lost(&self, sequence: Sequence, is_due: bool) -> bool {
        // fellow.look10, before fellow.look11.
        let claimed = self.claimed();
        if claimed <= sequence {
            return false;
        }
        // Its owner is stopped, and the others have gone round.
        let is_late = claimed > self.lap_after(sequence);
        if !is_late {
            if let Some(place) = self.places().find(|&place| self.is_awaited(place, sequence, is_due)) {
                // Relaxed: a hint.
                self.awaited.store(place, Ordering::Relaxed);
                return false;
            }
        }
        // fellow.look13: after fellow.look11 and fellow.look12.
        let is_lost = !self.is_there(sequence);
        if is_lost {
            // Relaxed: a hint.
            self.lost.store(sequence.plus(2).get(), Ordering::Relaxed);
        }
        is_lost
    }

    /// Whether message `sequence` is in the intent of this place, whose publisher lives, as far as is known.
    fn is_awaited(&self, place: usize, sequence: Sequence, is_due: bool) -> bool {
        // (The hint is one of a place.)
        let intent = self.intent(place);
        Range::of_bits(intent, sequence).covers(sequence)
            && (!self.is_gone_now(place, intent, is_due) || mutated!("fellow_death_unseen"))
    }

    /// For [`Head::survey`](crate::ring::head::Head::survey): the first message from `from` on that is
    /// claimed and not there; `claimed`, which was the head, if there is none. It does not ask the kernel.
    pub(in crate::ring) fn first_open(&self, from: Sequence, claimed: Sequence) -> Sequence {
        let from = from.max(claimed.back(self.index.capacity() as u64));
        self.places().fold(claimed, |first, place| {
            // In this order, as in `is_lost`.
            let range = Range::of_bits(self.intent(place), from);
            let mut messages = range.messages(from).take_while(|&sequence| sequence < first);
            messages.find(|&sequence| !self.is_there(sequence)).unwrap_or(first)
        })
    }

    /// Whether a publisher that is gone has claimed a message that is not there. A system call for each place
    /// with such a message.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn has_stuck(&self) -> bool {
        self.places().any(|place| self.is_open(place) && self.fellows.is_gone(place))
            && !mutated!("fellow_stuck_unseen")
    }

    fn lap_after(&self, sequence: Sequence) -> Sequence {
        sequence.plus(self.index.capacity() as u64)
    }
}
