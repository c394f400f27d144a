//! [`PublishedName`]: a name that this process has given to a ring.

use core::fmt;
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::string::String;
use std::sync::Arc;

use super::name_socket::NameSocket;
use super::names::Names;
use super::record::CLOSED;
use crate::os::error::check_file_length;
use crate::sync::mutated;

/// A name that this process has given to a ring ([`Directory::publish`](super::Directory::publish)). Its drop
/// takes the name back.
///
/// A copy that `fork` makes in a child takes nothing back. But it keeps the lock: the name of a process that
/// has ended is recognized all the same, by the process.
#[must_use = "its drop takes the name back"]
pub struct PublishedName {
    names: Arc<Names>,
    name: String,
    file: File,
    /// What other processes open by its number.
    ring: OwnedFd,
    /// So is the page where the ring's processes sleep.
    _page: Option<OwnedFd>,
    /// Where others may use the directory, too.
    _socket: Option<NameSocket>,
    process: u32,
}

impl PublishedName {
    /// `file` is locked.
    pub(super) fn new(
        names: Arc<Names>,
        name: String,
        file: File,
        (ring, page): (OwnedFd, Option<OwnedFd>),
        socket: Option<NameSocket>,
    ) -> Self {
        Self { names, name, file, ring, _page: page, _socket: socket, process: std::process::id() }
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// The ring's.
impl AsFd for PublishedName {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.ring.as_fd()
    }
}

impl Drop for PublishedName {
    fn drop(&mut self) {
        if self.process != std::process::id() && !mutated!("shm_child_takes_back") {
            // Unreached: in a child that a fork has made, which reports nothing
            return;
        }
        // Before the lock ends, and before the number of the descriptor may be another file's: it ends with
        // the fields.
        let end =
            self.file.seek(SeekFrom::End(0)).and_then(|end| check_file_length(end + CLOSED.len() as u64));
        if !mutated!("shm_close_unsaid") && end.is_ok() {
            _ = self.file.write_all(CLOSED.as_bytes());
        }
        self.names.take_back(&self.name, &self.file);
    }
}

/// The name, and where it is.
impl fmt::Debug for PublishedName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PublishedName")
            .field("name", &self.name)
            .field("directory", &self.names.path)
            .finish_non_exhaustive()
    }
}
