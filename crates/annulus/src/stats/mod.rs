//! The numbers of a ring, in one shape for all rings, and the counters behind them.
//!
//! Nothing is counted for each message. The numbers are those by which a ring works anyway: heads, tails,
//! cursors and counts of handles. What happens rarely, such as a sleep, is counted where the ring's
//! [settings](method@crate::Settings::statistics) ask for that.
//!
//! Each handle has a verb `stats`, which returns [`Stats`], and a verb `observer`, for other threads.

mod counters;
mod delta;
mod snapshot;
mod table;

pub(crate) use counters::{Counters, Counting};
pub use delta::Delta;
pub(crate) use snapshot::Name;
pub use snapshot::{Counted, FollowedStats, HandleCount, Latency, OwnStats, ProducerStats, Stats};
