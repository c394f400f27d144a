//! [`annulus_consumer`]: the receiving verbs of queues.

use core::ffi::{c_int, c_void};
use core::ptr;

use annulus::mpsc::Mpsc;
use annulus::spsc::Spsc;

use crate::blocks;
use crate::handle::{Handle, handle, handle_place, object, place, take_unless};
use crate::in_place::GetInPlace;
use crate::options::Patience;
use crate::ring::Ring;
use crate::status::annulus_status::{self, ANNULUS_INVALID, ANNULUS_UNSUPPORTED};
use crate::status::{Done, guarded, guarded_or};
use crate::typed::{Get, Held};

/// The receiving end of a queue. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_consumer {
    _opaque: [u8; 0],
}

handle!(annulus_consumer = 2: Consumer);

pub(crate) struct Consumer {
    pub(crate) end: ConsumerEnd,
    pub(crate) ring: Ring,
}

pub(crate) enum ConsumerEnd {
    Spsc(blocks::Consumer<Spsc>),
    Mpsc(blocks::Consumer<Mpsc>),
    /// Of a queue between processes.
    #[cfg_attr(
        not(all(target_os = "linux", target_pointer_width = "64")),
        allow(dead_code, reason = "there are none")
    )]
    Shared(Box<dyn GetInPlace>),
    Typed(Box<dyn Get>),
}

impl Consumer {
    /// # Safety
    ///
    /// There is room for so many bytes at `message` as `size` says.
    #[inline(always)]
    unsafe fn recv(&mut self, message: *mut u8, size: usize, patience: Patience) -> Done {
        self.ring.takes(message, size)?;
        self.ring.order.before_advance();
        match &mut self.end {
            // SAFETY: the caller's promise, and `size` is the size of a message.
            ConsumerEnd::Spsc(end) => unsafe { end.get(message, 1, patience) }.map(drop),
            // SAFETY: as above.
            ConsumerEnd::Mpsc(end) => unsafe { end.get(message, 1, patience) }.map(drop),
            // SAFETY: as above.
            ConsumerEnd::Shared(end) => unsafe { end.get(message, 1, patience) }.map(drop),
            // SAFETY: as above.
            ConsumerEnd::Typed(end) => unsafe { end.get(message, patience) },
        }
        .inspect(|()| self.ring.order.after_receive())
        .map_err(|status| self.ring.told(status))
    }

    /// Receives as many as are there, and returns how many. An error where it is none.
    ///
    /// # Safety
    ///
    /// There is room for `count` messages of so many bytes as `size` says at `messages`.
    unsafe fn try_recv_batch(&mut self, messages: *mut u8, count: usize, size: usize) -> Done<usize> {
        self.ring.takes(messages, size)?;
        if count == 0 {
            return Err(ANNULUS_INVALID);
        }
        self.ring.order.before_advance();
        let mut received = 0;
        while received < count {
            // SAFETY: there is room for so many bytes.
            let rest = unsafe { messages.add(received * size) };
            let result = match &mut self.end {
                // SAFETY: the caller's promise, and `size` is the size of a message.
                ConsumerEnd::Spsc(end) => unsafe { end.get(rest, count - received, Patience::None) },
                // SAFETY: as above.
                ConsumerEnd::Mpsc(end) => unsafe { end.get(rest, count - received, Patience::None) },
                // SAFETY: as above.
                ConsumerEnd::Shared(end) => unsafe { end.get(rest, count - received, Patience::None) },
                // SAFETY: as above.
                ConsumerEnd::Typed(end) => unsafe { end.get(rest, Patience::None) }.map(|()| 1),
            };
            match result {
                Ok(more) => received += more,
                Err(status) if received == 0 => return Err(self.ring.told(status)),
                Err(_) => break,
            }
        }
        self.ring.order.after_receive();
        Ok(received)
    }

    fn readable(&mut self, patience: Patience) -> Done<(*const u8, usize)> {
        match &mut self.end {
            ConsumerEnd::Spsc(end) => end.readable(patience),
            ConsumerEnd::Mpsc(end) => end.readable(patience),
            ConsumerEnd::Shared(end) => end.readable(patience),
            ConsumerEnd::Typed(_) => Err(ANNULUS_UNSUPPORTED),
        }
        .inspect(|_| self.ring.order.after_receive())
        .map_err(|status| self.ring.told(status))
    }

