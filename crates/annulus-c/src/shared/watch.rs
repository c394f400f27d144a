//! Newest values between processes, in one cell or in a table of many: how they are made and joined, and the
//! verbs of their handles.

use core::ffi::{c_char, c_int, c_void};
use core::ptr;

use super::error::{annulus_shared_error, text};
use super::invitation::annulus_invitation;
use super::options::annulus_shared_options;
use super::rings::{join, make};
use super::watch_system::{self as system, WatchChanges, WatchReader, WatchSender};
use crate::handle::{Handle, handle, handle_place, object, place, take};
use crate::options::Patience;
use crate::ring::annulus_peer;
use crate::status::Done;
use crate::status::annulus_status::{self, ANNULUS_INVALID};
use crate::status::{guarded, guarded_or};

/// A key of a cell, and the 0 behind it, have up to so many bytes.
pub const ANNULUS_WATCH_KEY_SIZE: usize = 65;

/// The writing end of newest values. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_watch_sender {
    _opaque: [u8; 0],
}

/// A reading end of newest values. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_watch_reader {
    _opaque: [u8; 0],
}

/// What waits for changes of newest values. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_watch_changes {
    _opaque: [u8; 0],
}

handle!(annulus_watch_sender = 18: WatchSender);
handle!(annulus_watch_reader = 19: WatchReader);
handle!(annulus_watch_changes = 20: WatchChanges);

/// Makes cells for newest values, and what writes them: one cell, or a table of as many as the capacity of
/// the options says, 1 to 1,048,576. A value has up to 4,096 bytes. Nothing was sent to a cell at first.
///
/// The sender never waits, and a reader that comes has the newest values at once. All of the memory is there
/// from the beginning: for each cell four values, and 64 bytes for a key. Otherwise as
/// `annulus_shared_producer_new`.
///
/// # Safety
///
/// As for `annulus_shared_producer_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_shared_watch_new(
    options: *const annulus_shared_options,
    sender: *mut *mut annulus_watch_sender,
    invitation: *mut *mut annulus_invitation,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe { make(options, sender, invitation, error, system::watch_sender) }
}

/// Opens newest values, to read them. The caller owns the reader. Otherwise as `annulus_invitation_producer`.
///
/// # Safety
///
/// As for `annulus_invitation_producer`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_invitation_watch(
    invitation: *const annulus_invitation,
    options: *const annulus_shared_options,
    reader: *mut *mut annulus_watch_reader,
    error: *mut annulus_shared_error,
) -> annulus_status {
    // SAFETY: the caller's promise.
    unsafe { join(invitation, options, reader, error, system::watch_reader) }
}

/// Replaces the value of a cell, from 0 on, by a copy of `size` bytes. Never waits.
///
/// The thread that uses the sender may call this. Returns `ANNULUS_INVALID` (also: there is no such cell),
/// `ANNULUS_WRONG_SIZE` (of the value), `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// `sender` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `value` is null, or `size` bytes lie there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_sender_send(
    sender: *mut annulus_watch_sender,
    cell: usize,
    value: *const c_void,
    size: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<WatchSender>(sender)?.send(cell, value.cast(), size) })
}

/// Copies the newest value of a cell, as this sender has sent it. Returns `ANNULUS_EMPTY`: nothing was sent
/// to it yet; otherwise as `annulus_watch_sender_send`. Then `value` is as it was.
///
/// # Safety
///
/// As for `annulus_watch_sender_send`; `value` is null, or `size` bytes may be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_sender_get(
    sender: *mut annulus_watch_sender,
    cell: usize,
    value: *mut c_void,
    size: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<WatchSender>(sender)?.get(cell, value.cast(), size) })
}

/// The cell of this key, which from now on has that key: the first one without a key, if no cell has this one
/// yet. A key is a text of 1 to 64 bytes of UTF-8. No key changes, and none is taken back.
///
/// The thread that uses the sender may call this. Returns `ANNULUS_OCCUPIED`: all cells have other keys;
/// `ANNULUS_INVALID`: there can be no such key; `ANNULUS_NOT_A_HANDLE`. Then `*cell` is `SIZE_MAX`.
///
/// # Safety
///
/// As for `annulus_watch_sender_send`. `key` is null, or a string. `cell` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_sender_cell(
    sender: *mut annulus_watch_sender,
    key: *const c_char,
    cell: *mut usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    let find = |key: &str| unsafe { object::<WatchSender>(sender) }?.cell(key);
    // SAFETY: the caller's promise.
    unsafe { cell_of(key, cell, find) }
}

