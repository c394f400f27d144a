//! [`annulus_pool`]: buffers of one size, whose handles of 4 bytes go through a ring.
//!
//! For C a buffer is its handle, and an address. In the library it is either a `Buffer`, which one thread
//! owns, or a handle that nobody has redeemed. Here it is always the latter: the thread that has the handle
//! owns the bytes. So a handle that was freed, or that another thread has taken over, is told.

use core::ffi::c_void;
use core::ptr;

use annulus::pool::{Buffer, BufferPool, Handle as PoolHandle, PoolError};

use crate::handle::{Handle, handle, handle_place, place, shared_object, take};
use crate::status::annulus_status::{
    self, ANNULUS_EMPTY, ANNULUS_INVALID, ANNULUS_NO_MEMORY, ANNULUS_NOT_A_HANDLE,
};
use crate::status::{Done, guarded, guarded_or};
use crate::tsan;

/// Buffers of one size. Any thread may use it, several at once, too.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_pool {
    _opaque: [u8; 0],
}

handle!(annulus_pool = 7: BufferPool);

/// Makes a pool of `count` buffers of `buffer_size` bytes, which the caller owns and frees with
/// `annulus_pool_free`. All memory is allocated here. Any thread may call this.
///
/// Returns `ANNULUS_INVALID` (a null pointer, a number that is 0, more than 2^24 buffers),
/// `ANNULUS_NO_MEMORY`. Then `*pool` is null.
///
/// # Safety
///
/// `pool` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_pool_new(
    buffer_size: usize,
    count: usize,
    pool: *mut *mut annulus_pool,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let pool = unsafe { handle_place(pool) }?;
        let made = BufferPool::try_new(buffer_size, count).map_err(|error| match error {
            PoolError::TooLarge { .. } | PoolError::Memory(_) => ANNULUS_NO_MEMORY,
            _ => ANNULUS_INVALID,
        })?;
        *pool = made.hand_out();
        Ok(())
    })
}

/// Stores a buffer for C.
///
/// # Safety
///
/// Each pointer is null, or may be written to; `find` finds the buffer.
unsafe fn store_buffer(
    handle: *mut u32,
    bytes: *mut *mut c_void,
    find: impl FnOnce() -> Done<Buffer>,
) -> Done {
    // SAFETY: the caller's promise.
    let (handle, bytes) = unsafe { (place(handle)?, place(bytes)?.write(ptr::null_mut())) };
    let mut buffer = find()?;
    *bytes = buffer.as_mut_ptr().cast();
    handle.write(buffer.into_handle().to_bits());
    Ok(())
}

/// Takes a buffer out of the pool: `*bytes` is where it lies, and `*handle` its name in 4 bytes, which a
/// message can have. Its bytes are as their last owner left them. Never waits.
///
/// The thread that has the handle owns the buffer, and one thread at a time has it. The handle goes to
/// another thread through a queue, where `annulus_pool_redeem` takes it over; in the end
/// `annulus_pool_release` puts it back. Any thread may call this.
///
/// Returns `ANNULUS_EMPTY` if no buffer is free; `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*bytes` is
/// null.
///
/// # Safety
///
/// `pool` is null, or a handle that this library made, whether it was freed or not; no other thread frees it.
/// `handle` and `bytes` are null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_pool_alloc(
    pool: *const annulus_pool,
    handle: *mut u32,
    bytes: *mut *mut c_void,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        store_buffer(handle, bytes, || shared_object::<BufferPool>(pool)?.alloc().ok_or(ANNULUS_EMPTY))?;
        tsan::after_alloc(pool);
        Ok(())
    })
}

/// Takes over the buffer with the handle `received`: `*bytes` is where it lies, and `*handle` its new name.
/// The old name is void. Any thread may call this.
///
/// Returns `ANNULUS_NOT_A_HANDLE` if `received` is void: it was redeemed or released before, or is none of
/// this pool (this is told for all but the last of many uses of one buffer); `ANNULUS_INVALID`. Then `*bytes`
/// is null.
///
/// # Safety
///
/// As for `annulus_pool_alloc`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_pool_redeem(
    pool: *const annulus_pool,
    received: u32,
    handle: *mut u32,
    bytes: *mut *mut c_void,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        store_buffer(handle, bytes, || redeemed(shared_object::<BufferPool>(pool)?, received))
    })
}

/// Puts the buffer with this handle back into the pool. The handle is void, and the bytes are no longer the
/// caller's. Any thread may call this.
///
/// Returns `ANNULUS_NOT_A_HANDLE` if the handle is void (as for `annulus_pool_redeem`), so a second release
/// is told; `ANNULUS_INVALID`.
///
/// # Safety
///
/// `pool` is null, or a handle that this library made, whether it was freed or not; no other thread frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_pool_release(pool: *const annulus_pool, handle: u32) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let of = unsafe { shared_object::<BufferPool>(pool) }?;
        tsan::before_release(pool);
        redeemed(of, handle).map(drop)
    })
}

fn redeemed(pool: &BufferPool, handle: u32) -> Done<Buffer> {
    pool.redeem(PoolHandle::from_bits(handle)).map_err(|_| ANNULUS_NOT_A_HANDLE)
}

/// How many buffers are free. It may have changed when this returns. 0 if `pool` is no handle. Any thread may
/// call this.
///
/// # Safety
///
/// As for `annulus_pool_release`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_pool_available(pool: *const annulus_pool) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { shared_object::<BufferPool>(pool) }?.available()))
}

/// How many bytes a buffer has: exactly what was asked for. 0 if `pool` is no handle. Any thread may call
/// this.
///
/// # Safety
///
/// As for `annulus_pool_release`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_pool_buffer_size(pool: *const annulus_pool) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { shared_object::<BufferPool>(pool) }?.slab_bytes()))
}

/// Frees the pool, and the memory of all of its buffers, whether they were released or not. Null is no error,
/// and has no effect.
///
/// One thread may call this, when no other one uses the pool or any of its buffers any more. Returns
/// `ANNULUS_NOT_A_HANDLE` if it was freed before, or is a handle of another type.
///
/// # Safety
///
/// `pool` is null, or a handle that this library made, whether it was freed or not; no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_pool_free(pool: *mut annulus_pool) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<BufferPool>(pool) }.map(drop))
}
