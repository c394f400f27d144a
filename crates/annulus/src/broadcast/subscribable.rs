//! [`Subscribable`]: from which subscribers are made.

use core::fmt;

use super::Subscriber;
use super::handle::Handle;
use crate::message::Message;
use crate::ring::Sequence;

/// Makes subscribers of one ring, at any time and on any thread, without stopping the publisher.
///
/// Cloning is cheap. Keeping one costs nothing but the ring's memory.
pub struct Subscribable<T: Message> {
    shared: Handle<T>,
}

impl<T: Message> Subscribable<T> {
    pub(super) fn new(shared: Handle<T>) -> Self {
        Self { shared }
    }

    /// A subscriber for the messages that are published from now on.
    ///
    /// Everything whose publication happens before this call is left out; a message that is being published meanwhile
    /// may be its first. Takes a bounded number of steps, whatever the publisher does.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::channel(8);
    /// publisher.publish(1);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(2);
    /// assert_eq!(subscriber.try_recv(), Ok(2));
    /// ```
    #[must_use]
    pub fn subscribe(&self) -> Subscriber<T> {
        let frontier = self.shared.ring.frontier(Sequence::FIRST);
        Subscriber::new(self.shared.clone(), frontier.head)
    }

    /// A subscriber that begins with the oldest message that still stands in the ring. What was overwritten before does
    /// not count as lag.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::channel(2);
    /// publisher.publish_batch(&[1, 2, 3]);
    /// let mut subscriber = subscribable.subscribe_from_oldest();
    /// assert_eq!(subscriber.drain().collect::<Vec<_>>(), [2, 3]);
    /// assert_eq!(subscriber.total_lagged(), 0);
    /// ```
    #[must_use]
    pub fn subscribe_from_oldest(&self) -> Subscriber<T> {
        let frontier = self.shared.ring.frontier(Sequence::FIRST);
        Subscriber::new(self.shared.clone(), frontier.oldest)
    }

    /// How many of the latest messages stand in the ring: the number given to [`channel`](crate::channel).
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.ring.capacity()
    }

    /// Whether the publisher is gone. Messages may still be left to receive.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }
}

impl<T: Message> Clone for Subscribable<T> {
    fn clone(&self) -> Self {
        Self { shared: self.shared.clone() }
    }
}

impl<T: Message> fmt::Debug for Subscribable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribable")
            .field("capacity", &self.capacity())
            .field("closed", &self.is_closed())
            .finish()
    }
}
