//! [`TableNumbers`]: where the parts of a table lie, and the cell that says so. [`Keys`]: which key has which
//! cell (`docs/SHM-FORMAT.md`, kind 10).

use core::ptr::NonNull;
use std::sync::Arc;

use crate::Text;
use crate::memory::PlacedMemory;
use crate::os::shared_memory::SharedMemory;
use crate::ring::cells::SLOTS;
use crate::ring::{MIN_CAPACITY, Writers, slots_layout, stride_for};
use crate::shm::broadcast::SlotsAt;
use crate::shm::error::{AttachError, ShareError};
use crate::shm::format::{CELLS_OFFSET, Layout, damaged};
use crate::sync::{AtomicU64, Ordering};

/// What the ring tells: the number of a cell that has changed.
pub(super) type Notice = u64;

/// How many cells a table can have.
pub(super) const MOST_CELLS: usize = 1 << 20;

/// How many bytes a key can have.
pub(super) const KEY_BYTES: usize = 64;

const KEY_WORDS: usize = KEY_BYTES / size_of::<u64>();

/// What the header's cell of a table says.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableNumbers {
    pub(super) cells: usize,
    /// How many notices the ring keeps.
    pub(super) notices: usize,
}

/// Where the parts lie behind the slots of the cells.
#[derive(Clone, Copy, Debug)]
pub(super) struct WatchLayout {
    /// The newest stamps.
    pub(super) newest: (usize, core::alloc::Layout),
    keys: usize,
    pub(super) notices: SlotsAt,
    pub(super) end: usize,
}

impl TableNumbers {
    /// A table of so many cells.
    pub(super) fn new(cells: usize) -> Result<Self, ShareError> {
        if !(1..=MOST_CELLS).contains(&cells) {
            return Err(ShareError::Cells { cells, most: MOST_CELLS });
        }
        // A reader that has lost notices looks at all cells: then no oftener than at one for each notice.
        Ok(Self { cells, notices: cells.next_power_of_two().max(64) })
    }

    /// The slots of the cells end there.
    pub(super) fn layout_behind(&self, slots_end: usize) -> Option<WatchLayout> {
        let (at, newest) = (slots_end.checked_next_multiple_of(64)?, slots_layout(1, self.cells)?);
        let keys = at.checked_add(newest.size())?;
        let behind = self.cells.checked_mul(KEY_BYTES)?.checked_add(keys)?;
        let stride = stride_for(size_of::<Notice>(), Writers::One);
        let (begin, slots) = (behind.checked_next_multiple_of(128)?, slots_layout(stride, self.notices)?);
        let end = begin.checked_add(slots.size())?;
        let (newest, notices) = ((at, newest), (begin, slots, stride));
        isize::try_from(end).is_ok().then_some(WatchLayout { newest, keys, notices, end })
    }

    /// Nobody else has the memory yet.
    pub(super) fn write(&self, memory: &SharedMemory) {
        for (index, number) in [self.cells, self.notices].into_iter().enumerate() {
            let words = words_at(memory, CELLS_OFFSET + index * size_of::<u64>(), 1);
            // Relaxed: pairs with the load in `read`. What hands the memory over orders it.
            words[0].store(number as u64, Ordering::Relaxed);
        }
    }

    /// Numbers by which nobody reaches beyond the memory.
    pub(super) fn read(memory: &SharedMemory, layout: &Layout) -> Result<(Self, WatchLayout), AttachError> {
        let slots_end = layout.total_bytes().filter(|_| layout.cells == 1);
        let slots_end =
            slots_end.ok_or_else(|| damaged("the number of cells in the header", layout.cells))?;
        let [cells, notices] = [0, 1].map(|index| {
            let words = words_at(memory, CELLS_OFFSET + index * size_of::<u64>(), 1);
            // Relaxed: pairs with the store in `write`. What it finds is checked below.
            usize::try_from(words[0].load(Ordering::Relaxed)).unwrap_or(usize::MAX)
        });
        if !(1..=MOST_CELLS).contains(&cells) || layout.capacity != cells * SLOTS {
            return Err(damaged("the number of cells", cells));
        }
        let numbers = Self { cells, notices };
        let watch_layout = numbers.layout_behind(slots_end).filter(|_| notices >= MIN_CAPACITY);
        let watch_layout = watch_layout.ok_or_else(|| damaged("the number of notices", notices))?;
        if watch_layout.end > memory.len() {
            return Err(AttachError::Length { found: memory.len() as u64, needed: watch_layout.end as u64 });
        }
        Ok((numbers, watch_layout))
    }
}

