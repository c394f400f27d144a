//! Giving up the time slice before a sleep, where that helps.

use std::time::{Duration, Instant};

use crate::sync::{AtomicU32, Ordering};

/// What giving up the time slice has brought the threads that waited at an eventcount: a hint for the next
/// waiter there.
///
/// Suppose that the thread that is waited for is ready to run on the waiter's core. Then giving up the time
/// slice lets it run, at a fraction of what a sleep and a wake-up cost. In all other cases it is a loss:
/// another program may take the core for milliseconds, and some schedulers let a thread that gave up its time
/// slice wait longer after its next wake-up. No system call says which case it is. So each waiter tries, and
/// tells the next one what came of it.
// Decision 0068: why.
pub(super) struct GiveWayHint(AtomicU32);

/// The last waiter that gave way was helped.
const HELPED: u32 = u32::MAX;

/// In any other state of the hint: how often in a row it did not help, times this, and how many waits are to
/// pass without it.
const FAILURE: u32 = 1 << 16;

/// After so many failures 2^10 waits pass without it, and never more.
const MOST_FAILURES: u32 = 10;

/// As if it had not helped so often before, until somebody is helped for the first time.
const FAILURES_AT_FIRST: u32 = 7;

/// A sleep that was so short belongs to a stream: sooner than otherwise, somebody tries again.
const SHORT_SLEEP: Duration = Duration::from_micros(20);

/// One short sleep counts as so many waits.
const WAITS_FOR_A_SHORT_SLEEP: u32 = 16;

/// So often a waiter gives way in one wait.
pub(super) const TIMES: u32 = 12;

/// A time slice that was given up for no longer than this went to nobody: the call came back at once.
// Decision 0097: between what such a call takes and what a change of threads and back takes.
const SWITCH: Duration = Duration::from_micros(1);

/// Where it took longer, another program had the core, or a sleep would have been as good.
const LIMIT: Duration = Duration::from_micros(500);

impl GiveWayHint {
    pub(super) fn new() -> Self {
        Self(AtomicU32::new(FAILURES_AT_FIRST * FAILURE))
    }

    /// Whether the last waiter that gave way was helped.
    pub(super) fn has_helped(&self) -> bool {
        // Relaxed, here and below: it is a hint. Waiters may overwrite each other's.
        self.0.load(Ordering::Relaxed) == HELPED
    }

    /// Whether this wait is to give way. Counts the waits that are not to.
    fn is_to_try(&self) -> bool {
        let word = self.0.load(Ordering::Relaxed);
        let is_due = word == HELPED || word % FAILURE == 0;
        if !is_due {
            self.0.store(word - 1, Ordering::Relaxed);
        }
        // (Loom looks at all orders anyway.)
        is_due && !cfg!(annulus_loom)
    }

    /// A waiter has slept since `begun`.
    pub(super) fn slept(&self, begun: Instant) {
        let word = self.0.load(Ordering::Relaxed);
        if word != HELPED && word % FAILURE != 0 && begun.elapsed() < SHORT_SLEEP {
            let left = (word % FAILURE).saturating_sub(WAITS_FOR_A_SHORT_SLEEP);
            self.0.store(word / FAILURE * FAILURE + left, Ordering::Relaxed);
        }
    }

    pub(super) fn helped(&self) {
        if !self.has_helped() {
            self.0.store(HELPED, Ordering::Relaxed);
        }
    }

    fn failed(&self) {
        let failures = match self.0.load(Ordering::Relaxed) {
            HELPED => 0,
            word => (word / FAILURE + 1).min(MOST_FAILURES),
        };
        self.0.store(failures * FAILURE + (1 << failures), Ordering::Relaxed);
    }
}

/// How far one wait has got with that.
#[derive(Clone, Copy)]
pub(super) enum GiveWay {
    /// It has not given way yet.
    Before,
    /// It began then, and may do so `left` times more. `switched`: another thread had the core meanwhile.
    Since { begun: Instant, left: u32, switched: bool },
    /// It does so no more.
    Over,
}

impl GiveWay {
    /// Gives up the time slice. Returns false where this wait is to sleep instead.
    pub(super) fn turn(&mut self, hint: &GiveWayHint) -> bool {
        let now = Instant::now;
        let (begun, asked, left, switched) = match *self {
            Self::Before if hint.is_to_try() => {
                let begun = now();
                (begun, begun, TIMES, false)
            }
            Self::Since { begun, left, switched } if left > 0 && begun.elapsed() <= LIMIT => {
                (begun, now(), left, switched)
            }
            Self::Since { .. } => {
                hint.failed();
                *self = Self::Over;
                return false;
            }
            Self::Before | Self::Over => {
                *self = Self::Over;
                return false;
            }
        };
        give_up_time_slice();
        // Mutants: `> with`: costs or saves time; no test gives another thread the core without luck.
        let switched = switched || asked.elapsed() > SWITCH;
        *self = Self::Since { begun, left: left - 1, switched };
        true
    }

    /// Called where what was waited for is there.
    pub(super) fn end(self, hint: &GiveWayHint) {
        match self {
            // What came from another core would have come anyway.
            Self::Since { begun, switched, .. } if begun.elapsed() <= LIMIT && switched => {
                hint.helped();
            }
            Self::Since { .. } => hint.failed(),
            Self::Before | Self::Over => {}
        }
    }

