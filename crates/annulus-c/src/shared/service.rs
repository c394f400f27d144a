//! Services between processes: questions of several clients to a server, and answers in any order.

use core::ffi::{c_int, c_void};
use core::{ptr, slice};

use super::error::annulus_shared_error;
use super::invitation::annulus_invitation;
use super::options::{SharedOptions, annulus_shared_options};
use super::rings::{join, make};
use super::service_system::{self as system, Client, PendingAnswer, Request, Server};
use crate::handle::{Handle, handle, handle_place, object, place, take};
use crate::options::Patience;
use crate::ring::annulus_peer;
use crate::status::annulus_status::{ANNULUS_CLOSED, ANNULUS_INVALID, ANNULUS_WRONG_SIZE};
use crate::status::{Done, annulus_status, guarded, guarded_or};

/// The end of a service that receives questions. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_server {
    _opaque: [u8; 0],
}

/// A question that a server has received, to be answered once. It may be answered on any thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_request {
    _opaque: [u8; 0],
}

/// An end of a service that asks. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_client {
    _opaque: [u8; 0],
}

/// The answer to a question, which is to come. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_pending_answer {
    _opaque: [u8; 0],
}

handle!(annulus_server = 21: Server);
handle!(annulus_request = 22: Request);
handle!(annulus_client = 23: Client);
handle!(annulus_pending_answer = 24: PendingAnswer);

fn patience(timeout_ns: u64) -> Patience {
    if timeout_ns == 0 { Patience::None } else { Patience::of_ns(timeout_ns) }
}

/// What `options` say of the other message of a service.
///
/// # Safety
///
/// As of `annulus_shared_options::checked`.
unsafe fn other(options: *const annulus_shared_options) -> super::error::Shared<SharedOptions> {
    // SAFETY: the caller's promise. (Its capacity and places are not looked at.)
    unsafe { annulus_shared_options::checked(options, true) }
}

/// The bytes of a message that the program gives.
///
/// # Safety
///
/// `bytes` is null, or points to so many bytes.
unsafe fn given<'a>(bytes: *const c_void, size: usize, wanted: usize) -> Done<&'a [u8]> {
    if bytes.is_null() {
        return Err(ANNULUS_INVALID);
    }
    if size != wanted {
        return Err(ANNULUS_WRONG_SIZE);
    }
    // SAFETY: the caller's promise.
    Ok(unsafe { slice::from_raw_parts(bytes.cast(), size) })
}

/// Makes a service, and its server. Clients of any process and language ask; the server answers in any order.
///
/// `questions` say what a question is: `ANNULUS_SHARED_OPTIONS(16, struct question, "{symbol:u32}")`. Their
/// capacity is how many questions each client may have open, their `places`, how many clients there can be;
/// their `wait` is the server's. `answers` say what an answer is, and nothing else; one has
/// `ANNULUS_MESSAGE_MAX` bytes at most. What has no schema is bytes.
///
/// Otherwise as `annulus_shared_producer_new`.
///
/// # Safety
///
/// As for `annulus_shared_producer_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_service_new(
    questions: *const annulus_shared_options,
    answers: *const annulus_shared_options,
    server: *mut *mut annulus_server,
    invitation: *mut *mut annulus_invitation,
    error: *mut annulus_shared_error,
) -> annulus_status {
    let made = |questions: &SharedOptions| {
        // SAFETY: the caller's promise.
        system::server(questions, &unsafe { other(answers) }?)
    };
    // SAFETY: the caller's promise.
    unsafe { make(questions, server, invitation, error, made) }
}

/// Joins a service as a client. `questions` and `answers` say what it asks and gets; the `wait` of
/// `questions` is how it waits for answers. A type without a schema is any of its size.
///
/// The caller owns the client. Returns `ANNULUS_OCCUPIED` if each place for clients is taken,
/// `ANNULUS_CLOSED` if the server is gone; otherwise as `annulus_invitation_producer`.
///
/// # Safety
///
/// As for `annulus_invitation_producer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_client(
    invitation: *const annulus_invitation,
    questions: *const annulus_shared_options,
    answers: *const annulus_shared_options,
    client: *mut *mut annulus_client,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe {
        join(invitation, questions, client, error, |invitation, questions| {
            system::client(invitation, questions, &other(answers)?)
        })
    }
}

