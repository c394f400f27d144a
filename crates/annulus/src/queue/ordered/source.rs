//! Receivers of ordered queues as what one can wait at: [`Source`] and [`Receive`].

use super::Receiver;
use crate::error::RecvError;
use crate::lane::Number;
use crate::receive::batches::{Batches, Mark};
use crate::receive::{Receive, Waitable};
use crate::sync::AtomicU64;
use crate::wait::{EventCount, Look, Source, WaitStrategy};

/// Each is for a receiver, and for a reference to one, because its verbs take `&self`.
macro_rules! receivers {
    ($([$($borrowed:tt)*])*) => {$(
        // SAFETY: the events are in the queue's state, which the receiver keeps alive.
        unsafe impl<T: Send> Source for $($borrowed)* Receiver<T> {
            fn event(&self) -> &EventCount {
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

        impl<T: Send> Batches for $($borrowed)* Receiver<T> {
            /// Another receiver may be faster.
            fn has_more(&mut self) -> bool {
                false
            }

            fn mark(&mut self) -> Mark {
                Mark::at(self.state.lane.tail().get())
            }

            fn has_passed(&self, mark: &mut Mark) -> bool {
                mark.is_passed(|_, end| !self.state.lane.head().is_before(Number::new(end)))
            }

            fn left(&self) -> Option<u64> {
                Some(self.state.lane.len() as u64)
            }
        }

        impl<T: Send> Waitable for $($borrowed)* Receiver<T> {
            fn is_closed(&self) -> bool {
                self.state.lane.is_ended()
            }
        }

        impl<T: Send> Receive for $($borrowed)* Receiver<T> {
            type Item = T;

            #[inline]
            fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
                self.state.poll().into()
            }

            #[inline]
            fn recv(&mut self) -> Result<T, RecvError> {
                Receiver::recv(self)
            }
        }
    )*};
}

receivers! {
    []
    [&]
}
