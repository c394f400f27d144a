//! Notifiers in real workers: by `epoll`, by `poll`, and in tokio's.
#![cfg(all(target_os = "linux", feature = "std", not(any(miri, annulus_loom))))]
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

mod edges;
mod loops;
mod rings;

use annulus::{Notifier, Waitable};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// How often the descriptor was written to since it was cleared. Clears it.
fn writes(notifier: &Notifier<impl Waitable>) -> u64 {
    let mut count = [0; 8];
    match rustix::io::read(notifier, &mut count) {
        Ok(_) => u64::from_ne_bytes(count),
        Err(error) => {
            assert_eq!(error, rustix::io::Errno::AGAIN);
            0
        }
    }
}

fn is_readable(notifier: &Notifier<impl Waitable>) -> bool {
    let mut polled = [PollFd::new(notifier, PollFlags::IN)];
    poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap() == 1
}
