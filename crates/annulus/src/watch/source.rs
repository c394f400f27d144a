//! The receiver as what one can wait at: [`Source`] and [`Receive`].

use super::Receiver;
use crate::error::RecvError;
use crate::receive::{Receive, Waitable, iterates};
use crate::sync::AtomicU64;
use crate::wait::{EventCount, Look, Mark, Source, WaitStrategy};

// SAFETY: the event is in what the handles share, which lives as long as the receiver.
unsafe impl<T: Send + Sync> Source for Receiver<T> {
    fn wait_point(&self) -> &EventCount {
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

    fn has_more(&mut self) -> bool {
        self.has_changed() == Ok(true)
    }

    /// What the receiver had seen, if there was a value that it had not seen. (A later one takes its place.)
    fn mark(&mut self) -> Mark {
        Mark::of(self.has_more().then_some((0, self.seen)))
    }

    fn has_passed(&self, mark: &mut Mark) -> bool {
        // One receive is enough, whatever it got.
        mark.is_passed(|_, seen| seen != self.seen)
    }

    fn left(&self) -> Option<u64> {
        Some(u64::from(self.has_changed() == Ok(true)))
    }
}

impl<T: Send + Sync> Waitable for Receiver<T> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Send + Sync + Clone> Receive for Receiver<T> {
    type Item = T;

    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        self.poll_changed().map(|changed| changed.map(|()| self.newest()))
    }
}

iterates! { [T: Send + Sync + Clone] Receiver<T>; }
