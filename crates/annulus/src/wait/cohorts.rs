//! [`Cohorts`]: the threads that sleep on one word. If all of many are to wake up, the waker wakes one, and
//! the threads that are woken wake the others.
//!
//! The kernel wakes threads one after another, some microseconds each. A thread that wakes hundreds by one
//! call stays in it for a millisecond, and the last one sleeps for as long. So from some number on the
//! threads pass the wake-up on: with enough cores the last one is woken after as many steps as the number has
//! bits.
//!
//! *Cohorts.* A wake-up of all threads changes the lowest bit of the count in the word (event.wake4), and
//! nothing else does. The threads that sleep on words with one value of that bit are a cohort. So a wake-up
//! that is passed on reaches only those for whom it was, and not those that have had their message and sleep
//! again: they are of the other cohort.
//!
//! ```text
//! waker                                             each thread of the cohort that wakes up
//! event.wake4   the cohort changes
//! event.owe10   owed := the number of sleepers,     event.pass11  owed − 4, if it is not 0
//!               if that is more                       0 is left:  wake the whole cohort
//! event.pass11  as each that wakes up, for one        more:       wake 4; there were fewer? owed := 0, and
//!                                                                 if it was not 0, wake the whole cohort
//! ```
//!
//! The waker wakes one only: a second one may take the waker's own core from it.
//!
//! *Why all are woken.* After event.wake4 nobody goes to sleep in that cohort any more, until the next
//! wake-up but one: the kernel (or the lock) compares the word. What is owed is a hint of how many there are,
//! and may be any number but 0. The thread that takes the last of it wakes the whole cohort, and that comes
//! after event.owe10, so after event.wake4. And what is owed is taken to the last: as long as some is left,
//! there is the waker, or a thread that was woken at event.pass11 and is about to come there. A thread that
//! comes there, and finds something, takes it; if it leaves some, it has woken others, who come there after
//! it.
//!
//! A wake-up that is still passed on when the next but one comes may meet threads of that one, whose word has
//! the same bit. Then one of those may be woken for nothing. It sleeps again, and passes on what is owed, as
//! the others do; both wake-ups are over when nothing is.

use super::Deadline;
use super::park::{Cohort, Parking};
use crate::sync::{AtomicU32, Ordering, seeded};

/// The threads that sleep on a word, in two cohorts.
#[repr(C)]
pub(super) struct Cohorts {
    parking: Parking,
    /// How many are in event.sleep4: a hint.
    asleep: AtomicU32,
    /// Of each cohort, how many wake-ups are to be passed on.
    owed: [AtomicU32; 2],
}

/// So many threads are woken by the waker itself.
// Decision 0131: the threads that are woken wake the others.
const FEW: u32 = if cfg!(annulus_loom) { 1 } else { 4 };

/// So many are woken by each thread that passes a wake-up on.
const EACH: u32 = if cfg!(annulus_loom) { 1 } else { 4 };

impl Cohorts {
    #[inline(always)]
    pub(super) fn new() -> Self {
        Self { parking: Parking::new(), asleep: AtomicU32::new(0), owed: [(); 2].map(|()| AtomicU32::new(0)) }
    }

    /// How many sleep, or will soon: a hint.
    pub(super) fn asleep(&self) -> u32 {
        // Relaxed: a hint. A thread that is about to sleep and not counted yet is woken with the others, or
        // sees the word change.
        self.asleep.load(Ordering::Relaxed)
    }

    /// event.sleep4: sleeps in a cohort while `word` is `value`, until it is woken or `deadline` passes; it
    /// may also return earlier. If others are to be woken with it, it wakes some of them.
    pub(super) fn sleep_while(&self, word: &AtomicU32, value: u32, deadline: Deadline, cohort: Cohort) {
        self.asleep.fetch_add(1, Ordering::Relaxed);
        self.parking.wait_while(word, value, deadline, cohort);
        self.asleep.fetch_sub(1, Ordering::Relaxed);
        // Relaxed: as at event.owe10.
        if self.owed[cohort as usize].load(Ordering::Relaxed) != 0 && !seeded!("woken_passes_nothing_on") {
            self.wake_others(word, EACH, cohort);
        }
    }

    /// event.wake5, of some of a cohort. Returns how many there were.
    pub(super) fn wake(&self, word: &AtomicU32, count: u32, cohort: Cohort) -> u32 {
        self.parking.wake(word, count, cohort)
    }

    /// event.wake5, of a whole cohort, in which nobody can fall asleep any more.
    pub(super) fn wake_all(&self, word: &AtomicU32, cohort: Cohort) {
        let asleep = self.asleep();
        if asleep <= FEW {
            self.parking.wake_all(word, cohort);
            return;
        }
        // event.owe10. Relaxed: the kernel, or the lock, orders it before the event.pass11 of the threads
        // that are woken after it.
        self.owed[cohort as usize].fetch_max(asleep, Ordering::Relaxed);
        self.wake_others(word, 1, cohort);
    }

    /// event.pass11: if a wake-up of a cohort is to be passed on, passes it on to so many.
    #[cold]
    fn wake_others(&self, word: &AtomicU32, count: u32, cohort: Cohort) {
        let owed = &self.owed[cohort as usize];
        let less = |owed: u32| (owed != 0).then(|| owed.saturating_sub(count));
        // Relaxed, here and below: as at event.owe10.
        let Ok(seen) = owed.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) else { return };
        let is_last =
            seen <= count || (self.wake(word, count, cohort) < count && owed.swap(0, Ordering::Relaxed) != 0);
        if is_last && !seeded!("last_passes_nothing_on") {
            self.parking.wake_all(word, cohort);
        }
    }
}

/// For tests of the threads that count them.
#[cfg(all(test, feature = "std"))]
impl Cohorts {
    pub(super) fn pretend_asleep(&self, count: u32) {
        self.asleep.store(count, Ordering::Relaxed);
    }

    pub(super) fn is_owed_nothing(&self) -> bool {
        self.owed.iter().all(|owed| owed.load(Ordering::Relaxed) == 0)
    }
}

#[cfg(all(test, feature = "std"))]
mod tests {
    use super::*;

    /// Whatever is owed, and to whom: it is taken to the last.
    #[test]
    fn wake_up_that_is_owed_to_nobody_is_taken_at_once() {
        let (word, cohorts) = (AtomicU32::new(0), Cohorts::new());
        for owed in [0, 1, EACH, EACH + 1, 1_000, u32::MAX] {
            for cohort in [Cohort::Even, Cohort::Odd] {
                cohorts.owed[cohort as usize].store(owed, Ordering::Relaxed);
                // The word is another, so it does not sleep.
                cohorts.sleep_while(&word, 1, None, cohort);
                assert!(cohorts.is_owed_nothing());
            }
        }
    }
}
