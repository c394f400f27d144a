//! [`Seats`]: the cells of a gate whose subscribers are of other processes.
//!
//! There are as many as the ring was made with, in memory that the publisher and all subscribers write to. A
//! subscriber that has a seat holds a lock on it, which the kernel takes down when the process ends. So a
//! publisher that has no room takes the locks that nobody holds: where a cell is in use, its subscriber is
//! dead, and the cell is free from then on.
//!
//! ```text
//! subscriber that joins                            publisher that has no room
//! seats.join1   take the lock of a seat            seats.sweep5  cell in use?
//! seats.join2   begun := 0, cell := cursor         seats.sweep6  take its lock      ── taken: the subscriber lives
//! ... (gate.rs)                                    seats.sweep7  cell := FREE
//! seats.begin8  begun := 1                         seats.leave4  give the lock up
//! subscriber that leaves
//! seats.leave3  cell := FREE
//! seats.leave4  give the lock up
//! ```
//!
//! *Why no living subscriber is swept.* It stores its cell between seats.join1 and seats.leave4, and
//! seats.sweep7 comes between seats.sweep6 and seats.leave4. The lock is held by one at a time. What
//! seats.join2 finds in a cell is `FREE`, or of a dead subscriber.
//!
//! *Which seats count.* Between seats.join2 and gate.join4 a seat is in use, and it is not decided where its
//! subscriber begins: that may be behind what is published meanwhile. So a publisher that waits for
//! subscribers counts a seat from seats.begin8 on, and frees the seats of the dead before.
//!
//! Any process that has the memory may write any number to a cell. A publisher may then wait for nobody, or
//! not wait for somebody: messages are lost, and counted. It touches no other memory, and a waiting publisher
//! keeps looking.
// Decision 0091: a table, and locks of the kernel.

use alloc::boxed::Box;
use core::ptr::NonNull;

use super::registry::{FREE, Pass};
use crate::base::peer_liveness::NowAndThen;
use crate::base::sequence::Sequence;
use crate::sync::{AtomicU64, Ordering, seeded};

/// What the publisher says.
// Decision 0176: the floor is here, too.
#[repr(C, align(128))]
pub(crate) struct Scanned {
    /// The latest head with which it looked at the cells. At first the number of the first message.
    head: AtomicU64,
    /// Nobody joins before it: the gate's floor (gate.clear1), of a ring of records. Elsewhere it stays where
    /// it began.
    floor: AtomicU64,
}

/// A seat. On a line of its own.
#[repr(C, align(128))]
pub(crate) struct SeatCell {
    /// The next message that its subscriber needs, or `FREE`.
    cell: AtomicU64,
    /// 1 once it is decided where the subscriber begins. Means nothing while the cell is `FREE`.
    begun: AtomicU64,
}

impl Scanned {
    /// Where the floor is.
    #[cfg(not(annulus_loom))]
    pub(crate) const FLOOR: usize = core::mem::offset_of!(Self, floor);

    /// Nobody else has the memory yet.
    #[cfg(not(annulus_loom))]
    pub(crate) fn begin_at(&self, first: Sequence) {
        // Relaxed, both: what hands the memory over to another process orders it.
        self.head.store(first.get(), Ordering::Relaxed);
        self.floor.store(first.get(), Ordering::Relaxed);
    }

    #[cfg(annulus_loom)]
    pub(crate) fn zeroed() -> Self {
        Self { head: AtomicU64::new(0), floor: AtomicU64::new(0) }
    }
}

impl SeatCell {
    /// Nobody else has the memory yet.
    #[cfg(not(annulus_loom))]
    pub(crate) fn begin(&self) {
        // Relaxed: as for `Scanned::begin_at`.
        self.cell.store(FREE, Ordering::Relaxed);
    }

    /// Whether somebody has the seat: a hint.
    #[cfg(not(annulus_loom))]
    pub(crate) fn is_used(&self) -> bool {
        // Relaxed: a hint.
        self.cell.load(Ordering::Relaxed) != FREE
    }

