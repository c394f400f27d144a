//! [`Subscribable`]: from which subscribers are made.

use core::fmt;

use super::handle::{Handle, Receiving};
use super::{DependencyBarrier, Lossless, Lossy, Mode, Staged, Subscriber, SubscriberGroup};
use crate::message::Message;
use crate::ring::{Copied, Sequence};

/// Makes subscribers of one ring, at any time and on any thread, without stopping the publishers.
///
/// Cloning is cheap. Keeping one costs nothing but the ring's memory; publishers of a lossless ring take it for somebody who may
/// still receive, so their ring does not close while there is one.
pub struct Subscribable<T, M: Mode = Lossy> {
    shared: Handle<Copied<T>, Receiving>,
    mode: core::marker::PhantomData<fn() -> M>,
}

impl<T: Message> Subscribable<T> {
    /// A subscriber for the messages that are published from now on.
    ///
    /// Everything whose publication happens before this call is left out; a message that is being published meanwhile
    /// may be its first. Everything that is published after it returned is received, or counted as lost. So with many publishers it
    /// begins with the first message that is still being written, where there is one, and messages that lie behind that in the ring are received
    /// although they were published before. Takes a bounded number of steps, whatever the publishers do; with many, a look at each slot.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// publisher.publish(1);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(2);
    /// assert_eq!(subscriber.try_recv(), Ok(2));
    /// ```
    #[must_use]
    pub fn subscribe(&self) -> Subscriber<T> {
        self.lossy()
    }

    /// A subscriber that begins with the oldest message that still stands in the ring. What was overwritten before does
    /// not count as lag. With many publishers it begins no later than [`subscribe`](Self::subscribe) does: with the first message that is still
    /// being written, where nothing stands before that.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    /// publisher.publish_batch(&[1, 2, 3]);
    /// let mut subscriber = subscribable.subscribe_from_oldest();
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [2, 3]);
    /// assert_eq!(subscriber.total_lagged(), 0);
    /// ```
    #[must_use]
    pub fn subscribe_from_oldest(&self) -> Subscriber<T> {
        let frontier = self.shared.ring.frontier(Sequence::FIRST);
        Subscriber::new(self.shared.receiver(), frontier.oldest)
    }

    /// A stage that follows nobody and can be followed: [`subscribe`](Self::subscribe) and
    /// [`after(&[])`](Subscriber::after). Allocates.
    #[must_use]
    pub fn subscribe_tracked(&self) -> Subscriber<T, Staged<Lossy>> {
        self.subscribe().after_barrier(&DependencyBarrier::none())
    }

    /// `N` subscribers on one thread for the price of one: see [`SubscriberGroup`]. Allocates.
    #[must_use]
    pub fn subscribe_group<const N: usize>(&self) -> SubscriberGroup<T, N> {
        SubscriberGroup::new(self.subscribe())
    }
}

impl<T: Message> Subscribable<T, Lossless> {
    /// A subscriber for the messages that are published from now on; publishers wait for it.
    ///
    /// Everything whose publication happens before this call is left out; a message that is being published meanwhile
    /// may be its first; with many publishers, one that is being published meanwhile may also be left out. From its first message on it misses
    /// nothing, however fast publishers run meanwhile.
    ///
    /// Takes no lock, and O(log m) steps where no more than m subscribers were there at one time; it looks again only when others join or leave
    /// at the same moment. A cursor takes 128 bytes of memory. It allocates them (for eight subscribers at a time) only where there were never
    /// as many; later subscribers use them again, and they are freed with the ring. Publishers look only at the subscribers that are there: a look
    /// visits fewer than 2 + log₈ m cells for each.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(2);
    /// publisher.publish(1).unwrap();
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(2).unwrap();
    /// publisher.publish(3).unwrap();
    /// assert!(publisher.try_publish(4).is_err(), "it would overwrite what the subscriber needs");
    /// assert_eq!(subscriber.try_recv(), Ok(2));
    /// assert!(publisher.try_publish(4).is_ok());
    /// ```
    #[must_use]
    pub fn subscribe(&self) -> Subscriber<T, Lossless> {
        self.join(false)
    }

    /// A subscriber that begins with the oldest message that can be promised; publishers wait for it.
    ///
    /// Publishers look at their subscribers once in half a ring, so what they may overwrite before the next look can't be
    /// promised: at least half of the latest `capacity − headroom` messages are there (of one, perhaps none), often more, but never more than
    /// all of those: no subscriber is further behind. From its first message on it misses nothing. Otherwise as [`subscribe`](Self::subscribe).
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(4);
    /// publisher.publish_batch(&[1, 2, 3, 4]).unwrap();
    /// let mut subscriber = subscribable.subscribe_from_oldest();
    /// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2, 3, 4]);
    /// ```
    #[must_use]
    pub fn subscribe_from_oldest(&self) -> Subscriber<T, Lossless> {
        self.join(true)
    }

    /// A tap: a subscriber that nobody waits for, for logs and monitors. It is told what it loses.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(2);
    /// let mut tap = subscribable.subscribe_lossy();
    /// (0..5).for_each(|number| publisher.publish(number).unwrap());
    /// assert_eq!(tap.try_iter().collect::<Vec<_>>(), [3, 4]);
    /// assert_eq!(tap.total_lagged(), 3);
    /// ```
    #[must_use]
    pub fn subscribe_lossy(&self) -> Subscriber<T> {
        self.lossy()
    }

    /// A stage that follows nobody and can be followed: [`subscribe`](Self::subscribe) and
    /// [`after(&[])`](Subscriber::after). Allocates.
    #[must_use]
    pub fn subscribe_tracked(&self) -> Subscriber<T, Staged<Lossless>> {
        self.subscribe().after_barrier(&DependencyBarrier::none())
    }

    /// `N` subscribers on one thread for the price of one: see [`SubscriberGroup`]. Publishers wait for the slowest of them.
    #[must_use]
    pub fn subscribe_group<const N: usize>(&self) -> SubscriberGroup<T, N, Lossless> {
        SubscriberGroup::new(self.subscribe())
    }

    fn join(&self, from_oldest: bool) -> Subscriber<T, Lossless> {
        let (handle, start) = self.shared.join(from_oldest);
        Subscriber::new(handle, start)
    }
}

impl<T: Message, M: Mode> Subscribable<T, M> {
    pub(super) fn new(shared: Handle<Copied<T>, Receiving>) -> Self {
        Self { shared, mode: core::marker::PhantomData }
    }

    /// How many of the latest messages stand in the ring: the number given to its constructor.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.ring.capacity()
    }

    /// Whether all publishers are gone. Messages may still be left to receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    fn lossy(&self) -> Subscriber<T> {
        let frontier = self.shared.ring.frontier(Sequence::FIRST);
        Subscriber::new(self.shared.receiver(), frontier.head)
    }
}

impl<T: Message, M: Mode> Clone for Subscribable<T, M> {
    fn clone(&self) -> Self {
        Self::new(self.shared.receiver())
    }
}

impl<T: Message, M: Mode> fmt::Debug for Subscribable<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribable")
            .field("capacity", &self.capacity())
            .field("closed", &self.is_closed())
            .finish()
    }
}
