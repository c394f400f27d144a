//! [`annulus_producer`]: the sending verbs of queues.

use core::ptr;

use annulus::mpsc::Mpsc;
use annulus::spsc::Spsc;

use crate::blocks;
use crate::handle::{Handle, handle, handle_place, object, place, take_unless};
use crate::in_place::PutInPlace;
use crate::options::Patience;
use crate::ring::Ring;
use crate::status::annulus_status::{self, ANNULUS_INVALID, ANNULUS_UNSUPPORTED};
use crate::status::{Done, guarded, guarded_or, of_register};
use crate::typed::Put;

/// The sending end of a queue. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_producer {
    _opaque: [u8; 0],
}

handle!(annulus_producer = 1: Producer);

pub(crate) struct Producer {
    pub(crate) end: ProducerEnd,
    pub(crate) ring: Ring,
}

pub(crate) enum ProducerEnd {
    Spsc(blocks::Producer<Spsc>),
    Mpsc(blocks::Producer<Mpsc>),
    /// Of a queue between processes.
    #[cfg_attr(
        not(all(target_os = "linux", target_pointer_width = "64")),
        allow(dead_code, reason = "there are none")
    )]
    Shared(Box<dyn PutInPlace>),
    Typed(Box<dyn Put>),
}

impl Producer {
    /// # Safety
    ///
    /// So many bytes lie at `message` as `size` says.
    #[inline(always)]
    unsafe fn send(&mut self, message: *const u8, size: usize, patience: Patience) -> Done {
        self.ring.takes(message, size)?;
        self.ring.order.before_send();
        match &mut self.end {
            // SAFETY: the caller's promise, and `size` is the size of a message.
            ProducerEnd::Spsc(end) => unsafe { end.put(message, 1, patience) }.map(drop),
            // SAFETY: as above.
            ProducerEnd::Mpsc(end) => unsafe { end.put(message, 1, patience) }.map(drop),
            // SAFETY: as above.
            ProducerEnd::Shared(end) => unsafe { end.put(message, 1, patience) }.map(drop),
            // SAFETY: as above.
            ProducerEnd::Typed(end) => unsafe { end.put(message, patience) },
        }
        .inspect(|()| self.ring.order.after_room())
        .map_err(|status| self.ring.told(status))
    }

    /// Sends as many as there is room for, and returns how many. An error where it is none.
    ///
    /// # Safety
    ///
    /// `count` messages of so many bytes as `size` says lie at `messages`.
    unsafe fn try_send_batch(&mut self, messages: *const u8, count: usize, size: usize) -> Done<usize> {
        self.ring.takes(messages, size)?;
        if count == 0 {
            return Err(ANNULUS_INVALID);
        }
        self.ring.order.before_send();
        let mut sent = 0;
        while sent < count {
            // SAFETY: so many bytes are there.
            let rest = unsafe { messages.add(sent * size) };
            let result = match &mut self.end {
                // SAFETY: the caller's promise, and `size` is the size of a message.
                ProducerEnd::Spsc(end) => unsafe { end.put(rest, count - sent, Patience::None) },
                // SAFETY: as above.
                ProducerEnd::Mpsc(end) => unsafe { end.put(rest, count - sent, Patience::None) },
                // SAFETY: as above.
                ProducerEnd::Shared(end) => unsafe { end.put(rest, count - sent, Patience::None) },
                // SAFETY: as above.
                ProducerEnd::Typed(end) => unsafe { end.put(rest, Patience::None) }.map(|()| 1),
            };
            match result {
                Ok(more) => sent += more,
                Err(status) if sent == 0 => return Err(self.ring.told(status)),
                Err(_) => break,
            }
        }
        self.ring.order.after_room();
        Ok(sent)
    }

