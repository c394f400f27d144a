//! How rings between processes are made, and how processes join them. The handles are the ones of rings in
//! one process, with the same verbs.

use super::error::{Shared, annulus_shared_error, explained};
use super::invitation::annulus_invitation;
use super::options::{SharedOptions, annulus_shared_options};
use super::queue_system;
use super::system::{self, Invitation};
use crate::broadcast::annulus_subscribable;
use crate::consumer::annulus_consumer;
use crate::handle::{Handle, handle_place, shared_object};
use crate::producer::annulus_producer;
use crate::publisher::annulus_publisher;
use crate::status::annulus_status;

/// Makes a ring, and stores what its maker has of it.
///
/// # Safety
///
/// As of the functions below.
pub(super) unsafe fn make<H: Handle>(
    options: *const annulus_shared_options,
    place: *mut *mut H::Opaque,
    invitation: *mut *mut annulus_invitation,
    error: *mut annulus_shared_error,
    make: impl FnOnce(&SharedOptions) -> Shared<(H, Invitation)>,
) -> annulus_status {
    let work = || {
        // SAFETY: the caller's promise.
        let place = unsafe { handle_place(place) };
        // SAFETY: the caller's promise.
        let (place, invitation) = (place?, unsafe { handle_place(invitation) }?);
        // SAFETY: the caller's promise.
        let options = unsafe { annulus_shared_options::checked(options, false) }?;
        let (made, invites) = make(&options)?;
        *place = made.hand_out();
        *invitation = invites.hand_out();
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { explained(error, work) }
}

/// Joins a ring, and stores what the process then has of it.
///
/// # Safety
///
/// As of the functions below.
pub(super) unsafe fn join<H: Handle>(
    invitation: *const annulus_invitation,
    options: *const annulus_shared_options,
    place: *mut *mut H::Opaque,
    error: *mut annulus_shared_error,
    join: impl FnOnce(&Invitation, &SharedOptions) -> Shared<H>,
) -> annulus_status {
    let work = || {
        // SAFETY: the caller's promise.
        let place = unsafe { handle_place(place) }?;
        // SAFETY: the caller's promise.
        let invitation = unsafe { shared_object::<Invitation>(invitation) }?;
        // SAFETY: the caller's promise.
        let options = unsafe { annulus_shared_options::checked(options, true) }?;
        *place = join(invitation, &options)?.hand_out();
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { explained(error, work) }
}

/// Makes a queue from this process to another one, and its producer. The process of the consumer joins by
/// `annulus_invitation_consumer`, or by `shm::spsc::consumer` in Rust.
///
/// The producer has the verbs of a queue of the kind `ANNULUS_SPSC`. When the process of the consumer has
/// ended without a close, sends return `ANNULUS_PEER_DIED`; with `ANNULUS_WAIT_FOR_NEXT_CONSUMER`, the queue
/// stays open for the next consumer, which continues behind the last message that was received.
///
/// The caller owns both, and frees each by its function. The ring lives as long as anybody has a handle of
/// it. Any thread may call this.
///
/// Returns `ANNULUS_INVALID` (a null pointer, another `size` of the options or of the error, a way to wait
/// that is none, a capacity of 0, a type without a name), `ANNULUS_WRONG_SIZE` (messages that can't be),
/// `ANNULUS_NO_MEMORY`, `ANNULUS_SYSTEM`; `ANNULUS_UNSUPPORTED` where there are no rings between processes.
/// Then both are null, and `error`, if it is not null, says why.
///
/// # Safety
///
/// Each pointer is null, or points to an object of its type that this may use; so does the name in the
/// options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_producer_new(
    options: *const annulus_shared_options,
    producer: *mut *mut annulus_producer,
    invitation: *mut *mut annulus_invitation,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe { make(options, producer, invitation, error, system::spsc_producer) }
}

/// Makes a queue from several processes to this one, and its consumer. Each producer joins by
/// `annulus_invitation_producer`, or by `shm::mpsc::producer` in Rust, and has a ring of `capacity` messages.
///
/// The consumer has the verbs of a queue of the kind `ANNULUS_MPSC`. There are `places` for producers. The
/// queue waits for the next ones when all are gone; with `ANNULUS_CLOSE_WITH_LAST_PRODUCER` it then ends.
///
/// Otherwise as `annulus_shared_producer_new`.
///
/// # Safety
///
/// As for `annulus_shared_producer_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_consumer_new(
    options: *const annulus_shared_options,
    consumer: *mut *mut annulus_consumer,
    invitation: *mut *mut annulus_invitation,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe { make(options, consumer, invitation, error, system::mpsc_consumer) }
}

