//! [`annulus_bytes_subscriber`]: the receiving verbs of broadcast rings of records.
//!
//! The ring may overwrite a record while it is copied, so how long a record is known to be, and whether it is
//! whole, is known only when it was copied. The handle has a buffer for that. A record that does not fit in
//! the caller's buffer waits there, where no publisher can overwrite it.

use core::ffi::{c_int, c_void};
use core::ptr;

use annulus::broadcast::bytes::Subscriber;
use annulus::broadcast::{Lossless, Mode};
use annulus::{RecvTimeoutError, TryRecvError};

use crate::either::{Either, either};
use crate::handle::{handle, object, place, take};
use crate::notified::Notified;
use crate::options::Patience;
use crate::ring::Ring;
use crate::stats::annulus_stats;
use crate::status::annulus_status::{
    self, ANNULUS_CLOSED, ANNULUS_EMPTY, ANNULUS_INVALID, ANNULUS_TIMEOUT, ANNULUS_TOO_SMALL,
};
use crate::status::{Done, guarded, guarded_or};

/// A receiving end of a broadcast ring of records. One thread at a time uses it; it may move to another
/// thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_bytes_subscriber {
    _opaque: [u8; 0],
}

handle!(annulus_bytes_subscriber = 14: BytesSubscriber);

pub(crate) struct BytesSubscriber {
    end: Either<Notified<Subscriber>, Notified<Subscriber<Lossless>>>,
    /// The last record that the ring gave. There is room for the longest one, so it never grows.
    record: Vec<u8>,
    /// Whether C has not received that one yet.
    is_kept: bool,
    ring: Ring,
}

impl Drop for BytesSubscriber {
    fn drop(&mut self) {
        // A publisher that waits for it has room.
        self.ring.order.before_advance();
    }
}

/// The next record of a ring.
fn received<M: Mode>(end: &mut Subscriber<M>, record: &mut Vec<u8>, patience: Patience) -> Done<usize> {
    match patience {
        Patience::None => end.try_recv(record).map_err(|error| match error {
            TryRecvError::Empty => ANNULUS_EMPTY,
            TryRecvError::Closed => ANNULUS_CLOSED,
        }),
        Patience::Endless => end.recv(record).map_err(|_| ANNULUS_CLOSED),
        Patience::For(timeout) => end.recv_timeout(record, timeout).map_err(|error| match error {
            RecvTimeoutError::Timeout => ANNULUS_TIMEOUT,
            RecvTimeoutError::Closed => ANNULUS_CLOSED,
        }),
    }
}

impl BytesSubscriber {
    pub(crate) fn of(end: Either<Notified<Subscriber>, Notified<Subscriber<Lossless>>>, ring: Ring) -> Self {
        let record = Vec::with_capacity(either!(&end, end => end.look().max_len()));
        Self { end, record, is_kept: false, ring }
    }

    /// Takes the next record out of the ring.
    fn next(&mut self, patience: Patience) -> Done {
        self.ring.order.before_advance();
        let result = either!(&mut self.end, end => received(end.receiver(), &mut self.record, patience));
        self.ring.order.after_receive();
        result.map(drop).map_err(|status| self.ring.told(status))
    }

    /// # Safety
    ///
    /// There is room for so many bytes at `buffer` as `size` says. `length` is null, or may be written to.
    unsafe fn recv(&mut self, buffer: *mut u8, size: usize, length: *mut usize, patience: Patience) -> Done {
        // SAFETY: the caller's promise.
        let length = unsafe { place(length) }?.write(0);
        if buffer.is_null() && size > 0 {
            return Err(ANNULUS_INVALID);
        }
        if !self.is_kept {
            self.next(patience)?;
        }
        *length = self.record.len();
        self.is_kept = *length > size;
        if self.is_kept {
            return Err(ANNULUS_TOO_SMALL);
        }
        if *length > 0 {
            // SAFETY: there is room for so many (the caller's promise), and no C program has the record.
            unsafe { ptr::copy_nonoverlapping(self.record.as_ptr(), buffer, *length) };
        }
        Ok(())
    }

