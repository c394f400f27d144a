//! Asks whether the processes on the other side of a ring are there.

use crate::consumer::{Consumer, annulus_consumer};
use crate::handle::{object, place};
use crate::producer::{Producer, annulus_producer};
use crate::ring::annulus_peer;
use crate::status::{annulus_status, guarded};
use crate::subscriber::{Subscriber, annulus_subscriber};

/// Stores whether the process of the consumer is there. Some system calls.
///
/// The thread that uses the producer may call this. Returns `ANNULUS_UNSUPPORTED` for a queue within one
/// process; `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*peer` is as it was.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `peer` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_producer_peer(
    producer: *const annulus_producer,
    peer: *mut annulus_peer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let found = unsafe { object::<Producer>(producer) }?.ring.peer()?;
        // SAFETY: the caller's promise.
        unsafe { place(peer) }?.write(found);
        Ok(())
    })
}

/// As `annulus_producer_peer`: whether the process of the producer is there, or one of several. Of several,
/// `ANNULUS_PEER_DEAD` says that none is there, and at least one has ended without leaving.
///
/// # Safety
///
/// As for `annulus_producer_peer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_peer(
    consumer: *const annulus_consumer,
    peer: *mut annulus_peer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let found = unsafe { object::<Consumer>(consumer) }?.ring.peer()?;
        // SAFETY: the caller's promise.
        unsafe { place(peer) }?.write(found);
        Ok(())
    })
}

/// As `annulus_producer_peer`: whether the process of the publisher is there, or one of several. (A publisher
/// does not know its subscribers.)
///
/// # Safety
///
/// As for `annulus_producer_peer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_peer(
    subscriber: *const annulus_subscriber,
    peer: *mut annulus_peer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let found = unsafe { object::<Subscriber>(subscriber) }?.ring.peer()?;
        // SAFETY: the caller's promise.
        unsafe { place(peer) }?.write(found);
        Ok(())
    })
}
