//! [`Seat`]: a place at an event for who is woken by a `Waker`: a task, a `select`, or a file descriptor.
//!
//! Whoever waits this way takes a seat, [registers](Seat::register) a waker there, looks once more, and then
//! waits for the waker in its own manner. A wake-up that the seat had for itself, in place of any other
//! waiter, belongs to a message (or a free slot). Before each look its owner [disarms](Seat::disarm) the
//! seat: the look then uses such a wake-up. A seat that is dropped instead passes it on to another waiter.

use core::ptr::NonNull;
use core::task::Waker;

use super::Event;
use super::waiters::{Ended, Place};
use crate::sync::mutated;

/// A place among the tasks of an event, and its owner.
pub(crate) struct Seat {
    event: NonNull<Event>,
    /// `None` where it was given back, or abandoned.
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
    // Inlined, so that it is made in its place.
    #[inline(always)]
    pub(crate) unsafe fn at(event: NonNull<Event>) -> Self {
        // SAFETY: the caller's promise, for both.
        Self { event, place: Some(unsafe { event.as_ref().tasks().take_place() }) }
    }

    /// Whether it is a place at `event`.
    pub(crate) fn is_at(&self, event: NonNull<Event>) -> bool {
        self.event == event
    }

    /// Whether nobody has woken its owner since it was [registered](Self::register).
    pub(super) fn is_armed(&self) -> bool {
        self.place.as_ref().is_some_and(Place::is_waiting)
    }

    fn event(&self) -> &Event {
        // SAFETY: the promise of `at`.
        unsafe { self.event.as_ref() }
    }

    /// Registers `waker` at `event`: in the seat that is there, or in a new one if that is elsewhere.
    /// Otherwise as [`register`](Self::register).
    ///
    /// # Safety
    ///
    /// The event lives, and stays where it is, as long as the seat.
    #[inline]
    pub(super) unsafe fn register_at(seat: &mut Option<Self>, event: NonNull<Event>, waker: &Waker) -> bool {
        if seat.as_ref().is_some_and(|seat| !seat.is_at(event)) {
            *seat = None;
        }
        // SAFETY: the caller's promise.
        seat.get_or_insert_with(|| unsafe { Self::at(event) }).register(waker)
    }

    /// From now on nobody wakes the owner of the seat, if there is one. The owner looks for what it waits
    /// for. True where it was woken in place of any other. The seat may be registered again. Where its place
    /// is another's from now on, there is none any more.
    #[inline]
    pub(super) fn disarm(seat: &mut Option<Self>) -> bool {
        // In place: a seat that is moved is read before its stores have come to an end.
        let Some(there) = seat else { return false };
        let ended = there.place.as_mut().map_or(Ended::Abandoned, Place::disarm);
        if ended == Ended::Abandoned {
            // Not given back.
            there.place = None;
            *seat = None;
        }
        ended == Ended::WokenAlone
    }

    /// From now on `waker` is woken. The caller looks once more before it waits for that. False where a
    /// wake-up may be missed all the same. The seat is [disarmed](Self::disarm), or new.
    pub(crate) fn register(&mut self, waker: &Waker) -> bool {
        let Some(place) = &mut self.place else { return false };
        place.arm(waker);
        self.event().register_task()
    }

    /// Wakes another waiter in place of this one, which was woken alone and does not use that.
    #[inline]
    pub(super) fn pass_on(&self) {
        if !mutated!("wake_up_kept") {
            self.event().notify_some(1);
        }
    }

    /// Gives the place back. True where the seat had a wake-up for itself. The caller then uses it, or passes
    /// it on by [`Event::notify_some`].
    #[cfg(all(target_os = "linux", feature = "std"))]
    pub(crate) fn left(mut self) -> bool {
        self.leave().0 == Ended::WokenAlone
    }

    #[inline]
    fn leave(&mut self) -> (Ended, Option<Waker>) {
        // In place: a place that is moved is read before its stores have come to an end.
        let Some(place) = &mut self.place else { return (Ended::Plainly, None) };
        let ended = place.disarm();
        let waker = if ended == Ended::Abandoned { None } else { place.give_back() };
        self.place = None;
        (ended, waker)
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        // The waker is dropped last: its destructor is an executor's code, which may panic.
        let (ended, _waker) = self.leave();
        if ended == Ended::WokenAlone {
            self.pass_on();
        }
    }
}
