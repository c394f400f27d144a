//! What several test programs need: a clock of the core, a soak's length, pauses at random, watches over
//! threads that wait, and processes of their own.

#![allow(dead_code, unused_imports, unused_macros, reason = "no program needs all of it")]

pub(crate) mod alone;
#[cfg(target_os = "linux")]
pub(crate) mod fork;
mod hang;
pub(crate) mod polled;
#[cfg(all(feature = "async", not(miri)))]
pub(crate) mod runtime;
pub(crate) mod sleeping;
#[cfg(feature = "async")]
pub(crate) mod tasks;
pub(crate) mod threads;

pub(crate) use alone::alone;

use std::panic::resume_unwind;
use std::sync::{Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use annulus::WaitStrategy;

/// Longer than any one thing takes, however loaded the machine is: a thread that waits that long was not
/// woken.
pub(crate) const STUCK: Duration = Duration::from_secs(if cfg!(miri) { 3600 } else { 120 });

/// A thread. One copy of what the standard library does to begin it for all closures: a copy for each is half
/// of what a program with a test for every ring consists of.
pub(crate) fn spawn<T: Send + 'static>(action: impl FnOnce() -> T + Send + 'static) -> JoinHandle<T> {
    let action: Box<dyn FnOnce() -> T + Send> = Box::new(action);
    thread::spawn(action)
}

/// Runs `action`, and fails where it stands still: where threads wait without a deadline, that is what a lost
/// wake-up looks like. It has time for a great many of those things: five seconds of work have taken more
/// than thirty on a machine with five times as many threads as cores.
pub(crate) fn without_standing_still(action: impl FnOnce() + Send + 'static) {
    watch(Box::new(action));
}

fn watch(action: Box<dyn FnOnce() + Send>) {
    let (done, over) = mpsc::channel::<()>();
    let thread = thread::spawn(move || {
        action();
        // Dropped by a panic too.
        drop(done);
    });
    let waited = over.recv_timeout((2 * STUCK).max(2 * soak_time(Duration::ZERO)));
    assert_ne!(waited, Err(mpsc::RecvTimeoutError::Timeout), "it stands still");
    join([thread]);
}

/// What this thread has used of a core so far, where the system tells.
pub(crate) fn time_on_a_core() -> Option<Duration> {
    if !cfg!(target_os = "linux") || cfg!(miri) {
        return None;
    }
    let line = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux tells it");
    Some(Duration::from_nanos(line.split_whitespace().next().unwrap().parse().unwrap()))
}

/// What it has used since then.
pub(crate) fn time_on_a_core_since(before: Option<Duration>) -> Option<Duration> {
    Some(time_on_a_core()?.saturating_sub(before?))
}

/// Drops `value` never. It stays reachable, so no sanitizer takes it for a leak.
pub(crate) fn never_drop<T>(value: T) {
    static KEPT: Mutex<Vec<usize>> = Mutex::new(Vec::new());
    KEPT.lock().unwrap().push(Box::into_raw(Box::new(value)).expose_provenance());
}

/// Waits for all of `threads`, and returns what they return.
pub(crate) fn join<T>(threads: impl IntoIterator<Item = JoinHandle<T>>) -> Vec<T> {
    let wait = |thread: JoinHandle<T>| thread.join().unwrap_or_else(|panic| resume_unwind(panic));
    threads.into_iter().map(wait).collect()
}

/// How long a soak runs: seconds, from `ANNULUS_SOAK_SECONDS`, or as long as it takes in CI.
pub(crate) fn soak_time(in_ci: Duration) -> Duration {
    match std::env::var("ANNULUS_SOAK_SECONDS") {
        Ok(seconds) => {
            Duration::from_secs(seconds.parse().expect("ANNULUS_SOAK_SECONDS is a whole number of seconds"))
        }
        Err(_) if cfg!(miri) => Duration::ZERO,
        Err(_) => in_ci,
    }
}

/// Pauses of every length that could matter, from a small generator (xorshift).
pub(crate) struct Pauses(u64);

impl Pauses {
    /// The same ones each time, but where a search asks for others (see `.cargo/config.toml`).
    pub(crate) fn new(seed: u64) -> Self {
        let search = std::env::var("PROPTEST_RNG_SEED").map_or(1, |seed| seed.parse().expect("a number"));
        Self((seed ^ (search - 1)).max(1))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Mostly sleeps at once, sometimes after a spin of random length.
    pub(crate) fn strategy(&mut self) -> WaitStrategy {
        let spin = (self.next() % 64) as u32;
        WaitStrategy::block_after(spin * (spin % 2), spin % 3)
    }

    pub(crate) fn rest(&mut self) {
        match self.next() % 16 {
            0 => thread::sleep(Duration::from_micros(self.next() % 200)),
            1 => thread::yield_now(),
            2 => (0..self.next() % 4000).for_each(|_| std::hint::spin_loop()),
            // About as long as a message takes from core to core: so the other side publishes while this one
            // lies down.
            3..=10 => (0..self.next() % 1000).for_each(|turn| _ = std::hint::black_box(turn)),
            _ => {}
        }
    }
}

/// A wait that other cores see, and its own does not: stores that miss the caches, 32 MiB of them to choose
/// from. On x86 a later store is seen after them, by a microsecond or two, while later loads go ahead: code
/// that lacks a fence between a store and a load is found out.
pub(crate) struct Backlog {
    lines: Vec<[u64; 8]>,
    choose: Pauses,
}

impl Backlog {
    pub(crate) fn new(seed: u64) -> Self {
        let lines = if cfg!(miri) { 1 << 4 } else { 1 << 19 };
        Self { lines: vec![[seed; 8]; lines], choose: Pauses::new(seed) }
    }

    /// Every other time at random, as many stores as a core may have waiting.
    pub(crate) fn pile_up(&mut self) {
        for _ in 0..self.choose.next() % 2 * 48 {
            let number = self.choose.next();
            let line = number as usize % self.lines.len();
            self.lines[line][0] = number;
        }
        std::hint::black_box(&mut self.lines);
    }
}
