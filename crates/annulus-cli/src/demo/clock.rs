//! The demo's clock.

/// Nanoseconds since it was started, the same on each thread.
///
/// It reads the processor's counter where that runs evenly, which costs a fraction of a call to the system's
/// clock: it is read twice for each message.
pub(super) struct Clock {
    clock: quanta::Clock,
    /// The counter at the start.
    origin: u64,
}

impl Clock {
    /// A clock that begins at 0 now. The first one in a program takes up to a fifth of a second to learn how
    /// fast the counter runs.
    pub(super) fn start() -> Self {
        let clock = quanta::Clock::new();
        let origin = clock.raw();
        Self { clock, origin }
    }

    /// Nanoseconds since the start.
    #[inline]
    pub(super) fn now_ns(&self) -> u64 {
        self.clock.delta_as_nanos(self.origin, self.clock.raw())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;
    use std::time::Duration;

    #[test]
    fn it_counts_nanoseconds() {
        let clock = Clock::start();
        let before = clock.now_ns();
        thread::sleep(Duration::from_millis(20));
        let passed = clock.now_ns() - before;
        assert!((19_000_000..10_000_000_000).contains(&passed), "{passed}");
    }
}
