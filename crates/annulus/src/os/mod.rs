//! What the operating system is asked for, except to wait (`wait/park.rs`).

#[cfg(feature = "affinity")]
pub(crate) mod affinity;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
pub(crate) mod error;
#[cfg(all(target_os = "linux", feature = "std"))]
pub(crate) mod event_fd;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
pub(crate) mod folder;
#[cfg(feature = "std")]
pub(crate) mod helper_thread;
#[cfg(all(target_os = "linux", target_pointer_width = "64", feature = "shm", not(annulus_loom)))]
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
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
pub(crate) mod process_lifetime;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
pub(crate) mod random;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
pub(crate) mod shared_memory;

/// Where there are no rings between processes, no numbers are kept.
#[cfg(all(feature = "shm", not(all(target_os = "linux", target_pointer_width = "64", not(annulus_loom)))))]
pub(crate) mod kept_word {
    /// There is none.
    #[derive(Debug)]
    pub(crate) enum KeptWord {}

    impl KeptWord {
        pub(crate) fn keep(&self, _: u64) {
            match *self {}
        }
    }
}

/// NUMA nodes, where nobody can be asked for them.
#[cfg(not(all(target_os = "linux", feature = "numa", not(annulus_loom), not(miri))))]
pub(crate) mod numa {
    use super::mapping::Pages;

    pub(crate) fn bind(_: &Pages, _: usize, _: bool) -> Result<(), i32> {
        Err(0)
    }

    pub(crate) fn elsewhere(_: &Pages, _: usize) -> Result<Option<usize>, i32> {
        Err(0)
    }

    #[cfg_attr(not(feature = "numa"), allow(dead_code, reason = "there is no verb for it"))]
    pub(crate) fn here() -> Result<usize, i32> {
        Err(0)
    }
}