    /// Called where it is not there, and the time is over. A wait that ends so early that nobody can tell
    /// says nothing.
    pub(super) fn give_up(self, hint: &GiveWayHint) {
        match self {
            Self::Since { begun, .. } if begun.elapsed() > LIMIT => {
                hint.failed();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
std::thread_local! {
    /// How often this thread has given up its time slice.
    pub(super) static GIVEN_UP: core::cell::Cell<u32> = const { core::cell::Cell::new(0) };
}

/// Another thread may have the core. (Loom looks at all orders anyway.)
pub(super) fn give_up_time_slice() {
    #[cfg(test)]
    GIVEN_UP.set(GIVEN_UP.get() + 1);
    #[cfg(not(annulus_loom))]
    std::thread::yield_now();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long_ago() -> Instant {
        Instant::now().checked_sub(2 * LIMIT).expect("the machine runs for longer than that")
    }

    /// No time passes after it, however slow this thread is. (Under Miri each step takes its time.)
    fn just_now() -> Instant {
        Instant::now() + Duration::from_secs(1 << 20)
    }

    fn since(begun: Instant, switched: bool) -> GiveWay {
        GiveWay::Since { begun, left: 3, switched }
    }

    /// How many waits pass until one tries.
    fn waits_without(hint: &GiveWayHint) -> usize {
        (0..1 << 20).take_while(|_| !hint.is_to_try()).count()
    }

    #[test]
    fn yield_in_vain_is_tried_ever_more_rarely() {
        let hint = GiveWayHint::new();
        assert_eq!(waits_without(&hint), 0, "the first wait tries");
        for failures in (FAILURES_AT_FIRST + 1..=MOST_FAILURES).chain([MOST_FAILURES; 3]) {
            hint.failed();
            assert!(!hint.has_helped());
            assert_eq!(waits_without(&hint), 1 << failures);
            assert_eq!(waits_without(&hint), 0, "until somebody says what came of it");
        }
        hint.helped();
        assert!(hint.has_helped());
        assert_eq!([(); 3].map(|()| waits_without(&hint)), [0; 3]);
        for failures in 0..3 {
            hint.failed();
            assert_eq!(waits_without(&hint), 1 << failures, "one failure after a success may be bad luck");
        }
    }

    /// In a stream between two threads of one core each sleep is short.
    #[test]
    fn short_sleeps_bring_the_next_try_nearer() {
        let hint = GiveWayHint::new();
        hint.slept(just_now());
        assert_eq!(waits_without(&hint), 0, "nobody has failed yet");
        hint.failed();
        let all = 1 << (FAILURES_AT_FIRST + 1);
        hint.slept(long_ago());
        (0..3).for_each(|_| hint.slept(just_now()));
        assert_eq!(waits_without(&hint), all - 3 * WAITS_FOR_A_SHORT_SLEEP as usize);
        hint.failed();
        (0..100).for_each(|_| hint.slept(just_now()));
        assert_eq!(waits_without(&hint), 0);
        hint.helped();
        hint.slept(just_now());
        assert!(hint.has_helped());
    }

    #[test]
    fn wait_gives_way_a_few_times_and_says_what_came_of_it() {
        let hint = GiveWayHint::new();
        let begun = Instant::now();
        let mut in_vain = GiveWay::Before;
        let times = (0..100).take_while(|_| in_vain.turn(&hint)).count();
        // (On a busy machine the first time may last as long as the limit.)
        assert!(times == TIMES as usize || begun.elapsed() > LIMIT, "{times} times");
        assert!((1..=TIMES as usize).contains(&times));
        in_vain.end(&hint);
        assert_eq!(waits_without(&hint), 256, "what came in the sleep is no help");
        GiveWay::Before.end(&hint);
        assert!(!hint.has_helped(), "nor what was there at once");
        since(long_ago(), true).end(&hint);
        assert_eq!(waits_without(&hint), 512, "nor what took too long");
        since(just_now(), true).end(&hint);
        assert!(hint.has_helped());
    }

    /// A peer on another core would have brought it anyway, and is not to be waited for with yields.
    #[test]
    fn message_that_comes_while_nobody_else_had_the_core_is_no_help() {
        let hint = GiveWayHint::new();
        since(just_now(), false).end(&hint);
        assert!(!hint.has_helped(), "one lucky try");
        assert_eq!(waits_without(&hint), 256);
        hint.helped();
        since(just_now(), false).end(&hint);
        assert_eq!(waits_without(&hint), 1, "the peer has moved to another core");
    }

    /// What a deadline ended has failed if another program had the core for so long.
    #[test]
    fn waiter_that_gives_up_says_so_if_giving_way_took_too_long() {
        let hint = GiveWayHint::new();
        hint.helped();
        GiveWay::Before.give_up(&hint);
        GiveWay::Over.give_up(&hint);
        since(just_now(), true).give_up(&hint);
        assert!(hint.has_helped(), "the time was too short to tell");
        since(long_ago(), true).give_up(&hint);
        assert!(!hint.has_helped());
        assert_eq!(waits_without(&hint), 1);
    }

    #[test]
    fn waiter_for_which_giving_way_took_too_long_does_not_give_way() {
        let hint = GiveWayHint::new();
        assert!(!since(long_ago(), true).turn(&hint));
        assert_eq!(waits_without(&hint), 256);
    }
}
