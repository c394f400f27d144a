//! The words of a ring: flat, line-aligned, zeroed.

use core::ptr::NonNull;

use crate::base::room::Before;
use crate::memory::{Block, Filled, Memory, NoBlock};
use crate::sync::AtomicU64;

/// Words in a cache line. loom's atomics are not words, so under loom a line is one of them and has no
/// alignment.
const LINE_WORDS: usize = if cfg!(annulus_loom) { 1 } else { 8 };

#[cfg_attr(not(annulus_loom), repr(C, align(64)))]
#[cfg_attr(annulus_loom, repr(C))]
#[derive(Default)]
struct WordLine([AtomicU64; LINE_WORDS]);

const _: () = assert!(size_of::<WordLine>() == LINE_WORDS * size_of::<AtomicU64>(), "a line has no padding");

/// A fixed block of atomic words, all zero at first, which begins on a cache line.
pub(super) struct Storage {
    lines: Filled<WordLine>,
}

impl Storage {
    /// Room for `slots` slots of `stride` words each, in `memory`, behind what is to be before them.
    ///
    /// Every word is written here, so no page of a ring is touched for the first time while it runs.
    #[inline(always)]
    pub(super) fn zeroed(
        slots: usize,
        stride: usize,
        memory: &Memory,
        before: Before,
    ) -> Result<Self, NoBlock> {
        let words = slots.checked_mul(stride).ok_or(NoBlock::TooLarge)?;
        let count = words.div_ceil(LINE_WORDS);
        #[cfg(annulus_loom)]
        let lines = Filled::new(count, memory, before, WordLine::default)?;
        #[cfg(not(annulus_loom))]
        let lines = {
            let layout = core::alloc::Layout::array::<WordLine>(count).map_err(|_| NoBlock::TooLarge)?;
            // SAFETY: words that are 0 are words.
            unsafe { Filled::over(Block::zeroed(layout, memory, before)?) }
        };
        Ok(Self { lines })
    }

    /// The words of a block of memory that other processes have, too: as many lines as it has room for.
    ///
    /// # Safety
    ///
    /// All processes access these words by atomic operations only; those that can't write there load them
    /// only.
    #[cfg(feature = "shm")]
    pub(super) unsafe fn over(block: Block) -> Self {
        // SAFETY: any bytes are a line of words, and no byte is in two of them. The caller promises the rest.
        Self { lines: unsafe { Filled::over(block) } }
    }

    /// The layout of such a block, for `slots` slots of `stride` words each. `None` if there is no such
    /// block.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(super) fn layout(slots: usize, stride: usize) -> Option<core::alloc::Layout> {
        core::alloc::Layout::array::<WordLine>(slots.checked_mul(stride)?.div_ceil(LINE_WORDS)).ok()
    }

    /// The first word. A `WordLine` is `LINE_WORDS` words and nothing else (asserted above), and they are
    /// contiguous, so from here on there are at least as many words as were asked for, for as long as the
    /// storage lives.
    pub(super) fn start(&self) -> NonNull<AtomicU64> {
        self.lines.start().cast()
    }

    /// Where it lies.
    #[inline(always)]
    pub(super) fn block_mut(&mut self) -> &mut Block {
        self.lines.block_mut()
    }

    /// Where it lies.
    #[cfg(feature = "std")]
    pub(super) fn block(&self) -> &Block {
        self.lines.block()
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;
    use crate::sync::Ordering;

    #[test]
    fn begins_on_a_line_and_is_zero() {
        for (slots, stride) in [(2, 1), (3, 2), (5, 8), (7, if cfg!(miri) { 52 } else { 520 })] {
            let storage = Storage::zeroed(slots, stride, &Memory::default(), Before::NOTHING).unwrap();
            assert_eq!(storage.start().as_ptr() as usize % 64, 0);
            // SAFETY: so many words were asked for.
            let words = unsafe { core::slice::from_raw_parts(storage.start().as_ptr(), slots * stride) };
            assert!(words.iter().all(|word| word.load(Ordering::Relaxed) == 0));
        }
    }

    #[test]
    fn refuses_what_memory_does_not_hold() {
        assert!(Storage::zeroed(usize::MAX, 2, &Memory::default(), Before::NOTHING).is_err());
        assert!(Storage::zeroed(usize::MAX / 16, 1, &Memory::default(), Before::NOTHING).is_err());
    }
}
