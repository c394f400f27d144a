//! Queues of records between processes: how they are made and joined. The handles are the ones of
//! queues of records in one process, with the same verbs.

use super::error::annulus_shared_error;
use super::invitation::annulus_invitation;
use super::options::annulus_shared_options;
use super::rings::{join, make};
use super::system;
use crate::bytes::{BytesConsumer, BytesProducer, annulus_bytes_consumer, annulus_bytes_producer};
use crate::handle::{object, place};
use crate::ring::annulus_peer;
use crate::status::annulus_status;
use crate::status::guarded;

/// A queue of records of any length, as `annulus_shared_error` says which kind a ring is. It has a function
/// of its own that makes one.
pub const ANNULUS_BYTES: u32 = 6;

/// Makes a queue of records from this process to another one, and its producer. The process of the consumer
/// joins by `annulus_invitation_bytes_consumer`, or by `shm::bytes::consumer` in Rust.
///
/// `options` come from `ANNULUS_SHARED_BYTES_OPTIONS(capacity)`: the capacity is in bytes, as in
/// `annulus_bytes_queue_new`; the size of a message is 1, and there is no schema, because nothing is known of
/// what a record is made of. So check the copy of a record, not the record in the ring.
///
/// Otherwise as `annulus_shared_producer_new`.
///
/// # Safety
///
/// As for `annulus_shared_producer_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_bytes_producer_new(
    options: *const annulus_shared_options,
    producer: *mut *mut annulus_bytes_producer,
    invitation: *mut *mut annulus_invitation,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe {
        make(options, producer, invitation, error, |options| {
            options.of_bytes()?;
            system::bytes_producer(options)
        })
    }
}

/// Joins a queue of records as its consumer. It continues behind the last record that was received.
///
/// `options` come from `ANNULUS_SHARED_BYTES_OPTIONS(0)`. The caller owns the consumer. When the process
/// of the producer has ended without a close, receives return what it had sent completely, and then
/// `ANNULUS_PEER_DIED`. A length that can't be closes the queue.
///
/// Returns `ANNULUS_OCCUPIED` if the queue has its consumer; otherwise as `annulus_invitation_producer`.
///
/// # Safety
///
/// As for `annulus_invitation_producer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_bytes_consumer(
    invitation: *const annulus_invitation,
    options: *const annulus_shared_options,
    consumer: *mut *mut annulus_bytes_consumer,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe {
        join(invitation, options, consumer, error, |invitation, options| {
            options.of_bytes()?;
            system::bytes_consumer(invitation, options)
        })
    }
}

/// As `annulus_producer_peer`: whether the process of the consumer is there.
///
/// # Safety
///
/// `producer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `peer` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_producer_peer(
    producer: *const annulus_bytes_producer,
    peer: *mut annulus_peer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let found = unsafe { object::<BytesProducer>(producer) }?.ring.peer()?;
        // SAFETY: the caller's promise.
        unsafe { place(peer) }?.write(found);
        Ok(())
    })
}

/// As `annulus_producer_peer`: whether the process of the producer is there.
///
/// # Safety
///
/// As for `annulus_bytes_producer_peer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_bytes_consumer_peer(
    consumer: *const annulus_bytes_consumer,
    peer: *mut annulus_peer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let found = unsafe { object::<BytesConsumer>(consumer) }?.ring.peer()?;
        // SAFETY: the caller's promise.
        unsafe { place(peer) }?.write(found);
        Ok(())
    })
}
