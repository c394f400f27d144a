//! Queues of messages and of bytes, and the pool whose buffers go through them.
#![allow(clippy::too_many_lines, reason = "a test reads from top to bottom")]

#[cfg(feature = "std")]
mod bytes;
mod large_pool;
mod oneshot;
mod pool;
mod queue;
mod queue_handlers;
#[cfg(feature = "std")]
mod service;
#[path = "../support/mod.rs"]
mod support;
#[cfg(feature = "std")]
mod watch;
#[cfg(feature = "std")]
mod watch_handles;
