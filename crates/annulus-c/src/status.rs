//! [`annulus_status`]: what each function returns, and what that means.

use core::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use annulus::{CapacityError, RegisterError};

use crate::tsan::{after_end, unseen};

/// What a function returns. Only `ANNULUS_OK` means that it did what it was asked for; with every other one
/// nothing was sent, received, made or freed. (With `ANNULUS_CORRUPT` a message is gone.)
#[allow(non_camel_case_types, reason = "C's names")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[repr(i32)]
pub enum annulus_status {
    /// Done.
    ANNULUS_OK = 0,
    /// No message is there now. Of a pool: no buffer is free now.
    ANNULUS_EMPTY = 1,
    /// The ring has no room now.
    ANNULUS_FULL = 2,
    /// No message, or no room, came in time.
    ANNULUS_TIMEOUT = 3,
    /// A send: no receiver is left, or the ring was closed. A receive: no sender is left, or the ring was
    /// closed, and every message was received. It stays so.
    ANNULUS_CLOSED = 4,
    /// An argument can't be: a null pointer, a number that is no kind of ring or of waiting, a capacity of 0,
    /// more messages committed than reserved, or advanced than readable.
    ANNULUS_INVALID = 5,
    /// The size of the message is not the ring's; or such a ring takes no messages of that size, or no
    /// records of that length.
    ANNULUS_WRONG_SIZE = 6,
    /// The pointer is no handle of that type: it was freed, or it is a handle of another type.
    ANNULUS_NOT_A_HANDLE = 7,
    /// Handles of this kind of ring can't do that, or this system can't.
    ANNULUS_UNSUPPORTED = 8,
    /// There is no memory for it.
    ANNULUS_NO_MEMORY = 9,
    /// The producer has a reservation: commit it first (0 messages, if need be).
    ANNULUS_RESERVED = 10,
    /// The system refused it, for example because the process has too many descriptors.
    ANNULUS_SYSTEM = 11,
    /// A fault in the library: it panicked, and wrote why to the standard error output. The handle may be
    /// freed; nothing else is promised of it.
    ANNULUS_PANICKED = 12,
    /// The handle has a view, which has to be ended first.
    ANNULUS_VIEWED = 13,
    /// As `ANNULUS_CLOSED`, of a ring between processes: the process on the other side has ended, and nobody
    /// had closed the ring before. All that it had sent or published completely was received. It stays so.
    ANNULUS_PEER_DIED = 14,
    /// The ring between processes is another one than was asked for: of another kind, or for messages of
    /// another size, alignment or type, or of another version. `annulus_shared_error` has both sides' values.
    ANNULUS_MISMATCH = 15,
    /// Somebody has it already: the consumer of a queue is there, all places for producers are taken, all
    /// seats for subscribers, or the name.
    ANNULUS_OCCUPIED = 16,
    /// No ring has that name, or the process that had it has ended.
    ANNULUS_NOT_FOUND = 17,
    /// What lies behind the descriptor is no ring, or a damaged one.
    ANNULUS_NO_RING = 18,
    /// Another process has written what is no message of the schema: a `bool` of 2, a number that no variant
    /// of an enum has, a text that is none. It was passed over and counted; the next receive continues behind
    /// it. What lies where the message was to go means nothing.
    ANNULUS_CORRUPT = 19,
    /// The buffer is smaller than the next record. The function says how long that one is, and the record
    /// stays: the next receive has it.
    ANNULUS_TOO_SMALL = 20,
    /// The server has refused the question, or has closed the service before it received it.
    ANNULUS_REFUSED = 21,
}

use annulus_status::{
    ANNULUS_CLOSED, ANNULUS_CORRUPT, ANNULUS_EMPTY, ANNULUS_FULL, ANNULUS_INVALID, ANNULUS_MISMATCH,
    ANNULUS_NO_MEMORY, ANNULUS_NO_RING, ANNULUS_NOT_A_HANDLE, ANNULUS_NOT_FOUND, ANNULUS_OCCUPIED,
    ANNULUS_OK, ANNULUS_PANICKED, ANNULUS_PEER_DIED, ANNULUS_REFUSED, ANNULUS_RESERVED, ANNULUS_SYSTEM,
    ANNULUS_TIMEOUT, ANNULUS_TOO_SMALL, ANNULUS_UNSUPPORTED, ANNULUS_VIEWED, ANNULUS_WRONG_SIZE,
};

/// The version of the interface that this header describes. It grows when a program that was compiled with
/// an older header would no longer work.
pub const ANNULUS_ABI_VERSION: u32 = 1;

/// The version of the interface that the library has. It is `ANNULUS_ABI_VERSION`, or header and library do
/// not belong together. Any thread may call it.
#[unsafe(no_mangle)]
pub extern "C" fn annulus_abi_version() -> u32 {
    ANNULUS_ABI_VERSION
}

