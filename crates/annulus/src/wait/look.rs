//! [`Look`]: what a poll found.

use crate::error::{RecvError, TryRecvError};

/// What a poll found.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub enum Look<F> {
    /// What is waited for.
    Found(F),
    /// Nothing is there; whoever brings something notifies.
    Nothing,
    /// Something may be there, and its notify may be long over: look again, and do not sleep.
    Again,
}

impl<T, C> From<Result<T, TryRecvError<C>>> for Look<Result<T, RecvError>> {
    /// What a receive that does not wait has found.
    #[inline(always)]
    fn from(received: Result<T, TryRecvError<C>>) -> Self {
        match received {
            Ok(value) => Self::Found(Ok(value)),
            Err(TryRecvError::Empty) => Self::Nothing,
            // (It was passed.)
            Err(TryRecvError::Corrupt(_)) => Self::Again,
            Err(TryRecvError::Closed) => Self::Found(Err(RecvError)),
        }
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
