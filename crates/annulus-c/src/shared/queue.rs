//! Queues between processes that several consumers share: each message reaches one of them, also if a process
//! dies that had claimed it.

use core::ffi::c_void;

use super::error::annulus_shared_error;
use super::invitation::annulus_invitation;
use super::options::annulus_shared_options;
use super::queue_system::{self as system, Queue};
use super::rings::{join, make};
use crate::consumer::{Consumer, annulus_consumer};
use crate::handle::{Handle, handle, handle_place, object, shared_object, take};
use crate::options::Patience;
use crate::status::annulus_status::ANNULUS_INVALID;
use crate::status::{annulus_status, guarded, guarded_or};
use crate::typed::Held;

/// A queue that several consumers share, as a whole: how many are there, and what was given again. It neither
/// sends nor receives. Threads may use it at once.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_shared_queue {
    _opaque: [u8; 0],
}

/// A message that a consumer has claimed, and that no other one has. It may be done on any thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_claimed {
    _opaque: [u8; 0],
}

/// What was claimed.
pub(crate) struct Claimed(Box<dyn Held>);

handle!(annulus_shared_queue = 25: Queue);
handle!(annulus_claimed = 26: Claimed);

/// Makes a queue that producers and consumers of any process and language share, such as a queue of work.
/// Producers join by `annulus_invitation_producer`, and consumers by `annulus_invitation_consumer`, also in
/// this process; in Rust by `shm::mpmc`.
///
/// There are `places` for producers, each with a ring of `capacity` messages, and `receivers` for consumers.
/// Messages have at most `ANNULUS_MESSAGE_MAX` bytes. What follows when all of a side are gone, or a consumer
/// dies that has claimed messages, say `ANNULUS_CLOSE_WITH_LAST_PRODUCER`,
/// `ANNULUS_CLOSE_WITH_LAST_CONSUMER`, and `ANNULUS_DROP_UNRECEIVED`.
///
/// Producers and consumers have the verbs of queues of one process, but lend nothing in place, have no clones
/// and no `annulus_stats`.
///
/// Otherwise as `annulus_shared_producer_new`.
///
/// # Safety
///
/// As for `annulus_shared_producer_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_queue_new(
    options: *const annulus_shared_options,
    queue: *mut *mut annulus_shared_queue,
    invitation: *mut *mut annulus_invitation,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe { make(options, queue, invitation, error, system::new_queue) }
}

/// The queue of an invitation, to look at it from any process. It takes no place. Otherwise as
/// `annulus_invitation_producer`.
///
/// # Safety
///
/// As for `annulus_invitation_producer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_queue(
    invitation: *const annulus_invitation,
    options: *const annulus_shared_options,
    queue: *mut *mut annulus_shared_queue,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe { join(invitation, options, queue, error, system::queue) }
}

/// How many messages wait to be received for the first time; 0 if `queue` is no handle. It may have changed
/// when this returns.
///
/// # Safety
///
/// `queue` is null, or a handle that this library made, whether it was freed or not; no other thread frees
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_queue_len(queue: *const annulus_shared_queue) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { shared_object::<Queue>(queue) }?.len()))
}

/// How many producers are there; 0 if `queue` is no handle. A system call for each.
///
/// # Safety
///
/// As for `annulus_shared_queue_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_queue_producers(queue: *const annulus_shared_queue) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { shared_object::<Queue>(queue) }?.producers()))
}

/// How many consumers are there; 0 if `queue` is no handle. A system call for each.
///
/// # Safety
///
/// As for `annulus_shared_queue_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_queue_consumers(queue: *const annulus_shared_queue) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { shared_object::<Queue>(queue) }?.consumers()))
}

/// How many messages were given again so far, of consumers that died with them, or gave them back. Each time
/// counts. 0 if `queue` is no handle.
///
/// # Safety
///
/// As for `annulus_shared_queue_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_queue_given_again(queue: *const annulus_shared_queue) -> u64 {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { shared_object::<Queue>(queue) }?.given_again()))
}

