//! Queues between processes.
//!
//! ```text
//! one_process.rs   two mappings in one process: the same queue as without them
//! processes.rs     producers and consumers of their own, which are killed and stopped; child.rs is one
//! records.rs       queues of records
//! corrupt.rs       messages of which another process has made none
//! hostile.rs       memory in which another process writes what it likes
//! observer.rs      a process that only looks
//! ```
#![allow(clippy::disallowed_types, reason = "a test")]

mod child;
#[cfg(feature = "derive")]
mod corrupt;
mod hostile;
mod observer;
mod one_process;
mod processes;
mod records;
