//! Rings between processes.
#![cfg(all(target_os = "linux", feature = "shm", not(any(miri, annulus_loom))))]
#![allow(clippy::too_many_lines, reason = "a test reads from top to bottom")]
#![allow(missing_docs, reason = "a test")]

mod broadcast;
mod broadcast_bytes;
mod dynamic_forms;
mod frames;
mod mp_broadcast;
mod mpmc;
mod mpsc;
mod process;
mod queue;
mod scribbler;
mod service;
mod shared;
#[path = "../support/mod.rs"]
mod support;
#[cfg(feature = "async")]
mod tasks;
mod watch;

use std::fs::File;
use std::os::unix::fs::FileExt;

/// Where the slots of a ring begin, as its header says.
fn slots_of(ring: &File) -> u64 {
    let mut offset = [0; 8];
    ring.read_exact_at(&mut offset, 40).unwrap();
    u64::from_ne_bytes(offset)
}
