//! The flag in the word of an event, with `std` or without: nothing comes any more.

use super::EventCount;
#[cfg(all(feature = "std", not(annulus_loom)))]
use crate::sync::AtomicU32;
use crate::sync::Ordering;

impl EventCount {
    /// The bit that is set for good when the queue is closed.
    pub(crate) const CLOSED: u32 = 4;

    /// The word, for a program in another language.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    pub(crate) fn word(&self) -> &AtomicU32 {
        &self.word
    }

    /// Sets the flag. It is published as by a store with `ordering`. A sleeper looks again.
    pub(crate) fn set_closed(&self, ordering: Ordering) {
        self.word.fetch_or(Self::CLOSED, ordering);
    }

    /// Whether the flag is set, by a load with `ordering`. (All later changes of the word are
    /// read-modify-writes, so whoever sees one of them sees the Release of the flag.)
    #[inline(always)]
    pub(crate) fn is_closed(&self, ordering: Ordering) -> bool {
        self.word.load(ordering) & Self::CLOSED != 0
    }
}
