//! [`annulus_bytes_consumer`]: the receiving verbs of queues of records.

use core::ffi::{c_int, c_void};
use core::{mem, ptr, slice};

use annulus::queue::bytes::{Consumer, Record};
use annulus::queue::kind::InPlace;
use annulus::{RecvTimeoutError, TryRecvError};

use crate::closer::annulus_closer;
use crate::handle::{Handle, handle, handle_place, object, place, take};
use crate::notified::Notified;
use crate::options::Patience;
use crate::ring::Ring;
use crate::stats::annulus_stats;
use crate::status::annulus_status::{
    self, ANNULUS_CLOSED, ANNULUS_EMPTY, ANNULUS_INVALID, ANNULUS_TIMEOUT, ANNULUS_TOO_SMALL,
};
use crate::status::{Done, guarded, guarded_or};

/// The receiving end of a queue of records. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_bytes_consumer {
    _opaque: [u8; 0],
}

handle!(annulus_bytes_consumer = 11: BytesConsumer);

pub(crate) struct BytesConsumer {
    pub(crate) end: Box<dyn Read>,
    pub(crate) ring: Ring,
}

/// What receives records, within one process or from another one.
pub(crate) trait Read: Send {
    /// Receives the next record to `buffer`; `length` says how long it is, also where it does not fit.
    ///
    /// # Safety
    ///
    /// There is room for so many bytes at `buffer` as `size` says.
    unsafe fn recv(&mut self, buffer: *mut u8, size: usize, length: &mut usize, patience: Patience) -> Done;
    fn readable(&mut self, patience: Patience) -> Done<(*const u8, usize)>;
    fn advance(&mut self) -> Done;
    fn fd(&mut self) -> Done<i32>;
    fn arm(&mut self) -> Done<bool>;
    fn is_empty(&self) -> bool;
    fn max_len(&self) -> usize;
    fn capacity(&self) -> usize;
}

/// The consumer of the Rust library, and how long the next record is, if C was shown it.
pub(crate) struct Reading<K: InPlace + 'static> {
    consumer: Notified<Consumer<K>>,
    shown: Option<usize>,
}

impl<K: InPlace> Reading<K> {
    pub(crate) fn of(consumer: Consumer<K>) -> Self {
        Self { consumer: Notified::Not(consumer), shown: None }
    }

    /// The next record. It stays in the queue if it is forgotten.
    fn record(&mut self, patience: Patience) -> Done<Record<'_, K>> {
        self.shown = None;
        let consumer = self.consumer.receiver();
        match patience {
            Patience::None => consumer.try_read().map_err(|error| match error {
                TryRecvError::Closed => ANNULUS_CLOSED,
                TryRecvError::Empty => ANNULUS_EMPTY,
            }),
            Patience::Endless => consumer.read().map_err(|_| ANNULUS_CLOSED),
            Patience::For(timeout) => consumer.read_timeout(timeout).map_err(|error| match error {
                RecvTimeoutError::Timeout => ANNULUS_TIMEOUT,
                RecvTimeoutError::Closed => ANNULUS_CLOSED,
            }),
        }
    }
}

impl<K: InPlace + 'static> Read for Reading<K> {
    unsafe fn recv(&mut self, buffer: *mut u8, size: usize, length: &mut usize, patience: Patience) -> Done {
        let record = self.record(patience)?;
        *length = record.len();
        if record.len() > size {
            // So the next look finds it once more.
            mem::forget(record);
            return Err(ANNULUS_TOO_SMALL);
        }
        if !record.is_empty() {
            // SAFETY: the caller's promise. It is memory of C, whose bytes have values.
            record.shared().copy_to(unsafe { slice::from_raw_parts_mut(buffer, record.len()) });
        }
        Ok(())
    }

    fn readable(&mut self, patience: Patience) -> Done<(*const u8, usize)> {
        let record = self.record(patience)?;
        let (first, len) = (record.shared().as_ptr(), record.len());
        // So it stays there.
        mem::forget(record);
        self.shown = Some(len);
        Ok((first, len))
    }

    fn advance(&mut self) -> Done {
        let len = self.shown.take().ok_or(ANNULUS_INVALID)?;
        // The one that was shown, as long as it was then.
        self.consumer.receiver().receive_forgotten(len);
        Ok(())
    }

    fn fd(&mut self) -> Done<i32> {
        self.consumer.fd()
    }

    fn arm(&mut self) -> Done<bool> {
        self.consumer.arm()
    }

    fn is_empty(&self) -> bool {
        self.consumer.look().is_empty()
    }

    fn max_len(&self) -> usize {
        self.consumer.look().max_len()
    }

    fn capacity(&self) -> usize {
        self.consumer.look().capacity()
    }
}

impl BytesConsumer {
    /// # Safety
    ///
    /// There is room for so many bytes at `buffer` as `size` says. `length` is null, or may be written to.
    unsafe fn recv(&mut self, buffer: *mut u8, size: usize, length: *mut usize, patience: Patience) -> Done {
        // SAFETY: the caller's promise.
        let length = unsafe { place(length) }?.write(0);
        if buffer.is_null() && size > 0 {
            return Err(ANNULUS_INVALID);
        }
        self.ring.order.before_advance();
        // SAFETY: the caller's promise.
        let result = unsafe { self.end.recv(buffer, size, length, patience) };
        self.ring.order.after_receive();
        result.map_err(|status| self.ring.told(status))
    }

