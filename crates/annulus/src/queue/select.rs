//! Producers of queues in a select.

use alloc::boxed::Box;

use super::Producer;
use super::free_slot::FreeSlot;
use super::kind::Kind;
use crate::error::SendError;
use crate::room::{HasRoom, WaitsForRoom};
use crate::wait::{Arm, Choice, Finding, SendChoice, Sending};

impl<T: Send, K: Kind> Producer<T, K> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&mut self) -> impl Choice<Found = impl SendChoice<T, SendError<T>>> {
        // SAFETY: the events are in the queue state, which the producer keeps alive.
        let room = unsafe { Finding::new(FreeSlot::of(&mut self.end), FreeSlot::strategy) };
        // SAFETY: what `found` says is of the last poll.
        Sending::new(room, |free, found, value| unsafe { free.fill(found, value) }.map_err(SendError))
    }
}

impl<T: Send, K: Kind> WaitsForRoom for Producer<T, K> {}

impl<T: Send, K: Kind> HasRoom for Producer<T, K> {
    fn room(&mut self) -> Box<dyn Arm + '_> {
        // SAFETY: as above.
        Box::new(unsafe { Finding::that_takes_nothing(FreeSlot::of(&mut self.end), FreeSlot::strategy) })
    }
}
