//! The iterators over a receiver's messages: one that ends with what is there, two that wait.

use core::fmt;
use core::iter::FusedIterator;

use super::Receiver;

/// The messages that are there now; made by [`Receiver::try_iter`].
#[must_use = "an iterator does nothing until it is asked"]
pub struct TryIter<'r, T: Send> {
    receiver: &'r Receiver<T>,
    /// How many may still be there.
    left: usize,
}

impl<'r, T: Send> TryIter<'r, T> {
    pub(super) fn new(receiver: &'r Receiver<T>) -> Self {
        Self { receiver, left: receiver.len() }
    }
}

impl<T: Send> Iterator for TryIter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        // Where another receiver takes them, it ends for good.
        self.left = self.left.checked_sub(1)?;
        let value = self.receiver.state.take();
        self.left = if value.is_some() { self.left } else { 0 };
        value
    }
}

impl<T: Send> FusedIterator for TryIter<'_, T> {}

/// Messages, waited for until the queue is closed and empty; made by [`Receiver::iter`].
#[must_use = "an iterator does nothing until it is asked"]
pub struct Iter<'r, T: Send> {
    receiver: &'r Receiver<T>,
}

impl<'r, T: Send> Iter<'r, T> {
    pub(super) fn new(receiver: &'r Receiver<T>) -> Self {
        Self { receiver }
    }
}

impl<T: Send> Iterator for Iter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T: Send> FusedIterator for Iter<'_, T> {}

/// As [`Iter`], with the receiver inside; made by its `into_iter`.
#[must_use = "an iterator does nothing until it is asked"]
pub struct IntoIter<T: Send> {
    receiver: Receiver<T>,
}

impl<T: Send> IntoIter<T> {
    pub(super) fn new(receiver: Receiver<T>) -> Self {
        Self { receiver }
    }
}

impl<T: Send> Iterator for IntoIter<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.receiver.recv().ok()
    }
}

impl<T: Send> FusedIterator for IntoIter<T> {}

impl<T: Send> fmt::Debug for TryIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryIter").field("left", &self.left).finish_non_exhaustive()
    }
}

impl<T: Send> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Iter").field(&self.receiver).finish()
    }
}

impl<T: Send> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IntoIter").field(&self.receiver).finish()
    }
}