    fn arm(&mut self) -> Done<bool> {
        let is_ready = either!(&mut self.end, end => end.arm())?;
        if self.is_kept {
            // A look disarms it.
            either!(&mut self.end, end => _ = end.receiver());
        }
        Ok(is_ready || self.is_kept)
    }
}

/// Receives the next record to `buffer`, if one is there, and stores its length at `*length`. Never waits. A
/// subscriber that has lost records continues with one that is there: `annulus_bytes_subscriber_lagged` says
/// how many it lost.
///
/// `size` is how many bytes there are at `buffer`. A buffer of `annulus_bytes_subscriber_max_len` bytes takes
/// every record. With a `size` of 0, `buffer` may be null: so this says how long the next record is. The
/// thread that uses the subscriber may call this.
///
/// Returns `ANNULUS_TOO_SMALL` if the record is longer than `size`: then `*length` is its length, and it is
/// the next one still, and can't be lost any more. `ANNULUS_EMPTY`; `ANNULUS_CLOSED` if the ring is closed
/// and every record was received; `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*length` is 0. With any
/// but `ANNULUS_OK`, `buffer` is as it was.
///
/// # Safety
///
/// `subscriber` is null, or a handle that this library made, whether it was freed or not; no other thread
/// uses it. `buffer` is null, or `size` bytes may be written there. `length` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscriber_try_recv(
    subscriber: *mut annulus_bytes_subscriber,
    buffer: *mut c_void,
    size: usize,
    length: *mut usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        object::<BytesSubscriber>(subscriber)?.recv(buffer.cast(), size, length, Patience::None)
    })
}

/// As `annulus_bytes_subscriber_try_recv`, but waits while no record is there, in the way of the options.
///
/// Returns `ANNULUS_CLOSED` if the ring is closed and every record was received, also while this waited; or
/// as `annulus_bytes_subscriber_try_recv`.
///
/// # Safety
///
/// As for `annulus_bytes_subscriber_try_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscriber_recv(
    subscriber: *mut annulus_bytes_subscriber,
    buffer: *mut c_void,
    size: usize,
    length: *mut usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        object::<BytesSubscriber>(subscriber)?.recv(buffer.cast(), size, length, Patience::Endless)
    })
}

/// As `annulus_bytes_subscriber_recv`, but gives up after `timeout_ns` nanoseconds on the monotonic clock.
/// With 0 it still receives a record that is there.
///
/// Returns `ANNULUS_TIMEOUT` if none came in time; or as `annulus_bytes_subscriber_recv`.
///
/// # Safety
///
/// As for `annulus_bytes_subscriber_try_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscriber_recv_timeout(
    subscriber: *mut annulus_bytes_subscriber,
    buffer: *mut c_void,
    size: usize,
    length: *mut usize,
    timeout_ns: u64,
) -> annulus_status {
    let patience = Patience::of_ns(timeout_ns);
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<BytesSubscriber>(subscriber)?.recv(buffer.cast(), size, length, patience) })
}

/// How many records this subscriber has lost, exactly, since it joined: what it received, what it lost, and a
/// record that was too long for the buffer, are all that was published up to where it is. 0 if `subscriber`
/// is no handle.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// `subscriber` is null, or a handle that this library made, whether it was freed or not; no other thread
/// uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscriber_lagged(subscriber: *const annulus_bytes_subscriber) -> u64 {
    guarded_or(0, || {
        // SAFETY: the caller's promise.
        let subscriber = unsafe { object::<BytesSubscriber>(subscriber) }?;
        Ok(either!(&subscriber.end, end => end.look().total_lagged()))
    })
}

/// How many records this subscriber has received since it joined. 0 if `subscriber` is no handle.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// As for `annulus_bytes_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscriber_received(
    subscriber: *const annulus_bytes_subscriber,
) -> u64 {
    guarded_or(0, || {
        // SAFETY: the caller's promise.
        let subscriber = unsafe { object::<BytesSubscriber>(subscriber) }?;
        let received = either!(&subscriber.end, end => end.look().total_received());
        Ok(received - u64::from(subscriber.is_kept))
    })
}

