//! [`Names`]: the files of a directory for names, and how they change: one at a time, and each in one step.
//!
//! What a ring's name may be, and which files stand for it: [`check`], [`file_of`]. What such a file says:
//! [`Record`]. Which process has a name, and whether it is still there: [`Holder`].
//!
//! [`NameSocket`]: how a process of another user, or of another container, gets the descriptors of a ring
//! that has a name: from a socket next to the file of the name.
//!
//! The kernel shows the descriptors of a process to its own user, and by its own process numbers. In a
//! directory that others may use, too, the process of the ring has a thread that sends them to each process
//! that connects. The socket's mode, which is derived from the directory's mode, says which users may
//! connect.

use core::fmt;
use core::panic::AssertUnwindSafe;
use std::fs::File;
use std::io::ErrorKind;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::string::{String, ToString};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};
use std::vec::Vec;
use std::{format, io, thread};

use super::error::{BadName, NameError};
use super::fd::{recv_fd, send_fd, wait};
use super::process::{PeerState, ProcessId};
use crate::message::schema::Fingerprint;
use crate::os::error::at;
use crate::os::folder::{Folder, FolderLock, Rights};
use crate::os::kept_word::{Kept, KeptWord};
use crate::os::process_lifetime::{Maker, Process, is_protected, pid_namespace};
use crate::os::{folder, helper_thread, lock};
use crate::sync::seeded;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::net::{Shutdown, shutdown};

/// A directory for names.
pub(super) struct Names {
    pub(super) folder: Folder,
    pub(super) path: PathBuf,
    /// What other users may do, at most.
    pub(super) mode: u32,
    /// What other users can do.
    pub(super) found: u32,
}

impl Names {
    /// Until this is dropped, no other process or thread changes a name.
    pub(super) fn lock(&self) -> Result<FolderLock<'_>, NameError> {
        let taken = self.folder.lock().map_err(|error| about_all(at(self.path.display(), error)))?;
        taken.ok_or(NameError::Busy)
    }

    /// The process that has the name.
    pub(super) fn holder(&self, name: &str) -> Result<Option<Holder>, NameError> {
        let system = |error| NameError::System {
            name: name.to_string(),
            error: at(self.path.join(file_of(name)).display(), error),
        };
        let file = match self.folder.file(&file_of(name)) {
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
        let (file, draft, text) = (file_of(name), draft_of(name), record.to_string());
        let most = (text.len() + CLOSED.len()) as u64;
        let given = self.folder.replace(lock, &file, &draft, &text, most, mode);
        given.map_err(|error| at(self.path.join(file).display(), error))
    }

    /// Removes a name.
    pub(super) fn remove(&self, _lock: &FolderLock<'_>, name: &str) -> io::Result<()> {
        [file_of(name), socket_of(name)].iter().try_for_each(|file| {
            let removed = self.folder.remove(file);
            removed.map(drop).map_err(|error| at(self.path.join(file).display(), error))
        })
    }

    /// The numbers of a name, from a file that is made if there is none, with this identity. Only this user
    /// may have it.
    pub(super) fn numbers(&self, lock: &FolderLock<'_>, name: &str, new: u64) -> Result<Kept, NameError> {
        let told = |error| self.of_numbers(name, error);
        let file = self.folder.file_or_new(lock, &numbers_of(name)).map_err(told)?;
        let owner = folder::rights(&file).map_err(told)?.owner;
        if owner != folder::user() {
            return Err(NameError::Owner { name: name.to_string(), owner });
        }
        KeptWord::open(file, new).map_err(told)
    }

    /// Whether a publisher has the numbers of a name. (An error where another user's can't be looked at.)
    pub(super) fn has_numbers_taken(&self, _lock: &FolderLock<'_>, name: &str) -> Result<bool, NameError> {
        let found = self.folder.file(&numbers_of(name)).and_then(|file| file.map(lock::is_taken).transpose());
        Ok(found.map_err(|error| self.of_numbers(name, error))?.unwrap_or(false))
    }

    /// The error of a step with the file of the numbers.
    fn of_numbers(&self, name: &str, error: io::Error) -> NameError {
        let (file, name) = (numbers_of(name), name.to_string());
        if folder::is_in_the_way(&error) {
            return NameError::InTheWay { name };
        }
        NameError::System { name, error: at(self.path.join(file).display(), error) }
    }

    /// Removes that file. Returns whether there was one.
    pub(super) fn forget_numbers(&self, _lock: &FolderLock<'_>, name: &str) -> io::Result<bool> {
        let file = numbers_of(name);
        self.folder.remove(&file).map_err(|error| at(self.path.join(file).display(), error))
    }

    /// The socket of a name, from which a process gets descriptors that the kernel does not show it. `None`
    /// in a directory of this user alone, whose processes see each other's descriptors, except a protected
    /// process's.
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
        let socket = socket_of(name);
        if opened.is_err() {
            // (It has no thread.)
            _ = self.folder.remove(&socket);
        }
        opened.map(Some).map_err(|error| at(self.path.join(socket).display(), error))
    }

    /// Removes a name, if it still leads to this file.
    pub(super) fn take_back(&self, name: &str, file: &File) {
        // Where this fails, the file stays, and says that it is closed.
        let Ok(lock) = self.lock() else { return };
        if let Ok(Some(found)) = self.folder.file(&file_of(name)) {
            if folder::is_same(&found, file).unwrap_or(false) || seeded!("shm_name_of_others_removed") {
                _ = self.remove(&lock, name);
            }
        }
    }
}

