//! [`BufferPool`], the public handle.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::ptr::NonNull;

use super::state::PoolState;
use super::{Buffer, Handle, HandleError, PoolError};
use crate::memory::Memory;
#[cfg(feature = "std")]
use crate::memory::Placement;
#[cfg(feature = "std")]
use crate::sync::seeded;

/// A fixed number of slabs of one size. A clone refers to the same pool; give one to each thread.
///
/// The memory is freed when the last clone and the last [`Buffer`] are gone. Slabs in handles do not keep it,
/// because without a pool nobody could redeem them. Dropping the last clone takes a step for each slab.
///
/// ```
/// use annulus::pool::BufferPool;
///
/// let pool = BufferPool::new(1500, 2);
/// let first = pool.alloc().unwrap();
/// let second = pool.alloc().unwrap();
/// assert!(pool.alloc().is_none());
///
/// drop(first);
/// assert!(pool.alloc().is_some());
/// # drop(second);
/// ```
#[derive(Clone)]
pub struct BufferPool {
    owner: Arc<Owner>,
}

/// All clones of a pool together.
struct Owner {
    /// From a box, which ends when this and all buffers have ended.
    shared: NonNull<PoolState>,
}

// SAFETY: a reference to what is `Sync`, and the right to close it, which any thread may use.
unsafe impl Send for Owner {}
// SAFETY: as above; a shared owner closes nothing.
unsafe impl Sync for Owner {}

const _: () = {
    // Unreached: never called: that it compiles is the test
    const fn sync<T: Send + Sync>() {}
    sync::<PoolState>();
};

impl Owner {
    #[inline]
    fn shared(&self) -> &PoolState {
        // SAFETY: it lives until it is closed, in the drop of this owner, or longer.
        unsafe { self.shared.as_ref() }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: the last clone of the pool is gone, so nobody can allocate or redeem; a drop comes once.
        unsafe { PoolState::close(self.shared) };
    }
}

impl BufferPool {
    /// `count` slabs of `slab_bytes` bytes each, all zero.
    ///
    /// Writes every byte. A slab takes its bytes, rounded up to a multiple of 64, and 64 bytes more.
    ///
    /// # Panics
    ///
    /// If [`try_new`](Self::try_new) would return an error.
    ///
    /// ```
    /// let pool = annulus::pool::BufferPool::new(4096, 256);
    /// assert_eq!((pool.slab_bytes(), pool.count()), (4096, 256));
    /// ```
    #[must_use]
    pub fn new(slab_bytes: usize, count: usize) -> Self {
        match Self::try_new(slab_bytes, count) {
            Ok(pool) => pool,
            Err(error) => panic!("{error}"),
        }
    }

    /// As [`new`](Self::new), but returns an error instead of a panic.
    ///
    /// # Errors
    ///
    /// [`PoolError`] if `slab_bytes` or `count` is 0, `count` is more than 2^24, or memory has no room.
    ///
    /// ```
    /// use annulus::pool::{BufferPool, PoolError};
    ///
    /// assert!(BufferPool::try_new(4096, 0).is_err());
    /// let error = BufferPool::try_new(1, 20_000_000).unwrap_err();
    /// assert_eq!(error, PoolError::TooMany { count: 20_000_000, largest: 1 << 24 });
    /// ```
    pub fn try_new(slab_bytes: usize, count: usize) -> Result<Self, PoolError> {
        Self::of(slab_bytes, count, Memory::default())
    }

