//! [`Cells`]: values of which only the newest counts. One thread writes them, and any number of threads and
//! processes read them at any time.
//!
//! A cell is a few [stamped slots](super::slots), which its values take in turn. So while a value is written,
//! the one before lies untouched in the slot beside it, also if the writer stops there for ever, or dies.
//!
//! ```text
//! writer, value s                              reader
//! slot.w1 to slot.w4, in slot s mod 4          cells.look2  load the newest stamp: done(s − 1)
//! cells.show1  the newest stamp := done(s)     slot.r1 to slot.r4, of value s − 1
//! ```
//!
//! *Why this is the newest.* The newest stamp only grows, and is stored before a write returns. Let value `v`
//! have been sent before the read began: the reader sees `done(v)` or a later stamp there. And of two reads,
//! one after the other, the second finds no earlier value.
//!
//! *Why it is there.* cells.look2 reads the value of cells.show1, which comes after slot.w4 of value `s − 1`.
//! So slot.r1 finds that value, or a later one: it is overwritten once the writer begins value `s + 3`. Then
//! three more values are whole, and the reader looks again. So a reader repeats a look only if the writer has
//! finished values meanwhile, and a writer that has stopped makes it look once. (A writer that dies between
//! slot.w4 and cells.show1 has not written that value.)
//!
//! *Why not the greatest stamp of the slots.* It tells the same, without a word beside them. But a reader
//! then loads four lines of which the writer changes one, and takes 1.5 times as long for a value of 32
//! bytes, and 1.2 to 6 times beside a writer that never stops.
// Decision 0162: slots in turn, the stamp of the newest, and notices.

use alloc::boxed::Box;
use alloc::sync::Arc;
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
use core::alloc::Layout;
use core::mem::MaybeUninit;
use core::ptr::NonNull;

use super::slots::{Copied, KeptWhole, Slots, Store, Whole, Writers};
use crate::base::index::Index;
use crate::base::sequence::{Sequence, Stamp};
#[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
use crate::memory::{Block, PlacedMemory};
use crate::message::Message;
use crate::message::encoded::Encoded;
use crate::sync::{AtomicU64, ordering, seeded};

/// How many slots a cell has. A reader looks again if the writer has finished so many values, but one, while
/// the reader copied one. (Two are the least, and a model sees them all sooner.)
pub(crate) const SLOTS: usize = if cfg!(annulus_loom) { 2 } else { 4 };

/// Of the slots of each cell: a constant to the optimiser.
static INDEX: Index = Index::new(SLOTS);

/// How often a reader looks for a value that is overwritten again and again.
pub(crate) const MOST_LOOKS: u32 = 1_000;

/// The cells, as a reader has them.
pub(crate) struct Cells<T> {
    /// The slots of the first one.
    first: Slots<Copied<T>>,
    /// The newest stamp of the first one; those of the others lie behind it.
    newest: NonNull<AtomicU64>,
    count: usize,
    /// What the two point to.
    kept: Arc<[Copied<T>; 2]>,
}

// SAFETY: the pointer stands for a shared borrow of atomic words, which `kept` keeps.
unsafe impl<T> Send for Cells<T> {}

// SAFETY: as above.
unsafe impl<T> Sync for Cells<T> {}

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unread {
    /// None was written yet.
    Empty,
    /// The writer has overwritten what was newest.
    Overtaken,
}

