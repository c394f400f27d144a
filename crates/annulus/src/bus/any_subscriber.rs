//! [`AnySubscriber`]: a subscriber of a topic, whichever kind the topic is of.

use crate::broadcast::{Lossless, Subscriber};
use crate::error::{LossyTryRecvError, TryRecvError};
use crate::message::Message;
#[cfg(any(feature = "std", feature = "async"))]
use crate::receive::batches::Batches;
use crate::stats::Stats;
#[cfg(any(feature = "std", feature = "async"))]
use crate::wait::{EventCount, Source};

/// A subscriber of either mode.
pub(super) enum AnySubscriber<T: Message> {
    Lossy(Subscriber<T>),
    Lossless(Subscriber<T, Lossless>),
}

/// The same for a subscriber of either mode.
macro_rules! either {
    ($any:expr, $subscriber:ident => $does:expr) => {
        match $any {
            Self::Lossy($subscriber) => $does,
            Self::Lossless($subscriber) => $does,
        }
    };
}

impl<T: Message> AnySubscriber<T> {
    pub(super) fn try_recv(&mut self) -> Result<T, LossyTryRecvError> {
        match self {
            Self::Lossy(subscriber) => subscriber.try_recv(),
            Self::Lossless(subscriber) => subscriber.try_recv().map_err(TryRecvError::into),
        }
    }

    pub(super) fn total_lagged(&self) -> u64 {
        either!(self, subscriber => subscriber.total_lagged())
    }

    pub(super) fn stats(&self) -> Stats {
        either!(self, subscriber => subscriber.stats())
    }
}

/// As one waits for it, and as an event loop receives from it.
#[cfg(any(feature = "std", feature = "async"))]
impl<T: Message> AnySubscriber<T> {
    /// Where it waits, in its ring.
    pub(super) fn event(&self) -> &EventCount {
        either!(self, subscriber => Source::event(subscriber))
    }

    /// Whether a receive would return something.
    pub(super) fn is_ready(&mut self) -> bool {
        either!(self, subscriber => subscriber.is_ready())
    }

    /// Whether the topic is closed, and everything was received.
    pub(super) fn is_at_end(&self) -> bool {
        either!(self, subscriber => subscriber.is_at_end())
    }

    /// Whether the topic is closed.
    pub(super) fn is_closed(&self) -> bool {
        either!(self, subscriber => subscriber.is_closed())
    }

    pub(super) fn has_more(&mut self) -> bool {
        either!(self, subscriber => subscriber.has_more())
    }

    /// The number behind that of the last message that was published.
    pub(super) fn end(&self) -> u64 {
        either!(self, subscriber => subscriber.end()).get()
    }

    /// The number of the message that comes next.
    pub(super) fn cursor(&self) -> u64 {
        either!(self, subscriber => subscriber.cursor())
    }
}
