//! [`NamedRing`]: a ring that was found by its name, and whether its process is still there.

use core::fmt;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::string::{String, ToString};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use super::holder::Holder;
use super::liveness::PeerState;
use super::name_error::NameError;
use super::name_socket::Request;
use super::names::Names;
use super::process::ProcessId;
use super::record::Record;
use crate::message::schema::Fingerprint;
use crate::os::folder;
use crate::os::process::pid_namespace;

/// A ring that was found by its name ([`Directory::find`](super::Directory::find)).
///
/// It watches the process that has the ring: [`state`](Self::state) says whether that is there, also long
/// after the name was given to another ring.
///
/// See [`Directory`](super::Directory) for an example.
pub struct NamedRing {
    names: Arc<Names>,
    name: String,
    holder: Holder,
    record: Record,
    /// Where the process is asked for its descriptors. Locked while the answer is waited for.
    request: Mutex<Request>,
}

/// What a name leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// The memory that was given the name.
    Ring,
    /// Where the ring's processes sleep.
    Page,
}

impl NamedRing {
    pub(super) fn new(names: &Arc<Names>, name: &str, holder: Holder) -> Result<Self, NameError> {
        match holder.record {
            Some(record) => {
                let (names, name) = (Arc::clone(names), name.to_string());
                Ok(Self { names, name, holder, record, request: Mutex::default() })
            }
            // Some process holds the lock of what is no record.
            None => Err(NameError::InTheWay { name: name.to_string() }),
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The process that published it.
    #[must_use]
    pub fn process(&self) -> ProcessId {
        self.record.process
    }

    /// What was said to be the type of its messages.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        self.record.fingerprint
    }

    /// Whether the process that published it is there; `Closed` if it has taken the name back. A few system
    /// calls.
    #[must_use]
    pub fn state(&self) -> PeerState {
        self.holder.state()
    }

    /// A descriptor by which this process can't write to the ring.
    ///
    /// # Errors
    ///
    /// - `Dead` or `NotFound` if the process has ended, or has taken the name back. `NotFound` also if it has
    ///   closed the ring, and not yet its name.
    /// - `OtherNamespace` or `NotPermitted` if the kernel does not let this process see that one's
    ///   descriptors, and the directory is not one that others may use.
    /// - `NoAnswer` if that process is asked for its descriptors, and has not sent them two seconds later.
    /// - `System` for what else it says.
    pub fn open_read_only(&self) -> Result<OwnedFd, NameError> {
        self.open(Part::Ring, false, None)
    }

    /// A descriptor by which this process can also write to the ring.
    ///
    /// # Errors
    ///
    /// As in [`open_read_only`](Self::open_read_only).
    pub fn open_writable(&self) -> Result<OwnedFd, NameError> {
        self.open(Part::Ring, true, None)
    }

    /// Whether both were found at one file: a name that was given again has another one.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.holder.is_same(&other.holder)
    }

    /// Whether it leads to this.
    pub(super) fn has(&self, part: Part) -> bool {
        part == Part::Ring || self.record.page.is_some()
    }

    /// A descriptor of this part. Where the process is asked for it, `TimedOut` at `until` (`None` is as long
    /// as an answer may take): then it can be tried again, and goes on to wait for the same answer.
    pub(super) fn open(
        &self,
        part: Part,
        is_writable: bool,
        until: Option<Instant>,
    ) -> Result<OwnedFd, NameError> {
        let name = self.name.clone();
        let process = self.record.process;
        let opened = self.opened(part, is_writable, until);
        // Only now: if the process is still there, and has the name, then this was its descriptor, and not
        // one of a later process, or of another file, with that number.
        match (self.state(), opened) {
            // It has the name, and no such descriptor: there is no ring any more.
            (PeerState::Closed, _) | (PeerState::Alive, Ok(None)) => Err(NameError::NotFound { name }),
            (PeerState::Dead, _) => Err(NameError::Dead { name, process: Some(process) }),
            (PeerState::Alive, Ok(Some(opened))) => Ok(opened),
            (PeerState::Alive, Err(error)) => Err(match error.kind() {
                // Unreached: in processes of other users, which only root makes, and which report nothing
                ErrorKind::PermissionDenied => NameError::NotPermitted { name, process },
                // Unreached: in processes of other users, which only root makes, and which report nothing
                ErrorKind::Unsupported => NameError::OtherNamespace { name, process },
                ErrorKind::WouldBlock => NameError::NoAnswer { name, process },
                ErrorKind::TimedOut => NameError::TimedOut { name },
                // Unreached: a process that may open no more files
                _ => NameError::System { name, error },
            }),
        }
    }

    /// By the number of the descriptor, where the kernel shows it to this user; otherwise by the socket of
    /// the name. `None` if it is not there. `Unsupported`: neither way, in another container.
    fn opened(&self, part: Part, is_writable: bool, until: Option<Instant>) -> io::Result<Option<OwnedFd>> {
        let Record { namespace, fd, page, .. } = self.record;
        let number = if part == Part::Ring { Some(fd) } else { page };
        let Some(number) = number else { return Ok(None) };
        let is_here = pid_namespace()? == namespace;
        // A file of another user is not believed which process to go to.
        let is_ours = self.holder.owner()? == folder::user();
        if let Some(pid) = self.holder.number_in_proc().filter(|_| is_here && is_ours) {
            match folder::open_of(pid, number, is_writable) {
                // Unreached: the kernel shows the descriptors of a process of the same user to nobody
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                told => return told,
            }
        }
        let mut request = self.request.lock().unwrap_or_else(PoisonError::into_inner);
        match request.get(&self.names.folder, &self.name, until)? {
            Some([ring, page]) => {
                folder::opened_again(if part == Part::Ring { ring } else { page }, is_writable)
            }
            None if is_here => Err(ErrorKind::PermissionDenied.into()),
            None => Err(ErrorKind::Unsupported.into()),
        }
    }
}

/// Its name, and its process.
impl fmt::Debug for NamedRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NamedRing")
            .field("name", &self.name)
            .field("process", &self.process())
            .finish_non_exhaustive()
    }
}
