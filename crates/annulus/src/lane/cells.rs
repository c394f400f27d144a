//! Storage for messages, and which message lies where: [`Cells`], [`Number`] and [`Position`].
//!
//! Cells are a block of slots, each of which holds a `T` or nothing. A block does not know which slots are
//! full. Its user knows, and drops what is left. Slots lie beside each other, so several can be read or
//! written as one slice.
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

use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ops::Range;
use core::ptr::NonNull;
use core::slice;

use crate::base::allocation::Before;
use crate::error::CapacityError;
use crate::memory::{Block, Memory};
use crate::sync::{UnsafeCell, prefetch_to_read, seeded, tell, unlikely};

/// A fixed number of slots. They begin on a cache line of their own, and share no line with anything else.
pub(crate) struct Cells<T> {
    block: Block,
    count: usize,
    /// What is in the block.
    messages: PhantomData<MaybeUninit<T>>,
    /// Under loom only: one for each slot, to find two threads that use a slot at once. (Cells of loom cannot
    /// lie beside each other in a slice.)
    watchers: Watchers,
}

/// In a model, two processes have the same ones.
#[cfg(annulus_loom)]
type Watchers = alloc::sync::Arc<[UnsafeCell<()>]>;

#[cfg(not(annulus_loom))]
type Watchers = [UnsafeCell<()>; 0];

// SAFETY: messages move in on one thread and out on another, or are dropped there, which takes `T: Send`.
unsafe impl<T: Send> Send for Cells<T> {}
// SAFETY: as above; the promises below keep two threads from using one slot at once.
unsafe impl<T: Send> Sync for Cells<T> {}

/// Where a block begins: two lines, because processors fetch them in pairs.
const ALIGNMENT: usize = 128;

impl<T> Cells<T> {
    /// `count` empty slots, in `memory`, behind what is to be before them. Every page is written here, so
    /// none is touched for the first time while the ring runs.
    #[inline(always)]
    pub(crate) fn new(count: usize, memory: &Memory, before: Before) -> Result<Self, CapacityError> {
        if count == 0 {
            return Err(CapacityError::TooSmall { capacity: count, minimum: 1 });
        }
        let too_large = || CapacityError::TooLarge { capacity: count, slot_bytes: size_of::<T>() };
        let layout = Self::layout(count).ok_or_else(too_large)?;
        let block = Block::touched(layout, memory, before)
            .map_err(|refused| CapacityError::of_block(refused, count, size_of::<T>()))?;
        #[cfg(annulus_loom)]
        let watchers = (0..count).map(|_| UnsafeCell::new(())).collect();
        #[cfg(not(annulus_loom))]
        let watchers = [];
        Ok(Self { block, count, messages: PhantomData, watchers })
    }

    /// Puts a copy of this into each slot, also where they are to be written in parts: none is uninitialized
    /// from then on.
    pub(crate) fn fill(&mut self, message: T)
    where
        T: Copy,
    {
        // SAFETY: the slots lie there, one beside the other, and nobody else has them.
        unsafe { slice::from_raw_parts_mut(self.start(), self.count) }.fill(MaybeUninit::new(message));
    }

    /// `count` slots that lie there already.
    ///
    /// # Safety
    ///
    /// The block has [so much memory](Self::layout), at such an address, and it can be written to.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) unsafe fn over(block: Block, count: usize) -> Self {
        Self { block, count, messages: PhantomData, watchers: [] }
    }

    /// The same slots, as another process of a model has them.
    ///
    /// # Safety
    ///
    /// As of [`over`](Self::over): these outlive what it returns.
    #[cfg(all(feature = "shm", annulus_loom))]
    pub(crate) unsafe fn again(&self) -> Self {
        let (block, watchers) = (Block::borrowed(self.block.start()), self.watchers.clone());
        Self { block, count: self.count, messages: PhantomData, watchers }
    }

    /// Of the memory of so many slots; `None` if there can't be so much.
    #[inline]
    pub(crate) fn layout(count: usize) -> Option<Layout> {
        let layout = Layout::array::<T>(count).ok()?.align_to(ALIGNMENT).ok()?;
        // Slots without a size are just numbers, but they too must be told apart: their order goes by their
        // distance, and half of all distances are negative.
        let few = isize::try_from(count).is_ok() || seeded!("more_slots_than_distances");
        // (A layout's size is in range after padding, too.)
        few.then(|| layout.pad_to_align())
    }

    /// Where they lie.
    #[inline(always)]
    pub(crate) fn block_mut(&mut self) -> &mut Block {
        &mut self.block
    }

    /// Where they lie.
    #[cfg(feature = "std")]
    pub(crate) fn block(&self) -> &Block {
        &self.block
    }

    /// The number of slots.
    #[inline]
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// The first slot.
    #[inline(always)]
    pub(super) fn start(&self) -> *mut MaybeUninit<T> {
        self.block.start().cast().as_ptr()
    }
}

