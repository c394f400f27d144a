//! Queues: against plain models, between threads, and at their edges.
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

mod bounded;
mod counted;
mod dice;
mod edges;
mod fairness;
mod model;
mod one_order;
#[path = "../support/mod.rs"]
mod support;
mod threads;
mod wakes;

use counted::{Counted, panics};
