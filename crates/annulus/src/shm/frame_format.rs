//! [`FrameNumbers`]: where the frames of a ring lie, and the cell that says so (`docs/SHM-FORMAT.md`, kinds
//! 9 and 12). [`Cell`] and [`end_of_area`]: what a ring of records has in common with it (kind 6).

use core::ops::Range;
use core::ptr::NonNull;

use super::error::AttachError;
use super::format::{CELLS_OFFSET, Layout, damaged, page};
use super::message_type::MessageType;
use crate::error::CapacityError;
use crate::message::Message;
use crate::message::schema::Schema;
use crate::os::shared_memory::SharedMemory;
use crate::ring::frames::{FrameStamp, HeldEntry};
use crate::sync::{AtomicU64, Ordering};

/// What the ring itself carries: the number of a frame, and how many of its bytes are the message.
pub(super) type Told = [u64; 2];

/// Of a ring whose frames are values of that schema.
pub(super) fn told(content: Option<Schema>) -> MessageType {
    MessageType::with_schema(size_of::<Told>(), align_of::<Told>(), content)
}

/// How many subscribers a ring may have.
pub(super) const MOST_SUBSCRIBERS: usize = 1024;

/// How many frames a subscriber may hold: its table is a page.
pub(super) const MOST_HELD: usize = page::TABLE_BYTES / size_of::<HeldEntry>();

/// Frames begin at least so far apart from each other.
pub(super) const LEAST_ALIGNMENT: usize = 64;

/// Memory whose length is a multiple of so much begins at one, in each process.
pub(super) const MOST_ALIGNMENT: usize = 2 << 20;

pub(super) fn is_alignment(bytes: usize) -> bool {
    bytes.is_power_of_two() && (LEAST_ALIGNMENT..=MOST_ALIGNMENT).contains(&bytes)
}

/// What the cell of a ring of frames says of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct FrameNumbers {
    pub(super) count: usize,
    pub(super) bytes: usize,
    pub(super) stride: usize,
    pub(super) alignment: usize,
    pub(super) tables: usize,
    pub(super) held: usize,
}

/// Where the stamps and the frames begin in the ring's memory, and where they end.
#[derive(Clone, Copy, Debug)]
pub(super) struct FramesLayout {
    stamps: usize,
    frames: usize,
    end: usize,
}

impl FrameNumbers {
    pub(super) fn too_large(&self) -> CapacityError {
        CapacityError::TooLarge { capacity: self.count, slot_bytes: self.stride }
    }

    pub(super) fn end_behind(&self, slots_end: usize) -> Option<usize> {
        self.layout_behind(slots_end).map(|layout| layout.end)
    }

    pub(super) fn layout_behind(&self, slots_end: usize) -> Option<FramesLayout> {
        let stamps = slots_end.checked_next_multiple_of(align_of::<FrameStamp>())?;
        let behind = self.count.checked_mul(size_of::<FrameStamp>())?.checked_add(stamps)?;
        let frames = behind.checked_next_multiple_of(self.alignment)?;
        let end = self.count.checked_mul(self.stride)?.checked_add(frames)?;
        isize::try_from(end).is_ok().then_some(FramesLayout { stamps, frames, end })
    }

    /// Nobody else has the memory yet.
    pub(super) fn write(&self, memory: &SharedMemory) {
        let numbers = [self.count, self.bytes, self.stride, self.alignment, self.tables, self.held];
        Cell(memory).write(&numbers);
    }

