//! The clock that all processes of the machine share.

use rustix::time::{ClockId, clock_gettime};

/// Nanoseconds by `CLOCK_MONOTONIC`, from when the machine was started. No system call, on most machines.
#[inline]
pub(crate) fn now_ns() -> u64 {
    let time = clock_gettime(ClockId::Monotonic);
    // Neither is negative.
    time.tv_sec.cast_unsigned() * 1_000_000_000 + time.tv_nsec.cast_unsigned()
}