/// The number of a message in a lane: one more for each.
///
/// A lane may begin anywhere, and its numbers wrap at 2^64. So they have no order of their own; two numbers
/// that are [compared](Self::is_before) are less than half of all numbers apart.
///
/// The numbers of a ring are another type, [`Sequence`](crate::base::sequence::Sequence): they never wrap, so
/// they have an order, and a distance back is 0. One type for both would allow the wrong steps in each, and
/// would change the code of a ring. For the same reason there are two types of stamp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
pub(crate) struct Number(u64);

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

// SAFETY: two numbers. The functions of `Cells` that use the slot demand what it needs.
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
        self.to_storage_end(cells) - usize::from(!seeded!("run_past_the_end"))
    }

    /// Prefetches its slot to be read.
    #[inline(always)]
    pub(crate) fn prefetch_to_read(self) {
        prefetch_to_read(self.pointer());
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

    /// The slots of `count` messages from here on; `count` is at most the number of all slots.
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

    /// The position `count` further on; `count` is at most the number of all slots.
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
}

/// What lies in a slot, by its index.
impl<T> Cells<T> {
    /// Slot `index`.
    #[inline(always)]
    pub(super) fn slot(&self, index: usize) -> *mut T {
        debug_assert!(index < self.count);
        // (A wrapping step, because this function makes no promise; the users of the pointer make one.)
        self.block.start().as_ptr().cast::<T>().wrapping_add(index)
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
        tell!(Read, self.slot(index), size_of::<T>());
        // SAFETY: the caller's promise.
        unsafe { self.slot(index).read() }
    }

    /// Drops the value of slot `index`, where it is.
    ///
    /// # Safety
    ///
    /// As of [`take`](Self::take).
    pub(crate) unsafe fn drop_in_place(&self, index: usize) {
        self.watch_write(index..index + 1);
        tell!(Read, self.slot(index), size_of::<T>());
        // SAFETY: the caller's promise.
        unsafe { self.slot(index).drop_in_place() };
    }

    /// The value of slot `index`, to look at.
    ///
    /// # Safety
    ///
    /// The index is below the count, the slot holds a value, and nobody changes or moves it for `'a`.
    #[inline(always)]
    pub(crate) unsafe fn value<'a>(&self, index: usize) -> &'a T {
        self.watch_read(index..index + 1);
        tell!(Read, self.slot(index), size_of::<T>());
        // SAFETY: the caller's promise.
        unsafe { &*self.slot(index) }
    }
}

/// For loom, which looks which thread uses which slot.
impl<T> Cells<T> {
    /// The slots of `count` positions from this one on, for the watchers.
    #[inline(always)]
    fn watched(&self, from: Position<T>, count: usize) -> Range<usize> {
        let slot = if cfg!(annulus_loom) { from.slot(self) } else { 0 };
        // Mutants: `+ with *`: not in this build: loom.
        slot..slot + count
    }

    // Mutants: `with ()`: not in this build: loom.
    #[inline(always)]
    fn watch_write(&self, range: Range<usize>) {
        if cfg!(annulus_loom) {
            // Unreached: with loom only
            self.watchers[range].iter().for_each(|watcher| watcher.with_mut(|_| ()));
        }
    }

    // Mutants: `with ()`: not in this build: loom.
    #[inline(always)]
    fn watch_read(&self, range: Range<usize>) {
        if cfg!(annulus_loom) {
            // Unreached: with loom only
            self.watchers[range].iter().for_each(|watcher| watcher.with(|_| ()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_cell_begins_on_a_line() {
        #[repr(align(256))]
        struct Wide;
        assert_eq!(
            Cells::<u8>::new(3, &Memory::default(), Before::NOTHING).unwrap().start() as usize % ALIGNMENT,
            0
        );
        assert_eq!(
            Cells::<Wide>::new(3, &Memory::default(), Before::NOTHING).unwrap().start() as usize % 256,
            0
        );
        let most = isize::MAX as usize;
        assert_eq!(Cells::<()>::new(most, &Memory::default(), Before::NOTHING).unwrap().count(), most);
        assert!(Cells::<()>::new(most + 1, &Memory::default(), Before::NOTHING).is_err());
    }

    #[test]
    fn refuses_what_memory_does_not_hold() {
        let error = Cells::<u64>::new(usize::MAX, &Memory::default(), Before::NOTHING).err().unwrap();
        assert_eq!(error, CapacityError::TooLarge { capacity: usize::MAX, slot_bytes: 8 });
        assert!(Cells::<u64>::new(usize::MAX / 16, &Memory::default(), Before::NOTHING).is_err());
    }

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
    fn earlier_number_is_before_the_later_one() {
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
