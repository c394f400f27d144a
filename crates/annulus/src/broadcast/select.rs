//! Broadcast rings of copied messages in a select.

use alloc::boxed::Box;

use super::claiming::Claiming;
use super::lossy::OrLag;
use super::slot_access::Claimable;
use super::{Lossless, Lossy, LossyMode, MpPublisher, Publisher, Subscriber};
use crate::error::{LossyRecvError, PublishError, Refusal};
use crate::message::Message;
use crate::transmit::await_room::{Alone, AwaitRoom};
use crate::transmit::room::{HasRoom, WaitsForRoom};
use crate::wait::{Arm, Choice, EventCount, Finding, SendChoice, Sending, WaitStrategy};

impl<T: Message, M: LossyMode> Subscriber<T, M> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn recv_or_lag_in_select(&mut self) -> impl Choice<Found = Result<T, LossyRecvError<M::Corrupt>>> {
        // SAFETY: the events are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Finding::new(OrLag(self), |or_lag| or_lag.0.wait_strategy()) }
    }
}

impl<T: Message> Publisher<T, Lossless> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&mut self) -> impl Choice<Found = impl SendChoice<T, PublishError<T>>> {
        // SAFETY: the events are in the ring's shared state, which the publisher's handle keeps alive.
        let room = unsafe { Finding::new(AwaitRoom(self), AwaitRoom::strategy) };
        Sending::new(room, |AwaitRoom(publisher), found, message| publisher.put_admitted(found, message))
    }
}

impl<T: Message> WaitsForRoom for Publisher<T, Lossless> {}

impl<T: Message> HasRoom for Publisher<T, Lossless> {
    fn room(&mut self) -> Box<dyn Arm + '_> {
        // SAFETY: as above.
        Box::new(unsafe { Finding::that_takes_nothing(AwaitRoom(self), AwaitRoom::strategy) })
    }
}

impl<T: Message> Alone for Publisher<T, Lossless> {
    fn released(&self) -> &EventCount {
        self.single.released()
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.single.look_for_room()
    }

    fn strategy(&self) -> WaitStrategy {
        self.single.strategy()
    }
}

/// For the input of a pipeline. It never waits.
impl<T: Message> Alone for Publisher<T, Lossy> {
    fn released(&self) -> &EventCount {
        self.single.released()
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        if self.is_closed() { Err(Refusal::Closed) } else { Ok(()) }
    }

    fn strategy(&self) -> WaitStrategy {
        self.single.strategy()
    }
}

impl<T: Message> MpPublisher<T, Lossless> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&self) -> impl Choice<Found = impl SendChoice<T, PublishError<T>>> {
        let claiming = Claiming::by(self, &self.shared);
        // SAFETY: the events are in the ring's shared state, which the publisher's handle keeps alive.
        let room = unsafe { Finding::new(claiming, Claiming::strategy) };
        Sending::in_claim(room, |claiming, found, message| claiming.publisher.put_admitted(found, message))
    }
}

/// Each is for a publisher, and for a reference to one, because its verbs take `&self`.
macro_rules! publishers {
    ($([$($borrowed:tt)*])*) => {$(
        impl<T: Message> WaitsForRoom for $($borrowed)* MpPublisher<T, Lossless> {}

        impl<T: Message> HasRoom for $($borrowed)* MpPublisher<T, Lossless> {
            fn room(&mut self) -> Box<dyn Arm + '_> {
                let claimable = Claimable::of(&self.shared);
                // SAFETY: the events are in the ring's shared state, which the handle keeps alive.
                Box::new(unsafe { Finding::that_takes_nothing(claimable, Claimable::strategy) })
            }
        }
    )*};
}

publishers! {
    []
    [&]
}
