//! The bytes: slabs of one size, one after the other, each from a cache line on.

#[cfg(annulus_loom)]
use alloc::vec::Vec;
use core::alloc::Layout;
use core::ptr::NonNull;

use super::PoolError;
use crate::base::allocation::Before;
use crate::memory::{Block, Memory, NoBlock};
#[cfg(annulus_loom)]
use crate::sync::UnsafeCell;

const LINE_BYTES: usize = 64;

/// A block of initialised bytes. It hands out pointers only; the pool's callers decide which thread may use
/// which slab.
pub(super) struct Slabs {
    /// Of all slabs, and not a slice: slabs that are borrowed at the same time do not invalidate each other.
    block: Block,
    /// From one slab to the next, in bytes.
    distance: usize,
    slab_bytes: usize,
    /// A cell for each slab: loom sees no bytes, but reports a race in these.
    #[cfg(annulus_loom)]
    watches: Vec<UnsafeCell<()>>,
}

// SAFETY: bytes, and the only pointer to them.
unsafe impl Send for Slabs {}
// SAFETY: a shared reference reaches the bytes by unsafe functions only, whose callers make sure that a
// writer has the bytes alone.
unsafe impl Sync for Slabs {}

impl Slabs {
    /// `count` slabs of `slab_bytes` zeros, in `memory`. Every page is written here.
    pub(super) fn zeroed(slab_bytes: usize, count: usize, memory: &Memory) -> Result<Self, PoolError> {
        let too_large = || PoolError::TooLarge { slab_bytes, count };
        let distance = slab_bytes.checked_next_multiple_of(LINE_BYTES).ok_or_else(too_large)?;
        let bytes = distance.checked_mul(count).ok_or_else(too_large)?;
        let layout = Layout::from_size_align(bytes, LINE_BYTES).map_err(|_| too_large())?;
        let block = Block::zeroed(layout, memory, Before::NOTHING).map_err(|refused| match refused {
            NoBlock::TooLarge => too_large(),
            NoBlock::Refused(error) => PoolError::Memory(error),
        })?;
        Ok(Self {
            block,
            distance,
            slab_bytes,
            #[cfg(annulus_loom)]
            watches: (0..count).map(|_| UnsafeCell::new(())).collect(),
        })
    }

    /// Where they lie.
    #[cfg(feature = "std")]
    pub(super) fn block(&self) -> &Block {
        &self.block
    }

    pub(super) fn slab_bytes(&self) -> usize {
        self.slab_bytes
    }

    /// Where slab `index` begins.
    ///
    /// # Safety
    ///
    /// There is such a slab.
    #[inline]
    pub(super) unsafe fn start(&self, index: u32) -> NonNull<u8> {
        // SAFETY: there are `distance` bytes for each slab, and the caller knows that this one is there.
        unsafe { self.block.start().add(index as usize * self.distance) }
    }

    /// The bytes of slab `index`.
    ///
    /// # Safety
    ///
    /// There is such a slab, it stays there for `'a`, and for `'a` nobody writes to it.
    #[inline]
    pub(super) unsafe fn bytes<'a>(&self, index: u32) -> &'a [u8] {
        #[cfg(annulus_loom)]
        self.watches[index as usize].with(|_| ());
        // SAFETY: a slab has `slab_bytes` bytes, all written at the start; the rest is the caller's promise.
        unsafe { NonNull::slice_from_raw_parts(self.start(index), self.slab_bytes).as_ref() }
    }

    /// The bytes of slab `index`, to write to.
    ///
    /// # Safety
    ///
    /// There is such a slab, it stays there for `'a`, and for `'a` nobody else looks at it.
    #[inline]
    pub(super) unsafe fn bytes_mut<'a>(&self, index: u32) -> &'a mut [u8] {
        #[cfg(annulus_loom)]
        self.watches[index as usize].with_mut(|_| ());
        // SAFETY: as in `bytes`.
        unsafe { NonNull::slice_from_raw_parts(self.start(index), self.slab_bytes).as_mut() }
    }
}

/// To loom the end of the memory is a write to each slab: everybody must have left it before.
#[cfg(annulus_loom)]
impl Drop for Slabs {
    fn drop(&mut self) {
        self.watches.iter().for_each(|watch| watch.with_mut(|_| ()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_begins_on_a_line_and_is_zero() {
        for (slab_bytes, count) in [(1, 1), (63, 3), (64, 3), (65, 2), (5000, 4)] {
            let slabs = Slabs::zeroed(slab_bytes, count, &Memory::default()).unwrap();
            let mut end = 0;
            for index in 0..count as u32 {
                // SAFETY: the slab is there, and nobody writes.
                let bytes = unsafe { slabs.bytes(index) };
                let start = bytes.as_ptr().addr();
                assert_eq!(start % LINE_BYTES, 0);
                assert!(index == 0 || (start >= end && start - end < LINE_BYTES), "one after the other");
                assert!(bytes == alloc::vec![0; slab_bytes], "so many zeros");
                end = start + slab_bytes;
            }
        }
    }

    #[test]
    fn slabs_beyond_memory_are_refused() {
        assert!(Slabs::zeroed(usize::MAX, 2, &Memory::default()).is_err());
        assert!(Slabs::zeroed(usize::MAX, 1, &Memory::default()).is_err());
        assert!(Slabs::zeroed(usize::MAX / 2, 1, &Memory::default()).is_err());
    }
}
