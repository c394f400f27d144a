//! What the kernel says of other processes: when they began, and whether they have ended (Linux).

use core::fmt::Display;
use core::str;
use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::error::at;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{fstat, stat};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{DumpableBehavior, Pid, PidfdFlags, dumpable_behavior, geteuid, pidfd_open};
use rustix::thread::capabilities;

/// When the calling process began, in ticks of the clock of `/proc/PID/stat`. A number that is used again has
/// another.
pub(crate) fn own_start_time() -> io::Result<u64> {
    // (By this path also where `/proc` shows the numbers of another container.)
    start_time("self").map_err(|error| at("/proc/self/stat", error))
}

fn start_time(process: impl Display) -> io::Result<u64> {
    let stat = fs::read(std::format!("/proc/{process}/stat"))?;
    start_in(&stat).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

/// The kernel promises no text: it cuts a name at 15 bytes, wherever a letter ends.
fn start_in(stat: &[u8]) -> Option<u64> {
    // The name is in brackets, and may have spaces and brackets; the start is the twentieth after it.
    let behind = stat.rsplit(|&byte| byte == b')').next().filter(|behind| behind.len() < stat.len())?;
    str::from_utf8(behind).ok()?.split_whitespace().nth(19)?.parse().ok()
}

/// The number of this process's space of process numbers. A container has one of its own.
pub(crate) fn pid_namespace() -> io::Result<u64> {
    const PATH: &str = "/proc/self/ns/pid";
    Ok(fs::metadata(PATH).map_err(|error| at(PATH, error))?.ino())
}

/// Whether the kernel hides the descriptors of this process from other processes of its user, too: it has
/// capabilities that they may not have, or may not be dumped.
///
/// Processes of root have capabilities, and usually all the same: only one that was started with fewer does
/// not see what another has. That one is told why ([`NotPermitted`](crate::shm::NameError::NotPermitted)), so
/// that not each name of root has a socket, and a thread.
pub(crate) fn is_protected() -> bool {
    let may_be_dumped = dumpable_behavior().is_ok_and(|behavior| behavior == DumpableBehavior::Dumpable);
    let has_more = || capabilities(None).is_ok_and(|sets| !sets.permitted.is_empty());
    !may_be_dumped || !geteuid().is_root() && has_more()
}

/// The process that made a handle. A child that `fork` made has a copy of the handle, and the same openings
/// of files: what that copy gave up, the maker would lose.
#[derive(Clone, Copy)]
pub(crate) struct Maker(u32);

impl Maker {
    pub(crate) fn this() -> Self {
        Self(std::process::id())
    }

    /// Whether it is the calling process.
    pub(crate) fn is_this(self) -> bool {
        self.0 == std::process::id()
    }
}

/// The folder of `/proc` that shows what a process has open. `None` if it has nothing open: it is about to
/// end. `PermissionDenied` if the kernel does not show it.
///
/// It is the folder of the first thread, or, where that has ended before the process (by `pthread_exit` in
/// `main`), of one that is there: the first one's has nothing then, or is root's alone.
pub(crate) fn folder_of_descriptors(pid: u32) -> io::Result<Option<PathBuf>> {
    let process = PathBuf::from(std::format!("/proc/{pid}"));
    let mut refused = None;
    let mut look = |folder: PathBuf| match shows_some(&folder) {
        Ok(shows) => shows.then_some(folder),
        Err(error) => {
            refused.get_or_insert(error);
            None
        }
    };
    if let Some(first) = look(process.join("fd")) {
        return Ok(Some(first));
    }
    let threads = fs::read_dir(process.join("task")).map_err(|error| match error.kind() {
        // A process that may not be seen looks as if it were not there.
        io::ErrorKind::NotFound => io::ErrorKind::PermissionDenied.into(),
        _ => error,
    })?;
    let found = threads.flatten().find_map(|thread| look(thread.path().join("fd")));
    if let (None, Some(error)) = (&found, refused) { Err(error) } else { Ok(found) }
}

/// Whether there is a descriptor in this folder. (A thread that has ended meanwhile has none.)
fn shows_some(folder: &Path) -> io::Result<bool> {
    match fs::read_dir(folder).and_then(|mut all| all.next().transpose()) {
        Err(error) if error.raw_os_error().map(Errno::from_raw_os_error).is_some_and(is_not_there) => {
            Ok(false)
        }
        told => Ok(told?.is_some()),
    }
}

/// Whether this is the kernel's word for a process, or a thread, that is not there.
pub(crate) fn is_not_there(error: Errno) -> bool {
    matches!(error, Errno::NOENT | Errno::SRCH)
}

/// A process, also when its number is given to another one.
pub(crate) struct Process(OwnedFd);

impl Process {
    /// The process that has this number now; `None` if there is none.
    pub(crate) fn find(pid: u32) -> io::Result<Option<Self>> {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return Ok(None);
        };
        match pidfd_open(number, PidfdFlags::empty()) {
            Err(Errno::SRCH) => Ok(None),
            told => Ok(Some(Self(told?))),
        }
    }

    /// Whether the process that began then, and holds the lock of this file, is certainly another one: this
    /// one has another start, and does not have the file. False if either can't be seen.
    ///
    /// A start alone proves nothing: a process in another time namespace reads another one, and so does a
    /// process that was restored from a checkpoint. What can't be read is unknown: `/proc` may hide it.
    pub(crate) fn is_another(&self, start: u64, file: impl AsFd) -> bool {
        let has_another_start = || Some(start_time(self.number_in_proc()?).ok()? != start);
        has_another_start() == Some(true) && self.has_open(file) == Some(false)
    }

    /// Whether it has the file open; `None` if that can't be seen.
    fn has_open(&self, file: impl AsFd) -> Option<bool> {
        let wanted = fstat(file).ok()?;
        for entry in fs::read_dir(folder_of_descriptors(self.number_in_proc()?).ok()??).ok()? {
            match stat(entry.ok()?.path()) {
                Ok(found) if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino) => {
                    return Some(true);
                }
                // It was closed meanwhile.
                Ok(_) | Err(Errno::NOENT) => {}
                // Unreached: a descriptor that can't be looked at, of a process whose others can
                Err(_) => return None,
            }
        }
        Some(false)
    }

    /// Its number in `/proc`, which may show the numbers of another container; `None` if it is not there.
    pub(crate) fn number_in_proc(&self) -> Option<u32> {
        // (Not `/proc/self`, as in `lock::path_of`.)
        let about = fs::read(std::format!("/proc/thread-self/fdinfo/{}", self.0.as_raw_fd())).ok()?;
        let number = str::from_utf8(&about).ok()?.lines().find_map(|line| line.strip_prefix("Pid:"))?;
        // (0 and -1 are none.)
        number.trim().parse().ok().filter(|&number| number > 0)
    }

    /// Whether it has ended. It has as soon as its last thread has, also if nobody has asked for its exit
    /// code.
    pub(crate) fn has_ended(&self) -> bool {
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        let mut polled = [PollFd::new(&self.0, PollFlags::IN)];
        // It fails only where the kernel has no memory: then it is asked again some time.
        retry_on_intr(|| poll(&mut polled, Some(&now))).is_ok_and(|ready| ready > 0)
    }
}

