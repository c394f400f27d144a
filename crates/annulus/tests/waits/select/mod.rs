//! `select!` and `Select`: every kind of handle in an arm, order, time, close, lag, and no message lost.

#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

mod arms;
mod bound;
mod readiness;
mod ready;
mod threads;
mod traffic;

use std::time::Duration;

/// Messages of each thread: fewer under Miri.
const MANY: u64 = if cfg!(miri) { 100 } else { 25_000 };

const MOMENT: Duration = Duration::from_millis(5);
