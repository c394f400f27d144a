//! How a writer waits for free slots without slowing down the readers.

use super::poll::Look;
use super::spin::{REST, give_way, pauses};
use super::{Deadline, WaitStrategy};
use crate::sync::seeded;

/// A writer at its limit.
///
/// Each look takes the cache lines of the readers' cursors, and a reader then needs a line transfer for its
/// next message. A writer that continued after each single slot would look for every message, and slow down
/// the readers. So it pauses longer after each look. For a few looks, which take some microseconds, it also
/// waits for an eighth of the ring rather than for one slot. If a pause brings no slot at all, the reader
/// does not run. Most likely it has just woken the writer, which took its core. Then the writer gives way,
/// if its strategy ever does.
pub(crate) struct WriterBackoff {
    /// Pauses before the next look, as [`pauses`] counts them.
    pauses: u32,
    /// Looks for which a few free slots are not enough. 0 where there is a deadline.
    looks_left: u32,
    /// So many free slots are enough.
    preferred: u64,
    /// How many were free at the last look, if they were not enough.
    too_few: u64,
    /// Whether the look before found as many.
    has_stalled: bool,
}

/// How many free slots a writer prefers to one, in a ring of `capacity`.
pub(crate) fn preferred_slots(capacity: usize) -> u64 {
    (capacity as u64 / 8).max(1)
}

/// So often a writer without a deadline waits for more than one slot.
// Decision 0019: why, and for how long.
const LOOKS: u32 = 8;

/// The longest pause between two looks: a little less than a microsecond.
const MOST_PAUSES: u32 = REST;

impl WriterBackoff {
    /// For a writer that prefers `preferred` slots to one.
    pub(crate) fn new(preferred: u64, deadline: Deadline) -> Self {
        let looks_left = if deadline.is_none() { LOOKS } else { 0 };
        Self { pauses: 0, looks_left, preferred, too_few: 0, has_stalled: false }
    }

    /// Pauses before the next look. Returns for how long, as [`pauses`] counts.
    pub(super) fn pause(&mut self) -> u32 {
        let count = self.pauses;
        pauses(count);
        // (Under loom a pause lets others run; one is as good as many.)
        let most = if cfg!(annulus_loom) { 0 } else { MOST_PAUSES };
        self.pauses = (2 * count + 1).min(most);
        count
    }

    /// Gives the readers time to free more slots, after a look that found [too few](Self::judge), for a
    /// writer that waits by `strategy`.
    pub(super) fn wait_for_more(&mut self, strategy: WaitStrategy) {
        if self.has_stalled && !strategy.keeps_its_core() {
            give_way();
        } else {
            self.pause();
        }
    }

    /// What a writer that waits for `found` does after a look that found `free` slots.
    pub(crate) fn judge<F>(&mut self, free: u64, found: F) -> Look<F> {
        if free == 0 {
            return Look::Nothing;
        }
        if free < self.preferred && self.looks_left > 0 {
            self.looks_left -= 1;
            self.has_stalled = self.too_few == free && !seeded!("stalled_and_goes_on");
            self.too_few = free;
            // Not `Nothing`: a slot is free, and nobody may notify again.
            return if seeded!("free_slot_and_asleep") { Look::Nothing } else { Look::Again };
        }
        Look::Found(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How often a writer that finds this much room is to look again.
    fn looks(backoff: &mut WriterBackoff, free: u64) -> usize {
        (0..100).take_while(|_| matches!(backoff.judge(free, ()), Look::Again)).count()
    }

    #[test]
    fn a_little_room_is_enough_after_a_few_looks() {
        let mut backoff = WriterBackoff::new(4, None);
        assert!(matches!(backoff.judge(0, ()), Look::Nothing));
        assert_eq!([5, 4].map(|free| looks(&mut backoff, free)), [0, 0]);
        assert_eq!(looks(&mut backoff, 3), LOOKS as usize);
        assert_eq!(looks(&mut backoff, 1), 0);
        assert!(matches!(backoff.judge(0, ()), Look::Nothing));
        #[cfg(feature = "std")]
        assert_eq!(looks(&mut WriterBackoff::new(4, Some(std::time::Instant::now())), 1), 0, "time is short");
    }

    /// A reader that frees nothing while the writer pauses does not run.
    #[test]
    fn writer_that_gets_no_more_room_has_stalled() {
        let mut backoff = WriterBackoff::new(100, None);
        let stalls = [1, 1, 2, 2, 2, 30].map(|free| {
            assert!(matches!(backoff.judge(free, ()), Look::Again));
            backoff.wait_for_more(WaitStrategy::default());
            backoff.has_stalled
        });
        assert_eq!(stalls, [false, true, false, true, true, false]);
        let paused = backoff.pauses;
        assert_eq!(paused, 7, "it paused where it had not");
    }

    /// And gives its core away, by those strategies that ever do.
    #[test]
    #[cfg(feature = "std")]
    fn stalled_writer_gives_way_unless_it_keeps_its_core() {
        use super::super::give_way::GIVEN_UP;
        for (strategy, gives_way) in [
            (WaitStrategy::BusySpin, false),
            (WaitStrategy::PauseSpin, false),
            (WaitStrategy::Monitor, false),
            (WaitStrategy::BackoffSpin, true),
            (WaitStrategy::adaptive(), true),
            (WaitStrategy::block(), true),
        ] {
            let (mut backoff, before) = (WriterBackoff::new(100, None), GIVEN_UP.get());
            for _ in 0..LOOKS {
                assert!(matches!(backoff.judge(1, ()), Look::Again));
                backoff.wait_for_more(strategy);
            }
            assert!(matches!(backoff.judge(1, ()), Look::Found(())));
            let times = if gives_way { LOOKS - 1 } else { 0 };
            assert_eq!(GIVEN_UP.get() - before, times, "{strategy}");
            assert_eq!(backoff.pauses, if gives_way { 1 } else { MOST_PAUSES }, "otherwise it pauses");
        }
    }

    #[test]
    fn pauses_grow_to_a_limit() {
        let mut backoff = WriterBackoff::new(1, None);
        let pauses = [(); 8].map(|()| {
            backoff.pause();
            backoff.pauses
        });
        assert_eq!(pauses, [1, 3, 7, 15, 31, MOST_PAUSES, MOST_PAUSES, MOST_PAUSES]);
    }
}
