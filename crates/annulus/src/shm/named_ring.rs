//! [`NamedRing`]: a ring that was found by its name, and whether its process is still there.

use core::fmt;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::string::{String, ToString};
use std::sync::Arc;

use super::fingerprint::Fingerprint;
use super::holder::Holder;
use super::liveness::PeerState;
use super::name_error::NameError;
use super::name_socket;
use super::names::Names;
use super::process::ProcessId;
use super::record::Record;
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
}

impl NamedRing {
    pub(super) fn new(names: &Arc<Names>, name: &str, holder: Holder) -> Result<Self, NameError> {
        match holder.record {
            Some(record) => Ok(Self { names: Arc::clone(names), name: name.to_string(), holder, record }),
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
    /// - `NoAnswer` if that process is asked for its descriptors, and sends none.
    /// - `System` for what else it says.
    pub fn open_read_only(&self) -> Result<OwnedFd, NameError> {
        self.open(self.record.fd, false)
    }

    /// A descriptor by which this process can also write to the ring.
    ///
    /// # Errors
    ///
    /// As in [`open_read_only`](Self::open_read_only).
    pub fn open_writable(&self) -> Result<OwnedFd, NameError> {
        self.open(self.record.fd, true)
    }

    /// Whether both were found at one file: a name that was given again has another one.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        self.holder.is_same(&other.holder)
    }

    /// A descriptor of what is number `fd` of the process.
    pub(super) fn open(&self, fd: u32, is_writable: bool) -> Result<OwnedFd, NameError> {
        let name = self.name.clone();
        let process = self.record.process;
        let opened = self.opened(fd, is_writable);
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
                // Unreached: in processes of other users, which only root makes, and which report nothing
                ErrorKind::WouldBlock => NameError::NoAnswer { name, process },
                // Unreached: a process that may open no more files
                _ => NameError::System { name, error },
            }),
        }
    }

    /// By the number of the descriptor, where the kernel shows it to this user; otherwise by the socket of
    /// the name. `None` if it is not there. `Unsupported`: neither way, in another container.
    fn opened(&self, fd: u32, is_writable: bool) -> io::Result<Option<OwnedFd>> {
        let Record { namespace, fd: ring, .. } = self.record;
        let is_here = pid_namespace()? == namespace;
        // A file of another user is not believed which process to go to.
        let is_ours = self.holder.owner()? == folder::user();
        if let Some(pid) = self.holder.number_in_proc().filter(|_| is_here && is_ours) {
            match folder::open_of(pid, fd, is_writable) {
                // Unreached: the kernel shows the descriptors of a process of the same user to nobody
                Err(error) if error.kind() == ErrorKind::PermissionDenied => {}
                told => return told,
            }
        }
        // Unreached: in processes of other users, which only root makes, and which report nothing
        match name_socket::ask(&self.names.folder, &self.name)? {
            Some([first, second]) => {
                folder::opened_again(if fd == ring { first } else { second }, is_writable)
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
