//! Waking: all that sleep, or as many as there is something for.

use super::{
    EventCount, FENCED, SLEEPER, SleeperKind, TASK, THREAD, WAKE_UP, WAKE_UP_OF_SOME, YOUTH, cohort,
};
use crate::sync::{Ordering, ordering, seeded};
use crate::wait::{fence, waiters::Waiters};

impl EventCount {
    /// As [`notify`](Self::notify), for a caller that has called [`fence`](Self::fence) since that store.
    #[inline]
    pub(crate) fn notify_fenced(&self) {
        match self.sleepers() {
            SleeperKind::Nobody => {}
            SleeperKind::Tasks => self.wake_tasks(),
            SleeperKind::More => self.wake_all(),
        }
    }

    /// event.close9: sets the flag, and wakes all that registered before. What the caller did
    /// before is published, as by a store with Release.
    ///
    /// No fence: registrations change the same word, so one of the two comes first. A waiter that registers
    /// later sees the flag in the word; a task or a thread that registered before is seen here.
    // Decision 0130: the word of the sleepers tells of the flag, too.
    #[inline]
    pub(crate) fn close(&self) {
        // Release: pairs with the Acquire of event.sleep1, and of a look for the flag. Acquire: pairs
        // with the Release of event.sleep1 of a task, which is found then.
        let ordering = ordering!(AcqRel unless "queue_close_relaxed");
        let seen = self.word.fetch_or(Self::CLOSED, ordering);
        if seeded!("queue_close_wakes_nobody") {
            return;
        }
        // (Waiters of other processes register elsewhere.)
        if self.remote.is_some() || seen & SLEEPER != 0 {
            self.wake();
        }
    }

    /// Wakes all that sleep, if any does.
    // Decision 0134: one fence for a message after a wake-up, and nothing is written.
    #[cold]
    #[inline(never)]
    pub(in crate::wait) fn wake(&self) {
        // On a ring that other processes have, this is the path of each message: a look there, and no more.
        if !self.has_sleepers_nowhere() {
            // event.wake2, where the sleeper can't make up for it; pairs with event.sleep2, and with the
            // fence of each task before event.sleep1.
            self.fence();
            self.notify_fenced();
        }
    }

    /// Wakes all that sleep, behind the caller's [`fence`](Self::fence).
    #[inline(never)]
    pub(crate) fn wake_all(&self) {
        loop {
            self.wake_remote();
            // Relaxed: the fence decides what it sees.
            let word = self.word.load(Ordering::Relaxed);
            if word & THREAD != 0 {
                self.wake_threads();
            }
            if word & TASK == 0 || !self.wake_tasks_of(self.tasks(), word) {
                return;
            }
            // Others left a wish that fell short: this is its event.wake6.
            self.fence();
        }
    }

    /// As [`wake_all`](Self::wake_all), where [`sleepers`](Self::sleepers) has just found tasks alone.
    #[inline(never)]
    pub(crate) fn wake_tasks(&self) {
        // (Where there is no elsewhere, the tasks are here.)
        if self.wake_tasks_of(&self.tasks, TASK) {
            // Unreached: others left a wish that fell short: threads have to meet there
            self.wake();
        }
    }

    /// Wakes all tasks, where `word` was seen. True where others left a wish that fell short.
    #[inline(always)]
    fn wake_tasks_of(&self, tasks: &Waiters, word: u32) -> bool {
        if seeded!("event_wakes_no_task") {
            return false;
        }
        let woken = tasks.wake_all();
        if woken.is_any {
            tasks.found();
            self.count_woken_tasks(word);
        } else {
            self.found_no_task();
        }
        woken.is_short
    }

    /// After so many, one after the other, nobody is expected to come back.
    #[inline]
    pub(super) fn found_no_task(&self) {
        if self.tasks().are_away() {
            self.take_down_tasks();
        }
    }

    /// Where the word spoke of threads, too, that is counted once.
    #[inline]
    fn count_woken_tasks(&self, word: u32) {
        if word & THREAD == 0 {
            self.count_woken();
        }
    }

