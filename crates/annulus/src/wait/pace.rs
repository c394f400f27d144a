//! How a reader stays behind a writer without being in its way.

use crate::sync::pause;

/// A reader that takes what there is as fast as it comes.
///
/// Right behind a writer that sends without a break, each look takes the tail's line from it, and often the line that it is writing, and
/// brings a few messages: both sides wait for lines more than they work. A reader that rests first finds many messages at the next look. Whether it is in
/// that place it tells from its looks: some in a row that brought a few messages each. It goes on to rest as long as each rest
/// brings a good deal. Where it was in vain, because what came was all that there was, it takes twice as many such looks to try
/// it again.
pub(crate) struct Pace {
    /// Looks in a row that brought a few messages.
    close: u32,
    /// So many mean a stream.
    enough: u32,
    /// Looks in a row that brought nothing.
    vain: u32,
    /// Whether the next look is of one who wants what there is at once.
    hasty: bool,
}

/// Looks in vain before one that brings something soon.
const SOON: u32 = 32;

/// A few messages are at least so many. Fewer are an answer, or something that happens now and then.
const FEW: usize = 4;

/// The first rest comes after so many looks.
const FIRST: u32 = 8;

/// The most that it takes.
const MOST: u32 = 1024;

/// Pause instructions of a rest: half a microsecond, or one.
// Decision 0046: why a reader rests, and when.
const REST: u32 = 32;

/// Messages that are worth one: a stream of one in twenty or thirty nanoseconds.
const WORTH: usize = 32;

impl Pace {
    pub(crate) fn new() -> Self {
        Self { close: 0, enough: FIRST, vain: 0, hasty: false }
    }

    /// The next look is not followed by a rest.
    #[inline(always)]
    pub(crate) fn hurry(&mut self) {
        self.hasty = true;
    }

    /// After a look that brought nothing.
    #[inline(always)]
    pub(crate) fn found_nothing(&mut self) {
        self.vain = self.vain.saturating_add(1);
        self.hasty = false;
    }

    /// After a look that brought `count` messages, of which `backlog` are so many that the reader is not right behind the writer. Where a
    /// rest pays, rests, and looks `again`, which says how many there are then.
    #[inline(always)]
    pub(crate) fn found(&mut self, count: usize, backlog: usize, again: impl FnOnce() -> usize) {
        let is_close = count < backlog;
        if !self.rests() {
            let counts = is_close && count >= FEW && self.vain <= SOON;
            self.close = if counts { self.close + 1 } else { 0 };
        } else if is_close && !self.hasty {
            (0..REST).for_each(|_| pause());
            self.rested(again() - count);
        }
        (self.vain, self.hasty) = (0, false);
    }

    /// Whether rests pay.
    #[inline(always)]
    fn rests(&self) -> bool {
        // (Under loom a rest tells nothing.)
        self.close >= self.enough && !cfg!(annulus_loom)
    }

    /// After a rest that brought `count` messages.
    #[inline(always)]
    fn rested(&mut self, count: usize) {
        if count >= WORTH {
            (self.close, self.enough) = (FIRST, FIRST);
        } else {
            (self.close, self.enough) = (0, (2 * self.enough).min(MOST));
        }
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    const BACKLOG: usize = 512;

    /// Whether a look that brings a few messages is followed by a rest, which brings `more`.
    fn rests(pace: &mut Pace, more: usize) -> bool {
        let mut rested = false;
        pace.found(FEW, BACKLOG, || {
            rested = true;
            FEW + more
        });
        rested
    }

    /// How many such looks it takes until there is a rest, which is in vain.
    fn patience(pace: &mut Pace) -> u32 {
        let mut looks = 0;
        while !rests(pace, 0) {
            looks += 1;
        }
        looks
    }

    #[test]
    fn it_rests_in_a_stream_and_only_while_that_pays() {
        let mut pace = Pace::new();
        assert!((0..FIRST).all(|_| !rests(&mut pace, WORTH)));
        assert!((0..100).all(|_| rests(&mut pace, WORTH)));
        assert!(rests(&mut pace, WORTH - 1));
        assert!(!rests(&mut pace, WORTH));
    }

    #[test]
    fn a_rest_in_vain_comes_ever_more_rarely() {
        let mut pace = Pace::new();
        for expected in [FIRST, 2 * FIRST, 4 * FIRST] {
            assert_eq!(patience(&mut pace), expected);
        }
        for _ in 0..20 {
            assert!(patience(&mut pace) <= MOST);
        }
        while !rests(&mut pace, WORTH) {}
        assert!(rests(&mut pace, 0));
        assert_eq!(patience(&mut pace), 2 * FIRST, "a stream makes up for it");
    }

    #[test]
    fn answers_late_messages_and_a_backlog_are_no_stream() {
        for (vain, count) in [(1, FEW - 1), (SOON + 1, FEW), (0, BACKLOG)] {
            let mut pace = Pace::new();
            for _ in 0..10 {
                assert!((1..FIRST).all(|_| !rests(&mut pace, WORTH)));
                (0..vain).for_each(|_| pace.found_nothing());
                pace.found(count, BACKLOG, || unreachable!());
            }
        }
    }

    #[test]
    fn nobody_in_a_hurry_rests() {
        let mut pace = Pace::new();
        patience(&mut pace);
        for _ in 0..MOST {
            pace.hurry();
            assert!(!rests(&mut pace, WORTH));
        }
        assert!(rests(&mut pace, WORTH), "the next one does");
    }

    #[test]
    fn who_has_a_backlog_does_not_rest_and_goes_on_to_do_so_later() {
        let mut pace = Pace::new();
        while !rests(&mut pace, WORTH) {}
        pace.found(BACKLOG, BACKLOG, || unreachable!());
        assert!(rests(&mut pace, WORTH));
    }
}
