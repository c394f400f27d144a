//! [`Waiting`]: the future of every async verb, whichever family it is of. Poll, register, poll once more.
//!
//! It does what `wait_until` does for a thread, with the executor in place of the futex: it looks; if nothing
//! is there, it arms its place among the tasks of the event, registers, and looks again. Then it returns, and
//! whoever brings something wakes it. It never spins, and nobody polls it meanwhile.
//!
//! *Where a wake-up goes.* A wake-up of one task in place of any other stands for a message (or a free slot).
//! As long as somebody waits, there are at least as many waiters that were woken and have not looked yet as
//! there are messages. Who finds a message takes one of each, whichever message it was woken for, and whether
//! it was woken at all. So only a future that is dropped after its wake-up, and before it has looked, passes
//! the wake-up on to another waiter, a task or a thread.

use core::future::Future;
use core::pin::Pin;
use core::ptr::NonNull;
use core::task::{Context, Poll};

use futures_core::{FusedStream, Stream};

use super::waiters::{Ended, Place};
use super::{Event, Look, Wait};
use crate::sync::mutated;

/// How often a poll looks again where it is told to, before it lets other tasks run.
const LOOKS: u32 = if cfg!(annulus_loom) { 3 } else { 64 };

/// The future of a [`Wait`]. It does nothing before its first poll. Dropped at any time, it leaves no waker
/// behind, and passes on a wake-up that it did not use.
#[must_use = "a future does nothing until it is awaited"]
pub(crate) struct Waiting<W: Wait> {
    // Before the waiter: it is dropped first, and the waiter keeps its event alive.
    seat: Option<Seat>,
    waiter: W,
}

impl<W: Wait> Waiting<W> {
    /// # Safety
    ///
    /// Each event that the waiter returns lives, and stays where it is, as long as the waiter lives, wherever
    /// the waiter is moved to.
    pub(crate) unsafe fn new(waiter: W) -> Self {
        Self { seat: None, waiter }
    }

    /// One poll. Where something is there at the first look, that is all.
    #[inline]
    fn poll_wait(&mut self, context: &mut Context<'_>) -> Poll<W::Found> {
        match self.look() {
            Look::Found(found) => Poll::Ready(found),
            look => self.register_and_look(look, context),
        }
    }

    /// Looks. A wake-up that came is used by that. If something is found, the place is given back.
    #[inline]
    fn look(&mut self) -> Look<W::Found> {
        self.disarm();
        let look = self.waiter.poll();
        if matches!(look, Look::Found(_)) {
            self.seat = None;
        }
        look
    }

    /// After a first `look` that found nothing.
    // Decision 0070: not inlined, so that a poll that finds a message is a few instructions.
    #[cold]
    #[inline(never)]
    fn register_and_look(&mut self, mut look: Look<W::Found>, context: &mut Context<'_>) -> Poll<W::Found> {
        for _ in 0..LOOKS {
            look = match look {
                Look::Found(found) => return Poll::Ready(found),
                Look::Again => self.look(),
                Look::Nothing => {
                    let event = NonNull::from(self.waiter.event());
                    let is_fenced = self.register(event, context);
                    // The second look: a notify that missed the registration came after a store that this
                    // poll sees.
                    let look =
                        if mutated!("task_no_second_look") { Look::Nothing } else { self.waiter.poll() };
                    match look {
                        Look::Found(found) => {
                            // If a wake-up came meanwhile, this is what it was for.
                            self.disarm();
                            self.seat = None;
                            return Poll::Ready(found);
                        }
                        Look::Nothing if NonNull::from(self.waiter.event()) == event => {
                            if !is_fenced {
                                // A wake-up may be missed, so the task looks again.
                                context.waker().wake_by_ref();
                            }
                            return Poll::Pending;
                        }
                        // The second look changed where it waits: it registers there. A wake-up that came
                        // here is another's.
                        Look::Nothing => {
                            self.seat = None;
                            self.look()
                        }
                        Look::Again => self.look(),
                    }
                }
            };
        }
        if let Look::Found(found) = look {
            return Poll::Ready(found);
        }
        // What it waits for moves on faster than it looks.
        context.waker().wake_by_ref();
        Poll::Pending
    }

    /// From now on the task is woken at `event`, which is the waiter's. False where a wake-up may be missed
    /// all the same.
    fn register(&mut self, event: NonNull<Event>, context: &Context<'_>) -> bool {
        if self.seat.as_ref().is_some_and(|seat| seat.event != event) {
            self.seat = None;
        }
        // SAFETY: the event lives as long as the waiter (`new`), which lives longer than the seat.
        self.seat.get_or_insert_with(|| unsafe { Seat::at(event) }).register(context)
    }

    /// From now on nobody wakes the task; the caller looks for what it waits for.
    #[inline]
    fn disarm(&mut self) {
        // In place: a seat that is moved is read before its stores have come to an end.
        if self.seat.as_mut().is_some_and(|seat| !seat.disarm()) {
            self.seat = None;
        }
    }
}

impl<W: Wait> Future for Waiting<W> {
    type Output = W::Found;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<W::Found> {
        self.get_mut().poll_wait(context)
    }
}

/// Nothing in it is pinned.
impl<W: Wait> Unpin for Waiting<W> {}

/// A place among the tasks of an event.
struct Seat {
    event: NonNull<Event>,
    /// `None` only where it is abandoned.
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
    unsafe fn at(event: NonNull<Event>) -> Self {
        // SAFETY: the caller's promise, for both.
        Self { event, place: Some(unsafe { event.as_ref().tasks().take_place() }) }
    }

    fn event(&self) -> &Event {
        // SAFETY: the promise of `at`.
        unsafe { self.event.as_ref() }
    }

    /// From now on nobody wakes the task. False where the place is another's from now on.
    fn disarm(&mut self) -> bool {
        let is_abandoned = self.place.as_mut().is_none_or(|place| place.disarm() == Ended::Abandoned);
        if is_abandoned {
            self.place = None;
        }
        !is_abandoned
    }

    /// From now on the task is woken. The caller looks once more before it returns to its executor. False
    /// where a wake-up may be missed all the same.
    fn register(&mut self, context: &Context<'_>) -> bool {
        let Some(place) = &mut self.place else { return false };
        place.arm(context.waker());
        self.event().register_task()
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Some(place) = &mut self.place else { return };
        let ended = place.disarm();
        // Dropped last: its destructor is an executor's code, which may panic.
        let _waker = if ended == Ended::Abandoned { None } else { place.give_back() };
        if ended == Ended::WokenAlone && !mutated!("wake_up_kept") {
            self.event().notify_some(1);
        }
    }
}

/// The stream of what a [`Wait`] finds, until its first error, which is the end.
pub(crate) struct Streaming<W: Wait> {
    waiting: Waiting<W>,
    is_over: bool,
}

impl<W: Wait> Streaming<W> {
    /// # Safety
    ///
    /// That of [`Waiting::new`].
    pub(crate) unsafe fn new(waiter: W) -> Self {
        // SAFETY: the caller's promise.
        Self { waiting: unsafe { Waiting::new(waiter) }, is_over: false }
    }
}

impl<T, E, W: Wait<Found = Result<T, E>>> Stream for Streaming<W> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        let this = self.get_mut();
        if this.is_over {
            return Poll::Ready(None);
        }
        this.waiting.poll_wait(context).map(|found| {
            this.is_over = found.is_err();
            found.ok()
        })
    }
}

impl<T, E, W: Wait<Found = Result<T, E>>> FusedStream for Streaming<W> {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}

/// Nothing in it is pinned.
impl<W: Wait> Unpin for Streaming<W> {}
