//! The clocks: the one of a run in one process, and the one that all processes share.

#[cfg(target_os = "linux")]
use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds since some moment, the same on each thread.
pub(crate) enum Clock {
    /// The processor's counter where that runs evenly, from when the clock was started. It costs a fraction
    /// of a call to the system's clock, and it is read twice for each message.
    Counter {
        clock: quanta::Clock,
        /// The counter at the start.
        origin: u64,
    },
    /// The system's clock, which is the same in all processes too. From when the machine was started.
    #[cfg(target_os = "linux")]
    System,
}

impl Clock {
    /// A clock that begins at 0 now. The first one in a program takes up to a fifth of a second to learn how
    /// fast the counter runs.
    pub(crate) fn start() -> Self {
        let clock = quanta::Clock::new();
        let origin = clock.raw();
        Self::Counter { clock, origin }
    }

    /// Nanoseconds since it began.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        match self {
            Self::Counter { clock, origin } => clock.delta_as_nanos(*origin, clock.raw()),
            #[cfg(target_os = "linux")]
            Self::System => now_ns(),
        }
    }
}

/// Nanoseconds by `CLOCK_MONOTONIC`, from when the machine was started. No system call, on most machines.
#[cfg(target_os = "linux")]
#[inline]
pub(crate) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // Neither is negative.
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn clock_counts_nanoseconds() {
        counts(&Clock::start());
        #[cfg(target_os = "linux")]
        counts(&Clock::System);
    }

    fn counts(clock: &Clock) {
        let before = clock.now_ns();
        thread::sleep(Duration::from_millis(20));
        let passed = clock.now_ns() - before;
        assert!(passed > 0);
        println!("20 ms are {passed} ns");
    }
}
