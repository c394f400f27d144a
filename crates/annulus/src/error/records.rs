//! Why a record was not written. Nothing of it is sent, and it is still the caller's.

use core::error::Error;
use core::fmt;

use super::{GiveBack, Refusal, SendError, SendTimeoutError, TooLong, TrySendError};

/// What all three errors have in common; `refused` is the variant of a lack of room.
macro_rules! refusals {
    ($Error:ident $(, refused: $refused:ident, $text:expr)?) => {
        impl From<TooLong> for $Error {
            fn from(error: TooLong) -> Self {
                Self::TooLong(error)
            }
        }

        impl GiveBack<()> for $Error {
            fn of(refusal: Refusal, (): ()) -> Self {
                match refusal {
                    $(Refusal::Full => Self::$refused,)?
                    #[allow(unreachable_patterns, reason = "a verb without a deadline is refused for one reason only")]
                    Refusal::Full | Refusal::Closed => Self::Closed,
                }
            }
        }

        impl fmt::Display for $Error {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    Self::Closed => SendError(()).fmt(f),
                    Self::TooLong(error) => error.fmt(f),
                    $(Self::$refused => $text.fmt(f),)?
                }
            }
        }

        impl Error for $Error {}
    };
}

/// The error of a verb that waits is one of those that don't, and of those that wait for a time, too.
macro_rules! from_waiting {
    ($Error:ident) => {
        impl From<WriteError> for $Error {
            fn from(error: WriteError) -> Self {
                match error {
                    WriteError::Closed => Self::Closed,
                    WriteError::TooLong(error) => Self::TooLong(error),
                }
            }
        }
    };
}

/// The error of [`write`](crate::queue::bytes::Producer::write) and similar verbs, and of
/// [`publish`](crate::broadcast::bytes::Publisher#method.publish-1) of a lossless ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteError {
    /// The queue or the ring is closed: nobody receives any more, or somebody closed it.
    Closed,
    /// No record there can be so long.
    TooLong(TooLong),
}

refusals!(WriteError);

/// Why a record could not be written at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TryWriteError {
    /// There is no room for it: the consumer, or the slowest subscriber, has to receive first.
    Full,
    /// The queue or the ring is closed: nobody receives any more, or somebody closed it.
    Closed,
    /// No record there can be so long.
    TooLong(TooLong),
}

impl TryWriteError {
    /// Whether there was no room. If so, another attempt may succeed later.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full)
    }
}

refusals!(TryWriteError, refused: Full, TrySendError::Full(()));
from_waiting!(TryWriteError);

/// Why a record could not be written in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WriteTimeoutError {
    /// The time passed, and there was no room for it.
    Timeout,
    /// The queue or the ring is closed: nobody receives any more, or somebody closed it.
    Closed,
    /// No record there can be so long.
    TooLong(TooLong),
}

refusals!(WriteTimeoutError, refused: Timeout, SendTimeoutError::Timeout(()));
from_waiting!(WriteTimeoutError);
