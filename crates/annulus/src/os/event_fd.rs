//! [`EventFd`]: a counter in the kernel, which can be polled for.

pub(crate) use counter::EventFd;

/// Of the kernel.
#[cfg(not(annulus_loom))]
mod counter {
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
}

/// For loom: a counter under a lock, in place of the one in the kernel.
#[cfg(annulus_loom)]
mod counter {
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
}