    #[cfg(annulus_loom)]
    pub(crate) fn free() -> Self {
        Self { cell: AtomicU64::new(FREE), begun: AtomicU64::new(0) }
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
        unsafe { &self.scanned.as_ref().head }
    }

    /// Where the first message is with which a subscriber may begin.
    pub(super) fn floor(&self) -> &AtomicU64 {
        // SAFETY: as above.
        unsafe { &self.scanned.as_ref().floor }
    }

    /// A seat with `cursor` in its cell; `None` if all are taken. A system call for each that is.
    pub(super) fn enter(&self, cursor: Sequence) -> Option<Pass> {
        // seats.join1.
        let (_, SeatCell { cell, begun }) =
            (0..).zip(self.cells()).find(|&(seat, _)| self.locks.take(seat))?;
        // Relaxed: seats.join2 publishes it.
        begun.store(0, Ordering::Relaxed);
        // seats.join2. Acquire: pairs with the Release of seats.leave3. What its last owner read comes before
        // all that follows from here. Release: pairs with the Acquire in `cursors`.
        cell.swap(cursor.get(), Ordering::AcqRel);
        Some(Pass(NonNull::from(cell)))
    }

    fn seat_of(&self, pass: Pass) -> Option<(usize, &SeatCell)> {
        (0..).zip(self.cells()).find(|(_, seat)| NonNull::from(&seat.cell) == pass.0)
    }

    /// It is decided where the subscriber of a seat begins, which came from [`enter`](Self::enter).
    pub(super) fn begin(&self, pass: Pass) {
        if let Some((_, seat)) = self.seat_of(pass).filter(|_| !seeded!("seat_never_begun")) {
            // seats.begin8. Release: pairs with the Acquire in `seated`. The choice comes before.
            seat.begun.store(1, Ordering::Release);
        }
    }

    /// How many subscribers have a seat, and know where they begin. So each of them receives all that the
    /// caller publishes from now on.
    pub(super) fn seated(&self) -> usize {
        // Acquire: pairs with seats.begin8. It comes after the load in `cursors`, so it is not of an owner
        // that left before.
        let has_begun = |&(seat, _): &(u64, Sequence)| {
            let begun = &self.cells()[seat as usize].begun;
            begun.load(Ordering::Acquire) != 0 || seeded!("seats_counted_early")
        };
        self.cursors().filter(has_begun).count()
    }

    /// Gives a seat up, which came from [`enter`](Self::enter).
    pub(super) fn leave(&self, pass: Pass) {
        let Some((seat, SeatCell { cell, .. })) = self.seat_of(pass) else { return };
        if !seeded!("seat_never_left") {
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
        (0..).zip(self.cells()).filter_map(|(seat, SeatCell { cell, .. })| {
            // Acquire: pairs with the Release in `Pass::advance`, of seats.join2 and of seats.leave3.
            let cursor = cell.load(Ordering::Acquire);
            // No number is believed that is too large to count on from.
            (cursor != FREE).then(|| (seat, Sequence::new(cursor).min(Sequence::LAST_BELIEVED)))
        })
    }

    /// Frees the seats of dead subscribers, and says whether there was one. Asks the kernel now and then.
    #[cold]
    pub(super) fn sweep(&self) -> bool {
        self.swept.is_due() && self.free_dead()
    }

    /// The same now: a system call for each seat that is in use.
    pub(super) fn free_dead(&self) -> bool {
        let mut was_any = false;
        if seeded!("seats_never_swept") {
            return was_any;
        }
        for (seat, SeatCell { cell, .. }) in (0..).zip(self.cells()) {
            // seats.sweep5. Relaxed: the lock decides.
            let is_used = cell.load(Ordering::Relaxed) != FREE;
            // seats.sweep6.
            if is_used && (seeded!("seats_swept_alive") || self.locks.take(seat)) {
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
