//! [`EventFd`]: a counter in the kernel, which can be polled for.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, eventfd};
use rustix::io::{read, retry_on_intr, write};

/// It is readable while it is raised.
pub(crate) struct EventFd(OwnedFd);

impl EventFd {
    /// A new one, which is not raised.
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::NONBLOCK | EventfdFlags::CLOEXEC)?))
    }

    /// From now on it is readable. One system call, which never blocks.
    pub(crate) fn raise(&self) {
        // Refused only where the counter is full, and then it is readable.
        _ = retry_on_intr(|| write(&self.0, &1_u64.to_ne_bytes()));
    }

    /// From now on it is not readable.
    pub(crate) fn clear(&self) {
        // Refused where it is not raised.
        _ = retry_on_intr(|| read(&self.0, &mut [0; 8]));
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}
