//! The words of a ring: flat, line-aligned, zeroed.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr::NonNull;

use crate::sync::AtomicU64;

/// Words in a cache line. loom's atomics are not words, so under loom a line is one of them and has no
/// alignment.
const LINE_WORDS: usize = if cfg!(annulus_loom) { 1 } else { 8 };

#[cfg_attr(not(annulus_loom), repr(C, align(64)))]
#[cfg_attr(annulus_loom, repr(C))]
#[derive(Default)]
struct Line([AtomicU64; LINE_WORDS]);

const _: () = assert!(size_of::<Line>() == LINE_WORDS * size_of::<AtomicU64>(), "a line has no padding");

/// A fixed block of atomic words, all zero at first, which begins on a cache line.
pub(super) struct Storage {
    lines: Box<[Line]>,
}

impl Storage {
    /// Room for `slots` slots of `stride` words each; `None` where memory has no such room.
    ///
    /// Every word is written here, so no page of a ring is touched for the first time while it runs.
    pub(super) fn zeroed(slots: usize, stride: usize) -> Option<Self> {
        let count = slots.checked_mul(stride)?.div_ceil(LINE_WORDS);
        let mut lines = Vec::new();
        lines.try_reserve_exact(count).ok()?;
        lines.resize_with(count, Line::default);
        Some(Self { lines: lines.into_boxed_slice() })
    }

    /// The first word. A `Line` is `LINE_WORDS` words and nothing else (asserted above), and boxed lines are
    /// contiguous, so from here on there are at least as many words as were asked for, for as long as the
    /// storage lives.
    pub(super) fn start(&self) -> NonNull<AtomicU64> {
        NonNull::from(&*self.lines).cast()
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;
    use crate::sync::Ordering;

    #[test]
    fn begins_on_a_line_and_is_zero() {
        for (slots, stride) in [(2, 1), (3, 2), (5, 8), (7, if cfg!(miri) { 52 } else { 520 })] {
            let storage = Storage::zeroed(slots, stride).unwrap();
            assert_eq!(storage.start().as_ptr() as usize % 64, 0);
            assert!(storage.lines.len() * LINE_WORDS >= slots * stride);
            let mut words = storage.lines.iter().flat_map(|line| &line.0);
            assert!(words.all(|word| word.load(Ordering::Relaxed) == 0));
        }
    }

    #[test]
    fn refuses_what_memory_does_not_hold() {
        assert!(Storage::zeroed(usize::MAX, 2).is_none());
        assert!(Storage::zeroed(usize::MAX / 16, 1).is_none());
    }
}
