//! A process of the program that a test has started.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};

/// It is killed when this is dropped.
pub(crate) struct Running(pub(crate) Child);

impl Running {
    /// Starts a demo that does not end by itself, and waits until it receives quotes.
    pub(crate) fn demo(command: &mut Command) -> Self {
        let child = Self(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap());
        while !has_thread(&child, "subscriber-1") {
            thread::yield_now();
        }
        until_it_receives(child.0.id());
        child
    }

    pub(crate) fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.0.id().try_into().unwrap()).unwrap();
        kill_process(pid, signal).unwrap();
    }

    pub(crate) fn interrupt(&mut self) -> i32 {
        self.signal(Signal::INT);
        self.0.wait().unwrap().code().unwrap()
    }

    /// Waits until it says this on standard error.
    pub(crate) fn says(&mut self, word: &str) {
        let mut told = BufReader::new(self.0.stderr.as_mut().unwrap());
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            assert_ne!(told.read_line(&mut line).unwrap(), 0, "it has ended");
        }
    }

    pub(crate) fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }

    /// How often its first thread has slept.
    pub(crate) fn sleeps(&self) -> u64 {
        sleeps_of(format!("/proc/{0}/task/{0}", self.0.id())).unwrap()
    }

    /// Stops its first thread, and no other one, until the end of the process. Returns whether it could.
    pub(crate) fn stop_first_thread(&self) -> bool {
        let pid: libc::pid_t = self.0.id().try_into().unwrap();
        let nothing = std::ptr::null_mut::<libc::c_void>();
        // SAFETY: these calls read and write no memory of this process.
        let is_stopping = unsafe {
            libc::ptrace(libc::PTRACE_SEIZE, pid, nothing, nothing) == 0
                && libc::ptrace(libc::PTRACE_INTERRUPT, pid, nothing, nothing) == 0
        };
        // SAFETY: it may be told no status.
        is_stopping && unsafe { libc::waitpid(pid, std::ptr::null_mut(), libc::__WALL) } == pid
    }

    /// What it printed, what it said on standard error, and its exit code, when it has ended.
    pub(crate) fn end(mut self) -> (Vec<u8>, String, i32) {
        let mut stderr = self.0.stderr.take().unwrap();
        let said = thread::spawn(move || {
            let mut said = String::new();
            stderr.read_to_string(&mut said).unwrap();
            said
        });
        let mut printed = Vec::new();
        self.0.stdout.take().unwrap().read_to_end(&mut printed).unwrap();
        (printed, said.join().unwrap(), self.0.wait().unwrap().code().unwrap())
    }
}

/// Waits until threads of this process have slept some more times. A thread whose ring gets many messages
/// receives them then, one by one.
pub(crate) fn until_it_receives(process: u32) {
    let sleeps = || {
        let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
        let of = |thread: std::io::Result<std::fs::DirEntry>| sleeps_of(thread.ok()?.path());
        threads.filter_map(of).sum::<u64>()
    };
    let before = sleeps();
    while sleeps() < before + 20 {
        thread::yield_now();
    }
}

/// How often the thread that has this folder in `/proc` has slept.
fn sleeps_of(thread: impl AsRef<Path>) -> Option<u64> {
    let status = std::fs::read_to_string(thread.as_ref().join("status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"))?.trim().parse().ok()
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a subscriber has said but for the line that it waits: it may have come before its publisher or after.
pub(crate) fn but_waiting(said: &str) -> &str {
    let waits = |first: &str| first.starts_with("annulus: waiting for a ring ");
    said.split_once('\n').filter(|(first, _)| waits(first)).map_or(said, |(_, rest)| rest)
}

/// Waits until a process that has more to print than a pipe holds hangs in the pipe.
pub(crate) fn until_it_hangs(child: &Running, output: &impl std::os::fd::AsFd) {
    while !readable(output) {}
    // From the first that it has printed on, it sleeps for nothing else.
    let stat = format!("/proc/{0}/task/{0}/stat", child.0.id());
    while !std::fs::read_to_string(&stat).unwrap().contains(") S ") {
        thread::yield_now();
    }
}

/// Whether a process has mapped a ring.
pub(crate) fn mapped(child: &Running) -> bool {
    has_mapped(child.0.id())
}

/// Whether the process of this number has mapped a ring, and the page where threads sleep. (The ring's header
/// is mapped for a moment before, when the ring can still go.)
pub(crate) fn has_mapped(process: u32) -> bool {
    std::fs::read_to_string(format!("/proc/{process}/maps"))
        .is_ok_and(|maps| maps.contains("annulus broadcast") && maps.contains("annulus sleepers"))
}

/// Whether a process shows how far it is in a ring.
#[allow(dead_code, reason = "not every test asks")]
pub(crate) fn shows_position(child: &Running) -> bool {
    let folder = std::path::PathBuf::from(format!("/proc/{}", child.0.id()));
    let mut files = std::fs::read_dir(folder.join("fd")).into_iter().flatten().flatten();
    files.any(|file| {
        let is_ring = std::fs::read_link(file.path())
            .is_ok_and(|to| to.to_string_lossy().starts_with("/memfd:annulus broadcast"));
        let info = std::fs::read_to_string(folder.join("fdinfo").join(file.file_name()));
        is_ring && info.is_ok_and(|info| !info.starts_with("pos:\t0\n"))
    })
}

/// Whether a process watches a folder, as one does that waits for a name.
pub(crate) fn watches_folder(child: &Running) -> bool {
    let files = std::fs::read_dir(format!("/proc/{}/fd", child.0.id())).into_iter().flatten().flatten();
    let mut links = files.filter_map(|file| std::fs::read_link(file.path()).ok());
    links.any(|to| to.to_string_lossy() == "anon_inode:inotify")
}

/// Whether something can be read there within a millisecond.
pub(crate) fn readable(pipe: &impl std::os::fd::AsFd) -> bool {
    let mut polled = [rustix::event::PollFd::new(pipe, rustix::event::PollFlags::IN)];
    let millisecond = rustix::event::Timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    rustix::event::poll(&mut polled, Some(&millisecond)).is_ok_and(|count| count > 0)
}

/// Whether a process has a thread of this name.
pub(crate) fn has_thread(child: &Running, name: &str) -> bool {
    let threads = std::fs::read_dir(format!("/proc/{}/task", child.0.id())).unwrap();
    threads.flatten().any(|thread| {
        std::fs::read_to_string(thread.path().join("comm")).is_ok_and(|comm| comm.trim_end() == name)
    })
}
