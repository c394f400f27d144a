//! The numbers of a ring, in one shape for all rings, and the counters behind them.
//!
//! Nothing is counted for each message. The numbers are those by which a ring works anyway: heads, tails,
//! cursors and counts of handles. What happens rarely, such as a sleep, is [counted](counters) where the
//! builder was asked for that.

mod counters;
mod delta;
mod snapshot;
mod table;

pub(crate) use counters::{Counters, Counting};
pub use delta::Delta;
pub(crate) use snapshot::Name;
pub use snapshot::{Counted, FollowedStats, Handles, Latency, OwnStats, ProducerStats, Stats};
