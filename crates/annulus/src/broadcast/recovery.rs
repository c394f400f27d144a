//! Where a subscriber goes on after it was lapped.
//!
//! The oldest message that stands is the next to be overwritten. A reader slower than its publisher that goes
//! on there is lapped again at once, and receives next to nothing. So the first recovery goes on at the
//! oldest message; one that follows before half a ring was read goes on a 64th of the ring later, the next
//! twice as far, up to the middle.
//!
//! A number that the publisher left out is lost to a subscriber that has kept up, too, and no edge is near:
//! it goes on behind all that were left out in a row, and the margin stays.

use super::ring_state::RingState;
use crate::base::sequence::Sequence;
use crate::ring::{Frontier, Store};

/// A lag that happened. Two words, so that it travels in registers.
#[derive(Clone, Copy)]
pub(super) struct Recovery {
    /// Where the subscriber went on.
    pub(super) resume: Sequence,
    /// How far after the oldest message the last one that was lapped went on; [`Recovery::NO_MARGIN`] before
    /// the first. With [`Recovery::LEFT_OUT`].
    margin: u64,
}

impl Recovery {
    const NO_MARGIN: u64 = u64::MAX >> 1;

    /// Beside a margin: nothing was overwritten since.
    const LEFT_OUT: u64 = 1 << 63;

    /// Before the first one.
    pub(super) fn before_the_first() -> Self {
        Self { resume: Sequence::FIRST, margin: Self::NO_MARGIN }
    }

    /// The recovery of a subscriber whose message at `cursor` was overwritten, and whose last one was this;
    /// or where it goes on behind [what was left out](Self::is_left_out).
    ///
    /// Takes and returns values, so that a subscriber whose methods are inlined can live in registers.
    /// Counts the messages that are lost, if somebody wants that.
    #[cold]
    #[inline(never)]
    pub(super) fn next<S: Store>(self, shared: &RingState<S>, cursor: Sequence) -> Self {
        let next = if shared.ring.was_never_there(cursor) {
            // That one alone is lost, or all that is older than a ring: each of those was overwritten, or was
            // still being written when its slot was needed.
            let oldest = shared.ring.end(cursor).back(shared.ring.capacity() as u64);
            Self { resume: oldest.max(cursor.next()), margin: self.margin() }
        } else if shared.ring.is_left_out(cursor) {
            let head = shared.ring.frontier(cursor).head;
            let resume = shared.ring.behind_left_out(cursor.next(), head);
            Self { resume, margin: self.margin | Self::LEFT_OUT }
        } else {
            self.next_if_lapped(shared, cursor)
        };
        shared.note_lag(next.resume.since(cursor));
        next
    }

    /// As [`next`](Self::next), for whoever only asks where that would be.
    pub(super) fn next_if_lapped<S: Store>(self, shared: &RingState<S>, cursor: Sequence) -> Self {
        let (frontier, capacity) = (shared.ring.frontier(cursor), shared.ring.capacity() as u64);
        let edge = frontier.oldest.max(cursor.next());
        let standing = shared.ring.behind_left_out(edge, frontier.head);
        if standing > edge {
            // Numbers that were left out are next to be overwritten, so there is no need of a margin: it
            // would cost messages that stand.
            let margin = if self.is_near(cursor, capacity) { self.margin() } else { Self::NO_MARGIN };
            return Self { resume: standing, margin };
        }
        let next = self.next_among(frontier, capacity, cursor);
        Self { resume: shared.ring.behind_left_out(next.resume, frontier.head), ..next }
    }

    /// Nothing was overwritten: the numbers up to `resume` were left out.
    pub(super) fn is_left_out(self) -> bool {
        self.margin & Self::LEFT_OUT != 0
    }

    fn margin(self) -> u64 {
        self.margin & !Self::LEFT_OUT
    }

    /// Whether less than half a ring lies between this recovery and a lag at `cursor`.
    fn is_near(self, cursor: Sequence, capacity: u64) -> bool {
        self.margin() != Self::NO_MARGIN && cursor.since(self.resume) < capacity / 2
    }

    /// As [`next_if_lapped`](Self::next_if_lapped), in a ring with this frontier that holds `capacity`
    /// messages.
    pub(super) fn next_among(self, frontier: Frontier, capacity: u64, cursor: Sequence) -> Self {
        let half = capacity / 2;
        // Decision 0010: each time further from the edge.
        let margin = if self.is_near(cursor, capacity) {
            (2 * self.margin()).max(half / 32).clamp(1, half)
        } else {
            0
        };
        // The walk may end before it comes to what overwrote the cursor's message: that one is lost all the
        // same.
        let resume = frontier.oldest.plus(margin).min(frontier.head).max(cursor.next());
        Self { resume, margin }
    }
}
