//! The numbers of a ring, in one shape for all rings, and the counters behind them.
//!
//! Nothing is counted for each message. The numbers are those by which a ring works anyway: heads, tails,
//! cursors and counts of handles. What happens rarely, such as a sleep, is counted where the ring's
//! [settings](method@crate::Settings::statistics) ask for that.
//!
//! Each handle has a verb `stats`, which returns [`Stats`], and a verb `observer`, for other threads.

mod snapshot;

pub(crate) use snapshot::Name;
pub use snapshot::{Counted, Delta, FollowedStats, HandleCount, Latency, OwnStats, ProducerStats, Stats};

use alloc::sync::Arc;

use crate::sync::{AtomicU64, Ordering};

/// The counters of a ring, if it has any. Each handle that may count has a share.
pub(crate) type Counting = Option<Arc<Counters>>;

/// Counters that any thread of the ring adds to. Nobody else is on their cache lines.
///
/// All of it happens rarely: where a thread sleeps, wakes others, pauses, or looks for room. A ring without
/// statistics has no counters, and pays one look at a constant at these places.
#[repr(align(128))]
pub(crate) struct Counters {
    lagged: AtomicU64,
    sleeps: AtomicU64,
    wake_ups: AtomicU64,
    rests: AtomicU64,
    high_water: AtomicU64,
}

impl Counters {
    /// Counters at zero, if they are wanted.
    #[inline]
    pub(crate) fn new(is_wanted: bool) -> Counting {
        is_wanted.then(Self::zero)
    }

    #[cold]
    fn zero() -> Arc<Self> {
        let zero = || AtomicU64::new(0);
        Arc::new(Self { lagged: zero(), sleeps: zero(), wake_ups: zero(), rests: zero(), high_water: zero() })
    }

    /// A lossy subscriber has lost or skipped `count` messages.
    #[cold]
    #[inline(never)]
    pub(crate) fn lagged(&self, count: u64) {
        // Relaxed, here and below: each number stands by itself, and only grows.
        self.lagged.fetch_add(count, Ordering::Relaxed);
    }

    /// A thread goes to sleep.
    #[cfg(any(feature = "std", feature = "async"))]
    pub(crate) fn slept(&self) {
        if !crate::sync::seeded!("sleeps_uncounted") {
            self.sleeps.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// A sender or receiver wakes the sleepers.
    #[cfg(any(feature = "std", feature = "async"))]
    pub(crate) fn woke(&self) {
        self.wake_ups.fetch_add(1, Ordering::Relaxed);
    }

    /// A consumer pauses.
    pub(crate) fn rested(&self) {
        self.rests.fetch_add(1, Ordering::Relaxed);
    }

    /// Somebody saw so many messages waiting.
    pub(crate) fn saw_waiting(&self, count: u64) {
        // The look spares others the line where nothing changes.
        if count > self.high_water.load(Ordering::Relaxed) {
            self.high_water.fetch_max(count, Ordering::Relaxed);
        }
    }

    /// The numbers now.
    pub(crate) fn read(&self) -> Counted {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            lagged: read(&self.lagged),
            sleeps: read(&self.sleeps),
            wake_ups: read(&self.wake_ups),
            rests: read(&self.rests),
            high_water: read(&self.high_water),
        }
    }
}