    /// Numbers by which nobody reaches beyond the memory.
    pub(super) fn read(memory: &SharedMemory, layout: &Layout) -> Result<(Self, FramesLayout), AttachError> {
        let (cell, slots_end) = Cell::behind_slots(memory, layout)?;
        let [count, bytes, stride, alignment, tables, held] =
            [0, 1, 2, 3, 4, 5].map(|index| cell.number(index));
        let numbers = Self { count, bytes, stride, alignment, tables, held };
        let is_aligned = is_alignment(alignment);
        for (field, value, is_right) in [
            ("the frames' alignment", alignment, is_aligned),
            ("the frames' distance", stride, stride >= bytes && is_aligned && stride % alignment == 0),
            ("the number of subscribers", tables, (1..=MOST_SUBSCRIBERS).contains(&tables)),
            ("the number of frames held", held, (1..=MOST_HELD).contains(&held)),
        ] {
            if !is_right {
                return Err(damaged(field, value));
            }
        }
        let frames_layout =
            numbers.layout_behind(slots_end).ok_or_else(|| damaged("the number of frames", count))?;
        if frames_layout.end > memory.len() {
            return Err(AttachError::Length { found: memory.len() as u64, needed: frames_layout.end as u64 });
        }
        Ok((numbers, frames_layout))
    }
}

/// The one cell of a ring in which something lies behind the slots: numbers of 8 bytes each.
pub(super) struct Cell<'m>(pub(super) &'m SharedMemory);

impl<'m> Cell<'m> {
    /// The cell, and where the slots end.
    pub(super) fn behind_slots(
        memory: &'m SharedMemory,
        layout: &Layout,
    ) -> Result<(Self, usize), AttachError> {
        let slots_end = layout.total_bytes().filter(|_| layout.cells == 1);
        let slots_end = slots_end.ok_or_else(|| damaged("the number of cells", layout.cells))?;
        Ok((Self(memory), slots_end))
    }

    pub(super) fn word(&self, index: usize) -> &'m AtomicU64 {
        let (memory, offset) = (self.0, CELLS_OFFSET + index * size_of::<u64>());
        assert!(offset + size_of::<u64>() <= memory.len());
        // SAFETY: within the memory (asserted), which lives; at a multiple of 8; and all processes access the
        // cell by atomic operations.
        unsafe { AtomicU64::from_ptr(memory.base().as_ptr().wrapping_add(offset).cast()) }
    }

    /// Its first numbers. Nobody else has the memory yet.
    pub(super) fn write(&self, numbers: &[usize]) {
        for (index, &number) in numbers.iter().enumerate() {
            // Relaxed: pairs with the load in `number`. What hands the memory over orders it.
            self.word(index).store(number as u64, Ordering::Relaxed);
        }
    }

    /// A number that the creator has written, or any.
    pub(super) fn number(&self, index: usize) -> usize {
        // Relaxed: pairs with the store in `write`. Callers check what it finds.
        usize::try_from(self.word(index).load(Ordering::Relaxed)).unwrap_or(usize::MAX)
    }
}

/// Where an area of so many bytes ends, behind slots that end there: it begins at a multiple of 128.
pub(super) fn end_of_area(slots_end: usize, bytes: usize) -> Option<usize> {
    let end = slots_end.checked_next_multiple_of(128)?.checked_add(bytes)?;
    isize::try_from(end).is_ok().then_some(end)
}

/// The stamps, which lie in the memory.
pub(super) fn stamps(memory: &SharedMemory, layout: &FramesLayout, count: usize) -> NonNull<[FrameStamp]> {
    assert!(layout.end <= memory.len());
    // SAFETY: within the memory (asserted: the stamps lie before the end).
    let first = unsafe { memory.base().add(layout.stamps) };
    NonNull::slice_from_raw_parts(first.cast(), count)
}

/// Where number `index` of messages lies that are one behind the other, if it is within `len` bytes.
pub(super) fn place_of<T: Message>(index: usize, len: usize) -> Option<Range<usize>> {
    let size = size_of::<T::Wire>();
    let from = index.checked_mul(size)?;
    from.checked_add(size).filter(|&to| to <= len).map(|to| from..to)
}

/// The first `len` bytes of a frame, which has so many.
pub(super) fn bytes_of(
    memory: &SharedMemory,
    numbers: &FrameNumbers,
    layout: &FramesLayout,
    frame: usize,
    len: usize,
) -> NonNull<[u8]> {
    let begin = layout.frames + frame * numbers.stride;
    assert!(frame < numbers.count && len <= numbers.bytes && begin + len <= memory.len());
    // SAFETY: within the memory (asserted).
    let first = unsafe { memory.base().add(begin) };
    NonNull::slice_from_raw_parts(first, len)
}
