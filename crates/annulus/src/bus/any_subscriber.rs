//! [`AnySubscriber`]: a subscriber of a topic, whichever kind the topic is of.

use crate::broadcast::{Lossless, Subscriber};
use crate::error::{LossyTryRecvError, TryRecvError};
use crate::message::Message;
#[cfg(feature = "std")]
use crate::wait::{Event, Look, Source};

/// A subscriber of either mode.
pub(super) enum AnySubscriber<T: Message> {
    Lossy(Subscriber<T>),
    Lossless(Subscriber<T, Lossless>),
}

impl<T: Message> AnySubscriber<T> {
    pub(super) fn try_recv(&mut self) -> Result<T, LossyTryRecvError> {
        match self {
            Self::Lossy(subscriber) => subscriber.try_recv(),
            Self::Lossless(subscriber) => subscriber.try_recv().map_err(TryRecvError::into),
        }
    }

    pub(super) fn total_lagged(&self) -> u64 {
        match self {
            Self::Lossy(subscriber) => subscriber.total_lagged(),
            Self::Lossless(subscriber) => subscriber.total_lagged(),
        }
    }

    /// Where it waits, in its ring.
    #[cfg(feature = "std")]
    pub(super) fn event(&self) -> &Event {
        match self {
            Self::Lossy(subscriber) => Source::event(subscriber),
            Self::Lossless(subscriber) => Source::event(subscriber),
        }
    }

    /// Whether a receive would return something.
    #[cfg(feature = "std")]
    pub(super) fn look(&mut self) -> Look<()> {
        let is_ready = match self {
            Self::Lossy(subscriber) => subscriber.is_ready(),
            Self::Lossless(subscriber) => subscriber.is_ready(),
        };
        if is_ready { Look::Found(()) } else { Look::Nothing }
    }
}
