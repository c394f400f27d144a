//! `EventFd` for loom: a counter under a lock, in place of the one in the kernel.

use std::io;

use loom::alloc::Track;
use loom::sync::{Condvar, Mutex};

/// It is readable while it is raised.
pub(crate) struct EventFd {
    count: Mutex<u64>,
    raised: Condvar,
    /// A descriptor that nobody closes is a leak, which loom reports.
    _open: Track<()>,
}

impl EventFd {
    #[allow(clippy::unnecessary_wraps, reason = "the same shape as the real one")]
    pub(crate) fn new() -> io::Result<Self> {
        Ok(Self { count: Mutex::new(0), raised: Condvar::new(), _open: Track::new(()) })
    }

    pub(crate) fn raise(&self) {
        *self.count.lock().unwrap() += 1;
        self.raised.notify_all();
    }

    pub(crate) fn clear(&self) {
        *self.count.lock().unwrap() = 0;
    }

    /// How often it was raised since it was cleared.
    pub(crate) fn count(&self) -> u64 {
        *self.count.lock().unwrap()
    }

    /// Waits until it is raised, as `poll` does.
    pub(crate) fn wait(&self) {
        let mut count = self.count.lock().unwrap();
        while *count == 0 {
            count = self.raised.wait(count).unwrap();
        }
    }
}
