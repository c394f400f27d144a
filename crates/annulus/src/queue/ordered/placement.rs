//! What the memory of an ordered queue is like, as its handles say it, and how it is moved to a receiver.

use super::{Receiver, Sender};
use crate::memory::Placement;
#[cfg(feature = "numa")]
use crate::memory::{MemoryError, node_here};

impl<T: Send> Sender<T> {
    /// What the memory of the slots is like now, and which options of
    /// [`Builder::memory`](super::Builder::memory) were refused. Asks the kernel: see [`Placement`].
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.state.lane.block().placement()
    }
}

impl<T: Send> Receiver<T> {
    /// As [`Sender::placement`].
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.state.lane.block().placement()
    }

    /// Moves the slots to the NUMA node of the core on which the calling thread runs now. Pin the thread
    /// before. The queue must have the option [`near_reader`](crate::memory::Memory::near_reader). Where
    /// several receivers call this, the last call decides.
    ///
    /// This takes system calls, and handles that use a slot meanwhile wait for its page. No message is lost.
    ///
    /// # Errors
    ///
    /// [`MemoryError`]: the queue was made without that option, or some slots can't be moved. They stay where
    /// they are then.
    #[cfg(feature = "numa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "numa")))]
    pub fn bring_memory_here(&self) -> Result<(), MemoryError> {
        self.state.lane.block().bring_to(node_here()?)
    }
}
