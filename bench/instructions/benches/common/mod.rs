//! Instructions are counted by callgrind: they are the same in each run, so a ceiling can lie just above
//! today's number.
//!
//! A ceiling is for 1,024 messages and what is around the loop. It is about two percent above what was
//! counted with the compiler that the benchmarks were last taken with: one instruction more for each message
//! is above it. Where a change that is meant to cost something reaches a ceiling, raise it in the same commit
//! and say why.

use std::hint::black_box;

use gungraun::prelude::*;
use gungraun::{Callgrind, EventKind};

pub(crate) const MESSAGES: usize = 1024;
pub(crate) const CAPACITY: usize = 4 * MESSAGES;

/// At most `instructions`, and nothing is compared with a run before.
pub(crate) fn at_most(instructions: u64) -> LibraryBenchmarkConfig {
    let mut config = LibraryBenchmarkConfig::default();
    config.tool(Callgrind::default().hard_limits([(EventKind::Ir, instructions)]));
    config
}

/// A message, which the compiler knows nothing of.
#[inline(always)]
pub(crate) fn message(number: usize) -> u64 {
    if cfg!(feature = "heavier") { black_box(black_box(number as u64) ^ 1) } else { black_box(number as u64) }
}

/// What was received.
#[inline(always)]
pub(crate) fn take<T>(received: T) -> T {
    if cfg!(feature = "heavier") {
        black_box(black_box(0_u64) ^ 1);
    }
    black_box(received)
}
