//! [`Receivers`]: the receiving handles of a ring in one word: how many there are, how many of them
//! subscribe, whether a publisher waits for them, and whether the topic that has them was removed.
//!
//! *A publisher that waits for subscribers* says so in the same word, before it looks (receivers.await3). So
//! a handle that joins, or leaves as the last one, either finds that said, and wakes the publisher, or its
//! change comes first, and the look sees it. It has no fence, and where nobody waits it does not look for
//! sleepers.

use crate::stats::HandleCount;
use crate::sync::{AtomicU64, Ordering, seeded};

/// One that subscribes; the lower half counts all.
const SUBSCRIBER: u64 = 1 << 32;

/// Set once, by the removal of a topic; handles may come and go all the same.
const SEALED: u64 = 1 << 31;

/// Set once, by the first publisher that waits for subscribers.
const AWAITED: u64 = 1 << 30;

/// The receiving handles of a ring. (Not a [`HandleCount`](crate::base::handle_count::HandleCount), because
/// publishers can make some where none is left.)
pub(crate) struct Receivers {
    word: AtomicU64,
    /// How many subscribers there have been.
    subscribed: AtomicU64,
}

/// What a handle that has gone leaves behind.
pub(super) struct Left {
    /// It was the last one.
    pub(super) was_last: bool,
    /// A publisher may wait for subscribers.
    pub(super) is_awaited: bool,
}

/// How many handles.
fn all(word: u64) -> u64 {
    word % AWAITED
}

impl Receivers {
    /// With one handle, which does not subscribe.
    pub(super) fn new() -> Self {
        Self { word: AtomicU64::new(1), subscribed: AtomicU64::new(0) }
    }

    /// One more. Returns whether there was none. Where the caller has a receiving handle, the count is not 0,
    /// and can't become it meanwhile.
    pub(super) fn add(&self) -> bool {
        // Relaxed: nothing is freed or ended by what this prevents.
        all(self.word.fetch_add(1, Ordering::Relaxed)) == 0
    }

    /// One more, which subscribes. Returns whether a publisher may wait for that.
    pub(super) fn add_subscriber(&self) -> bool {
        // No model looks at it, and to loom it would be one step more in each join.
        if !cfg!(annulus_loom) {
            // Relaxed: a number for statistics.
            self.subscribed.fetch_add(1, Ordering::Relaxed);
        }
        // receivers.join1. Release: pairs with the Acquire in `has_subscribers`: it comes after the choice of
        // where to begin. With receivers.await3, coherence decides.
        self.word.fetch_add(SUBSCRIBER + 1, Ordering::Release) & AWAITED != 0 && !seeded!("subscriber_untold")
    }

    /// One less.
    pub(super) fn remove(&self) -> Left {
        self.left(1)
    }

    /// One less, which subscribed.
    pub(super) fn remove_subscriber(&self) -> Left {
        self.left(if seeded!("subscribers_never_go") { 1 } else { SUBSCRIBER + 1 })
    }

    fn left(&self, handles: u64) -> Left {
        // receivers.leave2. Release and Acquire: as in `HandleCount::remove_beside_others`.
        let before = self.word.fetch_sub(handles, Ordering::AcqRel);
        Left { was_last: all(before) == 1, is_awaited: before & AWAITED != 0 }
    }

    /// receivers.await3: from now on, a handle that comes, or goes as the last one, learns that a publisher
    /// waits.
    pub(super) fn await_subscribers(&self) {
        // Relaxed: the look that follows sees each change of the word before (coherence), and a later change
        // sees this.
        self.word.fetch_or(AWAITED, Ordering::Relaxed);
    }

    /// Whether so many subscribe.
    pub(super) fn has_subscribers(&self, count: usize) -> bool {
        // Acquire: pairs with receivers.join1 of each of them, because all changes are read-modify-writes.
        self.word.load(Ordering::Acquire) / SUBSCRIBER >= count as u64
    }

    /// How many subscribe.
    pub(super) fn subscribers(&self) -> usize {
        // Relaxed: a number for statistics.
        (self.word.load(Ordering::Relaxed) / SUBSCRIBER) as usize
    }

