//! [`Mark`], and how an event is marked, with `std` or without.

use crate::sync::{AtomicU32, Ordering};

/// What whoever has an event may set in its word, for good.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum Mark {
    /// Nothing comes any more.
    Over = 4,
    /// Whatever else wakers are to know.
    Other = 8,
}

impl Mark {
    /// All of them.
    pub(super) const ALL: u32 = Self::Over as u32 | Self::Other as u32;
}

/// What has marks in its word: both events.
pub(crate) trait Marked {
    /// The word.
    fn word(&self) -> &AtomicU32;

    /// Sets `mark` for good, and says it to all who look, as a store with `ordering` would. A sleeper looks again.
    fn mark(&self, mark: Mark, ordering: Ordering) {
        self.word().fetch_or(mark as u32, ordering);
    }

    /// Whether `mark` is set, by a load with `ordering`. (What comes after it in the word are exchanges, so who sees one of those sees the mark's
    /// Release.)
    #[inline(always)]
    fn is_marked(&self, mark: Mark, ordering: Ordering) -> bool {
        self.word().load(ordering) & mark as u32 != 0
    }

    /// Whether any mark is set: a hint.
    #[inline(always)]
    fn has_marks(&self) -> bool {
        self.word().load(Ordering::Relaxed) & Mark::ALL != 0
    }
}
