//! A slab and its owner.

use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;

use super::Handle;
use super::state::PoolState;

/// A slab of a [`BufferPool`](super::BufferPool) that nobody else has:
/// [`slab_bytes`](super::BufferPool::slab_bytes) bytes to read and to write.
///
/// A new slab holds zeros. Later it holds what its last owner left. It never holds uninitialised memory.
///
/// Dropping the buffer puts the slab back. The next [`alloc`](super::BufferPool::alloc) is likely to return
/// the same slab, while it is still in the processor's cache; in a pool of 1 MiB or more only where the
/// buffer never was in a handle. The drop takes one compare-exchange, or two in such a pool, repeated only if
/// another thread was faster. A buffer may be moved to any thread and dropped there, even after the
/// last `BufferPool` is gone: its memory lives as long as the buffer does.
///
/// ```
/// use annulus::pool::BufferPool;
///
/// let pool = BufferPool::new(5, 1);
/// let mut buffer = pool.alloc().unwrap();
/// buffer.copy_from_slice(b"hello");
/// assert!(buffer.ends_with(b"lo"));
///
/// drop(buffer);
/// assert_eq!(&*pool.alloc().unwrap(), b"hello"); // what its last owner left
/// ```
///
/// A buffer that was freed cannot be used, and cannot be freed again:
///
/// ```compile_fail,E0382
/// # let pool = annulus::pool::BufferPool::new(64, 1);
/// let buffer = pool.alloc().unwrap();
/// drop(buffer);
/// let first = buffer[0]; // use of moved value
/// ```
///
/// ```compile_fail,E0382
/// # let pool = annulus::pool::BufferPool::new(64, 1);
/// let buffer = pool.alloc().unwrap();
/// drop(buffer);
/// drop(buffer); // use of moved value
/// ```
///
/// ```compile_fail,E0505
/// # let pool = annulus::pool::BufferPool::new(64, 1);
/// let buffer = pool.alloc().unwrap();
/// let bytes = &buffer[..];
/// drop(buffer); // it is borrowed
/// assert!(bytes.is_empty());
/// ```
#[must_use = "a buffer that is dropped goes back to its pool"]
pub struct Buffer {
    /// Lives as long as this buffer owns a slab of it.
    shared: NonNull<PoolState>,
    /// Which slab; below the pool's count.
    index: u32,
    /// It came out of a handle.
    was_in_handle: bool,
}

// SAFETY: the thread that has the buffer has the slab alone; what the buffer points to is `Sync`.
unsafe impl Send for Buffer {}
// SAFETY: a shared buffer lets threads read bytes, nothing else.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// # Safety
    ///
    /// The caller owns slab `index` of `shared`, and gives it to the buffer.
    #[inline]
    pub(super) unsafe fn new(shared: NonNull<PoolState>, index: u32, was_in_handle: bool) -> Self {
        Self { shared, index, was_in_handle }
    }

    /// Turns the buffer into a 4-byte handle for a queue. [`BufferPool::redeem`](super::BufferPool::redeem)
    /// turns the handle back into the buffer, on this thread or another. The new owner sees the bytes as they
    /// are now. Never waits.
    ///
    /// Until the handle is redeemed, the slab is neither free nor in a buffer. If nobody redeems it, the slab
    /// stays so until the pool is dropped. If the pool is gone already, the slab is gone too.
    ///
    /// ```
    /// use annulus::pool::{BufferPool, Handle};
    ///
    /// let pool = BufferPool::new(2048, 16);
    /// let (mut producer, mut consumer) = annulus::spsc::channel::<Handle>(16);
    ///
    /// let mut packet = pool.alloc().unwrap();
    /// packet[..4].copy_from_slice(b"ping");
    /// producer.send(packet.into_handle()).unwrap();
    ///
    /// let packet = pool.redeem(consumer.recv().unwrap()).unwrap();
    /// assert_eq!(&packet[..4], b"ping");
    /// ```
    ///
    /// A buffer that was turned into a handle cannot be used:
    ///
    /// ```compile_fail,E0382
    /// # let pool = annulus::pool::BufferPool::new(64, 1);
    /// let mut buffer = pool.alloc().unwrap();
    /// let handle = buffer.into_handle();
    /// buffer[0] = 1; // use of moved value
    /// ```
    #[inline]
    pub fn into_handle(self) -> Handle {
        let buffer = ManuallyDrop::new(self);
        // SAFETY: the buffer owns the slab, and ends here without its drop.
        unsafe { PoolState::hand_out(buffer.shared, buffer.index) }
    }
}

impl Drop for Buffer {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: the buffer owns the slab, and ends here.
        unsafe { PoolState::free(self.shared, self.index, self.was_in_handle) };
    }
}

impl Deref for Buffer {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        // SAFETY: the buffer owns the slab, so it is there, and only `deref_mut` writes to it, which takes
        // the buffer for itself.
        unsafe { self.shared.as_ref().slabs().bytes(self.index) }
    }
}

impl DerefMut for Buffer {
    #[inline]
    fn deref_mut(&mut self) -> &mut [u8] {
        // SAFETY: the buffer owns the slab, so it is there, and nobody else has the buffer.
        unsafe { self.shared.as_ref().slabs().bytes_mut(self.index) }
    }
}

impl AsRef<[u8]> for Buffer {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

impl AsMut<[u8]> for Buffer {
    fn as_mut(&mut self) -> &mut [u8] {
        self
    }
}

/// Shows the number of the slab, not its bytes.
impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Buffer").field("slab", &self.index).finish_non_exhaustive()
    }
}
