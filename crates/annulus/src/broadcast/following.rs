//! What a stage does at each step: it tells its followers how far it is, and looks how far those before it
//! are.
//!
//! Only a stage is following others, so only a stage has this. Which steps there are: `steps.rs`.

use super::progress::{DependencyBarrier, Processed, StageProgress};
use super::ring_state::RingState;
use crate::base::sequence::Sequence;
use crate::ring::Store;
use crate::sync::{AtomicU64, mutated};

/// What a stage has beside what a plain subscriber has: its own progress, and the stages that it follows.
pub(crate) struct Following {
    progress: StageProgress,
    /// The progress that it stored last.
    told: Sequence,
    before: DependencyBarrier,
    /// At the last look at the upstreams: the end of what all of them have processed …
    allowed: u64,
    /// … and its beginning.
    floor: Sequence,
}

impl Following {
    /// At `cursor`, which `progress` tells already.
    pub(super) fn new(progress: StageProgress, cursor: Sequence, before: DependencyBarrier) -> Self {
        let mut following = Self { progress, told: cursor, before, allowed: 0, floor: Sequence::FIRST };
        following.look();
        following
    }

    /// The progress that its followers look at.
    pub(super) fn progress(&self) -> &StageProgress {
        &self.progress
    }

    #[cold]
    #[inline(never)]
    fn look(&mut self) {
        Processed { end: self.allowed, floor: self.floor, .. } = self.before.look();
    }

    /// The stage is done with the messages before `cursor`.
    pub(super) fn tell<S: Store>(&mut self, shared: &RingState<S>, cursor: Sequence) {
        if self.told != cursor {
            self.told = cursor;
            // Decision 0031: processed is not received.
            self.progress.reach(cursor.get());
            if !mutated!("stage_done_wakes_nobody") {
                shared.released.notify();
            }
        }
    }

    /// The stage has passed over messages, up to `cursor`.
    pub(super) fn skip_to<S: Store>(&mut self, shared: &RingState<S>, cursor: Sequence) {
        self.progress.skip_to(cursor);
        self.told = cursor;
        shared.released.notify();
    }

    /// The stage is gone.
    pub(super) fn leave<S: Store>(&self, shared: &RingState<S>) {
        if !mutated!("stage_never_opens") {
            self.progress.open();
        }
        if !mutated!("stage_drop_wakes_nobody") {
            shared.released.notify();
        }
    }

    /// Whether those before it had processed the message at `cursor` at the last look.
    #[inline]
    pub(super) fn is_allowed(&self, cursor: Sequence) -> bool {
        cursor.get() < self.allowed
    }

    #[inline]
    pub(super) fn admits(&mut self, cursor: Sequence) -> bool {
        // As it is written, the compiler compares once where no look is needed.
        if self.is_allowed(cursor) {
            return true;
        }
        self.look();
        self.is_allowed(cursor) || mutated!("stage_does_not_wait")
    }

    // Mutants: `with 0`: one by one.
    #[inline]
    pub(super) fn admits_up_to(&mut self, cursor: Sequence, most: usize) -> usize {
        let admitted = if self.admits(cursor) { self.allowed.saturating_sub(cursor.get()) } else { 0 };
        most.min(usize::try_from(admitted).unwrap_or(usize::MAX))
    }

    #[inline]
    pub(super) fn floor(&self) -> Sequence {
        self.floor
    }

    pub(super) fn new_floor(&mut self) -> Sequence {
        if !mutated!("recovery_at_an_old_floor") {
            self.look();
        }
        self.floor
    }

    pub(super) fn start(&self, cursor: Sequence) -> Sequence {
        // Before `allowed` the floor of the last look counts, also where who lost that is gone meanwhile.
        // Mutants: `with true`, `with false`: no test yet: where what a stage before it lost counts although
        // that one is gone.
        let known = if self.is_allowed(cursor) { self.floor } else { Sequence::FIRST };
        cursor.max(known).max(self.before.look().floor)
    }

    #[inline]
    pub(super) fn end(&self) -> Sequence {
        Sequence::new(self.before.look().end)
    }

    /// The word that decides whether they have processed the next message, if it is one.
    pub(super) fn word(&self) -> Option<&AtomicU64> {
        self.before.word()
    }

    /// The seeded bug of a stage that counts what it reads as processed.
    #[inline]
    pub(super) fn note_read<S: Store>(&self, shared: &RingState<S>, cursor: Sequence) {
        if mutated!("stage_read_is_processed") {
            self.progress.reach(cursor.get());
            shared.released.notify();
        }
    }
}
