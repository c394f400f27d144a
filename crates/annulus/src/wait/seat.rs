//! [`Seat`]: a place at an event for who is woken by a `Waker`: a task, a `select`, or a file descriptor.
//!
//! Whoever waits this way takes a seat, [registers](Seat::register) a waker there, looks once more, and then
//! waits for the waker in its own manner. A wake-up that the seat had for itself, in place of any other
//! waiter, belongs to a message (or a free slot). Before each look its owner [disarms](Seat::disarmed) the
//! seat: the look then uses such a wake-up. A seat that is dropped instead passes it on to another waiter.

use core::ptr::NonNull;
use core::task::Waker;

use super::Event;
use super::waiters::{Ended, Place};
use crate::sync::mutated;

/// A place among the tasks of an event, and its owner.
pub(crate) struct Seat {
    event: NonNull<Event>,
    /// `None` only while it is dropped, or abandoned.
    place: Option<Place>,
}

// SAFETY: it stands for a shared reference to an event, which is `Sync`, and for a place, which is `Send`.
unsafe impl Send for Seat {}
// SAFETY: nothing can be done with a shared reference to it.
unsafe impl Sync for Seat {}

impl Seat {
    /// # Safety
    ///
    /// The event lives, and stays where it is, as long as the seat.
    pub(crate) unsafe fn at(event: NonNull<Event>) -> Self {
        // SAFETY: the caller's promise, for both.
        Self { event, place: Some(unsafe { event.as_ref().tasks().take_place() }) }
    }

    /// Whether it is a place at `event`.
    pub(crate) fn is_at(&self, event: NonNull<Event>) -> bool {
        self.event == event
    }

    fn event(&self) -> &Event {
        // SAFETY: the promise of `at`.
        unsafe { self.event.as_ref() }
    }

    /// From now on nobody wakes the task; the caller looks for what it waits for. `None` where the place is
    /// another's from now on.
    #[cfg_attr(not(feature = "async"), allow(dead_code, reason = "what has to do with tasks"))]
    pub(crate) fn disarmed(self) -> Option<Self> {
        self.disarmed_and_woken().0
    }

    /// As [`disarmed`](Self::disarmed). Also returns whether the seat was woken in place of any other. If the
    /// look that follows finds a message and does not take it, the caller [passes that on](Self::pass_on).
    pub(crate) fn disarmed_and_woken(mut self) -> (Option<Self>, bool) {
        let ended = self.place.as_mut().map_or(Ended::Plainly, Place::disarm);
        if ended == Ended::Abandoned {
            self.place = None;
            return (None, false);
        }
        (Some(self), ended == Ended::WokenAlone)
    }

    /// Wakes another waiter in place of this one.
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "what has to do with threads"))]
    pub(crate) fn pass_on(&self) {
        if !mutated!("wake_up_kept") {
            self.event().notify_some(1);
        }
    }

    /// From now on `waker` is woken. The caller looks once more before it waits for that. False where a
    /// wake-up may be missed all the same. The seat is [disarmed](Self::disarmed), or new.
    pub(crate) fn register(&mut self, waker: &Waker) -> bool {
        let Some(place) = &mut self.place else { return false };
        place.arm(waker);
        self.event().register_task()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some(mut place) = self.place.take() else { return };
        let ended = place.disarm();
        // Dropped last: its destructor is an executor's code, which may panic.
        let _waker = if ended == Ended::Abandoned { None } else { place.give_back() };
        if ended == Ended::WokenAlone {
            self.pass_on();
        }
    }
}