/// How many records are there for this subscriber. It may have changed when this returns. 0 if `subscriber`
/// is no handle.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// As for `annulus_bytes_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscriber_len(subscriber: *const annulus_bytes_subscriber) -> usize {
    guarded_or(0, || {
        // SAFETY: the caller's promise.
        let subscriber = unsafe { object::<BytesSubscriber>(subscriber) }?;
        Ok(either!(&subscriber.end, end => end.look().len()) + usize::from(subscriber.is_kept))
    })
}

/// The length of the longest record that the ring takes, in bytes: half its capacity. 0 if `subscriber` is no
/// handle.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// As for `annulus_bytes_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscriber_max_len(
    subscriber: *const annulus_bytes_subscriber,
) -> usize {
    guarded_or(0, || {
        // SAFETY: the caller's promise.
        let subscriber = unsafe { object::<BytesSubscriber>(subscriber) }?;
        Ok(either!(&subscriber.end, end => end.look().max_len()))
    })
}

/// A file descriptor for `poll`, `epoll` or `io_uring`, as `annulus_consumer_fd`;
/// `annulus_bytes_subscriber_arm` arms it.
///
/// The thread that uses the subscriber may call this. Returns `ANNULUS_SYSTEM`, `ANNULUS_UNSUPPORTED`,
/// `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*fd` is -1.
///
/// # Safety
///
/// As for `annulus_bytes_subscriber_lagged`. `fd` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscriber_fd(
    subscriber: *mut annulus_bytes_subscriber,
    fd: *mut c_int,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let fd = unsafe { place(fd) }?.write(-1);
        // SAFETY: the caller's promise.
        *fd = either!(&mut unsafe { object::<BytesSubscriber>(subscriber) }?.end, end => end.fd())?;
        Ok(())
    })
}

/// Arms the descriptor of `annulus_bytes_subscriber_fd`, before each wait for it, as `annulus_consumer_arm`.
/// `*ready` says whether a record, or the end, is there already. If so, the descriptor is not armed: receive
/// first. A receive disarms it.
///
/// The thread that uses the subscriber may call this. Returns `ANNULUS_INVALID` (there is no descriptor yet),
/// `ANNULUS_NOT_A_HANDLE`. Then `*ready` is true.
///
/// # Safety
///
/// As for `annulus_bytes_subscriber_lagged`. `ready` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscriber_arm(
    subscriber: *mut annulus_bytes_subscriber,
    ready: *mut bool,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let ready = unsafe { place(ready) }?.write(true);
        // SAFETY: the caller's promise.
        *ready = unsafe { object::<BytesSubscriber>(subscriber) }?.arm()?;
        Ok(())
    })
}

/// Whether the ring is closed. There may be records left. True if `subscriber` is no handle.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// As for `annulus_bytes_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscriber_is_closed(
    subscriber: *const annulus_bytes_subscriber,
) -> bool {
    // SAFETY: the caller's promise.
    guarded_or(true, || Ok(unsafe { object::<BytesSubscriber>(subscriber) }?.ring.is_closed()))
}

/// As `annulus_bytes_publisher_stats`, of the ring of this subscriber.
///
/// # Safety
///
/// As for `annulus_bytes_subscriber_lagged`. `stats` is null, or so many bytes as its `size` says may be
/// read and written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscriber_stats(
    subscriber: *const annulus_bytes_subscriber,
    stats: *mut annulus_stats,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        annulus_stats::store(stats, || Ok(object::<BytesSubscriber>(subscriber)?.ring.clone()))
    })
}

/// Frees the subscriber. Its descriptor is closed. Null is no error, and has no effect.
///
/// The thread that uses the subscriber may call this. Returns `ANNULUS_NOT_A_HANDLE` if it was freed before,
/// or is a handle of another type.
///
/// # Safety
///
/// As for `annulus_bytes_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_subscriber_free(
    subscriber: *mut annulus_bytes_subscriber,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<BytesSubscriber>(subscriber) }.map(drop))
}
