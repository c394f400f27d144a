//! [`annulus_closer`]: ends a ring from any thread.

use annulus::Closer;

use crate::consumer::{Consumer, annulus_consumer};
use crate::handle::{Handle, handle, handle_place, object, shared_object, take};
use crate::producer::{Producer, annulus_producer};
use crate::status::{annulus_status, guarded};
use crate::tsan;

/// What closes a ring from any thread, at any time. It does not keep the ring, nor its memory.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_closer {
    _opaque: [u8; 0],
}

handle!(annulus_closer = 3: Closer);

/// Makes a closer for the queue of this producer, which the caller owns.
///
/// The thread that uses the producer may call this. Returns `ANNULUS_INVALID` or `ANNULUS_NOT_A_HANDLE`. Then
/// `*closer` is null.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `closer` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_closer(
    producer: *const annulus_producer,
    closer: *mut *mut annulus_closer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let closer = unsafe { handle_place(closer) }?;
        // SAFETY: the caller's promise.
        *closer = unsafe { object::<Producer>(producer) }?.ring.closer.clone().hand_out();
        Ok(())
    })
}

/// As `annulus_producer_closer`, for the queue of this consumer.
///
/// # Safety
///
/// As for `annulus_producer_closer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_closer(
    consumer: *const annulus_consumer,
    closer: *mut *mut annulus_closer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let closer = unsafe { handle_place(closer) }?;
        // SAFETY: the caller's promise.
        *closer = unsafe { object::<Consumer>(consumer) }?.ring.closer.clone().hand_out();
        Ok(())
    })
}

/// Closes the ring, and wakes all threads that wait. No effect on a ring that is closed, or gone.
///
/// Any thread may call this, several at once, too, until the closer is freed. Returns `ANNULUS_INVALID` or
/// `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// `closer` is null, or a handle that this library made, whether it was freed or not; no other thread frees
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_closer_close(closer: *const annulus_closer) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let closer = unsafe { shared_object::<Closer>(closer) }?;
        tsan::before_end();
        closer.close();
        Ok(())
    })
}

/// Frees the closer; the ring stays as it is. Null is no error, and has no effect.
///
/// One thread may call this, when no other one uses the closer any more. Returns `ANNULUS_NOT_A_HANDLE` if it
/// was freed before, or is a handle of another type.
///
/// # Safety
///
/// As for `annulus_closer_close`; no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_closer_free(closer: *mut annulus_closer) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<Closer>(closer) }.map(drop))
}
