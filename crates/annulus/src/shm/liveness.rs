//! [`PeerState`]: whether the other side is still there, as the kernel tells it.

use core::fmt;

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
pub enum PeerState {
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
            Self::Alive => "alive",
            Self::Closed => "closed",
            Self::Dead => "dead",
        })
    }
}
