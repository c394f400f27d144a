//! The receiver as what one can wait at: [`Source`] and [`Receive`].

use super::Receiver;
use crate::error::RecvError;
use crate::receive::{Receive, Waitable};
use crate::sync::AtomicU64;
use crate::wait::{EventCount, Look, Mark, Source, WaitStrategy};

// SAFETY: the event is in the block, which lives as long as the receiver.
unsafe impl<T: Send> Source for Receiver<T> {
    fn wait_point(&self) -> &EventCount {
        self.share.wait_point()
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

    fn has_more(&mut self) -> bool {
        self.is_there(self.share.look())
    }

    fn mark(&mut self) -> Mark {
        Mark::at(u64::from(self.has_more()))
    }

    fn has_passed(&self, mark: &mut Mark) -> bool {
        mark.is_passed(|_, sent| sent == 0 || !self.is_there(self.share.look()))
    }

    fn left(&self) -> Option<u64> {
        Some(u64::from(self.is_there(self.share.look())))
    }
}

impl<T: Send> Waitable for Receiver<T> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Send> Receive for Receiver<T> {
    type Item = T;

    #[inline(always)]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        self.poll()
    }
}
