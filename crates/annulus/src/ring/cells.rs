//! [`Cells`]: values of which only the newest counts. One thread writes them, and any number of threads and
//! processes read them at any time.
//!
//! A cell is a few [stamped slots](super::slots), which its values take in turn. So while a value is written,
//! the one before lies untouched in the slot beside it, also if the writer stops there for ever, or dies.
//!
//! ```text
//! writer, value s                              reader
//! slot.w1 to slot.w4, in slot s mod 4          cells.look1  load the stamps of all 4 slots
//!                                              the greatest says writing(s) or done(s − 1): s values are whole
//!                                              slot.r1 to slot.r4, of value s − 1
//! ```
//!
//! *Why this is the newest.* Stamps of a slot only grow. Let value `v` have been sent before the read began:
//! the reader sees `done(v)` or a later stamp in that slot, so the greatest stamp is no earlier, and says
//! that `v` or a later value is whole. And of two reads, one after the other, the second finds no earlier
//! value.
//!
//! *Why it is there.* A stamp `writing(s)` comes after slot.w4 of value `s − 1`, which lies in another slot.
//! It is overwritten once the writer begins value `s + 3`: then three more values are whole, and the reader
//! looks again. So a reader repeats a look only if the writer has finished values meanwhile, and a writer
//! that has stopped makes it look twice at most. (Before slot.r1 sees slot.w4 of value `s − 1`, slot.w1 of
//! value `s` may be seen, because nothing orders the two stores. That look is repeated, too.)
// Decision 0162: slots in turn, and notices.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::mem::MaybeUninit;

use super::slots::{Copied, Kept, Slots, Store, Whole, Writers};
use crate::base::index::Index;
use crate::base::sequence::Sequence;
use crate::message::Message;
use crate::message::encoded::Encoded;
use crate::sync::{pause, seeded};

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
    count: usize,
    /// What `first` points to.
    kept: Arc<Copied<T>>,
}

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
    /// The store has [`SLOTS`] slots of that stride, in words, for each of so many cells. It is the stride
    /// of such messages, for one writer. What [`Copied::over`] asks for holds.
    pub(crate) unsafe fn new(store: Copied<T>, count: usize, stride: usize) -> Self {
        let kept = Arc::new(store);
        Self { first: Slots::new(kept.start(), &INDEX, stride, Writers::One), count, kept }
    }

    /// How many there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    #[inline(always)]
    fn slots(&self, cell: usize) -> Slots<Copied<T>> {
        assert!(cell < self.count, "there is no cell {cell}: there are {}", self.count);
        // SAFETY: they are for one writer (see `new`).
        let Slots { start, stride, .. } = unsafe { self.first.of(Writers::One) };
        // SAFETY: the store has so many slots for each cell (see `new`).
        Slots::new(unsafe { start.add(cell * SLOTS * stride) }, &INDEX, stride, Writers::One)
    }

    /// How many values of a cell are whole, in all. The newest has that number less one.
    #[inline(always)]
    pub(crate) fn written(&self, cell: usize) -> u64 {
        let slots = self.slots(cell);
        // cells.look1. Acquire, in `stamp`: pairs with slot.w4 of each value.
        // SAFETY: `kept` keeps them.
        let stamp = |slot| unsafe { slots.stamp(Sequence::new(slot)) }.bits();
        let newest = (1..SLOTS as u64).fold(stamp(0), |newest, slot| newest.max(stamp(slot)));
        if seeded!("cells_first_slot") {
            return stamp(0) / 2;
        }
        newest / 2
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
    fn read_again(&self, cell: usize) -> Result<(u64, Kept<T>), Unread> {
        for _ in 1..MOST_LOOKS {
            let mut value = MaybeUninit::uninit();
            match self.look(cell, &mut value) {
                Ok((written, whole)) => return Ok((written, whole.keep())),
                Err((Unread::Overtaken, _)) => pause(),
                // Unreached: stamps that another process takes back; the tests of hostile memory
                Err((Unread::Empty, _)) => return Err(Unread::Empty),
            }
        }
        Err(Unread::Overtaken)
    }
}

impl<T> Clone for Cells<T> {
    fn clone(&self) -> Self {
        Self { first: self.first, count: self.count, kept: Arc::clone(&self.kept) }
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
        let slots = self.cells.slots(cell);
        let written = &mut self.written[cell];
        // SAFETY: `kept` keeps them. They are for one writer, which is this (see `new`), is here alone, and
        // has written all before.
        unsafe { slots.write(Writers::One, Sequence::new(*written), value) }.publish();
        *written += 1;
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
        let store = Copied::new(SLOTS, stride, &Memory::default(), Before::NOTHING).unwrap();
        // SAFETY: the store is for one cell, new, and written by this writer alone.
        let (cells, writer) = unsafe {
            let cells = Cells::new(store, 1, stride);
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