/// The bits of a mode for the group and all other users.
pub(super) const OTHERS: u32 = 0o077;

/// Whether a mode gives nothing to the group and other users.
pub(super) fn is_private(mode: u32) -> bool {
    mode & OTHERS == 0
}

/// An error that is about no name.
// Unreached: a directory that is open, and can't be read
pub(super) fn about_all(error: io::Error) -> NameError {
    NameError::System { name: String::new(), error }
}

/// Whether a ring may have this name.
pub(super) fn check(name: &str) -> Result<(), BadName> {
    if name.is_empty() {
        return Err(BadName::Empty);
    }
    if name.len() > BadName::LONGEST {
        return Err(BadName::TooLong);
    }
    if name.starts_with('.') && !crate::sync::seeded!("shm_hidden_names") {
        return Err(BadName::LeadingDot);
    }
    match name.chars().find(|&character| character == '/' || character.is_control()) {
        Some(character) => Err(BadName::Character(character)),
        None => Ok(()),
    }
}

const ENDING: &str = ".ring";

/// The name of its file.
pub(super) fn file_of(name: &str) -> String {
    format!("{name}{ENDING}")
}

/// The name of its file while that is being written. No ring has such a name.
pub(super) fn draft_of(name: &str) -> String {
    format!(".{name}.draft")
}

/// The name of the socket where its process answers.
pub(super) fn socket_of(name: &str) -> String {
    format!(".{name}.socket")
}

/// The name of the file where the numbers of its messages are kept.
fn numbers_of(name: &str) -> String {
    format!(".{name}.numbers")
}

/// The ring of which this is the file.
pub(super) fn of_file(file: &str) -> Option<&str> {
    file.strip_suffix(ENDING).filter(|name| check(name).is_ok())
}

// Decision 0179: servers that share a name have numbers behind it.
/// The name with a number behind it.
pub(super) fn with_number(name: &str, number: u32) -> String {
    format!("{name}.{number}")
}

/// Where `found` comes among the names that are this one, with a number or not: the name itself first, then
/// by their numbers. `None` if it is another name.
pub(super) fn rank_among(found: &str, name: &str) -> Option<u64> {
    let rest = found.strip_prefix(name)?;
    if rest.is_empty() {
        return Some(0);
    }
    let number = rest.strip_prefix('.')?.parse().ok()?;
    // One form for each number: not `+7`, nor `07`.
    (with_number(name, number) == found).then_some(1 + u64::from(number))
}

/// Which descriptor of which process is the ring. A file has it as lines of text, a word and a number in
/// each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) process: ProcessId,
    /// The space of process numbers in which this is the number of the process.
    pub(super) namespace: u64,
    pub(super) fd: u32,
    pub(super) fingerprint: Fingerprint,
    /// The descriptor of the page where the ring's processes sleep; `None` if what has the name has none.
    pub(super) page: Option<u32>,
    /// Whether the process has taken the name back.
    pub(super) is_closed: bool,
}

/// No record is longer, nor is more of a file read.
pub(super) const MOST_BYTES: u64 = 1024;

/// The last line, which is added when the name is taken back.
pub(super) const CLOSED: &str = "closed\n";

