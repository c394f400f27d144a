//! Why a value was refused. These errors give it back.

use core::error::Error;
use core::fmt;

/// Why there is no slot for a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// Somebody is in the way, and goes on some day.
    Full,
    /// No handle is left that could receive, or somebody closed the ring.
    Closed,
}

/// An error that gives a value back.
pub(crate) trait GiveBack<V> {
    /// The error for `value`, which was refused because of `refusal`.
    fn of(refusal: Refusal, value: V) -> Self;
}

/// For a caller that makes an error of it later.
impl<V> GiveBack<V> for (Refusal, V) {
    #[inline]
    fn of(refusal: Refusal, value: V) -> Self {
        (refusal, value)
    }
}

/// Hands `value` to `publish` if it was admitted. If not, gives it back in an error.
#[inline(always)]
pub(crate) fn if_admitted<A, V, E: GiveBack<V>>(
    admitted: Result<A, Refusal>,
    value: V,
    publish: impl FnOnce(A, V),
) -> Result<(), E> {
    match admitted {
        Ok(admission) => {
            publish(admission, value);
            Ok(())
        }
        Err(refusal) => Err(E::of(refusal, value)),
    }
}

/// The error of [`send`](crate::queue::Producer::send), [`publish`](crate::broadcast::Publisher::publish) and
/// similar verbs: nobody is left to receive the value, or somebody closed the ring. (Of a broadcast ring all
/// subscribers are gone, and everything that could make one.)
///
/// It gives the value back; for a batch, the part that was not sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SendError<T>(
    /// The value that was not sent.
    pub T,
);

/// Why a value could not be sent or published at once. Gives the value back.
#[doc(alias = "PushError")]
#[doc(alias = "MissingFreeSlots")]
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum TrySendError<T> {
    /// There is no room: a consumer, or the slowest subscriber, has to receive first; or a publisher that is
    /// one lap behind still needs the slot.
    #[doc(alias = "RingBufferFull")]
    Full(T),
    /// As [`SendError`].
    #[doc(alias = "Disconnected")]
    Closed(T),
}

/// Why a value could not be sent or published in time. Gives the value back; for a batch, the part that was
/// not sent.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum SendTimeoutError<T> {
    /// The time passed, and there was no room.
    Timeout(T),
    /// As [`SendError`].
    #[doc(alias = "Disconnected")]
    Closed(T),
}

impl<T> SendError<T> {
    /// The value that was not sent.
    #[must_use = "what was not sent is still yours"]
    pub fn into_inner(self) -> T {
        self.0
    }
}

impl<T> TrySendError<T> {
    /// The value that was not sent.
    #[must_use = "what was not sent is still yours"]
    pub fn into_inner(self) -> T {
        match self {
            Self::Full(value) | Self::Closed(value) => value,
        }
    }

    /// Whether there was no room. If so, another attempt may succeed later.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full(_))
    }
}

impl<T> SendTimeoutError<T> {
    /// The value that was not sent.
    #[must_use = "what was not sent is still yours"]
    pub fn into_inner(self) -> T {
        match self {
            Self::Timeout(value) | Self::Closed(value) => value,
        }
    }
}

impl<T> GiveBack<T> for SendError<T> {
    /// Of a verb that has no deadline, so it is refused for one reason only.
    #[inline]
    fn of(_: Refusal, value: T) -> Self {
        Self(value)
    }
}

impl<T> GiveBack<T> for TrySendError<T> {
    #[inline]
    fn of(refusal: Refusal, value: T) -> Self {
        match refusal {
            Refusal::Full => Self::Full(value),
            Refusal::Closed => Self::Closed(value),
        }
    }
}

impl<T> GiveBack<T> for SendTimeoutError<T> {
    #[inline]
    fn of(refusal: Refusal, value: T) -> Self {
        match refusal {
            Refusal::Full => Self::Timeout(value),
            Refusal::Closed => Self::Closed(value),
        }
    }
}

impl<T> From<SendError<T>> for TrySendError<T> {
    fn from(error: SendError<T>) -> Self {
        Self::Closed(error.0)
    }
}

impl<T> From<SendError<T>> for SendTimeoutError<T> {
    fn from(error: SendError<T>) -> Self {
        Self::Closed(error.0)
    }
}

const CLOSED: &str = "nobody is left to receive, or somebody closed the ring";

impl<T> fmt::Display for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(CLOSED)
    }
}

impl<T> fmt::Display for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "the ring is full: a consumer, or the slowest subscriber, has to receive first",
            Self::Closed(_) => CLOSED,
        })
    }
}

impl<T> fmt::Display for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => {
                "no room came in time: a consumer, or the slowest subscriber, has to receive first"
            }
            Self::Closed(_) => CLOSED,
        })
    }
}

/// Does not show the value, which may be a closure.
impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

/// Does not show the value, which may be a closure.
impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Full(_) => "Full(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

/// Does not show the value, which may be a closure.
impl<T> fmt::Debug for SendTimeoutError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Timeout(_) => "Timeout(..)",
            Self::Closed(_) => "Closed(..)",
        })
    }
}

impl<T> Error for SendError<T> {}

impl<T> Error for TrySendError<T> {}

impl<T> Error for SendTimeoutError<T> {}
