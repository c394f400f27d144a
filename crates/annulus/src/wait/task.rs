//! [`Waiting`]: the future of every async verb, whichever family it is of. Poll, register, poll once more.
//!
//! It does what `wait_until` does for a thread, with the executor in place of the futex: it looks; if nothing
//! is there, it arms its node among the tasks of the eventcount, registers, and looks again. Then it returns,
//! and the thread that brings something wakes it. It never spins, and nobody polls it meanwhile.
//!
//! *Where a wake-up goes.* A wake-up of one task in place of any other stands for a message (or a free slot).
//! As long as somebody waits, there are at least as many waiters that were woken and have not looked yet as
//! there are messages. A waiter that finds a message takes one of each, whichever message it was woken for,
//! and whether it was woken at all. So only a future that is dropped after its wake-up, and before it has
//! looked, passes the wake-up on to another waiter, a task or a thread.

use core::future::Future;
use core::pin::Pin;
use core::task::{self, Context};

use futures_core::{FusedStream, Stream};

use super::listener::Listener;
use super::{Look, Poll};
use crate::sync::seeded;

/// How often a poll looks again where it is told to, before it lets other tasks run.
const LOOKS: u32 = if cfg!(annulus_loom) { 3 } else { 64 };

/// The future of a [`Poll`]. It does nothing before its first poll. Dropped at any time, it leaves no waker
/// behind, and passes on a wake-up that it did not use. (Where a thread naps in its
/// place, that has its waker for some milliseconds more.)
#[must_use = "a future does nothing until it is awaited"]
pub(crate) struct Waiting<W: Poll> {
    // Before the waiter: it is dropped first, and the waiter keeps its eventcount alive.
    listener: Option<Listener>,
    waiter: W,
}

impl<W: Poll> Waiting<W> {
    /// # Safety
    ///
    /// Each eventcount that the waiter returns lives, and stays where it is, as long as the waiter lives,
    /// wherever the waiter is moved to.
    pub(crate) unsafe fn new(waiter: W) -> Self {
        Self { listener: None, waiter }
    }

    /// One poll. Where something is there at the first look, that is all.
    #[inline]
    fn poll_wait(&mut self, context: &mut Context<'_>) -> task::Poll<W::Found> {
        match self.look() {
            Look::Found(found) => task::Poll::Ready(found),
            Look::Nothing => self.wait(false, context),
            Look::Again => self.wait(true, context),
        }
    }

    /// Looks. A wake-up that came is used by that. If something is found, the listener is dropped.
    #[inline(always)]
    fn look(&mut self) -> Look<W::Found> {
        let (look, _is_owed) = Listener::look(&mut self.listener, &mut self.waiter);
        if matches!(look, Look::Found(_)) && self.listener.is_some() {
            self.listener = None;
        }
        look
    }

    /// After a first `look` that found nothing, or told it to look `again`.
    // Decision 0070: not inlined, so that a poll that finds a message is a few instructions.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, mut again: bool, context: &mut Context<'_>) -> task::Poll<W::Found> {
        for _ in 0..LOOKS {
            if again {
                match self.look() {
                    Look::Found(found) => return task::Poll::Ready(found),
                    Look::Nothing => {}
                    Look::Again => continue,
                }
            }
            match self.register_and_look(context) {
                Look::Found(found) => return task::Poll::Ready(found),
                Look::Nothing => return task::Poll::Pending,
                Look::Again => again = true,
            }
        }
        // What it waits for moves on faster than it looks.
        context.waker().wake_by_ref();
        task::Poll::Pending
    }

    /// Registers, and looks once more. If something is found, the listener is dropped.
    #[inline(always)]
    fn register_and_look(&mut self, context: &mut Context<'_>) -> Look<W::Found> {
        let (listener, waiter) = (&mut self.listener, &mut self.waiter);
        // SAFETY: the eventcounts live as long as the waiter (`new`), which lives longer than the listener. A
        // wake-up that came meanwhile is what the second look was for.
        let (look, _is_owed) = unsafe { Listener::register_and_look(listener, waiter, context.waker()) };
        if matches!(look, Look::Found(_)) {
            self.listener = None;
            if seeded!("task_drops_its_find") {
                context.waker().wake_by_ref();
                return Look::Nothing;
            }
        }
        look
    }
}