const FIRST_LINE: &str = "annulus name 1";

impl Record {
    /// From a file's text, which may be anything. Lines that a later version adds are passed over.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines();
        if lines.next()? != FIRST_LINE {
            return None;
        }
        let mut value = |word: &str| lines.next()?.strip_prefix(word)?.strip_prefix(' ');
        let mut record = Self {
            process: ProcessId::new(value("pid")?.parse().ok()?, value("start")?.parse().ok()?),
            namespace: value("namespace")?.parse().ok()?,
            fd: value("fd")?.parse().ok()?,
            fingerprint: Fingerprint::from_u64(u64::from_str_radix(value("fingerprint")?, 16).ok()?),
            page: None,
            is_closed: false,
        };
        for line in lines {
            if let Some(number) = line.strip_prefix("page ") {
                record.page = Some(number.parse().ok()?);
            }
            record.is_closed |= line == CLOSED.trim_end();
        }
        Some(record)
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{FIRST_LINE}")?;
        writeln!(f, "pid {}\nstart {}", self.process.pid(), self.process.start_time())?;
        writeln!(f, "namespace {}\nfd {}\nfingerprint {}", self.namespace, self.fd, self.fingerprint)?;
        if let Some(page) = self.page {
            writeln!(f, "page {page}")?;
        }
        if self.is_closed { f.write_str(CLOSED) } else { Ok(()) }
    }
}

/// The file of a name, and the process that it names.
pub(super) struct Holder {
    file: File,
    /// `None` if the file is no record.
    pub(super) record: Option<Record>,
    process: ProcessSeen,
}