/// Receives the next question, of `size` bytes, and waits for it for `timeout_ns` nanoseconds at most: with 0
/// it does not wait, `ANNULUS_FOREVER` is no limit.
///
/// The request is the caller's, which ends it by `annulus_request_answer` or `annulus_request_free`, on any
/// thread, in any order, also after the server was freed.
///
/// The thread that uses the server may call this. Returns `ANNULUS_TIMEOUT` (with 0: `ANNULUS_EMPTY`);
/// `ANNULUS_CLOSED`: the service is closed, and all was received; `ANNULUS_CORRUPT`: it was no question of
/// the schema, and was refused; `ANNULUS_WRONG_SIZE`, `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then
/// `*request` is null.
///
/// # Safety
///
/// `server` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `question` is null, or `size` bytes may be written there. `request` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_server_recv(
    server: *mut annulus_server,
    question: *mut c_void,
    size: usize,
    timeout_ns: u64,
    request: *mut *mut annulus_request,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let request = unsafe { handle_place(request) }?;
        // SAFETY: the caller's promise.
        let server = unsafe { object::<Server>(server) }?;
        if question.is_null() {
            return Err(ANNULUS_INVALID);
        }
        if size != server.question_bytes() {
            return Err(ANNULUS_WRONG_SIZE);
        }
        let received = server.recv(patience(timeout_ns))?;
        let bytes = received.question();
        // SAFETY: so many bytes have room there, as the caller promises, and the request has so many.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), question.cast(), bytes.len()) };
        *request = received.hand_out();
        Ok(())
    })
}

/// How many clients are there; 0 if `server` is no handle. A system call for each.
///
/// # Safety
///
/// As for `annulus_server_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_server_clients(server: *const annulus_server) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Server>(server) }?.clients()))
}

/// Closes the service: clients can ask no more, and what they had asked is received. Returns
/// `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_server_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_server_close(server: *mut annulus_server) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { object::<Server>(server) }?.close();
        Ok(())
    })
}

/// A file descriptor for `poll`, `epoll` or `io_uring`, as `annulus_consumer_fd`; `annulus_server_arm` arms
/// it. Returns `ANNULUS_SYSTEM`, `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*fd` is -1.
///
/// # Safety
///
/// As for `annulus_server_recv`. `fd` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_server_fd(server: *mut annulus_server, fd: *mut c_int) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let fd = unsafe { place(fd) }?.write(-1);
        // SAFETY: the caller's promise.
        *fd = unsafe { object::<Server>(server) }?.fd()?;
        Ok(())
    })
}

/// Arms the descriptor, before each wait for it, as `annulus_consumer_arm`. Returns `ANNULUS_INVALID` (there
/// is no descriptor yet), `ANNULUS_NOT_A_HANDLE`. Then `*ready` is true.
///
/// # Safety
///
/// As for `annulus_server_recv`. `ready` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_server_arm(server: *mut annulus_server, ready: *mut bool) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let ready = unsafe { place(ready) }?.write(true);
        // SAFETY: the caller's promise.
        *ready = unsafe { object::<Server>(server) }?.arm()?;
        Ok(())
    })
}

/// Frees the server, which closes the service, and refuses what was not received. Requests that it has
/// received stay the caller's. Null is no error, and has no effect. Returns `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_server_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_server_free(server: *mut annulus_server) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<Server>(server) }.map(drop))
}

/// Answers the question by `size` bytes, and ends the request: it is freed. Never waits.
///
/// Any thread may call this. Returns `ANNULUS_CLOSED` if the client is gone: then the request has ended, too.
/// `ANNULUS_WRONG_SIZE`, `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`: then it stays as it is.
///
/// # Safety
///
/// `request` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `answer` is null, or points to `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_request_answer(
    request: *mut annulus_request,
    answer: *const c_void,
    size: usize,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let wanted = unsafe { object::<Request>(request) }?.answer_bytes();
        // SAFETY: the caller's promise.
        let answer = unsafe { given(answer, size, wanted) }?;
        // SAFETY: the caller's promise.
        let request = unsafe { take::<Request>(request) }?.ok_or(ANNULUS_INVALID)?;
        if request.answer(answer) { Ok(()) } else { Err(ANNULUS_CLOSED) }
    })
}

/// Whether the client can still receive an answer, as the kernel says. False if `request` is no handle.
///
/// # Safety
///
/// As for `annulus_request_answer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_request_client_is_there(request: *const annulus_request) -> bool {
    // SAFETY: the caller's promise.
    guarded_or(false, || Ok(unsafe { object::<Request>(request) }?.is_client_there()))
}

/// Refuses the question: the client receives `ANNULUS_REFUSED`. Null is no error, and has no effect. Returns
/// `ANNULUS_NOT_A_HANDLE`, also for a request that was answered.
///
/// # Safety
///
/// As for `annulus_request_answer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_request_free(request: *mut annulus_request) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<Request>(request) }.map(drop))
}

