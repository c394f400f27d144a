//! [`Observer`]: takes snapshots of a ring from anywhere.

use alloc::sync::{Arc, Weak};
use core::fmt;

use crate::stats::Stats;

/// Something that has numbers.
pub(crate) trait Observe: Send + Sync {
    /// Its numbers now.
    fn stats(&self) -> Stats;

    /// Whether it is closed.
    fn is_closed(&self) -> bool;
}

/// Takes snapshots of one ring, broadcast or queue, from any thread; made by `observer` of its handles.
///
/// It may be cloned and sent anywhere, for example to a thread that prints the numbers of all rings once in a
/// while. It is no handle of the ring: it keeps nothing open, nobody waits for it, and it does not count
/// among readers or writers. When the handles of a ring are gone, the ring is gone, too, and
/// [`stats`](Self::stats) returns `None`. Dropping an observer does nothing.
///
/// While an observer takes a snapshot, it keeps the ring's memory. If the last handle goes in that time, the
/// values in the ring are dropped on the thread of the observer.
///
/// # Examples
///
/// ```
/// let (mut producer, mut consumer) = annulus::mpsc::channel(8);
/// let observer = consumer.observer();
/// producer.send_batch(&[1, 2, 3]).unwrap();
/// consumer.recv().unwrap();
///
/// let stats = observer.stats().unwrap();
/// assert_eq!((stats.published, stats.received, stats.pending), (3, Some(1), Some(2)));
/// println!("{stats}");
///
/// drop(producer);
/// assert!(observer.is_closed());
/// drop(consumer);
/// assert_eq!(observer.stats(), None);
/// ```
#[derive(Clone)]
pub struct Observer {
    // Decision 0067: as a closer, it keeps no ring.
    ring: Weak<dyn Observe>,
}

impl Observer {
    /// An observer of a ring that handles share.
    pub(crate) fn of<R: Observe + 'static>(ring: &Arc<R>) -> Self {
        Self::from_weak(Arc::downgrade(ring))
    }

    /// An observer of a ring that has a weak reference to itself.
    pub(crate) fn from_weak<R: Observe + 'static>(ring: Weak<R>) -> Self {
        Self { ring }
    }

    /// The numbers of the ring now, or `None` if the ring is gone, with all its handles. The cost, and what
    /// holds while other threads use the ring, are those of [`Stats`].
    #[must_use]
    pub fn stats(&self) -> Option<Stats> {
        self.ring.upgrade().map(|ring| ring.stats())
    }

    /// Whether the ring is closed: somebody closed it, one of its sides is gone, or the ring itself is gone.
    /// (For a broadcast ring, only the side of the publishers counts.)
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.ring.upgrade().is_none_or(|ring| ring.is_closed())
    }

    /// Whether `other` observes the same ring.
    #[cfg(all(feature = "metrics", not(annulus_loom)))]
    pub(crate) fn is_of_the_ring_of(&self, other: &Self) -> bool {
        // While one of them is there, no other ring has its address.
        core::ptr::addr_eq(self.ring.as_ptr(), other.ring.as_ptr())
    }

    /// Whether the ring is gone, with all its handles. If so, this stays true.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        self.ring.strong_count() == 0
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("closed", &self.is_closed()).finish()
    }
}

/// Writes `stats` and `observer` of a handle: what else its users should know, what is shared in it, the
/// numbers of it, and what the messages must be for an observer.
macro_rules! observable {
    ($(#[$more:meta])* $(where $T:ident: 'static,)? |$handle:ident| stats: $stats:expr, observer: $observer:expr $(,)?) => {
        /// The numbers of the ring now: see [`Stats`](crate::Stats), which also says what a snapshot costs.
        /// Never waits.
        $(#[$more])*
        #[must_use]
        pub fn stats(&self) -> crate::Stats {
            let $handle = self;
            $stats
        }

        /// An [`Observer`](crate::Observer), which takes such snapshots from any thread. It does not keep the
        /// ring open, and nobody waits for it.
        #[must_use]
        pub fn observer(&self) -> crate::Observer
        $(where $T: 'static,)?
        {
            let $handle = self;
            $observer
        }
    };
}
pub(crate) use observable;
