//! The sleeper's half. [`register`](EventCount::register) is event.sleep1, event.sleep2 and event.sleep5, and
//! [`sleep_on`](EventCount::sleep_on) is event.sleep4. Between the two the caller polls (event.sleep3).
//!
//! *Naps for waiters that have no clock* (tasks, notifiers, the listeners of a `select!`). A thread that is
//! refused the heavy fence, because the process has not registered for it, naps (`fence.rs`): it looks again
//! some milliseconds later, so that a wake-up that was missed comes late rather than never. A waiter with a
//! waker can't do that. So a thread of the library naps in its place. It wakes all that asked for that after
//! 1, 2, 4, 8 and then 16 milliseconds. A waiter that still waits after
//! that registers anew, and asks again. If nobody does during a nap, the thread ends. After the last nap it
//! registers, wakes all once more, and ends: from then on there are barriers, and nobody asks. A process that
//! ends meanwhile does not wait for the thread before it registers.
//!
//! Nobody waits for that thread. A waker is cloned, woken and dropped without the lock, because all of that
//! is others' code.

use core::task::Waker;

use super::{EventCount, FENCE_BOTH_SIDES, FENCED, SLEEPER, TASK, THREAD, cohort};
use crate::sync::{Ordering, ordering, seeded};
use crate::wait::other_processes::Remote;
use crate::wait::{Deadline, fence};
#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
use helper::wake_later;

/// A ticket for one sleep: what [`EventCount::register`] saw; consumed by [`EventCount::sleep_on`].
pub(crate) struct Ticket {
    /// The word while nobody has been woken since.
    pub(super) word: u32,
    /// Whether the heavy fence was had. If not, a wake-up may be missed, and the sleep must be a nap.
    pub(super) fenced: bool,
}

impl EventCount {
    /// Says that the caller is about to sleep. It must poll once more before it
    /// calls [`sleep_on`](Self::sleep_on).
    pub(crate) fn register(&self) -> Ticket {
        if let Some(remote) = &*self.remote {
            let (word, fenced) = remote.register();
            return Ticket { word, fenced };
        }
        self.register_as(THREAD, seeded!("event_no_heavy_fence"))
    }

    /// As [`register`](Self::register), of a task that is armed among [`tasks`](Self::tasks). It must poll
    /// once more before it returns to its executor. False if the task would not be woken: its wakers are of
    /// another process, and the system has no thread for the helper that listens to them here.
    ///
    /// A task has no clock, so it can't nap. Where the process has not registered for the heavy fence, a
    /// thread of the library naps for it, and wakes `waker` (see above). Where the system refuses
    /// that, too, this waits a millisecond, as a close does, in which a processor carries out what it has
    /// begun.
    #[inline]
    pub(in crate::wait) fn register_task(&self, waker: &Waker) -> bool {
        // Pairs with event.wake2 of a waker that has found a sleeper's bit, and of one that takes it down.
        if !seeded!("task_no_fence") {
            fence::full();
        }
        // event.sleep1, which writes nothing where the bits stand since the last one. Acquire: pairs with
        // event.sleep5.
        let seen = self.word.load(Ordering::Acquire);
        // Decision 0134: one fence for a wait.
        if seen & TASK == 0 || seen & FENCED == 0 {
            self.register_task_anew(waker);
        }
        // The waker may be of another process.
        self.remote.as_ref().is_none_or(Remote::register_task)
    }

    /// event.sleep1, event.sleep2 and event.sleep5 of a task.
    #[cold]
    #[inline(never)]
    fn register_task_anew(&self, waker: &Waker) {
        let ticket = self.register_as(TASK, seeded!("task_no_heavy_fence"));
        if !ticket.fenced && !wake_later(waker) {
            fence::wait_out();
        }
    }

    /// event.sleep1, event.sleep2 and event.sleep5 of a thread or a task.
    fn register_as(&self, kind: u32, without_fence: bool) -> Ticket {
        // event.sleep1. Release: pairs with the Acquire of event.wake4, so a waker that sees the bit finds
        // the task. Acquire: pairs with event.sleep5. event.sleep2, its own or another sleeper's, orders it
        // before event.sleep3.
        let seen = self.word.fetch_or(kind, ordering!(AcqRel unless "event_fence_of_others_unseen"));
        let word = seen | kind;
        let others = if seeded!("event_fenced_too_early") { SLEEPER } else { FENCED };
        if seen & kind != 0 && seen & others != 0 {
            return Ticket { word, fenced: true };
        }
        // event.sleep2. Pairs with event.wake2. A waiter that is refused it naps, or is woken to look
        // again.
        let fenced = without_fence || fence::heavy_if_registered(word & FENCE_BOTH_SIDES == 0);
        // Decision 0071: one fence for many. Only if nothing has changed since event.sleep1: the bit means
        // the sleepers of this time.
        let is_noted = fenced && {
            // event.sleep5. Release: pairs with event.sleep1 of threads that come later.
            let (success, failure) = (ordering!(Release unless "event_fence_unsaid"), Ordering::Relaxed);
            self.word.compare_exchange(word, word | FENCED, success, failure).is_ok()
        };
        Ticket { word: if is_noted { word | FENCED } else { word }, fenced }
    }

    /// The caller is about to [sleep](Self::sleep_on), which it may do in several naps.
    pub(in crate::wait) fn count_sleep(&self) {
        if let Some(counters) = &self.counters {
            counters.slept();
        }
    }

    /// Sleeps until a wake-up that came after `ticket`, or until `deadline`; it may also return earlier.
    /// False where it was a nap, which ran out: then the wait, of which `naps` naps had run out before,
    /// sleeps again, with a new ticket.
    #[allow(clippy::needless_pass_by_value, reason = "a ticket is good for one sleep")]
    pub(in crate::wait) fn sleep_on(&self, ticket: Ticket, deadline: Deadline, naps: u32) -> bool {
        let sleep = |deadline| {
            if let Some(remote) = &*self.remote {
                return remote.sleep(ticket.word, deadline);
            }
            self.threads.sleep_while(&self.word, ticket.word, deadline, cohort(ticket.word));
        };
        if ticket.fenced {
            sleep(deadline);
            return true;
        }
        fence::nap(naps, deadline, sleep)
    }

    #[cfg(all(test, feature = "std"))]
    pub(in crate::wait) fn sleep(&self, ticket: Ticket, deadline: Deadline) -> bool {
        self.sleep_on(ticket, deadline, 0)
    }
}

/// Where nobody is refused a barrier, nobody has to be woken later.
#[cfg(not(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri))))]
fn wake_later(_: &core::task::Waker) -> bool {
    false
}

#[cfg(all(target_os = "linux", feature = "std", not(annulus_loom), not(miri)))]
mod helper {
    use core::task::Waker;
    use core::time::Duration;
    use std::sync::{Mutex, MutexGuard, PoisonError};
    use std::vec::Vec;
    use std::{mem, process, thread};

    use crate::base::drop_all::contain;
    use crate::os::helper_thread;
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
    pub(super) fn wake_later(waker: &Waker) -> bool {
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
