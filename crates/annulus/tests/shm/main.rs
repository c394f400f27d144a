//! Rings between processes.
#![cfg(all(target_os = "linux", feature = "shm", not(any(miri, annulus_loom))))]
#![allow(missing_docs, reason = "a test")]

mod broadcast;
mod mp_broadcast;
mod mpsc;
mod process;
mod queue;
mod shared;
#[path = "../support/mod.rs"]
mod support;
#[cfg(feature = "async")]
mod tasks;
