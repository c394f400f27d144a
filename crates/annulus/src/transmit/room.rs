//! Waiting for room. [`WaitsForRoom`]: the sending handles that may have to, for code that takes any of them.
//! [`AwaitRoom`]: one of them, which sends into its ring alone, and waits in a task or a select.

use crate::error::Refusal;
#[cfg(feature = "std")]
use crate::transmit::Transmit;
use crate::wait::{EventCount, Look, Poll};
#[cfg(feature = "std")]
use crate::wait::{RoomArm, WaitStrategy};

/// A [sending handle](Transmit) that may have to wait for a free slot, for
/// [`Select::send`](crate::Select::send).
///
/// These are the [producers](crate::queue::Producer) of queues, the [senders](crate::queue::ordered::Sender)
/// of ordered queues, the publishers of lossless broadcast rings ([one](crate::broadcast::Publisher),
/// [many](crate::broadcast::MpPublisher)) and of events ([one](crate::event::Publisher),
/// [many](crate::event::MpPublisher)), and the [input](crate::pipeline::Input) of a pipeline. Of senders
/// and of `MpPublisher`s, whose verbs take `&self`, a reference is one, too. There are no others: the trait
/// can't be implemented outside this crate.
#[cfg(feature = "std")]
pub trait WaitsForRoom: Transmit {
    /// Looks whether a send would find a free slot, or the close. It claims nothing.
    #[doc(hidden)]
    fn room(&mut self) -> RoomArm<'_>;
}

/// A handle that sends alone into a ring, or into its part of one: a slot that is free stays free until it
/// sends.
pub(crate) trait SoleSender {
    /// Where it waits.
    fn released(&self) -> &EventCount;

    /// Makes sure that the next message may be written, if that takes no waiting.
    fn look_for_room(&mut self) -> Result<(), Refusal>;

    /// How to wait, where nobody says.
    #[cfg(feature = "std")]
    fn strategy(&self) -> WaitStrategy;
}

/// Until it has room, or learns that its ring is closed.
pub(crate) struct AwaitRoom<'p, P>(pub(crate) &'p mut P);

#[cfg(feature = "std")]
impl<P: SoleSender> AwaitRoom<'_, P> {
    pub(crate) fn strategy(&self) -> WaitStrategy {
        self.0.strategy()
    }
}

impl<P: SoleSender> Poll for AwaitRoom<'_, P> {
    type Found = Result<(), Refusal>;

    fn wait_point(&self) -> &EventCount {
        self.0.released()
    }

    #[inline]
    fn poll(&mut self) -> Look<Self::Found> {
        match self.0.look_for_room() {
            Err(Refusal::Full) => Look::Nothing,
            result => Look::Found(result),
        }
    }
}
