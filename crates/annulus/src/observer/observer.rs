//! [`Observer`]: takes snapshots of a ring from anywhere. [`Observer::list`]: those of all rings of this
//! process that have a name, for a program that has no handle of them.

#[cfg(all(feature = "std", not(annulus_loom)))]
use alloc::sync::Arc;
#[cfg(all(feature = "std", not(annulus_loom)))]
use alloc::vec::Vec;
use core::fmt;
use core::ptr::NonNull;

use super::Observe;
#[cfg(all(feature = "std", not(annulus_loom)))]
use super::listing::{self, ListingEntry};
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
/// values in the ring are dropped on the thread of the observer. (One that comes from
/// `Observer::list` keeps nothing: the last handle waits for its snapshot.)
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
/// `Observer::list` has the observers of all rings that have a name.
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
    /// An observer of the ring that this leads to.
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

    /// The numbers of the ring now, or `None` if the ring is gone, with all its handles. See [`Stats`] for
    /// the cost, and for what holds while other threads use the ring.
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

/// The list of the rings of this process that have a name, for a thread that has none of their handles.
#[cfg(all(feature = "std", not(annulus_loom)))]
impl Observer {
    /// An observer of each ring that has a name, in the order in which the rings were made. O(rings).
    ///
    /// A ring is in the list as soon as it is made, if its [settings](crate::Settings::name) gave it a name.
    /// The rings of a [bus](crate::bus) have the names of its topics. A ring leaves the list as its last
    /// handle goes. Several rings may have the same name.
    ///
    /// The list keeps no ring open, and no message alive. Only one moment waits for it: if somebody takes a
    /// snapshot of a ring by it, and the ring's last handle is dropped meanwhile, that drop waits until the
    /// snapshot is there. Sends and receives, clones and other drops never wait for it.
    ///
    /// Rings between processes have names in a directory, too, and other processes find them there (module
    /// `shm`).
    ///
    /// ```
    /// use annulus::{Observer, Settings, mpsc};
    ///
    /// let (mut producer, consumer) = mpsc::with::<u64>(Settings::new(64).name("orders"))?;
    /// producer.send(1).unwrap();
    ///
    /// // On any thread:
    /// for observer in Observer::list() {
    ///     if let Some(stats) = observer.stats() {
    ///         println!("{stats}");
    ///     }
    /// }
    /// let orders = Observer::named("orders").pop().unwrap();
    /// assert_eq!(orders.stats().unwrap().published, 1);
    ///
    /// drop((producer, consumer));
    /// assert!(orders.is_gone() && Observer::named("orders").is_empty());
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[must_use]
    pub fn list() -> Vec<Self> {
        listing::entries(|_| true).into_iter().map(Self::of_entry).collect()
    }

    /// The observers of [`list`](Self::list) that have this name. O(rings).
    ///
    /// ```
    /// use annulus::{Observer, Settings, broadcast};
    ///
    /// let (mut publisher, _subscribable) = broadcast::lossy_with(Settings::new(8).name("prices"))?;
    /// publisher.publish(7);
    /// let prices: u64 = Observer::named("prices").iter().filter_map(|ring| Some(ring.stats()?.published)).sum();
    /// assert_eq!(prices, 1);
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Vec<Self> {
        listing::entries(|of| of == name).into_iter().map(Self::of_entry).collect()
    }
}

/// Writes `stats` and `observer` of a handle. Its arguments: further docs, bounds of the messages, and the
/// two expressions.
macro_rules! observable {
    ($(#[$more:meta])* $(where $T:ident: 'static,)? |$handle:ident| stats: $stats:expr, observer: $observer:expr $(,)?) => {
        /// The numbers of the ring now: see [`Stats`](crate::stats::Stats), which also says what a snapshot
        /// costs. Never waits.
        $(#[$more])*
        #[must_use]
        pub fn stats(&self) -> crate::stats::Stats {
            let $handle = self;
            $stats
        }

        /// An [`Observer`](crate::Observer), which takes such snapshots from any thread. It does not keep the
        /// ring open, and no publisher waits for it.
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