/// Readable as soon as the process has ended.
impl AsFd for Process {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::process::{self, Command};

    #[test]
    fn reads_the_start() {
        let after = "S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 777 20 21";
        for name in [&b"(a)"[..], b"(a b)", b"(a) S 1 (b))", b"(fourteen bytes\xc3)", b"(\xff)"] {
            assert_eq!(start_in(&[b"12 ", name, b" ", after.as_bytes()].concat()), Some(777));
        }
        for none in [&b"12 (a) S 1"[..], b"", after.as_bytes(), b"12 (a) \xff"] {
            assert_eq!(start_in(none), None);
        }
    }

    #[test]
    fn space_of_numbers_has_a_number() {
        assert_eq!(pid_namespace().unwrap(), pid_namespace().unwrap());
    }

    #[test]
    fn process_that_is_another_has_another_start_and_not_the_file() {
        let start = own_start_time().unwrap();
        let me = Process::find(process::id()).unwrap().unwrap();
        assert_eq!(me.number_in_proc(), Some(process::id()));
        let file = fs::File::open("/proc/self/exe").unwrap();
        assert!(!me.is_another(start, &file) && !me.is_another(start + 1, &file));
        let (mut sleeper, sleeping) = sleeper();
        let start = start_time(sleeper.id()).unwrap();
        assert!(!sleeping.is_another(start, &file) && sleeping.is_another(start + 1, &file));
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(!sleeping.is_another(start + 1, &file), "nothing can be seen of it any more");
        assert!(Process::find(0).unwrap().is_none());
        assert!(Process::find(u32::MAX).unwrap().is_none());
    }

    fn sleeper() -> (process::Child, Process) {
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        let found = Process::find(child.id()).unwrap().unwrap();
        (child, found)
    }

    #[test]
    fn process_has_ended_before_its_exit_code_is_read() {
        let (mut child, process) = sleeper();
        assert!(!process.has_ended());
        child.kill().unwrap();
        rustix::event::poll(&mut [PollFd::new(&process, PollFlags::IN)], None).unwrap();
        assert!(process.has_ended());
        assert!(Process::find(child.id()).unwrap().unwrap().has_ended(), "still there, but ended");
        child.wait().unwrap();
        assert!(process.has_ended());
    }
}
