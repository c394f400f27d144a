//! Another process: this test program once more, in a role.
#![allow(clippy::disallowed_types, reason = "what it counts is none of the library's atomics")]

use std::env;
use std::io::{BufRead, BufReader};
use std::os::unix::net::{UnixListener, UnixStream};
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::process::{Child as Process, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// How often a test kills a process. By hand: 2,000 times.
pub(crate) fn rounds() -> u64 {
    env::var("ANNULUS_SHM_ROUNDS").map_or(20, |rounds| rounds.parse().unwrap())
}

/// When, in one of these rounds: at another moment in each.
pub(crate) fn moment(round: u64) -> Duration {
    Duration::from_micros(round * 7919 % 20_000)
}

const ROLE: &str = "ANNULUS_SHM_ROLE";
const SOCKET: &str = "ANNULUS_SHM_SOCKET";

/// It is killed when this is dropped.
pub(crate) struct Child {
    process: Process,
    pub(crate) socket: UnixStream,
}

impl Child {
    /// In this role: the test `child::child_plays_its_role` in the caller's folder asks for it by [`role`].
    #[track_caller]
    pub(crate) fn new(role: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let folder = Path::new(Location::caller().file()).parent().unwrap().file_name().unwrap();
        let test = format!("{}::child::child_plays_its_role", folder.to_str().unwrap());
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = env::temp_dir().join(format!("annulus-ring-{}-{number}", std::process::id()));
        let listener = UnixListener::bind(&path).unwrap();
        let process = Command::new(env::current_exe().unwrap())
            .args(["--exact", &test, "--nocapture", "--test-threads=1"])
            .env(ROLE, role)
            .env(SOCKET, &path)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let (socket, _) = listener.accept().unwrap();
        std::fs::remove_file(path).unwrap();
        Self { process, socket }
    }

    #[allow(dead_code, reason = "as below")]
    pub(crate) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.process.id().try_into().unwrap()).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }

    /// By `SIGSTOP`. It stands still when this returns.
    #[allow(dead_code, reason = "not every test stops one")]
    pub(crate) fn stop(&self) {
        stop(&self.process);
    }

    /// By `SIGKILL`.
    pub(crate) fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }

    /// The two numbers that it says at its end.
    #[allow(dead_code, reason = "not every test asks for them")]
    pub(crate) fn said(mut self) -> (u64, u64) {
        let mut line = String::new();
        BufReader::new(&self.socket).read_line(&mut line).unwrap();
        assert!(self.process.wait().unwrap().success());
        let (first, second) = line.trim().split_once(' ').unwrap();
        (first.parse().unwrap(), second.parse().unwrap())
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// The role of this process, and a socket to the one that began it; `None` in the test program itself.
pub(crate) fn role() -> Option<(String, UnixStream)> {
    let (Ok(role), Some(path)) = (env::var(ROLE), env::var_os(SOCKET)) else { return None };
    Some((role, UnixStream::connect(PathBuf::from(path)).unwrap()))
}

/// Stops a child by `SIGSTOP`. All of its threads stand still when this returns: the kernel says so once the
/// last one does.
pub(crate) fn stop(child: &std::process::Child) {
    use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
    let pid = Pid::from_child(child);
    kill_process(pid, Signal::STOP).unwrap();
    let (_, status) = waitpid(Some(pid), WaitOptions::UNTRACED).unwrap().expect("it waits");
    assert!(status.stopped(), "{status:?}");
}
