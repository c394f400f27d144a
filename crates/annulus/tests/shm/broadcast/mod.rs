//! Broadcast rings between processes.
//!
//! ```text
//! follow.rs        subscribers of a name, one publisher after the other
//! half_written.rs  publishers that die inside a write
//! lossless.rs      rings whose publisher waits for other processes
//! one_process.rs   two mappings in one process: the same ring as without them
//! processes.rs     publishers and subscribers of their own, which are killed and stopped; child.rs is one
//! corrupt.rs       messages of which another process has made none
//! hostile.rs       memory in which another process writes what it likes
//! names.rs         rings by name, and what errors say
//! observer.rs      a process that only looks
//! ```
#![allow(clippy::disallowed_types, reason = "a test")]

mod child;
#[cfg(feature = "derive")]
pub(crate) mod corrupt;
mod follow;
mod half_written;
pub(crate) mod hostile;
pub(crate) mod lossless;
mod names;
mod observer;
mod one_process;
mod processes;