impl<W: Poll> Future for Waiting<W> {
    type Output = W::Found;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> task::Poll<W::Found> {
        self.get_mut().poll_wait(context)
    }
}

/// Nothing in it is pinned.
impl<W: Poll> Unpin for Waiting<W> {}

/// The stream of what a [`Poll`] finds, until its first error, which is the end.
pub(crate) struct Streaming<W: Poll> {
    waiting: Waiting<W>,
    is_over: bool,
}

impl<W: Poll> Streaming<W> {
    /// # Safety
    ///
    /// As [`Waiting::new`].
    pub(crate) unsafe fn new(waiter: W) -> Self {
        // SAFETY: the caller's promise.
        Self { waiting: unsafe { Waiting::new(waiter) }, is_over: false }
    }
}

impl<T, E, W: Poll<Found = Result<T, E>>> Stream for Streaming<W> {
    type Item = T;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> task::Poll<Option<T>> {
        let this = self.get_mut();
        if this.is_over {
            return task::Poll::Ready(None);
        }
        this.waiting.poll_wait(context).map(|found| {
            this.is_over = found.is_err();
            found.ok()
        })
    }
}

impl<T, E, W: Poll<Found = Result<T, E>>> FusedStream for Streaming<W> {
    fn is_terminated(&self) -> bool {
        self.is_over
    }
}

/// Nothing in it is pinned.
impl<W: Poll> Unpin for Streaming<W> {}

