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

use super::seat::Seat;
use super::{Look, Next, Take, Wait};
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

    /// One poll.
    fn poll_wait(&mut self, context: &mut Context<'_>) -> Poll<W::Found> {
        for _ in 0..LOOKS {
            // A wake-up that came is used by the look that follows.
            self.seat = self.seat.take().and_then(Seat::disarmed);
            match self.waiter.poll() {
                Look::Found(found) => {
                    self.seat = None;
                    return Poll::Ready(found);
                }
                Look::Nothing => {}
                Look::Again => continue,
            }
            let event = NonNull::from(self.waiter.event());
            if self.seat.as_ref().is_some_and(|seat| !seat.is_at(event)) {
                self.seat = None;
            }
            // SAFETY: the event lives as long as the waiter (`new`), which lives longer than the seat.
            let seat = self.seat.get_or_insert_with(|| unsafe { Seat::at(event) });
            let is_fenced = seat.register(context.waker());
            // The second look: a notify that missed the registration came after a store that this poll sees.
            let look = if mutated!("task_no_second_look") { Look::Nothing } else { self.waiter.poll() };
            match look {
                Look::Found(found) => {
                    // If a wake-up came meanwhile, this is what it was for.
                    self.seat = self.seat.take().and_then(Seat::disarmed);
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
                // The second look changed where it waits: it registers there. A wake-up that came here is
                // another's.
                Look::Nothing => self.seat = None,
                Look::Again => {}
            }
        }
        // What it waits for moves on faster than it looks.
        context.waker().wake_by_ref();
        Poll::Pending
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

impl<S: Take> Waiting<Next<S>> {
    /// The next message of `source`, which is borrowed or owned.
    pub(crate) fn next_of(source: S) -> Self {
        // SAFETY: that is what a `Source` promises.
        unsafe { Self::new(Next(source)) }
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

impl<S: Take> Streaming<Next<S>> {
    /// The messages of `source`, which is borrowed or owned.
    pub(crate) fn messages_of(source: S) -> Self {
        // SAFETY: that is what a `Source` promises.
        unsafe { Self::new(Next(source)) }
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
