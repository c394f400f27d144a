//! [`Number`] and [`Position`]: which message of a lane, and where it lies.
//!
//! The tail and the head of a lane are numbers. An end has a position: its next message's number, and the
//! origin from which slots are counted. So lane.send2 and lane.take6 find their slot by one addition, and the
//! step to the next message is one more:
//!
//! ```text
//!        origin (message 0 would lie here)     slot 0      slot 1            slot 0 of the next lap
//!        │                                     │           │                 │
//!        └──── + number, in slots ────────────▶ message n │ message n + 1 … │ origin + capacity slots
//! ```

use core::fmt;
use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr::NonNull;

use super::Cells;
use crate::base::hint::{self, unlikely};
use crate::sync::{mutated, tell};

/// The number of a message in a lane: one more for each.
///
/// A lane may begin anywhere, and its numbers wrap at 2^64. So they have no order of their own; two numbers
/// that are [compared](Self::is_before) are less than half of all numbers apart.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Number(u64);

/// As the bare number: builders show it.
impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Number {
    #[inline(always)]
    pub(crate) const fn new(number: u64) -> Self {
        Self(number)
    }

    #[inline(always)]
    pub(crate) const fn get(self) -> u64 {
        self.0
    }

    #[inline(always)]
    pub(crate) const fn next(self) -> Self {
        self.plus(1)
    }

    /// The number `count` before this one.
    #[inline(always)]
    pub(crate) const fn back(self, count: u64) -> Self {
        Self(self.0.wrapping_sub(count))
    }

    /// The number `count` after this one.
    #[inline(always)]
    pub(crate) const fn plus(self, count: u64) -> Self {
        Self(self.0.wrapping_add(count))
    }

    /// How many messages lie from `earlier` up to this one, modulo 2^64.
    #[inline(always)]
    pub(crate) const fn since(self, earlier: Self) -> u64 {
        self.0.wrapping_sub(earlier.0)
    }

    /// Whether this number comes before `other`.
    #[inline(always)]
    pub(crate) const fn is_before(self, other: Self) -> bool {
        self.since(other) > u64::MAX / 2
    }
}

/// Where a message lies among the slots of a lane.
///
/// Slots are numbered as messages are, up to the end of the storage: message `number` lies at `origin +
/// number`, counted in slots. So a step from slot to slot adds one to one number.
pub(crate) struct Position<T> {
    /// The message.
    pub(crate) number: Number,
    /// Where message 0 would lie. By itself it points to no slot; all steps from it wrap.
    origin: *mut MaybeUninit<T>,
}

// SAFETY: two numbers. What is done with the slot is promised by whoever does it.
unsafe impl<T: Send> Send for Position<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Position<T> {}

impl<T> Clone for Position<T> {
    // Unreached: asked for by Copy; copies are made without it
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Position<T> {}

impl<T> Position<T> {
    /// The position of message `number`, in slot `slot`.
    pub(super) fn new(number: Number, slot: usize, cells: &Cells<T>) -> Self {
        // (Where pointers are 32 bits wide, the upper half of a number has no effect: all this is modulo
        // their width.)
        Self { number, origin: cells.start().wrapping_add(slot).wrapping_sub(number.get() as usize) }
    }

    /// Its slot.
    #[inline(always)]
    pub(super) fn pointer(self) -> *mut MaybeUninit<T> {
        self.origin.wrapping_add(self.number.get() as usize)
    }

    /// The number of its slot. (Messages that take no memory all lie in slot 0.)
    #[inline(always)]
    pub(crate) fn slot(self, cells: &Cells<T>) -> usize {
        // Exact, and without a division where the size is a power of two.
        (self.pointer() as usize).wrapping_sub(cells.start() as usize) / size_of::<T>().max(1)
    }

    /// How many slots there are from its own one to the end of the storage.
    #[inline(always)]
    pub(crate) fn to_storage_end(self, cells: &Cells<T>) -> usize {
        cells.count() - self.slot(cells)
    }

