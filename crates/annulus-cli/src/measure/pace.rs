//! When to publish: a schedule, how to wait for a time on it, and how its rate is told.
//!
//! Message `i` is due at `start + i / rate`, reckoned from the start and not from the message before: a
//! publisher that was held up catches up, and after an hour it is as exact as after a second.

use std::thread;
use std::time::Duration;

use annulus::Shutdown;

use crate::text::grouped;

/// How long before its time a wait stops sleeping: the system wakes a thread later than asked, by less than
/// this.
const NEAR_NS: u64 = 200_000;

/// How long before its time a wait stops giving its core away.
const CLOSE_NS: u64 = 20_000;

/// The longest sleep at once, so that a slow feed sees Ctrl-C soon.
const SLEEP_NS_MAX: u64 = 50_000_000;

/// A fixed rate.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Schedule {
    interval_ns: f64,
}

impl Schedule {
    /// `rate` messages a second; finite and above 0.
    pub(crate) fn new(rate: f64) -> Self {
        Self { interval_ns: 1e9 / rate }
    }

    /// When message `index` is due, after the first.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_sign_loss,
        reason = "exact to a nanosecond for 100 days"
    )]
    fn due_ns(self, index: u64) -> u64 {
        // Saturates: at the lowest of rates the second message is due after the end of time.
        (index as f64 * self.interval_ns) as u64
    }

    /// As a time.
    #[cfg(target_os = "linux")]
    pub(crate) fn due(self, index: u64) -> Duration {
        Duration::from_nanos(self.due_ns(index))
    }

    /// Waits until message `index` is due, in a schedule that began at `start_ns` by the clock `now_ns`; not
    /// at all if it was due before. Ends early when `shutdown` is triggered.
    pub(crate) fn wait(self, index: u64, start_ns: u64, now_ns: impl Fn() -> u64, shutdown: &Shutdown) {
        let due_ns = start_ns.saturating_add(self.due_ns(index));
        while !shutdown.is_shutdown() {
            match Step::towards(due_ns.saturating_sub(now_ns())) {
                Step::Arrived => break,
                Step::Spin => std::hint::spin_loop(),
                Step::Yield => thread::yield_now(),
                Step::Sleep(duration) => thread::sleep(duration),
            }
        }
    }
}

/// What to do next while waiting.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Arrived,
    Spin,
    Yield,
    Sleep(Duration),
}

impl Step {
    /// By how much time is left.
    fn towards(left_ns: u64) -> Self {
        match left_ns {
            0 => Self::Arrived,
            1..CLOSE_NS => Self::Spin,
            CLOSE_NS..=NEAR_NS => Self::Yield,
            _ => Self::Sleep(Duration::from_nanos((left_ns - NEAR_NS).min(SLEEP_NS_MAX))),
        }
    }
}

/// At which rate the publisher went.
#[expect(clippy::cast_sign_loss, reason = "a rate is positive")]
pub(crate) fn pace(rate: f64) -> String {
    if rate.fract() == 0.0 && rate < 1e15 {
        format!("at {} messages a second", grouped(rate as u64))
    } else {
        format!("at {rate:?} messages a second")
    }
}

/// How many messages a second came of it.
#[expect(clippy::cast_sign_loss, reason = "a rate is not negative")]
pub(crate) fn per_second(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.2}") } else { grouped(rate.round() as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn schedule_does_not_drift() {
        let schedule = Schedule::new(3.0);
        assert_eq!(
            [0, 1, 2, 3].map(|index| schedule.due_ns(index)),
            [0, 333_333_333, 666_666_666, 1_000_000_000]
        );
        // A day later, a third of a nanosecond at each message would have been half a millisecond.
        assert_eq!(schedule.due_ns(3 * 86_400), 86_400_000_000_000);
    }

    #[test]
    fn extreme_rates_saturate() {
        assert_eq!(Schedule::new(1e300).due_ns(u64::MAX), 0);
        assert_eq!(Schedule::new(1e-300).due_ns(0), 0);
        assert_eq!(Schedule::new(1e-300).due_ns(1), u64::MAX);
        // Its interval is infinite, and 0 times infinity is no number.
        assert_eq!(Schedule::new(5e-324).due_ns(0), 0);
    }

    #[test]
    fn far_from_the_time_it_sleeps_and_near_it_does_not() {
        assert_eq!(Step::towards(0), Step::Arrived);
        assert_eq!(Step::towards(1), Step::Spin);
        assert_eq!(Step::towards(CLOSE_NS), Step::Yield);
        assert_eq!(Step::towards(NEAR_NS), Step::Yield);
        assert_eq!(Step::towards(NEAR_NS + 5), Step::Sleep(Duration::from_nanos(5)));
        assert_eq!(Step::towards(u64::MAX), Step::Sleep(Duration::from_millis(50)));
    }

    #[test]
    fn schedule_waits_until_the_time_and_not_after_a_shutdown() {
        let (begun, shutdown) = (Instant::now(), Shutdown::new());
        let now_ns = || u64::try_from(begun.elapsed().as_nanos()).unwrap();
        let start_ns = now_ns();
        Schedule::new(100.0).wait(1, start_ns, now_ns, &shutdown);
        assert!(now_ns() - start_ns >= 10_000_000);

        shutdown.trigger();
        Schedule::new(1e-9).wait(1, start_ns, now_ns, &shutdown);
    }
}
