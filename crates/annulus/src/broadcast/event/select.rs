//! Rings of events in a select.

use alloc::boxed::Box;

use super::reset::Reset;
use super::source::There;
use super::{EventPublisher, EventSubscriber, MpEventPublisher};
use crate::broadcast::claiming::Claiming;
use crate::broadcast::mode::Mode;
use crate::broadcast::slot_access::Claimable;
use crate::error::{PublishError, RecvError, Refusal};
use crate::transmit::await_room::{Alone, AwaitRoom};
use crate::transmit::room::{HasRoom, WaitsForRoom};
use crate::wait::{Arm, Choice, EventCount, Finding, SendChoice, Sending, WaitStrategy};

impl<T: Send + Sync, M: Mode> EventSubscriber<T, M> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn wait_in_select(&mut self) -> impl Choice<Found = Result<(), RecvError>> {
        // SAFETY: the events are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Finding::new(There(self), |there| there.0.wait_strategy()) }
    }
}

impl<T: Send + Sync, R: Reset<T>> EventPublisher<T, R> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&mut self) -> impl Choice<Found = impl SendChoice<T, PublishError<T>>> {
        // SAFETY: the events are in the ring's shared state, which the publisher's handle keeps alive.
        let room = unsafe { Finding::new(AwaitRoom(self), AwaitRoom::strategy) };
        Sending::new(room, |AwaitRoom(publisher), found, value| {
            let admitted = found.and_then(|()| publisher.announce());
            publisher.put_admitted(admitted, value)
        })
    }
}

impl<T: Send + Sync, R: Reset<T>> WaitsForRoom for EventPublisher<T, R> {}

impl<T: Send + Sync, R: Reset<T>> HasRoom for EventPublisher<T, R> {
    fn room(&mut self) -> Box<dyn Arm + '_> {
        // SAFETY: as above.
        Box::new(unsafe { Finding::that_takes_nothing(AwaitRoom(self), AwaitRoom::strategy) })
    }
}

impl<T: Send + Sync, R: Reset<T>> Alone for EventPublisher<T, R> {
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

impl<T: Send + Sync, R: Reset<T>> MpEventPublisher<T, R> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&self) -> impl Choice<Found = impl SendChoice<T, PublishError<T>>> {
        let claiming = Claiming::by(self, self.shared());
        // SAFETY: the events are in the ring's shared state, which the publisher's handle keeps alive.
        let room = unsafe { Finding::new(claiming, Claiming::strategy) };
        Sending::in_claim(room, |claiming, found, value| claiming.publisher.put_admitted(found, value))
    }
}

impl<T: Send + Sync, R: Reset<T>> WaitsForRoom for MpEventPublisher<T, R> {}

impl<T: Send + Sync, R: Reset<T>> HasRoom for MpEventPublisher<T, R> {
    fn room(&mut self) -> Box<dyn Arm + '_> {
        let claimable = Claimable::of(self.shared());
        // SAFETY: the events are in the ring's shared state, which the publisher's handle keeps alive.
        Box::new(unsafe { Finding::that_takes_nothing(claimable, Claimable::strategy) })
    }
}