    /// How many slots lie behind its own one.
    #[inline(always)]
    pub(crate) fn left(self, cells: &Cells<T>) -> usize {
        self.to_storage_end(cells) - usize::from(!mutated!("run_past_the_end"))
    }

    /// Prefetches its slot to be read.
    #[inline(always)]
    pub(crate) fn prefetch_to_read(self) {
        hint::prefetch_to_read(self.pointer());
    }

    /// The next position, where some slots are [left](Self::left).
    #[inline(always)]
    pub(crate) fn step(self) -> Self {
        self.skip(1)
    }

    /// The position before, where this is a [`step`](Self::step) from it.
    pub(crate) fn step_back(self) -> Self {
        Self { number: self.number.back(1), ..self }
    }

    /// The position `count` further on, where more slots than that are [left](Self::left).
    #[inline(always)]
    pub(crate) fn skip(self, count: usize) -> Self {
        Self { number: self.number.plus(count as u64), ..self }
    }

    /// The slots of `count` messages from here on; `count` is at most that of all slots.
    #[inline(always)]
    pub(crate) fn ranges(self, count: usize, cells: &Cells<T>) -> [Range<usize>; 2] {
        let slot = self.slot(cells);
        let first = count.min(self.to_storage_end(cells));
        [slot..slot + first, 0..count - first]
    }

    /// The next position.
    #[inline(always)]
    pub(crate) fn next(self, cells: &Cells<T>) -> Self {
        self.forward(1, cells)
    }

    /// The position `count` further on; `count` is at most that of all slots.
    #[inline(always)]
    pub(crate) fn forward(self, count: usize, cells: &Cells<T>) -> Self {
        let goes_round = unlikely(count >= self.to_storage_end(cells));
        Self {
            number: self.number.plus(count as u64),
            origin: if goes_round { self.origin.wrapping_sub(cells.count()) } else { self.origin },
        }
    }
}

/// What lies at a position.
impl<T> Cells<T> {
    /// Moves `value` into the slot at `position`.
    ///
    /// # Safety
    ///
    /// The position is one of this block, and nobody else looks at its slot. A value in it is forgotten, not
    /// dropped.
    #[inline(always)]
    pub(crate) unsafe fn write_at(&self, position: Position<T>, value: T) {
        self.watch_write(self.watched(position, 1));
        tell!(Write, position.pointer(), size_of::<T>());
        // SAFETY: the caller's promise.
        unsafe { position.pointer().cast::<T>().write(value) };
    }

    /// Moves the value out of the slot at `position`.
    ///
    /// # Safety
    ///
    /// As of [`take`](Self::take), and the position is one of this block.
    #[inline(always)]
    pub(crate) unsafe fn take_at(&self, position: Position<T>) -> T {
        self.watch_write(self.watched(position, 1));
        tell!(Read, position.pointer(), size_of::<T>());
        // SAFETY: the caller's promise.
        unsafe { position.pointer().cast::<T>().read() }
    }

    /// Drops the value in the slot at `position`, where it is.
    ///
    /// # Safety
    ///
    /// As of [`take_at`](Self::take_at).
    pub(super) unsafe fn drop_at(&self, position: Position<T>) {
        self.watch_write(self.watched(position, 1));
        tell!(Read, position.pointer(), size_of::<T>());
        // SAFETY: the caller's promise.
        unsafe { position.pointer().cast::<T>().drop_in_place() };
    }

    /// `count` slots from `position` on, to write to.
    ///
    /// # Safety
    ///
    /// The positions are of this block and beside each other, and no other end looks at one of the slots
    /// while the caller does. What they held is forgotten, not dropped.
    // A pointer, as below: another process may write to its own slots and to these.
    #[inline(always)]
    pub(crate) unsafe fn uninit_at(&self, position: Position<T>, count: usize) -> NonNull<[MaybeUninit<T>]> {
        self.watch_write(self.watched(position, count));
        tell!(Write, position.pointer(), count * size_of::<T>());
        // SAFETY: the slots are of this block, so they are not at address 0.
        NonNull::slice_from_raw_parts(unsafe { NonNull::new_unchecked(position.pointer()) }, count)
    }

