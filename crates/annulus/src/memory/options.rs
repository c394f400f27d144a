//! [`Memory`]: the options of a ring's memory.

#[cfg(feature = "numa")]
use super::refused::MemoryError;

/// What the memory of a ring's slots is to be like; for the verb `memory` of each builder.
///
/// [`require`](Self::require) and [`prefer`](Self::prefer) begin such a value. All options that follow are
/// then required, or preferred. [`and`](Self::and) joins two values.
///
/// ```
/// use annulus::{Settings, broadcast};
/// use annulus::memory::{HugePages, Memory};
///
/// let memory = Memory::require().prefault().and(Memory::prefer().huge_pages(HugePages::Any));
/// let (publisher, _subscribable) = broadcast::lossy_with::<u64>(Settings::new(1024).memory(memory))?;
/// assert!(cfg!(not(target_os = "linux")) || publisher.placement().prefault().is_granted());
/// # Ok::<(), annulus::CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Memory {
    /// Of the options that are still to come.
    need: Need,
    pub(super) huge_pages: Option<(HugePages, Need)>,
    pub(super) prefault: Option<Need>,
    pub(super) lock: Option<Need>,
    pub(super) node: Option<(WantedNode, Need)>,
}

/// What becomes of a ring whose memory can't be as requested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(super) enum Need {
    /// There is no such ring.
    #[default]
    Required,
    /// It does without.
    Preferred,
}

/// On which node it is to lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(not(feature = "numa"), allow(dead_code, reason = "there is no verb for it"))]
pub(super) enum WantedNode {
    /// On this one.
    Number(usize),
    /// On the one from which the reader calls.
    OfReader,
}

/// Which huge pages; for [`Memory::huge_pages`].
///
/// A ring in huge pages takes a whole number of them. So a small ring wastes most of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum HugePages {
    /// Reserved pages of the system's default size, or transparent ones if too few are reserved. For a ring
    /// between processes: transparent ones.
    Any,
    /// Reserved pages of so many bytes: `2 << 20` or `1 << 30` on x86-64. An administrator reserves them, for
    /// example by `sysctl vm.nr_hugepages=64`. The kernel never writes them to a disk, so they are locked.
    /// Not for a ring between processes.
    Size(usize),
    /// Pages that the kernel joins to huge ones if it can (`madvise` with `MADV_HUGEPAGE`). Nobody has to
    /// reserve them. The kernel may refuse some of them if its memory is fragmented.
    Transparent,
}

impl Memory {
    /// No options yet. All that follow are required: without them no ring is made.
    #[must_use]
    pub fn require() -> Self {
        Self::default()
    }

    /// No options yet. All that follow are preferred: the ring does without those that are refused.
    #[must_use]
    pub fn prefer() -> Self {
        Self { need: Need::Preferred, ..Self::default() }
    }

    /// The options of both. An option of `other` takes the place of the same option here.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            need: self.need,
            huge_pages: other.huge_pages.or(self.huge_pages),
            prefault: other.prefault.or(self.prefault),
            lock: other.lock.or(self.lock),
            node: other.node.or(self.node),
        }
    }

    /// The slots lie in huge pages. A large ring then needs few entries in the processor's table of addresses
    /// (TLB).
    #[must_use]
    pub fn huge_pages(mut self, pages: HugePages) -> Self {
        self.huge_pages = Some((pages, self.need));
        self
    }

    /// Each page of the slots is in memory when the builder returns. No later message then waits for a page
    /// fault, unless the system writes the page to a disk meanwhile: [`lock`](Self::lock) prevents that.
    ///
    /// Without this option a builder also writes to each page, but does not ask the kernel whether they are
    /// there.
    #[must_use]
    pub fn prefault(mut self) -> Self {
        self.prefault = Some(self.need);
        self
    }

    /// The slots stay in memory until the ring is dropped (`mlock`). The drop unlocks them. The limit for all
    /// locked memory of a process is `RLIMIT_MEMLOCK` (`ulimit -l`).
    #[must_use]
    pub fn lock(mut self) -> Self {
        self.lock = Some(self.need);
        self
    }

    /// The slots lie on this NUMA node, whichever thread touches them first. Choose the node of the side that
    /// waits more for memory. Takes the place of [`near_reader`](Self::near_reader).
    ///
    /// If it is required, no page ever comes from another node, and the system kills a process if the node
    /// has no memory left. If it is preferred, other nodes help out.
    #[cfg(feature = "numa")]
    #[must_use]
    pub fn node(mut self, node: usize) -> Self {
        self.node = Some((WantedNode::Number(node), self.need));
        self
    }

    /// The slots go to the NUMA node of the reader as soon as the reader calls `bring_memory_here`, a verb of
    /// each receiving handle. The builder can't know where the reader will run, so it leaves the pages where
    /// they are. Takes the place of [`node`](Self::node). Not for a ring between processes.
    #[cfg(feature = "numa")]
    #[must_use]
    pub fn near_reader(mut self) -> Self {
        self.node = Some((WantedNode::OfReader, self.need));
        self
    }

    /// `error`, if the node was required.
    // Unreached: a producer joins, and its ring can't be on the node of the reader: needs a machine of
    // several nodes
    #[cfg(feature = "numa")]
    pub(crate) fn if_required(self, error: MemoryError) -> Result<(), MemoryError> {
        match self.node {
            Some((_, Need::Preferred)) => Ok(()),
            _ => Err(error),
        }
    }

    /// Whether any option is there.
    #[inline]
    pub(crate) fn asks(&self) -> bool {
        self.huge_pages.is_some() || self.prefault.is_some() || self.lock.is_some() || self.node.is_some()
    }
}
