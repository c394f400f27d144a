//! Vector copy on aarch64: pairs of 128-bit registers (`ldp`/`stp`), which every such processor has.
//!
//! The barriers that the payload's fences compile to (`dmb ishld`, `dmb ish`) order vector accesses as they
//! order words.

use core::arch::asm;

pub(super) const AVAILABLE: bool = true;
pub(super) const MIN_BYTES: usize = 64;

/// Copies `bytes` bytes, as if by a loop of relaxed atomic accesses: blocks of 64, then one of 64 that ends
/// with the last byte and may overlap the one before.
///
/// # Safety
///
/// `from` is readable and `to` writable for `bytes` bytes, at least [`MIN_BYTES`]; they do not overlap. Other
/// threads access either side only atomically, or by this function.
#[inline]
pub(super) unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    debug_assert!(bytes >= MIN_BYTES);
    // SAFETY: every access lies within `bytes` bytes of `from` or `to`: the loop runs while 64 are left, and
    // the last block begins at `bytes - 64`, which is not negative.
    unsafe {
        asm!(
            "add {from_last}, {from}, {left}",
            "add {to_last}, {to}, {left}",
            "2:",
            "ldp q0, q1, [{from}], #32",
            "ldp q2, q3, [{from}], #32",
            "stp q0, q1, [{to}], #32",
            "stp q2, q3, [{to}], #32",
            "sub {left}, {left}, #64",
            "cmp {left}, #64",
            "b.hs 2b",
            "ldp q0, q1, [{from_last}, #-64]",
            "ldp q2, q3, [{from_last}, #-32]",
            "stp q0, q1, [{to_last}, #-64]",
            "stp q2, q3, [{to_last}, #-32]",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            left = inout(reg) bytes => _,
            from_last = out(reg) _,
            to_last = out(reg) _,
            out("v0") _, out("v1") _, out("v2") _, out("v3") _,
            options(nostack),
        );
    }
}
