//! [`Wait`]: what a waiter looks for, where it sleeps, and which word it watches.

use super::look::Look;
use super::{EventCount, WriterBackoff};
use crate::sync::AtomicU64;

/// Somebody who may have to wait.
pub(crate) trait Wait {
    /// What is waited for.
    type Found;

    /// Where to sleep; only a poll changes it. Whoever makes [`poll`](Self::poll) succeed calls
    /// [`EventCount::notify`] on it *after* the store that `poll` looks for.
    fn event(&self) -> &EventCount;

    /// How a writer keeps its distance from the readers. A reader needs none.
    fn backoff(&mut self) -> Option<&mut WriterBackoff> {
        None
    }

    /// The one word whose change makes [`poll`](Self::poll) succeed, if there is one, for
    /// [`Monitor`](super::WaitStrategy::Monitor): the word that `poll` loads, and that is stored for each
    /// message (or free slot, or whatever is waited for). Only a poll changes which word it is. What makes
    /// `poll` succeed by another word, such as a close, is found a little later.
    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        None
    }

    /// Looks whether it is there.
    fn poll(&mut self) -> Look<Self::Found>;
}
