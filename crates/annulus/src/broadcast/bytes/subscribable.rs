//! [`Subscribable`]: makes subscribers of a ring of records.

use alloc::sync::Arc;
use core::fmt;

use super::Subscriber;
use super::subscriber::frontier;
use crate::Closer;
use crate::base::sequence::Sequence;
use crate::broadcast::{self, Lossless, Lossy, LossyMode, Mode};
#[cfg(feature = "shm")]
use crate::broadcast::{Awaited, Foreign};
use crate::observer::observable;
use crate::ring::{Area, Extent};

/// Makes subscribers of one ring of records, at any time and on any thread, without stopping the publisher.
///
/// Cloning is cheap. A `Subscribable` keeps the ring's memory. Its [`Mode`] is that of its subscribers.
pub struct Subscribable<M: Mode = Lossy> {
    pub(in crate::broadcast) extents: broadcast::Subscribable<Extent, M>,
    pub(in crate::broadcast) area: Arc<Area>,
}

impl<M: LossyMode> Subscribable<M> {
    /// A subscriber for the records that are published from now on.
    ///
    /// Records that were published before this call are left out. A record that is being published during the
    /// call may be the first one. Every record that is published after the call is received, or counted as
    /// lost. Takes a bounded number of steps, whatever the publisher does.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// publisher.publish(b"before").unwrap();
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(b"after").unwrap();
    /// let mut buffer = Vec::new();
    /// assert_eq!(subscriber.try_recv(&mut buffer), Ok(5));
    /// assert_eq!(buffer, b"after");
    /// ```
    #[must_use]
    pub fn subscribe(&self) -> Subscriber<M> {
        Subscriber::new(self.extents.subscribe(), Arc::clone(&self.area))
    }

    /// A subscriber that begins with the oldest record that is still whole. Records that were overwritten
    /// before do not count as lost. Takes O(log n) steps, where n is [`max_records`](Self::max_records).
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// for record in [[1; 32], [2; 32], [3; 32]] {
    ///     publisher.publish(&record).unwrap();
    /// }
    /// let mut subscriber = subscribable.subscribe_from_oldest();
    /// let mut buffer = Vec::new();
    /// assert_eq!(subscriber.try_recv(&mut buffer), Ok(32));
    /// assert_eq!(buffer, [2; 32]);
    /// assert_eq!(subscriber.total_lagged(), 0);
    /// ```
    #[must_use]
    pub fn subscribe_from_oldest(&self) -> Subscriber<M> {
        let frontier = frontier::<M, _>(&self.extents.shared, &self.area, Sequence::FIRST);
        let extents = broadcast::Subscriber::new(self.extents.shared.receiver(), frontier.oldest);
        Subscriber::new(extents, Arc::clone(&self.area))
    }
}

impl Subscribable<Lossless> {
    /// A subscriber for the records that are published from now on. The publisher waits for it until it is
    /// dropped.
    ///
    /// A record that is being published during the call may be the first one. Takes a bounded number of
    /// steps, whatever the publisher does.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossless(64);
    /// publisher.publish(b"before").unwrap();
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(b"after").unwrap();
    /// let mut buffer = Vec::new();
    /// assert_eq!(subscriber.try_recv(&mut buffer), Ok(5));
    /// ```
    #[must_use]
    pub fn subscribe(&self) -> Subscriber<Lossless> {
        Subscriber::new(self.extents.subscribe(), Arc::clone(&self.area))
    }

    /// A subscriber that begins with the oldest record that can be promised: one that the publisher has not
    /// found received by all, at most half of [`max_records`](Self::max_records) before the next, or nearly
    /// so. The publisher waits for it until it is dropped.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossless(1024);
    /// publisher.publish(b"before").unwrap();
    /// let mut subscriber = subscribable.subscribe_from_oldest();
    /// let mut buffer = Vec::new();
    /// assert_eq!(subscriber.try_recv(&mut buffer), Ok(6));
    /// ```
    #[must_use]
    pub fn subscribe_from_oldest(&self) -> Subscriber<Lossless> {
        Subscriber::new(self.extents.subscribe_from_oldest(), Arc::clone(&self.area))
    }

    /// A lossy subscriber for the records that are published from now on: the publisher does not wait for it.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossless(64);
    /// let (mut tap, mut buffer) = (subscribable.subscribe_lossy(), Vec::new());
    /// for record in [[1; 32], [2; 32], [3; 32]] {
    ///     publisher.publish(&record).unwrap();
    /// }
    /// assert_eq!(tap.try_recv(&mut buffer), Ok(32));
    /// assert_eq!((buffer[0], tap.total_lagged()), (2, 1));
    /// ```
    #[must_use]
    pub fn subscribe_lossy(&self) -> Subscriber {
        Subscriber::new(self.extents.subscribe_lossy(), Arc::clone(&self.area))
    }
}

#[cfg(feature = "shm")]
impl Subscribable<Foreign> {
    /// A subscriber for which the publisher waits, from the oldest record on that can be promised, or from
    /// the next; `None` if no seat is left. The ring is a lossless one of another process.
    pub(crate) fn subscribe_awaited(&self, from_oldest: bool) -> Option<Subscriber<Awaited>> {
        Some(Subscriber::new(self.extents.subscribe_awaited(from_oldest)?, Arc::clone(&self.area)))
    }
}

impl<M: Mode> Subscribable<M> {
    pub(crate) fn new(extents: broadcast::Subscribable<Extent, M>, area: Arc<Area>) -> Self {
        Self { extents, area }
    }

    /// The length of the longest record that the ring takes, in bytes: half of its capacity.
    #[must_use]
    pub fn max_len(&self) -> usize {
        self.area.longest()
    }

    /// The capacity in bytes: the number given to its constructor, rounded up.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.area.bytes()
    }

    /// How many records the ring holds at most: see [the module](super).
    #[must_use]
    pub fn max_records(&self) -> usize {
        self.extents.capacity()
    }

    /// A [`Closer`], which closes the ring from any thread. It does not keep the ring open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.extents.closer()
    }

    observable! {
        |handle| stats: handle.extents.stats(),
        observer: handle.extents.observer()
    }

    /// Whether the publisher is gone, or somebody closed the ring. Records may still be left to receive. A
    /// record that is being published may still come, too: only `Closed` from a receive is the end.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.extents.is_closed()
    }

    /// How many subscribers the ring has now, on whichever thread. A [`Subscribable`] does not count, so
    /// somebody may still join when this is 0.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.extents.subscriber_count()
    }
}

impl<M: Mode> Clone for Subscribable<M> {
    fn clone(&self) -> Self {
        Self::new(self.extents.clone(), Arc::clone(&self.area))
    }
}

impl<M: Mode> fmt::Debug for Subscribable<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribable")
            .field("capacity", &self.capacity())
            .field("closed", &self.is_closed())
            .finish()
    }
}