/// # Safety
///
/// As of the functions that call it.
unsafe fn cell_of(
    key: *const c_char,
    cell: *mut usize,
    find: impl FnOnce(&str) -> Done<usize>,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let cell = unsafe { place(cell) }?.write(usize::MAX);
        // SAFETY: the caller's promise.
        let key = unsafe { text(key, "key") }.map_err(|why| why.status)?;
        *cell = find(key.ok_or(ANNULUS_INVALID)?)?;
        Ok(())
    })
}

/// How many cells there are; 0 if `sender` is no handle.
///
/// # Safety
///
/// As for `annulus_watch_sender_send`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_sender_cells(sender: *const annulus_watch_sender) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<WatchSender>(sender) }?.cells()))
}

/// Frees the sender: what waits for changes receives those that are new to it, and then `ANNULUS_CLOSED`. The
/// values stay. Null is no error, and has no effect. Returns `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_watch_sender_send`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_sender_free(sender: *mut annulus_watch_sender) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<WatchSender>(sender) }.map(drop))
}

/// Copies the newest value of a cell to `value`, whole, and waits for nobody. It is no older than any value
/// that was sent before this call. The values stay when the sender is gone.
///
/// The thread that uses the reader may call this. Returns `ANNULUS_EMPTY`: nothing was sent to the cell yet;
/// `ANNULUS_TIMEOUT`: the sender has replaced the value at each of 1,000 looks, so try again;
/// `ANNULUS_CORRUPT`; `ANNULUS_INVALID` (also: there is no such cell), `ANNULUS_WRONG_SIZE`,
/// `ANNULUS_NOT_A_HANDLE`. Then `value` is as it was.
///
/// # Safety
///
/// `reader` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `value` is null, or `size` bytes may be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_reader_get(
    reader: *mut annulus_watch_reader,
    cell: usize,
    value: *mut c_void,
    size: usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { object::<WatchReader>(reader)?.get(cell, value.cast(), size) })
}

/// The cell of a key. It looks at all cells, so keep what it finds. Returns `ANNULUS_NOT_FOUND`: no cell has
/// this key yet; `ANNULUS_INVALID`, `ANNULUS_NOT_A_HANDLE`. Then `*cell` is `SIZE_MAX`.
///
/// # Safety
///
/// As for `annulus_watch_reader_get`. `key` is null, or a string. `cell` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_reader_cell(
    reader: *const annulus_watch_reader,
    key: *const c_char,
    cell: *mut usize,
) -> annulus_status {
    // SAFETY: the caller's promise.
    let find = |key: &str| unsafe { object::<WatchReader>(reader) }?.cell(key);
    // SAFETY: the caller's promise.
    unsafe { cell_of(key, cell, find) }
}

/// Stores the key of a cell at `key`, with a 0 behind it: `char key[ANNULUS_WATCH_KEY_SIZE];`. Returns
/// `ANNULUS_NOT_FOUND`: the cell has none yet; `ANNULUS_INVALID` (also: there is no such cell),
/// `ANNULUS_NOT_A_HANDLE`. Then `key` is an empty text.
///
/// # Safety
///
/// As for `annulus_watch_reader_get`. `key` is null, or `ANNULUS_WATCH_KEY_SIZE` bytes may be written there.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_reader_key(
    reader: *const annulus_watch_reader,
    cell: usize,
    key: *mut c_char,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        unsafe { place(key) }?.write(0);
        // SAFETY: the caller's promise.
        let found = unsafe { object::<WatchReader>(reader) }?.key(cell)?;
        let bytes = &found.as_bytes()[..found.len().min(ANNULUS_WATCH_KEY_SIZE - 1)];
        // SAFETY: so many bytes have room there, and one more.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr().cast(), key, bytes.len());
            key.add(bytes.len()).write(0);
        }
        Ok(())
    })
}

/// How many cells there are; 0 if `reader` is no handle.
///
/// # Safety
///
/// As for `annulus_watch_reader_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_reader_cells(reader: *const annulus_watch_reader) -> usize {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<WatchReader>(reader) }?.cells()))
}

/// As `annulus_producer_peer`: whether the process of the sender is there.
///
/// # Safety
///
/// As for `annulus_watch_reader_get`. `peer` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_reader_peer(
    reader: *const annulus_watch_reader,
    peer: *mut annulus_peer,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let found = unsafe { object::<WatchReader>(reader) }?.peer();
        // SAFETY: the caller's promise.
        unsafe { place(peer) }?.write(found);
        Ok(())
    })
}

