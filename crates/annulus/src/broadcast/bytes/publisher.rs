//! [`Publisher`]: the only handle that writes records.

use alloc::sync::Arc;
use core::fmt;

use super::{Subscribable, Subscriber};
use crate::broadcast::subscribable::subscribes;
use crate::error::TooLong;
use crate::observer::observable;
use crate::ring::{Area, Extent, Pen};
use crate::sync::seeded;
use crate::{Closer, broadcast};

/// The writing end of a ring of records, made by [`lossy`](fn@super::lossy).
///
/// Each ring has one publisher. It is not `Clone`, and publishing takes `&mut self`. It may move to another
/// thread. It never waits for anybody. Waking a sleeping subscriber costs one system call, however many
/// records come before the subscriber runs.
///
/// Dropping it closes the ring. Subscribers receive what is left, then `Closed`.
pub struct Publisher {
    /// Publishes where the records lie.
    pub(in crate::broadcast) extents: broadcast::Publisher<Extent>,
    pub(in crate::broadcast) area: Arc<Area>,
    pen: Pen,
}

impl Publisher {
    pub(super) fn new(extents: broadcast::Publisher<Extent>, area: Arc<Area>) -> Self {
        Self { extents, area, pen: Pen::new() }
    }

    /// Publishes a copy of `record` to every subscriber. Never waits, and allocates nothing;
    /// O(`record.len()`).
    ///
    /// It overwrites the oldest records. A subscriber that has not read them by now has lost them. Once
    /// somebody has [closed](Self::close) the ring, this drops the record and returns `Ok`.
    /// [`is_closed`](Self::is_closed) says whether the ring is closed.
    ///
    /// There is no verb that lends the bytes in the ring to a closure. Subscribers may be looking at it, and
    /// a `&mut [u8]` would be a data race.
    ///
    /// # Errors
    ///
    /// [`TooLong`]: the record is longer than [`max_len`](Self::max_len). Nothing was published.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::broadcast::bytes;
    ///
    /// let (mut publisher, _subscribable) = bytes::lossy(64);
    /// assert_eq!(publisher.publish(&[7; 32]), Ok(()));
    /// let error = publisher.publish(&[7; 33]).unwrap_err();
    /// assert_eq!((error.len, error.max), (33, 32));
    /// assert_eq!(
    ///     error.to_string(),
    ///     "33 bytes are too many: there may be 32 at most"
    /// );
    /// ```
    #[inline]
    pub fn publish(&mut self, record: &[u8]) -> Result<(), TooLong> {
        let max_len = self.max_len();
        if record.len() > max_len {
            return Err(TooLong::new(record.len(), max_len));
        }
        // Where nothing is published any more, nothing may be overwritten.
        if !self.is_closed() || seeded!("bytes_written_past_close") {
            let extent = self.area.write(&mut self.pen, record);
            // A record that comes after a close is dropped.
            let _ = self.extents.put(&extent);
        }
        Ok(())
    }

    /// The length of the longest record that the ring takes, in bytes: half of its capacity.
    #[inline]
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

    /// How many records have been published. Records are numbered from 0, so this is also the number that the
    /// next record will get.
    #[inline]
    #[must_use]
    pub fn published(&self) -> u64 {
        self.extents.published()
    }

    /// How many subscribers the ring has now, on whichever thread. A [`Subscribable`]
    /// does not count, so somebody may still join when this is 0.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.extents.subscriber_count()
    }

    /// Whether somebody has [closed](Self::close) the ring. If so, records that are published from now on are
    /// dropped. A ring without subscribers is not closed.
    #[inline]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.extents.is_closed()
    }

    /// Closes the ring, as dropping the publisher does, but keeps the publisher. Subscribers receive what is
    /// left, then `Closed`. Threads that wait in the ring are woken. No effect on a closed ring.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(b"last").unwrap();
    /// publisher.close();
    /// publisher.publish(b"dropped").unwrap();
    ///
    /// let mut buffer = Vec::new();
    /// assert_eq!(subscriber.recv(&mut buffer), Ok(4));
    /// assert_eq!(subscriber.recv(&mut buffer), Err(annulus::RecvError::CLOSED));
    /// ```
    pub fn close(&self) {
        self.extents.close();
    }

    /// A [`Closer`], which closes the ring from any thread. It does not keep the ring open.
    #[must_use]
    pub fn closer(&self) -> Closer {
        self.extents.closer()
    }

    subscribes! {
        make: "let (publisher, subscribable) = annulus::broadcast::bytes::lossy(1024);",
        |handle| Subscribable: Subscribable::new(handle.extents.subscribable(), Arc::clone(&handle.area)),
        Subscriber
    }

    observable! {
        |handle| stats: handle.extents.stats(),
        observer: handle.extents.observer()
    }
}

impl fmt::Debug for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher")
            .field("published", &self.published())
            .field("capacity", &self.capacity())
            .finish()
    }
}
