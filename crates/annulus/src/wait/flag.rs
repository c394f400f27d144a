//! [`Flag`], and how an event is flagged, with `std` or without.

use crate::sync::{AtomicU32, Ordering};

/// What whoever has an event may set in its word, for good.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum Flag {
    /// Nothing comes any more.
    Closed = 4,
    /// Whatever else wakers are to know.
    User = 8,
}

impl Flag {
    /// All of them.
    pub(super) const ALL: u32 = Self::Closed as u32 | Self::User as u32;
}

/// What has flags in its word: both events.
pub(crate) trait HasFlags {
    /// The word.
    fn word(&self) -> &AtomicU32;

    /// Sets `flag` for good, and says it to all who look, as a store with `ordering` would. A sleeper looks again.
    fn set_flag(&self, flag: Flag, ordering: Ordering) {
        self.word().fetch_or(flag as u32, ordering);
    }

    /// Whether `flag` is set, by a load with `ordering`. (What comes after it in the word are exchanges, so who sees one of those sees the flag's
    /// Release.)
    #[inline(always)]
    fn has_flag(&self, flag: Flag, ordering: Ordering) -> bool {
        self.word().load(ordering) & flag as u32 != 0
    }

    /// Whether any flag is set: a hint.
    #[inline(always)]
    fn has_any_flag(&self) -> bool {
        self.word().load(Ordering::Relaxed) & Flag::ALL != 0
    }
}
