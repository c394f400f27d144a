//! Queues: against plain models, between threads, and at their edges.
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

mod counted;
mod edges;
mod model;
mod threads;

use counted::{Counted, panics};
