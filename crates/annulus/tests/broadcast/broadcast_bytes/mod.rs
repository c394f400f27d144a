//! Broadcast rings of records: what each verb promises, against a model, and beside other threads.
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

mod edges;
#[cfg(feature = "std")]
mod lossless;
mod model;
mod records;
mod steps;
mod threads;
#[cfg(feature = "std")]
mod waits;
