//! [`UnitBlock`]: a block that is full of units, one next to the other.

use core::alloc::Layout;
use core::marker::PhantomData;
use core::ptr::NonNull;

use super::block::{Block, Content};
use super::options::Memory;
use super::refused::NoBlock;
use crate::base::allocation::Before;
use crate::base::drop_all::drop_values;

/// A fixed number of units, which stay in their places. Like a boxed slice, but the units may be borrowed
/// from threads at the same time, and the block may be mapped.
pub(crate) struct UnitBlock<U> {
    count: usize,
    block: Block,
    units: PhantomData<U>,
}

// SAFETY: the units are dropped where this is, which takes `U: Send`.
unsafe impl<U: Send> Send for UnitBlock<U> {}
// SAFETY: a shared reference gives a pointer to the units, and only unsafe code can follow it.
unsafe impl<U: Send + Sync> Sync for UnitBlock<U> {}

impl<U> UnitBlock<U> {
    /// `count` units, which `make` makes in their order.
    #[inline(always)]
    pub(crate) fn new(
        count: usize,
        memory: &Memory,
        before: Before,
        mut make: impl FnMut() -> U,
    ) -> Result<Self, NoBlock> {
        let layout = Layout::array::<U>(count).map_err(|_| NoBlock::TooLarge)?;
        let block = Block::new(layout, memory, Content::Anything, before)?;
        // If `make` panics, this drops the units that are there.
        let mut filled = Self { count: 0, block, units: PhantomData };
        while filled.count < count {
            // SAFETY: the block is large enough for `count` units, and this one is the first that is free.
            unsafe { filled.start().add(filled.count).write(make()) };
            filled.count += 1;
        }
        Ok(filled)
    }

    /// The units of a block that has them already. They are not dropped with it.
    ///
    /// # Safety
    ///
    /// The block is full of units, from its first byte on.
    #[cfg(any(feature = "shm", not(annulus_loom)))]
    #[inline(always)]
    pub(crate) unsafe fn over(block: Block) -> Self {
        const { assert!(!core::mem::needs_drop::<U>(), "the units are of other processes, too") };
        Self { count: 0, block, units: PhantomData }
    }

    /// The first unit. There are as many as were asked for, for as long as this lives.
    #[inline(always)]
    pub(crate) fn start(&self) -> NonNull<U> {
        self.block.start().cast()
    }

    /// Where they lie.
    #[inline(always)]
    pub(crate) fn block_mut(&mut self) -> &mut Block {
        &mut self.block
    }

    /// Where they lie.
    #[inline(always)]
    pub(crate) fn block(&self) -> &Block {
        &self.block
    }
}

impl<U> Drop for UnitBlock<U> {
    fn drop(&mut self) {
        // SAFETY: so many units are there, and nobody has them any more.
        unsafe { drop_values(self.start().as_ptr(), self.count) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::rc::Rc;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    #[test]
    fn drops_each_unit_once() {
        for memory in [&Memory::default(), &Memory::prefer().prefault()] {
            let unit = Rc::new(());
            let filled = UnitBlock::new(5, memory, Before::NOTHING, || Rc::clone(&unit)).unwrap();
            assert_eq!(Rc::strong_count(&unit), 6);
            drop(filled);
            assert_eq!(Rc::strong_count(&unit), 1);

            let mut left = 3;
            let made = catch_unwind(AssertUnwindSafe(|| {
                UnitBlock::new(5, memory, Before::NOTHING, || {
                    left -= 1;
                    assert!(left > 0, "on purpose");
                    Rc::clone(&unit)
                })
            }));
            assert!(made.is_err());
            assert_eq!(Rc::strong_count(&unit), 1, "those that were made are dropped");
        }
    }

    #[test]
    fn units_may_have_no_size() {
        let mut made = 0;
        let filled = UnitBlock::new(7, &Memory::default(), Before::NOTHING, || made += 1).unwrap();
        drop(filled);
        assert_eq!(made, 7);
    }
}
