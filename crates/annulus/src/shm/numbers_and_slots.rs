//! Where the numbers and the slots of a broadcast ring are in its memory.

use core::ptr::NonNull;

use super::error::AttachError;
use super::format::{self, Layout};
use crate::base::sequence::Sequence;
use crate::os::shared_memory::SharedMemory;
use crate::ring::{Shown, Writers, slots_layout, stride_for};

/// The slots of a ring, which were checked to lie in its memory.
pub(super) struct Extent {
    /// Where they begin, in bytes.
    pub(super) offset: usize,
    pub(super) slots: core::alloc::Layout,
    /// From one to the next, in words.
    pub(super) stride: usize,
    pub(super) first: Sequence,
}

impl Extent {
    pub(super) fn in_memory(
        layout: &Layout,
        writers: Writers,
        memory: &SharedMemory,
    ) -> Result<Self, AttachError> {
        let stride = stride_for(layout.payload.bytes, writers);
        if layout.slot_bytes != stride * size_of::<u64>() {
            return Err(damaged("the slots' size", layout.slot_bytes));
        }
        let first = Sequence::new(layout.start);
        if first > Sequence::LAST_FIRST {
            return Err(AttachError::Damaged { field: "the first sequence", value: layout.start });
        }
        let capacity = layout.capacity;
        let (Some(slots), Some(offset)) = (slots_layout(stride, capacity), layout.slots_offset()) else {
            // Unreached: a header whose sums can be counted has slots that can be
            return Err(damaged("the capacity", capacity));
        };
        let needed = offset.saturating_add(slots.size());
        if needed > memory.len() {
            return Err(AttachError::Length { found: memory.len() as u64, needed: needed as u64 });
        }
        Ok(Self { offset, slots, stride, first })
    }
}

pub(super) fn damaged(field: &'static str, value: usize) -> AttachError {
    AttachError::Damaged { field, value: value as u64 }
}

/// What the publisher shows.
pub(super) fn shown(memory: &SharedMemory) -> NonNull<Shown> {
    const {
        use format::broadcast::{BOUND, END, HEADROOM, MISSED, SEATS};

        assert!(size_of::<Shown>() == format::WAKE_OFFSET - format::PRODUCER_OFFSET);
        format::are_at(&Shown::OFFSETS, &[BOUND, HEADROOM, SEATS, END, MISSED]);
    }
    assert!(memory.len() >= format::LEAST_BYTES);
    // SAFETY: within the memory (asserted).
    unsafe { memory.base().add(format::PRODUCER_OFFSET) }.cast()
}