/// What one look has found: a value, and how many are whole. If there is none, the caller has its buffer
/// back.
type Look<'m, T> = Result<(u64, Whole<'m, T>), (Unread, &'m mut MaybeUninit<<T as Encoded>::Wire>)>;

impl<T: Message> Cells<T> {
    /// # Safety
    ///
    /// `slots` has [`SLOTS`] slots of that stride, in words, for each of so many cells. It is the stride of
    /// such messages, for one writer. `newest` has a word for each of them. What [`Copied::over`] asks for
    /// holds of both.
    pub(crate) unsafe fn new(slots: Copied<T>, newest: Copied<T>, count: usize, stride: usize) -> Self {
        let first = Slots::new(slots.start(), &INDEX, stride, Writers::One);
        Self { first, newest: newest.start(), count, kept: Arc::new([slots, newest]) }
    }

    /// In memory of processes: where the slots lie, and the newest stamps, each with its layout.
    ///
    /// # Safety
    ///
    /// As [`new`](Self::new).
    #[cfg(all(target_os = "linux", feature = "shm", not(annulus_loom)))]
    pub(crate) unsafe fn in_memory(
        memory: &Arc<PlacedMemory>,
        [slots, newest]: [(usize, Layout); 2],
        count: usize,
        stride: usize,
    ) -> Self {
        let words = |(offset, layout)| {
            let block = Block::shared(Arc::clone(memory), offset, layout);
            // SAFETY: the caller's promise.
            unsafe { Copied::over(block) }
        };
        // SAFETY: the caller's promise.
        unsafe { Self::new(words(slots), words(newest), count, stride) }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    #[inline(always)]
    fn assert_is_there(&self, cell: usize) {
        assert!(cell < self.count, "there is no cell {cell}: there are {}", self.count);
    }

    /// Of a cell that is there.
    #[inline(always)]
    fn slots(&self, cell: usize) -> Slots<Copied<T>> {
        // SAFETY: they are for one writer (see `new`).
        let Slots { start, stride, .. } = unsafe { self.first.of(Writers::One) };
        // SAFETY: the store has so many slots for each cell (see `new`).
        Slots::new(unsafe { start.add(cell * SLOTS * stride) }, &INDEX, stride, Writers::One)
    }

    /// The stamp of the newest value of a cell that there is.
    #[inline(always)]
    fn newest(&self, cell: usize) -> &AtomicU64 {
        // SAFETY: there is a word for each (see `new`), and `kept` keeps them.
        unsafe { Copied::<T>::stamp(self.newest, cell) }
    }

    /// How many values of a cell are whole, in all. The newest has that number less one.
    ///
    /// # Panics
    ///
    /// If there is no such cell.
    #[inline(always)]
    pub(crate) fn written(&self, cell: usize) -> u64 {
        self.assert_is_there(cell);
        // cells.look2. Acquire: pairs with cells.show1. Of any bits, half of them is a number that has a
        // stamp.
        self.newest(cell).load(ordering!(Acquire unless "cells_look_relaxed")) / 2
    }

    /// Reads the newest value of a cell into `value`. With it comes how many are whole. Waits for nobody, and
    /// takes [`MOST_LOOKS`] looks at most.
    #[inline(always)]
    pub(crate) fn read<'m>(
        &self,
        cell: usize,
        value: &'m mut MaybeUninit<T::Wire>,
    ) -> Result<(u64, Whole<'m, T>), Unread> {
        match self.look(cell, value) {
            Ok(read) => Ok(read),
            Err((Unread::Overtaken, value)) => {
                self.read_again(cell).map(|(written, kept)| (written, kept.whole_in(value)))
            }
            Err((Unread::Empty, _)) => Err(Unread::Empty),
        }
    }

    /// One look of [`read`](Self::read).
    #[inline(always)]
    pub(crate) fn look<'m>(&self, cell: usize, value: &'m mut MaybeUninit<T::Wire>) -> Look<'m, T> {
        let written = self.written(cell);
        if written == 0 {
            return Err((Unread::Empty, value));
        }
        // SAFETY: `kept` keeps them.
        match unsafe { self.slots(cell).read(Sequence::new(written - 1), value) } {
            Ok(whole) => Ok((written, whole)),
            Err((_, value)) => Err((Unread::Overtaken, value)),
        }
    }

    /// As [`read`](Self::read), after a look that has found the value overwritten. By value: a buffer whose
    /// address goes to a function lives in memory.
    #[cold]
    #[inline(never)]
    fn read_again(&self, cell: usize) -> Result<(u64, KeptWhole<T>), Unread> {
        for _ in 1..MOST_LOOKS {
            let mut value = MaybeUninit::uninit();
            match self.look(cell, &mut value) {
                Ok((written, whole)) => return Ok((written, whole.keep())),
                // (No pause: a later value is there.)
                Err((Unread::Overtaken, _)) => {}
                // Unreached: stamps that another process takes back; the tests of hostile memory
                Err((Unread::Empty, _)) => return Err(Unread::Empty),
            }
        }
        Err(Unread::Overtaken)
    }
}