    fn readable(&mut self, patience: Patience) -> Done<(*const u8, usize)> {
        let result = self.end.readable(patience);
        self.ring.order.after_receive();
        result.map_err(|status| self.ring.told(status))
    }

    fn advance(&mut self) -> Done {
        self.ring.order.before_advance();
        self.end.advance()
    }
}

/// Receives the next record to `buffer`, if one is there, and stores its length at `*length`. Never waits.
///
/// `size` is how many bytes there are at `buffer`. A buffer of half the queue's capacity takes every record.
/// With a `size` of 0, `buffer` may be null: so this says how long the next record is. The thread that uses
/// the consumer may call this.
///
/// Returns `ANNULUS_TOO_SMALL` if the record is longer than `size`: then `*length` is its length, and it is
/// still the next one. `ANNULUS_EMPTY`; `ANNULUS_CLOSED` if the queue is closed and every record was
/// received; `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`; between processes also `ANNULUS_PEER_DIED`. Then
/// `*length` is 0. With any but `ANNULUS_OK`, `buffer` is as it was.
///
/// # Safety
///
/// `consumer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `buffer` is null, or `size` bytes may be written there. `length` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_try_recv(
    consumer: *mut annulus_bytes_consumer,
    buffer: *mut c_void,
    size: usize,
    length: *mut usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        object::<BytesConsumer>(consumer)?.recv(buffer.cast(), size, length, Patience::None)
    })
}

/// As `annulus_bytes_consumer_try_recv`, but waits while no record is there, in the way of the options.
///
/// Returns `ANNULUS_CLOSED` if the queue is closed and every record was received, also while this waited; or
/// as `annulus_bytes_consumer_try_recv`.
///
/// # Safety
///
/// As for `annulus_bytes_consumer_try_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_recv(
    consumer: *mut annulus_bytes_consumer,
    buffer: *mut c_void,
    size: usize,
    length: *mut usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        object::<BytesConsumer>(consumer)?.recv(buffer.cast(), size, length, Patience::Endless)
    })
}

/// As `annulus_bytes_consumer_recv`, but gives up after `timeout_ns` nanoseconds on the monotonic clock. With
/// 0 it still receives a record that is there.
///
/// Returns `ANNULUS_TIMEOUT` if none came in time; or as `annulus_bytes_consumer_recv`.
///
/// # Safety
///
/// As for `annulus_bytes_consumer_try_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_recv_timeout(
    consumer: *mut annulus_bytes_consumer,
    buffer: *mut c_void,
    size: usize,
    length: *mut usize,
    timeout_ns: u64,
) -> annulus_status {
    let patience = Patience::of_ns(timeout_ns);
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<BytesConsumer>(consumer)?.recv(buffer.cast(), size, length, patience) })
}

/// Shows the next record where it lies in the ring: `*record` is its first byte, at a multiple of 8, and
/// `*length` how long it is. It waits for one for `timeout_ns` nanoseconds at most: with 0 it does not wait,
/// `ANNULUS_FOREVER` is no limit.
///
/// The record stays in the queue, and may be read, until `annulus_bytes_consumer_advance` gives it back. The
/// pointer is good until then, or until the next receive, which receives the same record. The thread that
/// uses the consumer may call this.
///
/// Between processes the other process can write to the record while it is read. Unless you trust it not to,
/// copy what you need first, then check the copy, and use the copy; or receive to a buffer.
///
/// Returns `ANNULUS_TIMEOUT` (with 0: `ANNULUS_EMPTY`), `ANNULUS_CLOSED`, `ANNULUS_INVALID`,
/// `ANNULUS_NOT_A_HANDLE`; between processes also `ANNULUS_PEER_DIED`. Then `*record` is null, and `*length`
/// is 0.
///
/// # Safety
///
/// `consumer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `record` and `length` are null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_readable(
    consumer: *mut annulus_bytes_consumer,
    timeout_ns: u64,
    record: *mut *const c_void,
    length: *mut usize,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (record, length) = unsafe { (place(record)?.write(ptr::null()), place(length)?.write(0)) };
        // SAFETY: the caller's promise.
        let consumer = unsafe { object::<BytesConsumer>(consumer) }?;
        let patience = if timeout_ns == 0 { Patience::None } else { Patience::of_ns(timeout_ns) };
        let (start, shown) = consumer.readable(patience)?;
        (*record, *length) = (start.cast(), shown);
        Ok(())
    })
}

/// Takes the record that `annulus_bytes_consumer_readable` showed out of the queue. Its room goes back to the
/// producer at once.
///
/// The thread that uses the consumer may call this. Returns `ANNULUS_INVALID` if none was shown, or it was
/// taken or received since; `ANNULUS_NOT_A_HANDLE`. Then nothing is taken.
///
/// # Safety
///
/// `consumer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_advance(
    consumer: *mut annulus_bytes_consumer,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<BytesConsumer>(consumer) }?.advance())
}

