//! [`Seats`]: the cells of a gate whose subscribers are of other processes.
//!
//! There are as many as the ring was made with, in memory that the publisher and all subscribers write to.
//! Whoever has a seat holds a lock on it, which the kernel takes down when the process ends. So a publisher
//! that has no room takes the locks that nobody holds: where a cell is in use, its subscriber is dead, and
//! the cell is free from then on.
//!
//! ```text
//! subscriber that joins                            publisher that has no room
//! seats.join1   take the lock of a seat            seats.sweep5  cell in use?
//! seats.join2   cell := cursor                     seats.sweep6  take its lock      ── taken: the subscriber lives
//! ... (gate.rs)                                    seats.sweep7  cell := FREE
//! subscriber that leaves                           seats.leave4  give the lock up
//! seats.leave3  cell := FREE
//! seats.leave4  give the lock up
//! ```
//!
//! *Why no living subscriber is swept.* It stores its cell between seats.join1 and seats.leave4, and
//! seats.sweep7 comes between seats.sweep6 and seats.leave4. The lock is held by one at a time. What
//! seats.join2 finds in a cell is `FREE`, or of somebody who is dead.
//!
//! Any process that has the memory may write any number to a cell. A publisher may then wait for nobody, or
//! not wait for somebody: messages are lost, and counted. It touches no other memory, and whoever waits goes
//! on looking.
// Decision 0091: a table, and locks of the kernel.

use alloc::boxed::Box;
use core::ptr::NonNull;

use super::registry::{FREE, Pass};
use crate::base::gone::NowAndThen;
use crate::base::sequence::Sequence;
use crate::sync::{AtomicU64, Ordering, mutated};

/// What the publisher says: the latest head with which it looked at the cells. 0 at first.
#[repr(C, align(128))]
pub(crate) struct Scanned(AtomicU64);

/// The next message that the subscriber of a seat needs, or `FREE`. On a line of its own.
#[repr(C, align(128))]
pub(crate) struct SeatCell(AtomicU64);

impl Scanned {
    /// Nobody else has the memory yet.
    #[cfg(not(annulus_loom))]
    pub(crate) fn begin_at(&self, first: Sequence) {
        // Relaxed: what hands the memory over to another process orders it.
        self.0.store(first.get(), Ordering::Relaxed);
    }

    #[cfg(annulus_loom)]
    pub(crate) fn zeroed() -> Self {
        Self(AtomicU64::new(0))
    }
}

impl SeatCell {
    /// Nobody else has the memory yet.
    #[cfg(not(annulus_loom))]
    pub(crate) fn begin(&self) {
        // Relaxed: as for `Scanned::begin_at`.
        self.0.store(FREE, Ordering::Relaxed);
    }

    /// Whether somebody has the seat: a hint.
    #[cfg(not(annulus_loom))]
    pub(crate) fn is_used(&self) -> bool {
        // Relaxed: a hint.
        self.0.load(Ordering::Relaxed) != FREE
    }

    #[cfg(annulus_loom)]
    pub(crate) fn free() -> Self {
        Self(AtomicU64::new(FREE))
    }
}

/// The locks of seats. Each is held by one at a time, and given up at the latest when its process ends.
pub(crate) trait SeatLocks: Send + Sync {
    /// Takes the lock of this seat; false if somebody has it.
    fn take(&self, seat: usize) -> bool;

    /// Gives it up. The caller has it.
    fn give_up(&self, seat: usize);
}

/// The cells of a gate whose subscribers are of other processes, as one process has them.
pub(crate) struct Seats {
    scanned: NonNull<Scanned>,
    cells: NonNull<[SeatCell]>,
    locks: Box<dyn SeatLocks>,
    swept: NowAndThen,
}

// SAFETY: the pointers stand for shared borrows of atomics, which live as long as this (see `new`).
unsafe impl Send for Seats {}
// SAFETY: as above.
unsafe impl Sync for Seats {}

impl Seats {
    /// # Safety
    ///
    /// `scanned` and `cells` live, and can be written to, as long as this: the locks keep them, for example.
    pub(crate) unsafe fn new(
        scanned: NonNull<Scanned>,
        cells: NonNull<[SeatCell]>,
        locks: impl SeatLocks + 'static,
    ) -> Self {
        Self { scanned, cells, locks: Box::new(locks), swept: NowAndThen::new() }
    }

    fn cells(&self) -> &[SeatCell] {
        // SAFETY: they live as long as this.
        unsafe { self.cells.as_ref() }
    }

    /// Where the latest head is with which the publisher looked.
    pub(super) fn scanned(&self) -> &AtomicU64 {
        // SAFETY: it lives as long as this.
        unsafe { &self.scanned.as_ref().0 }
    }

    /// A seat with `cursor` in its cell; `None` if all are taken. A system call for each that is.
    pub(super) fn enter(&self, cursor: Sequence) -> Option<Pass> {
        // seats.join1.
        let (_, SeatCell(cell)) = (0..).zip(self.cells()).find(|&(seat, _)| self.locks.take(seat))?;
        // seats.join2. Acquire: pairs with the Release of seats.leave3. What its last owner read comes before
        // all that follows from here.
        cell.swap(cursor.get(), Ordering::AcqRel);
        Some(Pass(NonNull::from(cell)))
    }

    /// Gives a seat up, which came from [`enter`](Self::enter).
    pub(super) fn leave(&self, pass: Pass) {
        let seat = (0..).zip(self.cells()).find(|(_, SeatCell(cell))| NonNull::from(cell) == pass.0);
        let Some((seat, SeatCell(cell))) = seat else { return };
        if !mutated!("seat_never_left") {
            // seats.leave3. Release: pairs with the Acquire of seats.join2 and of gate.scan3.
            cell.store(FREE, Ordering::Release);
        }
        // seats.leave4.
        self.locks.give_up(seat);
    }

    /// gate.scan3: the smallest cursor, or `FREE`.
    pub(super) fn slowest(&self) -> u64 {
        self.cursors().map(|(_, cursor)| cursor.get()).min().unwrap_or(FREE)
    }

    /// Calls `each` with the number of each seat that is in use, and its cursor.
    pub(super) fn visit(&self, mut each: impl FnMut(u64, Sequence)) {
        self.cursors().for_each(|(seat, cursor)| each(seat, cursor));
    }

    fn cursors(&self) -> impl Iterator<Item = (u64, Sequence)> {
        (0..).zip(self.cells()).filter_map(|(seat, SeatCell(cell))| {
            // Acquire: pairs with the Release in `Pass::advance`, and of seats.leave3.
            let cursor = cell.load(Ordering::Acquire);
            // No number is believed that is too large to count on from.
            (cursor != FREE).then(|| (seat, Sequence::new(cursor).min(Sequence::LAST_BELIEVED)))
        })
    }

    /// Frees the seats of those who are dead, and says whether there was one. Asks the kernel now and then.
    #[cold]
    pub(super) fn sweep(&self) -> bool {
        if mutated!("seats_never_swept") || !self.swept.is_due() {
            return false;
        }
        let mut was_any = false;
        for (seat, SeatCell(cell)) in (0..).zip(self.cells()) {
            // seats.sweep5. Relaxed: the lock decides.
            let is_used = cell.load(Ordering::Relaxed) != FREE;
            // seats.sweep6.
            if is_used && (mutated!("seats_swept_alive") || self.locks.take(seat)) {
                // seats.sweep7. Release: pairs with the Acquire of seats.join2.
                cell.store(FREE, Ordering::Release);
                // seats.leave4.
                self.locks.give_up(seat);
                was_any = true;
            }
        }
        was_any
    }
}