    fn reserve(&mut self, most: usize, patience: Patience) -> Done<(*mut u8, usize)> {
        match &mut self.end {
            ProducerEnd::Spsc(end) => end.reserve(most, patience),
            ProducerEnd::Mpsc(end) => end.reserve(most, patience),
            ProducerEnd::Shared(end) => end.reserve(most, patience),
            ProducerEnd::Typed(_) => Err(ANNULUS_UNSUPPORTED),
        }
        .inspect(|_| self.ring.order.after_room())
        .map_err(|status| self.ring.told(status))
    }

    fn commit(&mut self, count: usize) -> Done {
        self.ring.order.before_send();
        match &mut self.end {
            ProducerEnd::Spsc(end) => end.commit(count),
            ProducerEnd::Mpsc(end) => end.commit(count),
            ProducerEnd::Shared(end) => end.commit(count),
            ProducerEnd::Typed(_) => Err(ANNULUS_UNSUPPORTED),
        }
        .map_err(|status| self.ring.told(status))
    }

    fn another(&self) -> Done<Self> {
        let end = match &self.end {
            ProducerEnd::Spsc(_) | ProducerEnd::Shared(_) => return Err(ANNULUS_UNSUPPORTED),
            ProducerEnd::Mpsc(end) => {
                ProducerEnd::Mpsc(end.joined_by(end.units.register().map_err(of_register)?))
            }
            ProducerEnd::Typed(end) => ProducerEnd::Typed(end.another()?),
        };
        Ok(Self { end, ring: self.ring.clone() })
    }

    fn len(&self) -> usize {
        let len = match &self.end {
            ProducerEnd::Spsc(end) => end.len(),
            ProducerEnd::Mpsc(end) => end.len(),
            ProducerEnd::Shared(end) => end.len(),
            // Of several consumers one may have claimed what it has not received yet.
            ProducerEnd::Typed(end) => return self.ring.pending().unwrap_or_else(|| end.len()),
        };
        // What is there no more was received.
        self.ring.order.after_room();
        len
    }

    fn is_lent(&self) -> bool {
        matches!(&self.end, ProducerEnd::Spsc(end) if end.is_lent())
    }

    fn stride_bytes(&self) -> usize {
        match &self.end {
            ProducerEnd::Spsc(end) => end.stride_bytes(),
            ProducerEnd::Mpsc(end) => end.stride_bytes(),
            ProducerEnd::Shared(end) => end.stride_bytes(),
            ProducerEnd::Typed(_) => 0,
        }
    }
}

/// Stores what a reservation has come to.
///
/// # Safety
///
/// Each pointer is null, or may be written to; `find` finds the producer.
unsafe fn store_slots(
    slots: *mut *mut core::ffi::c_void,
    count: *mut usize,
    find: impl FnOnce() -> Done<(*mut u8, usize)>,
) -> Done {
    // SAFETY: the caller's promise.
    let (slots, count) = unsafe { (place(slots)?.write(ptr::null_mut()), place(count)?.write(0)) };
    let (start, reserved) = find()?;
    (*slots, *count) = (start.cast(), reserved);
    Ok(())
}

/// Sends a copy of the message at `message`, if there is room. Never waits.
///
/// `size` is the size of the message, and has to be the one of the queue. The queue has a copy afterwards;
/// the caller keeps its own. The thread that uses the producer may call this.
///
/// Returns `ANNULUS_FULL`; `ANNULUS_CLOSED`; `ANNULUS_RESERVED` while a reservation is open; `ANNULUS_VIEWED`
/// while it has a view; or `ANNULUS_INVALID`, `ANNULUS_WRONG_SIZE`, `ANNULUS_NOT_A_HANDLE`. Between processes
/// also `ANNULUS_PEER_DIED`.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `message` is null, or `size` bytes lie there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_try_send(
    producer: *mut annulus_producer,
    message: *const core::ffi::c_void,
    size: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Producer>(producer)?.send(message.cast(), size, Patience::None) })
}

/// As `annulus_producer_try_send`, but waits while there is no room, in the way of the options.
///
/// Returns `ANNULUS_CLOSED` if the queue is closed, or was closed while this waited; or as
/// `annulus_producer_try_send`.
///
/// # Safety
///
/// As for `annulus_producer_try_send`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_send(
    producer: *mut annulus_producer,
    message: *const core::ffi::c_void,
    size: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Producer>(producer)?.send(message.cast(), size, Patience::Endless) })
}

