//! [`ProcessId`]: which process, also after its number was given to another one.

use core::fmt;
use std::io;

use crate::os::process::own_start_time;

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
