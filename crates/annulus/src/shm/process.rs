//! [`ProcessId`]: which process, also after its number was given to another one.
//! [`PeerState`]: whether the other side is still there, as the kernel tells it.

use core::fmt;
use std::io;

use crate::os::process_lifetime::own_start_time;

/// A process: its number, and when it began. The kernel gives numbers away again, but not with the same
/// start.
///
/// ```
/// let me = annulus::shm::ProcessId::current()?;
/// assert_eq!(me.pid(), std::process::id());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ProcessId {
    pid: u32,
    start_time: u64,
}

impl ProcessId {
    /// The calling process. It reads a file of `/proc`.
    ///
    /// # Errors
    ///
    /// What the system says where there is no `/proc`.
    pub fn current() -> io::Result<Self> {
        Ok(Self { pid: std::process::id(), start_time: own_start_time()? })
    }

    pub(super) const fn new(pid: u32, start_time: u64) -> Self {
        Self { pid, start_time }
    }

    /// Its number.
    #[must_use]
    pub fn pid(self) -> u32 {
        self.pid
    }

    /// When it began: the field `starttime` of `/proc/PID/stat`, in ticks of the kernel's clock since the
    /// system began.
    #[must_use]
    pub fn start_time(self) -> u64 {
        self.start_time
    }
}

/// Its number.
impl fmt::Display for ProcessId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)
    }
}

/// Whether another process is still there.
///
/// The kernel tells it: by a lock that the process holds, which ends with the process however it ends, and by
/// a descriptor of the process. No clock decides it. So a process that is stopped (`SIGSTOP`), or gets no
/// time on a CPU, is alive; one that was killed is dead at once, also while nobody has asked for its exit
/// code.
///
/// ```
/// use annulus::shm::PeerState;
///
/// assert_eq!(PeerState::Dead.to_string(), "dead");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PeerState {
    /// It has not come yet.
    NotYet,
    /// It is there.
    Alive,
    /// It has closed its side.
    Closed,
    /// It has ended without that.
    Dead,
}

impl PeerState {
    /// `is_closed` must have been asked after `is_alive`: a close is shown before the lock goes.
    pub(super) fn told(is_alive: bool, is_closed: bool) -> Self {
        match (is_closed, is_alive) {
            (true, _) => Self::Closed,
            (false, true) => Self::Alive,
            (false, false) => Self::Dead,
        }
    }
}

impl fmt::Display for PeerState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::NotYet => "not there yet",
            Self::Alive => "alive",
            Self::Closed => "closed",
            Self::Dead => "dead",
        })
    }
}