/// Makes what waits for changes of a cell, or with `ANNULUS_WATCH_ALL_CELLS` (`SIZE_MAX`) of all. It has seen
/// no value yet, so it begins with those that are there. The caller owns it; it lives on when the reader is
/// freed.
/// Returns `ANNULUS_INVALID` (also: there is no such cell), `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_watch_reader_get`. `changes` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_reader_changes(
    reader: *const annulus_watch_reader,
    cell: usize,
    changes: *mut *mut annulus_watch_changes,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let place = unsafe { handle_place(changes) }?;
        // SAFETY: the caller's promise.
        *place = unsafe { object::<WatchReader>(reader) }?.changes(cell)?.hand_out();
        Ok(())
    })
}

/// Frees the reader. Null is no error, and has no effect. Returns `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_watch_reader_get`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_reader_free(reader: *mut annulus_watch_reader) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<WatchReader>(reader) }.map(drop))
}

/// Receives the next change: the newest value of a cell goes to `value`, and its number to `*cell`, which may
/// be null. Waits for it for `timeout_ns` nanoseconds at most: with 0 it does not wait, `ANNULUS_FOREVER` is
/// no limit. No change is lost, and each cell comes once, with the value that is newest then.
///
/// The thread that uses the changes may call this. Returns `ANNULUS_TIMEOUT` (with 0: `ANNULUS_EMPTY`);
/// `ANNULUS_CLOSED`, `ANNULUS_PEER_DIED`: nothing is new, and nothing changes any more; `ANNULUS_CORRUPT`,
/// which `annulus_watch_changes_corrupt` counts; `ANNULUS_INVALID`, `ANNULUS_WRONG_SIZE`,
/// `ANNULUS_NOT_A_HANDLE`. Then `value` and `*cell` are as they were.
///
/// # Safety
///
/// `changes` is null, or a handle that this library made, whether it was freed or not; no other thread uses
/// it. `value` is null, or `size` bytes may be written there. `cell` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_changes_recv(
    changes: *mut annulus_watch_changes,
    timeout_ns: u64,
    value: *mut c_void,
    size: usize,
    cell: *mut usize,
) -> annulus_status {
    let patience = if timeout_ns == 0 { Patience::None } else { Patience::of_ns(timeout_ns) };
    guarded(|| {
        // SAFETY: the caller's promise.
        let found = unsafe { object::<WatchChanges>(changes)?.recv(value.cast(), size, patience) }?;
        if !cell.is_null() {
            // SAFETY: the caller's promise.
            unsafe { cell.write(found) };
        }
        Ok(())
    })
}

/// How many values it has passed over that were none of the schema. 0 if `changes` is no handle.
///
/// # Safety
///
/// As for `annulus_watch_changes_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_changes_corrupt(changes: *const annulus_watch_changes) -> u64 {
    // SAFETY: the caller's promise.
    guarded_or(0, || Ok(unsafe { object::<WatchChanges>(changes) }?.corrupt()))
}

/// A file descriptor for `poll`, `epoll` or `io_uring`, as `annulus_consumer_fd`;
/// `annulus_watch_changes_arm` arms it. Returns `ANNULUS_SYSTEM`, `ANNULUS_INVALID`,
/// `ANNULUS_NOT_A_HANDLE`. Then `*fd` is -1.
///
/// # Safety
///
/// As for `annulus_watch_changes_recv`. `fd` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_changes_fd(
    changes: *mut annulus_watch_changes,
    fd: *mut c_int,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let fd = unsafe { place(fd) }?.write(-1);
        // SAFETY: the caller's promise.
        *fd = unsafe { object::<WatchChanges>(changes) }?.fd()?;
        Ok(())
    })
}

/// Arms the descriptor, before each wait for it, as `annulus_consumer_arm`. `*ready` says whether a change,
/// or the end, is there already; then receive first. Returns `ANNULUS_INVALID` (there is no descriptor yet),
/// `ANNULUS_NOT_A_HANDLE`. Then `*ready` is true.
///
/// # Safety
///
/// As for `annulus_watch_changes_recv`. `ready` is null, or may be written to.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_changes_arm(
    changes: *mut annulus_watch_changes,
    ready: *mut bool,
) -> annulus_status {
    guarded(|| {
        // SAFETY: the caller's promise.
        let ready = unsafe { place(ready) }?.write(true);
        // SAFETY: the caller's promise.
        *ready = unsafe { object::<WatchChanges>(changes) }?.arm()?;
        Ok(())
    })
}

/// Frees what waits for changes. Its descriptor is closed. Null is no error, and has no effect. Returns
/// `ANNULUS_NOT_A_HANDLE`.
///
/// # Safety
///
/// As for `annulus_watch_changes_recv`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn annulus_watch_changes_free(changes: *mut annulus_watch_changes) -> annulus_status {
    // SAFETY: the caller's promise.
    guarded(|| unsafe { take::<WatchChanges>(changes) }.map(drop))
}