/// As `annulus_producer_send`, but gives up after `timeout_ns` nanoseconds on the monotonic clock. With 0 it
/// still sends if there is room.
///
/// Returns `ANNULUS_TIMEOUT` if no room came in time; or as `annulus_producer_send`.
///
/// # Safety
///
/// As for `annulus_producer_try_send`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_send_timeout(
    producer: *mut annulus_producer,
    message: *const core::ffi::c_void,
    size: usize,
    timeout_ns: u64,
) -> annulus_status {
    let patience = Patience::of_ns(timeout_ns);
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Producer>(producer)?.send(message.cast(), size, patience) })
}

/// Sends copies of as many of the `count` messages at `messages` as there is room for, from the first on.
/// They lie as in an array, each `size` bytes behind the one before. Never waits. `*sent` says how many were
/// sent.
///
/// The thread that uses the producer may call this. Returns `ANNULUS_OK` if at least one was sent, else as
/// `annulus_producer_try_send`; `ANNULUS_INVALID` also if `count` is 0.
///
/// # Safety
///
/// As for `annulus_producer_try_send`, for `count` messages. `sent` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_try_send_batch(
    producer: *mut annulus_producer,
    messages: *const core::ffi::c_void,
    count: usize,
    size: usize,
    sent: *mut usize,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let sent = unsafe { place(sent) }?.write(0);
        // SAFETY: the caller's promise.
        let producer = unsafe { object::<Producer>(producer) }?;
        // SAFETY: the caller's promise.
        *sent = unsafe { producer.try_send_batch(messages.cast(), count, size) }?;
        Ok(())
    })
}

/// Reserves up to `most` messages in the ring, to be written there: `*slots` is the first one, and `*count`
/// how many there are, at least 1. There are fewer if fewer are free, or if the end of the ring comes first.
/// Each lies `annulus_producer_stride` bytes behind the one before, which is the size rounded up to a
/// multiple of 8; the first one is aligned for each type of that size. Never waits. Queues of one consumer
/// only.
///
/// The slots are the caller's until it commits; nothing is sent before. `annulus_producer_commit` ends the
/// reservation. Until then, sends fail. The thread that uses the producer may call this.
///
/// Between processes the other process can write to the slots meanwhile. So unless you trust it not to, write
/// there only, and do not rely on what you read back.
///
/// Returns `ANNULUS_FULL`, `ANNULUS_CLOSED`, `ANNULUS_RESERVED` (there is one already), `ANNULUS_VIEWED`,
/// `ANNULUS_INVALID` (also if `most` is 0), `ANNULUS_UNSUPPORTED` (a queue of many consumers),
/// `ANNULUS_NOT_A_HANDLE`. Between processes also `ANNULUS_PEER_DIED`. Then `*slots` is null, and `*count` is
/// 0.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `slots` and `count` are null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_try_reserve(
    producer: *mut annulus_producer,
    most: usize,
    slots: *mut *mut core::ffi::c_void,
    count: *mut usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe {
        store_slots(slots, count, || object::<Producer>(producer)?.reserve(most, Patience::None))
    })
}

/// As `annulus_producer_try_reserve`, but waits while no slot is free, for `timeout_ns` nanoseconds at most;
/// `ANNULUS_FOREVER` is no limit. It waits for one slot, not for `most` of them.
///
/// Returns `ANNULUS_TIMEOUT` if no slot became free in time; or as `annulus_producer_try_reserve`.
///
/// # Safety
///
/// As for `annulus_producer_try_reserve`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_reserve(
    producer: *mut annulus_producer,
    most: usize,
    timeout_ns: u64,
    slots: *mut *mut core::ffi::c_void,
    count: *mut usize,
) -> annulus_status {
    let patience = Patience::of_ns(timeout_ns);
    // SAFETY: the caller's promise.
    guarded(|| unsafe { store_slots(slots, count, || object::<Producer>(producer)?.reserve(most, patience)) })
}