    fn advance(&mut self, count: usize) -> Done {
        self.ring.order.before_advance();
        match &mut self.end {
            ConsumerEnd::Spsc(end) => end.advance(count),
            ConsumerEnd::Mpsc(end) => end.advance(count),
            ConsumerEnd::Shared(end) => end.advance(count),
            ConsumerEnd::Typed(_) => Err(ANNULUS_UNSUPPORTED),
        }
    }

    /// Claims a message, and copies it out.
    ///
    /// # Safety
    ///
    /// As of [`recv`](Self::recv).
    pub(crate) unsafe fn claim(
        &mut self,
        message: *mut u8,
        size: usize,
        patience: Patience,
    ) -> Done<Box<dyn Held>> {
        self.ring.takes(message, size)?;
        match &mut self.end {
            // SAFETY: the caller's promise, and `size` is the size of a message.
            ConsumerEnd::Typed(end) => unsafe { end.claim(message, patience) },
            _ => Err(ANNULUS_UNSUPPORTED),
        }
        .inspect(|_| self.ring.order.after_receive())
        .map_err(|status| self.ring.told(status))
    }

    fn another(&self) -> Done<Self> {
        match &self.end {
            ConsumerEnd::Typed(end) => {
                Ok(Self { end: ConsumerEnd::Typed(end.another()?), ring: self.ring.clone() })
            }
            _ => Err(ANNULUS_UNSUPPORTED),
        }
    }

    fn len(&mut self) -> usize {
        match &mut self.end {
            ConsumerEnd::Spsc(end) => end.len(),
            ConsumerEnd::Mpsc(end) => end.len(),
            ConsumerEnd::Shared(end) => end.len(),
            ConsumerEnd::Typed(end) => self.ring.pending().unwrap_or_else(|| end.counts().pending),
        }
    }

    fn corrupt(&self) -> u64 {
        match &self.end {
            ConsumerEnd::Shared(end) => end.corrupt(),
            ConsumerEnd::Typed(end) => end.counts().corrupt,
            _ => 0,
        }
    }

    fn is_lent(&self) -> bool {
        matches!(&self.end, ConsumerEnd::Spsc(end) if end.is_lent())
    }

    fn stride_bytes(&self) -> usize {
        match &self.end {
            ConsumerEnd::Spsc(end) => end.stride_bytes(),
            ConsumerEnd::Mpsc(end) => end.stride_bytes(),
            ConsumerEnd::Shared(end) => end.stride_bytes(),
            ConsumerEnd::Typed(_) => 0,
        }
    }

    fn fd(&mut self) -> Done<i32> {
        match &mut self.end {
            ConsumerEnd::Spsc(end) => end.units.fd(),
            ConsumerEnd::Mpsc(end) => end.units.fd(),
            ConsumerEnd::Shared(end) => end.fd(),
            ConsumerEnd::Typed(end) => end.fd(),
        }
    }

    fn arm(&mut self) -> Done<bool> {
        match &mut self.end {
            ConsumerEnd::Spsc(end) => end.arm(),
            ConsumerEnd::Mpsc(end) => end.arm(),
            ConsumerEnd::Shared(end) => end.arm(),
            ConsumerEnd::Typed(end) => end.arm(),
        }
    }
}

/// Receives the next message to `message`, if one is there. Never waits.
///
/// `size` is how many bytes there are at `message`, and has to be the size of a message of the queue. The
/// thread that uses the consumer may call this.
///
/// Returns `ANNULUS_EMPTY`; `ANNULUS_CLOSED` if the queue is closed and every message was received;
/// `ANNULUS_VIEWED` while it has a view; or `ANNULUS_INVALID`, `ANNULUS_WRONG_SIZE`, `ANNULUS_NOT_A_HANDLE`.
/// Then `message` is as it was. Between processes also `ANNULUS_PEER_DIED`, and `ANNULUS_CORRUPT`, if the
/// schema has a `bool`, an enum, a text or the like; then the bytes of `message` mean nothing.
///
/// # Safety
///
/// `consumer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `message` is null, or `size` bytes may be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_try_recv(
    consumer: *mut annulus_consumer,
    message: *mut c_void,
    size: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Consumer>(consumer)?.recv(message.cast(), size, Patience::None) })
}

/// As `annulus_consumer_try_recv`, but waits while no message is there, in the way of the options.
///
/// Returns `ANNULUS_CLOSED` if the queue is closed and every message was received, also while this waited; or
/// as `annulus_consumer_try_recv`.
///
/// # Safety
///
/// As for `annulus_consumer_try_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_recv(
    consumer: *mut annulus_consumer,
    message: *mut c_void,
    size: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Consumer>(consumer)?.recv(message.cast(), size, Patience::Endless) })
}

