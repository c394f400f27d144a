//! aarch64 on Linux: `WFET`, or `WFE` with the kernel's event stream.
//!
//! `LDXR` watches the line of a word, as it does for a store that would follow. When another core takes the
//! line to write it, this core gets an event, for which `WFE` waits. An event may have come before, from
//! anywhere: so one is made (`SEVL`) and used (`WFE`) at first, and then none is left.

use core::arch::asm;

use super::ProcessorWait;
use crate::sync::{AtomicU64, pause};

/// `HWCAP_EVTSTRM`: each core gets an event every 100 microseconds or more often.
const EVENT_STREAM: libc::c_ulong = 1 << 2;

/// `HWCAP2_WFXT`: the processor has `WFET`.
const WFXT: libc::c_ulong = 1 << 31;

/// What Linux says that the processor has.
pub(super) fn ask() -> ProcessorWait {
    // An emulator's kernel sends no events. But its `WFE` ends at once, so that tests run the assembly there.
    if cfg!(annulus_emulated) {
        return ProcessorWait::Wfe;
    }
    // SAFETY: questions.
    match unsafe { (libc::getauxval(libc::AT_HWCAP), libc::getauxval(libc::AT_HWCAP2)) } {
        (_, more) if more & WFXT != 0 => ProcessorWait::Wfet,
        (some, _) if some & EVENT_STREAM != 0 => ProcessorWait::Wfe,
        _ => ProcessorWait::Pause,
    }
}

/// monitor.wait3 to monitor.wait5. The bound of `WFE` is the next event of the stream.
pub(super) fn wait_while(by: ProcessorWait, word: &AtomicU64, seen: u64, nanos: u32) {
    match by {
        // SAFETY: the processor has it.
        ProcessorWait::Wfet => unsafe { wfet(word, seen, nanos) },
        ProcessorWait::Wfe => wfe(word, seen),
        _ => pause(),
    }
}

/// One pause.
#[inline]
pub(super) fn pause_by(_: ProcessorWait) {
    pause();
}

/// Each processor has it; what ends it is the caller's business.
fn wfe(word: &AtomicU64, seen: u64) {
    // SAFETY: it loads one word, which is borrowed: to the compiler a relaxed atomic load. It writes no
    // memory, and flags are expected to change.
    unsafe {
        asm!(
            "sevl",
            "wfe",
            "ldxr {now}, [{word}]",
            "cmp {now}, {seen}",
            "b.ne 2f",
            "wfe",
            "2:",
            now = out(reg) _,
            word = in(reg) word.as_ptr(),
            seen = in(reg) seen,
            options(nostack),
        );
    }
}

/// # Safety
///
/// The processor has `FEAT_WFxT`.
unsafe fn wfet(word: &AtomicU64, seen: u64, nanos: u32) {
    let (now, frequency): (u64, u64);
    // SAFETY: Linux lets every program read both registers.
    unsafe {
        asm!(
            "mrs {now}, cntvct_el0",
            "mrs {frequency}, cntfrq_el0",
            now = out(reg) now,
            frequency = out(reg) frequency,
            options(nostack, nomem, preserves_flags),
        );
    }
    // (The product fits: a frequency of 4 GHz has 32 bits, and so have the nanoseconds.)
    let end = now.wrapping_add(frequency.wrapping_mul(u64::from(nanos)) / 1_000_000_000);
    // SAFETY: the caller's promise, and as `wfe`.
    unsafe {
        asm!(
            "sevl",
            "wfe",
            "ldxr {now}, [{word}]",
            "cmp {now}, {seen}",
            "b.ne 2f",
            // `wfet x0`: assemblers may not know the name.
            ".inst 0xd5031000",
            "2:",
            now = out(reg) _,
            word = in(reg) word.as_ptr(),
            seen = in(reg) seen,
            in("x0") end,
            options(nostack),
        );
    }
}
