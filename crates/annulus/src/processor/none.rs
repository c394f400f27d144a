//! Processors that have no such instructions, or that nobody can ask.

use super::ProcessorWait;
use crate::sync::{AtomicU64, pause};

/// What the processor has.
#[cfg(not(annulus_loom))]
pub(super) fn ask() -> ProcessorWait {
    ProcessorWait::Pause
}

/// A pause instead.
pub(super) fn wait_while(_: ProcessorWait, _word: &AtomicU64, _seen: u64, _nanos: u32) {
    pause();
}

/// A pause.
#[inline]
pub(super) fn pause_by(_: ProcessorWait) {
    pause();
}
