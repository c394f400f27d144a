//! How far a thread has come, and the progress bar: on standard error, and only where
//! that is a terminal.
#![allow(clippy::disallowed_types, reason = "a gauge synchronises nothing, so no model needs to see it")]

use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How often the bar is drawn.
const INTERVAL: Duration = Duration::from_millis(100);

/// What it looks like; without colours.
const TEMPLATE: &str = "{bar:30} {msg}";

/// A count that one thread writes at each message and another reads ten times a second.
///
/// It has a cache line to itself (two, as some processors fetch them in pairs), so that writing it is one
/// store to a line that nobody else touches.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Gauge(AtomicU64);

impl Gauge {
    /// Shows `count`.
    #[inline]
    pub(crate) fn set(&self, count: u64) {
        // Relaxed: the count speaks of itself alone.
        self.0.store(count, Ordering::Relaxed);
    }

    /// The count that was shown last, or a little before.
    pub(crate) fn get(&self) -> u64 {
        // Relaxed: as in `set`.
        self.0.load(Ordering::Relaxed)
    }
}

/// The gauges of a run.
pub(crate) struct Gauges {
    /// How many messages were published.
    pub(crate) published: Gauge,
    /// How many messages each subscriber has behind it, received or lost.
    pub(crate) passed: Vec<Gauge>,
}

impl Gauges {
    /// Gauges at 0 for one publisher and `subscribers`.
    pub(crate) fn new(subscribers: usize) -> Self {
        Self { published: Gauge::default(), passed: (0..subscribers).map(|_| Gauge::default()).collect() }
    }

    /// How far the slowest subscriber is behind.
    pub(crate) fn lag_max(&self) -> u64 {
        let published = self.published.get();
        self.passed.iter().map(|passed| published.saturating_sub(passed.get())).max().unwrap_or(0)
    }
}

/// Whether somebody watches.
pub(crate) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Draws a bar of this length until what is returned is dropped, then wipes it out. `look` says how far the
/// bar has come and what stands next to it, given the time since it was asked last.
pub(crate) fn show_progress<'scope>(
    scope: &'scope Scope<'scope, '_>,
    length: u64,
    mut look: impl FnMut(Duration) -> (u64, String) + Send + 'scope,
) -> Sender<()> {
    let (running, ended) = mpsc::channel();
    let draw = move || {
        let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template(TEMPLATE).expect("the template names what indicatif has");
        bar.set_style(style.progress_chars("━╸ "));
        let mut before = Instant::now();
        while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
            let now = Instant::now();
            let (position, message) = look(now - before);
            bar.set_message(message);
            bar.set_position(position);
            before = now;
        }
        bar.finish_and_clear();
    };
    if is_watched() {
        // Where there is no thread for it, the run continues without a bar.
        let _ = thread::Builder::new().name("progress".into()).spawn_scoped(scope, draw);
    }
    running
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slowest_subscriber_counts() {
        let gauges = Gauges::new(2);
        gauges.published.set(10);
        gauges.passed[0].set(9);
        gauges.passed[1].set(4);
        assert_eq!(gauges.lag_max(), 6);
        // It read the publisher's gauge first, and a subscriber has overtaken what that showed.
        gauges.passed[0].set(12);
        gauges.passed[1].set(12);
        assert_eq!(gauges.lag_max(), 0);
    }
}
