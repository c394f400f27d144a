//! [`Names`]: the files of a directory for names, and how they change: one at a time, and each in one step.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::string::{String, ToString};

use super::holder::Holder;
use super::name;
use super::name_error::NameError;
use super::name_socket::NameSocket;
use super::record::{CLOSED, Record};
use crate::os::error::at;
use crate::os::folder::{self, Folder, FolderLock, Rights};
use crate::os::process::is_protected;
use crate::sync::mutated;

/// A directory for names.
pub(super) struct Names {
    pub(super) folder: Folder,
    pub(super) path: PathBuf,
    /// What others may do, at most.
    pub(super) mode: u32,
    /// What they can do.
    pub(super) found: u32,
}

impl Names {
    /// Until this is dropped, nobody else changes a name.
    pub(super) fn lock(&self) -> Result<FolderLock<'_>, NameError> {
        let taken = self.folder.lock().map_err(|error| about_all(at(self.path.display(), error)))?;
        taken.ok_or(NameError::Busy)
    }

    /// Who has the name.
    pub(super) fn holder(&self, name: &str) -> Result<Option<Holder>, NameError> {
        let system = |error| NameError::System {
            name: name.to_string(),
            error: at(self.path.join(name::file_of(name)).display(), error),
        };
        let file = match self.folder.file(&name::file_of(name)) {
            Err(error) if folder::is_in_the_way(&error) => {
                return Err(NameError::InTheWay { name: name.to_string() });
            }
            told => told.map_err(system)?,
        };
        let Some(file) = file else { return Ok(None) };
        let Rights { owner, .. } = folder::rights(&file).map_err(system)?;
        if is_private(self.mode) && owner != folder::user() {
            return Err(NameError::Owner { name: name.to_string(), owner });
        }
        Holder::of(file).map(Some).map_err(system)
    }

    /// Puts a record there, in place of one that may be there. The file is locked.
    pub(super) fn give(&self, lock: &FolderLock<'_>, name: &str, record: &Record) -> io::Result<File> {
        let mode = 0o600 | (self.mode & self.found & 0o044);
        let (file, draft, text) = (name::file_of(name), name::draft_of(name), record.to_string());
        let most = (text.len() + CLOSED.len()) as u64;
        let given = self.folder.replace(lock, &file, &draft, &text, most, mode);
        given.map_err(|error| at(self.path.join(file).display(), error))
    }

    /// Removes a name.
    pub(super) fn remove(&self, _lock: &FolderLock<'_>, name: &str) -> io::Result<()> {
        [name::file_of(name), name::socket_of(name)].iter().try_for_each(|file| {
            let removed = self.folder.remove(file);
            removed.map_err(|error| at(self.path.join(file).display(), error))
        })
    }

    /// The socket of a name, by which those get descriptors to whom the kernel does not show them. `None` in
    /// a directory of this user's alone, whose processes see them; but not those of a protected process.
    pub(super) fn answer(
        &self,
        lock: &FolderLock<'_>,
        name: &str,
        fds: [&OwnedFd; 2],
    ) -> io::Result<Option<NameSocket>> {
        if is_private(self.mode & self.found) && !is_protected() {
            return Ok(None);
        }
        let [ring, sleepers] = fds.map(OwnedFd::try_clone);
        let opened = NameSocket::open(&self.folder, lock, name, self.mode & self.found, [ring?, sleepers?]);
        let socket = name::socket_of(name);
        if opened.is_err() {
            // (It has no thread.)
            _ = self.folder.remove(&socket);
        }
        opened.map(Some).map_err(|error| at(self.path.join(socket).display(), error))
    }

    /// Removes a name, if it is still that of this file.
    pub(super) fn take_back(&self, name: &str, file: &File) {
        // Where this fails, the file stays, and says that it is closed.
        let Ok(lock) = self.lock() else { return };
        if let Ok(Some(found)) = self.folder.file(&name::file_of(name)) {
            if folder::is_same(&found, file).unwrap_or(false) || mutated!("shm_name_of_others_removed") {
                _ = self.remove(&lock, name);
            }
        }
    }
}

/// What a mode gives to the group and all others.
pub(super) const OTHERS: u32 = 0o077;

/// Whether a mode gives them nothing.
pub(super) fn is_private(mode: u32) -> bool {
    mode & OTHERS == 0
}

/// An error that is about no name.
// Unreached: a directory that is open, and can't be read
pub(super) fn about_all(error: io::Error) -> NameError {
    NameError::System { name: String::new(), error }
}
