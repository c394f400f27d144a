//! [`annulus_bytes_producer`]: the sending verbs of queues of records.

use core::ffi::c_void;
use core::ptr;

use annulus::queue::bytes::{Producer, Reservation};
use annulus::queue::kind::InPlace;

use super::{of_timed_write, of_try_write, of_write};
use crate::closer::annulus_closer;
use crate::handle::{Handle, handle, handle_place, object, place, take};
use crate::options::Patience;
use crate::ring::Ring;
use crate::stats::annulus_stats;
use crate::status::annulus_status::{self, ANNULUS_CLOSED, ANNULUS_INVALID, ANNULUS_RESERVED};
use crate::status::{Done, guarded, guarded_or};

/// The sending end of a queue of records. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_bytes_producer {
    _opaque: [u8; 0],
}

handle!(annulus_bytes_producer = 10: BytesProducer);

pub(crate) struct BytesProducer {
    pub(crate) end: Box<dyn Write>,
    pub(crate) ring: Ring,
}

/// What sends records, within one process or to another one.
pub(crate) trait Write: Send {
    /// # Safety
    ///
    /// So many bytes lie at `record`.
    unsafe fn send(&mut self, record: *const u8, length: usize, patience: Patience) -> Done;
    fn reserve(&mut self, length: usize, patience: Patience) -> Done<*mut u8>;
    fn commit(&mut self, length: usize) -> Done;
    fn cancel(&mut self) -> Done;
    fn is_empty(&self) -> bool;
    fn max_len(&self) -> usize;
    fn capacity(&self) -> usize;
}

/// The producer of the Rust library, and how long the record is that C has reserved.
pub(crate) struct Writing<K: InPlace> {
    producer: Producer<K>,
    reserved: Option<usize>,
}

impl<K: InPlace> Writing<K> {
    pub(crate) fn of(producer: Producer<K>) -> Self {
        Self { producer, reserved: None }
    }

    fn reservation(&mut self, length: usize, patience: Patience) -> Done<Reservation<'_, K>> {
        if self.reserved.is_some() {
            return Err(ANNULUS_RESERVED);
        }
        match patience {
            Patience::None => self.producer.try_reserve(length).map_err(of_try_write),
            Patience::Endless => self.producer.reserve(length).map_err(of_write),
            Patience::For(timeout) => self.producer.reserve_timeout(length, timeout).map_err(of_timed_write),
        }
    }
}

impl<K: InPlace + 'static> Write for Writing<K> {
    unsafe fn send(&mut self, record: *const u8, length: usize, patience: Patience) -> Done {
        let mut reservation = self.reservation(length, patience)?;
        if length > 0 {
            // SAFETY: so much is reserved; the caller promises the record.
            unsafe { ptr::copy_nonoverlapping(record, reservation.as_mut_ptr(), length) };
        }
        reservation.commit().map_err(|_| ANNULUS_CLOSED)
    }

    fn reserve(&mut self, length: usize, patience: Patience) -> Done<*mut u8> {
        let start = self.reservation(length, patience)?.as_mut_ptr();
        // The library's reservation ends here, but the bytes that it had stay free until this producer sends.
        self.reserved = Some(length);
        Ok(start)
    }

    fn commit(&mut self, length: usize) -> Done {
        let reserved = self.reserved.filter(|&reserved| length <= reserved).ok_or(ANNULUS_INVALID)?;
        self.reserved = None;
        // At the same place: nothing was sent since, and it is as long.
        let reservation = self.producer.try_reserve(reserved).map_err(|_| ANNULUS_CLOSED)?;
        reservation.commit_len(length).map_err(|_| ANNULUS_CLOSED)
    }

    fn cancel(&mut self) -> Done {
        self.reserved.take().map(drop).ok_or(ANNULUS_INVALID)
    }

    fn is_empty(&self) -> bool {
        self.producer.is_empty()
    }

    fn max_len(&self) -> usize {
        self.producer.max_len()
    }

    fn capacity(&self) -> usize {
        self.producer.capacity()
    }
}

impl BytesProducer {
    /// # Safety
    ///
    /// So many bytes lie at `record` as `length` says.
    unsafe fn send(&mut self, record: *const u8, length: usize, patience: Patience) -> Done {
        if record.is_null() && length > 0 {
            return Err(ANNULUS_INVALID);
        }
        self.ring.order.before_send();
        // SAFETY: the caller's promise.
        let result = unsafe { self.end.send(record, length, patience) };
        self.ring.order.after_room();
        result.map_err(|status| self.ring.told(status))
    }

    fn reserve(&mut self, length: usize, patience: Patience) -> Done<*mut u8> {
        let result = self.end.reserve(length, patience);
        self.ring.order.after_room();
        result.map_err(|status| self.ring.told(status))
    }

