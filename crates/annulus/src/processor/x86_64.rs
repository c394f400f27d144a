//! x86-64: `UMWAIT` of Intel, `MWAITX` of AMD.
//!
//! Both count their bound in ticks of the time stamp counter. Here a tick counts as a nanosecond. Such a
//! counter has between one and some five ticks for each nanosecond, so a wait is no longer than asked for,
//! and perhaps a fifth of that.

use core::arch::asm;
use core::arch::x86_64::{_rdtsc, CpuidResult};

use super::ProcessorWait;
use crate::sync::{AtomicU64, pause};

/// `UMWAIT` and `TPAUSE`: the state from which the processor comes back faster (C0.1).
// Decision 0081: latency before power.
const C0_1: u32 = 1;

/// `MWAITX`: no C-state at all. The wait saves less power, and ends faster.
const NO_C_STATE: u32 = 0xF0;

/// `MWAITX`: the timer is on.
const WITH_TIMER: u32 = 1 << 1;

/// Ticks of a [pause](pause_by) by `TPAUSE`: about as long as a pause instruction of the same processors.
const PAUSE_TICKS: u32 = 200;

/// What the processor says that it has.
pub(super) fn ask() -> ProcessorWait {
    // For tests by hand on a machine whose hypervisor hides it (verify/README.md).
    if cfg!(annulus_mwaitx_unasked) {
        // Unreached: as it says
        return ProcessorWait::Mwaitx;
    }
    if leaf(7).is_some_and(|leaf| leaf.ecx & (1 << 5) != 0) {
        // Unreached: the processor does not have it, or its hypervisor hides it, here and below
        ProcessorWait::Umwait
    } else if leaf(0x8000_0001).is_some_and(|leaf| leaf.ecx & (1 << 29) != 0) {
        // Unreached: as above
        ProcessorWait::Mwaitx
    } else {
        ProcessorWait::Pause
    }
}

/// That leaf of CPUID (its subleaf 0), if the processor has it.
#[allow(unused_unsafe, reason = "these functions are safe in later compilers")]
fn leaf(leaf: u32) -> Option<CpuidResult> {
    // SAFETY: every processor of 64 bits has CPUID, and the first leaf of either kind.
    let highest = unsafe { core::arch::x86_64::__cpuid(leaf & 0x8000_0000) }.eax;
    // SAFETY: it has this leaf.
    (leaf <= highest).then(|| unsafe { core::arch::x86_64::__cpuid_count(leaf, 0) })
}

/// monitor.wait3 to monitor.wait5.
pub(super) fn wait_while(by: ProcessorWait, word: &AtomicU64, seen: u64, ticks: u32) {
    match by {
        // Unreached: as in `ask`. SAFETY: the processor has it.
        ProcessorWait::Umwait => unsafe { umwait(word, seen, ticks) },
        // Unreached: as in `ask`. SAFETY: the processor has it.
        ProcessorWait::Mwaitx => unsafe { mwaitx(word, seen, ticks) },
        _ => pause(),
    }
}

/// One pause.
#[inline]
pub(super) fn pause_by(by: ProcessorWait) {
    match by {
        // Unreached: as in `ask`. SAFETY: the processor has it.
        ProcessorWait::Umwait => unsafe { tpause(PAUSE_TICKS) },
        _ => pause(),
    }
}

/// When so many ticks have passed, in halves.
// Unreached: as in `ask`, here and below
fn deadline(ticks: u32) -> (u32, u32) {
    // SAFETY: every processor of 64 bits has the counter.
    let end = unsafe { _rdtsc() }.saturating_add(u64::from(ticks));
    ((end >> 32) as u32, end as u32)
}

/// # Safety
///
/// The processor has `WAITPKG`.
// Unreached: as in `ask`
unsafe fn umwait(word: &AtomicU64, seen: u64, ticks: u32) {
    let (high, low) = deadline(ticks);
    // SAFETY: the caller's promise. It loads one word, which is borrowed: to the compiler a relaxed atomic
    // load. It writes no memory and no register, and flags are expected to change.
    unsafe {
        asm!(
            "umonitor {word}",
            "cmp qword ptr [{word}], {seen}",
            "jne 2f",
            "umwait {state:e}",
            "2:",
            word = in(reg) word.as_ptr(),
            seen = in(reg) seen,
            state = in(reg) C0_1,
            in("eax") low,
            in("edx") high,
            options(nostack),
        );
    }
}

/// # Safety
///
/// The processor has `WAITPKG`.
// Unreached: as in `ask`
unsafe fn tpause(ticks: u32) {
    let (high, low) = deadline(ticks);
    // SAFETY: the caller's promise. It changes flags only.
    unsafe {
        asm!(
            "tpause {state:e}",
            state = in(reg) C0_1,
            in("eax") low,
            in("edx") high,
            options(nostack, nomem),
        );
    }
}

/// # Safety
///
/// The processor has `MONITORX`, with the timer, which came with it.
// Unreached: as in `ask`
unsafe fn mwaitx(word: &AtomicU64, seen: u64, ticks: u32) {
    // SAFETY: the caller's promise. It loads one word, which is borrowed: to the compiler a relaxed atomic
    // load. It writes no memory. `rbx`, which the compiler may have taken for itself, has its value again at
    // the end. This holds also where it gave it to an operand: `seen` is not used after the exchange, and
    // `ticks` may change.
    unsafe {
        asm!(
            "monitorx",
            "cmp qword ptr [rax], {seen}",
            "jne 2f",
            "mov eax, {state}",
            "mov ecx, {timer}",
            "xchg rbx, {ticks}",
            "mwaitx",
            "xchg rbx, {ticks}",
            "2:",
            state = const NO_C_STATE,
            timer = const WITH_TIMER,
            seen = in(reg) seen,
            ticks = inout(reg) u64::from(ticks) => _,
            inout("rax") word.as_ptr() => _,
            // No extension and no hint.
            inout("rcx") 0_u64 => _,
            in("rdx") 0_u64,
            options(nostack),
        );
    }
}
