//! [`Subscribable`]: makes subscribers.

use core::fmt;

use super::Subscriber;
use crate::Closer;
use crate::broadcast::handle::{Handle, SubscribableRole};
use crate::broadcast::progress::DependencyBarrier;
use crate::broadcast::{Lossless, Staged};
use crate::observer::observable;
use crate::ring::Owned;

/// Makes subscribers of one ring of owned events, at any time and on any thread, without stopping the
/// publishers.
///
/// Cloning is cheap. While there is an `Subscribable`, somebody may still join. So publishing does not
/// fail, even if all subscribers are gone.
pub struct Subscribable<T> {
    pub(in crate::broadcast) shared: Handle<Owned<T>, SubscribableRole>,
}

impl<T: Send + Sync> Subscribable<T> {
    pub(in crate::broadcast) fn new(shared: Handle<Owned<T>, SubscribableRole>) -> Self {
        Self { shared }
    }

    /// A subscriber for the events that are published from now on. Publishers wait for it. From its first
    /// event on, it misses nothing.
    ///
    /// Events that were published before this call are left out. An event that is being published during the
    /// call may be the first one. The steps, and the memory for the cursor, are the same as for
    /// [`Subscribable::subscribe`](crate::broadcast::Subscribable::subscribe) on a lossless ring.
    #[must_use]
    pub fn subscribe(&self) -> Subscriber<T> {
        self.join(false)
    }

    /// A subscriber that begins with the oldest event that can be promised: it sees at least half of the
    /// events that are in the ring, without those that the publisher has
    /// [cleared](crate::event::Publisher::clear_processed).
    #[must_use]
    pub fn subscribe_from_oldest(&self) -> Subscriber<T> {
        self.join(true)
    }

    /// A stage that follows nobody and can be followed: [`subscribe`](Self::subscribe) and
    /// [`after(&[])`](Subscriber::after).
    #[must_use]
    pub fn subscribe_tracked(&self) -> Subscriber<T, Staged<Lossless>> {
        self.subscribe().after_barrier(&DependencyBarrier::none())
    }

    /// How many events the ring has: the number given to its constructor.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
    }

    /// A [`Closer`], which closes the ring from any thread. It does not keep the ring open.
    #[must_use]
    pub fn closer(&self) -> Closer
    where
        T: 'static,
    {
        self.shared.closer()
    }

    observable! {
        where T: 'static,
        |handle| stats: handle.shared.stats(),
        observer: handle.shared.observer()
    }

    /// Whether all publishers are gone, or somebody has closed the ring. Events may still be left to process.
    /// A message that is being published may still come, too: only `Closed` from a receive is the end.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// How many subscribers the ring has now, on whichever thread: plain ones, stages and clones. Subscribers
    /// may join and leave meanwhile. An [`Subscribable`] does not count, so somebody may still join when
    /// this is 0.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.shared.subscriber_count()
    }

    fn join(&self, from_oldest: bool) -> Subscriber<T> {
        let (handle, start) = self.shared.join(from_oldest);
        Subscriber::new(handle, start)
    }
}

impl<T: Send + Sync> Clone for Subscribable<T> {
    fn clone(&self) -> Self {
        Self::new(self.shared.another_subscribable())
    }
}

impl<T: Send + Sync> fmt::Debug for Subscribable<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribable")
            .field("capacity", &self.capacity())
            .field("closed", &self.is_closed())
            .finish()
    }
}
