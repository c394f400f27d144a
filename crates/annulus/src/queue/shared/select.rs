//! Shared queues in a select.

use alloc::boxed::Box;

use super::state::State;
use super::{Receiver, Sender};
use crate::error::{RecvError, Refusal, SendError};
use crate::lane::FreeSlot;
use crate::room::{HasRoom, WaitsForRoom};
use crate::wait::{Arm, Choice, Event, Finding, Look, Next, SendChoice, Sending, Wait};

impl<T: Send> Receiver<T> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn recv_in_select(&self) -> impl Choice<Found = Result<T, RecvError>> {
        // SAFETY: the events are in the queue's state, which the receiver keeps alive.
        unsafe { Finding::new(Next(self), |next| next.0.state.strategy) }
    }
}

impl<T: Send> Sender<T> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&self) -> impl Choice<Found = impl SendChoice<T, SendError<T>>> {
        let state = &*self.state;
        // SAFETY: the events are in the queue's state, which the sender keeps alive.
        let room = unsafe { Finding::new(Claiming { state }, |claiming| claiming.state.strategy) };
        Sending::in_claim(room, |claiming, found, value| match found {
            Ok(slot) => {
                claiming.state.fill(slot, value);
                Ok(())
            }
            Err(_) => Err(SendError(value)),
        })
    }
}

/// Until a slot is claimed.
struct Claiming<'s, T> {
    state: &'s State<T>,
}

impl<'s, T> Wait for Claiming<'s, T> {
    type Found = Result<FreeSlot<'s, T>, Refusal>;

    fn event(&self) -> &Event {
        &self.state.released
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.state.lane.claim_free_slot() {
            Err(Refusal::Full) => Look::Nothing,
            found => Look::Found(found),
        }
    }
}

/// Until a slot is free, or the queue is closed.
struct Room<'s, T> {
    state: &'s State<T>,
}

impl<T> Wait for Room<'_, T> {
    type Found = ();

    fn event(&self) -> &Event {
        &self.state.released
    }

    fn poll(&mut self) -> Look<()> {
        let lane = &self.state.lane;
        if lane.is_ended() || lane.free_slots(1) > 0 { Look::Found(()) } else { Look::Nothing }
    }
}

/// Each is for a sender, and for a reference to one, because its verbs take `&self`.
macro_rules! senders {
    ($([$($borrowed:tt)*])*) => {$(
        impl<T: Send> WaitsForRoom for $($borrowed)* Sender<T> {}

        impl<T: Send> HasRoom for $($borrowed)* Sender<T> {
            fn room(&mut self) -> Box<dyn Arm + '_> {
                let room = Room { state: &self.state };
                // SAFETY: the events are in the queue's state, which the sender keeps alive.
                Box::new(unsafe { Finding::that_takes_nothing(room, |room| room.state.strategy) })
            }
        }
    )*};
}

senders! {
    []
    [&]
}
