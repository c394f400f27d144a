//! [`annulus_subscriber`]: the receiving verbs of broadcast rings.

use core::ffi::{c_int, c_void};
use core::time::Duration;

use crate::handle::{handle, object, place, take_unless};
use crate::options::Patience;
use crate::ring::Ring;
use crate::status::annulus_status::{self, ANNULUS_VIEWED};
use crate::status::{Done, guarded, guarded_or};
use crate::typed::Get;

/// A receiving end of a broadcast ring. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_subscriber {
    _opaque: [u8; 0],
}

handle!(annulus_subscriber = 6: Subscriber);

pub(crate) struct Subscriber {
    pub(crate) end: Box<dyn Get>,
    pub(crate) ring: Ring,
    /// Whether a view has it.
    pub(crate) is_lent: bool,
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        // Publishers that wait for it have room.
        self.ring.order.before_advance();
    }
}

impl Subscriber {
    /// # Safety
    ///
    /// There is room for so many bytes at `message` as `size` says.
    pub(crate) unsafe fn recv(&mut self, message: *mut u8, size: usize, patience: Patience) -> Done {
        self.ring.takes(message, size)?;
        if self.is_lent {
            return Err(ANNULUS_VIEWED);
        }
        self.ring.order.before_advance();
        // SAFETY: the caller's promise, and `size` is the size of a message.
        let result = unsafe { self.end.get(message, patience) };
        self.ring.order.after_receive();
        result.map_err(|status| self.ring.told(status))
    }
}

/// Receives the next message to `message`, if one is there. Never waits. A subscriber of a lossy ring that
/// has lost messages continues with one that is there: `annulus_subscriber_lagged` says how many it lost.
///
/// `size` is how many bytes there are at `message`, and has to be the size of a message of the ring. The
/// thread that uses the subscriber may call this.
///
/// Returns `ANNULUS_EMPTY`; `ANNULUS_CLOSED` if the ring is closed and every message was received;
/// `ANNULUS_VIEWED` while it has a view; or `ANNULUS_INVALID`, `ANNULUS_WRONG_SIZE`, `ANNULUS_NOT_A_HANDLE`.
/// Then `message` is as it was. Between processes also `ANNULUS_PEER_DIED`, and `ANNULUS_CORRUPT`, if the
/// schema has a `bool`, an enum, a text or the like; then the bytes of `message` mean nothing.
///
/// # Safety
///
/// `subscriber` is null, or a handle that this library made, whether it was freed or not; no other thread
/// uses it. `message` is null, or `size` bytes may be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_try_recv(
    subscriber: *mut annulus_subscriber,
    message: *mut c_void,
    size: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Subscriber>(subscriber)?.recv(message.cast(), size, Patience::None) })
}

/// As `annulus_subscriber_try_recv`, but waits while no message is there, in the way of the options.
///
/// Returns `ANNULUS_CLOSED` if the ring is closed and every message was received, also while this waited; or
/// as `annulus_subscriber_try_recv`.
///
/// # Safety
///
/// As for `annulus_subscriber_try_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_recv(
    subscriber: *mut annulus_subscriber,
    message: *mut c_void,
    size: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Subscriber>(subscriber)?.recv(message.cast(), size, Patience::Endless) })
}

/// As `annulus_subscriber_recv`, but gives up after `timeout_ns` nanoseconds on the monotonic clock. With 0
/// it still receives a message that is there.
///
/// Returns `ANNULUS_TIMEOUT` if none came in time; or as `annulus_subscriber_recv`.
///
/// # Safety
///
/// As for `annulus_subscriber_try_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_recv_timeout(
    subscriber: *mut annulus_subscriber,
    message: *mut c_void,
    size: usize,
    timeout_ns: u64,
) -> annulus_status {
    let patience = Patience::of_ns(timeout_ns);
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Subscriber>(subscriber)?.recv(message.cast(), size, patience) })
}

/// How many messages this subscriber has lost, exactly, since it joined: what it received, what it lost, and
/// what was corrupt are all that was published up to where it is. Always 0 on a lossless ring; 0 if
/// `subscriber` is no handle.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// `subscriber` is null, or a handle that this library made, whether it was freed or not; no other thread
/// uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_lagged(subscriber: *const annulus_subscriber) -> u64 {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Subscriber>(subscriber) }?.end.counts().lagged))
}

/// How many times a receive has returned `ANNULUS_CORRUPT`, since it joined. 0 if `subscriber` is no handle.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// As for `annulus_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_corrupt(subscriber: *const annulus_subscriber) -> u64 {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Subscriber>(subscriber) }?.end.counts().corrupt))
}

/// How many messages this subscriber has received since it joined. 0 if `subscriber` is no handle.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// As for `annulus_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_received(subscriber: *const annulus_subscriber) -> u64 {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Subscriber>(subscriber) }?.end.counts().received))
}

/// How many messages are there for this subscriber. It may have changed when this returns. 0 if `subscriber`
/// is no handle.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// As for `annulus_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_len(subscriber: *const annulus_subscriber) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Subscriber>(subscriber) }?.end.counts().pending))
}