/// As `annulus_consumer_recv`, but gives up after `timeout_ns` nanoseconds on the monotonic clock. With 0 it
/// still receives a message that is there.
///
/// Returns `ANNULUS_TIMEOUT` if none came in time; or as `annulus_consumer_recv`.
///
/// # Safety
///
/// As for `annulus_consumer_try_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_recv_timeout(
    consumer: *mut annulus_consumer,
    message: *mut c_void,
    size: usize,
    timeout_ns: u64,
) -> annulus_status {
    let patience = Patience::of_ns(timeout_ns);
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Consumer>(consumer)?.recv(message.cast(), size, patience) })
}

/// Receives up to `count` messages to `messages`, where they lie as in an array, each `size` bytes behind the
/// one before. Never waits. `*received` says how many they are.
///
/// The thread that uses the consumer may call this. Returns `ANNULUS_OK` if at least one was received, else
/// as `annulus_consumer_try_recv`; `ANNULUS_INVALID` also if `count` is 0. What is corrupt is passed over
/// where something else was received, and counted in any case.
///
/// # Safety
///
/// As for `annulus_consumer_try_recv`, for `count` messages. `received` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_try_recv_batch(
    consumer: *mut annulus_consumer,
    messages: *mut c_void,
    count: usize,
    size: usize,
    received: *mut usize,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let received = unsafe { place(received) }?.write(0);
        // SAFETY: the caller's promise.
        let consumer = unsafe { object::<Consumer>(consumer) }?;
        // SAFETY: the caller's promise.
        *received = unsafe { consumer.try_recv_batch(messages.cast(), count, size) }?;
        Ok(())
    })
}

/// Shows the next messages where they lie in the ring: `*messages` is the first one, and `*count` how many
/// are contiguous, at least 1. Each lies `annulus_consumer_stride` bytes behind the one before. It
/// waits for the first one for `timeout_ns` nanoseconds at most: with 0 it does not wait, `ANNULUS_FOREVER`
/// is no limit. Queues of one consumer only.
///
/// The messages stay in the queue, and may be read, until `annulus_consumer_advance` gives them back. The
/// pointer is good until then, or until the next receive. The thread that uses the consumer may call this.
///
/// Between processes the other process can write to the messages while they are read. Unless you trust it not
/// to, copy a message first, then check the copy, and use the copy. Messages with a
/// `bool`, an enum, a text or the like are not shown.
///
/// Returns `ANNULUS_TIMEOUT` (with 0: `ANNULUS_EMPTY`), `ANNULUS_CLOSED`, `ANNULUS_UNSUPPORTED` (a queue of
/// many consumers, or such messages), `ANNULUS_VIEWED`, `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Between
/// processes also `ANNULUS_PEER_DIED`. Then `*messages` is null, and `*count` is 0.
///
/// # Safety
///
/// `consumer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `messages` and `count` are null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_readable(
    consumer: *mut annulus_consumer,
    timeout_ns: u64,
    messages: *mut *const c_void,
    count: *mut usize,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let (messages, count) = unsafe { (place(messages)?.write(ptr::null()), place(count)?.write(0)) };
        // SAFETY: the caller's promise.
        let consumer = unsafe { object::<Consumer>(consumer) }?;
        let patience = if timeout_ns == 0 { Patience::None } else { Patience::of_ns(timeout_ns) };
        let (start, shown) = consumer.readable(patience)?;
        (*messages, *count) = (start.cast(), shown);
        Ok(())
    })
}

/// Takes the first `count` of the messages that `annulus_consumer_readable` showed out of the queue. Their
/// slots go back to the producer at once.
///
/// The thread that uses the consumer may call this. Returns `ANNULUS_INVALID` if fewer were shown and not
/// taken yet; `ANNULUS_VIEWED`, `ANNULUS_UNSUPPORTED`, `ANNULUS_NOT_A_HANDLE`. Then nothing is taken.
///
/// # Safety
///
/// `consumer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_advance(
    consumer: *mut annulus_consumer,
    count: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Consumer>(consumer) }?.advance(count))
}

/// Makes another consumer of the same queue, which the caller owns. Each message reaches one of them.
///
/// The thread that uses `consumer` may call this; another thread may use the new one. Returns
/// `ANNULUS_UNSUPPORTED` (a queue of one consumer), `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then
/// `*another` is null.
///
/// # Safety
///
/// `consumer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `another` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_clone(
    consumer: *const annulus_consumer,
    another: *mut *mut annulus_consumer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let another = unsafe { handle_place(another) }?;
        // SAFETY: the caller's promise.
        *another = unsafe { object::<Consumer>(consumer) }?.another()?.hand_out();
        Ok(())
    })
}