impl<T> Clone for Cells<T> {
    fn clone(&self) -> Self {
        Self { first: self.first, newest: self.newest, count: self.count, kept: Arc::clone(&self.kept) }
    }
}

/// The cells, as their writer has them.
pub(crate) struct CellWriter<T> {
    cells: Cells<T>,
    /// Of each cell: how many values were written.
    written: Box<[u64]>,
}

impl<T: Message> CellWriter<T> {
    /// # Safety
    ///
    /// Nobody else writes to these cells, which are all zero and can be written to.
    pub(crate) unsafe fn new(cells: Cells<T>) -> Self {
        let written = core::iter::repeat_n(0, cells.count).collect();
        Self { cells, written }
    }

    /// Writes the next value of a cell, and tells readers then.
    ///
    /// # Panics
    ///
    /// If there is no such cell.
    #[inline]
    pub(crate) fn write(&mut self, cell: usize, value: &T, mut tell: impl FnMut()) {
        if seeded!("cells_told_too_early") {
            tell();
        }
        self.cells.assert_is_there(cell);
        let written = &mut self.written[cell];
        let sequence = Sequence::new(*written);
        // SAFETY: `kept` keeps them. They are for one writer, which is this (see `new`), is here alone, and
        // has written all before.
        unsafe { self.cells.slots(cell).write(Writers::One, sequence, value) }.publish();
        *written += 1;
        // cells.show1. Release: pairs with cells.look2. A reader that sees it sees slot.w4 of the value.
        let newest = self.cells.newest(cell);
        newest.store(Stamp::done(sequence).bits(), ordering!(Release unless "cells_shown_relaxed"));
        if !seeded!("cells_told_too_early") {
            tell();
        }
    }

    /// To read them.
    pub(crate) fn cells(&self) -> &Cells<T> {
        &self.cells
    }
}

/// Cells that threads share in place of processes, for a model.
#[cfg(annulus_loom)]
mod model {
    use core::mem::MaybeUninit;

    use super::super::slots::{Writers, stride_for};
    use super::{CellWriter, Cells, Copied, SLOTS};
    use crate::base::allocation::Before;
    use crate::memory::Memory;
    use crate::message::Message;

    /// What writes.
    pub struct ValueWriter<T>(CellWriter<T>);

    /// What reads.
    pub struct ValueReader<T>(Cells<T>);

    /// One cell.
    ///
    /// # Panics
    ///
    /// If there is no memory.
    #[must_use]
    pub fn cell_for_a_model<T: Message>() -> (ValueWriter<T>, ValueReader<T>) {
        let stride = stride_for(size_of::<T::Wire>(), Writers::One);
        let words = |count, stride| Copied::new(count, stride, &Memory::default(), Before::NOTHING).unwrap();
        // SAFETY: they are for one cell, new, and written by this writer alone.
        let (cells, writer) = unsafe {
            let cells = Cells::new(words(SLOTS, stride), words(1, 1), 1, stride);
            (cells.clone(), CellWriter::new(cells))
        };
        (ValueWriter(writer), ValueReader(cells))
    }

    impl<T: Message> ValueWriter<T> {
        /// Writes the next value, and tells readers then.
        pub fn write(&mut self, value: T, tell: impl FnMut()) {
            self.0.write(0, &value, tell);
        }
    }

    impl<T: Message> ValueReader<T> {
        /// The newest value, and how many are written; `None` if there is none, or it was overwritten.
        #[must_use]
        pub fn look(&self) -> Option<(u64, T)> {
            let mut value = MaybeUninit::uninit();
            let (written, whole) = self.0.look(0, &mut value).ok()?;
            // SAFETY: no other process is there.
            Some((written, unsafe { whole.unchecked() }.take()))
        }

        /// How many are written.
        #[must_use]
        pub fn written(&self) -> u64 {
            self.0.written(0)
        }
    }
}

#[cfg(annulus_loom)]
pub use model::{ValueReader, ValueWriter, cell_for_a_model};
