//! Buffers of one size, allocated once, for bytes that go from thread to thread without a copy.
//!
//! A message in a queue is moved in and moved out. For large blocks that is slow. Put a large block into a
//! [`Buffer`] of a [`BufferPool`] instead, and send the buffer's [`Handle`], which has 4 bytes, through the
//! queue:
//!
//! ```
//! use annulus::pool::{BufferPool, Handle};
//!
//! let pool = BufferPool::new(9000, 64); // 64 slabs of 9,000 bytes
//! let (mut producer, mut consumer) = annulus::spsc::channel::<Handle>(64);
//!
//! let reader = std::thread::spawn({
//!     let pool = pool.clone();
//!     move || {
//!         let mut sum = 0;
//!         while let Ok(handle) = consumer.recv() {
//!             let frame = pool.redeem(handle).unwrap();
//!             sum += u64::from(frame[0]);
//!         } // the frame goes back to the pool
//!         sum
//!     }
//! });
//! for number in 1..=100 {
//!     let mut frame = loop {
//!         match pool.alloc() {
//!             Some(frame) => break frame,
//!             None => std::thread::yield_now(), // all are out
//!         }
//!     };
//!     frame[0] = number;
//!     producer.send(frame.into_handle()).unwrap();
//! }
//! drop(producer);
//! assert_eq!(reader.join().unwrap(), 5050);
//! assert_eq!(pool.available(), 64);
//! ```
//!
//! A handle reaches one consumer, which then owns the buffer. In a broadcast ring every subscriber would
//! receive the handle, and all but one would get an error. So a [`Handle`] is not a message of a broadcast
//! ring: that does not compile. For frames that many threads read, use
//! [events](crate::event#frames-for-many-readers).
//!
//! # What holds
//!
//! - **A slab has one owner.** A *slab* is the memory of one buffer. It is free, or in one [`Buffer`], or in
//!   one handle. A use after free, or a second free, does not compile. A handle that is forged, stale, or of
//!   another pool is an error; see below for the odds.
//! - **Nothing waits.** Allocating and freeing are lock-free: a step is repeated only if another thread's
//!   step succeeded. Making a handle and redeeming it are wait-free.
//! - **Only [`BufferPool::new`] allocates.** It also writes every page of the slabs, so no page is touched
//!   for the first time later.
//! - **No byte is uninitialised.** A slab begins as zeros. Later it holds what its last owner left.
//! - Slabs lie one after the other. Each begins on a cache line of its own (64 bytes).
//!
//! # How sure a handle is
//!
//! A handle has 32 bits. Some of them name the slab: as many as the last index needs. The others are the
//! slab's *generation*; there are at least 8 of them ([`generation_bits`](BufferPool::generation_bits)). Each
//! redemption moves the slab on to its next generation.
//!
//! | a handle that | is accepted by mistake |
//! | --- | --- |
//! | was redeemed | never, until its slab has gone through 2^`generation_bits` more handles, or a multiple of that, and then only while that very handle is out. This is 2^22 handles with 1,024 slabs, and 256 with 2^24 slabs, the most there can be |
//! | is of another pool, even of one that is gone and whose memory this pool has | by accident: while its slab is in a handle, with a chance of one in 2^`generation_bits` |
//! | is of another process, or of an earlier run | the same. Without the feature `std`, if addresses are the same in each run, the first pool of one run looks like the first pool of another |
//! | was forged | if the guess was right: one in 2^`generation_bits` for each attempt |
//!
//! These are the odds of one attempt. With few slabs the odds are long: one in 2^28 with sixteen slabs. With
//! 2^24 slabs, one in 256 stale handles of another pool is accepted while all slabs are in handles.
//! Generations begin at random numbers, but they follow each other, so one handle of a slab tells what the
//! next one will be. They find mistakes. They do not keep secrets.
//!
//! A wrong handle that is accepted takes the slab away from the holder of the right one, who then gets the
//! error. Even then the slab has one owner: memory safety does not depend on any of this.
//!
//! # How it is done
//!
//! The free list is a Treiber stack of indexes (R. K. Treiber, 1986) with a 32-bit tag beside the top. Each
//! change increments the tag, as IBM's manuals taught against the ABA problem. To be fooled, a thread would
//! have to stand still inside one `alloc` while others make exactly a multiple of 2^32 changes. The list is
//! last in, first out, so a slab that is used again is often still in the cache.

