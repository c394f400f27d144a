//! [`Builder`]: makes pools.

use super::state::PoolState;
use super::{BufferPool, PoolError};
use crate::memory::Memory;
#[cfg(feature = "std")]
use crate::sync::seeded;

/// Settings of a pool, and the verb that makes it. [`BufferPool::new`] is the short form.
///
/// ```
/// use annulus::memory::Memory;
/// use annulus::pool::{Builder, PoolError};
///
/// let pool = Builder::new(4096, 256).memory(Memory::prefer().lock()).build()?;
/// println!("{}", pool.placement());
/// assert_eq!(pool.alloc().unwrap().len(), 4096);
/// # Ok::<(), PoolError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    slab_bytes: usize,
    count: usize,
    memory: Memory,
}

impl Builder {
    /// `count` slabs of `slab_bytes` bytes each, as [`BufferPool::new`].
    #[must_use]
    pub fn new(slab_bytes: usize, count: usize) -> Self {
        Self { slab_bytes, count, memory: Memory::default() }
    }

    /// What the memory of the slabs is to be like: see [`memory`](crate::memory). Without this setting they
    /// come from the global allocator.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn memory(self, memory: Memory) -> Self {
        let memory = if seeded!("builder_memory_unheard") { self.memory } else { memory };
        Self { memory, ..self }
    }

    /// Makes the pool. Every byte of the slabs is zero, and every page is written.
    ///
    /// # Errors
    ///
    /// The errors of [`BufferPool::try_new`], and [`PoolError::Memory`] if a required option of the memory
    /// can't be met.
    pub fn build(self) -> Result<BufferPool, PoolError> {
        Ok(BufferPool::of(PoolState::new(self.slab_bytes, self.count, self.memory)?))
    }
}
