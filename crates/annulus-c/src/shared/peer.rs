//! [`annulus_peer`]: whether the processes on the other side of a ring are there.

use crate::consumer::{Consumer, annulus_consumer};
use crate::handle::{object, place};
use crate::producer::{Producer, annulus_producer};
use crate::ring::Ring;
use crate::status::annulus_status::{self, ANNULUS_UNSUPPORTED};
use crate::status::{Done, guarded};
use crate::subscriber::{Subscriber, annulus_subscriber};

/// Whether the process on the other side of a ring is there, or one of several. The kernel tells it, by a
/// lock that ends with the process, however that ends. A process that is stopped is alive.
#[allow(non_camel_case_types, reason = "C's names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum annulus_peer {
    /// Nobody has come yet.
    ANNULUS_PEER_NONE = 0,
    /// It is there.
    ANNULUS_PEER_ALIVE = 1,
    /// The ring was closed, by either side.
    ANNULUS_PEER_CLOSED = 2,
    /// Its process has ended without that.
    ANNULUS_PEER_DEAD = 3,
}

pub(super) fn peer(ring: &Ring) -> Done<annulus_peer> {
    Ok((ring.peer.as_ref().ok_or(ANNULUS_UNSUPPORTED)?)())
}

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
        let found = self::peer(&unsafe { object::<Producer>(producer) }?.ring)?;
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
/// That of `annulus_producer_peer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_peer(
    consumer: *const annulus_consumer,
    peer: *mut annulus_peer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let found = self::peer(&unsafe { object::<Consumer>(consumer) }?.ring)?;
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
/// That of `annulus_producer_peer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_subscriber_peer(
    subscriber: *const annulus_subscriber,
    peer: *mut annulus_peer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let found = self::peer(&unsafe { object::<Subscriber>(subscriber) }?.ring)?;
        // SAFETY: the caller's promise.
        unsafe { place(peer) }?.write(found);
        Ok(())
    })
}
