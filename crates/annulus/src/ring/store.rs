//! What a ring keeps its messages in.

use core::ptr::NonNull;

use super::Writers;
use crate::memory::Block;
use crate::sync::AtomicU64;

/// What a ring keeps its messages in: a block of units, a slot of which has a stamp.
pub(crate) trait Store {
    /// What the block consists of.
    type Unit;

    /// Units from one slot to the next, where all rings of such a store have as many: a constant to the
    /// optimiser.
    const STRIDE: Option<usize> = None;

    /// The first unit; the block lives as long as the store.
    fn start(&self) -> NonNull<Self::Unit>;

    /// Where it lies.
    fn block_mut(&mut self) -> &mut Block;

    /// Where it lies.
    #[cfg(feature = "std")]
    fn block(&self) -> &Block;

    /// The stamp of the slot that begins with unit number `at`.
    ///
    /// # Safety
    ///
    /// `start` is that of a store that lives for `'a`, and `at` is a multiple of its stride, below its number
    /// of units.
    unsafe fn stamp<'a>(start: NonNull<Self::Unit>, at: usize) -> &'a AtomicU64;
}

/// How far its slots lie from each other.
pub(crate) trait Strided: Store {
    /// Whether [`stride`](Self::stride) says it of all rings. If not, whoever makes one does.
    const IS_CONSTANT: bool = true;

    /// Units from one slot to the next.
    fn stride(writers: Writers) -> usize;
}
