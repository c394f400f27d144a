//! What a wait is made of: polls, each of which finds a [`Look`], until a [`Deadline`].

use core::time::Duration;

use crate::error::{LossyRecvError, LossyTryRecvError, RecvError, TryRecvError};

/// What a poll found.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub enum Look<F> {
    /// What is waited for.
    Found(F),
    /// Nothing is there; the thread that brings something notifies.
    Nothing,
    /// Something may be there, and its notify may be long over: look again, and do not sleep.
    Again,
}

impl<T> From<Result<T, TryRecvError>> for Look<Result<T, RecvError>> {
    /// What a receive that does not wait has found.
    #[inline(always)]
    fn from(received: Result<T, TryRecvError>) -> Self {
        match received {
            Ok(value) => Self::Found(Ok(value)),
            Err(TryRecvError::Empty) => Self::Nothing,
            Err(TryRecvError::Closed) => Self::Found(Err(RecvError::CLOSED)),
        }
    }
}

impl<T, C> From<Result<T, LossyTryRecvError<C>>> for Look<Result<T, LossyRecvError<C>>> {
    /// The same of one that reports what it lost.
    #[inline(always)]
    fn from(received: Result<T, LossyTryRecvError<C>>) -> Self {
        Self::Found(match received {
            Ok(value) => Ok(value),
            Err(LossyTryRecvError::Empty) => return Self::Nothing,
            Err(LossyTryRecvError::Lagged { skipped }) => Err(LossyRecvError::Lagged { skipped }),
            Err(LossyTryRecvError::Corrupt(corrupt)) => Err(LossyRecvError::Corrupt(corrupt)),
            Err(LossyTryRecvError::Closed) => Err(LossyRecvError::Closed),
        })
    }
}

impl<F> Look<F> {
    /// What was found, changed by `change`.
    pub(crate) fn map<G>(self, change: impl FnOnce(F) -> G) -> Look<G> {
        match self {
            Self::Found(found) => Look::Found(change(found)),
            Self::Nothing => Look::Nothing,
            Self::Again => Look::Again,
        }
    }
}

/// When a wait gives up. Without `std` there is no clock, and no wait ever does.
#[cfg(feature = "std")]
pub(crate) type Deadline = Option<std::time::Instant>;
#[cfg(not(feature = "std"))]
pub(crate) type Deadline = Option<core::convert::Infallible>;

/// How much time is left, at most `most`.
#[cfg(feature = "std")]
pub(super) fn left(deadline: Deadline, most: Duration) -> Duration {
    deadline.map_or(most, |deadline| deadline.saturating_duration_since(std::time::Instant::now()).min(most))
}

/// `most`, without a clock.
#[cfg(not(feature = "std"))]
pub(super) fn left(_: Deadline, most: Duration) -> Duration {
    most
}

/// Whether it has passed.
#[cfg(feature = "std")]
pub(super) fn has_passed(deadline: Deadline) -> bool {
    deadline.is_some_and(|deadline| std::time::Instant::now() >= deadline)
}

/// Never, without a clock.
// Mutants: `with true`: not in this build: without std.
#[cfg(not(feature = "std"))]
pub(super) fn has_passed(_: Deadline) -> bool {
    false
}