/// A file descriptor for `poll`, `epoll` or `io_uring` that becomes readable when a message comes or the
/// queue closes, once `annulus_consumer_arm` has armed it. (Linux: an eventfd.) It belongs to the consumer,
/// which closes it when it is freed: the program must neither close it nor read from it.
///
/// The thread that uses the consumer may call this. Returns `ANNULUS_SYSTEM`, `ANNULUS_UNSUPPORTED`,
/// `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*fd` is -1.
///
/// # Safety
///
/// `consumer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `fd` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_fd(
    consumer: *mut annulus_consumer,
    fd: *mut c_int,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let fd = unsafe { place(fd) }?.write(-1);
        // SAFETY: the caller's promise.
        *fd = unsafe { object::<Consumer>(consumer) }?.fd()?;
        Ok(())
    })
}

/// Arms the descriptor of `annulus_consumer_fd`, before each wait for it. `*ready` says whether a message, or
/// the end, is there already. If so, the descriptor is not armed: receive first. A receive disarms it.
///
/// The thread that uses the consumer may call this. Returns `ANNULUS_INVALID` (there is no descriptor yet),
/// `ANNULUS_VIEWED`, `ANNULUS_NOT_A_HANDLE`. Then `*ready` is true.
///
/// # Safety
///
/// `consumer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `ready` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_arm(
    consumer: *mut annulus_consumer,
    ready: *mut bool,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let ready = unsafe { place(ready) }?.write(true);
        // SAFETY: the caller's promise.
        *ready = unsafe { object::<Consumer>(consumer) }?.arm()?;
        Ok(())
    })
}

/// How many messages wait, in all rings of the queue. It may have changed when this returns. 0 if `consumer`
/// is no handle.
///
/// The thread that uses the consumer may call this.
///
/// # Safety
///
/// As for `annulus_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_len(consumer: *const annulus_consumer) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Consumer>(consumer) }?.len()))
}

/// How many messages were passed over, because another process had written what is none
/// (`ANNULUS_CORRUPT`). 0 if `consumer` is no handle.
///
/// The thread that uses the consumer may call this.
///
/// # Safety
///
/// As for `annulus_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_corrupt(consumer: *const annulus_consumer) -> u64 {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Consumer>(consumer) }?.corrupt()))
}

/// How many messages the queue holds: exactly what was asked for. 0 if `consumer` is no handle.
///
/// The thread that uses the consumer may call this.
///
/// # Safety
///
/// As for `annulus_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_capacity(consumer: *const annulus_consumer) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Consumer>(consumer) }?.ring.capacity))
}

/// From one readable message to the next, in bytes: the size, rounded up to a multiple of 8; between
/// processes the size itself. 0 if `consumer` is no handle, or its queue shows no messages.
///
/// The thread that uses the consumer may call this.
///
/// # Safety
///
/// As for `annulus_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_stride(consumer: *const annulus_consumer) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Consumer>(consumer) }?.stride_bytes()))
}

/// Closes the queue, and wakes all threads that wait. Sends fail from now on; messages that were sent before
/// can still be received. No effect on a closed queue. The handle stays, and is to be freed.
///
/// The thread that uses the consumer may call this; other threads use an `annulus_closer`. Returns
/// `ANNULUS_INVALID` or `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_close(consumer: *mut annulus_consumer) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { object::<Consumer>(consumer) }?.ring.close();
        Ok(())
    })
}

/// Whether the queue is closed. There may be messages left. True if `consumer` is no handle.
///
/// The thread that uses the consumer may call this.
///
/// # Safety
///
/// As for `annulus_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_is_closed(consumer: *const annulus_consumer) -> bool {
    // SAFETY: the caller's promise.
    guarded_or(true, || Ok(unsafe { object::<Consumer>(consumer) }?.ring.is_closed()))
}

/// Frees the consumer. With the last consumer the queue closes, sends fail, and what was not received is
/// gone. Its descriptor is closed. Null is no error, and has no effect.
///
/// The thread that uses the consumer may call this. Returns `ANNULUS_NOT_A_HANDLE` if it was freed before, or
/// is a handle of another type, `ANNULUS_VIEWED` if it has a view: then nothing is freed.
///
/// # Safety
///
/// As for `annulus_consumer_advance`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_free(consumer: *mut annulus_consumer) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take_unless(consumer, Consumer::is_lent) }.map(drop))
}
