//! What the operating system is asked for beside waiting.

#[cfg(feature = "std")]
pub(crate) mod affinity;
pub(crate) mod numa;