    /// How many subscribe, and how many have done so.
    pub(super) fn handles(&self) -> HandleCount {
        let now = self.subscribers();
        // Relaxed: as above.
        HandleCount::new(now, self.subscribed.load(Ordering::Relaxed).max(now as u64))
    }

    /// As [`handles`](Self::handles), where subscribers of all processes have seats, `now` of them. Nothing
    /// counts the subscribers that have left, so there have been as many as were ever seen at one time.
    pub(super) fn handles_seated(&self, now: usize) -> HandleCount {
        // Relaxed: as above.
        let seen = self.subscribed.fetch_max(now as u64, Ordering::Relaxed);
        HandleCount::new(now, seen.max(now as u64))
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        // Relaxed: a number for statistics.
        all(self.word.load(Ordering::Relaxed)) as usize
    }

    /// Whether all are gone. If so, the caller sees what they did.
    #[inline]
    pub(super) fn is_zero(&self) -> bool {
        // Acquire: pairs with receivers.leave2 of each handle.
        all(self.word.load(Ordering::Acquire)) == 0
    }

    /// bus.seal9: seals the count, if there are `expected` handles, or if that is `None`. Otherwise says how
    /// many there are; `None` if it was sealed before.
    pub(crate) fn seal(&self, expected: Option<usize>) -> Result<(), Option<usize>> {
        // Relaxed, here and below: all is decided by the order of changes of this one word.
        let mut word = self.word.load(Ordering::Relaxed);
        loop {
            if word & SEALED != 0 {
                return Err(None);
            }
            let count = all(word) as usize;
            if expected.is_some_and(|expected| expected != count) {
                return Err(Some(count));
            }
            if seeded!("topic_sealed_blindly") {
                self.word.fetch_or(SEALED, Ordering::Relaxed);
                return Ok(());
            }
            let sealed = word | SEALED;
            match self.word.compare_exchange_weak(word, sealed, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return Ok(()),
                // Unreached: another thread adds a handle at the same moment; loom bus
                Err(now) => word = now,
            }
        }
    }

    /// bus.join8: whether the count was sealed. A thread that has added a handle (bus.join7) and then sees
    /// false has a handle that bus.seal9 counts.
    #[inline]
    pub(crate) fn is_sealed(&self) -> bool {
        // Relaxed: the handle was added to the same word before.
        self.word.load(Ordering::Relaxed) & SEALED != 0 && !seeded!("topic_sealed_unseen")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Handles come and go as before, and count as before; but nobody seals it again.
    #[test]
    fn sealed_count_still_counts_and_is_not_sealed_again() {
        let receivers = Receivers::new();
        assert_eq!(receivers.seal(Some(2)), Err(Some(1)));
        assert!(!receivers.is_sealed());
        assert_eq!(receivers.seal(Some(1)), Ok(()));
        assert_eq!((receivers.seal(Some(1)), receivers.seal(None)), (Err(None), Err(None)));
        assert!(!receivers.add());
        assert_eq!((receivers.count(), receivers.is_sealed()), (2, true));
        assert!(!receivers.remove().was_last && receivers.remove().was_last);
        assert!(receivers.is_zero());
        assert!(receivers.add() && receivers.remove().was_last, "a publisher has made one more");
    }

    #[test]
    fn waiting_publisher_is_seen_by_joiner_and_last_leaver() {
        let receivers = Receivers::new();
        assert!(!receivers.add_subscriber() && !receivers.remove_subscriber().is_awaited);
        receivers.await_subscribers();
        assert!(receivers.add_subscriber() && receivers.has_subscribers(1) && !receivers.has_subscribers(2));
        assert_eq!((receivers.count(), receivers.subscribers()), (2, 1));
        let left = [receivers.remove(), receivers.remove_subscriber()];
        assert_eq!(left.map(|left| (left.was_last, left.is_awaited)), [(false, true), (true, true)]);
        assert_eq!(receivers.subscribers(), 0);
    }
}
