//! What everybody has passed: the messages that nobody looks at any more, though nothing is written over them
//! yet. The one publisher of a ring may clear them.
//!
//! A limit is not enough for that: publishers may write over a message a lap later, but until then whoever
//! joins at the oldest message may still begin with it. So there is a floor, and nobody joins before it.
//!
//! ```text
//! publisher that clears                           subscriber that joins (`gate.rs`)
//! gate.clear1  floor := slowest, or the head      gate.join1  cell := an early cursor
//! gate.clear2  fence                SeqCst        gate.join2  fence                       SeqCst
//! gate.clear3  load every cell      Acquire       gate.join3  load floor; start at or after it
//! clear what is before the floor and the slowest
//! ```
//!
//! The argument is that of a limit. If gate.join2 comes before gate.clear2 in the one order of the fences,
//! gate.clear3 sees the cell, whose cursor is at or before the start: nothing from there on is cleared. If
//! gate.clear2 comes first, gate.join3 sees the floor. And what a subscriber read comes before what is
//! cleared, because gate.clear3 is an Acquire like gate.scan3.

use core::ops::Range;

use crate::base::sequence::Sequence;
use crate::sync::{AtomicU64, Ordering, fence, mutated};

/// How far messages were cleared.
pub(super) struct Passed {
    /// Nobody joins before it. Written by the publisher only.
    floor: AtomicU64,
    /// Messages before it are cleared: the publisher's own.
    cleared: AtomicU64,
}

impl Passed {
    pub(super) fn new(first: Sequence) -> Self {
        Self { floor: AtomicU64::new(first.get()), cleared: AtomicU64::new(first.get()) }
    }

    /// gate.join3: the first message with which one may begin.
    pub(super) fn floor(&self) -> Sequence {
        if mutated!("joiner_below_the_floor") {
            return Sequence::FIRST;
        }
        // Acquire: pairs with the Release of gate.clear1: whoever begins there sees the messages before it.
        Sequence::new(self.floor.load(Ordering::Acquire))
    }

    /// The messages that everybody has passed, and that were not cleared before; those of them that still lie
    /// in a ring of `capacity` slots, of which `head` is the next message to be published. `slowest` looks at
    /// all cursors. For the ring's one publisher.
    pub(super) fn pass(&self, head: Sequence, capacity: u64, slowest: impl Fn() -> u64) -> Range<u64> {
        let passed = slowest().min(head.get());
        // gate.clear1. A maximum, because somebody may have joined late at an earlier one. Release: as
        // gate.scan1.
        self.floor.fetch_max(passed, Ordering::Release);
        if !mutated!("gate_no_clearing_fence") {
            // gate.clear2. Pairs with gate.join2.
            fence(Ordering::SeqCst);
        }
        // gate.clear3.
        let passed = if mutated!("gate_clears_unseen") { passed } else { slowest().min(passed) };
        // Relaxed, both: this thread's own, or handed over with the publisher.
        let before = self.cleared.load(Ordering::Relaxed);
        let cleared = passed.max(before);
        self.cleared.store(cleared, Ordering::Relaxed);
        before.max(head.back(capacity).get())..cleared
    }
}
