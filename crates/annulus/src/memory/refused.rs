//! [`MemoryError`]: which option of a ring's memory was refused, why, and what to do.

use core::error::Error;
use core::fmt;

/// An option of [`Memory`](super::Memory).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryOption {
    /// [`Memory::huge_pages`](super::Memory::huge_pages).
    HugePages,
    /// [`Memory::prefault`](super::Memory::prefault).
    Prefault,
    /// [`Memory::lock`](super::Memory::lock).
    Lock,
    /// `Memory::node` or `Memory::near_reader`.
    Node,
}

impl fmt::Display for MemoryOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HugePages => "huge pages",
            Self::Prefault => "prefault",
            Self::Lock => "lock",
            Self::Node => "NUMA node",
        })
    }
}

/// Why an option was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Reason {
    /// A call to the system failed.
    System {
        /// The system's error number.
        os_error: i32,
    },
    /// This system has no such option, or this build has not.
    Unsupported,
    /// The kernel did not say whether the option took effect: it shows no `/proc/self/smaps`.
    Unseen,
    /// Too few huge pages of this size are free.
    TooFewHugePages {
        /// The size of a page.
        page_bytes: usize,
        /// How many pages the ring needs.
        needed: usize,
        /// How many reserved pages were free.
        free: u64,
    },
    /// The system has no pages of this size.
    HugePageSize {
        /// The size that was requested.
        page_bytes: usize,
    },
    /// Transparent huge pages are switched off.
    TransparentOff,
    /// Only a part of the memory is as requested.
    Partly {
        /// So many bytes are.
        bytes: usize,
        /// Of so many.
        of: usize,
    },
    /// The process may not lock so much memory.
    LockLimit {
        /// How many bytes the ring needs.
        bytes: usize,
        /// How many bytes the process may lock in all (`RLIMIT_MEMLOCK`).
        limit: u64,
    },
    /// The system has no such node, or it has no memory, or this process may not use it.
    NoSuchNode {
        /// The node that was requested.
        node: usize,
        /// The system's error number.
        os_error: i32,
    },
    /// A page lies on another node.
    OtherNode {
        /// The node that was requested.
        node: usize,
        /// Where the page lies.
        found: usize,
    },
    /// No reader has said where it runs, by `bring_memory_here`.
    NoReader,
    /// The ring was made without this option.
    NotRequested,
    /// A ring between processes does not lie in reserved huge pages: another process could take them away.
    ReservedBetweenProcesses,
    /// Transparent huge pages are switched off for memory that processes share.
    SharedTransparentOff,
    /// The memory of a ring between processes does not move to a reader.
    ReaderBetweenProcesses,
}

/// The memory of a ring can't be as requested: which option was refused, and why.
///
/// Its text says what to do. [`Placement::refusals`](super::Placement::refusals) has such values for the
/// options that were only preferred.
///
/// ```
/// use annulus::memory::{HugePages, Memory, MemoryOption};
/// use annulus::{CapacityError, Settings, spsc};
///
/// // No system has pages of 3 bytes.
/// let memory = Memory::require().huge_pages(HugePages::Size(3));
/// let error = spsc::with::<u64>(Settings::new(64).memory(memory)).unwrap_err();
/// assert!(matches!(error, CapacityError::Memory(error) if error.option() == MemoryOption::HugePages));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryError {
    pub(super) option: MemoryOption,
    pub(super) reason: Reason,
}

impl MemoryError {
    /// Which option was refused.
    #[must_use]
    pub fn option(&self) -> MemoryOption {
        self.option
    }

    /// Why.
    #[must_use]
    pub fn reason(&self) -> Reason {
        self.reason
    }
}

impl fmt::Display for MemoryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the ring's memory: {} refused: {}", self.option, self.reason)
    }
}

