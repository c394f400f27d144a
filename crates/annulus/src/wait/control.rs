//! [`Control`]: asks a thread that receives to stop, and wakes it if it sleeps in its ring.
//!
//! The thread sleeps where every reader of its ring sleeps: at the ring's eventcount. So it needs no sleep of
//! its own, and a message wakes it as it wakes any other reader. A thread that asks it to stop must notify
//! that eventcount. But the eventcount is gone when the handle is, so the thread lends it, under a lock:
//!
//! ```text
//! the stopping thread                            the thread
//! stop.ask1  asked := DRAIN or NOW   Release     stop.lend3    lend the eventcount it is to sleep at    (lock)
//! stop.ask2  notify what is lent     (lock)      event.sleep1 to event.sleep3
//!                                                stop.look4    asked? This is event.sleep3             Acquire
//!                                                event.sleep4
//!                                                stop.lend5    lend nothing, before the handle goes     (lock)
//! ```
//!
//! *Why no stop is slept through.* If stop.lend3 comes before stop.ask2, stop.ask2 finds the eventcount:
//! stop.ask1 is its store that matters (event.wake1), and stop.look4 its second look (`wait/event_count.rs`).
//! If stop.ask2 comes before stop.lend3, the lock orders stop.ask1 before stop.look4.
//!
//! The lock is taken by the stopping thread, and by the thread when it sleeps for the first time, where its
//! eventcount changes (in a stage), and at its end. Under it, nobody runs others' code: only threads are
//! woken, not tasks.

use alloc::sync::Arc;
use core::ptr::NonNull;
#[cfg(not(annulus_loom))]
use std::sync::Mutex;
use std::sync::PoisonError;

#[cfg(annulus_loom)]
use loom::sync::Mutex;

use super::{EventCount, Look, Poll, Source};
use crate::sync::{AtomicBool, AtomicU32, AtomicU64, Ordering, ordering, seeded};

/// How a thread is asked to stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stop {
    /// After what was sent before.
    Drained = 1,
    /// After the message that it is handling.
    Now = 2,
}

/// What the thread and the threads that stop it share.
// Decision 0074: an eventcount that is lent, and no second place to sleep.
pub(crate) struct Control {
    /// 0, or a [`Stop`]. It only grows.
    asked: AtomicU32,
    /// Whether the thread has panicked. Only the thread sets it.
    panicked: AtomicBool,
    lent: Mutex<Option<LentEvent>>,
}

/// An eventcount that lives until it is taken back.
#[derive(Clone, Copy, PartialEq, Eq)]
struct LentEvent(NonNull<EventCount>);

// SAFETY: it stands for a shared reference to an eventcount, which is `Sync`.
unsafe impl Send for LentEvent {}

impl Control {
    pub(crate) fn new() -> Self {
        Self { asked: AtomicU32::new(0), panicked: AtomicBool::new(false), lent: Mutex::new(None) }
    }

    /// stop.ask1 and stop.ask2.
    pub(crate) fn stop(&self, stop: Stop) {
        // Release: pairs with the Acquire of stop.look4: what the caller did before comes before the drain.
        self.asked.fetch_max(stop as u32, ordering!(Release unless "stop_relaxed"));
        if !seeded!("stop_wakes_nobody") {
            self.wake();
        }
    }

    /// stop.ask2 by itself, after the store of something else that the thread [looks for](NextOrStop).
    pub(crate) fn wake(&self) {
        self.with_lent(|lent| {
            if let Some(LentEvent(event)) = lent {
                // SAFETY: it is lent, and the lock is held, so it is not taken back meanwhile.
                unsafe { event.as_ref() }.notify_threads();
            }
        });
    }

    /// stop.look4.
    #[inline]
    pub(crate) fn asked(&self) -> Option<Stop> {
        // Acquire: pairs with the Release of stop.ask1.
        match self.asked.load(Ordering::Acquire) {
            0 => None,
            1 => Some(Stop::Drained),
            _ => Some(Stop::Now),
        }
    }