    fn commit(&mut self, length: usize) -> Done {
        self.ring.order.before_send();
        self.end.commit(length).map_err(|status| self.ring.told(status))
    }

    fn is_empty(&self) -> bool {
        let is_empty = self.end.is_empty();
        // What is there no more was received.
        self.ring.order.after_room();
        is_empty
    }
}

/// Sends a copy of the `length` bytes at `record` as one record, if there is room. Never waits. A record may
/// be empty; then `record` may be null.
///
/// The queue has a copy afterwards; the caller keeps its own. The thread that uses the producer may call
/// this.
///
/// Returns `ANNULUS_FULL`; `ANNULUS_CLOSED`; `ANNULUS_WRONG_SIZE` if the record is longer than
/// `annulus_bytes_producer_max_len`; `ANNULUS_RESERVED` while a reservation is open; `ANNULUS_INVALID`,
/// `ANNULUS_NOT_A_HANDLE`. Between processes also `ANNULUS_PEER_DIED`. Then nothing is sent.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `record` is null, or `length` bytes lie there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_try_send(
    producer: *mut annulus_bytes_producer,
    record: *const c_void,
    length: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<BytesProducer>(producer)?.send(record.cast(), length, Patience::None) })
}

/// As `annulus_bytes_producer_try_send`, but waits while there is no room, in the way of the options. It does
/// not wait for a record that is too long.
///
/// Returns `ANNULUS_CLOSED` if the queue is closed, or was closed while this waited; or as
/// `annulus_bytes_producer_try_send`.
///
/// # Safety
///
/// As for `annulus_bytes_producer_try_send`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_send(
    producer: *mut annulus_bytes_producer,
    record: *const c_void,
    length: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<BytesProducer>(producer)?.send(record.cast(), length, Patience::Endless) })
}

/// As `annulus_bytes_producer_send`, but gives up after `timeout_ns` nanoseconds on the monotonic clock. With
/// 0 it still sends if there is room.
///
/// Returns `ANNULUS_TIMEOUT` if no room came in time; or as `annulus_bytes_producer_send`.
///
/// # Safety
///
/// As for `annulus_bytes_producer_try_send`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_send_timeout(
    producer: *mut annulus_bytes_producer,
    record: *const c_void,
    length: usize,
    timeout_ns: u64,
) -> annulus_status {
    let patience = Patience::of_ns(timeout_ns);
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<BytesProducer>(producer)?.send(record.cast(), length, patience) })
}

/// Stores where a reservation lies.
///
/// # Safety
///
/// `bytes` is null, or may be written to; `find` finds the producer.
unsafe fn store_bytes(bytes: *mut *mut c_void, find: impl FnOnce() -> Done<*mut u8>) -> Done {
    // SAFETY: the caller's promise.
    let bytes = unsafe { place(bytes) }?.write(ptr::null_mut());
    *bytes = find()?.cast();
    Ok(())
}

/// Reserves room in the ring for a record of up to `length` bytes, to be written there: `*bytes` is the first
/// one, at a multiple of 8. Never waits.
///
/// The bytes are the caller's until it commits or cancels; nothing is sent before. At first they have any
/// values. Until then, sends fail. The thread that uses the producer may call this.
///
/// Between processes the other process can write to the bytes meanwhile. So unless you trust it not to, write
/// there only, and do not rely on what you read back.
///
/// Returns `ANNULUS_FULL`, `ANNULUS_CLOSED`, `ANNULUS_WRONG_SIZE` (longer than
/// `annulus_bytes_producer_max_len`), `ANNULUS_RESERVED` (there is a reservation already), `ANNULUS_INVALID`,
/// `ANNULUS_NOT_A_HANDLE`. Between processes also `ANNULUS_PEER_DIED`. Then `*bytes` is null.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `bytes` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_try_reserve(
    producer: *mut annulus_bytes_producer,
    length: usize,
    bytes: *mut *mut c_void,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        store_bytes(bytes, || object::<BytesProducer>(producer)?.reserve(length, Patience::None))
    })
}

/// As `annulus_bytes_producer_try_reserve`, but waits while there is no room for the whole of it, for
/// `timeout_ns` nanoseconds at most; `ANNULUS_FOREVER` is no limit.
///
/// Returns `ANNULUS_TIMEOUT` if no room came in time; or as `annulus_bytes_producer_try_reserve`.
///
/// # Safety
///
/// As for `annulus_bytes_producer_try_reserve`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_reserve(
    producer: *mut annulus_bytes_producer,
    length: usize,
    timeout_ns: u64,
    bytes: *mut *mut c_void,
) -> annulus_status {
    let patience = Patience::of_ns(timeout_ns);
    // SAFETY: the caller's promise.
    guarded(|| unsafe { store_bytes(bytes, || object::<BytesProducer>(producer)?.reserve(length, patience)) })
}

