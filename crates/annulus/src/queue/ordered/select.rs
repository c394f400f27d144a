//! Ordered queues in a select.

use alloc::boxed::Box;

use super::state::State;
use super::{Receiver, Sender};
use crate::error::{RecvError, Refusal, SendError};
use crate::lane::FreeSlot;
use crate::receive::Next;
use crate::sync::AtomicU64;
use crate::transmit::await_room::Alone;
use crate::transmit::room::{HasRoom, WaitsForRoom};
use crate::wait::{Arm, Choice, EventCount, Finding, Look, SendChoice, Sending, Wait, WaitStrategy};

impl<T: Send> Receiver<T> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn recv_in_select(&self) -> impl Choice<Found = Result<T, RecvError>> {
        // SAFETY: the events are in the queue's state, which the receiver keeps alive.
        unsafe { Finding::new(Next(self), |next| next.0.wait_strategy()) }
    }
}

impl<T: Send> Sender<T> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&self) -> impl Choice<Found = impl SendChoice<T, SendError<T>>> {
        let state = &*self.state;
        // SAFETY: the events are in the queue's state, which the sender keeps alive.
        let room = unsafe { Finding::new(AwaitSlot { state }, |claiming| claiming.state.strategy) };
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
struct AwaitSlot<'s, T> {
    state: &'s State<T>,
}

impl<'s, T> Wait for AwaitSlot<'s, T> {
    type Found = Result<FreeSlot<'s, T>, Refusal>;

    fn event(&self) -> &EventCount {
        &self.state.released
    }

    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.state.lane.free_word())
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.state.lane.claim_free_slot() {
            Err(Refusal::Full) => Look::Nothing,
            found => Look::Found(found),
        }
    }
}

/// Until a slot is free, or the queue is closed.
struct AwaitOrderedRoom<'s, T> {
    state: &'s State<T>,
}

impl<T> Wait for AwaitOrderedRoom<'_, T> {
    type Found = ();

    fn event(&self) -> &EventCount {
        &self.state.released
    }

    fn poll(&mut self) -> Look<()> {
        match self.state.look_for_room() {
            Err(Refusal::Full) => Look::Nothing,
            Ok(()) | Err(Refusal::Closed) => Look::Found(()),
        }
    }
}

impl<T> State<T> {
    /// Whether a slot is free, or the queue is closed. It claims nothing.
    fn look_for_room(&self) -> Result<(), Refusal> {
        if self.lane.is_ended() {
            Err(Refusal::Closed)
        } else if self.lane.free_slots(1) > 0 {
            Ok(())
        } else {
            Err(Refusal::Full)
        }
    }
}

/// For the input of a pipeline, which has the only sender of its queue.
impl<T: Send> Alone for Sender<T> {
    fn released(&self) -> &EventCount {
        &self.state.released
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.state.look_for_room()
    }

    fn strategy(&self) -> WaitStrategy {
        self.state.strategy
    }
}

/// Each is for a sender, and for a reference to one, because its verbs take `&self`.
macro_rules! senders {
    ($([$($borrowed:tt)*])*) => {$(
        impl<T: Send> WaitsForRoom for $($borrowed)* Sender<T> {}

        impl<T: Send> HasRoom for $($borrowed)* Sender<T> {
            fn room(&mut self) -> Box<dyn Arm + '_> {
                let room = AwaitOrderedRoom { state: &self.state };
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

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;
    use crate::sync::Ordering;

    /// A sender watches a word that changes as a receiver takes a message.
    #[test]
    fn a_sender_watches_the_next_slot() {
        let (sender, receiver) = super::super::channel(2);
        for number in 0..5 {
            while sender.try_send(number).is_ok() {}
            let mut claiming = AwaitSlot { state: &sender.state };
            assert!(matches!(claiming.poll(), Look::Nothing));
            let word = claiming.watched().unwrap();
            let before = word.load(Ordering::Relaxed);
            assert!(receiver.try_recv().is_ok());
            assert_ne!(word.load(Ordering::Relaxed), before);
            let Look::Found(Ok(slot)) = claiming.poll() else { panic!("a slot is free") };
            sender.state.fill(slot, number);
        }
    }
}
