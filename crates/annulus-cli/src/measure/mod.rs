//! What `annulus demo` and `annulus bench` both measure with.
//!
//! ```text
//! ledger    the accounts of a subscriber, and their check
//! latency   a histogram of latencies, and the percentiles of it that are reported
//! pace      when to publish, and how a rate is told
//! progress  how far a thread has come, and the progress bar
//! clock     the clocks: of one process, and of all
//! ```

mod clock;
mod latency;
mod ledger;
mod pace;
mod progress;

pub(crate) use clock::Clock;
#[cfg(target_os = "linux")]
pub(crate) use clock::now_ns;
#[cfg(test)]
pub(crate) use latency::LATENCY_NS_MAX;
pub(crate) use latency::{LATENCY_COLUMNS, Latency, TOO_FEW, counts, latencies, percentiles};
#[cfg(any(test, target_os = "linux"))]
pub(crate) use ledger::Fault;
pub(crate) use ledger::Ledger;
pub(crate) use pace::{Schedule, pace, per_second};
#[cfg(target_os = "linux")]
pub(crate) use progress::is_watched;
pub(crate) use progress::{Gauge, Gauges, show_progress};
