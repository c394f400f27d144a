//! [`Cpu`]: what is known of one CPU; [`Hidden`]: what is not, and why.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

/// A CPU: what the operating system gives a number to and runs a thread on. That is a core, or one of the
/// hardware threads of a core.
///
/// `None` stands for what the system does not say:
/// [`Topology::hidden`](super::Topology::hidden) has the reason. Lists of CPUs are in ascending order, and
/// have the CPU itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Cpu {
    /// The operating system's number.
    pub number: usize,
    /// Whether the thread that read this may run on it: it is one of the [`allowed`](super::allowed) CPUs.
    pub is_allowed: bool,
    /// Whether that thread could be pinned to it: it is one of the [`available`](super::available) CPUs.
    pub is_available: bool,
    /// Whether it is switched on. Of a CPU that is not, the system says no more.
    pub is_online: Option<bool>,
    /// Whether the scheduler leaves it alone (`isolcpus`): only threads that are pinned to it run there.
    pub is_isolated: Option<bool>,
    /// The hardware threads of its core. (SMT siblings: they share execution units and all caches.)
    pub same_core: Option<Vec<usize>>,
    /// The CPUs with which it shares its level 2 cache. `None` also where a CPU has no such cache.
    pub same_l2: Option<Vec<usize>>,
    /// The CPUs with which it shares its last-level cache: the L3 of most machines.
    pub same_cache: Option<Vec<usize>>,
    /// The number of its package: the socket.
    pub package: Option<usize>,
    /// The number of its NUMA node: the memory that is near.
    pub node: Option<usize>,
    /// How fast it is: 1024 for the fastest CPUs of the machine, less for others. Few systems say so, and
    /// [`Topology::hidden`](super::Topology::hidden) does not mention it.
    pub capacity: Option<usize>,
}

/// Something that the system does not say: see [`Topology::hidden`](super::Topology::hidden).
///
/// Its text says what it is, of which CPUs, and why, with the file that could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Hidden {
    /// What.
    pub detail: Detail,
    /// Of which CPUs. Empty if it is about all of them.
    pub cpus: Vec<usize>,
    /// Why, of the first of these.
    pub reason: String,
}

/// What a system may hide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Detail {
    /// Which CPUs there are. [`Topology::cpus`](super::Topology::cpus) then has those that are known
    /// otherwise.
    Present,
    /// On which CPUs the thread may run.
    Allowed,
    /// Which CPUs are online.
    Online,
    /// Which CPUs are isolated.
    Isolated,
    /// Which CPUs are of one core.
    Core,
    /// Which CPUs share caches.
    Cache,
    /// In which package a CPU is.
    Package,
    /// In which NUMA node a CPU is.
    Node,
}

impl Cpu {
    /// A CPU of which nothing is known but its number.
    pub(super) fn unknown(number: usize) -> Self {
        Self {
            number,
            is_allowed: false,
            is_available: false,
            is_online: None,
            is_isolated: None,
            same_core: None,
            same_l2: None,
            same_cache: None,
            package: None,
            node: None,
            capacity: None,
        }
    }
}

impl fmt::Display for Hidden {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.detail)?;
        if !self.cpus.is_empty() {
            write!(f, " (of {:?})", self.cpus)?;
        }
        write!(f, " is hidden: {}", self.reason)
    }
}

impl fmt::Display for Detail {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Present => "which CPUs there are",
            Self::Allowed => "on which CPUs this thread may run",
            Self::Online => "which CPUs are online",
            Self::Isolated => "which CPUs are isolated",
            Self::Core => "which CPUs share a core",
            Self::Cache => "which CPUs share a cache",
            Self::Package => "the package of a CPU",
            Self::Node => "the NUMA node of a CPU",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    #[test]
    fn hidden_details_are_named() {
        for (detail, text) in [
            (Detail::Present, "which CPUs there are"),
            (Detail::Allowed, "on which CPUs this thread may run"),
            (Detail::Online, "which CPUs are online"),
            (Detail::Isolated, "which CPUs are isolated"),
            (Detail::Core, "which CPUs share a core"),
            (Detail::Cache, "which CPUs share a cache"),
            (Detail::Package, "the package of a CPU"),
            (Detail::Node, "the NUMA node of a CPU"),
        ] {
            assert_eq!(detail.to_string(), text);
        }
    }
}
