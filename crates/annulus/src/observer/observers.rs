//! [`Observers`]: the rings of this process that have a name, for whoever has no handle of them.

use alloc::vec::Vec;

use super::listing;
use super::observer::Observer;

/// All rings of this process that have a name: a list for a thread that shows them, and has none of their
/// handles.
///
/// A ring is in it as soon as its builder returns, if the builder gave it a name (`named`). The rings of
/// a [bus](crate::bus) have names, those of its topics. A ring leaves the list as its last handle goes.
/// Several rings may have the same name.
///
/// The list keeps no ring open, and no message alive. Only one moment waits for it: if somebody takes a
/// snapshot of a ring by it, and the ring's last handle is dropped meanwhile, that drop waits until the
/// snapshot is there. Sends and receives, clones and other drops never wait for it.
///
/// Rings between processes have names in a directory, too, and whoever looks from another process finds
/// them there (module `shm`).
///
/// # Examples
///
/// ```
/// use annulus::{Observers, mpsc};
///
/// let (mut producer, consumer) = mpsc::Builder::new(64).named("orders").build::<u64>()?;
/// producer.send(1).unwrap();
///
/// // On any thread:
/// for observer in Observers::list() {
///     if let Some(stats) = observer.stats() {
///         println!("{stats}");
///     }
/// }
/// let orders = Observers::named("orders").pop().unwrap();
/// assert_eq!(orders.stats().unwrap().published, 1);
///
/// drop((producer, consumer));
/// assert!(orders.is_gone() && Observers::named("orders").is_empty());
/// # Ok::<(), annulus::CapacityError>(())
/// ```
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
#[derive(Clone, Copy, Debug)]
pub enum Observers {}

impl Observers {
    /// An observer of each ring that has a name, in the order in which the rings were made. O(rings).
    #[must_use]
    pub fn list() -> Vec<Observer> {
        listing::entries(|_| true).into_iter().map(Observer::of_entry).collect()
    }

    /// Those of [`list`](Self::list) that have this name. O(rings).
    ///
    /// ```
    /// use annulus::{Observers, broadcast};
    ///
    /// let (mut publisher, _subscribable) = broadcast::Builder::new(8).named("prices").lossy()?;
    /// publisher.publish(7);
    /// let prices: u64 = Observers::named("prices").iter().filter_map(|ring| Some(ring.stats()?.published)).sum();
    /// assert_eq!(prices, 1);
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[must_use]
    pub fn named(name: &str) -> Vec<Observer> {
        listing::entries(|of| of == name).into_iter().map(Observer::of_entry).collect()
    }
}
