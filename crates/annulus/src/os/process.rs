//! What the kernel says of other processes: when they began, and whether they have ended (Linux).

use std::fs;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// When a process began, in ticks of the clock of `/proc/PID/stat`. A number that is used again has another.
pub(crate) fn start_time(pid: u32) -> io::Result<u64> {
    let stat = fs::read_to_string(std::format!("/proc/{pid}/stat"))?;
    start_in(&stat).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}

fn start_in(stat: &str) -> Option<u64> {
    // The name is in brackets, and may have spaces and brackets; the start is the twentieth after it.
    stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()
}

/// The number of this process's space of process numbers. A container has one of its own.
pub(crate) fn pid_namespace() -> io::Result<u64> {
    Ok(fs::metadata("/proc/self/ns/pid")?.ino())
}

/// A process, whatever becomes of its number.
pub(crate) struct Process(OwnedFd);

impl Process {
    /// The process that has this number and began then; `None` if it has ended.
    pub(crate) fn find(pid: u32, start: u64) -> io::Result<Option<Self>> {
        let Some(number) = i32::try_from(pid).ok().and_then(Pid::from_raw) else {
            return Ok(None);
        };
        let process = match pidfd_open(number, PidfdFlags::empty()) {
            Err(Errno::SRCH) => return Ok(None),
            told => Self(told?),
        };
        // The descriptor came first. So if the start is the right one, then no other process can have had the
        // number in between.
        match start_time(pid) {
            Ok(found) if found == start => Ok(Some(process).filter(|process| !process.has_ended())),
            Ok(_) => Ok(None),
            // Unreached: it ended after its descriptor was opened: two processes have to meet there
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            // Unreached: it ended while the file was read
            Err(error) if error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) => Ok(None),
            // Unreached: a file of the system that can't be read, though it is there
            Err(error) => Err(error),
        }
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
        for name in ["(a)", "(a b)", "(a) S 1 (b))"] {
            assert_eq!(start_in(&std::format!("12 {name} {after}")), Some(777));
        }
        assert_eq!(start_in("12 (a) S 1"), None);
        assert_eq!(start_in(""), None);
    }

    #[test]
    fn a_space_of_numbers_has_a_number() {
        assert_eq!(pid_namespace().unwrap(), pid_namespace().unwrap());
    }

    #[test]
    fn a_number_that_is_used_again_is_another_process() {
        let me = process::id();
        let start = start_time(me).unwrap();
        assert!(Process::find(me, start).unwrap().is_some());
        assert!(Process::find(me, start + 1).unwrap().is_none());
        assert!(Process::find(0, start).unwrap().is_none());
        assert!(Process::find(u32::MAX, start).unwrap().is_none());
    }

    #[test]
    fn a_process_has_ended_before_anybody_asks_for_its_code() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let start = start_time(child.id()).unwrap();
        let process = Process::find(child.id(), start).unwrap().unwrap();
        assert!(!process.has_ended());
        child.kill().unwrap();
        rustix::event::poll(&mut [PollFd::new(&process, PollFlags::IN)], None).unwrap();
        assert!(process.has_ended());
        assert!(Process::find(child.id(), start).unwrap().is_none(), "still there, but ended");
        child.wait().unwrap();
        assert!(process.has_ended());
        assert!(Process::find(child.id(), start).unwrap().is_none());
    }
}
