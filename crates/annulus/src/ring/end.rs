//! How a ring ends while its publishers live: which message is the last.
// Decision 0066: at no instruction for each message.
//!
//! *Many publishers* claim from one counter, and a close sets a bit in it (`head.rs`): a claim came before
//! that, and is received, or it fails. The end is what the counter was then.
//!
//! *One publisher* announces each message by its stamp before it looks whether it may go on, and the closing
//! thread looks at the stamps after it has said so:
//!
//! ```text
//! publisher, message s                                 thread that closes the ring
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
//! *A publisher that leaves out numbers* changes many slots, and a thread that closes the ring meanwhile
//! would find an end among them. So the publisher holds the end: a closing thread then leaves the decision to
//! the publisher.
//!
//! ```text
//! end.hold7   end: open → held                 not open: nothing is left out
//! …           the slots and the bound change   end.close2: held → held, ending; end.close6 decides nothing
//! end.hold8   end: held → open                 held, ending → behind what was left out
//! ```
//!
//! The end is decided before a subscriber goes by it, so all say "closed" at the same message. One thing
//! changes it later: an event that was counted while a closure changed it, and whose closure panics
//! (`withdraw`). It was not published, so no subscriber has passed it.

use crate::base::sequence::Sequence;
use crate::sync::{AtomicU64, Ordering, seeded};

/// Where a ring ends.
pub(super) struct RingEnd(AtomicU64);

/// Nobody has closed the ring. (No message has such a number.)
const OPEN: u64 = u64::MAX;

/// Nobody has, and the one publisher decides the end if somebody does.
const HELD: u64 = u64::MAX - 1;

/// Somebody is about to close it.
const ENDING: u64 = u64::MAX - 2;

/// Somebody is about to, and the one publisher decides the end. The least of these words.
const HELD_ENDING: u64 = u64::MAX - 3;

impl RingEnd {
    pub(super) fn open() -> Self {
        Self(AtomicU64::new(OPEN))
    }

    /// end.close2.
    pub(super) fn begin(&self) {
        let mut seen = OPEN;
        loop {
            let ending = match seen {
                OPEN => ENDING,
                HELD => HELD_ENDING,
                // Somebody else was first.
                _ => return,
            };
            // Release: pairs with the Acquire in `is_open`, and with end.hold8; what came before the close is
            // seen by a publisher that is refused. Acquire: pairs with end.hold8; what was left out is seen.
            match self.0.compare_exchange(seen, ending, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                // The publisher holds the end, or does not any more, or somebody else was first.
                Err(now) => seen = now,
            }
        }
    }

    /// end.hold7: nobody else decides the end until [`let_go`](Self::let_go). `false` if somebody has closed
    /// the ring.
    pub(super) fn hold(&self) -> bool {
        if seeded!("skip_beside_close") {
            return self.is_open();
        }
        // Acquire: pairs with end.close2, as in `is_open`. Relaxed: what it says to others, end.hold8 says.
        self.0.compare_exchange(OPEN, HELD, Ordering::Acquire, Ordering::Acquire).is_ok()
    }

    /// end.hold8: the one publisher, whose next message is `next`, has [held](Self::hold) the end. Whether
    /// somebody has closed the ring meanwhile; then it ends before `next`.
    pub(super) fn let_go(&self, next: Sequence) -> bool {
        // Release: pairs with end.close2, and with the load in `decided`. Acquire: pairs with end.close2.
        let (success, failure) = (Ordering::Release, Ordering::Acquire);
        match self.0.compare_exchange(HELD, OPEN, success, failure) {
            // Nobody but this thread changes that word.
            Err(HELD_ENDING) => {
                self.0.store(next.get(), Ordering::Release);
                true
            }
            _ => false,
        }
    }

    /// end.send5: whether nobody has closed the ring.
    #[inline]
    pub(super) fn is_open(&self) -> bool {
        // Acquire: pairs with end.close2. What it sees is up to the fences before it, and end.close3.
        self.0.load(Ordering::Acquire) >= HELD
    }

    /// The first message that will never be, once that is decided.
    #[inline]
    pub(super) fn decided(&self) -> Option<Sequence> {
        // Acquire: pairs with end.send5, end.close6 and end.hold8; the messages before it are seen.
        let end = self.0.load(Ordering::Acquire);
        (end < HELD_ENDING).then(|| Sequence::new(end))
    }

    /// end.send5, end.close6: the ring ends before `sequence`, unless it was decided before that it ends
    /// elsewhere, or the one publisher will decide it. Returns the end. Somebody has [begun](Self::begin).
    pub(super) fn settle(&self, sequence: Sequence) -> Sequence {
        if seeded!("end_not_atomic") && self.decided().is_none() {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_to_settle_decides() {
        let end = RingEnd::open();
        assert!(end.is_open() && end.decided().is_none());
        end.begin();
        assert!(!end.is_open() && end.decided().is_none());
        assert_eq!(end.settle(Sequence::new(7)), Sequence::new(7));
        assert_eq!(end.settle(Sequence::new(8)), Sequence::new(7));
        end.begin();
        assert_eq!(end.decided(), Some(Sequence::new(7)));
    }

    /// A thread that closes a ring whose end is held does not decide the end.
    #[test]
    fn holder_of_the_end_decides_it() {
        let end = RingEnd::open();
        assert!(end.hold() && end.is_open());
        assert!(!end.let_go(Sequence::new(7)) && end.is_open());
        assert!(end.hold());
        end.begin();
        end.begin();
        assert!(!end.is_open() && end.decided().is_none());
        end.settle(Sequence::new(5));
        assert!(end.decided().is_none());
        assert!(end.let_go(Sequence::new(7)));
        assert_eq!(end.decided(), Some(Sequence::new(7)));
        assert!(!end.hold() && end.settle(Sequence::new(8)) == Sequence::new(7));
    }

    #[test]
    fn withdrawn_message_was_the_last() {
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
