//! What the operating system is asked for, except to wait (`wait/park.rs`).

#[cfg(all(feature = "affinity", any(target_os = "linux", target_os = "freebsd")))]
pub(crate) mod affinity;
#[cfg(all(feature = "affinity", windows))]
#[path = "affinity_windows.rs"]
pub(crate) mod affinity;
#[cfg(all(feature = "affinity", not(any(target_os = "linux", target_os = "freebsd", windows))))]
#[path = "affinity_none.rs"]
pub(crate) mod affinity;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
pub(crate) mod error;
#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom)))]
pub(crate) mod event_fd;
#[cfg(all(target_os = "linux", feature = "std", annulus_loom))]
#[path = "event_fd_loom.rs"]
pub(crate) mod event_fd;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
pub(crate) mod folder;
#[cfg(feature = "std")]
pub(crate) mod helper_thread;
#[cfg(all(target_os = "linux", target_pointer_width = "64", feature = "shm", not(annulus_loom)))]
pub(crate) mod kept_word;
#[cfg(all(feature = "shm", not(all(target_os = "linux", target_pointer_width = "64", not(annulus_loom)))))]
#[path = "no_kept_word.rs"]
pub(crate) mod kept_word;
#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom)))]
#[cfg_attr(miri, allow(dead_code, reason = "Miri has no futex of such kinds, and no membarrier"))]
pub(crate) mod linux;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
pub(crate) mod lock;
#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom)))]
pub(crate) mod mapping;
#[cfg(not(all(target_os = "linux", feature = "std", not(annulus_loom))))]
#[path = "no_mapping.rs"]
pub(crate) mod mapping;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
mod memory_left;
#[cfg(all(target_os = "linux", feature = "numa", not(annulus_loom), not(miri)))]
pub(crate) mod numa;
#[cfg(not(all(target_os = "linux", feature = "numa", not(annulus_loom), not(miri))))]
#[path = "no_numa.rs"]
pub(crate) mod numa;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
pub(crate) mod process_lifetime;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
pub(crate) mod shared_memory;
