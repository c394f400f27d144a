//! The progress bar, for people who watch: on standard error, and only where that is a terminal.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::measure::Gauges;
use crate::text::grouped;

/// How often it is drawn.
const INTERVAL: Duration = Duration::from_millis(100);

/// What it looks like; without colours.
const TEMPLATE: &str = "{bar:30} {msg}";

/// Whether somebody watches.
pub(super) fn is_watched() -> bool {
    io::stderr().is_terminal()
}

/// Draws how far `gauges` have come on the way to `total` messages, until the other end of `ended` is
/// dropped; then wipes the bar out.
pub(super) fn draw(gauges: &Gauges, total: u64, ended: &Receiver<()>) {
    let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template(TEMPLATE).expect("the template names what indicatif has");
    bar.set_style(style.progress_chars("━╸ "));
    let (mut before, mut before_at) = (0, Instant::now());
    while ended.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
        let (published, now) = (gauges.published.get(), Instant::now());
        bar.set_message(message(published, total, published - before, now - before_at, gauges.lag_max()));
        bar.set_position(published);
        (before, before_at) = (published, now);
    }
    bar.finish_and_clear();
}

/// What stands beside the bar, of `recent` messages in the last `interval`.
#[expect(clippy::cast_precision_loss, clippy::cast_sign_loss, reason = "a rate for people, never negative")]
fn message(published: u64, total: u64, recent: u64, interval: Duration, lag: u64) -> String {
    let rate = (recent as f64 / interval.as_secs_f64()).round() as u64;
    let [published, total, rate, lag] = [published, total, rate, lag].map(grouped);
    format!("{published}/{total}  {rate} messages/s  lag {lag}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_message_tells_count_rate_and_lag() {
        let shown = message(5_000, 10_000, 400, Duration::from_millis(100), 12);
        assert_eq!(shown, "5,000/10,000  4,000 messages/s  lag 12");
    }
}
