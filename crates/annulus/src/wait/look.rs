//! [`Look`]: what a poll found.

/// What a poll found.
#[cfg_attr(test, derive(Debug, PartialEq))]
pub(crate) enum Look<F> {
    /// What is waited for.
    Found(F),
    /// Nothing is there; whoever brings something notifies.
    Nothing,
    /// Something may be there, and its notify may be long over: look again, and do not sleep.
    Again,
}

#[cfg(any(feature = "std", feature = "async"))]
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
