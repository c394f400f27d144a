//! Where a subscriber goes on after it was lapped.
//!
//! The oldest message that stands is the next to be overwritten. A reader slower than its publisher that goes
//! on there is lapped again at once, and receives next to nothing. So the first recovery goes on at the
//! oldest message; one that follows before half a ring was read goes on a 64th of the ring later, the next
//! twice as far, up to the middle.

use super::shared::Shared;
use crate::ring::Store;
use crate::sequence::Sequence;

/// A lag that happened. Two words, so that it travels in registers.
#[derive(Clone, Copy)]
pub(super) struct Recovery {
    /// Where the subscriber went on.
    pub(super) resume: Sequence,
    /// How far after the oldest message that was; [`Recovery::NO_MARGIN`] before the first.
    margin: u64,
}

impl Recovery {
    const NO_MARGIN: u64 = u64::MAX;

    /// Before the first one.
    pub(super) fn before_the_first() -> Self {
        Self { resume: Sequence::FIRST, margin: Self::NO_MARGIN }
    }

    /// The recovery of a subscriber whose message at `cursor` was overwritten, and whose last one was this.
    ///
    /// Takes and returns values, so that a subscriber whose methods are inlined can live in registers.
    #[cold]
    #[inline(never)]
    pub(super) fn next<S: Store>(self, shared: &Shared<S>, cursor: Sequence) -> Self {
        let half = shared.ring.capacity() as u64 / 2;
        let again = self.margin != Self::NO_MARGIN && cursor.since(self.resume) < half;
        // Decision 0010: each time further from the edge.
        let margin = if again { (2 * self.margin).max(half / 32).clamp(1, half) } else { 0 };
        let frontier = shared.ring.frontier(cursor);
        // The walk may end before it comes to what overwrote the cursor's message: that one is lost all the
        // same.
        let resume = frontier.oldest.plus(margin).min(frontier.head).max(cursor.next());
        Self { resume, margin }
    }
}