/// The version of this header: the package's version. `ANNULUS_VERSION` is the same as text.
pub const ANNULUS_VERSION_MAJOR: u32 = 0;
/// See `ANNULUS_VERSION_MAJOR`.
pub const ANNULUS_VERSION_MINOR: u32 = 1;
/// See `ANNULUS_VERSION_MAJOR`.
pub const ANNULUS_VERSION_PATCH: u32 = 0;

// The header has numbers that a preprocessor can compare, so they stand here as numbers.
const _: () = {
    const fn is(number: u32, text: &str) -> bool {
        matches!(u32::from_str_radix(text, 10), Ok(found) if found == number)
    }
    assert!(is(ANNULUS_VERSION_MAJOR, env!("CARGO_PKG_VERSION_MAJOR")), "the package has another version");
    assert!(is(ANNULUS_VERSION_MINOR, env!("CARGO_PKG_VERSION_MINOR")), "the package has another version");
    assert!(is(ANNULUS_VERSION_PATCH, env!("CARGO_PKG_VERSION_PATCH")), "the package has another version");
};

/// The version of the library, as `ANNULUS_VERSION` is the header's version. The text is constant. Any thread
/// may call it.
#[unsafe(no_mangle)]
pub extern "C" fn annulus_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

const TEXTS: [(annulus_status, &CStr); 22] = [
    (ANNULUS_OK, c"done"),
    (ANNULUS_EMPTY, c"nothing is there now"),
    (ANNULUS_FULL, c"the ring has no room now"),
    (ANNULUS_TIMEOUT, c"the time is over"),
    (ANNULUS_CLOSED, c"the ring is closed"),
    (ANNULUS_INVALID, c"an argument can't be"),
    (ANNULUS_WRONG_SIZE, c"the size of the message is not the ring's"),
    (ANNULUS_NOT_A_HANDLE, c"the pointer is no handle of that type, or it was freed"),
    (ANNULUS_UNSUPPORTED, c"this kind of ring, or this system, can't do that"),
    (ANNULUS_NO_MEMORY, c"there is no memory for it"),
    (ANNULUS_RESERVED, c"the producer has a reservation that is not committed"),
    (ANNULUS_SYSTEM, c"the system refused it"),
    (ANNULUS_PANICKED, c"the library panicked"),
    (ANNULUS_VIEWED, c"the handle has a view that is not ended"),
    (ANNULUS_PEER_DIED, c"the process on the other side has ended without a close"),
    (ANNULUS_MISMATCH, c"the ring between processes is another one than was asked for"),
    (ANNULUS_OCCUPIED, c"somebody has it already"),
    (ANNULUS_NOT_FOUND, c"no ring has that name"),
    (ANNULUS_NO_RING, c"what lies there is no ring"),
    (ANNULUS_CORRUPT, c"what another process has written is no message"),
    (ANNULUS_TOO_SMALL, c"the buffer is smaller than the record"),
    (ANNULUS_REFUSED, c"the server has refused the question"),
];

/// What a status means, in English. The text is constant, and never null; for a number that is no status it
/// says so. Any thread may call it.
#[unsafe(no_mangle)]
pub extern "C" fn annulus_strerror(status: i32) -> *const c_char {
    let text = TEXTS.iter().find(|(known, _)| *known as i32 == status);
    text.map_or(c"no status of annulus", |(_, text)| text).as_ptr()
}

/// What a function comes to, before it is a status.
pub(crate) type Done<T = ()> = Result<T, annulus_status>;

/// Runs what a function does. A panic ends here, because C knows none.
#[inline(always)]
pub(crate) fn guarded(work: impl FnOnce() -> Done) -> annulus_status {
    match unseen(|| catch_unwind(AssertUnwindSafe(work))) {
        Ok(Ok(())) => ANNULUS_OK,
        Ok(Err(status)) => {
            if matches!(status, ANNULUS_CLOSED | ANNULUS_PEER_DIED) {
                after_end();
            }
            status
        }
        Err(_) => ANNULUS_PANICKED,
    }
}

/// As [`guarded`], for a function that returns a value: `otherwise`, where there is none.
#[inline(always)]
pub(crate) fn guarded_or<T>(otherwise: T, work: impl FnOnce() -> Done<T>) -> T {
    unseen(|| catch_unwind(AssertUnwindSafe(work))).ok().and_then(Result::ok).unwrap_or(otherwise)
}

/// Why a ring can't be made.
#[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
pub(crate) fn of_capacity(error: CapacityError) -> annulus_status {
    match error {
        CapacityError::TooLarge { .. } | CapacityError::Memory(_) => ANNULUS_NO_MEMORY,
        _ => ANNULUS_INVALID,
    }
}

/// Why a handle can't be joined by another one.
pub(crate) fn of_register(error: RegisterError) -> annulus_status {
    match error {
        RegisterError::Closed => ANNULUS_CLOSED,
        RegisterError::Capacity(error) => of_capacity(error),
        _ => ANNULUS_INVALID,
    }
}