impl Error for MemoryError {}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::System { os_error } => write!(f, "the system says: {}", Code(os_error)),
            Self::Unsupported => f.write_str("this system has no such option: it is for Linux only"),
            Self::Unseen => f.write_str(
                "the kernel does not say whether it took effect: mount /proc, or prefer the option and ignore this",
            ),
            Self::TooFewHugePages { page_bytes, needed, free } => write!(
                f,
                "{needed} pages of {} KiB are needed, and {free} are free: reserve more by writing to \
                 /sys/kernel/mm/hugepages/hugepages-{}kB/nr_hugepages, or ask for transparent ones",
                page_bytes / 1024,
                page_bytes / 1024
            ),
            Self::HugePageSize { page_bytes } => write!(
                f,
                "there are no pages of {page_bytes} bytes: /sys/kernel/mm/hugepages has a folder for each size"
            ),
            Self::TransparentOff => f.write_str(
                "there are no transparent huge pages: write \"madvise\" to \
                 /sys/kernel/mm/transparent_hugepage/enabled",
            ),
            Self::Partly { bytes, of } => {
                write!(f, "only {bytes} bytes of {of} are as requested: more free memory may help")
            }
            Self::LockLimit { bytes, limit } => write!(
                f,
                "{bytes} bytes are to be locked, and this process may lock {limit} in all: raise \
                 RLIMIT_MEMLOCK (`ulimit -l`, or `LimitMEMLOCK` in a unit of systemd)"
            ),
            Self::NoSuchNode { node, os_error } => write!(
                f,
                "no memory on node {node}: the system says: {}; the nodes it has are in \
                 /sys/devices/system/node, and those this process may use in /proc/self/status \
                 (Mems_allowed_list)",
                Code(os_error)
            ),
            Self::OtherNode { node, found } => {
                write!(f, "a page lies on node {found} and not on node {node}, which may have no free memory")
            }
            Self::NoReader => f.write_str("no reader has called `bring_memory_here` yet"),
            Self::NotRequested => f.write_str("ask for `Memory::near_reader` when the ring is made"),
            Self::ReservedBetweenProcesses => f.write_str(
                "a ring between processes does not lie in reserved pages: ask for `HugePages::Transparent`",
            ),
            Self::SharedTransparentOff => f.write_str(
                "there are no transparent huge pages in memory that processes share: write \"advise\" to \
                 /sys/kernel/mm/transparent_hugepage/shmem_enabled",
            ),
            Self::ReaderBetweenProcesses => f.write_str(
                "the memory of a ring between processes stays where it is: name a node by `Memory::node`",
            ),
        }
    }
}

/// Why there is no block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoBlock {
    /// Memory can't hold it.
    TooLarge,
    /// An option that is required was refused.
    Refused(MemoryError),
}

/// The system's error number, with its text where there is one.
struct Code(i32);

impl fmt::Display for Code {
    #[cfg(feature = "std")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        std::io::Error::from_raw_os_error(self.0).fmt(f)
    }

    #[cfg(not(feature = "std"))]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error {}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn reasons_give_advice() {
        for (reason, words) in [
            (Reason::System { os_error: 12 }, "the system says: "),
            (Reason::Unsupported, "for Linux only"),
            (Reason::Unseen, "mount /proc"),
            (
                Reason::TooFewHugePages { page_bytes: 2 << 20, needed: 3, free: 1 },
                "hugepages-2048kB/nr_hugepages",
            ),
            (Reason::HugePageSize { page_bytes: 3 }, "pages of 3 bytes"),
            (Reason::TransparentOff, "write \"madvise\""),
            (Reason::Partly { bytes: 1, of: 2 }, "only 1 bytes of 2"),
            (Reason::LockLimit { bytes: 2, limit: 1 }, "ulimit -l"),
            (Reason::NoSuchNode { node: 7, os_error: 22 }, "no memory on node 7"),
            (Reason::OtherNode { node: 7, found: 3 }, "on node 3 and not on node 7"),
            (Reason::NoReader, "bring_memory_here"),
            (Reason::NotRequested, "Memory::near_reader"),
            (Reason::ReservedBetweenProcesses, "HugePages::Transparent"),
            (Reason::SharedTransparentOff, "write \"advise\""),
            (Reason::ReaderBetweenProcesses, "name a node"),
        ] {
            for (option, name) in [
                (MemoryOption::HugePages, "huge pages"),
                (MemoryOption::Prefault, "prefault"),
                (MemoryOption::Lock, "lock"),
                (MemoryOption::Node, "NUMA node"),
            ] {
                let text = MemoryError { option, reason }.to_string();
                assert!(text.contains(words) && text.contains(&(name.to_string() + " refused: ")), "{text}");
            }
        }
    }
}
