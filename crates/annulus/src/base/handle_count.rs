//! One side of a ring: how many handles it has, and whether the last of them is gone.

use crate::stats;
use crate::sync::{AtomicU64, AtomicUsize, Ordering, seeded};

/// The handles of one side. Once the last of them is gone, that never changes back: a handle is made only
/// from another one of its side. (Only receivers of a `watch` and of broadcast rings may come back: callers
/// that send can make them.)
pub(crate) struct HandleCount {
    /// How many handles there are beside one. (So it begins with 0, as the other.) [`NONE`] if there is none.
    others: AtomicUsize,
    /// How many handles there have been, without the first.
    added: AtomicU64,
}

/// The last handle is gone: one less than 0.
const NONE: usize = usize::MAX;

impl HandleCount {
    /// With one handle.
    pub(crate) fn new() -> Self {
        Self { others: AtomicUsize::new(0), added: AtomicU64::new(0) }
    }

    /// One handle more; the caller has one.
    pub(crate) fn add(&self) {
        // Relaxed: the caller has a handle, so there is one and can't be none meanwhile. (Where there can,
        // nothing is freed or ended by that.)
        self.others.fetch_add(1, Ordering::Relaxed);
        // (No model looks at it, and to loom it would be one step more in each join.)
        if !cfg!(annulus_loom) {
            // Relaxed: a number, on which no order depends.
            self.added.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Whether the caller's handle, which it is about to give up, is the last one. Then it stays so, and the
    /// caller sees what the others did before they went. If not, it may become so meanwhile.
    #[inline]
    pub(crate) fn is_last(&self) -> bool {
        // Acquire: pairs with the Release in `remove_beside_others`, of each handle that is gone.
        self.others.load(Ordering::Acquire) == 0 || seeded!("handle_taken_for_the_last")
    }

    /// One handle less. Says whether it was the last.
    // Decision 0130: the last one is alone with the count.
    #[inline]
    pub(crate) fn remove(&self) -> bool {
        if !self.is_last() {
            return self.remove_beside_others();
        }
        // Handles are made from handles: nobody else changes the count. Release: pairs with the Acquire in
        // `is_zero`. This handle has seen what the others did.
        self.others.store(NONE, Ordering::Release);
        true
    }

    /// As [`remove`](Self::remove), where others may add handles although they have none.
    pub(crate) fn remove_beside_others(&self) -> bool {
        // Release: pairs with the Acquire in `is_zero` and in `is_last`. Others change the count by
        // read-modify-writes, so a thread that sees the change of a later handle also sees what the earlier
        // ones did before theirs. Acquire: pairs with those Releases, for the last one, which may be about to
        // end what the others used.
        self.others.fetch_sub(1, Ordering::AcqRel) == 0
    }

    /// How many handles there are. Others may come and go meanwhile.
    pub(crate) fn count(&self) -> usize {
        // Relaxed: a number, on which no order depends.
        self.others.load(Ordering::Relaxed).wrapping_add(1)
    }

    /// How many handles there are, and how many there have been.
    pub(crate) fn handles(&self) -> stats::HandleCount {
        // In this order, because a handle is counted as one of those that have been after it counts as there.
        let now = self.count();
        // Relaxed: as in `count`.
        stats::HandleCount::new(now, (1 + self.added.load(Ordering::Relaxed)).max(now as u64))
    }

    /// Whether the last handle is gone. A thread that sees true also sees what all of them did.
    #[inline]
    pub(crate) fn is_zero(&self) -> bool {
        // Acquire: pairs with the Release in `remove`, or in `remove_beside_others`, of each handle.
        let others = self.others.load(Ordering::Acquire);
        others == NONE || (others == 0 && seeded!("handles_gone_with_the_first"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_one_is_told() {
        let count = HandleCount::new();
        count.add();
        assert_eq!((count.count(), count.is_last()), (2, false));
        assert!(!count.remove() && count.is_last() && !count.is_zero());
        assert!(count.remove() && count.is_zero());
    }
}
