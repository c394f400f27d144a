//! Receivers of shared queues as what one can wait at: [`Source`] and [`Take`].

use super::Receiver;
use crate::batches::Batches;
use crate::error::RecvError;
use crate::lane::Number;
use crate::receive::{Receive, Waitable};
use crate::sync::AtomicU64;
use crate::wait::{Event, Look, Source, Take, WaitStrategy};

/// Each is for a receiver, and for a reference to one, because its verbs take `&self`.
macro_rules! receivers {
    ($([$($borrowed:tt)*])*) => {$(
        // SAFETY: the events are in the queue's state, which the receiver keeps alive.
        unsafe impl<T: Send> Source for $($borrowed)* Receiver<T> {
            fn event(&self) -> &Event {
                &self.state.published
            }

            fn watched(&self) -> Option<&AtomicU64> {
                Some(self.state.lane.next_word())
            }

            fn is_ready(&mut self) -> bool {
                self.state.is_ready()
            }

            fn strategy(&self) -> WaitStrategy {
                self.wait_strategy()
            }
        }

        // SAFETY: as above.
        unsafe impl<T: Send> Take for $($borrowed)* Receiver<T> {
            type Taken = T;

            #[inline]
            fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
                self.state.poll().into()
            }
        }

        impl<T: Send> Batches for $($borrowed)* Receiver<T> {
            type Mark = Number;

            /// Another receiver may be faster.
            fn has_more(&mut self) -> bool {
                false
            }

            fn mark(&mut self) -> Number {
                self.state.lane.tail()
            }

            fn has_passed(&self, mark: &mut Number) -> bool {
                !self.state.lane.head().is_before(*mark)
            }

            fn left(&self) -> Option<u64> {
                Some(self.state.lane.len() as u64)
            }
        }

        impl<T: Send> Waitable for $($borrowed)* Receiver<T> {}

        impl<T: Send> Receive for $($borrowed)* Receiver<T> {
            type Item = T;
        }
    )*};
}

receivers! {
    []
    [&]
}
