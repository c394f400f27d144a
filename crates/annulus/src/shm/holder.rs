//! [`Holder`]: who has a name, and whether it is still there.

use std::fs::File;
use std::io::{self, ErrorKind};

use super::liveness::PeerState;
use super::process::ProcessId;
use super::record::{MOST_BYTES, Record};
use crate::message::schema::Fingerprint;
use crate::os::process::{Process, pid_namespace};
use crate::os::{folder, lock};
use crate::sync::mutated;

/// The file of a name, and the process that it speaks of.
pub(super) struct Holder {
    file: File,
    /// `None` if the file is no record.
    pub(super) record: Option<Record>,
    process: ProcessSeen,
}

/// What this process sees of another one. Where nobody holds the lock of the file, it does not matter.
enum ProcessSeen {
    /// A process has that number. Even if it could be another one: when it has ended, that one has, too.
    There(Process),
    /// No process has that number, or certainly another one. (A child that `fork` made has the lock.)
    Gone,
    /// It has other process numbers, or the kernel tells nothing of it. The lock decides.
    Hidden,
}

impl Holder {
    pub(super) fn of(file: File) -> io::Result<Self> {
        let record = read(&file)?;
        let process = match record {
            Some(record) if pid_namespace().is_ok_and(|ours| ours == record.namespace) => {
                let (pid, start_time) = (record.process.pid(), record.process.start_time());
                match Process::find(pid) {
                    Ok(Some(process)) if !process.is_another(start_time, &file) => {
                        ProcessSeen::There(process)
                    }
                    Ok(_) => ProcessSeen::Gone,
                    // Unreached: a system without pidfds, or one that forbids them
                    Err(_) => ProcessSeen::Hidden,
                }
            }
            _ => ProcessSeen::Hidden,
        };
        Ok(Self { file, record, process })
    }

    pub(super) fn state(&self) -> PeerState {
        let has_ended = match &self.process {
            ProcessSeen::There(process) => process.has_ended(),
            ProcessSeen::Gone => true,
            ProcessSeen::Hidden => false,
        };
        // (Where the lock can't be looked at, the process decides.)
        let is_locked = mutated!("shm_lock_unseen") || lock::is_taken(&self.file).unwrap_or(true);
        // Last: it is written before the lock is given back.
        let is_closed = matches!(read(&self.file), Ok(Some(record)) if record.is_closed);
        PeerState::told(is_locked && !has_ended, is_closed)
    }

    /// The user to whom the file belongs.
    pub(super) fn owner(&self) -> io::Result<u32> {
        Ok(folder::rights(&self.file)?.owner)
    }

    /// Whether this is one file.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        folder::is_same(&self.file, &other.file).unwrap_or(false)
    }

    /// The number that the process has in `/proc`; `None` if it can't be seen there.
    pub(super) fn number_in_proc(&self) -> Option<u32> {
        match &self.process {
            ProcessSeen::There(process) => process.number_in_proc(),
            ProcessSeen::Gone => None,
            // Unreached: as above
            ProcessSeen::Hidden => self.process().map(ProcessId::pid),
        }
    }

    pub(super) fn process(&self) -> Option<ProcessId> {
        self.record.map(|record| record.process)
    }

    pub(super) fn fingerprint(&self) -> Option<Fingerprint> {
        self.record.map(|record| record.fingerprint)
    }
}

/// What the file says now; `None` if it is no record.
fn read(file: &File) -> io::Result<Option<Record>> {
    match folder::text(file, MOST_BYTES) {
        Ok(text) => Ok(Record::parse(&text)),
        Err(error) if error.kind() == ErrorKind::InvalidData => Ok(None),
        // Unreached: a file that can't be read although it is open
        Err(error) => Err(error),
    }
}
