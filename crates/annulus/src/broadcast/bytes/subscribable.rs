//! [`Subscribable`]: makes subscribers of a ring of records.

use alloc::sync::Arc;
use core::fmt;

use super::Subscriber;
use super::subscriber::frontier;
use crate::Closer;
use crate::base::sequence::Sequence;
use crate::broadcast;
use crate::observer::observable;
use crate::ring::{Area, Extent};

/// Makes subscribers of one ring of records, at any time and on any thread, without stopping the publisher.
///
/// Cloning is cheap. A `Subscribable` keeps the ring's memory.
#[derive(Clone)]
pub struct Subscribable {
    pub(in crate::broadcast) extents: broadcast::Subscribable<Extent>,
    pub(in crate::broadcast) area: Arc<Area>,
}

impl Subscribable {
    pub(super) fn new(extents: broadcast::Subscribable<Extent>, area: Arc<Area>) -> Self {
        Self { extents, area }
    }

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
    pub fn subscribe(&self) -> Subscriber {
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
    pub fn subscribe_from_oldest(&self) -> Subscriber {
        let frontier = frontier(&self.extents.shared, &self.area, Sequence::FIRST);
        let extents = broadcast::Subscriber::new(self.extents.shared.receiver(), frontier.oldest);
        Subscriber::new(extents, Arc::clone(&self.area))
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

impl fmt::Debug for Subscribable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscribable")
            .field("capacity", &self.capacity())
            .field("closed", &self.is_closed())
            .finish()
    }
}
