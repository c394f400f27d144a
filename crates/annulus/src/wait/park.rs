//! Sleeping until a word changes: a futex where there is one, else a lock and condition variables with the
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

/// A thread that sleeps on a word is of one of two cohorts, and a wake-up is for one of them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cohort {
    /// The only one, where nobody makes a difference.
    Even = 0,
    Odd = 1,
}

#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
mod futex {
    use core::num::NonZeroU32;
    use std::time::Instant;

    use crate::os::linux::{FutexOf, Moment, futex_wait, futex_wake};

    use super::{AtomicU32, Cohort, Deadline, Ordering};

    impl Cohort {
        fn bit(self) -> NonZeroU32 {
            // 1 and 2.
            NonZeroU32::MIN.saturating_add(self as u32)
        }
    }

    /// Next to no state: the kernel keeps the sleepers, by the word's address.
    pub(in crate::wait) struct Parking(FutexOf);

    impl Parking {
        pub(in crate::wait) fn new() -> Self {
            Self(FutexOf::Process)
        }

        /// For threads of several processes, which have the word in memory that they share.
        #[cfg(feature = "shm")]
        pub(in crate::wait) fn between_processes() -> Self {
            Self(FutexOf::Processes)
        }

        /// Sleeps in a cohort while `word` is `value`, until it is woken or `deadline` passes.
        pub(in crate::wait) fn wait_while(
            &self,
            word: &AtomicU32,
            value: u32,
            deadline: Deadline,
            cohort: Cohort,
        ) {
            // Acquire: pairs with the Release of the wake-up that changed the word.
            while word.load(Ordering::Acquire) == value {
                let end = match deadline {
                    None => None,
                    Some(deadline) => match deadline.checked_duration_since(Instant::now()) {
                        // The kernel's type holds fewer seconds than Rust's: a thread that waits 292,000
                        // million years may wait without end.
                        // Mutants: `is_zero() with true`: the system does not wait for no time, either.
                        Some(left) if !left.is_zero() => Moment::in_future(left),
                        _ => return,
                    },
                };
                // It returns at once where the word has changed, and early on a signal: the loop looks again.
                if futex_wait(word, self.0, value, end.as_ref(), cohort.bit()) {
                    // Woken. The word may be as it was, where this thread came after the wake-up was counted.
                    // Acquire: as above.
                    word.load(Ordering::Acquire);
                    return;
                }
            }
        }

        /// Wakes a whole cohort.
        pub(in crate::wait) fn wake_all(&self, word: &AtomicU32, cohort: Cohort) {
            self.wake(word, u32::MAX >> 1, cohort);
        }

        /// Wakes up to `count` of a cohort, the earliest first, and returns how many that
        /// were.
        pub(in crate::wait) fn wake(&self, word: &AtomicU32, count: u32, cohort: Cohort) -> u32 {
            futex_wake(word, self.0, count, cohort.bit())
        }
    }
}

// (And in tests, so that it is tried on each system.)
#[cfg(all(feature = "std", any(test, not(all(target_os = "linux", not(annulus_loom), not(miri))))))]
#[cfg_attr(all(target_os = "linux", not(annulus_loom), not(miri)), allow(dead_code, reason = "for tests"))]
mod portable {
    #[cfg(annulus_loom)]
    use loom::sync::{Condvar, Mutex, MutexGuard};
    #[cfg(not(annulus_loom))]
    use std::sync::{Condvar, Mutex, MutexGuard};

    use std::sync::PoisonError;
    use std::time::Instant;

    use super::{AtomicU32, Cohort, Deadline, Ordering};

    /// Both cohorts.
    pub(in crate::wait) struct Parking([ParkingPlace; 2]);

    /// A sleeper looks at the word while it holds the lock, and a waker takes the lock after it has changed
    /// the word. So the waker comes either before that look, or after the sleeper has gone to sleep.
    struct ParkingPlace {
        lock: Mutex<Sleepers>,
        woken: Condvar,
    }

    /// Each sleeper is in one of the two numbers until it returns. A thread that returns takes a wake-up that
    /// is on its way, whichever thread it was meant for: also a sleeper whose time is over, or that the
    /// condition variable let go by itself. If there is none, nobody has woken it, and it takes itself off.
    struct Sleepers {
        /// Those for whom no wake-up is on its way.
        asleep: u32,
        /// Wake-ups that nobody has taken.
        woken: u32,
    }

    impl Sleepers {
        /// Wakes up to `count`, and says how many that were.
        fn wake(&mut self, count: u32) -> u32 {
            let woken = count.min(self.asleep);
            self.asleep -= woken;
            self.woken += woken;
            woken
        }

        /// A sleeper returns.
        fn leave(&mut self) {
            let place = if self.woken > 0 { &mut self.woken } else { &mut self.asleep };
            *place -= 1;
        }
    }

    impl Parking {
        pub(in crate::wait) fn new() -> Self {
            Self([(); 2].map(|()| ParkingPlace {
                lock: Mutex::new(Sleepers { asleep: 0, woken: 0 }),
                woken: Condvar::new(),
            }))
        }

        /// In models, where all threads are of one process.
        // Unreached: for loom and Miri
        #[cfg(feature = "shm")]
        pub(in crate::wait) fn between_processes() -> Self {
            Self::new()
        }

        fn place(&self, cohort: Cohort) -> &ParkingPlace {
            &self.0[cohort as usize]
        }

        /// Sleeps in a cohort while `word` is `value`, until it is woken or `deadline` passes; it may also
        /// return earlier.
        pub(in crate::wait) fn wait_while(
            &self,
            word: &AtomicU32,
            value: u32,
            deadline: Deadline,
            cohort: Cohort,
        ) {
            self.place(cohort).wait_while(word, value, deadline);
        }

