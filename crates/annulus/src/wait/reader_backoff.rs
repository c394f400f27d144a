//! How a reader keeps a distance from a writer, so that the two do not slow each other down.

use super::spin::{REST, pauses};

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
    fn a_rest_in_vain_comes_ever_more_rarely() {
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
    fn nobody_in_a_hurry_rests() {
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
}
