//! How far the publishers of a ring have come, and which messages stand, as its readers find out.

use super::ring_state::RingState;
use crate::base::sequence::{Sequence, Stamp};
use crate::ring::{Claims, Frontier, Store, Writers};
use crate::sync::seeded;

impl<S: Store> RingState<S> {
    /// How far the publishers have come; `known` is a bound the caller already has, as from a stamp it saw.
    ///
    /// Of one publisher it counts at least every message whose publication happens before this call. It takes
    /// a bounded number of steps, however fast publishers run: of many, at most two looks at each slot.
    pub(super) fn frontier(&self, known: Sequence) -> Frontier {
        let (capacity, stamp) = (self.capacity(), |sequence| self.stamp(sequence));
        let frontier = match self.head.writers() {
            Writers::One => self.head.believed(self.head.walk(known, capacity, stamp)),
            Writers::Many => self.head.survey(known, self.first(), capacity, stamp),
            Writers::Claimants => {
                let first_open = |from, claimed| {
                    self.head.claims().map_or(claimed, |claims| claims.first_open(from, claimed))
                };
                self.head.survey_by(known, self.first(), capacity, first_open, stamp)
            }
        };
        Frontier { oldest: frontier.oldest.max(self.first()), ..frontier }
    }

    /// The end of what is published, or about to be (with many publishers, of what is claimed): every message
    /// whose publication happens before this call lies before it. `known`: as for
    /// [`frontier`](Self::frontier).
    pub(super) fn end_of_published(&self, known: Sequence) -> Sequence {
        if self.head.writers() == Writers::One { self.frontier(known).head } else { self.head.claimed() }
    }

    /// The newest message from `from` on that stands whole. Of one publisher: it stands, or a later one has
    /// taken its slot. That is the one before the head, unless that number was left out.
    pub(super) fn newest(&self, from: Sequence) -> Option<Sequence> {
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
            Writers::Claimants => {
                let stamp = |sequence| self.stamp(sequence).believed();
                self.head.newest(from, self.capacity(), stamp)
            }
        }
    }
}

// History.
impl<S: Store> RingState<S> {
    /// Where the last `count` messages from `from` on begin that stand whole, and how many they are: fewer if
    /// there are not so many. The head, if there are none. At most `capacity` looks.
    pub(super) fn last(&self, from: Sequence, count: usize) -> (Sequence, usize) {
        let Frontier { head, oldest } = self.frontier(from);
        let (first, mut sequence) = (oldest.max(from), head);
        let (mut begin, mut there) = (head.max(from), 0);
        while sequence > first && there < count {
            sequence = sequence.back(1);
            // Another process may have written any stamp.
            let stamp = self.stamp(sequence).believed();
            if stamp >= Stamp::done(sequence) && !self.is_left_out(sequence) {
                (begin, there) = (sequence, there + 1);
            }
        }
        (begin, there)
    }
}

// Numbers that the one publisher left out.
impl<S: Store> RingState<S> {
    /// Whether the one publisher has left out the number `sequence`, and its slot still says so.
    pub(super) fn is_left_out(&self, sequence: Sequence) -> bool {
        self.head.writers() == Writers::One && self.stamp(sequence) == Stamp::left_out(sequence)
    }

    /// The first number from `from` on that was not left out; `head`, if all before it were. At most
    /// `capacity` looks.
    pub(super) fn behind_left_out(&self, from: Sequence, head: Sequence) -> Sequence {
        let end = head.min(from.plus(self.capacity() as u64));
        let mut sequence = from;
        while sequence < end && self.is_left_out(sequence) {
            sequence = sequence.next();
        }
        sequence
    }
}

// Publishers that wait for nobody: which messages are there, or will never be.
impl<S: Store> RingState<S> {
    /// Whether message `sequence`, which is not there, will never be, or is no longer waited for: its
    /// publisher has passed over it, stands still while the others have gone round, or is of a process that
    /// is gone. Asks the kernel now and then, where there are other processes.
    #[inline]
    pub(super) fn never_comes(&self, sequence: Sequence) -> bool {
        self.head.claims().is_some_and(|claims| claims.never_comes(sequence))
    }

    /// Whether message `sequence`, which no subscriber waits for any more, was never there.
    pub(super) fn was_never_there(&self, sequence: Sequence) -> bool {
        self.head.writers() == Writers::Claimants && self.stamp(sequence) < Stamp::done(sequence)
    }

    /// Whether publishers are of other processes.
    pub(super) fn is_of_others(&self) -> bool {
        self.head.is_seen() && !self.head.claims().is_some_and(Claims::is_here)
    }
}

// The end of the ring: what an empty slot means.
impl<S: Store> RingState<S> {
    /// What an empty slot means once [`may_be_closed`](Self::may_be_closed) was true: whether nothing more
    /// will come at `cursor`.
    ///
    /// Where somebody has closed the ring, its end decides. Where all publishers are gone, their last message
    /// comes before that, so a look at the stamp after it decides. If the message came between the caller's
    /// look and this one, the next read finds it.
    #[cold]
    #[inline(never)]
    pub(super) fn is_drained(&self, cursor: Sequence) -> bool {
        self.is_drained_here(cursor)
    }

    /// As [`is_drained`](Self::is_drained), for a function that is outlined itself.
    // Decision 0133: each poll of another process's ring that finds nothing comes here.
    #[inline(always)]
    pub(super) fn is_drained_here(&self, cursor: Sequence) -> bool {
        // A publisher that is gone inside a write leaves it so.
        let is_half_enough = seeded!("half_written_awaited");
        let there = if is_half_enough { Stamp::writing(cursor) } else { Stamp::done(cursor) };
        self.head.end().is_some_and(|end| cursor >= end || seeded!("end_overtakes"))
            || (self.publishers.is_zero() || self.head.publisher_is_gone())
                && (seeded!("close_no_second_look") || self.stamp(cursor) < there)
                && !self.is_claimed(cursor)
    }

    /// Whether message `sequence` was claimed in a ring whose publishers wait for nobody. Where all of them
    /// are gone, it is there now or never.
    fn is_claimed(&self, sequence: Sequence) -> bool {
        self.head.claims().is_some_and(|claims| claims.claimed() > sequence)
    }
}
