//! The receiver as what one can wait at: [`Source`] and [`Take`].

use super::Receiver;
use crate::batches::Batches;
use crate::error::RecvError;
use crate::receive::{Receive, Waitable};
use crate::sync::AtomicU64;
use crate::wait::{Event, Look, Source, Take, WaitStrategy};

// SAFETY: the event is in the block, which lives as long as the receiver.
unsafe impl<T: Send> Source for Receiver<T> {
    fn event(&self) -> &Event {
        self.share.event()
    }

    fn is_ready(&mut self) -> bool {
        let state = self.share.look();
        self.is_there(state) || self.is_over(state)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.share.word())
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }
}

// SAFETY: as above.
unsafe impl<T: Send> Take for Receiver<T> {
    type Taken = T;

    #[inline(always)]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        self.poll()
    }
}

impl<T: Send> Batches for Receiver<T> {
    /// Whether the value had been sent.
    type Mark = bool;

    fn has_more(&mut self) -> bool {
        self.is_there(self.share.look())
    }

    fn mark(&mut self) -> bool {
        self.has_more()
    }

    fn has_passed(&self, mark: &mut bool) -> bool {
        !*mark || !self.is_there(self.share.look())
    }

    fn left(&self) -> Option<u64> {
        Some(u64::from(self.is_there(self.share.look())))
    }
}

impl<T: Send> Waitable for Receiver<T> {}

impl<T: Send> Receive for Receiver<T> {
    type Item = T;
}
