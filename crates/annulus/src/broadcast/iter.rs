//! The iterators over the messages of a subscriber or a group, and the verbs that make them: one ends with
//! what was there at the start, two wait for more.

use core::fmt;
use core::iter::FusedIterator;

use super::{Lossy, Mode, Subscriber};
use crate::base::sequence::Sequence;
use crate::message::Message;
use crate::receive::{Iter, iterates};
use crate::sync::seeded;

impl<T: Message, M: Mode> Subscriber<T, M> {
    /// As [`next_before`](Self::next_before), and frees the slot.
    #[inline]
    pub(super) fn next_released(&mut self, end: &mut Option<Sequence>) -> Option<T> {
        let message = self.next_before(end);
        if !seeded!("drain_releases_nothing") {
            self.release();
        }
        message
    }

    /// An iterator over the messages that are there now. It ends at the message that was the newest when this
    /// was called, however fast the publisher is. It never waits. Messages that are overwritten meanwhile
    /// count as lagged. If it is dropped early, the rest can still be received.
    ///
    /// With many publishers it also ends at the first message that is still being written, even if later ones
    /// are complete.
    ///
    /// In a stage, each message counts as processed when the iterator is asked for the next one. The last one
    /// does when the stage receives again or calls [`done`](Subscriber::done).
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// let mut drain = subscriber.try_iter();
    /// publisher.publish(4); // came later: not part of it
    /// assert_eq!(drain.by_ref().sum::<i32>(), 6);
    /// ```
    #[doc(alias = "drain")]
    pub fn try_iter(&mut self) -> TryIter<'_, T, M> {
        self.begin();
        let end = if seeded!("drain_endless") { Sequence::new(u64::MAX) } else { self.end() };
        TryIter { subscriber: self, end }
    }

    /// An iterator that waits for each message like [`recv`](Self::recv). It ends when the ring is closed and
    /// nothing is left. It does not end on a lag, or while there is no message.
    ///
    /// `for message in &mut subscriber` and `for message in subscriber` do the same.
    ///
    /// In a stage, each message counts as processed when the iterator is asked for the next one.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// drop(publisher);
    /// assert_eq!(subscriber.iter().sum::<i32>(), 6);
    /// ```
    pub fn iter(&mut self) -> Iter<&mut Self> {
        Iter::of(self)
    }
}

/// An iterator over the messages that were there when [`Subscriber::try_iter`] or
/// [`SubscriberGroup::try_iter`](crate::broadcast::SubscriberGroup::try_iter) was called.
#[doc(alias = "Drain")]
#[must_use = "an iterator does nothing until it is asked"]
pub struct TryIter<'a, T, M: Mode = Lossy> {
    subscriber: &'a mut Subscriber<T, M>,
    pub(super) end: Sequence,
}

impl<T: Message, M: Mode> Iterator for TryIter<'_, T, M> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.subscriber.begin();
        let message = self.subscriber.next_released(&mut Some(self.end));
        if message.is_none() {
            // With many publishers it may have come to one that is still being written: that is its end,
            // whatever comes of it.
            self.end = Sequence::FIRST;
        }
        message
    }

    /// At most the messages between the cursor and the end. There are fewer if the publisher overwrites some
    /// of them.
    fn size_hint(&self) -> (usize, Option<usize>) {
        // 0 where it has ended.
        let left = self.end.get().saturating_sub(self.subscriber.cursor());
        (0, usize::try_from(left).ok())
    }
}

impl<T: Message, M: Mode> FusedIterator for TryIter<'_, T, M> {}

iterates! { [T: Message, M: Mode] Subscriber<T, M>; }

impl<T: Message, M: Mode> fmt::Debug for TryIter<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryIter").field("subscriber", &self.subscriber).field("end", &self.end.get()).finish()
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn iterator_gives_no_more_than_there_were_when_it_began() {
        let (mut publisher, subscribable) = crate::broadcast::lossy(8);
        let mut subscriber = subscribable.subscribe();
        (0..3).for_each(|number| publisher.publish(number));
        let mut drain = subscriber.try_iter();
        publisher.publish(3);
        assert_eq!(drain.size_hint(), (0, Some(3)));
        assert_eq!((drain.next(), drain.size_hint()), (Some(0), (0, Some(2))));
        assert_eq!((drain.next(), drain.next(), drain.next()), (Some(1), Some(2), None));
        assert_eq!(drain.size_hint(), (0, Some(0)));
    }
}
