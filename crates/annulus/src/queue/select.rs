//! Producers of queues in a select.

use alloc::boxed::Box;

use super::Producer;
use super::ends::Write;
use super::free_slot::AwaitFreeSlot;
use super::kind::AnyKind;
use crate::error::{Refusal, SendError};
use crate::transmit::await_room::Alone;
use crate::transmit::room::{HasRoom, WaitsForRoom};
use crate::wait::{Arm, Choice, EventCount, Finding, Look, SendChoice, Sending, Wait, WaitStrategy};

impl<T: Send, K: AnyKind> Producer<T, K> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&mut self) -> impl Choice<Found = impl SendChoice<T, SendError<T>>> {
        // SAFETY: the events are in the queue state, which the producer keeps alive.
        let room = unsafe { Finding::new(AwaitFreeSlot::of(&mut self.end), AwaitFreeSlot::strategy) };
        // SAFETY: what `found` says is of the last poll.
        Sending::new(room, |free, found, value| unsafe { free.fill(found, value) }.map_err(SendError))
    }
}

impl<T: Send, K: AnyKind> WaitsForRoom for Producer<T, K> {}

impl<T: Send, K: AnyKind> HasRoom for Producer<T, K> {
    fn room(&mut self) -> Box<dyn Arm + '_> {
        // SAFETY: as above.
        Box::new(unsafe {
            Finding::that_takes_nothing(AwaitFreeSlot::of(&mut self.end), AwaitFreeSlot::strategy)
        })
    }
}

impl<T: Send, K: AnyKind> Alone for Producer<T, K> {
    fn released(&self) -> &EventCount {
        self.end.event()
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        match AwaitFreeSlot::of(&mut self.end).poll() {
            Look::Found(found) => found,
            Look::Nothing | Look::Again => Err(Refusal::Full),
        }
    }

    fn strategy(&self) -> WaitStrategy {
        self.end.state().plan.strategy
    }
}
