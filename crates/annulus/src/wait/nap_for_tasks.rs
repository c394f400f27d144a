//! Naps for waiters that have no clock: tasks, notifiers, and the listeners of a `select!`.
//!
//! A thread that is refused the heavy fence, because the process has not registered for it, naps
//! (`fence.rs`): it looks again some milliseconds later, so that a wake-up that was missed comes late rather
//! than never. A waiter with a waker can't do that. So a thread of the library naps in its place. It
//! wakes all that asked for that after 1, 2, 4, 8 and then 16 milliseconds. A waiter that still waits after
//! that registers anew, and asks again. If nobody does during a nap, the thread ends. After the last nap it
//! registers, wakes all once more, and ends: from then on there are barriers, and nobody asks. A process that
//! ends meanwhile does not wait for the thread before it registers.
//!
//! Nobody waits for that thread. A waker is cloned, woken and dropped without the lock, because all of that
//! is others' code.

#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
pub(super) use helper::wake_later;

/// Where nobody is refused a barrier, nobody has to be woken later.
#[cfg(not(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri))))]
pub(super) fn wake_later(_: &core::task::Waker) -> bool {
    false
}

#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
mod helper {
    use core::task::Waker;
    use core::time::Duration;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::vec::Vec;
    use std::{mem, process, thread};

    use crate::os::helper_thread;
    use crate::wait::catch_panic::contain;
    use crate::wait::fence;

    /// So many milliseconds lie between two looks.
    const MILLISECONDS: [u64; 5] = [1, 2, 4, 8, 16];

    static NAPS: Mutex<Naps> = Mutex::new(Naps { wakers: Vec::new(), napping: 0 });

    /// The wakers that are to be woken later.
    struct Naps {
        wakers: Vec<Waker>,
        /// The process whose thread naps; 0 if none does. (A child that was forked has no such thread.)
        napping: u32,
    }

    /// Has `waker` woken some milliseconds later. False where nobody would do that: the process has tried to
    /// register, so naps would have no end; or the system refuses a thread.
    pub(in crate::wait) fn wake_later(waker: &Waker) -> bool {
        let waker = waker.clone();
        let mut naps = lock();
        // Behind the lock: a caller that comes too late for the last wake-ups sees that the thread has
        // registered.
        if fence::has_tried() {
            return false;
        }
        if naps.napping != process::id() {
            // Unreached: the system has no thread to give
            if helper_thread::spawn("annulus-register", nap_and_register).is_err() {
                return false;
            }
            naps.napping = process::id();
        }
        // A task that looks again and again meanwhile is here once. (What is not pushed is dropped after the
        // lock.)
        if naps.wakers.last().is_none_or(|last| !last.will_wake(&waker)) {
            naps.wakers.push(waker);
        }
        true
    }

    fn nap_and_register() {
        for nap in MILLISECONDS {
            thread::sleep(Duration::from_millis(nap));
            let wakers = {
                let mut naps = lock();
                // Unreached: nobody asks during a nap, which is as other tests wait
                if naps.wakers.is_empty() {
                    naps.napping = 0;
                    return;
                }
                mem::take(&mut naps.wakers)
            };
            wake(wakers);
        }
        fence::register();
        let wakers = mem::take(&mut lock().wakers);
        wake(wakers);
    }

    fn wake(wakers: Vec<Waker>) {
        for waker in wakers {
            contain(|| waker.wake());
        }
    }

    fn lock() -> MutexGuard<'static, Naps> {
        // Nobody panics with it.
        NAPS.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(test)]
    mod tests {
        use std::sync::Arc;

        use super::*;
        use crate::wait::counting_waker::Woken;

        /// Also where the others' code panics, and beside others.
        #[test]
        fn napper_is_woken_until_the_process_has_registered() {
            let woken = [(); 2].map(|()| Arc::new(Woken::default()));
            // As often as it takes: other tests ask, too.
            while woken.iter().all(|woken| wake_later(&woken.waker()) && wake_later(&woken.waker())) {
                let before = woken.each_ref().map(|woken| woken.count());
                while woken.each_ref().map(|woken| woken.count()) == before {
                    thread::yield_now();
                }
            }
            assert!(fence::has_tried() && fence::heavy_if_registered(fence::is_asymmetric()));
            // A waiter that was still there is woken, too, and nobody keeps a waker.
            while woken.iter().any(|woken| Arc::strong_count(woken) > 1) {
                thread::yield_now();
            }
        }
    }
}