/// Sends the first `count` messages of the reservation, all at once, and ends it. The others are not sent.
/// With 0 it sends nothing. The slots are no longer the caller's.
///
/// The thread that uses the producer may call this. Returns `ANNULUS_INVALID` if fewer are reserved (the
/// reservation stays); `ANNULUS_CLOSED` (between processes also `ANNULUS_PEER_DIED`), and nothing is sent;
/// `ANNULUS_VIEWED`, `ANNULUS_UNSUPPORTED`, `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_commit(
    producer: *mut annulus_producer,
    count: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<Producer>(producer) }?.commit(count))
}

/// Makes another producer of the same queue, which the caller owns. In a queue with a ring for each producer
/// it takes over the ring of one that was freed, or has a new one.
///
/// The thread that uses `producer` may call this; another thread may use the new one. Returns
/// `ANNULUS_UNSUPPORTED` (a queue of one producer), `ANNULUS_CLOSED`, `ANNULUS_NO_MEMORY`, `ANNULUS_INVALID`,
/// `ANNULUS_NOT_A_HANDLE`. Then `*another` is null.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `another` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_clone(
    producer: *const annulus_producer,
    another: *mut *mut annulus_producer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let another = unsafe { handle_place(another) }?;
        // SAFETY: the caller's promise.
        *another = unsafe { object::<Producer>(producer) }?.another()?.hand_out();
        Ok(())
    })
}

/// How many messages wait: of a queue with a ring for each producer, in this one's ring (in all of them, if
/// there are many consumers). It may have changed when this returns. 0 if `producer` is no handle.
///
/// The thread that uses the producer may call this.
///
/// # Safety
///
/// As for `annulus_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_len(producer: *const annulus_producer) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Producer>(producer) }?.len()))
}

/// How many messages the queue holds: exactly what was asked for. 0 if `producer` is no handle.
///
/// The thread that uses the producer may call this.
///
/// # Safety
///
/// As for `annulus_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_capacity(producer: *const annulus_producer) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Producer>(producer) }?.ring.capacity))
}

/// From one reserved message to the next, in bytes: the size, rounded up to a multiple of 8; between
/// processes the size itself. 0 if `producer` is no handle, or its queue has no reservations.
///
/// The thread that uses the producer may call this.
///
/// # Safety
///
/// As for `annulus_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_stride(producer: *const annulus_producer) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Producer>(producer) }?.stride_bytes()))
}

/// Closes the queue for all its producers, and wakes all threads that wait. Consumers receive what was sent
/// before, and then `ANNULUS_CLOSED`. No effect on a closed queue. The handle stays, and is to be freed.
///
/// The thread that uses the producer may call this; other threads use an `annulus_closer`. Returns
/// `ANNULUS_INVALID` or `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_close(producer: *mut annulus_producer) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { object::<Producer>(producer) }?.ring.close();
        Ok(())
    })
}

/// Whether the queue is closed: every send fails from now on. True if `producer` is no handle.
///
/// The thread that uses the producer may call this.
///
/// # Safety
///
/// As for `annulus_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_is_closed(producer: *const annulus_producer) -> bool {
    // SAFETY: the caller's promise.
    guarded_or(true, || Ok(unsafe { object::<Producer>(producer) }?.ring.is_closed()))
}

/// Frees the producer. With the last producer the queue closes; consumers receive what was sent before. A
/// reservation ends, and nothing of it is sent. Null is no error, and has no effect.
///
/// The thread that uses the producer may call this. Returns `ANNULUS_NOT_A_HANDLE` if it was freed before, or
/// is a handle of another type, `ANNULUS_VIEWED` if it has a view: then nothing is freed.
///
/// # Safety
///
/// As for `annulus_producer_commit`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_free(producer: *mut annulus_producer) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take_unless(producer, Producer::is_lent) }.map(drop))
}
