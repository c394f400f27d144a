//! The progress bar, for people who watch: on standard error, and only where that is a terminal.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::measure::{Gauge, per_second};
use crate::text::grouped;

/// How often it is drawn.
const INTERVAL: Duration = Duration::from_millis(100);

/// Whether somebody watches.
pub(super) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Draws how much of the time has passed, and how many messages were published, until the other end of
/// `ended` is dropped; then wipes the bar out.
#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
pub(super) fn draw(published: &Gauge, total: Duration, ended: &Receiver<()>) {
    let length = u64::try_from(total.as_millis()).unwrap_or(u64::MAX);
    let bar = ProgressBar::with_draw_target(Some(length), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{bar:30} {msg}").expect("indicatif has a bar and a message");
    bar.set_style(style.progress_chars("━╸ "));
    let begun = Instant::now();
    let (mut before, mut before_at) = (0, begun);
    while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let (count, now) = (published.get(), Instant::now());
        let rate = per_second((count - before) as f64 / (now - before_at).as_secs_f64());
        bar.set_message(format!("{} messages  {rate} messages/s", grouped(count)));
        bar.set_position(u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX).min(length));
        (before, before_at) = (count, now);
    }
    bar.finish_and_clear();
}
