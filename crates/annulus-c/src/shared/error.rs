//! [`annulus_shared_error`]: what both sides of a ring say, where they do not agree.

use core::ffi::{CStr, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::status::annulus_status::{self, ANNULUS_INVALID, ANNULUS_OK, ANNULUS_PANICKED};
use crate::status::annulus_strerror;

/// Why a ring between processes was not made, or could not be joined or found. Set `size` to
/// `sizeof(annulus_shared_error)` before the call. A function that returns `ANNULUS_OK` stores no text and
/// zeros.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct annulus_shared_error {
    /// `sizeof(annulus_shared_error)`: it tells the library which version of this the program was compiled
    /// with.
    pub size: usize,
    /// Where two values differ (`ANNULUS_MISMATCH`): the ring's. Otherwise what is wrong, or 0.
    pub found: u64,
    /// And the one that this process asked for.
    pub wanted: u64,
    /// The `errno` of the call that failed (`ANNULUS_SYSTEM`), or 0.
    pub system_error: i32,
    /// All of that in English. It ends with a 0, and is cut off where it is longer.
    pub text: [c_char; 228],
}

/// Why something was not done.
#[derive(Debug)]
pub(crate) struct Why {
    pub(crate) status: annulus_status,
    found: u64,
    wanted: u64,
    system_error: i32,
    /// Where it is empty, the status's text is shown.
    text: String,
}

/// What a function comes to that can say why.
pub(crate) type Shared<T = ()> = Result<T, Why>;

impl Why {
    pub(crate) fn new(status: annulus_status, text: impl Into<String>) -> Self {
        Self { status, found: 0, wanted: 0, system_error: 0, text: text.into() }
    }

    /// With both values.
    pub(crate) fn with(self, found: u64, wanted: u64) -> Self {
        Self { found, wanted, ..self }
    }

    #[cfg(all(target_os = "linux", target_pointer_width = "64"))]
    pub(crate) fn of_system(self, error: &std::io::Error) -> Self {
        use std::error::Error;
        // An error that says at which step it came has the system's number in its source.
        let inner = || error.source()?.downcast_ref::<std::io::Error>()?.raw_os_error();
        Self { system_error: error.raw_os_error().or_else(inner).unwrap_or(0), ..self }
    }
}

impl From<annulus_status> for Why {
    fn from(status: annulus_status) -> Self {
        Self::new(status, "")
    }
}

/// Runs what a function does, and stores why it was not done. A panic ends here.
///
/// # Safety
///
/// `error` is null, or may be read and written for so many bytes as its `size` says.
pub(crate) unsafe fn explained(
    error: *mut annulus_shared_error,
    work: impl FnOnce() -> Shared,
) -> annulus_status {
    // SAFETY: the caller's promise; `size` is looked at before the rest.
    if !error.is_null() && unsafe { (*error).size } != size_of::<annulus_shared_error>() {
        return ANNULUS_INVALID;
    }
    let why = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => Why::from(ANNULUS_OK),
        Ok(Err(why)) => why,
        Err(_) => ANNULUS_PANICKED.into(),
    };
    if !error.is_null() {
        // SAFETY: the caller's promise, and its size is the struct's.
        unsafe { error.write(why.told()) };
    }
    why.status
}

/// A string of any bytes, as a path is.
///
/// # Safety
///
/// `string` is null, or a string that lives for `'a`.
pub(super) unsafe fn bytes<'a>(string: *const c_char) -> Option<&'a CStr> {
    // SAFETY: the caller's promise.
    (!string.is_null()).then(|| unsafe { CStr::from_ptr(string) })
}

/// A string, which has to be UTF-8. `argument` is what the error calls it.
///
/// # Safety
///
/// As of [`bytes`].
pub(super) unsafe fn text<'a>(string: *const c_char, argument: &str) -> Shared<Option<&'a str>> {
    // SAFETY: the caller's promise.
    let text = unsafe { bytes(string) }.map(CStr::to_str).transpose();
    text.map_err(|_| Why::new(ANNULUS_INVALID, format!("{argument} is no UTF-8")))
}

impl Why {
    fn told(&self) -> annulus_shared_error {
        let mut text = [0; 228];
        let of_status = || {
            // SAFETY: it is a constant text.
            unsafe { CStr::from_ptr(annulus_strerror(self.status as i32)) }.to_bytes()
        };
        let bytes = match self.text.as_bytes() {
            _ if self.status == ANNULUS_OK => &[],
            [] => of_status(),
            bytes => bytes,
        };
        // A character that would be cut in two is left out.
        let mut most = bytes.len().min(text.len() - 1);
        while most < bytes.len() && bytes[most] & 0xC0 == 0x80 {
            most -= 1;
        }
        text.iter_mut().zip(&bytes[..most]).for_each(|(to, from)| *to = c_char::from_ne_bytes([*from]));
        let Self { found, wanted, system_error, .. } = *self;
        annulus_shared_error { size: size_of::<annulus_shared_error>(), found, wanted, system_error, text }
    }
}