#[cfg(all(test, feature = "std"))]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Arc;
    use std::vec::Vec;

    use super::super::EventCount;
    use super::super::counting_waker::Woken;
    use super::*;

    /// Polls once; also returns how often it has been woken so far.
    fn poll<W: Poll>(woken: &Arc<Woken>, waiting: &mut Waiting<W>) -> (task::Poll<W::Found>, u32) {
        let polled = waiting.poll_wait(&mut Context::from_waker(&woken.waker()));
        (polled, woken.count())
    }

    /// A waiter whose looks are given in advance: what each finds, and at which eventcount it waits from then
    /// on. After them it finds nothing.
    struct Scripted<'e> {
        looks: VecDeque<(Look<u32>, &'e EventCount)>,
        event: &'e EventCount,
        /// A message comes at its eventcount during its last look.
        is_notified: bool,
    }

    impl<'e> Scripted<'e> {
        /// It waits at `event` at first.
        fn at(
            event: &'e EventCount,
            looks: impl IntoIterator<Item = (Look<u32>, &'e EventCount)>,
        ) -> Waiting<Self> {
            let waiter = Self { looks: looks.into_iter().collect(), event, is_notified: false };
            // SAFETY: the eventcounts belong to the tests, which drop their waiters first.
            unsafe { Waiting::new(waiter) }
        }
    }

    impl Poll for Scripted<'_> {
        type Found = u32;

        fn wait_point(&self) -> &EventCount {
            self.event
        }

        fn poll(&mut self) -> Look<u32> {
            let Some((look, event)) = self.looks.pop_front() else { return Look::Nothing };
            if self.is_notified && self.looks.is_empty() {
                self.event.notify_some(1);
            }
            self.event = event;
            look
        }
    }

    /// How many tasks wait there.
    fn waiting(events: &[EventCount]) -> Vec<usize> {
        events.iter().map(|event| event.tasks().count()).collect()
    }

    #[test]
    fn task_that_finds_something_at_once_does_not_register() {
        let event = EventCount::new();
        let woken = Arc::default();
        let mut first = Scripted::at(&event, [(Look::Found(7), &event)]);
        assert_eq!(poll(&woken, &mut first), (task::Poll::Ready(7), 0));
        assert!(!event.has_sleepers(), "it has not registered");
        let mut second = Scripted::at(&event, [(Look::Again, &event), (Look::Found(8), &event)]);
        assert_eq!(poll(&woken, &mut second), (task::Poll::Ready(8), 0));
        assert!(!event.has_sleepers(), "it has not registered");
        let mut third = Scripted::at(&event, [(Look::Nothing, &event), (Look::Found(9), &event)]);
        assert_eq!(poll(&woken, &mut third), (task::Poll::Ready(9), 0));
        assert!(event.has_sleepers(), "it has found it at the second look");
        assert_eq!((event.tasks().count(), Arc::strong_count(&woken)), (0, 1));
    }

    /// A task that is told to look again may find something at the last look of a poll.
    #[test]
    fn last_look_of_a_poll_counts() {
        let event = EventCount::new();
        let woken = Arc::default();
        let again = (0..LOOKS).map(|_| (Look::Again, &event));
        let mut task = Scripted::at(&event, again.chain([(Look::Found(7), &event)]));
        assert_eq!(poll(&woken, &mut task), (task::Poll::Ready(7), 0));
    }

    /// Where what it waits for moves from one eventcount to another, the task is woken by the second one
    /// alone.
    #[test]
    fn task_moves_with_what_it_waits_for() {
        // Between two polls; at the second look; and at both.
        let moves: [[usize; 3]; 3] = [[0, 0, 1], [0, 1, 1], [1, 2, 2]];
        for at in moves {
            let events = [(); 3].map(|()| EventCount::new());
            let woken = Arc::default();
            let looks = at.map(|index| (Look::Nothing, &events[index]));
            let mut task = Scripted::at(&events[0], looks);
            assert_eq!(poll(&woken, &mut task), (task::Poll::Pending, 0));
            assert_eq!(poll(&woken, &mut task), (task::Poll::Pending, 0));
            let [.., last] = at;
            let expected = [0, 1, 2].map(|index| usize::from(index == last));
            assert_eq!(waiting(&events), expected, "{at:?}");
            for (index, event) in events.iter().enumerate() {
                event.notify();
                assert_eq!(woken.count(), u32::from(index >= last), "{at:?}");
            }
            drop(task);
            assert_eq!((waiting(&events), Arc::strong_count(&woken)), (std::vec![0; 3], 1));
        }
    }

    /// A wake-up that came at the eventcount that a task leaves goes to another that waits there.
    #[test]
    fn task_that_moves_passes_its_wake_up_on() {
        let events = [(); 2].map(|()| EventCount::new());
        let [woken, other_woken] = [(); 2].map(|()| Arc::default());
        let looks = [0, 0, 0, 1].map(|index| (Look::Nothing, &events[index]));
        let mut task = Scripted::at(&events[0], looks);
        task.waiter.is_notified = true;
        let mut other = Scripted::at(&events[0], []);
        assert_eq!(poll(&woken, &mut task), (task::Poll::Pending, 0));
        assert_eq!(poll(&other_woken, &mut other), (task::Poll::Pending, 0));
        // It is the first in turn, and is woken at its second look.
        assert_eq!(poll(&woken, &mut task), (task::Poll::Pending, 1));
        assert_eq!(waiting(&events), [0, 1]);
        assert_eq!(poll(&other_woken, &mut other), (task::Poll::Pending, 1));
    }

    /// A task that is told to look again, for ever, lets others run, and asks to be polled once more.
    #[test]
    fn poll_ends() {
        let event = EventCount::new();
        let woken = Arc::default();
        let looks = || [Look::Again, Look::Nothing, Look::Again].map(|look| (look, &event));
        // More than two polls take, and fewer than three.
        let mut task = Scripted::at(&event, (0..LOOKS * 9 / 8).flat_map(|_| looks()));
        let all = task.waiter.looks.len();
        assert_eq!(poll(&woken, &mut task), (task::Poll::Pending, 1));
        let looked = all - task.waiter.looks.len();
        assert!((LOOKS as usize..=2 * LOOKS as usize).contains(&looked), "{looked} looks");
        assert_eq!(poll(&woken, &mut task), (task::Poll::Pending, 2));
        assert_eq!(poll(&woken, &mut task), (task::Poll::Pending, 2), "now it waits");
        assert_eq!(event.tasks().count(), 1);
    }
}