    /// As [`try_new`](Self::try_new). The memory of the slabs is to be like `memory`: see
    /// [`memory`](crate::memory). Other pools have theirs from the global allocator.
    ///
    /// # Errors
    ///
    /// The errors of [`try_new`](Self::try_new), and [`PoolError::Memory`] if a required option of the memory
    /// can't be met.
    ///
    /// ```
    /// use annulus::memory::Memory;
    /// use annulus::pool::{BufferPool, PoolError};
    ///
    /// let pool = BufferPool::with_memory(4096, 256, Memory::prefer().lock())?;
    /// println!("{}", pool.placement());
    /// assert_eq!(pool.alloc().unwrap().len(), 4096);
    /// # Ok::<(), PoolError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn with_memory(slab_bytes: usize, count: usize, memory: Memory) -> Result<Self, PoolError> {
        let memory = if seeded!("builder_memory_unheard") { Memory::default() } else { memory };
        Self::of(slab_bytes, count, memory)
    }

    fn of(slab_bytes: usize, count: usize, memory: Memory) -> Result<Self, PoolError> {
        let shared = Box::leak(Box::new(PoolState::new(slab_bytes, count, memory)?));
        Ok(Self { owner: Arc::new(Owner { shared: NonNull::from(shared) }) })
    }

    /// What the memory of the slabs is like now, and which options of
    /// [`with_memory`](Self::with_memory) were refused. Asks the kernel: see [`Placement`].
    ///
    /// ```
    /// let pool = annulus::pool::BufferPool::new(100, 4);
    /// assert_eq!(pool.placement().mapped_bytes(), 0, "it is from the allocator");
    /// ```
    #[cfg(feature = "std")]
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.owner.shared().slabs().block().placement()
    }

    /// Moves the slabs to the NUMA node of the core on which the calling thread runs now. The pool must have
    /// the option [`near_reader`](crate::memory::Memory::near_reader). This takes system calls, and other
    /// threads that use a buffer meanwhile wait for its page.
    ///
    /// # Errors
    ///
    /// [`MemoryError`](crate::memory::MemoryError): the pool was made without that option, or the slabs can't
    /// be moved. They stay where they are then.
    #[cfg(feature = "numa")]
    pub fn bring_memory_here(&self) -> Result<(), crate::memory::MemoryError> {
        self.owner.shared().slabs().block().bring_to(crate::memory::node_here()?)
    }

    /// Takes a free slab. `None` if at that moment every slab was in a buffer or in a handle. Never waits.
    ///
    /// The buffer holds what its last owner left. Takes one compare-exchange, or two in a pool of 1 MiB or
    /// more, repeated only if another thread was faster. The [module](super#how-it-is-done) says which of the
    /// free slabs it is.
    ///
    /// ```
    /// # let pool = annulus::pool::BufferPool::new(64, 1);
    /// let mut buffer = pool.alloc().expect("it is the first");
    /// buffer.fill(7);
    /// assert!(pool.alloc().is_none());
    /// ```
    #[must_use = "a buffer that is dropped goes back to its pool"]
    #[inline]
    pub fn alloc(&self) -> Option<Buffer> {
        let index = self.owner.shared().alloc()?;
        // SAFETY: `alloc` made this thread the owner.
        Some(unsafe { Buffer::new(self.owner.shared, index, false) })
    }

    /// Turns a handle back into the buffer that it was made of. Never waits: takes one compare-exchange,
    /// which is not repeated.
    ///
    /// Each handle is good once. If several threads try, one of them gets the buffer.
    ///
    /// # Errors
    ///
    /// [`HandleError`] if the handle was redeemed before, is of another pool, or was never made by a pool.
    /// The [module](super#how-sure-a-handle-is) says how sure that is.
    ///
    /// ```
    /// use annulus::pool::{BufferPool, Handle, HandleError};
    ///
    /// let pool = BufferPool::new(64, 3);
    /// let handle = pool.alloc().unwrap().into_handle();
    ///
    /// let buffer = pool.redeem(handle).unwrap();
    /// assert!(matches!(pool.redeem(handle), Err(HandleError::Stale { .. })));
    /// drop(buffer);
    /// assert!(matches!(pool.redeem(handle), Err(HandleError::Stale { .. })));
    /// assert_eq!(pool.redeem(Handle::from_bits(3)).unwrap_err(), HandleError::NoSuchSlab { slab: 3, count: 3 });
    /// ```
    #[inline]
    pub fn redeem(&self, handle: Handle) -> Result<Buffer, HandleError> {
        let index = self.owner.shared().redeem(handle)?;
        // SAFETY: `redeem` made this thread the owner.
        Ok(unsafe { Buffer::new(self.owner.shared, index, true) })
    }

    /// How many bytes a [`Buffer`] has.
    ///
    /// ```
    /// let pool = annulus::pool::BufferPool::new(100, 4);
    /// assert_eq!(pool.slab_bytes(), 100);
    /// assert_eq!(pool.alloc().unwrap().len(), 100);
    /// ```
    #[must_use]
    pub fn slab_bytes(&self) -> usize {
        self.owner.shared().slabs().slab_bytes()
    }

    /// How many slabs there are, free or not.
    ///
    /// ```
    /// let pool = annulus::pool::BufferPool::new(100, 4);
    /// assert_eq!(pool.count(), 4);
    /// ```
    #[must_use]
    pub fn count(&self) -> usize {
        self.owner.shared().count()
    }

    /// How many slabs are free: not in a buffer, and not in a handle.
    ///
    /// This looks at every slab, one after the other, so it is for monitoring and tests. The result is exact
    /// while no other thread allocates or frees. Otherwise it may be a number that was never right at any one
    /// moment.
    ///
    /// ```
    /// let pool = annulus::pool::BufferPool::new(100, 4);
    /// let buffer = pool.alloc().unwrap();
    /// assert_eq!(pool.available(), 3);
    /// let handle = buffer.into_handle();
    /// assert_eq!(pool.available(), 3);
    /// drop(pool.redeem(handle));
    /// assert_eq!(pool.available(), 4);
    /// ```
    #[must_use]
    pub fn available(&self) -> usize {
        self.owner.shared().available()
    }

    /// How many bits of a handle are its generation: 32, less the bits of the last index. This is 8 with 2^24
    /// slabs and 32 with one slab.
    ///
    /// ```
    /// let pool = annulus::pool::BufferPool::new(100, 1024);
    /// assert_eq!(pool.generation_bits(), 22);
    /// ```
    #[must_use]
    pub fn generation_bits(&self) -> u32 {
        self.owner.shared().split().generation_bits()
    }
}

impl fmt::Debug for BufferPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferPool")
            .field("slab_bytes", &self.slab_bytes())
            .field("count", &self.count())
            .finish_non_exhaustive()
    }
}
