//! The second free list of a large pool, first in, first out: for slabs that came out of a handle, so most
//! likely from another core.
//!
//! A bounded queue of indexes without locks, after Shann, Huang, Chen, "A practical nonblocking queue
//! algorithm using compare-and-swap" (ICPADS 2000): the compare-exchange of a slot decides, and `head` and
//! `tail` follow it, moved on by the first thread that finds them behind. There are more slots than slabs, so
//! it is never full.
//!
//! ```text
//!  63                     32 31                      0
//! ┌─────────────────────────┬─────────────────────────┐
//! │ lap                     │ index                   │   a slot; the index may be END or CLOSED
//! └─────────────────────────┴─────────────────────────┘
//!
//! pop                                                      push
//! fifo.pop1  position := head             Acquire          fifo.push1  position := tail             Acquire
//! fifo.pop2  load its slot                Acquire          fifo.push2  load its slot                Acquire
//! fifo.pop3  (lap, index) → (lap + 1, END)                 fifo.push3  full: tail := position + 1   Release
//! fifo.pop4  head := position + 1         Release          fifo.push4  (lap, END) → (lap, index)    Release
//! ```
//!
//! *Why the tail lags.* fifo.push4 is the last that a push does: once the slab is in the list, another thread
//! may end the pool. So it leaves the tail to the next push.
//!
//! *Why an empty slot at the head means an empty list.* A push to a later position moved the tail past this
//! one, so it came after the push to this one, and a thread that sees the later one sees this one.

use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::base::free_list::END;
use crate::sync::{AtomicU64, Ordering, ordering, seeded};

/// In place of an index: nothing is pushed any more.
const CLOSED: u32 = END - 1;

/// A position on lines of its own.
#[repr(C, align(128))]
struct FifoEnd(AtomicU64);

impl FifoEnd {
    #[inline]
    fn look(&self) -> u64 {
        // Acquire: fifo.pop1 and fifo.push1 pair with fifo.pop4 and fifo.push3, so the slots before this
        // position are seen as the thread that moved the position saw them.
        self.0.load(Ordering::Acquire)
    }

    #[inline]
    fn move_on(&self, from: u64) {
        // Release: pairs with `look`. Relaxed where it fails: somebody else moved it.
        let _ = self.0.compare_exchange(from, from.wrapping_add(1), Ordering::Release, Ordering::Relaxed);
    }
}

/// What a slot held when it was looked at.
#[derive(Clone, Copy, PartialEq, Eq)]
struct SeenSlot(u64);

impl SeenSlot {
    #[inline]
    fn of(lap: u32, index: u32) -> Self {
        // Mutants: `| with ^`: no bit is in both.
        Self(u64::from(lap) << 32 | u64::from(index))
    }

    #[inline]
    fn lap(self) -> u32 {
        (self.0 >> 32) as u32
    }

    #[inline]
    fn index(self) -> u32 {
        self.0 as u32
    }
}

pub(super) struct Fifo {
    head: FifoEnd,
    tail: FifoEnd,
    /// A power of two of them.
    slots: Box<[AtomicU64]>,
}

impl Fifo {
    /// For so many slabs; empty. `None` if memory has no room.
    pub(super) fn new(count: usize) -> Option<Self> {
        // One more than slabs, for the mark that it is closed.
        let room = (count + 1).next_power_of_two();
        let mut slots = Vec::new();
        slots.try_reserve_exact(room).ok()?;
        slots.extend((0..room).map(|_| AtomicU64::new(SeenSlot::of(0, END).0)));
        let [head, tail] = [(); 2].map(|()| FifoEnd(AtomicU64::new(0)));
        Some(Self { head, tail, slots: slots.into_boxed_slice() })
    }

    #[inline]
    fn slot(&self, position: u64) -> &AtomicU64 {
        &self.slots[position as usize & (self.slots.len() - 1)]
    }

    /// How often the slots were gone through before. It comes round after 2^32 laps.
    #[inline]
    fn lap(&self, position: u64) -> u32 {
        (position >> self.slots.len().trailing_zeros()) as u32
    }

    /// fifo.pop2, fifo.push2.
    #[inline]
    fn look(&self, position: u64) -> SeenSlot {
        // Acquire: pairs with fifo.push4, so the thread that takes the slab sees what its last owner did.
        SeenSlot(self.slot(position).load(ordering!(Acquire unless "fifo_look_relaxed")))
    }

