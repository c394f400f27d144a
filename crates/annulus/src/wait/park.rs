//! Sleeping until a word changes: a futex where there is one, else a lock and a condition variable with the
//! same meaning.

use super::Deadline;
use crate::sync::AtomicU32;
#[cfg(feature = "std")]
use crate::sync::Ordering;

#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
pub(super) use futex::Parking;
#[cfg(not(feature = "std"))]
pub(super) use nobody::Parking;
#[cfg(all(feature = "std", not(all(target_os = "linux", not(annulus_loom), not(miri)))))]
pub(super) use portable::Parking;

#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
mod futex {
    use std::time::Instant;

    use rustix::thread::futex;

    use super::{AtomicU32, Deadline, Ordering};

    /// Next to no state: the kernel keeps the sleepers, by the word's address.
    pub(in crate::wait) struct Parking(futex::Flags);

    impl Parking {
        pub(in crate::wait) fn new() -> Self {
            Self(futex::Flags::PRIVATE)
        }

        /// For threads of several processes, which have the word in memory that they share.
        #[cfg(feature = "shm")]
        pub(in crate::wait) fn between_processes() -> Self {
            Self(futex::Flags::empty())
        }

        /// Sleeps while `word` is `value`, until it is woken or `deadline` passes.
        pub(in crate::wait) fn wait_while(&self, word: &AtomicU32, value: u32, deadline: Deadline) {
            // Acquire: pairs with the Release of the wake-up that changed the word.
            while word.load(Ordering::Acquire) == value {
                let timeout = match deadline {
                    None => None,
                    Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                        // The kernel's type holds fewer seconds than Rust's: whoever waits 292,000 million
                        // years may wait without end.
                        // Mutants: `is_zero() with true`: the system does not wait for no time, either.
                        Some(left) if !left.is_zero() => futex::Timespec::try_from(left).ok(),
                        _ => return,
                    },
                };
                // It returns an error at once where the word has changed, and early on a signal: the loop
                // looks again. The timeout is relative, on the monotonic clock.
                if futex::wait(word, self.0, value, timeout.as_ref()).is_ok() {
                    // Woken. The word may be as it was, where this thread came after the wake-up was counted.
                    // Acquire: as above.
                    word.load(Ordering::Acquire);
                    return;
                }
            }
        }

        pub(in crate::wait) fn wake_all(&self, word: &AtomicU32) {
            self.wake(word, u32::MAX >> 1);
        }

        /// Wakes up to `count`, and returns how many that were.
        pub(in crate::wait) fn wake(&self, word: &AtomicU32, count: u32) -> u32 {
            // Where the call fails, nobody sleeps on the word.
            let woken = futex::wake(word, self.0, count).unwrap_or(0);
            u32::try_from(woken).unwrap_or(u32::MAX)
        }
    }
}

#[cfg(all(feature = "std", not(all(target_os = "linux", not(annulus_loom), not(miri)))))]
mod portable {
    #[cfg(annulus_loom)]
    use loom::sync::{Condvar, Mutex, MutexGuard};
    #[cfg(not(annulus_loom))]
    use std::sync::{Condvar, Mutex, MutexGuard};

    use std::sync::PoisonError;
    use std::time::Instant;

    use super::{AtomicU32, Deadline, Ordering};

    /// A sleeper looks at the word while it holds the lock, and a waker takes the lock after it has changed
    /// the word. So the waker comes either before that look, or after the sleeper has gone to sleep.
    pub(in crate::wait) struct Parking {
        /// The number of sleepers for whom no wake-up is on its way. (A sleeper that times out just as it is
        /// woken may be counted off twice. Then the number is too low, and whoever wakes some wakes all.)
        lock: Mutex<u32>,
        woken: Condvar,
    }

    impl Parking {
        pub(in crate::wait) fn new() -> Self {
            Self { lock: Mutex::new(0), woken: Condvar::new() }
        }

        /// In models, where all threads are of one process.
        #[cfg(feature = "shm")]
        pub(in crate::wait) fn between_processes() -> Self {
            Self::new()
        }

        fn lock(&self) -> MutexGuard<'_, u32> {
            // The lock guards a number, which a panic cannot leave half-written.
            self.lock.lock().unwrap_or_else(PoisonError::into_inner)
        }

        /// Sleeps while `word` is `value`, until it is woken or `deadline` passes; it may also return
        /// earlier.
        pub(in crate::wait) fn wait_while(&self, word: &AtomicU32, value: u32, deadline: Deadline) {
            let mut guard = self.lock();
            // Acquire: pairs with the Release of the wake-up that changed the word.
            if word.load(Ordering::Acquire) != value {
                return;
            }
            let left = match deadline {
                None => None,
                Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                    Some(left) if !left.is_zero() => Some(left),
                    _ => return,
                },
            };
            *guard += 1;
            match left {
                None => drop(self.woken.wait(guard).unwrap_or_else(PoisonError::into_inner)),
                Some(left) => {
                    let (mut guard, end) =
                        self.woken.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner);
                    if end.timed_out() {
                        *guard = guard.saturating_sub(1);
                    }
                }
            }
        }

        pub(in crate::wait) fn wake_all(&self, _word: &AtomicU32) {
            *self.lock() = 0;
            self.woken.notify_all();
        }

        /// Wakes up to `count`, and returns how many that were.
        pub(in crate::wait) fn wake(&self, _word: &AtomicU32, count: u32) -> u32 {
            let mut guard = self.lock();
            let woken = count.min(*guard);
            *guard -= woken;
            drop(guard);
            (0..woken).for_each(|_| self.woken.notify_one());
            woken
        }
    }
}

#[cfg(not(feature = "std"))]
mod nobody {
    use super::{AtomicU32, Deadline};

    /// Without `std` no strategy sleeps.
    pub(in crate::wait) struct Parking;

    #[allow(clippy::unused_self, reason = "the same shape as the others")]
    impl Parking {
        pub(in crate::wait) fn new() -> Self {
            Self
        }

        pub(in crate::wait) fn wait_while(&self, _word: &AtomicU32, _value: u32, _deadline: Deadline) {}

        pub(in crate::wait) fn wake_all(&self, _word: &AtomicU32) {}

        pub(in crate::wait) fn wake(&self, _word: &AtomicU32, _count: u32) -> u32 {
            0
        }
    }
}
