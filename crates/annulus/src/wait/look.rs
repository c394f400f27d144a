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
