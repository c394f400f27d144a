//! Hints: to the optimiser about which way a branch goes, to the processor about what is read next. The
//! latter where a register holds a pointer and nothing else.

use crate::sync::tell;

/// `condition`, with the note that it is rarely true: what follows is laid out off the straight path.
#[inline(always)]
pub(crate) fn unlikely(condition: bool) -> bool {
    if condition {
        cold();
    }
    condition
}

#[cold]
#[inline]
fn cold() {}

/// Has the processor get the line of `at`, because it will be read soon. Changes nothing else, whatever
/// the address is.
#[inline(always)]
pub(crate) fn prefetch_to_read<T>(at: *const T) {
    tell!(Prefetch, at, 1);
    #[cfg(all(target_arch = "x86_64", target_pointer_width = "64", not(miri)))]
    // SAFETY: it neither faults nor changes anything.
    unsafe {
        core::arch::asm!("prefetcht0 [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(all(target_arch = "aarch64", target_pointer_width = "64", not(miri)))]
    // SAFETY: it neither faults nor changes anything.
    unsafe {
        core::arch::asm!("prfm pldl1keep, [{}]", in(reg) at, options(nostack, preserves_flags, readonly));
    }
    #[cfg(not(all(
        any(target_arch = "x86_64", target_arch = "aarch64"),
        target_pointer_width = "64",
        not(miri)
    )))]
    let _ = at;
}
