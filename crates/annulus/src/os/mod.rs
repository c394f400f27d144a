//! What the operating system is asked for beside waiting.

#[cfg(feature = "std")]
pub(crate) mod affinity;
#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom)))]
pub(crate) mod event_fd;
#[cfg(all(target_os = "linux", feature = "std", annulus_loom))]
#[path = "event_fd_loom.rs"]
pub(crate) mod event_fd;
pub(crate) mod numa;
#[cfg(feature = "std")]
pub(crate) mod pinned;
