//! All ways to wait: threads that sleep, tasks, selects, workers, and descriptors.
#![allow(clippy::too_many_lines, reason = "a test reads from top to bottom")]

mod asleep;
mod notifier;
#[cfg(feature = "std")]
mod runtime;
#[cfg(feature = "std")]
mod select;
#[cfg(all(feature = "std", not(annulus_loom)))]
mod shutdown;
#[path = "../support/mod.rs"]
mod support;
#[cfg(feature = "std")]
mod tasks;
mod waiting;
#[cfg(feature = "std")]
mod worker;
