//! How a reader stays behind a writer without being in its way.

use crate::sync::pause;

/// A reader that takes what there is as fast as it comes.
///
/// Right behind a writer that sends without a break, each look takes the tail's line from it, and often the line that it is writing, and
/// brings a few messages: both sides wait for lines more than they work. A reader that rests first finds many messages at the next look. Whether it is in
/// that place it tells from its looks: some in a row that brought a few messages each. It goes on to rest as long as each rest
/// brings a good deal. Where it was in vain, because what came was all that there was, it takes twice as many such looks to try
/// it again.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// Looks in a row that brought a few messages.
    close: u32,
    /// So many mean a stream.
    enough: u32,
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
const REST: u32 = 32;

/// Messages that are worth one: a stream of one in twenty or thirty nanoseconds.
const WORTH: usize = 32;

impl Pace {
    pub(crate) fn new() -> Self {
        Self { close: 0, enough: FIRST }
    }

    /// Whether the reader rests after a look that brought less than a backlog.
    #[inline(always)]
    pub(crate) fn rests(self) -> bool {
        // (Under loom a rest tells nothing.)
        self.close >= self.enough && !cfg!(annulus_loom)
    }

    /// After a look that brought `count` messages, less than a backlog if `is_close`, and came after `vain` looks that brought none; by a
    /// reader that does not rest.
    #[must_use]
    #[inline(always)]
    pub(crate) fn looked(self, vain: u32, count: usize, is_close: bool) -> Self {
        let counts = is_close && count >= FEW && vain <= SOON;
        Self { close: if counts { self.close + 1 } else { 0 }, ..self }
    }

    /// Rests.
    #[inline(always)]
    pub(crate) fn rest() {
        (0..REST).for_each(|_| pause());
    }

    /// After a rest that brought `count` messages.
    #[must_use]
    #[inline(always)]
    pub(crate) fn rested(self, count: usize) -> Self {
        if count >= WORTH {
            Self { close: FIRST, enough: FIRST }
        } else {
            Self { close: 0, enough: (2 * self.enough).min(MOST) }
        }
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    /// How many looks that bring a few messages it takes until it rests.
    fn patience(pace: &mut Pace) -> u32 {
        let mut looks = 0;
        while !pace.rests() {
            *pace = pace.looked(SOON, FEW, true);
            looks += 1;
        }
        looks
    }

    #[test]
    fn it_rests_in_a_stream_and_only_while_that_pays() {
        let mut pace = Pace::new();
        assert_eq!(patience(&mut pace), FIRST);
        pace = pace.rested(WORTH);
        assert!(pace.rests());
        pace = pace.rested(WORTH - 1);
        assert!(!pace.rests());
    }

    #[test]
    fn a_rest_in_vain_comes_ever_more_rarely() {
        let mut pace = Pace::new();
        for expected in [FIRST, 2 * FIRST, 4 * FIRST] {
            assert_eq!(patience(&mut pace), expected);
            pace = pace.rested(0);
        }
        for _ in 0..20 {
            assert!(patience(&mut pace) <= MOST);
            pace = pace.rested(0);
        }
        patience(&mut pace);
        pace = pace.rested(WORTH).rested(0);
        assert_eq!(patience(&mut pace), 2 * FIRST, "a stream makes up for it");
    }

    #[test]
    fn answers_late_messages_and_a_backlog_are_no_stream() {
        for (vain, count, is_close) in [(1, FEW - 1, true), (SOON + 1, FEW, true), (0, 1000, false)] {
            let mut pace = (1..FIRST).fold(Pace::new(), |pace, _| pace.looked(0, FEW, true));
            pace = pace.looked(vain, count, is_close);
            assert!(!pace.rests() && pace.close == 0);
        }
    }
}
