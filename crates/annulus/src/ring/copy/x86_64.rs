//! Vector copy on x86-64: AVX where the processor has it, else SSE2, which all have.
//!
//! Ordinary vector loads and stores (no non-temporal ones) keep the processor's total store order, so the fences
//! around a payload order them as they order words. Intel and AMD promise at least 8-byte atomicity only to
//! aligned parts of a vector; the seqlock needs none, and the compiler is told nothing but "this block reads and
//! writes memory" (no `nomem`, no `readonly`).

use core::arch::asm;

pub(super) const AVAILABLE: bool = true;
pub(super) const MIN_BYTES: usize = 64;

/// Whether AVX may be used. One relaxed load and a test after the first call.
#[inline]
fn has_avx() -> bool {
    #[cfg(feature = "std")]
    return std::arch::is_x86_feature_detected!("avx");
    #[cfg(not(feature = "std"))]
    return cfg!(target_feature = "avx");
}

/// Copies `bytes` bytes, as if by a loop of relaxed atomic accesses.
///
/// # Safety
///
/// `from` is readable and `to` writable for `bytes` bytes, at least [`MIN_BYTES`]; they do not overlap. Other
/// threads access either side only atomically, or by this function.
#[inline]
pub(super) unsafe fn copy(to: *mut u8, from: *const u8, bytes: usize) {
    debug_assert!(bytes >= MIN_BYTES);
    if has_avx() {
        // SAFETY: the caller's promise, and AVX is there.
        unsafe { copy_avx(to, from, bytes) }
    } else {
        // SAFETY: the caller's promise.
        unsafe { copy_sse2(to, from, bytes) }
    }
}

/// Blocks of 128 bytes, then of 32, then one of 32 that ends with the last byte and may overlap the one before.
///
/// # Safety
///
/// As [`copy`], and the processor has AVX.
#[inline]
unsafe fn copy_avx(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: every access lies within `bytes` bytes of `from` or `to`: the first loop runs while 128 are left, the
    // second while 32 are, and the last block begins at `bytes - 32`, which is not negative.
    unsafe {
        asm!(
            "sub {left}, 128",
            "jb 3f",
            "2:",
            "vmovdqu ymm0, [{from}]",
            "vmovdqu ymm1, [{from} + 32]",
            "vmovdqu ymm2, [{from} + 64]",
            "vmovdqu ymm3, [{from} + 96]",
            "vmovdqu [{to}], ymm0",
            "vmovdqu [{to} + 32], ymm1",
            "vmovdqu [{to} + 64], ymm2",
            "vmovdqu [{to} + 96], ymm3",
            "add {from}, 128",
            "add {to}, 128",
            "sub {left}, 128",
            "jae 2b",
            "3:",
            "add {left}, 96",
            "jnc 5f",
            "4:",
            "vmovdqu ymm0, [{from}]",
            "vmovdqu [{to}], ymm0",
            "add {from}, 32",
            "add {to}, 32",
            "sub {left}, 32",
            "jae 4b",
            "5:",
            "vmovdqu ymm0, [{from} + {left}]",
            "vmovdqu [{to} + {left}], ymm0",
            "vzeroupper",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            left = inout(reg) bytes => _,
            // `vzeroupper` clears the upper half of all sixteen.
            out("ymm0") _, out("ymm1") _, out("ymm2") _, out("ymm3") _,
            out("ymm4") _, out("ymm5") _, out("ymm6") _, out("ymm7") _,
            out("ymm8") _, out("ymm9") _, out("ymm10") _, out("ymm11") _,
            out("ymm12") _, out("ymm13") _, out("ymm14") _, out("ymm15") _,
            options(nostack),
        );
    }
}

/// Blocks of 64 bytes, then of 16, then one of 16 that ends with the last byte and may overlap the one before.
///
/// # Safety
///
/// As [`copy`].
#[inline]
unsafe fn copy_sse2(to: *mut u8, from: *const u8, bytes: usize) {
    // SAFETY: as in `copy_avx`, with 64 and 16 in the place of 128 and 32.
    unsafe {
        asm!(
            "sub {left}, 64",
            "jb 3f",
            "2:",
            "movdqu xmm0, [{from}]",
            "movdqu xmm1, [{from} + 16]",
            "movdqu xmm2, [{from} + 32]",
            "movdqu xmm3, [{from} + 48]",
            "movdqu [{to}], xmm0",
            "movdqu [{to} + 16], xmm1",
            "movdqu [{to} + 32], xmm2",
            "movdqu [{to} + 48], xmm3",
            "add {from}, 64",
            "add {to}, 64",
            "sub {left}, 64",
            "jae 2b",
            "3:",
            "add {left}, 48",
            "jnc 5f",
            "4:",
            "movdqu xmm0, [{from}]",
            "movdqu [{to}], xmm0",
            "add {from}, 16",
            "add {to}, 16",
            "sub {left}, 16",
            "jae 4b",
            "5:",
            "movdqu xmm0, [{from} + {left}]",
            "movdqu [{to} + {left}], xmm0",
            from = inout(reg) from => _,
            to = inout(reg) to => _,
            left = inout(reg) bytes => _,
            out("xmm0") _, out("xmm1") _, out("xmm2") _, out("xmm3") _,
            options(nostack),
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    #[test]
    fn both_forms_copy_every_length() {
        for bytes in MIN_BYTES..700 {
            let from: Vec<u8> = (0..bytes).map(|i| (i * 31 + i / 256) as u8).collect();
            for copy in [copy, copy_sse2] {
                let mut to = vec![0xEE_u8; bytes + 64];
                // SAFETY: both have `bytes` bytes from where the pointers stand.
                unsafe { copy(to.as_mut_ptr().add(32), from.as_ptr(), bytes) };
                assert_eq!(to[32..32 + bytes], from);
                assert!(to[..32].iter().chain(&to[32 + bytes..]).all(|&byte| byte == 0xEE));
            }
        }
    }
}
