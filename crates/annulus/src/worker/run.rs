//! [`WorkerRun`]: what the thread of a worker does.
//!
//! It hands out batches as long as there are some. If nothing is there, it waits like any reader of the ring,
//! by [`wait_until`], and what it waits for is a message, the end of the ring, or a stop.

use alloc::boxed::Box;
use alloc::sync::Arc;
use std::time::{Duration, Instant};

use super::Finished;
use super::feed::{Feed, FeedTurn};
use crate::base::drop_all::Contained;
use crate::sync::seeded;
use crate::wait::{
    Control, EventCount, Lending, Look, NextOrStop, Poll, Source, Stop, WaitStrategy, pass_on, wait_until,
};

type Callback<C> = Box<dyn FnMut(&mut C) + Send>;

/// What is called if nothing came for some time.
pub(super) struct Idle<C> {
    pub(super) timeout: Duration,
    pub(super) callback: Contained<Callback<C>>,
}

/// A worker that is about to begin. What is the user's in it is [`Contained`]: where several destructors
/// panic, `join` returns the first panic, or that of the handler.
pub(super) struct WorkerRun<R, C, F> {
    pub(super) receiver: R,
    pub(super) context: Contained<C>,
    pub(super) feed: F,
    pub(super) idle: Option<Idle<C>>,
    pub(super) strategy: WaitStrategy,
    pub(super) most: usize,
    pub(super) control: Arc<Control>,
}

/// How a thread waits for a message that another one is writing, or for others to receive it: soon.
const SOON: WaitStrategy = WaitStrategy::BackoffSpin;

impl<R: Source, C, F: Feed<R, C>> WorkerRun<R, C, F> {
    /// Receives until the ring is closed, or somebody asks to stop.
    pub(super) fn run(mut self) -> Finished<C> {
        let lost_before = if seeded!("lost_before_counts") { 0 } else { self.receiver.lost() };
        let control = Arc::clone(&self.control);
        // Dropped before `self`, and so before the receiver.
        let notes = NotesPanic(&control);
        let turn = FeedTurn::new(&control, self.most);
        // Dropped before `self`, also by a panic: the receiver keeps the lent eventcount alive.
        let mut serving = Serving { turn, lending: Lending::new(Arc::clone(&control)), run: &mut self };
        serving.serve();
        let messages = serving.turn.messages;
        drop(serving);
        let lost = self.receiver.lost() - lost_before;
        let Self { receiver, context, feed, idle, .. } = self;
        // Dropped before what comes out of `self`.
        let _notes = notes;
        // Their destructors may panic, which is noted before the other side is told.
        drop((feed, idle));
        // Before the thread ends: a thread that joins it finds the other side notified.
        drop(receiver);
        Finished { context: context.into_inner(), messages, lost }
    }
}

/// Notes it if it is dropped by a panic.
struct NotesPanic<'c>(&'c Control);

impl Drop for NotesPanic<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() && !seeded!("worker_panics_in_secret") {
            self.0.note_panic();
        }
    }
}

/// A worker at work.
struct Serving<'r, R: Source, C, F> {
    turn: FeedTurn<'r>,
    lending: Lending,
    run: &'r mut WorkerRun<R, C, F>,
}

impl<R: Source, C, F: Feed<R, C>> Serving<'_, R, C, F> {
    fn serve(&mut self) {
        loop {
            match self.turn.control().asked() {
                None => {}
                Some(Stop::Drained) => return self.drain(),
                Some(Stop::Now) => return pass_on(&self.run.receiver),
            }
            match self.feed() {
                Look::Found(Ok(())) | Look::Again => {}
                Look::Found(Err(_closed)) => return,
                Look::Nothing => self.wait(),
            }
        }
    }

    #[inline(always)]
    fn feed(&mut self) -> Look<Result<(), crate::error::RecvError>> {
        let WorkerRun { receiver, context, feed, .. } = &mut *self.run;
        feed.feed(receiver, context, &mut self.turn)
    }

    /// Waits for something to do. Calls back if nothing came in time.
    fn wait(&mut self) {
        let WorkerRun { receiver, context, idle, strategy, .. } = &mut *self.run;
        let idle = if seeded!("idle_never_calls") { &mut None } else { idle };
        let deadline = idle.as_ref().and_then(|idle| Instant::now().checked_add(idle.timeout));
        // SAFETY: `run` drops the lending first.
        let mut next = unsafe { NextOrStop::new(receiver, &mut self.lending, || false) };
        let found = wait_until(&mut next, *strategy, deadline);
        if let (None, Some(idle)) = (found, idle) {
            (idle.callback)(context);
        }
    }

    /// Hands out what was sent before this call, and the rest of the last batch.
    fn drain(&mut self) {
        self.turn.mark = Some(self.run.receiver.mark());
        loop {
            if self.turn.control().asked() == Some(Stop::Now) {
                return pass_on(&self.run.receiver);
            }
            if self.turn.is_drained(&self.run.receiver) {
                return;
            }
            match self.feed() {
                Look::Found(Ok(())) | Look::Again => {}
                Look::Found(Err(_closed)) => return,
                // It was to hand out one more, which was lost, and perhaps nothing ever comes behind it.
                Look::Nothing
                    if self.run.receiver.is_staged() && self.turn.has_passed_its_mark(&self.run.receiver) =>
                {
                    return;
                }
                Look::Nothing => {
                    let mut rest = Rest { receiver: &mut self.run.receiver, turn: &mut self.turn };
                    wait_until(&mut rest, SOON, None);
                }
            }
        }
    }
}

