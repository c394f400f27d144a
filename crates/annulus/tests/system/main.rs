//! What the system and the allocator are asked for: memory, processors, processes, barriers.
//!
//! Most of it is the whole process's, so most of these tests have a process of their own
//! (`support/alone.rs`).
#![allow(clippy::too_many_lines, reason = "a test reads from top to bottom")]

mod affinity;
mod allocation;
mod counting;
mod fork;
mod hang;
#[cfg(all(feature = "async", feature = "std"))]
mod idle;
mod large_messages;
mod memory;
mod memory_limit;
mod pipeline_memory;
mod prepare;
mod quiet_rings;
mod realtime;
mod registration;
mod sandbox;
#[path = "../support/mod.rs"]
mod support;
mod system_calls;
#[cfg(not(annulus_loom))]
mod unwind;
