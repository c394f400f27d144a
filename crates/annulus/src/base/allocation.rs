//! [`Allocation`]: what the global allocator gives: bytes, aligned for a word, in which a block begins
//! somewhere.
//!
//! ```text
//! ┌───────────┬───────────────────────────┬──────────────────────────────┬───────┐
//! │           │ what is before the block  │ the block, on a line         │       │
//! └───────────┴───────────────────────────┴──────────────────────────────┴───────┘
//! ▲ the origin                            ▲ the start
//! ```
//!
//! Most allocators keep small blocks of the last few sizes at hand, and go past that stock if somebody asks
//! for more alignment than a word has. So this asks for more bytes instead, and finds the place itself.

use alloc::alloc::{alloc, alloc_zeroed, dealloc};
use core::alloc::Layout;
use core::ptr::NonNull;

/// Where it begins, and how many bytes there are.
#[derive(Clone, Copy)]
pub(crate) struct Allocation {
    origin: NonNull<u8>,
    bytes: usize,
}

/// What is to lie in the same allocation before a block: so many bytes, up to the block's first. The block
/// then begins at a multiple of this alignment, too.
#[derive(Clone, Copy)]
pub(crate) struct Before {
    pub(crate) bytes: usize,
    pub(crate) alignment: usize,
}

impl Before {
    /// Nothing.
    pub(crate) const NOTHING: Self = Self { bytes: 0, alignment: 1 };
}

/// How an allocation is aligned.
const WORD: usize = align_of::<usize>();

impl Allocation {
    /// An allocation for a block of this layout, and where that starts. One of the two has a size. `None`
    /// where there is no such allocation.
    #[inline(always)]
    pub(crate) fn new(layout: Layout, before: Before, is_zeroed: bool) -> Option<(Self, NonNull<u8>)> {
        // Decision 0125: no allocation asks for the alignment of a line.
        let alignment = layout.align().max(before.alignment);
        let bytes = layout.size().checked_add(before.bytes + alignment.max(WORD) - WORD)?;
        let asked = Layout::from_size_align(bytes, WORD).ok()?;
        let allocate = if is_zeroed { alloc_zeroed } else { alloc };
        // SAFETY: the size is not 0, as the caller says.
        let origin = NonNull::new(unsafe { allocate(asked) })?;
        let first = origin.addr().get() + before.bytes;
        let distance = first.next_multiple_of(alignment) - origin.addr().get();
        // SAFETY: the allocation begins at a multiple of a word. So the next multiple of the alignment behind
        // `before` is further by their difference at most, and has the layout behind it.
        Some((Self { origin, bytes }, unsafe { origin.add(distance) }))
    }

    /// Whether a block that starts there, in this allocation, has that before it.
    #[inline(always)]
    pub(crate) fn has(&self, before: Before, start: NonNull<u8>) -> bool {
        let start = start.addr().get();
        start - self.origin.addr().get() >= before.bytes && start % before.alignment == 0
    }

    /// # Safety
    ///
    /// It is freed once, and nobody uses it any more.
    #[inline(always)]
    pub(crate) unsafe fn free(self) {
        // SAFETY: `new` got it so.
        unsafe { dealloc(self.origin.as_ptr(), Layout::from_size_align_unchecked(self.bytes, WORD)) };
    }
}
