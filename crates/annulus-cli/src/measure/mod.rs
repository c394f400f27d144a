//! What `annulus demo` and `annulus bench` both measure with.
//!
//! ```text
//! ledger    the accounts of a subscriber, and their check
//! latency   a histogram of latencies, and the percentiles of it that are reported
//! pace      when to publish
//! gauge     how far a thread has come, for a progress bar
//! monotonic the clock that all processes share
//! table     how a rate is told, and the columns of a latency
//! ```

mod gauge;
mod latency;
mod ledger;
#[cfg(target_os = "linux")]
mod monotonic;
mod pace;
mod table;

pub(crate) use gauge::{Gauge, Gauges};
#[cfg(test)]
pub(crate) use latency::LATENCY_NS_MAX;
pub(crate) use latency::{Latency, counts, latencies, percentiles};
#[cfg(any(test, target_os = "linux"))]
pub(crate) use ledger::Fault;
pub(crate) use ledger::Ledger;
#[cfg(target_os = "linux")]
pub(crate) use monotonic::now_ns;
pub(crate) use pace::Schedule;
pub(crate) use table::{LATENCY_COLUMNS, TOO_FEW, pace, per_second};
