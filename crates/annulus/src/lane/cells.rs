//! Storage for messages: a block of slots, each of which holds a `T` or nothing.
//!
//! A block does not know which slots are full. Its user knows, and drops what is left. Slots lie beside each
//! other, so several can be read or written as one slice.

use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;

use crate::base::room::Before;
use crate::error::CapacityError;
use crate::memory::{Block, Memory};
use crate::sync::{UnsafeCell, mutated, tell};

/// A fixed number of slots. They begin on a cache line of their own, and share no line with anything else.
pub(crate) struct Cells<T> {
    block: Block,
    count: usize,
    /// What is in the block.
    messages: PhantomData<MaybeUninit<T>>,
    /// Under loom only: one for each slot, to find two threads that use a slot at once. (Cells of loom cannot
    /// lie beside each other in a slice.)
    watchers: Watchers,
}

/// In a model, two processes have the same ones.
#[cfg(annulus_loom)]
type Watchers = alloc::sync::Arc<[UnsafeCell<()>]>;
#[cfg(not(annulus_loom))]
type Watchers = [UnsafeCell<()>; 0];

// SAFETY: messages move in on one thread and out on another, or are dropped there, which takes `T: Send`.
unsafe impl<T: Send> Send for Cells<T> {}
// SAFETY: as above; the promises below keep two threads from using one slot at once.
unsafe impl<T: Send> Sync for Cells<T> {}

/// Where a block begins: two lines, because processors fetch them in pairs.
const ALIGNMENT: usize = 128;

impl<T> Cells<T> {
    /// `count` empty slots, in `memory`, behind what is to be before them. Every page is written here, so
    /// none is touched for the first time while the ring runs.
    #[inline(always)]
    pub(crate) fn new(count: usize, memory: &Memory, before: Before) -> Result<Self, CapacityError> {
        let too_large = || CapacityError::TooLarge { capacity: count, slot_bytes: size_of::<T>() };
        let layout = Self::layout(count).ok_or_else(too_large)?;
        let block = Block::touched(layout, memory, before)
            .map_err(|refused| CapacityError::of_block(refused, count, size_of::<T>()))?;
        #[cfg(annulus_loom)]
        let watchers = (0..count).map(|_| UnsafeCell::new(())).collect();
        #[cfg(not(annulus_loom))]
        let watchers = [];
        Ok(Self { block, count, messages: PhantomData, watchers })
    }

    /// `count` slots that lie there already.
    ///
    /// # Safety
    ///
    /// The block has [so much memory](Self::layout), at such an address, and it can be written to.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) unsafe fn over(block: Block, count: usize) -> Self {
        Self { block, count, messages: PhantomData, watchers: [] }
    }

    /// The same slots, as another process of a model has them.
    ///
    /// # Safety
    ///
    /// As of [`over`](Self::over): these outlive what it returns.
    #[cfg(all(feature = "shm", annulus_loom))]
    pub(crate) unsafe fn again(&self) -> Self {
        let (block, watchers) = (Block::borrowed(self.block.start()), self.watchers.clone());
        Self { block, count: self.count, messages: PhantomData, watchers }
    }

    /// Of the memory of so many slots; `None` if there can't be so much.
    #[inline]
    pub(crate) fn layout(count: usize) -> Option<Layout> {
        let layout = Layout::array::<T>(count).ok()?.align_to(ALIGNMENT).ok()?;
        // Slots without a size are just numbers, but they too must be told apart: their order goes by their
        // distance, and half of all distances are negative.
        let few = isize::try_from(count).is_ok() || mutated!("more_slots_than_distances");
        // (A layout's size is in range after padding, too.)
        few.then(|| layout.pad_to_align())
    }

    /// Where they lie.
    #[inline(always)]
    pub(crate) fn block_mut(&mut self) -> &mut Block {
        &mut self.block
    }

    /// Where they lie.
    #[cfg(feature = "std")]
    pub(crate) fn block(&self) -> &Block {
        &self.block
    }

    /// The number of slots.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The first slot.
    #[inline(always)]
    pub(super) fn start(&self) -> *mut MaybeUninit<T> {
        self.block.start().cast().as_ptr()
    }

    /// Slot `index`.
    #[inline(always)]
    pub(super) fn slot(&self, index: usize) -> *mut T {
        debug_assert!(index < self.count);
        // (A wrapping step, because this function makes no promise; those who use the pointer make one.)
        self.block.start().as_ptr().cast::<T>().wrapping_add(index)
    }

    /// Moves the value out of slot `index`.
    ///
    /// # Safety
    ///
    /// The index is below the count, and the slot holds a value that nobody else moves out or looks at. The
    /// slot is empty afterwards.
    #[inline(always)]
    pub(crate) unsafe fn take(&self, index: usize) -> T {
        self.watch_write(index..index + 1);
        tell!(Read, self.slot(index), size_of::<T>());
        // SAFETY: the caller's promise.
        unsafe { self.slot(index).read() }
    }

    /// Drops the value of slot `index`, where it is.
    ///
    /// # Safety
    ///
    /// As of [`take`](Self::take).
    pub(crate) unsafe fn drop_in_place(&self, index: usize) {
        self.watch_write(index..index + 1);
        tell!(Read, self.slot(index), size_of::<T>());
        // SAFETY: the caller's promise.
        unsafe { self.slot(index).drop_in_place() };
    }

    /// The value of slot `index`, to look at.
    ///
    /// # Safety
    ///
    /// The index is below the count, the slot holds a value, and nobody changes or moves it for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn value<'a>(&self, index: usize) -> &'a T {
        self.watch_read(index..index + 1);
        tell!(Read, self.slot(index), size_of::<T>());
        // SAFETY: the caller's promise.
        unsafe { &*self.slot(index) }
    }

    // Mutants: `with ()`: not in this build: loom.
    #[inline(always)]
    pub(super) fn watch_write(&self, range: Range<usize>) {
        if cfg!(annulus_loom) {
            // Unreached: with loom only
            self.watchers[range].iter().for_each(|watcher| watcher.with_mut(|_| ()));
        }
    }

    // Mutants: `with ()`: not in this build: loom.
    #[inline(always)]
    pub(super) fn watch_read(&self, range: Range<usize>) {
        if cfg!(annulus_loom) {
            // Unreached: with loom only
            self.watchers[range].iter().for_each(|watcher| watcher.with(|_| ()));
        }
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn begins_on_a_line() {
        #[repr(align(256))]
        struct Wide;
        assert_eq!(
            Cells::<u8>::new(3, &Memory::default(), Before::NOTHING).unwrap().start() as usize % ALIGNMENT,
            0
        );
        assert_eq!(
            Cells::<Wide>::new(3, &Memory::default(), Before::NOTHING).unwrap().start() as usize % 256,
            0
        );
        let most = isize::MAX as usize;
        assert_eq!(Cells::<()>::new(most, &Memory::default(), Before::NOTHING).unwrap().count(), most);
        assert!(Cells::<()>::new(most + 1, &Memory::default(), Before::NOTHING).is_err());
    }

    #[test]
    fn refuses_what_memory_does_not_hold() {
        let error = Cells::<u64>::new(usize::MAX, &Memory::default(), Before::NOTHING).err().unwrap();
        assert_eq!(error, CapacityError::TooLarge { capacity: usize::MAX, slot_bytes: 8 });
        assert!(Cells::<u64>::new(usize::MAX / 16, &Memory::default(), Before::NOTHING).is_err());
    }
}