mod buffer;
mod error;
mod handle;
mod seed;
mod shared;
mod slabs;
mod word;

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use core::ptr::NonNull;

pub use buffer::Buffer;
pub use error::{HandleError, PoolError};
pub use handle::Handle;
use shared::Shared;

/// A fixed number of slabs of one size. Clones are handles of the same pool, for other threads.
///
/// The memory goes when the last clone and the last [`Buffer`] are gone. Slabs in handles do not keep it: without a pool nobody could
/// redeem them. Dropping the last clone takes a step for each slab.
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
    shared: NonNull<Shared>,
}

// SAFETY: a reference to what is `Sync`, and the right to close it, which any thread may use.
unsafe impl Send for Owner {}
// SAFETY: as above; a shared owner closes nothing.
unsafe impl Sync for Owner {}

const _: () = {
    const fn sync<T: Send + Sync>() {}
    sync::<Shared>();
};

impl Owner {
    #[inline]
    fn shared(&self) -> &Shared {
        // SAFETY: it lives until it is closed, in the drop of this owner, or longer.
        unsafe { self.shared.as_ref() }
    }
}

impl Drop for Owner {
    fn drop(&mut self) {
        // SAFETY: the last clone of the pool is gone, so nobody can allocate or redeem; a drop comes once.
        unsafe { Shared::close(self.shared) };
    }
}

impl BufferPool {
    /// `count` slabs of `slab_bytes` bytes each, all zero.
    ///
    /// Writes every byte. A slab takes its bytes, rounded up to whole lines of 64, and one line more.
    ///
    /// # Panics
    ///
    /// Where [`try_new`](Self::try_new) returns an error.
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

    /// As [`new`](Self::new), without its panic.
    ///
    /// # Errors
    ///
    /// [`PoolError`] if `slab_bytes` or `count` is 0, `count` is more than 2^24, or there is no such memory.
    ///
    /// ```
    /// use annulus::pool::{BufferPool, PoolError};
    ///
    /// assert!(BufferPool::try_new(4096, 0).is_err());
    /// let error = BufferPool::try_new(1, 20_000_000).unwrap_err();
    /// assert_eq!(error, PoolError::TooMany { count: 20_000_000, largest: 1 << 24 });
    /// ```
    pub fn try_new(slab_bytes: usize, count: usize) -> Result<Self, PoolError> {
        let shared = Box::new(Shared::new(slab_bytes, count)?);
        Ok(Self { owner: Arc::new(Owner { shared: NonNull::from(Box::leak(shared)) }) })
    }

    /// A slab that nobody has, or `None` if at that moment every slab had an owner or was in a handle. Never waits.
    ///
    /// The buffer holds what its last owner left. One compare-exchange, repeated only if another thread was faster.
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
        Some(unsafe { Buffer::new(self.owner.shared, index) })
    }

    /// Turns a handle back into the buffer that it was made of. Never waits: one compare-exchange, not repeated.
    ///
    /// Each handle is good once. If several threads try, one gets the buffer.
    ///
    /// # Errors
    ///
    /// [`HandleError`] if the handle was redeemed before, is of another pool, or was made of thin air; the
    /// [module](self#how-sure-a-handle-is) says how sure that is.
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
        Ok(unsafe { Buffer::new(self.owner.shared, index) })
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

    /// How many slabs there are, whoever has them.
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
    /// Exact while no other thread allocates or frees; otherwise each slab is looked at once, at a time of its own, so it may be a number
    /// that was never the true one. A look at every slab, which the way of a message does not pay for: for monitoring and tests.
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

    /// How many bits of a handle are its generation: 32 less those of the last index, so from 8, with 2^24 slabs, to 32, with one.
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
