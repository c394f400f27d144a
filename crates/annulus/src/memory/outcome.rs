//! [`Outcome`]: what was asked of the memory of a block, what the system said when that was carried out, and
//! whether the kernel says that it took effect.
//!
//! The order matters. Pages come from where the policy says at that time, and become huge only if that was
//! advised before they are there. So a mapping is bound first, then advised, then filled with pages, then
//! locked. Afterwards [`Outcome::check`] asks the kernel, whatever the calls returned.

use super::options::{HugePages, Memory, Need, WantedNode};
use super::placement::{Grant, OPTIONS, Placement};
use super::refused::{MemoryError, MemoryOption, Reason};
use crate::os::mapping::{self, Pages, Seen};
use crate::os::numa;
use crate::sync::{AtomicUsize, Ordering, seeded};

/// The options that were asked for, and the system's answers.
pub(super) struct Outcome {
    pub(super) asked: Memory,
    /// What the system said when an option was carried out, where it refused.
    pub(super) notes: Notes,
    /// The node of the reader, or [`NOBODY`].
    reader: AtomicUsize,
}

/// No reader has said where it runs.
const NOBODY: usize = usize::MAX;

#[derive(Clone, Copy, Default)]
pub(super) struct Notes {
    pub(super) huge_pages: Option<Reason>,
    pub(super) prefault: Option<Reason>,
    pub(super) lock: Option<Reason>,
    pub(super) node: Option<Reason>,
}

impl Outcome {
    pub(super) fn new(asked: Memory) -> Self {
        Self { asked, notes: Notes::default(), reader: AtomicUsize::new(NOBODY) }
    }

    /// Binds pages to the node that was asked for, if any, before they are there.
    pub(super) fn bind(&mut self, pages: &Pages) {
        if let Some((WantedNode::Number(node), need)) = self.asked.node {
            self.notes.node = bind(pages, node, need).err();
        }
    }

    /// Whether pages of the usual size may be joined to huge ones.
    pub(super) fn may_join(&self) -> bool {
        matches!(self.asked.huge_pages, Some((HugePages::Any | HugePages::Transparent, _)))
    }

    /// Puts pages of the usual size into memory. Those that [may](Self::may_join) are joined, if the system
    /// joins any to pages of `joined_bytes` bytes; `off` says why not.
    pub(super) fn fill(&mut self, pages: &Pages, joined_bytes: Option<usize>, off: Reason) {
        if self.may_join() {
            let advised = match joined_bytes {
                // Unreached: transparent huge pages are switched off
                None => Err(off),
                Some(_) if seeded!("memory_not_huge") => Ok(()),
                Some(_) => pages.advise_huge().map_err(|os_error| Reason::System { os_error }),
            };
            // (Where too few pages are reserved and there are no transparent ones, the first is what one can
            // do something about.)
            self.notes.huge_pages = self.notes.huge_pages.filter(|_| advised.is_err()).or(advised.err());
        }
        if !seeded!("memory_not_there") {
            self.notes.prefault = pages.populate().err().map(|os_error| Reason::System { os_error });
        }
    }

    /// Locks the pages, if that was asked for.
    pub(super) fn lock(&mut self, pages: &Pages) {
        if self.asked.lock.is_some() {
            let refused = pages.lock().err();
            self.notes.lock = refused.map(|os_error| match (mapping::lock_limit(), pages.bytes()) {
                // (Other mappings may be locked, too, so the limit need not be below this.)
                (Some(limit), bytes) => Reason::LockLimit { bytes, limit },
                // Unreached: a lock is refused where nothing limits it
                (None, _) => Reason::System { os_error },
            });
        }
    }

    /// Fails if an option that is required did not take effect. `pages`: `None` if there are none, because
    /// this system maps nothing.
    pub(super) fn is_as_required(&self, pages: Option<&Pages>) -> Result<(), MemoryError> {
        // (No reader can have called yet.)
        let waits_for_reader = matches!(self.asked.node, Some((WantedNode::OfReader, _)));
        for option in OPTIONS {
            let is_later = option == MemoryOption::Node && waits_for_reader;
            if self.need_of(option) == Some(Need::Required) && !seeded!("memory_refusal_unheard") {
                match self.check(pages, option) {
                    Err(Reason::NoReader) if is_later => {}
                    told => told.map_err(|reason| MemoryError { option, reason })?,
                }
            }
        }
        Ok(())
    }

