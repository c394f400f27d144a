//! [`Sleeper`]: a thread that sleeps until a `Waker` wakes it.
//!
//! ```text
//! the waker                                          the thread
//! parker.wake1  word := WOKEN          Release       parker.sleep2  word: EMPTY → ASLEEP, sleep while it is that
//!               it was ASLEEP: wake                  parker.sleep3  word := EMPTY                         Acquire
//! ```
//!
//! A wake-up that comes before the sleep is kept in the word, so parker.sleep2 finds it. One that comes late,
//! when the thread has gone on to another wait, ends a sleep there too early: the thread looks once more.

use core::cell::Cell;
use core::task::Waker;
use std::sync::Arc;
use std::task::Wake;

use super::Deadline;
use super::park::{Cohort, Parking};
use crate::sync::{AtomicU32, Ordering};

/// What a thread sleeps on.
struct Parker {
    word: AtomicU32,
    parking: Parking,
}

/// Nobody sleeps, and no wake-up has come.
const EMPTY: u32 = 0;
/// The thread sleeps, or is about to.
const ASLEEP: u32 = 1;
/// A wake-up has come.
const WOKEN: u32 = 2;

impl Wake for Parker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // parker.wake1. Release: pairs with the Acquire of parker.sleep3.
        if self.word.swap(WOKEN, Ordering::Release) == ASLEEP {
            self.parking.wake_all(&self.word, Cohort::Even);
        }
    }
}

/// A thread that may sleep, with the waker that wakes it.
pub(super) struct Sleeper {
    parker: Arc<Parker>,
    waker: Waker,
}

impl Sleeper {
    fn new() -> Self {
        let parker = Arc::new(Parker { word: AtomicU32::new(EMPTY), parking: Parking::new() });
        Self { waker: Waker::from(Arc::clone(&parker)), parker }
    }

    /// Lets `wait` have the sleeper of this thread. Only the first one of a thread is allocated, and the
    /// sleepers of waits inside of waits.
    pub(super) fn with<R>(wait: impl FnOnce(&Self) -> R) -> R {
        let kept = KeptSleeper(Some(KEPT.try_with(Cell::take).ok().flatten().unwrap_or_else(Self::new)));
        wait(kept.0.as_ref().expect("it is there until the end"))
    }

    /// What wakes this thread.
    pub(super) fn waker(&self) -> &Waker {
        &self.waker
    }

    /// Sleeps until the waker is woken, or `deadline`; it may also return earlier. What was stored before the
    /// wake-up is seen afterwards.
    pub(super) fn sleep(&self, deadline: Deadline) {
        let Parker { word, parking } = &*self.parker;
        // parker.sleep2. Relaxed: parker.sleep3 sees what the wake-up is for.
        if word.compare_exchange(EMPTY, ASLEEP, Ordering::Relaxed, Ordering::Relaxed).is_ok() {
            parking.wait_while(word, ASLEEP, deadline, Cohort::Even);
        }
        // parker.sleep3. Acquire: pairs with the Release of parker.wake1, of each wake-up that came.
        word.swap(EMPTY, Ordering::Acquire);
    }
}

std::thread_local! {
    /// The sleeper of this thread, where no wait has it. (Not under loom: all its threads are one.)
    static KEPT: Cell<Option<Sleeper>> = const { Cell::new(None) };
}

/// A sleeper that the next wait of this thread gets.
struct KeptSleeper(Option<Sleeper>);

impl Drop for KeptSleeper {
    fn drop(&mut self) {
        if !cfg!(annulus_loom) {
            // (A thread that ends has none any more.)
            let _ = KEPT.try_with(|kept| kept.set(self.0.take()));
        }
    }
}