/// History: begins with the last `count` messages that were published, or with as many as there are: `*there`
/// says how many. For a subscriber that has just joined with the oldest message (`from_oldest`). What it
/// leaves out counts neither as received nor as lost. Never waits.
///
/// The thread that uses the subscriber may call this. Returns `ANNULUS_VIEWED` while it has a view;
/// `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*there` is 0.
///
/// # Safety
///
/// As for `annulus_subscriber_lagged`. `there` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_begin_with_last(
    subscriber: *mut annulus_subscriber,
    count: usize,
    there: *mut usize,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let there = unsafe { place(there) }?.write(0);
        // SAFETY: the caller's promise.
        let subscriber = unsafe { object::<Subscriber>(subscriber) }?;
        if subscriber.is_lent {
            return Err(ANNULUS_VIEWED);
        }
        *there = subscriber.end.begin_with_last(count)?;
        Ok(())
    })
}

/// The number of the next message that this subscriber looks at. A ring begins with 0, or goes on with the
/// numbers of a name (`numbering`): then a number stands for one message for ever. 0 if `subscriber` is no
/// handle.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// As for `annulus_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_cursor(subscriber: *const annulus_subscriber) -> u64 {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Subscriber>(subscriber) }?.end.counts().next))
}

/// After how many nanoseconds of silence the publisher is overdue: what it has promised, or the `deadline_ns`
/// by which this process has joined. 0 if neither is there, in one process, or if `subscriber` is no handle.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// As for `annulus_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_deadline(subscriber: *const annulus_subscriber) -> u64 {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(in_ns(unsafe { object::<Subscriber>(subscriber) }?.end.deadline())))
}

/// For how many nanoseconds the publisher has been silent, if that is as long as the deadline or longer,
/// nothing waits to be received, and its process is there: so it hangs. Of several, none has published.
/// Otherwise, or if `subscriber` is no handle, 0.
///
/// The silence counts from the first wait, or the first call of this, that has found nothing since the last
/// message. So a program that waits by the deadline (`annulus_subscriber_recv_timeout`, or the descriptor),
/// and asks when that was in vain, is told at once.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// As for `annulus_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_overdue(subscriber: *mut annulus_subscriber) -> u64 {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(in_ns(unsafe { object::<Subscriber>(subscriber) }?.end.overdue())))
}

fn in_ns(time: Option<Duration>) -> u64 {
    time.map_or(0, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// A file descriptor for `poll`, `epoll` or `io_uring`, as `annulus_consumer_fd`; `annulus_subscriber_arm`
/// arms it.
///
/// The thread that uses the subscriber may call this. Returns `ANNULUS_SYSTEM`, `ANNULUS_UNSUPPORTED`,
/// `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*fd` is -1.
///
/// # Safety
///
/// As for `annulus_subscriber_lagged`. `fd` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_fd(
    subscriber: *mut annulus_subscriber,
    fd: *mut c_int,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let fd = unsafe { place(fd) }?.write(-1);
        // SAFETY: the caller's promise.
        *fd = unsafe { object::<Subscriber>(subscriber) }?.end.fd()?;
        Ok(())
    })
}

/// Arms the descriptor of `annulus_subscriber_fd`, before each wait for it, as `annulus_consumer_arm`.
/// `*ready` says whether a message, or the end, is there already. If so, the descriptor is not armed: receive
/// first. A receive disarms it.
///
/// The thread that uses the subscriber may call this. Returns `ANNULUS_INVALID` (there is no descriptor yet),
/// `ANNULUS_VIEWED`, `ANNULUS_NOT_A_HANDLE`. Then `*ready` is true.
///
/// # Safety
///
/// As for `annulus_subscriber_lagged`. `ready` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_arm(
    subscriber: *mut annulus_subscriber,
    ready: *mut bool,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let ready = unsafe { place(ready) }?.write(true);
        // SAFETY: the caller's promise.
        let subscriber = unsafe { object::<Subscriber>(subscriber) }?;
        *ready = if subscriber.is_lent { Err(ANNULUS_VIEWED) } else { subscriber.end.arm() }?;
        Ok(())
    })
}

/// Whether the ring is closed. There may be messages left. True if `subscriber` is no handle.
///
/// The thread that uses the subscriber may call this.
///
/// # Safety
///
/// As for `annulus_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_is_closed(subscriber: *const annulus_subscriber) -> bool {
    // SAFETY: the caller's promise.
    guarded_or(true, || Ok(unsafe { object::<Subscriber>(subscriber) }?.ring.is_closed()))
}

/// Frees the subscriber: publishers of a lossless ring wait for it no longer. Its descriptor is closed. Null
/// is no error, and has no effect.
///
/// The thread that uses the subscriber may call this. Returns `ANNULUS_NOT_A_HANDLE` if it was freed before,
/// or is a handle of another type, `ANNULUS_VIEWED` if it has a view: then nothing is freed.
///
/// # Safety
///
/// As for `annulus_subscriber_lagged`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_free(subscriber: *mut annulus_subscriber) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take_unless::<Subscriber>(subscriber, |subscriber| subscriber.is_lent) }.map(drop))
}
