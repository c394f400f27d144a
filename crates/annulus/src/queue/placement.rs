//! What the memory of a queue's rings is like, as its handles say it, and how it is moved to a consumer.

use super::ends::{Read, Write};
use super::kind::AnyKind;
use super::lane_node::QueueLane;
use super::{Consumer, Producer};
use crate::memory::Placement;
#[cfg(feature = "numa")]
use crate::memory::{MemoryError, node_here};

impl<T: Send, K: AnyKind> Producer<T, K> {
    /// What the memory of this producer's ring is like now, and which options of
    /// [`Builder::memory`](super::Builder::memory) were refused. Asks the kernel: see [`Placement`].
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.end.block().placement()
    }
}

impl<T: Send, K: AnyKind> Consumer<T, K> {
    /// What the memory of all rings is like now, and which options of
    /// [`Builder::memory`](super::Builder::memory) were refused. Asks the kernel: see [`Placement`].
    /// O(rings).
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn placement(&self) -> Placement {
        let rings = self.end.state().nodes().map(|node| node.lane.block().placement());
        rings.reduce(Placement::and).unwrap_or_default()
    }

    /// Moves the slots of all rings to the NUMA node of the core on which the calling thread runs now. Pin
    /// the thread before. The queue must have the option
    /// [`near_reader`](crate::memory::Memory::near_reader). Where several consumers call this, the last call
    /// decides.
    ///
    /// Rings of producers that join later go there, too. The ring of a producer that joins during this call
    /// may be left out: [`placement`](Self::placement) says so, and another call moves it.
    ///
    /// This takes system calls, and handles that use a slot meanwhile wait for its page. No message is lost.
    ///
    /// # Errors
    ///
    /// [`MemoryError`]: the queue was made without that option, or the slots of a ring can't be moved. Those
    /// of other rings may have been moved.
    #[cfg(feature = "numa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "numa")))]
    pub fn bring_memory_here(&self) -> Result<(), MemoryError> {
        self.end.state().bring_to(node_here()?)
    }
}
