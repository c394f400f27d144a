//! The receiver as what one can wait at: [`Source`] and [`Take`].

use super::Receiver;
use crate::batches::Batches;
use crate::error::RecvError;
use crate::receive::{Receive, Waitable};
use crate::sync::AtomicU64;
use crate::wait::{Event, Look, Source, Take, WaitStrategy};

// SAFETY: the event is in what the handles share, which lives as long as the receiver.
unsafe impl<T: Send + Sync> Source for Receiver<T> {
    fn event(&self) -> &Event {
        &self.shared.changed
    }

    fn is_ready(&mut self) -> bool {
        self.has_changed() != Ok(false)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.shared.word())
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }
}

// SAFETY: as above.
unsafe impl<T: Send + Sync + Clone> Take for Receiver<T> {
    type Taken = T;

    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        self.poll_changed().map(|changed| changed.map(|()| self.newest()))
    }
}

impl<T: Send + Sync> Batches for Receiver<T> {
    /// What the receiver had seen, if there was a value that it had not seen. (A later one takes its place.)
    type Mark = Option<u64>;

    fn has_more(&mut self) -> bool {
        self.has_changed() == Ok(true)
    }

    fn mark(&mut self) -> Option<u64> {
        self.has_more().then_some(self.seen)
    }

    fn has_passed(&self, mark: &mut Option<u64>) -> bool {
        // One receive is enough, whatever it got.
        mark.is_none_or(|seen| seen != self.seen)
    }

    fn left(&self) -> Option<u64> {
        Some(u64::from(self.has_changed() == Ok(true)))
    }
}

impl<T: Send + Sync> Waitable for Receiver<T> {}

impl<T: Send + Sync + Clone> Receive for Receiver<T> {
    type Item = T;
}