/// What this process sees of another one. It matters only while the lock of the file is held.
enum ProcessSeen {
    /// A process has that number. It may be a later process; but when it has ended, the first one has ended,
    /// too.
    There(Process),
    /// No process has that number, or certainly another one. (A child that `fork` made has the lock.)
    Gone,
    /// The kernel tells nothing of it. The lock decides.
    Hidden,
    /// It has other process numbers, or the file does not say which. The lock decides.
    Elsewhere,
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
            _ => ProcessSeen::Elsewhere,
        };
        Ok(Self { file, record, process })
    }

    pub(super) fn state(&self) -> PeerState {
        let has_ended = match &self.process {
            ProcessSeen::There(process) => process.has_ended(),
            ProcessSeen::Gone => true,
            ProcessSeen::Hidden | ProcessSeen::Elsewhere => false,
        };
        // (Where the lock can't be looked at, the process decides.)
        let is_locked = seeded!("shm_lock_unseen") || lock::is_taken(&self.file).unwrap_or(true);
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
            ProcessSeen::Gone | ProcessSeen::Elsewhere => None,
            // Unreached: a system without pidfds, or one that forbids them
            ProcessSeen::Hidden => self.process().map(ProcessId::pid),
        }
    }

    /// The number that the process has in `/proc`, or had there before it ended; `None` if it has none there.
    pub(super) fn pid_here(&self) -> Option<u32> {
        let own = self.process().map(ProcessId::pid);
        match &self.process {
            // (A process that has ended may have no number any more.)
            ProcessSeen::There(process) => {
                process.number_in_proc().or_else(|| own.filter(|_| process.has_ended()))
            }
            ProcessSeen::Gone | ProcessSeen::Hidden => own,
            ProcessSeen::Elsewhere => None,
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

// Decision 0114: a thread sends the descriptors to processes to which the kernel does not show them.
/// Answers until it is dropped.
pub(super) struct NameSocket {
    listener: UnixListener,
    /// (No other thread sees it half changed.)
    thread: AssertUnwindSafe<Option<thread::JoinHandle<()>>>,
    maker: Maker,
}

/// How long the process of a ring may take to answer.
pub(super) const LONGEST_ANSWER: Duration = Duration::from_secs(2);

/// The pause between two attempts, where the system has no descriptor for a connection, or too many processes
/// ask at once.
const REST: Duration = Duration::from_millis(10);

impl NameSocket {
    /// Puts the socket of a name there, in place of one that may be there, and answers: by the ring, and by
    /// the page where its sleepers are. `mode` is the directory's.
    pub(super) fn open(
        folder: &Folder,
        lock: &FolderLock<'_>,
        name: &str,
        mode: u32,
        fds: [OwnedFd; 2],
    ) -> io::Result<Self> {
        let listener = folder.listen(lock, &socket_of(name), mode)?;
        let answering = listener.try_clone()?;
        let answer = move || {
            loop {
                match answering.accept() {
                    // A process that is gone again needs no answer.
                    Ok((client, _)) => _ = fds.iter().try_for_each(|fd| send_fd(&client, fd.as_fd())),
                    Err(_) if is_shut_down(&answering) => break,
                    // The process, or the system, has no descriptor left for the connection.
                    // Unreached: the system has no descriptor left
                    Err(_) => thread::sleep(REST),
                }
            }
        };
        let thread = helper_thread::spawn("annulus names", answer)
            .map_err(|error| at("the thread `annulus names`", error))?;
        Ok(Self { listener, thread: AssertUnwindSafe(Some(thread)), maker: Maker::this() })
    }
}

/// Whether the socket is shut down. (An error of `accept` does not say so: it may also mean that the process
/// has no descriptor left.)
fn is_shut_down(listener: &UnixListener) -> bool {
    let mut polled = [PollFd::new(listener, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    _ = retry_on_intr(|| poll(&mut polled, Some(&now)));
    polled[0].revents().contains(PollFlags::HUP)
}

impl Drop for NameSocket {
    fn drop(&mut self) {
        // A child that `fork` made has the same socket, and not the thread.
        if !self.maker.is_this() && !seeded!("name_socket_of_the_parent_ends") {
            // Unreached: in a child by fork, which writes no profile
            return;
        }
        // It makes `accept` fail, in the thread.
        let ends = !seeded!("name_socket_stays") && shutdown(&self.listener, Shutdown::Both).is_ok();
        if let Some(thread) = self.thread.take().filter(|_| ends) {
            _ = thread.join();
        }
    }
}

/// What the process of a name was asked for, and how much of it came: the ring, and the page where its
/// sleepers are. The process is asked once, however many descriptors are opened.
#[derive(Default)]
pub(super) struct Request {
    came: Vec<OwnedFd>,
    /// Where the rest comes from, and until when it is waited for: from the question to the whole answer.
    /// There is no socket yet while too many others ask. `None` before the question, and after the answer.
    question: Option<(Option<UnixStream>, Instant)>,
}

impl Request {
    /// Locked: another thread may wait for the answer. It waits for that thread until then at most (`None`:
    /// as long as it takes).
    ///
    /// # Errors
    ///
    /// `TimedOut` if the other thread still waits.
    pub(super) fn locked(request: &Mutex<Self>, until: Option<Instant>) -> io::Result<MutexGuard<'_, Self>> {
        let Some(until) = until else {
            return Ok(request.lock().unwrap_or_else(PoisonError::into_inner));
        };
        loop {
            match request.try_lock() {
                Ok(locked) => return Ok(locked),
                // Unreached: no thread panics while it has the lock
                Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) => {}
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ErrorKind::TimedOut.into());
            }
            // A mutex has no wait with an end.
            thread::sleep(REST.min(left));
        }
    }

    /// The ring, and the page. It waits for them until then at most (`None`: as long as an answer may take),
    /// and can be called again. `None` if the name has no socket.
    ///
    /// # Errors
    ///
    /// `PermissionDenied` if this process may not connect. `TimedOut` if the answer is not here yet.
    /// `WouldBlock` if it did not come in the time that an answer may take; the next call asks anew.
    /// `ConnectionRefused` if the process has ended.
    pub(super) fn get(
        &mut self,
        folder: &Folder,
        name: &str,
        until: Option<Instant>,
    ) -> io::Result<Option<[&OwnedFd; 2]>> {
        if self.came.len() < 2 && !self.come(folder, name, until)? {
            return Ok(None);
        }
        Ok(Some([&self.came[0], &self.came[1]]))
    }

    /// Whether the name has a socket. If so, all is there.
    fn come(&mut self, folder: &Folder, name: &str, until: Option<Instant>) -> io::Result<bool> {
        let (mut socket, last) = self.question.take().unwrap_or_else(|| {
            self.came.clear();
            (None, Instant::now() + LONGEST_ANSWER)
        });
        while self.came.len() < 2 {
            let step = match &socket {
                Some(socket) => recv_fd(socket).map(|fd| self.came.push(fd)),
                None => match folder.connect(&socket_of(name)) {
                    Ok(None) => return Ok(false),
                    connected => connected.map(|connected| socket = connected.map(UnixStream::from)),
                },
            };
            match step {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    let now = Instant::now();
                    if last <= now {
                        return Err(error);
                    }
                    if until.is_some_and(|until| until <= now) {
                        self.question = Some((socket, last));
                        return Err(ErrorKind::TimedOut.into());
                    }
                    let end = until.map_or(last, |until| until.min(last));
                    match &socket {
                        Some(socket) => wait(socket, PollFlags::IN, end)?,
                        // The kernel tells nobody when there is room for one more.
                        None => thread::sleep(REST.min(end - now)),
                    }
                }
                told => told?,
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::{String, ToString};
    use proptest::prelude::*;

    #[test]
    fn names_that_are_paths_are_refused() {
        for (name, why) in [
            ("", BadName::Empty),
            (".", BadName::LeadingDot),
            ("..", BadName::LeadingDot),
            ("../quotes", BadName::LeadingDot),
            (".quotes", BadName::LeadingDot),
            ("a/b", BadName::Character('/')),
            ("/", BadName::Character('/')),
            ("a\0", BadName::Character('\0')),
            ("a\nb", BadName::Character('\n')),
        ] {
            assert_eq!(check(name), Err(why), "{name:?}");
        }
        assert_eq!(check(&"x".repeat(201)), Err(BadName::TooLong));
        for name in ["a", "quotes", "quotes.eur-usd_2020", "a b", "größe", "a..b", &"x".repeat(200)] {
            assert_eq!(check(name), Ok(()), "{name:?}");
            assert_eq!(of_file(&file_of(name)), Some(name));
            assert_eq!(of_file(&draft_of(name)), None);
        }
        assert_eq!(of_file("quotes"), None);
        assert_eq!(of_file(".ring"), None);
    }

    #[test]
    fn number_has_one_form() {
        assert_eq!(rank_among("a.1", "a.1"), Some(0));
        for number in [0, 7, 10, u32::MAX] {
            assert_eq!(rank_among(&with_number("a.1", number), "a.1"), Some(1 + u64::from(number)));
        }
        for other in [
            "",
            "a",
            "a.",
            "a.b.",
            "a.b.+7",
            "a.b.07",
            "a.b.-1",
            "a.b.7 ",
            "a.b.4294967296",
            "a.b7",
            "a.b.7.7",
        ] {
            assert_eq!(rank_among(other, "a.b"), None, "{other:?}");
        }
    }

    const SAMPLE: Record = Record {
        process: ProcessId::new(u32::MAX, u64::MAX),
        namespace: u64::MAX,
        fd: u32::MAX,
        fingerprint: Fingerprint::NONE,
        page: Some(u32::MAX),
        is_closed: false,
    };

    #[test]
    fn record_that_is_written_is_read() {
        for (is_closed, page) in [(false, None), (true, None), (false, Some(7)), (true, SAMPLE.page)] {
            let record = Record { page, is_closed, ..SAMPLE };
            assert_eq!(Record::parse(&record.to_string()), Some(record));
            assert!(record.to_string().len() < MOST_BYTES as usize / 2);
        }
        assert_eq!(Record::parse(&(SAMPLE.to_string() + "of a later version\n")), Some(SAMPLE));
    }

    #[test]
    fn files_of_other_forms_are_no_records() {
        let text = SAMPLE.to_string();
        assert_eq!(Record::parse(""), None);
        assert_eq!(Record::parse(&text.replace("name 1", "name 2")), None);
        assert_eq!(Record::parse(&text.replace("pid", "pod")), None);
        assert_eq!(Record::parse(&text.replace("pid ", "pid -")), None);
        assert_eq!(Record::parse(&text[..text.len() / 2]), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: if cfg!(miri) { 20 } else { 2000 },
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        /// Anything scribbled into a file: a record, or none.
        #[test]
        fn no_text_does_harm(
            at in 0..120_usize,
            scribble in prop::collection::vec(any::<u8>(), 0..8),
        ) {
            let mut bytes = SAMPLE.to_string().into_bytes();
            let at = at.min(bytes.len());
            bytes.splice(at..at, scribble);
            let text = String::from_utf8_lossy(&bytes);
            if let Some(record) = Record::parse(&text) {
                prop_assert_eq!(Record::parse(&record.to_string()), Some(record));
            }
        }
    }
}
