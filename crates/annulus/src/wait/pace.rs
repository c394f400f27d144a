//! How a reader stays behind a writer without being in its way.

use crate::sync::pause;

/// A reader that has all that there was.
///
/// Right behind a writer that sends without a break, each look takes the tail's line from it and brings a message, and both sides
/// wait for lines more than they work. A reader that pauses first finds many messages at the next look. Whether it is in that place it
/// tells from its waits: some in a row that were over soon. It goes on to pause as long as that brings a handful each time. Where it was in
/// vain, because what came soon were answers, or a message now and then, it takes twice as many such waits to try it again.
/// A reader that waits pauses longer than one that only looks: it has nothing else to do, and asked for no haste.
#[derive(Clone, Copy)]
pub(crate) struct Pace {
    /// Waits in a row that were over soon.
    brief: u32,
    /// So many mean a stream.
    enough: u32,
}

/// Polls of a wait that is over soon.
const SOON: u32 = 32;

/// The first pause comes after so many brief waits.
const FIRST: u32 = 8;

/// The most that it takes.
const MOST: u32 = 1024;

/// Messages beside the first for which a pause was worth it.
const HANDFUL: usize = 8;

/// Pause instructions before a wait: a microsecond or so.
const BEFORE_A_WAIT: u32 = 64;

/// After a look in vain: as long as a line takes there and back, or twice that.
const BEFORE_A_LOOK: u32 = 32;

impl Pace {
    pub(crate) fn new() -> Self {
        Self { brief: 0, enough: FIRST }
    }

    /// Before a look; `waits` where the caller waits for a message.
    #[inline]
    pub(crate) fn rest(self, waits: bool) {
        // (Under loom a pause gives way to others, and tells nothing here.)
        if self.brief >= self.enough && !cfg!(annulus_loom) {
            (0..if waits { BEFORE_A_WAIT } else { BEFORE_A_LOOK }).for_each(|_| pause());
        }
    }

    /// After a look that found a message and `more` beside it, and came after `vain` looks that found nothing. Where it found `backlog` at
    /// once, the reader is not right behind the writer.
    #[must_use]
    pub(crate) fn learned(self, vain: u32, more: usize, backlog: usize) -> Self {
        if vain == 0 && more >= backlog {
            Self { brief: self.brief.min(FIRST - 1), enough: FIRST }
        } else if self.brief < self.enough {
            Self { brief: if vain <= SOON { self.brief + 1 } else { 0 }, ..self }
        } else if more >= HANDFUL {
            Self { brief: FIRST, enough: FIRST }
        } else {
            Self { brief: 0, enough: (2 * self.enough).min(MOST) }
        }
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    const BACKLOG: usize = 512;

    fn pauses(pace: Pace) -> bool {
        pace.brief >= pace.enough
    }

    /// How many brief waits it takes until it pauses.
    fn patience(pace: &mut Pace) -> u32 {
        let mut waits = 0;
        while !pauses(*pace) {
            *pace = pace.learned(SOON, 0, BACKLOG);
            waits += 1;
        }
        waits
    }

    #[test]
    fn it_pauses_in_a_stream_and_only_while_that_pays() {
        let mut pace = Pace::new();
        assert_eq!(patience(&mut pace), FIRST);
        pace = pace.learned(1, HANDFUL, BACKLOG);
        assert!(pauses(pace));
        pace = pace.learned(1, HANDFUL - 1, BACKLOG);
        assert!(!pauses(pace));
    }

    #[test]
    fn a_pause_in_vain_comes_ever_more_rarely() {
        let mut pace = Pace::new();
        for expected in [FIRST, 2 * FIRST, 4 * FIRST] {
            assert_eq!(patience(&mut pace), expected);
            pace = pace.learned(1, 0, BACKLOG);
        }
        for _ in 0..20 {
            assert!(patience(&mut pace) <= MOST);
            pace = pace.learned(1, 0, BACKLOG);
        }
        patience(&mut pace);
        pace = pace.learned(1, HANDFUL, BACKLOG);
        pace = pace.learned(1, 0, BACKLOG);
        assert_eq!(patience(&mut pace), 2 * FIRST, "a stream makes up for it");
    }

    #[test]
    fn a_wait_that_lasts_is_no_stream() {
        let mut pace = Pace::new();
        for _ in 0..3 {
            pace = (1..FIRST).fold(pace, |pace, _| pace.learned(1, 100, BACKLOG));
            pace = pace.learned(SOON + 1, 100, BACKLOG);
            assert!(!pauses(pace) && pace.brief == 0);
        }
    }

    #[test]
    fn who_finds_a_backlog_at_once_is_not_right_behind() {
        let mut pace = Pace::new();
        patience(&mut pace);
        pace = pace.learned(1, BACKLOG, BACKLOG);
        assert!(pauses(pace), "a pause brought it");
        pace = pace.learned(0, BACKLOG, BACKLOG);
        assert!(!pauses(pace));
        pace = pace.learned(0, BACKLOG - 1, BACKLOG);
        assert!(pauses(pace), "right behind again");
        for _ in 0..100 {
            pace = pace.learned(0, BACKLOG, BACKLOG);
            assert!(!pauses(pace));
        }
    }
}
