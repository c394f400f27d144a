//! [`Timing`]: how long a thread works, and how long its batches may be.
//!
//! *A batch* is the messages that a thread takes one after the other without waiting for one. Its length
//! decides how often the clock is read, and how many messages a function of batches gets. So a batch begins
//! with one message, and doubles while batches are quick ([`QUICK`]). After a slow one, the next batch is as
//! long as what would have been quick.

use std::time::{Duration, Instant};

use super::stats::Work;
use crate::sync::seeded;
use crate::wait::WaitStrategy;

/// The longest batch.
const MOST: usize = 256;

/// How long a batch may take before the next one is shorter.
const QUICK: Duration = Duration::from_micros(20);

/// A batch shorter than this is not always timed: the clock would take longer than the work.
const SHORT: usize = 8;

/// Of short batches, one in so many is timed, while they are fast.
const TIMED: u64 = 8;

/// A batch that takes longer than this takes longer than the clock, so the next one is timed, too.
const LONG: Duration = Duration::from_micros(1);

/// Measures how long a thread works. What is not told yet is told when it is dropped.
pub(super) struct Timing<'w> {
    work: &'w Work,
    /// How the thread waits.
    strategy: WaitStrategy,
    /// Since when the batch in hand is worked on, if it is timed.
    begun: Option<Instant>,
    /// How long it was worked on before its thread waited for room.
    before: Duration,
    /// Batches since the last one that was timed.
    untimed: u64,
    /// How long that one took: for ever, before the first.
    last: Duration,
}

impl<'w> Timing<'w> {
    pub(super) fn new(work: &'w Work, strategy: WaitStrategy) -> Self {
        Self { work, strategy, begun: None, before: Duration::ZERO, untimed: 0, last: Duration::MAX }
    }

    /// A batch of about `count` messages begins.
    #[inline]
    pub(super) fn begin(&mut self, count: usize) {
        self.untimed += 1;
        let is_timed = count >= SHORT || self.untimed >= TIMED || self.last > LONG;
        self.begun = is_timed.then(Instant::now);
    }

    /// It ends. Returns how long it took, if it was timed.
    #[inline]
    pub(super) fn end(&mut self) -> Option<Duration> {
        self.last = self.before + self.begun.take()?.elapsed();
        self.before = Duration::ZERO;
        self.tell();
        Some(self.last)
    }

    /// Calls `wait`, which waits for room by the thread's strategy: that is no work.
    #[cold]
    #[inline(never)]
    pub(super) fn while_it_waits<R>(&mut self, wait: impl FnOnce(WaitStrategy) -> R) -> R {
        let was_timed = self.begun.is_some();
        if let Some(begun) = self.begun {
            self.before += begun.elapsed();
        }
        let result = wait(self.strategy);
        self.begun = was_timed.then(Instant::now);
        result
    }

    /// Those that were not timed took as long as the last one that was.
    fn tell(&mut self) {
        self.work.busy_ns.add(nanoseconds(self.last).saturating_mul(self.untimed));
        self.untimed = 0;
    }
}

impl Drop for Timing<'_> {
    fn drop(&mut self) {
        // A batch is in hand here if it panicked, or if nothing receives its results.
        if self.end().is_none() && self.untimed > 0 {
            self.tell();
        }
    }
}

/// How long the next batch may be, after one of `count` messages took `time`.
pub(super) fn next_most(most: usize, count: usize, time: Duration) -> usize {
    if seeded!("batches_only_grow") {
        return MOST;
    }
    let (time, quick) = (nanoseconds(time).max(1), nanoseconds(QUICK));
    if time <= quick / 2 {
        return (most * 2).min(MOST);
    }
    // As many as would have been quick.
    let fitting = u64::try_from(count).unwrap_or(u64::MAX).saturating_mul(quick) / time;
    usize::try_from(fitting).unwrap_or(MOST).clamp(1, MOST)
}

pub(super) fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_that_are_not_timed_count_as_the_last_one_that_was() {
        let work = Work::default();
        let mut timing = Timing::new(&work, WaitStrategy::default());
        timing.last = Duration::from_nanos(500);
        for _ in 0..3 {
            timing.begin(1);
            assert_eq!(timing.end(), None);
        }
        assert_eq!(work.busy_ns.get(), 0);
        drop(timing);
        assert_eq!(work.busy_ns.get(), 1500);
    }
}
