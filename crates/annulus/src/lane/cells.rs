//! Storage for messages: a block of slots, each of which holds a `T` or nothing.
//!
//! A block does not know which slots are full. Its user knows, and drops what is left. Slots lie beside each
//! other, so several can be read or written as one slice.

use alloc::alloc::{alloc_zeroed, dealloc};
use alloc::boxed::Box;
use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr::NonNull;

use crate::error::CapacityError;
use crate::os::numa::{self, NumaNode};
use crate::sync::{UnsafeCell, mutated};

/// A fixed number of slots. They begin on a cache line of their own, and share no line with anything else.
pub(crate) struct Cells<T> {
    start: NonNull<MaybeUninit<T>>,
    count: usize,
    /// The NUMA node that was asked for, if any.
    node: NumaNode,
    /// Under loom only: one for each slot, to find two threads that use a slot at once. (Cells of loom cannot
    /// lie beside each other in a slice.)
    watchers: Box<[UnsafeCell<()>]>,
}

// SAFETY: messages move in on one thread and out on another, or are dropped there, which takes `T: Send`.
unsafe impl<T: Send> Send for Cells<T> {}
// SAFETY: as above; the promises below keep two threads from using one slot at once.
unsafe impl<T: Send> Sync for Cells<T> {}

/// Where a block begins: two lines, because processors fetch them in pairs.
const ALIGNMENT: usize = 128;

impl<T> Cells<T> {
    /// `count` empty slots, in memory of `node`. Every page is written here, so none is touched for the first
    /// time while the ring runs.
    pub(crate) fn new(count: usize, node: NumaNode) -> Result<Self, CapacityError> {
        let too_large = || CapacityError::TooLarge { capacity: count, slot_bytes: size_of::<T>() };
        let layout = Self::layout(count, node).ok_or_else(too_large)?;
        let start = if layout.size() == 0 {
            NonNull::dangling()
        } else {
            // SAFETY: the size is not 0.
            let block = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(too_large)?;
            if let Some(node) = node {
                // SAFETY: the block is new, and consists of pages (`layout`).
                if let Err(os_error) = unsafe { numa::bind(block.as_ptr(), layout.size(), node) } {
                    // SAFETY: allocated above with this layout.
                    unsafe { dealloc(block.as_ptr(), layout) };
                    return Err(CapacityError::NumaNode { node, os_error });
                }
            }
            // Zeroes from the system may be one shared page until they are written. Volatile, so that the
            // compiler keeps the stores.
            for byte in (0..layout.size()).step_by(PAGE) {
                // SAFETY: within the block.
                unsafe { block.add(byte).write_volatile(0) };
            }
            block.cast()
        };
        let watched = if cfg!(annulus_loom) { count } else { 0 };
        Ok(Self { start, count, node, watchers: (0..watched).map(|_| UnsafeCell::new(())).collect() })
    }

    fn layout(count: usize, node: NumaNode) -> Option<Layout> {
        let alignment = if node.is_some() { ALIGNMENT.max(numa::page()) } else { ALIGNMENT };
        let layout = Layout::array::<T>(count).ok()?.align_to(alignment).ok()?;
        // Slots without a size are just numbers, but they too must be told apart: their order goes by their
        // distance, and half of all distances are negative.
        let few = isize::try_from(count).is_ok() || mutated!("more_slots_than_distances");
        // (A layout's size is in range after padding, too.)
        few.then(|| layout.pad_to_align())
    }

    /// The number of slots.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The first slot.
    #[inline(always)]
    pub(super) fn start(&self) -> *mut MaybeUninit<T> {
        self.start.as_ptr()
    }

    #[inline(always)]
    fn slot(&self, index: usize) -> *mut T {
        debug_assert!(index < self.count);
        // (A wrapping step, because this function makes no promise; those who use the pointer make one.)
        self.start.as_ptr().cast::<T>().wrapping_add(index)
    }

    /// Moves `value` into slot `index`.
    ///
    /// # Safety
    ///
    /// The index is below the count, and nobody else looks at the slot. A value in it is forgotten, not
    /// dropped.
    #[inline(always)]
    pub(crate) unsafe fn write(&self, index: usize, value: T) {
        self.watch_write(index..index + 1);
        // SAFETY: the caller's promise.
        unsafe { self.slot(index).write(value) };
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
        // SAFETY: the caller's promise.
        unsafe { self.slot(index).read() }
    }

    /// The value of slot `index`, to look at.
    ///
    /// # Safety
    ///
    /// The index is below the count, the slot holds a value, and nobody changes or moves it for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn value<'a>(&self, index: usize) -> &'a T {
        self.watch_read(index..index + 1);
        // SAFETY: the caller's promise.
        unsafe { &*self.slot(index) }
    }

    #[inline(always)]
    pub(super) fn watch_write(&self, range: Range<usize>) {
        if cfg!(annulus_loom) {
            self.watchers[range].iter().for_each(|watcher| watcher.with_mut(|_| ()));
        }
    }

    #[inline(always)]
    pub(super) fn watch_read(&self, range: Range<usize>) {
        if cfg!(annulus_loom) {
            self.watchers[range].iter().for_each(|watcher| watcher.with(|_| ()));
        }
    }
}

/// The smallest page there is.
const PAGE: usize = 4096;

impl<T> Drop for Cells<T> {
    fn drop(&mut self) {
        let Some(layout) = Self::layout(self.count, self.node).filter(|layout| layout.size() != 0) else {
            return;
        };
        let start = self.start.as_ptr().cast();
        if self.node.is_some() {
            // SAFETY: bound in `new`.
            unsafe { numa::unbind(start, layout.size()) };
        }
        // SAFETY: allocated in `new` with this layout.
        unsafe { dealloc(start, layout) };
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn begins_on_a_line() {
        #[repr(align(256))]
        struct Wide;
        assert_eq!(Cells::<u8>::new(3, None).unwrap().start.as_ptr() as usize % ALIGNMENT, 0);
        assert_eq!(Cells::<Wide>::new(3, None).unwrap().start.as_ptr() as usize % 256, 0);
        let most = isize::MAX as usize;
        assert_eq!(Cells::<()>::new(most, None).unwrap().count(), most);
        assert!(Cells::<()>::new(most + 1, None).is_err());
    }

    #[test]
    fn refuses_what_memory_does_not_hold() {
        let error = Cells::<u64>::new(usize::MAX, None).err().unwrap();
        assert_eq!(error, CapacityError::TooLarge { capacity: usize::MAX, slot_bytes: 8 });
        assert!(Cells::<u64>::new(usize::MAX / 16, None).is_err());
    }
}
