//! The iterators over a consumer's messages, and the verbs that make them: one ends with what is there now,
//! two wait for more.

use core::fmt;
use core::iter::FusedIterator;

use super::Consumer;
use super::ends::Read;
use super::kind::AnyKind;
use super::roster::Round;

impl<T: Send, K: AnyKind> Consumer<T, K> {
    /// An iterator over the messages that are there now. It visits each ring once, and takes the messages
    /// that were there when the turn of that ring began. So it ends, however fast the producers are. It never
    /// waits. Messages that it is not asked for stay in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(consumer.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// assert_eq!(consumer.try_iter().next(), None);
    /// ```
    #[doc(alias = "drain")]
    #[doc(alias = "drain_all")]
    pub fn try_iter(&mut self) -> TryIter<'_, T, K> {
        let round = self.end.begin_round();
        TryIter { consumer: self, here: 0, round }
    }

    /// An iterator that waits for messages until the queue is closed and empty.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// drop(producer);
    /// assert_eq!(consumer.iter().sum::<i32>(), 6);
    /// ```
    pub fn iter(&mut self) -> Iter<'_, T, K> {
        Iter::of(self)
    }
}

/// An iterator over the messages that are there now; made by [`Consumer::try_iter`].
#[doc(alias = "Drain")]
#[must_use = "an iterator does nothing until it is asked"]
pub struct TryIter<'c, T: Send, K: AnyKind> {
    consumer: &'c mut Consumer<T, K>,
    /// Messages left in this ring.
    here: usize,
    /// The rings after this one.
    round: Round,
}

impl<T: Send, K: AnyKind> Iterator for TryIter<'_, T, K> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        loop {
            if self.here > 0 {
                self.here -= 1;
                let mut value = None;
                // (As many are there, unless another consumer takes them.)
                let passed = self.consumer.end.take_here(1, |taken| value = Some(taken));
                if value.is_some() {
                    return value;
                }
                // (What is corrupt was passed.)
                if passed == 1 {
                    continue;
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

impl<T: Send, K: AnyKind> FusedIterator for TryIter<'_, T, K> {}

/// The iterator of [`Consumer::iter`].
pub type Iter<'c, T, K> = crate::Iter<&'c mut Consumer<T, K>>;

/// The iterator of `Consumer::into_iter`.
pub type IntoIter<T, K> = crate::Iter<Consumer<T, K>>;

#[allow(clippy::into_iter_without_iter, reason = "`iter` takes the consumer mutably, as it must")]
impl<'c, T: Send, K: AnyKind> IntoIterator for &'c mut Consumer<T, K> {
    type Item = T;
    type IntoIter = Iter<'c, T, K>;

    fn into_iter(self) -> Iter<'c, T, K> {
        self.iter()
    }
}

impl<T: Send, K: AnyKind> IntoIterator for Consumer<T, K> {
    type Item = T;
    type IntoIter = IntoIter<T, K>;

    fn into_iter(self) -> IntoIter<T, K> {
        IntoIter::of(self)
    }
}

impl<T: Send, K: AnyKind> fmt::Debug for TryIter<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryIter").field("here", &self.here).finish_non_exhaustive()
    }
}