        /// Wakes a whole cohort.
        pub(in crate::wait) fn wake_all(&self, _word: &AtomicU32, cohort: Cohort) {
            let place = self.place(cohort);
            place.lock().wake(u32::MAX);
            place.woken.notify_all();
        }

        /// Wakes up to `count` of a cohort, and returns how many that were.
        pub(in crate::wait) fn wake(&self, _word: &AtomicU32, count: u32, cohort: Cohort) -> u32 {
            let place = self.place(cohort);
            let woken = place.lock().wake(count);
            (0..woken).for_each(|_| place.woken.notify_one());
            woken
        }

        /// How many sleep.
        #[cfg(test)]
        pub(super) fn asleep(&self) -> u32 {
            self.0.iter().map(|place| place.lock().asleep).sum()
        }

        /// As condition variables may return.
        #[cfg(test)]
        pub(super) fn return_spuriously(&self) {
            self.0.iter().for_each(|place| place.woken.notify_all());
        }
    }

    impl ParkingPlace {
        fn lock(&self) -> MutexGuard<'_, Sleepers> {
            // The lock guards two numbers, and nothing panics while it is held.
            self.lock.lock().unwrap_or_else(PoisonError::into_inner)
        }

        fn wait_while(&self, word: &AtomicU32, value: u32, deadline: Deadline) {
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
            guard.asleep += 1;
            match left {
                None => guard = self.woken.wait(guard).unwrap_or_else(PoisonError::into_inner),
                Some(left) => {
                    guard = self.woken.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0;
                }
            }
            guard.leave();
        }
    }
}

#[cfg(not(feature = "std"))]
mod nobody {
    use super::{AtomicU32, Cohort, Deadline};

    /// Without `std` no strategy sleeps.
    pub(in crate::wait) struct Parking;

    #[allow(clippy::unused_self, reason = "the same shape as the others")]
    impl Parking {
        pub(in crate::wait) fn new() -> Self {
            Self
        }

        pub(in crate::wait) fn wait_while(
            &self,
            _word: &AtomicU32,
            _value: u32,
            _deadline: Deadline,
            _cohort: Cohort,
        ) {
        }

        pub(in crate::wait) fn wake_all(&self, _word: &AtomicU32, _cohort: Cohort) {}

        pub(in crate::wait) fn wake(&self, _word: &AtomicU32, _count: u32, _cohort: Cohort) -> u32 {
            0
        }
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use alloc::vec::Vec;
    use std::thread;

    use super::portable::Parking;
    use super::{AtomicU32, Cohort, Ordering};

    /// Until so many sleep.
    fn await_asleep(parking: &Parking, count: u32) {
        while parking.asleep() != count {
            thread::yield_now();
        }
    }

    /// A condition variable may return although nothing has notified it. A thread that was not woken is not
    /// anybody's sleeper any more: the next wake-up is for another.
    #[test]
    fn sleeper_that_was_not_woken_takes_itself_off() {
        let (word, parking) = (AtomicU32::new(7), Parking::new());
        thread::scope(|scope| {
            for sleepers in 1..=3 {
                let sleep = || parking.wait_while(&word, 7, None, Cohort::Odd);
                let threads: Vec<_> = (0..sleepers).map(|_| scope.spawn(sleep)).collect();
                await_asleep(&parking, sleepers);
                parking.return_spuriously();
                for thread in threads {
                    thread.join().unwrap();
                }
                assert_eq!(parking.wake(&word, 1, Cohort::Odd), 0, "nobody sleeps");
            }
        });
    }

    /// Each wake-up of some is for as many as it says, whichever thread has returned before by itself.
    #[test]
    fn wake_up_goes_to_a_thread_that_sleeps() {
        let (word, parking) = (AtomicU32::new(7), Parking::new());
        let returned = AtomicU32::new(0);
        thread::scope(|scope| {
            let sleep = || {
                parking.wait_while(&word, 7, None, Cohort::Odd);
                returned.fetch_add(1, Ordering::Relaxed);
            };
            let first = scope.spawn(sleep);
            await_asleep(&parking, 1);
            parking.return_spuriously();
            first.join().unwrap();
            (0..3).for_each(|_| drop(scope.spawn(sleep)));
            await_asleep(&parking, 3);
            // More may return than are woken: a thread that is about to sleep when another is notified.
            for left in (0..3).rev() {
                assert!(parking.wake(&word, 1, Cohort::Odd) <= 1);
                while returned.load(Ordering::Relaxed) + parking.asleep() < 4 {
                    thread::yield_now();
                }
                assert!(parking.asleep() <= left);
            }
            assert_eq!(parking.wake(&word, 5, Cohort::Odd), 0, "nobody is left");
        });
    }

    /// Nor is one whose time is over; and nobody is counted off twice.
    #[test]
    fn deadline_takes_the_sleeper_off() {
        let (word, parking) = (AtomicU32::new(7), Parking::new());
        let soon = std::time::Instant::now() + std::time::Duration::from_millis(1);
        let late = soon + std::time::Duration::from_secs(600);
        thread::scope(|scope| {
            scope.spawn(|| parking.wait_while(&word, 7, Some(late), Cohort::Odd));
            await_asleep(&parking, 1);
            parking.wait_while(&word, 7, Some(soon), Cohort::Odd);
            assert_eq!(parking.asleep(), 1);
            parking.wake_all(&word, Cohort::Odd);
            assert_eq!(parking.asleep(), 0);
        });
        parking.wait_while(&word, 8, None, Cohort::Odd);
        parking.wait_while(&word, 7, Some(std::time::Instant::now()), Cohort::Odd);
        assert_eq!(parking.wake(&word, 1, Cohort::Odd), 0);
    }
}
