//! How long a cache line takes from one CPU to another and back.
//!
//! Two threads, each pinned to its CPU. The first writes a number and waits until the second has written the
//! same number elsewhere: that is a round trip, of two lines. They go through 64 lines each in turn, because
//! how long a line takes also depends on where in the processor it is at home. Nobody pauses between two
//! looks.
#![allow(clippy::disallowed_types, reason = "what is measured is the bare atomic; no model needs to see it")]

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::thread::{self, Scope, ScopedJoinHandle};
use std::time::{Duration, Instant};

use annulus::affinity;

/// How many lines each thread writes in turn.
const LINES: usize = 64;

/// A word with its line, and the line that is fetched with it, to itself.
#[derive(Default)]
#[repr(align(128))]
struct Line(AtomicU64);

/// The lines that one thread writes.
struct Lines(Vec<Line>);

/// Written in place of a number: there is no more to come.
const STOP: u64 = u64::MAX;

/// Round trips before those that count.
const WARM_UP: u64 = 1_000;

/// And the most time for them.
const WARM_UP_TIME: Duration = Duration::from_millis(50);

/// Other programs on these CPUs can make round trips very long: then there are fewer of them.
const TIME_MAX: Duration = Duration::from_millis(100);

/// So many round trips pass between two looks at the clock.
const CHUNK: u64 = 64;

/// So many looks at a line, of which each is a nanosecond, until the thread that looks at it looks at the
/// clock.
const LOOKS: u32 = 1 << 14;

impl Lines {
    fn new() -> Self {
        Self((0..LINES).map(|_| Line::default()).collect())
    }

    #[inline]
    fn of(&self, number: u64) -> &AtomicU64 {
        &self.0[number as usize % LINES].0
    }

    #[inline]
    fn put(&self, number: u64, value: u64) {
        // Release: pairs with the Acquire in `wait_for`. The figure is to be a message's, which has content.
        self.of(number).store(value, Ordering::Release);
    }

    /// Returns once the number is there: false if it will not come, or if it is time to give up.
    #[inline]
    fn wait_for(&self, number: u64, is_over: impl Fn() -> bool) -> bool {
        loop {
            for _ in 0..LOOKS {
                // Acquire: pairs with the Release in `put`.
                match self.of(number).load(Ordering::Acquire) {
                    there if there == number => return true,
                    STOP => return false,
                    _ => {}
                }
            }
            if is_over() {
                return false;
            }
        }
    }
}

/// Nanoseconds a round trip from the CPU `here` to the CPU `there` and back: the mean of `round_trips`, or of
/// fewer if these take too long.
///
/// # Errors
///
/// One of the threads can't be had, can't be pinned, or does not get to run.
pub(super) fn ping_pong(here: usize, there: usize, round_trips: u64) -> Result<f64, String> {
    thread::scope(|scope| {
        let first = begin(scope, move || {
            affinity::pin_to(here).map_err(|error| error.to_string())?;
            serve(there, round_trips)
        })?;
        first.join().unwrap_or_else(|_| Err("a thread of the measurement panicked".into()))
    })
}

/// On the first CPU: makes the lines there, and plays.
#[expect(clippy::cast_precision_loss, reason = "a few thousand, and a time of some milliseconds")]
fn serve(there: usize, round_trips: u64) -> Result<f64, String> {
    let (pings, pongs) = (Lines::new(), Lines::new());
    let (pinned, is_pinned) = mpsc::channel();
    thread::scope(|scope| {
        begin(scope, || {
            let outcome = affinity::pin_to(there).map_err(|error| error.to_string());
            let is_in_place = outcome.is_ok();
            if pinned.send(outcome).is_ok() && is_in_place {
                answer(&pings, &pongs);
            }
        })?;
        is_pinned.recv().unwrap_or_else(|_| Err("the other thread ended".into()))?;
        let mut next = 1;
        // How many round trips there were of so many, and how long they took together.
        let mut play = |count: u64, time: Duration| {
            let begun = Instant::now();
            let is_over = || begun.elapsed() >= time;
            for played in 0..count {
                if played % CHUNK == 0 && is_over() {
                    return (played, begun.elapsed());
                }
                let number = next;
                next += 1;
                pings.put(number, number);
                if !pongs.wait_for(number, is_over) {
                    return (played, begun.elapsed());
                }
            }
            (count, begun.elapsed())
        };
        play(WARM_UP, WARM_UP_TIME);
        let (played, elapsed) = play(round_trips, TIME_MAX);
        pings.put(next, STOP);
        if played == 0 {
            return Err(format!("no round trip in {TIME_MAX:?}: other programs keep these CPUs busy"));
        }
        Ok(elapsed.as_nanos() as f64 / played as f64)
    })
}

/// On the other CPU.
fn answer(pings: &Lines, pongs: &Lines) {
    for number in 1.. {
        if !pings.wait_for(number, || false) {
            return;
        }
        pongs.put(number, number);
    }
}

/// A thread, or why there is none.
fn begin<'scope, T: Send + 'scope>(
    scope: &'scope Scope<'scope, '_>,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Result<ScopedJoinHandle<'scope, T>, String> {
    let builder = thread::Builder::new().name("ping-pong".into());
    builder.spawn_scoped(scope, work).map_err(|error| format!("the system gives no thread: {error}"))
}

#[cfg(test)]
#[cfg(any(target_os = "linux", target_os = "freebsd", windows))]
mod tests {
    use super::*;

    #[test]
    fn round_trip_takes_time() {
        let cpus = affinity::allowed().unwrap();
        if let [here, there, ..] = cpus[..] {
            for round_trips in [1, CHUNK + 1] {
                match ping_pong(here, there, round_trips) {
                    Ok(ns) => assert!(ns.is_finite() && ns > 1.0, "{ns}"),
                    Err(error) => assert!(error.starts_with("no round trip in "), "{error}"),
                }
            }
        }
        assert_eq!(affinity::allowed().unwrap(), cpus, "this thread is not pinned");
    }

    /// Whichever of the two is refused, the other thread ends.
    #[test]
    fn cpu_that_is_refused_is_an_error() {
        let cpu = affinity::allowed().unwrap()[0];
        for (here, there) in [(cpu, 1_000_000), (1_000_000, cpu)] {
            let error = ping_pong(here, there, 1).unwrap_err();
            assert!(error.starts_with("can't run this thread on CPU 1000000: "), "{error}");
        }
    }
}
