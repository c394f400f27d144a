//! The numbers of a broadcast ring, as any thread sees them.

use super::ring_state::RingState;
use crate::base::sequence::Sequence;
use crate::observer::Observe;
use crate::ring::{Store, Writers};
use crate::stats::{FollowedStats, Stats};
use crate::sync::mutated;

impl<S: Store> RingState<S> {
    /// The numbers of the ring now.
    ///
    /// The cursors are loaded first (Acquire: pairs with the Release in `Pass::advance`). Whoever stored a
    /// cursor had seen the messages before it, and their claims. So the end that is loaded afterwards is not
    /// before any of the cursors. Until then the subscribers may go on. When the head was at the end, all
    /// cursors were at `end − usable` at least, or publishers would have waited.
    // Decision 0080: which numbers belong to one moment.
    pub(super) fn stats(&self) -> Stats {
        let mut stats = Stats::new(self.name.clone(), self.ring.capacity());
        stats.closed = self.is_closed();
        let too_early = mutated!("stats_end_first").then(|| self.end_of_published(self.ring.first()));
        let (mut farthest, mut followed) = (self.ring.first(), alloc::vec::Vec::new());
        self.gate.visit(|cell, cursor| {
            farthest = farthest.max(cursor);
            followed.push((cell, cursor));
        });
        let end = too_early.unwrap_or_else(|| self.end_of_published(farthest));
        let passed = end.back(self.gate.usable());
        stats.published = end.since(self.ring.first());
        stats.followed.extend(followed.into_iter().map(|(cell, cursor)| {
            let position = cursor.max(passed);
            FollowedStats { cell, position: position.get(), lag: end.since(position) }
        }));
        let slowest = stats.followed.iter().map(|reader| reader.position).min().map(Sequence::new);
        stats.received = slowest.map(|slowest| slowest.since(self.ring.first()));
        stats.pending = slowest.map(|slowest| end.since(slowest));
        stats.writers = self.publishers.handles();
        stats.readers = self.subscriber_handles();
        if let Some(counters) = &self.counters {
            counters.saw_waiting(stats.pending.unwrap_or(0));
            stats.counted = Some(counters.read());
        }
        stats
    }

    /// The end of what is published; with many publishers, of what is claimed. `known` is a cursor.
    fn end_of_published(&self, known: Sequence) -> Sequence {
        let head = self.ring.head();
        if head.writers() == Writers::One { self.ring.frontier(known).head } else { head.claimed() }
    }
}

// SAFETY: stamps, cursors, and numbers of handles.
unsafe impl<S: Store + Send + Sync> Observe for RingState<S> {
    fn stats(&self) -> Stats {
        Self::stats(self)
    }

    fn is_closed(&self) -> bool {
        Self::is_closed(self)
    }
}
