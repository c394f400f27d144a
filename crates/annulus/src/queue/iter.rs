//! The iterators over a consumer's messages: one ends with what is there now, two wait for more.

use core::fmt;
use core::iter::FusedIterator;

use super::Consumer;
use super::ends::Read;
use super::kind::Kind;
use super::roster::Round;

/// An iterator over the messages that are there now; made by [`Consumer::try_iter`].
#[must_use = "an iterator does nothing until it is asked"]
pub struct TryIter<'c, T: Send, K: Kind> {
    consumer: &'c mut Consumer<T, K>,
    /// Messages left in this ring.
    here: usize,
    /// The rings after this one.
    round: Round,
}

impl<'c, T: Send, K: Kind> TryIter<'c, T, K> {
    pub(super) fn new(consumer: &'c mut Consumer<T, K>) -> Self {
        let round = consumer.end.begin_round();
        Self { consumer, here: 0, round }
    }
}

impl<T: Send, K: Kind> Iterator for TryIter<'_, T, K> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        loop {
            if self.here > 0 {
                self.here -= 1;
                let mut value = None;
                // (As many are there, unless another consumer takes them.)
                if self.consumer.end.take_here(1, |taken| value = Some(taken)) == 1 {
                    return value;
                }
                self.here = 0;
            }
            if !self.consumer.end.next_in_round(&mut self.round) {
                return None;
            }
            self.here = self.consumer.end.here();
        }
    }
}

impl<T: Send, K: Kind> FusedIterator for TryIter<'_, T, K> {}

/// An iterator that waits for messages until the queue is closed and empty; made by [`Consumer::iter`].
#[must_use = "an iterator does nothing until it is asked"]
pub struct Iter<'c, T: Send, K: Kind> {
    consumer: &'c mut Consumer<T, K>,
}

impl<'c, T: Send, K: Kind> Iter<'c, T, K> {
    pub(super) fn new(consumer: &'c mut Consumer<T, K>) -> Self {
        Self { consumer }
    }
}

impl<T: Send, K: Kind> Iterator for Iter<'_, T, K> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.consumer.recv().ok()
    }
}

impl<T: Send, K: Kind> FusedIterator for Iter<'_, T, K> {}

/// An iterator like [`Iter`] that owns its consumer; made by `Consumer::into_iter`.
#[must_use = "an iterator does nothing until it is asked"]
pub struct IntoIter<T: Send, K: Kind> {
    consumer: Consumer<T, K>,
}

impl<T: Send, K: Kind> IntoIter<T, K> {
    pub(super) fn new(consumer: Consumer<T, K>) -> Self {
        Self { consumer }
    }
}

impl<T: Send, K: Kind> Iterator for IntoIter<T, K> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.consumer.recv().ok()
    }
}

impl<T: Send, K: Kind> FusedIterator for IntoIter<T, K> {}

impl<T: Send, K: Kind> fmt::Debug for TryIter<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryIter").field("here", &self.here).finish_non_exhaustive()
    }
}

impl<T: Send, K: Kind> fmt::Debug for Iter<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Iter").field(&self.consumer).finish()
    }
}

impl<T: Send, K: Kind> fmt::Debug for IntoIter<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("IntoIter").field(&self.consumer).finish()
    }
}
