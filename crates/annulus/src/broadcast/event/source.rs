//! Subscribers of events as what one can wait at: [`Source`], and [`Receive`] where events can be cloned.

use core::ops::ControlFlow;

use super::EventSubscriber;
use crate::base::sequence::Sequence;
use crate::broadcast::mode::Mode;
use crate::error::RecvError;
use crate::receive::batches::{Batches, HasSequence, Lend, Mark};
use crate::receive::{Numbered, Receive, ReceiveRef, Waitable};
use crate::sync::AtomicU64;
use crate::wait::{EventCount, Look, Source, Wait, WaitStrategy};

// SAFETY: the events are in the ring's shared state, which the subscriber's handle keeps alive.
unsafe impl<T: Send + Sync, M: Mode> Source for EventSubscriber<T, M> {
    fn event(&self) -> &EventCount {
        Wait::event(self)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Wait::watched(self)
    }

    fn is_ready(&mut self) -> bool {
        !matches!(self.poll(), Look::Nothing)
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }
}

impl<T: Send + Sync, M: Mode> Batches for EventSubscriber<T, M> {
    fn is_staged(&self) -> bool {
        self.shared.is_stage()
    }

    fn has_more(&mut self) -> bool {
        self.there(1) > 0
    }

    fn mark(&mut self) -> Mark {
        Mark::at(self.shared.end_before(self.shared.ring.end(self.cursor)).get())
    }

    fn has_passed(&self, mark: &mut Mark) -> bool {
        mark.is_passed(|_, end| self.cursor() >= end)
    }

    fn left(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

impl<T: Send + Sync, M: Mode> Lend for EventSubscriber<T, M> {
    type Lent = T;

    fn lend(
        &mut self,
        most: usize,
        mut look: impl FnMut(&T, u64, bool) -> ControlFlow<()>,
    ) -> Look<Result<(), RecvError>> {
        let mut sequences = self.cursor()..;
        let look = |event: &T, end_of_batch| {
            let sequence = sequences.start;
            sequences.start += 1;
            look(event, sequence, end_of_batch)
        };
        self.poll_next().map(|()| _ = self.process_while::<true>(most, look)).into()
    }
}

impl<T: Send + Sync, M: Mode> ReceiveRef for EventSubscriber<T, M> {
    type Item = T;
}

impl<T: Send + Sync, M: Mode> Waitable for EventSubscriber<T, M> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Send + Sync, M: Mode> HasSequence for EventSubscriber<T, M> {
    fn next_sequence(&self) -> Sequence {
        self.cursor
    }
}

impl<T: Send + Sync, M: Mode> Numbered for EventSubscriber<T, M> {}

impl<T: Clone + Send + Sync, M: Mode> Receive for EventSubscriber<T, M> {
    type Item = T;

    #[inline]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        self.try_recv().into()
    }

    #[inline]
    fn poll_in_hand(&mut self) -> Look<Result<T, RecvError>> {
        self.poll_next().map(|()| self.take_in_hand()).into()
    }

    #[inline]
    fn recv(&mut self) -> Result<T, RecvError> {
        self.recv()
    }
}

/// Until an event is there.
#[cfg(any(feature = "std", feature = "async"))]
pub(super) struct There<'s, T: Send + Sync, M: Mode>(pub(super) &'s mut EventSubscriber<T, M>);

#[cfg(any(feature = "std", feature = "async"))]
impl<T: Send + Sync, M: Mode> Wait for There<'_, T, M> {
    type Found = Result<(), RecvError>;

    fn event(&self) -> &EventCount {
        Wait::event(self.0)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Wait::watched(self.0)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        self.0.poll()
    }
}
