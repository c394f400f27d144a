//! [`annulus_publisher`]: the sending verbs of broadcast rings.

use core::ffi::c_void;

use crate::closer::annulus_closer;
use crate::handle::{Handle, handle, handle_place, object, take_unless};
use crate::options::Patience;
use crate::ring::Ring;
use crate::status::annulus_status::{self, ANNULUS_VIEWED};
use crate::status::{Done, guarded, guarded_or};
use crate::typed::Put;

/// The sending end of a broadcast ring. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_publisher {
    _opaque: [u8; 0],
}

handle!(annulus_publisher = 4: Publisher);

pub(crate) struct Publisher {
    pub(crate) end: Box<dyn Put>,
    pub(crate) ring: Ring,
    /// Whether a view has it.
    pub(crate) is_lent: bool,
}

impl Publisher {
    /// # Safety
    ///
    /// So many bytes lie at `message` as `size` says.
    unsafe fn publish(&mut self, message: *const u8, size: usize, patience: Patience) -> Done {
        self.ring.takes(message, size)?;
        if self.is_lent {
            return Err(ANNULUS_VIEWED);
        }
        self.ring.order.before_send();
        // SAFETY: the caller's promise, and `size` is the size of a message.
        let result = unsafe { self.end.put(message, patience) };
        self.ring.order.after_room();
        result.map_err(|status| self.ring.told(status))
    }
}

/// Publishes a copy of the message at `message`. On a lossless ring it waits while the slowest subscriber has
/// not received the message that lies where this one will, in the way of the options. On a lossy ring it
/// waits for nobody.
///
/// `size` is the size of the message, and has to be the one of the ring. The ring has a copy afterwards; the
/// caller keeps its own. The thread that uses the publisher may call this.
///
/// Returns `ANNULUS_CLOSED`, also if the ring was closed while this waited; `ANNULUS_VIEWED`
/// while it has a view; `ANNULUS_INVALID`, `ANNULUS_WRONG_SIZE`, `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// `publisher` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `message` is null, or `size` bytes lie there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_publish(
    publisher: *mut annulus_publisher,
    message: *const c_void,
    size: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Publisher>(publisher)?.publish(message.cast(), size, Patience::Endless) })
}

/// As `annulus_publisher_publish`, but never waits for a subscriber.
///
/// Returns `ANNULUS_FULL` where it would have to wait; or as `annulus_publisher_publish`.
///
/// # Safety
///
/// As for `annulus_publisher_publish`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_try_publish(
    publisher: *mut annulus_publisher,
    message: *const c_void,
    size: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Publisher>(publisher)?.publish(message.cast(), size, Patience::None) })
}

/// As `annulus_publisher_publish`, but gives up after `timeout_ns` nanoseconds on the monotonic clock.
///
/// Returns `ANNULUS_TIMEOUT` if there was no room in time; or as `annulus_publisher_publish`.
///
/// # Safety
///
/// As for `annulus_publisher_publish`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_publish_timeout(
    publisher: *mut annulus_publisher,
    message: *const c_void,
    size: usize,
    timeout_ns: u64,
) -> annulus_status {
    let patience = Patience::of_ns(timeout_ns);
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Publisher>(publisher)?.publish(message.cast(), size, patience) })
}

/// Makes another publisher of the same ring, which the caller owns.
///
/// The thread that uses `publisher` may call this; another thread may use the new one. Returns
/// `ANNULUS_UNSUPPORTED` (a ring of one publisher), `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then
/// `*another` is null.
///
/// # Safety
///
/// `publisher` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `another` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_clone(
    publisher: *const annulus_publisher,
    another: *mut *mut annulus_publisher,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let another = unsafe { handle_place(another) }?;
        // SAFETY: the caller's promise.
        let publisher = unsafe { object::<Publisher>(publisher) }?;
        let (end, ring) = (publisher.end.another()?, publisher.ring.clone());
        *another = Publisher { end, ring, is_lent: false }.hand_out();
        Ok(())
    })
}

/// How many messages the ring holds: exactly what was asked for. 0 if `publisher` is no handle.
///
/// The thread that uses the publisher may call this.
///
/// # Safety
///
/// `publisher` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_capacity(publisher: *const annulus_publisher) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Publisher>(publisher) }?.ring.capacity))
}

/// Closes the ring, and wakes all threads that wait. Subscribers receive what was published before, and then
/// `ANNULUS_CLOSED`. No effect on a closed ring. The handle stays, and is to be freed.
///
/// The thread that uses the publisher may call this; other threads use an `annulus_closer`. Returns
/// `ANNULUS_INVALID` or `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_publisher_capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_close(publisher: *mut annulus_publisher) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { object::<Publisher>(publisher) }?.ring.close();
        Ok(())
    })
}

/// Whether the ring is closed: publishing fails from now on. True if `publisher` is no handle.
///
/// The thread that uses the publisher may call this.
///
/// # Safety
///
/// As for `annulus_publisher_capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_is_closed(publisher: *const annulus_publisher) -> bool {
    // SAFETY: the caller's promise.
    guarded_or(true, || Ok(unsafe { object::<Publisher>(publisher) }?.ring.is_closed()))
}

/// Makes a closer for the ring of this publisher, which the caller owns.
///
/// The thread that uses the publisher may call this. Returns `ANNULUS_INVALID` or `ANNULUS_NOT_A_HANDLE`.
/// Then `*closer` is null.
///
/// # Safety
///
/// As for `annulus_publisher_capacity`. `closer` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_closer(
    publisher: *const annulus_publisher,
    closer: *mut *mut annulus_closer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let closer = unsafe { handle_place(closer) }?;
        // SAFETY: the caller's promise.
        *closer = unsafe { object::<Publisher>(publisher) }?.ring.closer.clone().hand_out();
        Ok(())
    })
}

/// Frees the publisher. With the last publisher the ring closes; subscribers receive what was published
/// before. Null is no error, and has no effect.
///
/// The thread that uses the publisher may call this. Returns `ANNULUS_NOT_A_HANDLE` if it was freed before,
/// or is a handle of another type, `ANNULUS_VIEWED` if it has a view: then nothing is freed.
///
/// # Safety
///
/// As for `annulus_publisher_capacity`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_publisher_free(publisher: *mut annulus_publisher) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take_unless::<Publisher>(publisher, |publisher| publisher.is_lent) }.map(drop))
}
