//! Waking: all that sleep, or as many as there is something for.

use super::{EventCount, FENCE_BOTH_SIDES, FENCED, SLEEPER, TASK, THREAD, WAKE_UP, YOUTH};
use crate::base::hint::unlikely;
use crate::sync::{Ordering, mutated};
use crate::wait::waiters::Woken;

impl EventCount {
    /// As [`notify`](Self::notify), where any of those who sleep will do for the caller's last `count`
    /// stores, one for each: wakes no more than that, as far as that can be told. Whoever is woken must look
    /// for all such stores, not for one of them.
    #[cfg_attr(not(annulus_loom), inline)]
    pub(crate) fn notify_some(&self, count: usize) {
        if unlikely(self.may_have_sleepers()) {
            self.wake_some(count);
        }
    }

    /// event.wake3 of both words: whether nobody sleeps here or elsewhere, where light fences are enough to
    /// tell.
    #[inline(always)]
    pub(super) fn has_sleepers_nowhere(&self) -> bool {
        // In this order: where there is no elsewhere, that is all there is to ask.
        self.is_empty_elsewhere() && self.is_clear_of(SLEEPER | FENCE_BOTH_SIDES)
    }

    #[cold]
    #[inline(never)]
    pub(super) fn wake(&self) {
        // On a ring that other processes have, this is the path of each message: a look there, and no more.
        if !self.has_sleepers_nowhere() {
            self.wake_fenced();
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn wake_fenced(&self) {
        // Where it comes to event.wake4, that needs no event.wake2.
        // Decision 0070: one locked instruction for a message after a wake-up.
        if self.remote.is_none() && self.has_sleepers() && self.wake_all() {
            return;
        }
        // event.wake2, where the sleeper can't make up for it; pairs with event.sleep2. What follows is
        // event.wake3.
        self.fence();
        self.wake_all();
    }

    /// event.wake4 and event.wake5, or event.wake6 and event.wake7, for all who sleep. False if the word said
    /// that nobody does, and is as it was.
    pub(in crate::wait) fn wake_all(&self) -> bool {
        let (mut is_over, mut is_counted) = (false, false);
        while !is_over {
            self.wake_remote();
            let sleepers = self.wake_threads();
            is_counted |= sleepers != 0;
            if sleepers & TASK == 0 || mutated!("event_wakes_no_task") {
                break;
            }
            // Whoever registered before event.wake4 was armed before that, and is counted.
            let is_any = self.tasks().count() != 0;
            let woken = if is_any { self.tasks().wake_all() } else { Woken::default() };
            // Where others left a wish that fell short, this is its event.wake6.
            is_over = !woken.is_short;
            if self.tasks().are_away(woken.is_any) {
                is_over &= !self.take_down_tasks();
            }
        }
        is_counted
    }

    /// As [`notify`](Self::notify), for threads only: none of an executor's code runs.
    #[cfg(feature = "std")]
    pub(crate) fn notify_threads(&self) {
        if self.may_have_sleepers() {
            // As in `wake`.
            self.fence();
            self.wake_remote();
            self.wake_threads();
        }
    }

    /// The threads of all processes, where there are others.
    fn wake_remote(&self) {
        if let Some(remote) = &self.remote {
            if let (true, Some(counters)) = (remote.wake_all(), &self.counters) {
                counters.woke();
            }
        }
    }

    /// event.wake4 and event.wake5, for all threads that sleep. Returns the word before.
    fn wake_threads(&self) -> u32 {
        let sleepers = self.count_wake_up(THREAD);
        if sleepers & THREAD != 0 && !mutated!("event_no_wake") {
            self.parking.wake_all(&self.word);
        }
        sleepers
    }

    /// event.wake6 and event.wake7 for tasks, after wake-ups that found none.
    /// True where a wish of others fell short.
    // Decision 0070: not at each wake-up.
    fn take_down_tasks(&self) -> bool {
        let sleepers = self.count_wake_up(TASK);
        let is_any = sleepers & TASK != 0 && !mutated!("tasks_taken_down_unseen");
        is_any && self.tasks().wake_all().is_short
    }

    #[cold]
    #[inline(never)]
    fn wake_some(&self, count: usize) {
        if self.remote.is_some() {
            // Nobody counts the sleepers of other processes.
            // Unreached: a stop of an event loop on a ring of another process, when the thread is about to
            // sleep: a matter of luck
            return self.wake();
        }
        if !self.has_sleepers() {
            // As in `wake_fenced`.
            self.fence();
        }
        // Relaxed: a hint. Whoever is about to sleep and not counted yet is woken with the others, or sees
        // the word change.
        let waiting = (self.asleep.load(Ordering::Relaxed) as usize).saturating_add(self.tasks().count());
        if waiting <= count && !mutated!("event_keeps_its_sleepers") {
            return self.wake_fenced();
        }
        if mutated!("wakes_all") {
            return self.wake_fenced();
        }
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        if count == 0 {
            return;
        }
        let sleepers = self.count_wake_up(if mutated!("event_forgets_the_others") { SLEEPER } else { 0 });
        if sleepers == 0 {
            // Others have taken down the bits meanwhile. There was no event.wake4, and perhaps no
            // event.wake2.
            return self.wake_fenced();
        }
        // event.wake5.
        // Decision 0060: the bit stays for the others.
        if !self.wake_up_to(count, sleepers) && !mutated!("event_keeps_its_sleepers") {
            // event.wake6 and event.wake7.
            self.wake_all();
        }
    }

    /// event.wake5, for up to `count` of those of whom the word spoke before event.wake4. False where there
    /// were not so many, or not so many as others left to this thread.
    fn wake_up_to(&self, count: u32, word: u32) -> bool {
        let mut is_short = false;
        let threads = |count| {
            let are_there = count > 0 && word & THREAD != 0;
            if are_there { self.parking.wake(&self.word, count) } else { 0 }
        };
        let mut tasks = |count| {
            if count == 0 || word & TASK == 0 {
                return 0;
            }
            let woken = self.tasks().wake_some(count);
            is_short = woken.is_short;
            woken.count
        };
        // The number of the wake-up decides who comes first, so that nobody waits for ever.
        let woken = if word & WAKE_UP == 0 || mutated!("threads_first") {
            let woken = threads(count);
            woken + tasks(count - woken)
        } else {
            let woken = tasks(count);
            woken + threads(count - woken)
        };
        woken >= count && !is_short
    }

    /// event.wake4, or event.wake6: counts a wake-up, and takes down the bits of those who are about to be
    /// woken without exception. Returns the word before: 0 if nobody sleeps.
    pub(super) fn count_wake_up(&self, taken_down: u32) -> u32 {
        let mut seen = self.word.load(Ordering::Relaxed);
        while seen & SLEEPER != 0 {
            let mut left = seen & !taken_down;
            if left & SLEEPER == 0 && !mutated!("event_fenced_for_good") {
                left &= !FENCED;
            }
            let next = if mutated!("event_word_unchanged") { seen } else { left.wrapping_add(WAKE_UP) };
            // event.wake4. Release: pairs with the Acquire of event.sleep4. Acquire: pairs with the Release
            // of event.sleep1. A failure means that a sleeper came, or that another waker did this one's
            // work.
            match self.word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => {
                    if let Some(counters) = &self.counters {
                        counters.woke();
                    }
                    if self.youth.load(Ordering::Relaxed) != 0 {
                        self.youth.store(YOUTH, Ordering::Relaxed);
                    }
                    return seen;
                }
                Err(now) => seen = now,
            }
        }
        0
    }
}
