//! [`Flag`]: bits of the word of an event, with `std` or without.

use crate::sync::{AtomicU32, Ordering};

/// A bit in the word of an event, which the owner of the event may set, for good.
#[derive(Clone, Copy)]
#[repr(u32)]
pub(crate) enum Flag {
    /// Nothing comes any more: the queue is closed.
    Closed = 4,
}

/// What has flags in its word: both events.
pub(crate) trait HasFlags {
    /// The word.
    fn word(&self) -> &AtomicU32;

    /// Sets `flag` for good. It is published as by a store with `ordering`. A sleeper looks again.
    fn set_flag(&self, flag: Flag, ordering: Ordering) {
        self.word().fetch_or(flag as u32, ordering);
    }

    /// Whether `flag` is set, by a load with `ordering`. (All later changes of the word are
    /// read-modify-writes, so whoever sees one of them sees the Release of the flag.)
    #[inline(always)]
    fn has_flag(&self, flag: Flag, ordering: Ordering) -> bool {
        self.word().load(ordering) & flag as u32 != 0
    }
}