/// Sends the first `length` bytes of the reservation as one record, and ends the reservation. With 0 the
/// record is empty. The bytes are no longer the caller's.
///
/// The thread that uses the producer may call this. Returns `ANNULUS_INVALID` if fewer bytes are reserved, or
/// none (a reservation stays); `ANNULUS_CLOSED`, and nothing is sent; `ANNULUS_NOT_A_HANDLE`. Between
/// processes also `ANNULUS_PEER_DIED`.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_commit(
    producer: *mut annulus_bytes_producer,
    length: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<BytesProducer>(producer) }?.commit(length))
}

/// Ends the reservation, and sends nothing. The bytes are no longer the caller's.
///
/// The thread that uses the producer may call this. Returns `ANNULUS_INVALID` if nothing is reserved,
/// `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_bytes_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_cancel(
    producer: *mut annulus_bytes_producer,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<BytesProducer>(producer) }?.end.cancel())
}

/// Whether the consumer has received every record. If so, this stays true until this producer sends. True if
/// `producer` is no handle.
///
/// The thread that uses the producer may call this.
///
/// # Safety
///
/// As for `annulus_bytes_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_is_empty(producer: *const annulus_bytes_producer) -> bool {
    // SAFETY: the caller's promise.
    guarded_or(true, || Ok(unsafe { object::<BytesProducer>(producer) }?.is_empty()))
}

/// The length of the longest record that the queue takes, in bytes: half its capacity. 0 if `producer` is no
/// handle.
///
/// The thread that uses the producer may call this.
///
/// # Safety
///
/// As for `annulus_bytes_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_max_len(producer: *const annulus_bytes_producer) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<BytesProducer>(producer) }?.end.max_len()))
}

/// The capacity that was asked for, in bytes. 0 if `producer` is no handle.
///
/// The thread that uses the producer may call this.
///
/// # Safety
///
/// As for `annulus_bytes_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_capacity(producer: *const annulus_bytes_producer) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<BytesProducer>(producer) }?.end.capacity()))
}

/// Closes the queue, and wakes both sides. The consumer receives what was sent before, and then
/// `ANNULUS_CLOSED`. No effect on a closed queue. The handle stays, and is to be freed.
///
/// The thread that uses the producer may call this; other threads use an `annulus_closer`. Returns
/// `ANNULUS_INVALID` or `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_bytes_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_close(
    producer: *mut annulus_bytes_producer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { object::<BytesProducer>(producer) }?.ring.close();
        Ok(())
    })
}

/// Whether the queue is closed: every send fails from now on. True if `producer` is no handle.
///
/// The thread that uses the producer may call this.
///
/// # Safety
///
/// As for `annulus_bytes_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_is_closed(producer: *const annulus_bytes_producer) -> bool {
    // SAFETY: the caller's promise.
    guarded_or(true, || Ok(unsafe { object::<BytesProducer>(producer) }?.ring.is_closed()))
}

/// Makes a closer for the queue of this producer, as `annulus_producer_closer`.
///
/// The thread that uses the producer may call this. Returns `ANNULUS_INVALID` or `ANNULUS_NOT_A_HANDLE`. Then
/// `*closer` is null.
///
/// # Safety
///
/// As for `annulus_bytes_producer_commit`. `closer` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_closer(
    producer: *const annulus_bytes_producer,
    closer: *mut *mut annulus_closer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let closer = unsafe { handle_place(closer) }?;
        // SAFETY: the caller's promise.
        *closer = unsafe { object::<BytesProducer>(producer) }?.ring.closer.clone().hand_out();
        Ok(())
    })
}

/// Stores the numbers of the queue of this producer, as `annulus_producer_stats`. They count words of 8 bytes
/// in place of messages, in `capacity`, too: a record takes one for its length, and one for each 8 bytes that
/// it begins. What stays empty at the end of the ring counts as well.
///
/// The thread that uses the producer may call this. Returns `ANNULUS_INVALID` (a null pointer, another
/// `size`), `ANNULUS_NOT_A_HANDLE`. Then `*stats` is as it was.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `stats` is null, or so many bytes as its `size` says may be read and written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_stats(
    producer: *const annulus_bytes_producer,
    stats: *mut annulus_stats,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { annulus_stats::store(stats, || Ok(object::<BytesProducer>(producer)?.ring.clone())) })
}

/// Frees the producer, which closes the queue; the consumer receives what was sent before. A reservation
/// ends, and nothing of it is sent. Null is no error, and has no effect.
///
/// The thread that uses the producer may call this. Returns `ANNULUS_NOT_A_HANDLE` if it was freed before, or
/// is a handle of another type.
///
/// # Safety
///
/// As for `annulus_bytes_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_free(
    producer: *mut annulus_bytes_producer,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<BytesProducer>(producer) }.map(drop))
}
