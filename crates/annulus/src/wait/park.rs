//! Sleeping until a word changes: a futex where there is one, else a lock and a condition variable with the same meaning.

use super::Deadline;
use crate::sync::{AtomicU32, Ordering};

#[cfg(all(target_os = "linux", not(annulus_loom), not(miri)))]
pub(super) use futex::Parking;
#[cfg(not(all(target_os = "linux", not(annulus_loom), not(miri))))]
pub(super) use portable::Parking;

#[cfg(all(target_os = "linux", not(annulus_loom), not(miri)))]
mod futex {
    use std::time::Instant;

    use rustix::thread::futex;

    use super::{AtomicU32, Deadline, Ordering};

    /// No state: the kernel keeps the sleepers, by the word's address.
    pub(in crate::wait) struct Parking;

    impl Parking {
        pub(in crate::wait) fn new() -> Self {
            Self
        }

        /// Sleeps while `word` is `value`, until it is woken or `deadline` passes.
        #[allow(clippy::unused_self, reason = "the same shape as the portable one")]
        pub(in crate::wait) fn wait_while(&self, word: &AtomicU32, value: u32, deadline: Deadline) {
            // Acquire: pairs with the Release of the wake-up that changed the word.
            while word.load(Ordering::Acquire) == value {
                let timeout = match deadline {
                    None => None,
                    Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                        // The kernel's type holds fewer seconds than Rust's: whoever waits 292,000 million years
                        // may wait without end.
                        Some(left) if !left.is_zero() => futex::Timespec::try_from(left).ok(),
                        _ => return,
                    },
                };
                // It returns at once where the word has changed, and early on a signal: the loop looks again. The
                // timeout is relative, on the monotonic clock.
                let _ = futex::wait(word, futex::Flags::PRIVATE, value, timeout.as_ref());
            }
        }

        #[allow(clippy::unused_self, reason = "the same shape as the portable one")]
        pub(in crate::wait) fn wake_all(&self, word: &AtomicU32) {
            // Nobody is owed an answer: where the call fails, nobody sleeps on the word.
            let _ = futex::wake(word, futex::Flags::PRIVATE, u32::MAX >> 1);
        }
    }
}

#[cfg(not(all(target_os = "linux", not(annulus_loom), not(miri))))]
mod portable {
    #[cfg(annulus_loom)]
    use loom::sync::{Condvar, Mutex, MutexGuard};
    #[cfg(not(annulus_loom))]
    use std::sync::{Condvar, Mutex, MutexGuard};

    use std::sync::PoisonError;
    use std::time::Instant;

    use super::{AtomicU32, Deadline, Ordering};

    /// A sleeper looks at the word with the lock held, and a waker takes the lock after it changed the word: so it comes
    /// either before that look, or after the sleeper sleeps.
    pub(in crate::wait) struct Parking {
        lock: Mutex<()>,
        woken: Condvar,
    }

    impl Parking {
        pub(in crate::wait) fn new() -> Self {
            Self { lock: Mutex::new(()), woken: Condvar::new() }
        }

        fn lock(&self) -> MutexGuard<'_, ()> {
            // The lock guards no data that a panic could have left half-done.
            self.lock.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Sleeps while `word` is `value`, until it is woken or `deadline` passes.
        pub(in crate::wait) fn wait_while(&self, word: &AtomicU32, value: u32, deadline: Deadline) {
            let mut guard = self.lock();
            // Acquire: pairs with the Release of the wake-up that changed the word.
            while word.load(Ordering::Acquire) == value {
                guard = match deadline {
                    None => self.woken.wait(guard).unwrap_or_else(PoisonError::into_inner),
                    Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                        Some(left) if !left.is_zero() => {
                            self.woken.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0
                        }
                        _ => return,
                    },
                };
            }
        }

        pub(in crate::wait) fn wake_all(&self, _word: &AtomicU32) {
            drop(self.lock());
            self.woken.notify_all();
        }
    }
}