    /// The values of `count` slots from `position` on, to look at.
    ///
    /// # Safety
    ///
    /// The positions are of this block and beside each other, each of the slots holds a value, and no end of
    /// this process changes or moves one while the caller looks at it.
    // A pointer: whether there can be a reference depends on the kind of the queue.
    #[inline(always)]
    pub(crate) unsafe fn values_at(&self, position: Position<T>, count: usize) -> NonNull<[T]> {
        self.watch_read(self.watched(position, count));
        tell!(Read, position.pointer(), count * size_of::<T>());
        // SAFETY: the slots are of this block, so they are not at address 0.
        NonNull::slice_from_raw_parts(unsafe { NonNull::new_unchecked(position.pointer().cast()) }, count)
    }

    /// The slots of `count` positions from this one on, for the watchers.
    #[inline(always)]
    fn watched(&self, from: Position<T>, count: usize) -> Range<usize> {
        let slot = if cfg!(annulus_loom) { from.slot(self) } else { 0 };
        // Mutants: `+ with *`: not in this build: loom.
        slot..slot + count
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;
    use crate::base::room::Before;
    use crate::memory::Memory;

    const FIRSTS: [Number; 4] =
        [Number::new(0), Number::new(7), Number::new(u64::MAX / 2), Number::new(u64::MAX - 1)];

    #[test]
    fn steps_wrap() {
        for first in FIRSTS {
            assert_eq!(first.next().next(), first.plus(2));
            assert_eq!(first.plus(5).back(4), first.next());
            assert_eq!(first.plus(5).since(first.back(3)), 8);
            assert_eq!(first.since(first), 0);
        }
        assert_eq!(Number::new(u64::MAX).next().get(), 0);
        assert_eq!(Number::new(1).back(3).get(), u64::MAX - 1);
    }

    #[test]
    fn the_earlier_number_is_before_the_later_one() {
        // As far apart as two numbers may be that are compared.
        const FAR: u64 = u64::MAX / 2;
        for first in FIRSTS {
            assert!(!first.is_before(first));
            for later in [1, 2, 1 << 61, FAR].map(|count| first.plus(count)) {
                assert!(first.is_before(later) && !later.is_before(first));
            }
        }
    }

    fn go_round<T>() {
        for slots in [1, 2, 3, 8] {
            let cells = Cells::<T>::new(slots, &Memory::default(), Before::NOTHING).unwrap();
            let first = Number::new(u64::MAX - 4);
            let position_of =
                |number: Number| Position::new(number, (number.since(first) % slots as u64) as usize, &cells);
            let mut position = position_of(first);
            for count in (0..=slots).cycle().take(40) {
                assert_eq!(position.left(&cells) + 1, position.to_storage_end(&cells));
                if position.left(&cells) > 0 {
                    assert_eq!(position.next(&cells).pointer(), position.step().pointer());
                    assert_eq!(position.step().step_back().pointer(), position.pointer());
                    assert_eq!(position.step().step_back().number, position.number);
                }
                assert_eq!(
                    position.ranges(count, &cells).map(|range| range.len()).iter().sum::<usize>(),
                    count
                );
                position = position.forward(count, &cells);
                assert_eq!(position.pointer(), position_of(position.number).pointer(), "{count} of {slots}");
                assert!(position.slot(&cells) < slots);
            }
        }
    }

    #[test]
    fn positions_wrap() {
        go_round::<u8>();
        go_round::<u64>();
        go_round::<[u8; 3]>();
        go_round::<[u64; 5]>();
        go_round::<()>();
    }
}
