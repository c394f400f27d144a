//! [`PlacedMemory`]: memory that processes share, with what became of the options that were asked of it.
//!
//! Its creator decides where its pages lie and how large they are; each process locks its own mapping.

use core::ops::Deref;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use super::options::{HugePages, Memory, WantedNode};
use super::outcome::Outcome;
use super::placement::Placement;
use super::refused::{MemoryError, Reason};
use crate::os::mapping;
use crate::os::shared_memory::{Access, SharedMemory};

// Decision 0113: the options of memory that processes share.
/// Memory that processes share, and the options that this process asked for.
pub(crate) struct PlacedMemory {
    memory: SharedMemory,
    /// `None` if there were no options.
    outcome: Option<Outcome>,
}

/// Why there is no such memory.
pub(crate) enum NoMemory {
    /// An option that is required was refused.
    Refused(MemoryError),
    System(io::Error),
}

impl PlacedMemory {
    /// As [`SharedMemory::create`], with these options.
    pub(crate) fn create(name: &str, len: usize, access: Access, asked: Memory) -> Result<Self, NoMemory> {
        if !asked.asks() {
            let memory = SharedMemory::create(name, len, access).map_err(NoMemory::System)?;
            return Ok(Self { memory, outcome: None });
        }
        let mut outcome = Outcome::new(asked);
        if let Some((HugePages::Size(_), _)) = asked.huge_pages {
            outcome.notes.huge_pages = Some(Reason::ReservedBetweenProcesses);
        }
        let joined_bytes = if outcome.may_join() { mapping::transparent_file_page_bytes() } else { None };
        let unit = joined_bytes.unwrap_or(1);
        let len = len.checked_next_multiple_of(unit).unwrap_or(len);
        let fill = |pages: &mapping::Pages| {
            outcome.bind(pages);
            outcome.fill(pages, joined_bytes, Reason::SharedTransparentOff);
        };
        let memory = SharedMemory::create_by(name, len, access, Some(fill)).map_err(NoMemory::System)?;
        Self::locked(memory, outcome).map_err(NoMemory::Refused)
    }

    /// Memory of another process, with what this one asks: to lock it. The other options it has or has not,
    /// as its creator made it.
    pub(crate) fn joined(memory: SharedMemory, asked: Memory) -> Result<Self, MemoryError> {
        if !asked.asks() {
            return Ok(Self { memory, outcome: None });
        }
        Self::locked(memory, Outcome::new(asked))
    }

    fn locked(memory: SharedMemory, mut outcome: Outcome) -> Result<Self, MemoryError> {
        if let Some((WantedNode::OfReader, _)) = outcome.asked.node {
            outcome.notes.node = Some(Reason::ReaderBetweenProcesses);
        }
        outcome.lock(memory.pages());
        outcome.is_as_required(Some(memory.pages()))?;
        Ok(Self { memory, outcome: Some(outcome) })
    }

    /// What `bytes` of its bytes are like.
    pub(super) fn placement(&self, bytes: usize) -> Placement {
        let Some(outcome) = &self.outcome else { return Placement::shared(bytes) };
        let all = outcome.placement(Some(self.memory.pages()), false);
        // The kernel says how much of all of it is in huge pages, and not which part.
        let huge = bytes as u128 * all.huge_bytes as u128 / all.mapped_bytes as u128;
        Placement { mapped_bytes: bytes, huge_bytes: huge as usize, is_shared: true, ..all }
    }
}

impl Deref for PlacedMemory {
    type Target = SharedMemory;

    fn deref(&self) -> &SharedMemory {
        &self.memory
    }
}

impl AsFd for PlacedMemory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.memory.as_fd()
    }
}