/// How many messages of dead consumers were dropped so far (`ANNULUS_DROP_UNRECEIVED`). 0 if `queue` is no
/// handle.
///
/// # Safety
///
/// As for `annulus_shared_queue_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_queue_dropped(queue: *const annulus_shared_queue) -> u64 {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { shared_object::<Queue>(queue) }?.dropped()))
}

/// Closes the queue, for all processes. What was sent before is received. Returns `ANNULUS_INVALID`,
/// `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_shared_queue_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_queue_close(queue: *const annulus_shared_queue) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { shared_object::<Queue>(queue) }?.close();
        Ok(())
    })
}

/// Whether the queue is closed. True if `queue` is no handle.
///
/// # Safety
///
/// As for `annulus_shared_queue_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_queue_is_closed(queue: *const annulus_shared_queue) -> bool {
    // SAFETY: the caller's promise.
    guarded_or(true, || Ok(unsafe { shared_object::<Queue>(queue) }?.is_closed()))
}

/// Frees the handle. The queue stays. Null is no error, and has no effect. Returns `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// `queue` is null, or a handle that this library made, whether it was freed or not; no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_queue_free(queue: *mut annulus_shared_queue) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<Queue>(queue) }.map(drop))
}

/// Claims the next message of a queue that several consumers share, and copies its `size` bytes to `message`.
/// Waits for it for `timeout_ns` nanoseconds at most: with 0 it does not wait, `ANNULUS_FOREVER` is no limit.
///
/// The claim is the caller's, which ends it by `annulus_claimed_done` when its work is safe, on any thread,
/// in any order. If the process dies before, or by `annulus_claimed_free`, another consumer has the message.
/// A consumer that was freed keeps its place until its claims have ended.
///
/// The thread that uses the consumer may call this. Returns what `annulus_consumer_recv_timeout` does; with 0
/// `ANNULUS_EMPTY`; `ANNULUS_UNSUPPORTED` of any other queue. Then `*claimed` is null.
///
/// # Safety
///
/// `consumer` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `message` is null, or `size` bytes may be written there. `claimed` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_consumer_claim(
    consumer: *mut annulus_consumer,
    message: *mut c_void,
    size: usize,
    timeout_ns: u64,
    claimed: *mut *mut annulus_claimed,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let claimed = unsafe { handle_place(claimed) }?;
        let patience = if timeout_ns == 0 { Patience::None } else { Patience::of_ns(timeout_ns) };
        // SAFETY: the caller's promise.
        let held = unsafe { object::<Consumer>(consumer)?.claim(message.cast(), size, patience) }?;
        *claimed = Claimed(held).hand_out();
        Ok(())
    })
}

/// How often the message was given before, 15 at most: to consumers that died with it, or gave it back. One
/// that kills each consumer would go round for ever: put it aside. 0 if `claimed` is no handle.
///
/// # Safety
///
/// `claimed` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_claimed_given_before(claimed: *const annulus_claimed) -> u64 {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Claimed>(claimed) }?.0.given_before()))
}

/// The message is received: nobody has it again, and there is room for another one. The claim ends: it is
/// freed. Any thread may call this. Returns `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_claimed_given_before`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_claimed_done(claimed: *mut annulus_claimed) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let Claimed(held) = unsafe { take::<Claimed>(claimed) }?.ok_or(ANNULUS_INVALID)?;
        held.done();
        Ok(())
    })
}

/// Gives the message back: any consumer has it again, ahead of later ones. Null is no error, and has no
/// effect. Any thread may call this. Returns `ANNULUS_NOT_A_HANDLE`, also for one that is done.
///
/// # Safety
///
/// As for `annulus_claimed_given_before`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_claimed_free(claimed: *mut annulus_claimed) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<Claimed>(claimed) }.map(drop))
}
