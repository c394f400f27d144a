//! How a writer waits for free slots without slowing down the readers.

use super::{Deadline, Look};
use crate::sync::{mutated, pause};

/// A writer at its limit.
///
/// Each look takes the cache lines of the readers' cursors, and a reader then needs a line transfer for its
/// next message. A writer that continued after each single slot would look for every message, and slow down
/// the readers. So it pauses longer after each look. For a few looks, which take some microseconds, it also
/// waits for an eighth of the ring rather than for one slot.
pub(crate) struct WriterBackoff {
    /// Pauses before the next look.
    pauses: u32,
    /// Looks for which a few free slots are not enough. 0 where there is a deadline.
    looks_left: u32,
    /// So many free slots are enough.
    preferred: u64,
}

/// So often a writer without a deadline waits for more than one slot.
// Decision 0019: why, and for how long.
const LOOKS: u32 = 8;

/// The longest pause between two looks, in pause instructions: about a microsecond.
const MOST_PAUSES: u32 = 32;

impl WriterBackoff {
    /// For a writer that prefers `preferred` slots to one.
    pub(crate) fn new(preferred: u64, deadline: Deadline) -> Self {
        let looks_left = if deadline.is_none() { LOOKS } else { 0 };
        Self { pauses: 0, looks_left, preferred }
    }

    /// Pauses. Called before each look.
    pub(crate) fn pause(&mut self) {
        (0..self.pauses).for_each(|_| pause());
        // (Under loom a pause lets others run; one is as good as many.)
        let most = if cfg!(annulus_loom) { 0 } else { MOST_PAUSES };
        self.pauses = (2 * self.pauses + 1).min(most);
    }

    /// What a writer that waits for `found` does after a look that found `free` slots.
    pub(crate) fn judge<F>(&mut self, free: u64, found: F) -> Look<F> {
        if free == 0 {
            return Look::Nothing;
        }
        if free < self.preferred && self.looks_left > 0 {
            self.looks_left -= 1;
            // Not `Nothing`: a slot is free, and nobody may notify again.
            return if mutated!("free_slot_and_asleep") { Look::Nothing } else { Look::Again };
        }
        Look::Found(found)
    }
}

#[cfg(all(test, not(annulus_loom)))]
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