    /// Somebody was woken.
    #[inline]
    fn count_woken(&self) {
        if let Some(counters) = &self.counters {
            counters.woke();
        }
        if self.youth.load(Ordering::Relaxed) != 0 {
            self.youth.store(YOUTH, Ordering::Relaxed);
        }
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
    pub(super) fn wake_remote(&self) {
        if let Some(remote) = &*self.remote {
            if let (true, Some(counters)) = (remote.wake_all(), &self.counters) {
                counters.woke();
            }
        }
    }

    /// event.wake4 and event.wake5, for all threads that sleep.
    fn wake_threads(&self) {
        let sleepers = self.count_wake_up(THREAD);
        if sleepers & THREAD != 0 && !seeded!("event_no_wake") {
            self.threads.wake_all(&self.word, cohort(sleepers));
        }
    }

    /// event.wake6 and event.wake7 for tasks, after wake-ups that found none.
    // Decision 0070: not at each wake-up.
    #[cold]
    #[inline(never)]
    fn take_down_tasks(&self) {
        let sleepers = self.count_wake_up(TASK);
        // Pairs with the fence of a task that registers and finds the bit: it sees that it is down, or is
        // seen here.
        fence::full();
        if sleepers & TASK != 0 && !seeded!("tasks_taken_down_unseen") && self.tasks().wake_all().is_short {
            // Unreached: as in `wake_tasks`
            self.wake();
        }
    }

    #[cold]
    #[inline(never)]
    pub(super) fn wake_some(&self, count: usize) {
        // As in `wake`.
        self.fence();
        self.notify_some_fenced(count);
    }

    /// As [`notify_some`](Self::notify_some), for a caller that has called [`fence`](Self::fence) since the
    /// first of these stores.
    #[cold]
    #[inline(never)]
    pub(crate) fn notify_some_fenced(&self, count: usize) {
        if self.remote.is_some() {
            // Nobody counts the sleepers of other processes.
            // Unreached: a stop of a worker on a ring of another process, when the thread is about to
            // sleep: a matter of luck
            return self.wake_all();
        }
        // Relaxed: the fences decide what it sees.
        let word = self.word.load(Ordering::Relaxed);
        if count == 0 || word & SLEEPER == 0 {
            return;
        }
        let waiting = (self.threads.asleep() as usize).saturating_add(self.tasks().count());
        let is_for_all = waiting <= count && !seeded!("event_keeps_its_sleepers");
        if is_for_all || seeded!("wakes_all") {
            return self.wake_all();
        }
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        // event.wake5.
        // Decision 0060: the bit stays for the others.
        if !self.wake_up_to(count, word) && !seeded!("event_keeps_its_sleepers") {
            // event.wake6 and event.wake7.
            self.wake();
        }
    }

    /// event.wake5, for at most `count` of the waiters that `word` announced. False if fewer than `count`
    /// were woken, or fewer than another waker left to this thread.
    fn wake_up_to(&self, count: u32, mut word: u32) -> bool {
        if word & THREAD != 0 {
            word = self.count_wake_up(if seeded!("event_forgets_the_others") { SLEEPER } else { 0 });
        }
        let mut is_short = false;
        let threads = |count| {
            let are_there = count > 0 && word & THREAD != 0;
            if are_there { self.threads.wake(&self.word, count, cohort(word)) } else { 0 }
        };
        let mut tasks = |count| {
            if count == 0 || word & TASK == 0 {
                return 0;
            }
            let woken = self.tasks().wake_some(count);
            is_short = woken.is_short;
            if woken.count != 0 {
                self.count_woken_tasks(word);
            }
            woken.count
        };
        // The number of the wake-up decides which comes first, so that nobody waits for ever.
        let woken = if word & WAKE_UP_OF_SOME == 0 || seeded!("threads_first") {
            let woken = threads(count);
            woken + tasks(count - woken)
        } else {
            let woken = tasks(count);
            woken + threads(count - woken)
        };
        woken >= count && !is_short
    }

    /// event.wake4, or event.wake6: counts a wake-up, and takes down the bits of the waiters that are about
    /// to be woken without exception. Returns the word before: 0 if nobody sleeps.
    pub(super) fn count_wake_up(&self, taken_down: u32) -> u32 {
        let mut seen = self.word.load(Ordering::Relaxed);
        while seen & SLEEPER != 0 {
            let mut left = seen & !taken_down;
            if left & SLEEPER == 0 && !seeded!("event_fenced_for_good") {
                left &= !FENCED;
            }
            let step = if taken_down & THREAD == 0 { WAKE_UP_OF_SOME } else { WAKE_UP };
            let next = if seeded!("event_word_unchanged") { seen } else { left.wrapping_add(step) };
            // event.wake4. Release: pairs with the Acquire of event.sleep4. Acquire: pairs with the Release
            // of event.sleep1. A failure means that a sleeper came, or that another waker did this one's
            // work.
            match self.word.compare_exchange_weak(seen, next, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => {
                    self.count_woken();
                    return seen;
                }
                Err(now) => seen = now,
            }
        }
        0
    }
}
