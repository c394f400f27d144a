//! How a reader and a writer keep a distance from each other, so that the two do not slow each other down: a
//! reader that is fast ([`ReaderBackoff`]), and a writer that waits for free slots ([`WriterBackoff`]).

use super::poll::Look;
use super::spin::{REST, give_way, pauses};
use super::{Deadline, WaitStrategy};
use crate::sync::seeded;

/// The state of a reader that takes messages as fast as they come.
///
/// A reader may be right behind a writer that sends without a break. Then each look takes the cache line of
/// the tail from the writer, and often the line that it is writing, and brings only a few messages: both
/// sides spend their time waiting for lines. A reader that rests first finds many messages at its next look.
///
/// The reader tells this case from its looks: several in a row brought a few messages each. Then it rests,
/// and it continues to rest as long as each rest brings many messages. After a rest that brought nothing it
/// takes twice as many such looks before it tries again.
pub(crate) struct ReaderBackoff {
    /// Looks in a row that brought a few messages.
    small_batches: u32,
    /// After so many of them the reader rests.
    threshold: u32,
    /// Looks in a row that brought nothing.
    empty_looks: u32,
    /// Whether the caller wants messages at once, so that the next look is not followed by a rest.
    skip_next: bool,
}

/// At most so many looks that find nothing come before a look that counts as part of a stream.
const EMPTY_LOOKS_IN_A_STREAM: u32 = 32;

/// At least so many messages make a look count. Fewer are an answer, or something that happens now and then.
const MIN_BATCH: usize = 4;

/// The first rest comes after so many looks.
const FIRST_THRESHOLD: u32 = 8;

/// The threshold never becomes larger than this.
const MAX_THRESHOLD: u32 = 1024;

/// A rest that brings at least so many messages was worth it.
const WORTHWHILE_BATCH: usize = 32;

impl ReaderBackoff {
    pub(crate) fn new() -> Self {
        Self { small_batches: 0, threshold: FIRST_THRESHOLD, empty_looks: 0, skip_next: false }
    }

    /// The next look is not followed by a rest.
    #[inline(always)]
    pub(crate) fn skip_next_rest(&mut self) {
        self.skip_next = true;
    }

    /// After a look that brought nothing.
    #[inline(always)]
    pub(crate) fn found_nothing(&mut self) {
        self.empty_looks = self.empty_looks.saturating_add(1);
        self.skip_next = false;
    }

    /// After a look that brought `count` messages. With `backlog` messages or more, the reader is not right
    /// behind the writer. Where a rest pays, this rests and looks `again`, which returns how many messages
    /// there are then.
    #[inline(always)]
    pub(crate) fn found(&mut self, count: usize, backlog: usize, again: impl FnOnce() -> usize) {
        let is_close = count < backlog;
        if !self.rests() {
            let counts = is_close && count >= MIN_BATCH && self.empty_looks <= EMPTY_LOOKS_IN_A_STREAM;
            self.small_batches = if counts { self.small_batches + 1 } else { 0 };
        } else if is_close && !self.skip_next {
            // Decision 0046: why a reader rests, and when.
            pauses(REST);
            self.rested(again() - count);
        }
        (self.empty_looks, self.skip_next) = (0, false);
    }

    /// Whether rests pay.
    #[inline(always)]
    fn rests(&self) -> bool {
        // (Under loom a rest changes nothing.)
        self.small_batches >= self.threshold && !cfg!(annulus_loom)
    }

    /// After a rest that brought `count` messages.
    #[inline(always)]
    fn rested(&mut self, count: usize) {
        if count >= WORTHWHILE_BATCH {
            (self.small_batches, self.threshold) = (FIRST_THRESHOLD, FIRST_THRESHOLD);
        } else {
            (self.small_batches, self.threshold) = (0, (2 * self.threshold).min(MAX_THRESHOLD));
        }
    }
}

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

    const BACKLOG: usize = 512;

    /// Whether a look that brings a few messages is followed by a rest, which brings `more`.
    fn rests(backoff: &mut ReaderBackoff, more: usize) -> bool {
        let mut rested = false;
        backoff.found(MIN_BATCH, BACKLOG, || {
            rested = true;
            MIN_BATCH + more
        });
        rested
    }

    /// How many such looks it takes until there is a rest, which brings nothing.
    fn looks_before_a_rest(backoff: &mut ReaderBackoff) -> u32 {
        let mut looks = 0;
        while !rests(backoff, 0) {
            looks += 1;
        }
        looks
    }

    #[test]
    fn reader_rests_in_a_stream_only_while_that_pays() {
        let mut backoff = ReaderBackoff::new();
        assert!((0..FIRST_THRESHOLD).all(|_| !rests(&mut backoff, WORTHWHILE_BATCH)));
        assert!((0..100).all(|_| rests(&mut backoff, WORTHWHILE_BATCH)));
        assert!(rests(&mut backoff, WORTHWHILE_BATCH - 1));
        assert!(!rests(&mut backoff, WORTHWHILE_BATCH));
    }

    #[test]
    fn rest_in_vain_comes_ever_more_rarely() {
        let mut backoff = ReaderBackoff::new();
        for expected in [FIRST_THRESHOLD, 2 * FIRST_THRESHOLD, 4 * FIRST_THRESHOLD] {
            assert_eq!(looks_before_a_rest(&mut backoff), expected);
        }
        for _ in 0..20 {
            assert!(looks_before_a_rest(&mut backoff) <= MAX_THRESHOLD);
        }
        while !rests(&mut backoff, WORTHWHILE_BATCH) {}
        assert!(rests(&mut backoff, 0));
        assert_eq!(looks_before_a_rest(&mut backoff), 2 * FIRST_THRESHOLD, "a stream makes up for it");
    }

    #[test]
    fn answers_late_messages_and_a_backlog_are_no_stream() {
        for (empty_looks, count) in
            [(1, MIN_BATCH - 1), (EMPTY_LOOKS_IN_A_STREAM + 1, MIN_BATCH), (0, BACKLOG)]
        {
            let mut backoff = ReaderBackoff::new();
            for _ in 0..10 {
                assert!((1..FIRST_THRESHOLD).all(|_| !rests(&mut backoff, WORTHWHILE_BATCH)));
                (0..empty_looks).for_each(|_| backoff.found_nothing());
                backoff.found(count, BACKLOG, || unreachable!());
            }
        }
    }

    #[test]
    fn reader_in_a_hurry_does_not_rest() {
        let mut backoff = ReaderBackoff::new();
        looks_before_a_rest(&mut backoff);
        for _ in 0..MAX_THRESHOLD {
            backoff.skip_next_rest();
            assert!(!rests(&mut backoff, WORTHWHILE_BATCH));
        }
        assert!(rests(&mut backoff, WORTHWHILE_BATCH), "the next one does");
    }

    #[test]
    fn reader_with_a_backlog_does_not_rest_until_later() {
        let mut backoff = ReaderBackoff::new();
        while !rests(&mut backoff, WORTHWHILE_BATCH) {}
        backoff.found(BACKLOG, BACKLOG, || unreachable!());
        assert!(rests(&mut backoff, WORTHWHILE_BATCH));
    }

    /// How often a writer that finds this much room is to look again.
    fn looks(backoff: &mut WriterBackoff, free: u64) -> usize {
        (0..100).take_while(|_| matches!(backoff.judge(free, ()), Look::Again)).count()
    }

    #[test]
    fn little_room_is_enough_after_a_few_looks() {
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
