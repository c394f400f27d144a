//! What C sees of rings of frames: [`annulus_frame_options`], [`annulus_frame`], and the types of handles.

use core::ffi::c_void;
use core::ptr;

use super::error::{Shared, Why};
use crate::status::annulus_status::ANNULUS_INVALID;

/// The writing end of a ring of frames. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_frame_publisher {
    _opaque: [u8; 0],
}

/// A reading end of a ring of frames. One thread at a time uses it; it may move to another thread.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_frame_subscriber {
    _opaque: [u8; 0],
}

/// A frame that is held.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Debug)]
pub struct annulus_held_frame {
    _opaque: [u8; 0],
}

/// What a ring of frames is made of: `annulus_frame_options frames = ANNULUS_FRAME_OPTIONS(1 << 20);`, and
/// then what is to be other than the default. What is not set has to be 0.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct annulus_frame_options {
    /// `sizeof(annulus_frame_options)`.
    pub size: usize,
    /// How many bytes a frame may have.
    pub frame_bytes: usize,
    /// At multiples of how many bytes frames begin: a power of two, 64 to 2 MiB; 0 is 64.
    pub alignment: usize,
    /// How many frames a subscriber may hold at one time, at most 512; 0 is 2.
    pub held: u32,
    /// Whether the publisher waits for the slowest subscriber. Otherwise it never waits, and a subscriber
    /// that falls behind loses the oldest frames, and counts them.
    pub lossless: bool,
}

/// A frame that was received. It stays as it is until `annulus_held_frame_free` gives `held` back.
#[allow(non_camel_case_types, reason = "C's name")]
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct annulus_frame {
    /// The first byte, in place. Another process wrote it, and could do so again: unless you trust it not to,
    /// copy what you need, then check the copy, and use the copy.
    pub bytes: *const c_void,
    /// How many there are.
    pub length: usize,
    /// The number of the message, from 0 on: a gap is what was lost.
    pub sequence: u64,
    /// Which of the ring's frames it is, from 0 on. What goes with each frame, a buffer of a GPU for example,
    /// has the same number, and nobody writes to it while this frame is held.
    pub index: usize,
    /// What holds it.
    pub held: *mut annulus_held_frame,
}

impl annulus_frame {
    pub(super) const NONE: Self =
        Self { bytes: ptr::null(), length: 0, sequence: 0, index: 0, held: ptr::null_mut() };
}

impl annulus_frame_options {
    /// # Safety
    ///
    /// `options` is null, or points to so many bytes as its `size` says.
    pub(super) unsafe fn checked(options: *const Self) -> Shared<Self> {
        // SAFETY: the caller's promise; `size` is looked at before the rest.
        if options.is_null() || unsafe { (*options).size } != size_of::<Self>() {
            return Err(Why::new(ANNULUS_INVALID, "no options of frames, or of another version"));
        }
        // SAFETY: as above.
        let Self { alignment, held, .. } = unsafe { *options };
        let held = if held == 0 { 2 } else { held };
        // SAFETY: as above.
        Ok(Self { alignment: if alignment == 0 { 64 } else { alignment }, held, ..unsafe { *options } })
    }
}
