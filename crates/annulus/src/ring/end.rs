//! How a ring ends while its publishers live: which message is the last.
// Decision 0066: at no instruction for each message.
//!
//! *Many publishers* claim from one counter, and who closes the ring sets a bit in it (`head.rs`): a claim
//! came before that, and is received, or it fails. The end is what the counter was then.
//!
//! *One publisher* announces each message by its stamp before it looks whether it may go on, and who closes
//! the ring looks at the stamps after it has said so:
//!
//! ```text
//! publisher, message s                                 who closes the ring
//! slot.w1    stamp := writing(s)                       end.close1  mask := 0: look, always
//! end.send4  light fence; the mask says: look?         end.close2  end: open → ending
//!            No: slot.w2 to slot.w4                    end.close3  heavy fence
//! end.send5  end = open? Go on.                        end.close6  end: ending → behind the last message that is
//!            end: ending → s: s is not published                   written or announced
//! ```
//!
//! *Why the end is exact.* Of the two fences one comes first. If it is the publisher's, end.close6 sees
//! slot.w1, and counts message s; if it is the other, the publisher sees end.close1 and end.close2. If both
//! see each other, the first to write the end decides (end.send5, end.close6): so message s lies before the
//! end and is written, or behind it and is not. All messages before s were announced earlier, and none after
//! s goes on without end.send5.
//!
//! The end is decided before a subscriber goes by it, so all say "closed" at the same message. One thing
//! changes it later: an event that was counted while a closure changed it, and whose closure panics
//! (`withdraw`). It was not published, so no subscriber has passed it.

use crate::base::sequence::Sequence;
use crate::sync::{AtomicU64, Ordering, mutated};

/// Where a ring ends.
pub(super) struct RingEnd(AtomicU64);

/// Nobody has closed the ring. (No message has such a number.)
const OPEN: u64 = u64::MAX;

/// Somebody is about to.
const ENDING: u64 = u64::MAX - 1;

impl RingEnd {
    pub(super) fn open() -> Self {
        Self(AtomicU64::new(OPEN))
    }

    /// end.close2.
    pub(super) fn begin(&self) {
        // Release: pairs with the Acquire in `is_open`; what came before the close is seen by whoever is
        // refused. (A failure: somebody else was first.)
        _ = self.0.compare_exchange(OPEN, ENDING, Ordering::Release, Ordering::Relaxed);
    }

    /// end.send5: whether nobody has closed the ring.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        // Acquire: pairs with end.close2. What it sees is up to the fences before it, and end.close3.
        self.0.load(Ordering::Acquire) == OPEN
    }

    /// The first message that will never be, once that is decided.
    #[inline]
    pub(super) fn decided(&self) -> Option<Sequence> {
        // Acquire: pairs with end.send5 and end.close6; the messages before it are seen.
        let end = self.0.load(Ordering::Acquire);
        (end < ENDING).then(|| Sequence::new(end))
    }

    /// end.send5, end.close6: the ring ends before `sequence`, unless it was decided before that it ends
    /// elsewhere. Returns the end. Somebody has [begun](Self::begin).
    pub(super) fn settle(&self, sequence: Sequence) -> Sequence {
        if mutated!("end_not_atomic") && self.decided().is_none() {
            self.0.store(sequence.get(), Ordering::Release);
            return sequence;
        }
        // Acquire and Release: pair with each other, and with the load in `decided`.
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        match self.0.compare_exchange(ENDING, sequence.get(), success, failure) {
            Ok(_) => sequence,
            Err(end) => Sequence::new(end),
        }
    }

    /// Message `sequence` was announced, and will not be: where it was counted, it is not any more. Somebody
    /// has [begun](Self::begin).
    pub(super) fn withdraw(&self, sequence: Sequence) {
        // Release: as end.send5.
        self.0.fetch_min(sequence.get(), Ordering::Release);
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_first_to_settle_decides() {
        let end = RingEnd::open();
        assert!(end.is_open() && end.decided().is_none());
        end.begin();
        assert!(!end.is_open() && end.decided().is_none());
        assert_eq!(end.settle(Sequence::new(7)), Sequence::new(7));
        assert_eq!(end.settle(Sequence::new(8)), Sequence::new(7));
        end.begin();
        assert_eq!(end.decided(), Some(Sequence::new(7)));
    }

    #[test]
    fn what_is_withdrawn_was_the_last() {
        for counted in [true, false] {
            let end = RingEnd::open();
            end.begin();
            if counted {
                end.settle(Sequence::new(8));
            }
            end.withdraw(Sequence::new(7));
            assert_eq!(end.decided(), Some(Sequence::new(7)));
            assert_eq!(end.settle(Sequence::new(8)), Sequence::new(7));
        }
    }
}
