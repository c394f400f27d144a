//! [`annulus_invitation`]: what another process needs to join a ring, and how it gets there: through a Unix
//! socket, or by a name in a directory.

use core::ffi::{c_char, c_int};

use super::error::{annulus_shared_error, bytes, explained, text};
use super::system;
use crate::handle::{Handle, handle, handle_place, shared_object, take};
use crate::options::Patience;
use crate::status::annulus_status::{self, ANNULUS_INVALID};
use crate::status::guarded;

/// What another process needs to join a ring: two descriptors. The function that makes a ring makes one, for
/// any number of other processes. Threads may use it at once.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_invitation {
    _opaque: [u8; 0],
}

handle!(annulus_invitation = 8: system::Invitation);

/// The name of a ring in a directory, as long as it has that. Threads may use it at once.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_name {
    _opaque: [u8; 0],
}

handle!(annulus_name = 9: system::Name);

/// Sends the invitation through the Unix socket `socket`, as two messages of one byte each. The other process
/// receives it by `annulus_invitation_receive`, or as `Invitation` in Rust. It can be sent to any number of
/// processes.
///
/// The caller keeps both. Any thread may call this. It waits where the socket does. Returns
/// `ANNULUS_SYSTEM` (it is no socket, or the other end is closed), `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`;
/// `ANNULUS_UNSUPPORTED` where there are no rings between processes.
///
/// # Safety
///
/// `invitation` is null, or a handle that this library made, whether it was freed or not; no other thread
/// frees it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_send(
    invitation: *const annulus_invitation,
    socket: c_int,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let invitation = unsafe { shared_object::<system::Invitation>(invitation) }?;
        invitation.send(socket).map_err(|why| why.status)
    })
}

/// Receives an invitation from the Unix socket `socket`, which the caller then owns, and frees with
/// `annulus_invitation_free`. What came is looked at where it is used.
///
/// Any thread may call this. It waits where the socket does. Returns `ANNULUS_SYSTEM` (it is no socket, the
/// other end is closed, or no descriptor came), `ANNULUS_INVALID`; `ANNULUS_UNSUPPORTED` where there are no
/// rings between processes. Then `*invitation` is null.
///
/// # Safety
///
/// `invitation` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_receive(
    socket: c_int,
    invitation: *mut *mut annulus_invitation,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let invitation = unsafe { handle_place(invitation) }?;
        *invitation = system::Invitation::receive(socket).map_err(|why| why.status)?.hand_out();
        Ok(())
    })
}

/// Frees it: its descriptors are closed. Rings that were joined by it stay. Null is no error, and has no
/// effect.
///
/// One thread may call this, when no other one uses it any more. Returns `ANNULUS_NOT_A_HANDLE` if it was
/// freed before, or is a handle of another type.
///
/// # Safety
///
/// `invitation` is null, or a handle that this library made, whether it was freed or not; no other thread
/// uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_free(invitation: *mut annulus_invitation) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<system::Invitation>(invitation) }.map(drop))
}

/// Gives the ring a name in a directory, by which other processes of this user find it. The caller owns what
/// this stores at `given`, and takes the name back by `annulus_name_free`. The name also ends with this
/// process.
///
/// `directory` is the path of a directory, of any bytes, which is made if it is not there; null is the
/// directory of the user. A name is a text of 1 to 200 bytes of UTF-8, without `/` and control characters,
/// and does not begin with a dot.
///
/// Any thread may call this. Returns `ANNULUS_OCCUPIED` (another ring that is there has the name),
/// `ANNULUS_SYSTEM` (also if the directory can't be used), `ANNULUS_INVALID` (also for what is no name),
/// `ANNULUS_NOT_A_HANDLE`, `ANNULUS_NO_RING`; `ANNULUS_UNSUPPORTED` where there are no rings between
/// processes. Then `*given` is null, and `error`, if it is not null, says why.
///
/// # Safety
///
/// `invitation` is null, or a handle that this library made, whether it was freed or not; no other thread
/// frees it. The strings are null, or strings. `given` is null, or may be written to. `error` is null, or so
/// many bytes as its `size` says may be read and written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_publish(
    invitation: *const annulus_invitation,
    directory: *const c_char,
    name: *const c_char,
    given: *mut *mut annulus_name,
    error: *mut annulus_shared_error,
) -> annulus_status {
    let work = || {
        // SAFETY: the caller's promise.
        let given = unsafe { handle_place(given) }?;
        // SAFETY: the caller's promise.
        let invitation = unsafe { shared_object::<system::Invitation>(invitation) }?;
        // SAFETY: the caller's promise.
        let (directory, name) = unsafe { (bytes(directory), text(name, "name")?) };
        *given = invitation.publish(directory, name.ok_or(ANNULUS_INVALID)?)?.hand_out();
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { explained(error, work) }
}

/// The invitation to the ring of a name, which the caller then owns. It waits for `timeout_ns` nanoseconds
/// until a ring has the name: not at all with 0, and for as long as it takes with `ANNULUS_FOREVER`. It may
/// have to ask the ring's process for its descriptors: if that one is in another container, or is protected.
/// Then it waits for the answer, within that time, but with 0 for two seconds at most.
///
/// `directory` and `name` are as of `annulus_invitation_publish`. Any thread may call this. Returns
/// `ANNULUS_NOT_FOUND` (with 0: no ring has the name, or the process of that which had it has ended),
/// `ANNULUS_TIMEOUT`, `ANNULUS_SYSTEM` (also: the process was asked, and has not answered for two seconds),
/// `ANNULUS_INVALID`, `ANNULUS_NO_RING`; `ANNULUS_UNSUPPORTED` where there are no rings between processes.
/// Then `*invitation` is null, and `error`, if it is not null, says why.
///
/// # Safety
///
/// As of `annulus_invitation_publish`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_find(
    directory: *const c_char,
    name: *const c_char,
    timeout_ns: u64,
    invitation: *mut *mut annulus_invitation,
    error: *mut annulus_shared_error,
) -> annulus_status {
    let work = || {
        // SAFETY: the caller's promise.
        let invitation = unsafe { handle_place(invitation) }?;
        // SAFETY: the caller's promise.
        let (directory, name) = unsafe { (bytes(directory), text(name, "name")?) };
        let patience = if timeout_ns == 0 { Patience::None } else { Patience::of_ns(timeout_ns) };
        let found = system::Invitation::find(directory, name.ok_or(ANNULUS_INVALID)?, patience)?;
        *invitation = found.hand_out();
        Ok(())
    };
    // SAFETY: the caller's promise.
    unsafe { explained(error, work) }
}

/// Takes the name back. The ring stays: end it after this, so that a process which is told of the end does
/// not find it at the name. Null is no error, and has no effect.
///
/// One thread may call this. Returns `ANNULUS_NOT_A_HANDLE` if it was freed before, or is a handle of another
/// type.
///
/// # Safety
///
/// `name` is null, or a handle that this library made, whether it was freed or not; no other thread uses it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_name_free(name: *mut annulus_name) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<system::Name>(name) }.map(drop))
}
