//! Where all checks look.

use std::path::PathBuf;

use annulus::affinity::{Cpu, Topology};

use super::answers::Answers;
use super::cpu_info::CpuInfo;
use super::root::{Root, Unseen};

/// The machine and its system, from the point of view of the calling thread.
pub(super) struct Machine {
    pub(super) root: Root,
    pub(super) answers: Answers,
    pub(super) topology: Topology,
    pub(super) cpu_info: Result<CpuInfo, Unseen>,
}

impl Machine {
    /// This machine; with the files below `folder`, if that is given.
    pub(super) fn look(folder: Option<PathBuf>) -> Self {
        let topology = match &folder {
            Some(folder) => Topology::read_at(folder.join("sys/devices/system")),
            None => Topology::read(),
        };
        let root = Root::new(folder);
        let cpu_info = CpuInfo::read(&root);
        Self { root, answers: Answers::ask(), topology, cpu_info }
    }

    /// The CPUs on which the calling thread may run.
    pub(super) fn allowed(&self) -> impl Iterator<Item = &Cpu> {
        self.topology.cpus().iter().filter(|cpu| cpu.is_allowed)
    }

    /// What `/proc/cpuinfo` says.
    pub(super) fn cpu_info(&self) -> Result<&CpuInfo, Unseen> {
        match &self.cpu_info {
            Ok(info) => Ok(info),
            Err(Unseen::NotHere) => Err(Unseen::NotHere),
            Err(Unseen::Refused(why)) => Err(Unseen::Refused(why.clone())),
            Err(Unseen::Garbage(value)) => Err(Unseen::Garbage(value.clone())),
        }
    }

    /// Whether this thread has the capability of this number.
    pub(super) fn has_capability(&self, number: u32) -> bool {
        let status = self.root.text("/proc/thread-self/status").unwrap_or_default();
        let bits = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
        let bits = bits.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
        bits.is_some_and(|bits| bits >> number & 1 == 1)
    }
}
