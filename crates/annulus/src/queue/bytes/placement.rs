//! What the memory of a queue of bytes is like, as its handles say it, and how it is moved to the consumer.

use super::{Consumer, Producer};
#[cfg(feature = "numa")]
use crate::memory::MemoryError;
use crate::memory::Placement;
use crate::queue::InPlace;

impl<K: InPlace> Producer<K> {
    /// What the memory of the ring is like now, and which options of
    /// [`Builder::memory`](super::Builder::memory) were refused. Asks the kernel: see [`Placement`].
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.words.placement()
    }
}

impl<K: InPlace> Consumer<K> {
    /// As [`Producer::placement`].
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.words.placement()
    }

    /// Moves the ring to the NUMA node of the core on which the calling thread runs now. Pin the thread
    /// before. The queue must have the option [`near_reader`](crate::memory::Memory::near_reader).
    ///
    /// This takes system calls, and a producer that uses a page meanwhile waits for it. No record is lost.
    ///
    /// # Errors
    ///
    /// [`MemoryError`]: the queue was made without that option, or some pages can't be moved. They stay where
    /// they are then.
    #[cfg(feature = "numa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "numa")))]
    pub fn bring_memory_here(&self) -> Result<(), MemoryError> {
        self.words.bring_memory_here()
    }
}