    /// stop.panic6: the thread panics. Its handle is still there.
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "for workers"))]
    pub(crate) fn note_panic(&self) {
        // Release: pairs with the Acquire of stop.look7: what the handler did before can be seen.
        self.panicked.store(true, Ordering::Release);
    }

    /// stop.look7. A thread that learned from the ring that the handle is gone sees the panic.
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "for workers"))]
    pub(crate) fn has_panicked(&self) -> bool {
        // Acquire: pairs with the Release of stop.panic6.
        self.panicked.load(Ordering::Acquire)
    }

    /// stop.lend3 and stop.lend5.
    fn lend(&self, event: Option<LentEvent>) {
        self.with_lent(|lent| *lent = event);
    }

    fn with_lent(&self, change: impl FnOnce(&mut Option<LentEvent>)) {
        // Nothing panics under the lock.
        change(&mut self.lent.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Default for Control {
    fn default() -> Self {
        Self::new()
    }
}

/// The thread's side: what it lends, it takes back when this is dropped.
pub(crate) struct Lending {
    control: Arc<Control>,
    /// What is lent.
    event: Option<LentEvent>,
}

impl Lending {
    pub(crate) fn new(control: Arc<Control>) -> Self {
        Self { control, event: None }
    }

    #[inline]
    pub(crate) fn control(&self) -> &Arc<Control> {
        &self.control
    }

    /// stop.lend3: the thread may be about to sleep at `event`.
    ///
    /// # Safety
    ///
    /// The eventcount lives, and stays where it is, until this is dropped.
    pub(crate) unsafe fn lend(&mut self, event: NonNull<EventCount>) {
        let event = Some(LentEvent(event));
        if self.event != event {
            self.event = event;
            self.control.lend(event);
        }
    }
}

impl Drop for Lending {
    fn drop(&mut self) {
        // stop.lend5.
        if self.event.is_some() && !seeded!("event_lent_for_good") {
            self.control.lend(None);
        }
    }
}

/// The next message of a handle, the end of its ring, a stop, or something else for which the thread is
/// [woken](Control::wake).
pub(crate) struct NextOrStop<'r, R, F> {
    receiver: &'r mut R,
    lending: &'r mut Lending,
    is_over: F,
}

impl<'r, R: Source, F: Fn() -> bool> NextOrStop<'r, R, F> {
    /// # Safety
    ///
    /// `receiver` lives longer than `lending`.
    pub(crate) unsafe fn new(receiver: &'r mut R, lending: &'r mut Lending, is_over: F) -> Self {
        Self { receiver, lending, is_over }
    }
}

impl<R: Source, F: Fn() -> bool> Poll for NextOrStop<'_, R, F> {
    type Found = ();

    fn wait_point(&self) -> &EventCount {
        self.receiver.wait_point()
    }

    /// A stop, which changes another word, is found a little later.
    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        self.receiver.watched()
    }

    fn poll(&mut self) -> Look<()> {
        if self.lending.control().asked().is_some() || self.receiver.is_ready() || (self.is_over)() {
            return Look::Found(());
        }
        let event = NonNull::from(self.receiver.wait_point());
        // SAFETY: it lives as long as the receiver (`Source`), and so longer than the lending (`new`).
        unsafe { self.lending.lend(event) };
        // If the thread is about to sleep, it has lent the eventcount before it registered there: after a
        // look that changed the eventcount, `wait_until` begins anew.
        if seeded!("worker_never_sleeps") { Look::Again } else { Look::Nothing }
    }
}

/// The thread stops, and may have been woken for a message in the place of another reader: so that one is
/// woken.
pub(crate) fn pass_on(receiver: &impl Source) {
    if !seeded!("stop_keeps_the_wake_up") {
        receiver.wait_point().notify_some(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nobody notifies an eventcount that may be gone.
    #[test]
    fn lending_is_taken_back() {
        let (control, first, second) = (Arc::new(Control::new()), EventCount::new(), EventCount::new());
        let is_lent = || {
            let mut is_lent = None;
            control.with_lent(|lent| is_lent = lent.as_ref().map(|lent| lent.0));
            is_lent
        };
        let mut lending = Lending::new(Arc::clone(&control));
        assert_eq!(is_lent(), None);
        for event in [&first, &second, &second] {
            // SAFETY: they live longer.
            unsafe { lending.lend(NonNull::from(event)) };
            assert_eq!(is_lent(), Some(NonNull::from(event)));
        }
        let ticket = second.register();
        control.stop(Stop::Drained);
        assert!(!second.has_sleepers());
        second.sleep(ticket, None); // would hang
        drop(lending);
        assert_eq!(is_lent(), None);
    }

    #[test]
    fn stop_only_grows() {
        let control = Control::new();
        assert_eq!(control.asked(), None);
        control.stop(Stop::Now);
        control.stop(Stop::Drained);
        assert_eq!(control.asked(), Some(Stop::Now));
    }
}
