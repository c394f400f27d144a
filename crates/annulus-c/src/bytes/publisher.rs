//! [`annulus_bytes_publisher`]: the sending verbs of broadcast rings of records.

use core::ffi::c_void;
use core::slice;

use annulus::broadcast::Lossless;
use annulus::broadcast::bytes::Publisher;

use super::{of_timed_write, of_try_write, of_write};
use crate::closer::annulus_closer;
use crate::either::{Either, either};
use crate::handle::{Handle, handle, handle_place, object, take};
use crate::options::Patience;
use crate::ring::Ring;
use crate::stats::annulus_stats;
use crate::status::annulus_status::{self, ANNULUS_CLOSED, ANNULUS_INVALID, ANNULUS_WRONG_SIZE};
use crate::status::{Done, guarded, guarded_or};

/// The sending end of a broadcast ring of records. One thread at a time uses it; it may move to another
/// thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_bytes_publisher {
    _opaque: [u8; 0],
}

handle!(annulus_bytes_publisher = 12: BytesPublisher);

pub(crate) struct BytesPublisher {
    pub(crate) end: Either<Publisher, Publisher<Lossless>>,
    pub(crate) ring: Ring,
}

impl BytesPublisher {
    /// # Safety
    ///
    /// So many bytes lie at `record` as `length` says.
    unsafe fn publish(&mut self, record: *const u8, length: usize, patience: Patience) -> Done {
        if record.is_null() && length > 0 {
            return Err(ANNULUS_INVALID);
        }
        // SAFETY: the caller's promise.
        let record = if length == 0 { &[] } else { unsafe { slice::from_raw_parts(record, length) } };
        self.ring.order.before_send();
        match &mut self.end {
            Either::Lossy(end) => {
                let number = end.published();
                end.publish(record).map_err(|_| ANNULUS_WRONG_SIZE)?;
                // A record of a closed ring has no number: the library has dropped it.
                if end.published() == number { Err(ANNULUS_CLOSED) } else { Ok(()) }
            }
            Either::Lossless(end) => match patience {
                Patience::None => end.try_publish(record).map_err(of_try_write),
                Patience::Endless => end.publish(record).map_err(of_write),
                Patience::For(timeout) => end.publish_timeout(record, timeout).map_err(of_timed_write),
            },
        }
        .inspect(|()| self.ring.order.after_room())
        .map_err(|status| self.ring.told(status))
    }
}

/// Publishes a copy of the `length` bytes at `record` as one record. On a lossless ring it waits while the
/// slowest subscriber has not received the oldest records, in whose place it goes, in the way of the options.
/// On a lossy ring it waits for nobody. A record may be empty; then `record` may be null.
///
/// The ring has a copy afterwards; the caller keeps its own. The thread that uses the publisher may call
/// this.
///
/// Returns `ANNULUS_CLOSED`, also if the ring was closed while this waited; `ANNULUS_WRONG_SIZE` if the
/// record is longer than `annulus_bytes_publisher_max_len`; `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then
/// nothing is published.
///
/// # Safety
///
/// `publisher` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `record` is null, or `length` bytes lie there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_publisher_publish(
    publisher: *mut annulus_bytes_publisher,
    record: *const c_void,
    length: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        object::<BytesPublisher>(publisher)?.publish(record.cast(), length, Patience::Endless)
    })
}

/// As `annulus_bytes_publisher_publish`, but never waits for a subscriber.
///
/// Returns `ANNULUS_FULL` where it would have to wait; or as `annulus_bytes_publisher_publish`.
///
/// # Safety
///
/// As for `annulus_bytes_publisher_publish`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_publisher_try_publish(
    publisher: *mut annulus_bytes_publisher,
    record: *const c_void,
    length: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<BytesPublisher>(publisher)?.publish(record.cast(), length, Patience::None) })
}

/// As `annulus_bytes_publisher_publish`, but gives up after `timeout_ns` nanoseconds on the monotonic clock.
///
/// Returns `ANNULUS_TIMEOUT` if there was no room in time; or as `annulus_bytes_publisher_publish`.
///
/// # Safety
///
/// As for `annulus_bytes_publisher_publish`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_publisher_publish_timeout(
    publisher: *mut annulus_bytes_publisher,
    record: *const c_void,
    length: usize,
    timeout_ns: u64,
) -> annulus_status {
    let patience = Patience::of_ns(timeout_ns);
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<BytesPublisher>(publisher)?.publish(record.cast(), length, patience) })
}

