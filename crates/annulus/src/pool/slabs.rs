//! The bytes: slabs of one size, one after the other, each from a cache line on.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::ptr::{self, NonNull};

#[cfg(annulus_loom)]
use crate::sync::UnsafeCell;

const LINE_BYTES: usize = 64;

/// No system has smaller pages.
const PAGE_BYTES: usize = 4096;

#[derive(Clone)]
#[repr(C, align(64))]
struct Line([u8; LINE_BYTES]);

const _: () = assert!(size_of::<Line>() == LINE_BYTES, "a line has no padding");

/// A block of initialised bytes. Who may touch which of them is for others to decide: here are only pointers.
pub(super) struct Slabs {
    /// Of all slabs; a box in pieces, so that slabs that are borrowed at the same time do not invalidate each
    /// other.
    lines: NonNull<[Line]>,
    /// From one slab to the next.
    slab_lines: usize,
    slab_bytes: usize,
    /// A cell for each slab: loom sees no bytes, but reports a race in these.
    #[cfg(annulus_loom)]
    watches: Vec<UnsafeCell<()>>,
}

// SAFETY: bytes, and the only pointer to them.
unsafe impl Send for Slabs {}
// SAFETY: a shared reference reaches the bytes by unsafe functions only, whose callers see to it that who
// writes is alone.
unsafe impl Sync for Slabs {}

impl Slabs {
    /// `count` slabs of `slab_bytes` zeros; `None` where memory has no such room.
    pub(super) fn zeroed(slab_bytes: usize, count: usize) -> Option<Self> {
        let slab_lines = slab_bytes.div_ceil(LINE_BYTES);
        let line_count = slab_lines.checked_mul(count)?;
        let mut lines = Vec::new();
        lines.try_reserve_exact(line_count).ok()?;
        lines.resize(line_count, Line([0; LINE_BYTES]));
        // A compiler may turn zeros in fresh memory into fresh memory that is zero, which the system only
        // lends at the first touch. These stores it has to make.
        for line in lines.iter_mut().step_by(PAGE_BYTES / LINE_BYTES) {
            // SAFETY: a reference, of which a byte is written.
            unsafe { ptr::from_mut(line).cast::<u8>().write_volatile(0) };
        }
        Some(Self {
            lines: NonNull::from(Box::leak(lines.into_boxed_slice())),
            slab_lines,
            slab_bytes,
            #[cfg(annulus_loom)]
            watches: (0..count).map(|_| UnsafeCell::new(())).collect(),
        })
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
        // SAFETY: there are `slab_lines` lines for each slab, and the caller knows that this one is there.
        unsafe { self.lines.cast::<Line>().add(index as usize * self.slab_lines) }.cast()
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

impl Drop for Slabs {
    fn drop(&mut self) {
        // To loom the end of the memory is a write to each slab: everybody must have left it before.
        #[cfg(annulus_loom)]
        self.watches.iter().for_each(|watch| watch.with_mut(|_| ()));
        // SAFETY: the pointer came from a box in `zeroed`, and this is its end.
        drop(unsafe { Box::from_raw(self.lines.as_ptr()) });
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn each_begins_on_a_line_and_is_zero() {
        for (slab_bytes, count) in [(1, 1), (63, 3), (64, 3), (65, 2), (5000, 4)] {
            let slabs = Slabs::zeroed(slab_bytes, count).unwrap();
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
    fn refuses_what_memory_does_not_hold() {
        assert!(Slabs::zeroed(usize::MAX, 2).is_none());
        assert!(Slabs::zeroed(usize::MAX, 1).is_none());
        assert!(Slabs::zeroed(usize::MAX / 2, 1).is_none());
    }
}
