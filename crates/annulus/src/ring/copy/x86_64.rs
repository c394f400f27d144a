//! Vector copy on x86-64: the widest vectors the processor has, at least SSE2, which all have.
//!
//! Ordinary vector loads and stores (no non-temporal ones) keep the processor's total store order, so the
//! fences around a payload order them as they order words. Intel and AMD promise at least 8-byte atomicity
//! only to aligned parts of a vector; the seqlock needs none, and the compiler is told nothing but "this
//! block reads and writes memory" (no `nomem`, no `readonly`).

use core::arch::asm;

pub(super) const AVAILABLE: bool = true;
pub(super) const MIN_BYTES: usize = 64;

/// Defines a question to the processor: one relaxed load and a test after the first call. Without `std` there
/// is nobody to ask, and only what the target promises is there.
macro_rules! define_has {
    ($name:ident, $feature:tt) => {
        #[inline]
        fn $name() -> bool {
            #[cfg(feature = "std")]
            return std::arch::is_x86_feature_detected!($feature);
            #[cfg(not(feature = "std"))]
            return cfg!(target_feature = $feature);
        }
    };
}

define_has!(has_avx512, "avx512f");
define_has!(has_avx, "avx");

/// Copies `bytes` bytes, as if by a loop of relaxed atomic accesses.
///
/// # Safety
///
/// `from` is readable and `to` writable for `bytes` bytes, at least [`MIN_BYTES`]; they do not overlap. Other
/// threads access either side only atomically, or by this function.
#[inline]
pub(super) unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    debug_assert!(bytes >= MIN_BYTES);
    // SAFETY: the caller's promise, and the processor has what is used.
    unsafe {
        if has_avx512() {
            copy_avx512(to, from, bytes);
        } else if has_avx() {
            // Unreached: for processors with fewer kinds of vectors than this one; ring/copy.rs tries each by
            // itself
            copy_avx(to, from, bytes);
            // Unreached: for processors with fewer kinds of vectors than this one; ring/copy.rs tries each by
            // itself
        } else {
            copy_sse2(to, from, bytes);
        }
    }
}

/// Defines a copy by registers of `$width` bytes: blocks of four, then single ones, then one that ends with
/// the last byte and may overlap the one before.
macro_rules! define_copy {
    ($name:ident, $move:literal, $register:literal, $width:literal, $end:literal) => {
        /// # Safety
        ///
        /// As [`copy`], and the processor has the registers.
        #[inline]
        unsafe fn $name(to: *mut u8, from: *const u8, bytes: usize) {
            // SAFETY: every access lies within `bytes` bytes of `from` or `to`: the first loop runs while
            // four registers are left, the second while one is, and the last one begins at `bytes - width`,
            // which is not negative.
            unsafe {
                asm!(
                    concat!("sub {left}, 4 * ", $width),
                    "jb 3f",
                    "2:",
                    concat!($move, " ", $register, "0, [{from}]"),
                    concat!($move, " ", $register, "1, [{from} + ", $width, "]"),
                    concat!($move, " ", $register, "2, [{from} + 2 * ", $width, "]"),
                    concat!($move, " ", $register, "3, [{from} + 3 * ", $width, "]"),
                    concat!($move, " [{to}], ", $register, "0"),
                    concat!($move, " [{to} + ", $width, "], ", $register, "1"),
                    concat!($move, " [{to} + 2 * ", $width, "], ", $register, "2"),
                    concat!($move, " [{to} + 3 * ", $width, "], ", $register, "3"),
                    concat!("add {from}, 4 * ", $width),
                    concat!("add {to}, 4 * ", $width),
                    concat!("sub {left}, 4 * ", $width),
                    "jae 2b",
                    "3:",
                    concat!("add {left}, 3 * ", $width),
                    "jnc 5f",
                    "4:",
                    concat!($move, " ", $register, "0, [{from}]"),
                    concat!($move, " [{to}], ", $register, "0"),
                    concat!("add {from}, ", $width),
                    concat!("add {to}, ", $width),
                    concat!("sub {left}, ", $width),
                    "jae 4b",
                    "5:",
                    concat!($move, " ", $register, "0, [{from} + {left}]"),
                    concat!($move, " [{to} + {left}], ", $register, "0"),
                    $end,
                    from = inout(reg) from => _,
                    to = inout(reg) to => _,
                    left = inout(reg) bytes => _,
                    // All sixteen: `vzeroupper` clears their upper parts.
                    out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
                    out("xmm4") _, out("xmm5") _, out("xmm6") _, out("xmm7") _,
                    out("xmm8") _, out("xmm9") _, out("xmm10") _, out("xmm11") _,
                    out("xmm12") _, out("xmm13") _, out("xmm14") _, out("xmm15") _,
                    options(nostack),
                );
            }
        }
    };
}

define_copy!(copy_sse2, "movdqu", "xmm", 16, "");
define_copy!(copy_avx, "vmovdqu", "ymm", 32, "vzeroupper");
define_copy!(copy_avx512, "vmovdqu64", "zmm", 64, "vzeroupper");

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn forms_copy_every_length() {
        let mut forms: Vec<unsafe fn(*mut u8, *const u8, usize)> = vec![copy, copy_sse2];
        if has_avx() {
            forms.push(copy_avx);
        }
        if has_avx512() {
            forms.push(copy_avx512);
        }
        for bytes in MIN_BYTES..1100 {
            let from: Vec<u8> = (0..bytes).map(|i| (i * 31 + i / 256) as u8).collect();
            for copy in &forms {
                let mut to = vec![0xEE_u8; bytes + 128];
                // SAFETY: both have `bytes` bytes from where the pointers stand, and the processor was asked.
                unsafe { copy(to.as_mut_ptr().add(64), from.as_ptr(), bytes) };
                assert_eq!(to[64..64 + bytes], from);
                assert!(to[..64].iter().chain(&to[64 + bytes..]).all(|&byte| byte == 0xEE));
            }
        }
    }
}