/// The length of the longest record that the ring takes, in bytes: half its capacity. 0 if `publisher` is no
/// handle.
///
/// The thread that uses the publisher may call this.
///
/// # Safety
///
/// `publisher` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_publisher_max_len(publisher: *const annulus_bytes_publisher) -> usize {
    guarded_or(0, || {
        // SAFETY: the caller's promise.
        let publisher = unsafe { object::<BytesPublisher>(publisher) }?;
        Ok(either!(&publisher.end, end => end.max_len()))
    })
}

/// The capacity in bytes: the one that was asked for, rounded up. 0 if `publisher` is no handle.
///
/// The thread that uses the publisher may call this.
///
/// # Safety
///
/// As for `annulus_bytes_publisher_max_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_publisher_capacity(
    publisher: *const annulus_bytes_publisher,
) -> usize {
    guarded_or(0, || {
        // SAFETY: the caller's promise.
        let publisher = unsafe { object::<BytesPublisher>(publisher) }?;
        Ok(either!(&publisher.end, end => end.capacity()))
    })
}

/// Closes the ring, and wakes all threads that wait. Subscribers receive what was published before, and then
/// `ANNULUS_CLOSED`. No effect on a closed ring. The handle stays, and is to be freed.
///
/// The thread that uses the publisher may call this; other threads use an `annulus_closer`. Returns
/// `ANNULUS_INVALID` or `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_bytes_publisher_max_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_publisher_close(
    publisher: *mut annulus_bytes_publisher,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { object::<BytesPublisher>(publisher) }?.ring.close();
        Ok(())
    })
}

/// Whether the ring is closed: publishing fails from now on. True if `publisher` is no handle.
///
/// The thread that uses the publisher may call this.
///
/// # Safety
///
/// As for `annulus_bytes_publisher_max_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_publisher_is_closed(
    publisher: *const annulus_bytes_publisher,
) -> bool {
    // SAFETY: the caller's promise.
    guarded_or(true, || Ok(unsafe { object::<BytesPublisher>(publisher) }?.ring.is_closed()))
}

/// Makes a closer for the ring of this publisher, as `annulus_publisher_closer`.
///
/// The thread that uses the publisher may call this. Returns `ANNULUS_INVALID` or `ANNULUS_NOT_A_HANDLE`.
/// Then `*closer` is null.
///
/// # Safety
///
/// As for `annulus_bytes_publisher_max_len`. `closer` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_publisher_closer(
    publisher: *const annulus_bytes_publisher,
    closer: *mut *mut annulus_closer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let closer = unsafe { handle_place(closer) }?;
        // SAFETY: the caller's promise.
        *closer = unsafe { object::<BytesPublisher>(publisher) }?.ring.closer.clone().hand_out();
        Ok(())
    })
}

/// Stores the numbers of the ring of this publisher, as `annulus_publisher_stats`: in records, and `capacity`
/// is how many of them the ring holds at most.
///
/// The thread that uses the publisher may call this. Returns `ANNULUS_INVALID` (a null pointer, another
/// `size`), `ANNULUS_NOT_A_HANDLE`. Then `*stats` is as it was.
///
/// # Safety
///
/// `publisher` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `stats` is null, or so many bytes as its `size` says may be read and written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_publisher_stats(
    publisher: *const annulus_bytes_publisher,
    stats: *mut annulus_stats,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        annulus_stats::store(stats, || Ok(object::<BytesPublisher>(publisher)?.ring.clone()))
    })
}

/// Frees the publisher, which closes the ring; subscribers receive what was published before. Null is no
/// error, and has no effect.
///
/// The thread that uses the publisher may call this. Returns `ANNULUS_NOT_A_HANDLE` if it was freed before,
/// or is a handle of another type.
///
/// # Safety
///
/// As for `annulus_bytes_publisher_max_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_publisher_free(
    publisher: *mut annulus_bytes_publisher,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<BytesPublisher>(publisher) }.map(drop))
}
