//! Consumers of queues as what one can wait at: [`Source`] and [`Take`].

use alloc::vec::Vec;

use super::Consumer;
use super::consumer::look;
use super::ends::Read;
use super::kind::AnyKind;
use crate::batches::Batches;
use crate::error::{RecvError, TryRecvError};
use crate::lane::Number;
use crate::receive::{Receive, Waitable};
use crate::sync::{AtomicU64, mutated};
use crate::wait::{Event, Look, Source, Take, WaitStrategy};

// SAFETY: the events are in the queue state, which the consumer keeps alive.
unsafe impl<T: Send, K: AnyKind> Source for Consumer<T, K> {
    fn event(&self) -> &Event {
        &self.end.state().published
    }

    fn watched(&self) -> Option<&AtomicU64> {
        self.end.watched()
    }

    fn is_ready(&mut self) -> bool {
        match self.look_for(|end| end.has_some().then_some(())) {
            Ok(()) => true,
            Err(TryRecvError::Closed) => !mutated!("end_is_not_ready"),
            Err(TryRecvError::Empty) => false,
        }
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }
}

// SAFETY: as above.
unsafe impl<T: Send, K: AnyKind> Take for Consumer<T, K> {
    type Taken = T;

    #[inline(always)]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        if let Some(value) = self.end.take_plainly() {
            return Look::Found(Ok(value));
        }
        // Decision 0072: a select looks at many that are empty.
        if self.end.is_plainly_empty() {
            return Look::Nothing;
        }
        // Not outlined: a consumer that a future borrows lies in memory anyway.
        let look = Look::from(look::<T, _>(&mut self.end));
        if matches!(look, Look::Nothing) {
            self.end.ask();
        }
        look
    }
}

impl<T: Send, K: AnyKind> Batches for Consumer<T, K> {
    /// Of each lane. What a producer sends that joins later comes after the mark, also in a lane that was
    /// there.
    type Mark = Vec<Number>;

    fn has_more(&mut self) -> bool {
        self.end.has_more()
    }

    fn mark(&mut self) -> Vec<Number> {
        self.end.spans().map(|(_, tail)| tail).collect()
    }

    fn has_passed(&self, mark: &Vec<Number>) -> bool {
        self.end.spans().zip(mark).all(|((head, _), tail)| !head.is_before(*tail))
    }

    fn left(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

impl<T: Send, K: AnyKind> Waitable for Consumer<T, K> {}

impl<T: Send, K: AnyKind> Receive for Consumer<T, K> {
    type Item = T;
}
