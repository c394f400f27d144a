//! [`Observer`]: takes snapshots of a ring from anywhere.

#[cfg(all(feature = "std", not(annulus_loom)))]
use alloc::sync::Arc;
use core::fmt;
use core::ptr::NonNull;

#[cfg(all(feature = "std", not(annulus_loom)))]
use super::listing::ListingEntry;
use super::observe::Observe;
use crate::base::common::Weak;
use crate::stats::Stats;

/// Takes snapshots of one ring, broadcast or queue, from any thread; made by `observer` of its handles.
///
/// It may be cloned and sent anywhere, for example to a thread that prints the numbers of all rings once in a
/// while. It is no handle of the ring: it keeps nothing open, nobody waits for it, and it does not count
/// among readers or writers. When the handles of a ring are gone, the ring is gone, too, and
/// [`stats`](Self::stats) returns `None`. Dropping an observer does nothing.
///
/// While an observer takes a snapshot, it keeps the ring's memory. If the last handle goes in that time, the
/// values in the ring are dropped on the thread of the observer. (One that comes from a list of
/// `Observers` keeps nothing: the last handle waits for its snapshot.)
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
///
/// `Observers` lists those of all rings that have a name.
#[derive(Clone)]
pub struct Observer {
    ring: RingLink,
}

/// How it finds its ring.
#[derive(Clone)]
enum RingLink {
    // Decision 0067: as a closer, it keeps no ring.
    Weakly(Weak<dyn Observe>),
    /// In the list of those that have a name.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    Listed(Arc<ListingEntry>),
}

impl Observer {
    /// An observer of what this leads to.
    pub(crate) fn from_weak<R: Observe + 'static>(ring: Weak<R>) -> Self {
        Self { ring: RingLink::Weakly(ring.becoming(|ring| -> NonNull<dyn Observe> { ring })) }
    }

    /// An observer of a ring in the list of those that have a name.
    #[cfg(all(feature = "std", not(annulus_loom)))]
    pub(crate) fn of_entry(entry: Arc<ListingEntry>) -> Self {
        Self { ring: RingLink::Listed(entry) }
    }

    /// What `look` says of the ring; `None` if it is gone.
    fn look<A>(&self, look: impl FnOnce(&dyn Observe) -> A) -> Option<A> {
        match &self.ring {
            RingLink::Weakly(ring) => ring.upgrade().map(|ring| look(&*ring)),
            #[cfg(all(feature = "std", not(annulus_loom)))]
            RingLink::Listed(entry) => entry.look(look),
        }
    }

    /// The numbers of the ring now, or `None` if the ring is gone, with all its handles. The cost, and what
    /// holds while other threads use the ring, are those of [`Stats`].
    #[must_use]
    pub fn stats(&self) -> Option<Stats> {
        self.look(|ring| ring.stats())
    }

    /// Whether the ring is closed: somebody closed it, one of its sides is gone, or the ring itself is gone.
    /// (For a broadcast ring, only the side of the publishers counts.)
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.look(|ring| ring.is_closed()).unwrap_or(true)
    }

    /// Whether `other` observes the same ring.
    #[cfg(all(feature = "metrics", not(annulus_loom)))]
    pub(crate) fn is_of_the_ring_of(&self, other: &Self) -> bool {
        // While a ring is there, no other ring has its address.
        let address = |observer: &Self| observer.look(|ring| ring.address());
        address(self).is_some_and(|here| address(other) == Some(here))
    }

    /// Whether the ring is gone, with all its handles. If so, this stays true.
    #[must_use]
    pub fn is_gone(&self) -> bool {
        match &self.ring {
            RingLink::Weakly(ring) => ring.is_gone(),
            #[cfg(all(feature = "std", not(annulus_loom)))]
            RingLink::Listed(entry) => entry.look(|_| ()).is_none(),
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Observer").field("closed", &self.is_closed()).finish()
    }
}