/// So many words of a memory.
fn words_at(memory: &SharedMemory, offset: usize, count: usize) -> &[AtomicU64] {
    assert!(offset % size_of::<u64>() == 0 && offset + count * size_of::<u64>() <= memory.len());
    // SAFETY: within the memory (asserted), which lives as long as the reference; at a multiple of 8, because
    // memory begins at a page; and all processes access these words by atomic operations. A process that
    // can't write to the memory only loads them.
    unsafe {
        let first: NonNull<AtomicU64> = memory.base().add(offset).cast();
        NonNull::slice_from_raw_parts(first, count).as_ref()
    }
}

/// A key, as it lies there: its bytes, and zeros behind them.
type KeyWords = [u64; KEY_WORDS];

/// The words of a key. `None`: there is no such key.
fn words_of(key: &str) -> Option<KeyWords> {
    if key.is_empty() || key.contains('\0') {
        return None;
    }
    let mut bytes = [0; KEY_BYTES];
    bytes.get_mut(..key.len())?.copy_from_slice(key.as_bytes());
    Some(bytemuck::cast(bytes))
}

/// The keys of the cells. Cell n has key n, or none yet.
///
/// ```text
/// writer                                         reader
/// keys.add1  store the words but the first       keys.find3  load the first word: 0 is no key
/// keys.add2  store the first word                keys.find4  load the others
/// ```
///
/// No key changes. So a writer that dies between the two has added none.
pub(super) struct Keys {
    memory: Arc<PlacedMemory>,
    /// Where they begin.
    offset: usize,
    cells: usize,
}

impl Keys {
    /// Those that lie at this place, which is in the memory.
    pub(super) fn new(memory: Arc<PlacedMemory>, numbers: &TableNumbers, layout: &WatchLayout) -> Self {
        assert!(layout.end <= memory.len());
        Self { memory, offset: layout.keys, cells: numbers.cells }
    }

    fn words(&self, cell: usize) -> &[AtomicU64] {
        assert!(cell < self.cells);
        words_at(&self.memory, self.offset + cell * KEY_BYTES, KEY_WORDS)
    }

    /// Gives a cell its key. The caller is the writer, can write there, and the cell has none.
    pub(super) fn add(&self, cell: usize, key: &str) {
        let (Some(words), stored) = (words_of(key), self.words(cell)) else { return };
        for (stored, word) in stored.iter().zip(words).skip(1) {
            // keys.add1. Relaxed: keys.add2 orders them.
            stored.store(word, Ordering::Relaxed);
        }
        // keys.add2. Release: pairs with keys.find3. A reader that sees it sees the others.
        stored[0].store(words[0], Ordering::Release);
    }

    /// The words of a key, if there is one.
    fn load(&self, cell: usize) -> Option<KeyWords> {
        let stored = self.words(cell);
        // keys.find3. Acquire: pairs with keys.add2.
        let first = stored[0].load(Ordering::Acquire);
        let mut words = [first; KEY_WORDS];
        for (word, stored) in words.iter_mut().zip(stored).skip(1) {
            // keys.find4. Relaxed: keys.find3 orders them.
            *word = stored.load(Ordering::Relaxed);
        }
        (first != 0).then_some(words)
    }

    /// The key of a cell, if it has one. Another process may have written anything there: what is no text is
    /// no key.
    pub(super) fn key(&self, cell: usize) -> Option<Text<KEY_BYTES>> {
        let bytes: [u8; KEY_BYTES] = bytemuck::cast(self.load(cell)?);
        let length = bytes.iter().position(|&byte| byte == 0).unwrap_or(KEY_BYTES);
        Text::try_from(core::str::from_utf8(&bytes[..length]).ok()?).ok()
    }

    /// The cell of that key. O(cells).
    pub(super) fn find(&self, key: &str) -> Option<usize> {
        let words = words_of(key)?;
        (0..self.cells).find(|&cell| {
            // Relaxed: a hint, by which most cells are passed. `load` decides.
            self.words(cell)[0].load(Ordering::Relaxed) == words[0] && self.load(cell) == Some(words)
        })
    }
}