    fn need_of(&self, option: MemoryOption) -> Option<Need> {
        match option {
            MemoryOption::HugePages => self.asked.huge_pages.map(|(_, need)| need),
            MemoryOption::Prefault => self.asked.prefault,
            MemoryOption::Lock => self.asked.lock,
            MemoryOption::Node => self.asked.node.map(|(_, need)| need),
        }
    }

    /// Asks the kernel whether an option that was requested is in effect.
    pub(super) fn check(&self, pages: Option<&Pages>, option: MemoryOption) -> Result<(), Reason> {
        let pages = pages.ok_or(Reason::Unsupported)?;
        let of = pages.bytes();
        let seen = || pages.seen().ok_or(Reason::Unseen);
        let all = |bytes, note: Option<Reason>| {
            if bytes == of { Ok(()) } else { Err(note.unwrap_or(Reason::Partly { bytes, of })) }
        };
        match option {
            MemoryOption::HugePages => {
                let Seen { page_bytes, transparent, reserved, .. } = seen()?;
                let is_right = match self.asked.huge_pages {
                    Some((HugePages::Size(wanted), _)) => page_bytes == wanted,
                    _ => true,
                };
                all(if is_right { transparent + reserved } else { 0 }, self.notes.huge_pages)
            }
            MemoryOption::Prefault => all(seen()?.resident, self.notes.prefault),
            MemoryOption::Lock => {
                let Seen { locked, reserved, .. } = seen()?;
                // The kernel does not mark reserved huge pages as locked, because it never moves them to a
                // disk.
                all(locked.max(reserved), self.notes.lock)
            }
            MemoryOption::Node => {
                let node = match self.asked.node {
                    Some((WantedNode::Number(node), _)) => node,
                    // Relaxed: it is a number and nothing else.
                    _ => match self.reader.load(Ordering::Relaxed) {
                        NOBODY => return Err(self.notes.node.unwrap_or(Reason::NoReader)),
                        node => node,
                    },
                };
                match numa::elsewhere(pages, node) {
                    Ok(None) => Ok(()),
                    // Unreached: needs a machine of several nodes
                    Ok(Some(found)) => Err(self.notes.node.unwrap_or(Reason::OtherNode { node, found })),
                    // Unreached: a kernel without NUMA
                    Err(os_error) => Err(self.notes.node.unwrap_or(Reason::System { os_error })),
                }
            }
        }
    }

    /// What is in effect now. `is_empty`: there is no byte.
    pub(super) fn placement(&self, pages: Option<&Pages>, is_empty: bool) -> Placement {
        let seen = pages.and_then(Pages::seen).unwrap_or_default();
        let check = |option| if is_empty { Ok(()) } else { self.check(pages, option) };
        let grants = OPTIONS.map(|option| match self.need_of(option).map(|_| check(option)) {
            None => Grant::NotRequested,
            Some(Ok(())) => Grant::Granted,
            Some(Err(reason)) => Grant::Refused(MemoryError { option, reason }),
        });
        Placement {
            mapped_bytes: pages.map_or(0, Pages::bytes),
            huge_bytes: seen.transparent + seen.reserved,
            grants,
            is_shared: false,
        }
    }

    /// Moves the pages to `node`, on which the reader runs, if that was asked for.
    #[cfg(feature = "numa")]
    pub(super) fn bring_to(
        &self,
        pages: Option<&Pages>,
        is_empty: bool,
        node: usize,
    ) -> Result<(), MemoryError> {
        let failed = |reason| MemoryError { option: MemoryOption::Node, reason };
        let Some((WantedNode::OfReader, need)) = self.asked.node else {
            return Err(failed(Reason::NotRequested));
        };
        // Relaxed: it is a number and nothing else.
        self.reader.store(node, Ordering::Relaxed);
        if is_empty {
            // Unreached: memory of no bytes
            return Ok(());
        }
        let bound = match pages {
            Some(_) if seeded!("reader_unheard") => Ok(()),
            Some(pages) => bind(pages, node, need),
            // Unreached: for systems that map nothing
            None => Ok(()),
        };
        // The kernel has the last word.
        let told = self.check(pages, MemoryOption::Node).map_err(|found| bound.err().unwrap_or(found));
        told.map_err(failed)
    }
}

fn bind(pages: &Pages, node: usize, need: Need) -> Result<(), Reason> {
    numa::bind(pages, node, need == Need::Preferred).map_err(|os_error| Reason::NoSuchNode { node, os_error })
}