/// The next message from before the mark, or that there is none any more.
struct Rest<'r, 'c, R: Source> {
    receiver: &'r mut R,
    turn: &'r mut FeedTurn<'c>,
}

impl<R: Source> Poll for Rest<'_, '_, R> {
    type Found = ();

    fn wait_point(&self) -> &EventCount {
        self.receiver.wait_point()
    }

    fn poll(&mut self) -> Look<()> {
        let is_there = self.receiver.is_ready()
            || self.turn.is_drained(self.receiver)
            || self.turn.control().asked() == Some(Stop::Now);
        if is_there { Look::Found(()) } else { Look::Nothing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    use crate::error::RecvError;
    use crate::wait::EndMark;
    use crate::worker::feed::ByValue;

    /// What was to come after the first message of a batch is lost, with all that was sent before the stop.
    /// So the handler gets a later message.
    #[test]
    fn drain_ends_with_a_batch() {
        let (mut publisher, subscribable) = crate::broadcast::lossy(2);
        let mut receiver = subscribable.subscribe();
        let control = Control::new();
        let mut turn = FeedTurn::new(&control, 8);
        let (mut seen, mut feed) =
            (Vec::new(), ByValue::<_, bool>::new(|seen: &mut Vec<_>, number, end| seen.push((number, end))));
        publisher.publish(0);
        publisher.publish(1);
        control.stop(Stop::Drained);
        assert_eq!(feed.feed(&mut receiver, &mut seen, &mut turn), Look::Found(Ok(())));
        turn.mark = Some(receiver.mark());
        (2..5).for_each(|number| publisher.publish(number));
        assert!(!turn.is_drained(&receiver));
        while !turn.is_drained(&receiver) {
            assert_ne!(feed.feed(&mut receiver, &mut seen, &mut turn), Look::Nothing);
        }
        assert_eq!(seen, [(0, false), (3, true)]);
    }

    /// A handle whose next message is still being written when somebody looks for it.
    struct BeingWritten {
        event: Box<EventCount>,
        /// What happens after some looks that found nothing.
        looks: u32,
        then: Then,
        is_received: bool,
    }

    #[derive(Clone, Copy, PartialEq)]
    enum Then {
        Written,
        Closed,
        StopNow,
    }

    // SAFETY: the eventcount is in a place of its own.
    unsafe impl Source for BeingWritten {
        fn wait_point(&self) -> &EventCount {
            &self.event
        }

        fn is_ready(&mut self) -> bool {
            self.looks = self.looks.saturating_sub(1);
            self.looks == 0 && self.then != Then::StopNow
        }

        fn strategy(&self) -> WaitStrategy {
            WaitStrategy::default()
        }

        fn has_more(&mut self) -> bool {
            false
        }

        fn mark(&mut self) -> EndMark {
            EndMark::at(0)
        }

        fn has_passed(&self, _: &mut EndMark) -> bool {
            self.is_received
        }
    }

    /// Counts.
    struct Counted(Arc<Control>);

    impl Feed<BeingWritten, u32> for Counted {
        fn feed(
            &mut self,
            receiver: &mut BeingWritten,
            count: &mut u32,
            _: &mut FeedTurn<'_>,
        ) -> Look<Result<(), RecvError>> {
            match receiver.then {
                Then::StopNow if receiver.looks == 10 => {
                    // Another thread's, before the worker waits.
                    self.0.stop(Stop::Now);
                    Look::Nothing
                }
                _ if receiver.looks > 0 => Look::Nothing,
                Then::Closed => Look::Found(Err(RecvError::CLOSED)),
                _ => {
                    receiver.is_received = true;
                    *count += 1;
                    Look::Found(Ok(()))
                }
            }
        }
    }

    /// A drain waits for what is being written, and ends with the ring or a second stop.
    #[test]
    fn drain_waits_for_a_message_that_is_being_written() {
        for (then, expected) in [(Then::Written, 1), (Then::Closed, 0), (Then::StopNow, 0)] {
            let control = Arc::new(Control::new());
            control.stop(Stop::Drained);
            let receiver =
                BeingWritten { event: Box::new(EventCount::new()), looks: 10, then, is_received: false };
            let (feed, strategy) = (Counted(Arc::clone(&control)), receiver.strategy());
            let context = Contained::new(0);
            let run = WorkerRun { receiver, context, feed, idle: None, strategy, most: 4, control };
            assert_eq!(run.run().context, expected);
        }
    }
}
