//! What the memory of a ring of records is like, as each of its handles says it, and how it is moved to a
//! reader. It has two parts: the bytes of the records, and the ring of their extents.

use super::{Publisher, Subscribable, Subscriber};
use crate::memory::Placement;
#[cfg(feature = "numa")]
use crate::memory::{MemoryError, node_here};

/// The verb `placement` of a handle.
macro_rules! placement {
    ($($Handle:ty),*) => {$(
        impl $Handle {
            /// What the ring's memory is like now, that of the records and that of their extents together,
            /// and which options of [`Builder::memory`](super::Builder::memory) were refused. Asks the
            /// kernel: see [`Placement`].
            #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
            #[must_use]
            pub fn placement(&self) -> Placement {
                self.area.block().placement().and(self.extents.placement())
            }
        }
    )*};
}

placement!(Publisher, Subscribable, Subscriber);

impl Subscriber {
    /// Moves the ring's memory to the NUMA node of the core on which the calling thread runs now. Pin the
    /// thread before. The ring must have the option [`near_reader`](crate::memory::Memory::near_reader).
    /// Where several subscribers call this, the last call decides.
    ///
    /// This takes system calls, and handles that use a page meanwhile wait for it. No record is lost.
    ///
    /// # Errors
    ///
    /// [`MemoryError`]: the ring was made without that option, or some pages can't be moved. They stay where
    /// they are then.
    #[cfg(feature = "numa")]
    #[cfg_attr(docsrs, doc(cfg(feature = "numa")))]
    pub fn bring_memory_here(&self) -> Result<(), MemoryError> {
        let node = node_here()?;
        // Both, whatever the first one says.
        let records = self.area.block().bring_to(node);
        let extents = self.extents.shared.ring.block().bring_to(node);
        records.and(extents)
    }
}