/// A file descriptor for `poll`, `epoll` or `io_uring`, as `annulus_consumer_fd`;
/// `annulus_bytes_consumer_arm` arms it.
///
/// The thread that uses the consumer may call this. Returns `ANNULUS_SYSTEM`, `ANNULUS_UNSUPPORTED`,
/// `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*fd` is -1.
///
/// # Safety
///
/// As for `annulus_bytes_consumer_advance`. `fd` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_fd(
    consumer: *mut annulus_bytes_consumer,
    fd: *mut c_int,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let fd = unsafe { place(fd) }?.write(-1);
        // SAFETY: the caller's promise.
        *fd = unsafe { object::<BytesConsumer>(consumer) }?.end.fd()?;
        Ok(())
    })
}

/// Arms the descriptor of `annulus_bytes_consumer_fd`, before each wait for it, as `annulus_consumer_arm`.
/// `*ready` says whether a record, or the end, is there already. If so, the descriptor is not armed: receive
/// first. A receive disarms it.
///
/// The thread that uses the consumer may call this. Returns `ANNULUS_INVALID` (there is no descriptor yet),
/// `ANNULUS_NOT_A_HANDLE`. Then `*ready` is true.
///
/// # Safety
///
/// As for `annulus_bytes_consumer_advance`. `ready` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_arm(
    consumer: *mut annulus_bytes_consumer,
    ready: *mut bool,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let ready = unsafe { place(ready) }?.write(true);
        // SAFETY: the caller's promise.
        *ready = unsafe { object::<BytesConsumer>(consumer) }?.end.arm()?;
        Ok(())
    })
}

/// Whether no record is there. It may have changed when this returns. True if `consumer` is no handle.
///
/// The thread that uses the consumer may call this.
///
/// # Safety
///
/// As for `annulus_bytes_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_is_empty(consumer: *const annulus_bytes_consumer) -> bool {
    // SAFETY: the caller's promise.
    guarded_or(true, || Ok(unsafe { object::<BytesConsumer>(consumer) }?.end.is_empty()))
}

/// The length of the longest record that the queue takes, in bytes: half its capacity. 0 if `consumer` is no
/// handle.
///
/// The thread that uses the consumer may call this.
///
/// # Safety
///
/// As for `annulus_bytes_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_max_len(consumer: *const annulus_bytes_consumer) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<BytesConsumer>(consumer) }?.end.max_len()))
}

/// The capacity that was asked for, in bytes. 0 if `consumer` is no handle.
///
/// The thread that uses the consumer may call this.
///
/// # Safety
///
/// As for `annulus_bytes_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_capacity(consumer: *const annulus_bytes_consumer) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<BytesConsumer>(consumer) }?.end.capacity()))
}

/// Closes the queue, and wakes both sides. Sends fail from now on; records that were sent before can still be
/// received. No effect on a closed queue. The handle stays, and is to be freed.
///
/// The thread that uses the consumer may call this; other threads use an `annulus_closer`. Returns
/// `ANNULUS_INVALID` or `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_bytes_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_close(
    consumer: *mut annulus_bytes_consumer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { object::<BytesConsumer>(consumer) }?.ring.close();
        Ok(())
    })
}

/// Whether the queue is closed. There may be records left. True if `consumer` is no handle.
///
/// The thread that uses the consumer may call this.
///
/// # Safety
///
/// As for `annulus_bytes_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_is_closed(consumer: *const annulus_bytes_consumer) -> bool {
    // SAFETY: the caller's promise.
    guarded_or(true, || Ok(unsafe { object::<BytesConsumer>(consumer) }?.ring.is_closed()))
}

/// As `annulus_bytes_producer_closer`, for the queue of this consumer.
///
/// # Safety
///
/// As for `annulus_bytes_consumer_advance`. `closer` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_closer(
    consumer: *const annulus_bytes_consumer,
    closer: *mut *mut annulus_closer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let closer = unsafe { handle_place(closer) }?;
        // SAFETY: the caller's promise.
        *closer = unsafe { object::<BytesConsumer>(consumer) }?.ring.closer.clone().hand_out();
        Ok(())
    })
}

/// As `annulus_bytes_producer_stats`, of the queue of this consumer.
///
/// # Safety
///
/// As for `annulus_bytes_consumer_advance`. `stats` is null, or so many bytes as its `size` says may be read
/// and written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_stats(
    consumer: *const annulus_bytes_consumer,
    stats: *mut annulus_stats,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { annulus_stats::store(stats, || Ok(object::<BytesConsumer>(consumer)?.ring.clone())) })
}

/// Frees the consumer, which closes the queue: sends fail, and what was not received is gone. Its descriptor
/// is closed. Null is no error, and has no effect.
///
/// The thread that uses the consumer may call this. Returns `ANNULUS_NOT_A_HANDLE` if it was freed before, or
/// is a handle of another type.
///
/// # Safety
///
/// As for `annulus_bytes_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_free(
    consumer: *mut annulus_bytes_consumer,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<BytesConsumer>(consumer) }.map(drop))
}