/// Makes a broadcast ring between processes, and its first publisher. Others subscribe by
/// `annulus_invitation_subscribable`, or by `Invitation::accept` in Rust, also in this process.
///
/// `kind` is `ANNULUS_LOSSY`; `ANNULUS_LOSSLESS`, with a seat for each of `places` subscribers; or
/// `ANNULUS_MP_LOSSY`, with places for so many publishers, of which the others join by
/// `annulus_invitation_publisher`; or `ANNULUS_MP_LOSSLESS`, with such places, and a seat for each of
/// `receivers` subscribers. Messages have at most `ANNULUS_MESSAGE_MAX` bytes. Subscribers map the
/// ring of one publisher read-only: none of them can harm the publisher, or another subscriber.
///
/// Otherwise as `annulus_shared_producer_new`; a kind that is none is `ANNULUS_INVALID`.
///
/// # Safety
///
/// As for `annulus_shared_producer_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_publisher_new(
    kind: u32,
    options: *const annulus_shared_options,
    publisher: *mut *mut annulus_publisher,
    invitation: *mut *mut annulus_invitation,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe { make(options, publisher, invitation, error, |options| system::publisher(kind, options)) }
}

/// Joins a queue as a producer, in the first place that is free: a queue of several producers, which
/// `annulus_shared_consumer_new` or `annulus_shared_queue_new` has made, or a program in Rust.
///
/// The caller owns the producer. It leaves its place when it is freed, or when the process ends. Any thread
/// may call this; the invitation stays the caller's.
///
/// Returns `ANNULUS_MISMATCH` (it is another ring than the options say; `error` has both sides' values),
/// `ANNULUS_OCCUPIED` (all places are taken), `ANNULUS_CLOSED`, `ANNULUS_NO_RING`, `ANNULUS_NO_MEMORY`,
/// `ANNULUS_SYSTEM`, `ANNULUS_INVALID`, `ANNULUS_WRONG_SIZE`, `ANNULUS_NOT_A_HANDLE`; `ANNULUS_UNSUPPORTED`
/// where there are no rings between processes. Then `*producer` is null, and `error`, if it is not null, says
/// why.
///
/// # Safety
///
/// `invitation` is null, or a handle that this library made, whether it was freed or not; no other thread
/// frees it. Each other pointer is null, or points to an object of its type that this may use; so does the
/// name in the options.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_producer(
    invitation: *const annulus_invitation,
    options: *const annulus_shared_options,
    producer: *mut *mut annulus_producer,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe { join(invitation, options, producer, error, queue_system::join_as_producer) }
}

/// Joins a queue as its consumer: one of one producer, or one of several whose consumer before is gone. It
/// continues behind the last message that was received. Or as one of several consumers, in the first place
/// that is free: see `annulus_shared_queue_new`.
///
/// The caller owns the consumer. When the process of the producer has ended without a close, receives return
/// what it had sent completely, and then `ANNULUS_PEER_DIED`.
///
/// Returns `ANNULUS_OCCUPIED` if the queue has its consumer; otherwise as `annulus_invitation_producer`.
///
/// # Safety
///
/// As for `annulus_invitation_producer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_consumer(
    invitation: *const annulus_invitation,
    options: *const annulus_shared_options,
    consumer: *mut *mut annulus_consumer,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe { join(invitation, options, consumer, error, queue_system::join_as_consumer) }
}

/// Joins a broadcast ring of several publishers (`ANNULUS_MP_LOSSY`, `ANNULUS_MP_LOSSLESS`) as a publisher,
/// in the first place that is free. The caller owns the publisher. Otherwise as
/// `annulus_invitation_producer`.
///
/// # Safety
///
/// As for `annulus_invitation_producer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_publisher(
    invitation: *const annulus_invitation,
    options: *const annulus_shared_options,
    publisher: *mut *mut annulus_publisher,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe { join(invitation, options, publisher, error, system::mp_publisher) }
}

/// Maps a broadcast ring, and stores what makes subscribers in this process, which the caller owns. The ring
/// may be of any of the kinds of `annulus_shared_publisher_new`.
///
/// A ring of one publisher is mapped read-only. A subscriber of a lossless ring has a seat, or
/// `annulus_subscribable_subscribe` returns `ANNULUS_OCCUPIED`. When the process of the publisher has ended
/// without a close, receives return what it had published completely, and then `ANNULUS_PEER_DIED`.
///
/// Otherwise as `annulus_invitation_producer`.
///
/// # Safety
///
/// As for `annulus_invitation_producer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_subscribable(
    invitation: *const annulus_invitation,
    options: *const annulus_shared_options,
    subscribable: *mut *mut annulus_subscribable,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe { join(invitation, options, subscribable, error, system::subscribable) }
}
