//! [`Put`]: how a publisher of a lossy ring for many gets a message into it, without waiting for anybody.
//!
//! ```text
//! claim ──▶ slot left by the lap before? ── yes: write
//!             no ──▶ another publisher is at work there? ── no: write    (`Claims::take`)
//!                      yes ──▶ pass over this number, and claim another one
//! ```
// Decision 0146: one algorithm for the publishers of one process and of several.

use core::slice;

use super::handle::{Handle, Publishing};
use crate::base::sequence::Sequence;
use crate::error::Refusal;
use crate::message::Message;
use crate::ring::{Claimant, Copied, Range, Writers};
use crate::sync::mutated;

/// A publisher of a ring of [fellows](Writers::Fellows), with what it publishes to.
pub(super) struct Put<'p, T: Message> {
    pub(super) shared: &'p Handle<Copied<T>, Publishing>,
    pub(super) claimant: &'p mut Claimant,
}

/// So many messages of a batch are published before sleepers are woken.
const NOTIFY_EVERY: usize = 64;

impl<T: Message> Put<'_, T> {
    /// Publishes `message`, and wakes nobody; [`Refusal::Closed`] if somebody has closed the ring.
    #[inline(always)]
    pub(super) fn one(&mut self, message: &T) -> Result<(), Refusal> {
        let range = self.claim(1)?;
        if !self.write(range.first(), message) {
            self.pass(range, range.first());
            self.write_all(slice::from_ref(message))?;
        }
        Ok(())
    }

    /// Publishes all of `messages`, and wakes those who wait for them. On a closed ring it drops them.
    #[inline]
    pub(super) fn batch(&mut self, messages: &[T]) {
        for part in messages.chunks(NOTIFY_EVERY) {
            let is_published = self.write_all(part).is_ok();
            self.shared.published.notify();
            if !is_published {
                break;
            }
        }
    }

    /// Publishes all of `messages`, and wakes nobody. Each gets a number at least, also one that is lost.
    #[inline(never)]
    fn write_all(&mut self, messages: &[T]) -> Result<(), Refusal> {
        let (mut messages, mut passes_in_a_row) = (messages.iter(), 0);
        let mut next = messages.next();
        while let Some(message) = next {
            // (This one, and those behind it.)
            let range = self.claim(1 + messages.len() as u64)?;
            let (mut sequence, mut message) = (range.first(), message);
            while sequence < range.end() {
                if self.write(sequence, message) {
                    passes_in_a_row = if mutated!("fellow_passes_summed") { passes_in_a_row } else { 0 };
                } else {
                    self.pass(range, sequence);
                    passes_in_a_row += 1;
                }
                // Otherwise the message comes in the next slot. One that is given up counts as lagged: its
                // number is the one that was passed over last.
                let is_given_up = passes_in_a_row > self.claimant.claims().most_passes();
                if passes_in_a_row == 0 || is_given_up {
                    next = messages.next();
                    // Behind the last one the range ends, too.
                    let Some(after) = next else { break };
                    message = after;
                }
                sequence = sequence.next();
            }
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn claim(&mut self, most: u64) -> Result<Range, Refusal> {
        self.claimant.claim(most).ok_or_else(|| self.refused())
    }

    /// Nothing can be claimed. Until now a subscriber may have waited for a message that another publisher
    /// passed over, because the intent of this one named it, too: wakes it.
    #[cold]
    fn refused(&self) -> Refusal {
        if !mutated!("fellow_refused_in_silence") {
            self.shared.published.notify();
        }
        Refusal::Closed
    }

    /// Of `range`, message `sequence` will not be. Wakes those who wait for it, because no other message may
    /// come: somebody closes the ring, or this thread stands still.
    #[cold]
    pub(super) fn pass(&self, range: Range, sequence: Sequence) {
        self.shared.note_missed();
        self.claimant.pass(range, sequence);
        self.shared.published.notify();
    }

    /// Writes `message`, as number `sequence`, which this publisher has claimed, unless the slot belongs to
    /// somebody else. Whether it has.
    #[inline(always)]
    // Decision 0146: no prefetch of the slot.
    pub(super) fn write(&self, sequence: Sequence, message: &T) -> bool {
        let is_left = self.shared.is_left(Writers::Fellows, sequence);
        let is_free = is_left || self.claimant.take(sequence);
        if is_free {
            // SAFETY: the ring is for fellows, and this one has claimed the message and taken its slot. So
            // nobody else writes there: see `Claims`. (A process that writes what it must not can mix up the
            // words of a message, of which any bytes are one: `Copied::over`.)
            unsafe { self.shared.write(Writers::Fellows, sequence, message) }.publish();
        }
        is_free
    }

    /// For tests and models: writes `message` as number `sequence`, and does not say yet that it is there.
    #[cfg(any(test, annulus_loom))]
    pub(super) fn half(&self, sequence: Sequence, message: &T) -> Option<crate::ring::Written<'_>> {
        let is_free = self.shared.is_left(Writers::Fellows, sequence) || self.claimant.take(sequence);
        // SAFETY: as in `write`.
        is_free.then(|| unsafe { self.shared.write(Writers::Fellows, sequence, message) })
    }
}