    /// Takes out what was pushed first. `None` if there was nothing. Repeats a step only if another thread's
    /// succeeded.
    #[inline]
    pub(super) fn pop(&self) -> Option<u32> {
        loop {
            let position = self.head.look();
            let seen = self.look(position);
            let lap = self.lap(position);
            if seen.lap() == lap {
                if matches!(seen.index(), END | CLOSED) {
                    return None;
                }
                // fifo.pop3. Relaxed: it is the value that fifo.pop2 read with Acquire.
                let next =
                    SeenSlot::of(if seeded!("fifo_lap_stays") { lap } else { lap.wrapping_add(1) }, END);
                let exchanged = self.slot(position).compare_exchange(
                    seen.0,
                    next.0,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                if exchanged.is_ok() {
                    self.head.move_on(position);
                    return Some(seen.index());
                }
                // Unreached: two threads take a slab at once: they have to meet there
            }
            // Somebody has taken that one: the head is to go on.
            self.head.move_on(position);
        }
    }

    /// Appends `index`, which is not in the list. Not if the list is closed: returns whether it did.
    ///
    /// If it did, the caller may touch nothing of the pool.
    #[inline]
    #[must_use]
    pub(super) fn push(&self, index: u32) -> bool {
        self.append(index).is_some()
    }

    /// pool.close1: nothing is pushed from here on. Calls `each` with those in the list, while nobody pops.
    pub(super) fn close(&self, mut each: impl FnMut(u32)) {
        let Some(end) = self.append(CLOSED) else { return };
        let mut position = self.head.look();
        while position != end {
            let seen = self.look(position);
            if seen.lap() == self.lap(position) {
                each(seen.index());
            }
            position = position.wrapping_add(1);
        }
    }

    /// Where it was put. `None` if the list is closed.
    #[inline]
    fn append(&self, index: u32) -> Option<u64> {
        loop {
            let position = self.tail.look();
            let seen = self.look(position);
            if seen.index() == CLOSED {
                return None;
            }
            if seen == SeenSlot::of(self.lap(position), END) {
                let slot = self.slot(position);
                let full = SeenSlot::of(self.lap(position), index);
                // fifo.push4. Release: pairs with fifo.pop2 and fifo.push2. Relaxed where it fails: looked at
                // once more.
                let exchanged = slot.compare_exchange(
                    seen.0,
                    full.0,
                    ordering!(Release unless "fifo_push_relaxed"),
                    Ordering::Relaxed,
                );
                if exchanged.is_ok() {
                    return Some(position);
                }
                // Unreached: two threads give a slab back at once: they have to meet there
                continue;
            }
            // fifo.push3: somebody has filled that one.
            self.tail.move_on(position);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slabs_come_in_order_lap_after_lap() {
        let fifo = Fifo::new(3).unwrap();
        assert_eq!(fifo.pop(), None);
        for first in 0..50 {
            for index in first..first + 3 {
                assert!(fifo.push(index));
            }
            for index in first..first + 3 {
                assert_eq!(fifo.pop(), Some(index));
            }
            assert_eq!(fifo.pop(), None);
        }
        let [mut next, mut there] = [0; 2];
        for _ in 0..50 {
            assert!(fifo.push(next));
            next += 1;
            if next - there == 3 {
                assert_eq!(fifo.pop(), Some(there));
                there += 1;
            }
        }
    }

    #[test]
    fn close_returns_the_slabs_in_the_list() {
        for taken in 0..4 {
            let fifo = Fifo::new(4).unwrap();
            for index in 0..4 {
                assert!(fifo.push(index));
            }
            assert!((0..taken).all(|index| fifo.pop() == Some(index)));
            let mut left = Vec::new();
            fifo.close(|index| left.push(index));
            assert!(left.iter().copied().eq(taken..4), "{left:?}");
            assert!(!fifo.push(0));
        }
        let empty = Fifo::new(1).unwrap();
        empty.close(|_| unreachable!("there is nothing"));
        assert!(!empty.push(0));
    }

    /// Positions and laps come round.
    #[test]
    fn laps_wrap() {
        let fifo = Fifo::new(2).unwrap();
        let last = u64::MAX - 1;
        for position in [&fifo.head, &fifo.tail] {
            position.0.store(last, Ordering::Relaxed);
        }
        for slot in &fifo.slots {
            slot.store(SeenSlot::of(u32::MAX, END).0, Ordering::Relaxed);
        }
        for index in 0..7 {
            assert!(fifo.push(index));
            assert_eq!(fifo.pop(), Some(index));
        }
    }
}
