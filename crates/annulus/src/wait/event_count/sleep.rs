//! The sleeper's half. [`register`](EventCount::register) is event.sleep1, event.sleep2 and event.sleep5, and
//! [`sleep_on`](EventCount::sleep_on) is event.sleep4. Between the two the caller polls (event.sleep3).

use core::task::Waker;

use super::{EventCount, FENCE_BOTH_SIDES, FENCED, SLEEPER, TASK, THREAD, cohort};
use crate::sync::{Ordering, ordering, seeded};
use crate::wait::other_processes::Remote;
use crate::wait::{Deadline, fence, nap_for_tasks};

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
    /// thread of the library naps for it, and wakes `waker` (`nap_for_tasks.rs`). Where the system refuses
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
        if !ticket.fenced && !nap_for_tasks::wake_later(waker) {
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
