//! The iterators over a receiver's messages, and the verbs that make them. One ends with the messages that
//! are there; two wait for more.

use core::fmt;
use core::iter::FusedIterator;

use super::Receiver;

impl<T: Send> Receiver<T> {
    /// An iterator over the messages that are there now: as many as there were when it was made, except those
    /// that other receivers take. It ends, however fast the senders are, and never waits. Messages that it is
    /// not asked for stay in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// assert_eq!(receiver.try_iter().next(), None);
    /// ```
    pub fn try_iter(&self) -> TryIter<'_, T> {
        TryIter { receiver: self, left: self.len() }
    }

    /// An iterator that waits for messages until the queue is closed and empty.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send_batch(&[1, 2, 3]).unwrap();
    /// drop(sender);
    /// assert_eq!(receiver.iter().sum::<i32>(), 6);
    /// ```
    pub fn iter(&self) -> Iter<'_, T> {
        Iter::of(self)
    }
}

/// An iterator over the messages that are there now; made by [`Receiver::try_iter`].
#[doc(alias = "Drain")]
#[must_use = "an iterator does nothing until it is asked"]
pub struct TryIter<'r, T: Send> {
    receiver: &'r Receiver<T>,
    /// How many may still be there.
    left: usize,
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

/// The iterator of [`Receiver::iter`].
pub type Iter<'r, T> = crate::Iter<&'r Receiver<T>>;

/// The iterator of `Receiver::into_iter`.
pub type IntoIter<T> = crate::Iter<Receiver<T>>;

impl<'r, T: Send> IntoIterator for &'r Receiver<T> {
    type Item = T;
    type IntoIter = Iter<'r, T>;

    fn into_iter(self) -> Iter<'r, T> {
        self.iter()
    }
}

impl<T: Send> IntoIterator for Receiver<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter::of(self)
    }
}

impl<T: Send> fmt::Debug for TryIter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryIter").field("left", &self.left).finish_non_exhaustive()
    }
}