/// Asks by `size` bytes. Never waits. The answer comes at `*pending`, which is the caller's, also after the
/// client was freed.
///
/// The thread that uses the client may call this. Returns `ANNULUS_FULL` if as many questions are open as may
/// be: a question is open until it is answered or refused, and its pending answer is freed. `ANNULUS_CLOSED`,
/// `ANNULUS_WRONG_SIZE`, `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*pending` is null.
///
/// # Safety
///
/// `client` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `question` is null, or points to `size` bytes. `pending` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_client_ask(
    client: *mut annulus_client,
    question: *const c_void,
    size: usize,
    pending: *mut *mut annulus_pending_answer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let pending = unsafe { handle_place(pending) }?;
        // SAFETY: the caller's promise.
        let client = unsafe { object::<Client>(client) }?;
        // SAFETY: the caller's promise.
        let question = unsafe { given(question, size, client.question_bytes()) }?;
        *pending = client.ask(question)?.hand_out();
        Ok(())
    })
}

/// How many questions are open now; 0 if `client` is no handle.
///
/// # Safety
///
/// As for `annulus_client_ask`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_client_open(client: *const annulus_client) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<Client>(client) }?.open()))
}

/// As `annulus_producer_peer`: whether the process of the server is there.
///
/// # Safety
///
/// As for `annulus_client_ask`. `peer` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_client_peer(
    client: *const annulus_client,
    peer: *mut annulus_peer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let found = unsafe { object::<Client>(client) }?.peer();
        // SAFETY: the caller's promise.
        unsafe { place(peer) }?.write(found);
        Ok(())
    })
}

/// Frees the client. Its place is free for another one when its pending answers are freed, too. Null is no
/// error, and has no effect. Returns `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_client_ask`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_client_free(client: *mut annulus_client) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<Client>(client) }.map(drop))
}

/// Receives the answer, of `size` bytes, and waits for it for `timeout_ns` nanoseconds at most: with 0 it
/// does not wait, `ANNULUS_FOREVER` is no limit. It comes once; then free `pending`, for the next question.
///
/// The thread that uses `pending` may call this. Returns `ANNULUS_TIMEOUT` (with 0: `ANNULUS_EMPTY`): it may
/// still come. `ANNULUS_REFUSED`; `ANNULUS_PEER_DIED`: the server's process has ended, and had not answered;
/// `ANNULUS_CORRUPT`; `ANNULUS_INVALID`, also if it was received before; `ANNULUS_WRONG_SIZE`,
/// `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// `pending` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `answer` is null, or `size` bytes may be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_pending_answer_recv(
    pending: *mut annulus_pending_answer,
    answer: *mut c_void,
    size: usize,
    timeout_ns: u64,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let pending = unsafe { object::<PendingAnswer>(pending) }?;
        if answer.is_null() {
            return Err(ANNULUS_INVALID);
        }
        if size != pending.answer_bytes() {
            return Err(ANNULUS_WRONG_SIZE);
        }
        let bytes = pending.recv(patience(timeout_ns))?;
        // SAFETY: so many bytes have room there, as the caller promises, and the answer has so many.
        unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), answer.cast(), bytes.len()) };
        Ok(())
    })
}

/// As `annulus_server_fd`, which is readable when the answer is there; `annulus_pending_answer_arm` arms it.
///
/// # Safety
///
/// As for `annulus_pending_answer_recv`. `fd` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_pending_answer_fd(
    pending: *mut annulus_pending_answer,
    fd: *mut c_int,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let fd = unsafe { place(fd) }?.write(-1);
        // SAFETY: the caller's promise.
        *fd = unsafe { object::<PendingAnswer>(pending) }?.fd()?;
        Ok(())
    })
}

/// As `annulus_server_arm`.
///
/// # Safety
///
/// As for `annulus_pending_answer_recv`. `ready` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_pending_answer_arm(
    pending: *mut annulus_pending_answer,
    ready: *mut bool,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let ready = unsafe { place(ready) }?.write(true);
        // SAFETY: the caller's promise.
        *ready = unsafe { object::<PendingAnswer>(pending) }?.arm()?;
        Ok(())
    })
}

/// Frees the pending answer; one that has not come is given up. Null is no error, and has no effect. Returns
/// `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_pending_answer_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_pending_answer_free(pending: *mut annulus_pending_answer) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<PendingAnswer>(pending) }.map(drop))
}
