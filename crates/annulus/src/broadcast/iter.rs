//! The iterators over a subscriber's messages: one that ends where it began, two that wait.

use core::fmt;
use core::iter::FusedIterator;

use super::Subscriber;
use crate::message::Message;
use crate::ring::Sequence;

/// The messages that were there when [`Subscriber::drain`] was called.
#[must_use = "an iterator does nothing until it is asked"]
pub struct Drain<'a, T: Message> {
    subscriber: &'a mut Subscriber<T>,
    end: Sequence,
}

impl<'a, T: Message> Drain<'a, T> {
    pub(super) fn new(subscriber: &'a mut Subscriber<T>, end: Sequence) -> Self {
        Self { subscriber, end }
    }
}

impl<T: Message> Iterator for Drain<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.subscriber.next_before(&mut Some(self.end))
    }

    /// At most what lies between the cursor and the end; fewer where the publisher overwrites some of them.
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.end.get().saturating_sub(self.subscriber.cursor());
        (0, usize::try_from(left).ok())
    }
}

impl<T: Message> FusedIterator for Drain<'_, T> {}

/// Messages, waited for until the publisher is gone; made by [`Subscriber::iter`].
#[must_use = "an iterator does nothing until it is asked"]
pub struct Iter<'a, T: Message> {
    subscriber: &'a mut Subscriber<T>,
}

impl<'a, T: Message> Iter<'a, T> {
    pub(super) fn new(subscriber: &'a mut Subscriber<T>) -> Self {
        Self { subscriber }
    }
}

impl<T: Message> Iterator for Iter<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.subscriber.recv().ok()
    }
}

impl<T: Message> FusedIterator for Iter<'_, T> {}

/// Messages, waited for until the publisher is gone; made from a [`Subscriber`] that it owns.
#[must_use = "an iterator does nothing until it is asked"]
pub struct IntoIter<T: Message> {
    subscriber: Subscriber<T>,
}

impl<T: Message> Iterator for IntoIter<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.subscriber.recv().ok()
    }
}

impl<T: Message> FusedIterator for IntoIter<T> {}

impl<T: Message> IntoIterator for Subscriber<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    fn into_iter(self) -> IntoIter<T> {
        IntoIter { subscriber: self }
    }
}

#[allow(clippy::into_iter_without_iter, reason = "`iter` takes `&mut self`: there is no other")]
impl<'a, T: Message> IntoIterator for &'a mut Subscriber<T> {
    type Item = T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T: Message> fmt::Debug for Drain<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drain").field("subscriber", &self.subscriber).field("end", &self.end.get()).finish()
    }
}

impl<T: Message> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Iter").field("subscriber", &self.subscriber).finish()
    }
}

impl<T: Message> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IntoIter").field("subscriber", &self.subscriber).finish()
    }
}
