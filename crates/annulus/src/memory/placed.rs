//! [`Placed`]: a block with options, in a mapping of its own.

use core::alloc::Layout;
use core::ptr::NonNull;

use super::options::{HugePages, Memory, Need};
use super::outcome::Outcome;
use super::placement::Placement;
use super::refused::{MemoryError, MemoryOption, NoBlock, Reason};
use crate::os::mapping::{self, Mapping, Pages};
#[cfg(feature = "numa")]
use crate::os::numa;
use crate::sync::seeded;

/// A block whose memory has options.
pub(super) struct Placed {
    outcome: Outcome,
    /// `None` if there are no bytes, or this system maps nothing: the bytes are the allocator's then.
    mapping: Option<Mapping>,
    is_empty: bool,
}

impl Placed {
    /// Bytes of this layout. Fails if an option that is required did not take effect.
    pub(super) fn new(layout: Layout, asked: Memory) -> Result<Self, NoBlock> {
        let mut outcome = Outcome::new(asked);
        let is_empty = layout.size() == 0;
        let mapping =
            if is_empty || !mapping::IS_SUPPORTED { None } else { Some(map(layout, &mut outcome)?) };
        let placed = Self { outcome, mapping, is_empty };
        if !is_empty {
            placed.outcome.is_as_required(placed.pages()).map_err(NoBlock::Refused)?;
        }
        Ok(placed)
    }

    fn pages(&self) -> Option<&Pages> {
        self.mapping.as_ref().map(Mapping::pages)
    }

    /// The first byte, if it is mapped.
    pub(super) fn start(&self) -> Option<NonNull<u8>> {
        self.pages().map(Pages::start)
    }

    /// What is in effect now.
    pub(super) fn placement(&self) -> Placement {
        self.outcome.placement(self.pages(), self.is_empty)
    }

    /// Moves it to `node`, on which the reader runs.
    #[cfg(feature = "numa")]
    pub(super) fn bring_to(&self, node: usize) -> Result<(), MemoryError> {
        self.outcome.bring_to(self.pages(), self.is_empty, node)
    }

    /// Nobody asked for [`near_reader`](Memory::near_reader).
    #[cfg(feature = "numa")]
    pub(super) fn not_requested() -> MemoryError {
        MemoryError { option: MemoryOption::Node, reason: Reason::NotRequested }
    }

    /// It is memory of several processes.
    #[cfg(all(feature = "numa", feature = "shm"))]
    pub(super) fn stays() -> MemoryError {
        MemoryError { option: MemoryOption::Node, reason: Reason::ReaderBetweenProcesses }
    }
}

/// The node of the core on which the calling thread runs.
#[cfg(feature = "numa")]
pub(crate) fn node_here() -> Result<usize, MemoryError> {
    let unknown = |os_error| MemoryError { option: MemoryOption::Node, reason: unheard(os_error) };
    numa::here().map_err(unknown)
}

/// What a call to the system said, or that there is no such call.
// Unreached: the system does not say on which node a thread runs
#[cfg(feature = "numa")]
fn unheard(os_error: i32) -> Reason {
    if mapping::IS_SUPPORTED { Reason::System { os_error } } else { Reason::Unsupported }
}

/// Maps the bytes, and carries out each option. What is refused is noted.
fn map(layout: Layout, outcome: &mut Outcome) -> Result<Mapping, NoBlock> {
    let huge_pages = outcome.asked.huge_pages;
    let reserved = match huge_pages {
        Some((HugePages::Any, _)) => mapping::reserved_page_bytes(),
        Some((HugePages::Size(bytes), _)) => Some(bytes),
        Some((HugePages::Transparent, _)) | None => None,
    };
    let mut mapping = None;
    if let Some(page_bytes) = reserved {
        match map_reserved(layout, page_bytes, outcome) {
            // Unreached: needs reserved huge pages (sysctl vm.nr_hugepages=8): test memory reserved_ones
            Ok(filled) => mapping = Some(filled),
            Err(reason) => {
                outcome.notes.huge_pages = Some(reason);
                // Before its pages are there for nothing.
                if let Some((HugePages::Size(_), Need::Required)) = huge_pages {
                    if !seeded!("memory_refusal_unheard") {
                        let option = MemoryOption::HugePages;
                        return Err(NoBlock::Refused(MemoryError { option, reason }));
                    }
                }
            }
        }
    }
    let mapping = match mapping {
        // Unreached: needs reserved huge pages (sysctl vm.nr_hugepages=8): test memory reserved_ones
        Some(mapping) => mapping,
        None => map_plain(layout, outcome)?,
    };
    outcome.lock(mapping.pages());
    Ok(mapping)
}

/// In reserved huge pages, all of which are there.
fn map_reserved(layout: Layout, page_bytes: usize, outcome: &mut Outcome) -> Result<Mapping, Reason> {
    if !page_bytes.is_power_of_two() || page_bytes < mapping::page_bytes() {
        return Err(Reason::HugePageSize { page_bytes });
    }
    let refused = |os_error| {
        let needed = layout.size().div_ceil(page_bytes);
        match mapping::free_reserved_pages(page_bytes) {
            None => Reason::HugePageSize { page_bytes },
            Some(free) if free < needed as u64 => Reason::TooFewHugePages { page_bytes, needed, free },
            // Unreached: enough reserved pages are free, and the kernel refuses them
            Some(_) => Reason::System { os_error },
        }
    };
    let mapping = Mapping::new(layout.size(), layout.align(), Some(page_bytes))
        .map_err(|os_error| refused(os_error.unwrap_or(0)))?;
    outcome.bind(mapping.pages());
    // A limit of a control group shows only here.
    // Unreached: enough reserved pages are free, and the kernel refuses them
    mapping.pages().populate().map_err(|os_error| Reason::System { os_error })?;
    // Unreached: needs reserved huge pages (sysctl vm.nr_hugepages=8): test memory reserved_ones
    Ok(mapping)
}

/// In pages of the usual size, which may be joined to huge ones.
fn map_plain(layout: Layout, outcome: &mut Outcome) -> Result<Mapping, NoBlock> {
    let joined_bytes = if outcome.may_join() { mapping::transparent_page_bytes() } else { None };
    let unit = joined_bytes.unwrap_or(1);
    let bytes = layout.size().checked_next_multiple_of(unit).ok_or(NoBlock::TooLarge)?;
    let mapping = Mapping::new(bytes, layout.align().max(unit), None).map_err(|_| NoBlock::TooLarge)?;
    outcome.bind(mapping.pages());
    outcome.fill(mapping.pages(), joined_bytes, Reason::TransparentOff);
    Ok(mapping)
}
