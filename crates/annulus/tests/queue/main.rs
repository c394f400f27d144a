//! Queues: against plain models, between threads, and at their edges.
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

mod bounded;
mod counted;
mod dice;
mod drops;
mod edges;
mod fairness;
mod handed_over;
mod model;
#[cfg(all(feature = "numa", target_os = "linux", not(miri)))]
mod numa;
mod one_order;
mod rings;
mod snapshots;
#[path = "../support/mod.rs"]
mod support;
mod threads;
mod wakes;

use counted::{Counted, panics};
