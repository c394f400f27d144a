//! A slot: the stamp, then the payload's words. The seqlock of this crate, both sides.
//!
//! After the Linux kernel's `seqcount` and Boehm, "Can seqlocks get along with programming language memory
//! models?" (MSPC 2012), with a stamp that says *which* message is there, after Photon Ring. The payload is copied
//! with relaxed atomic accesses, so a reader that meets a writer reads stale or mixed words, but there is no data
//! race; the two looks at the stamp tell it to throw them away.
//!
//! ```text
//! writer                                  reader
//! W1  stamp := writing(s)   Relaxed       R1  stamp = done(s)?   Acquire
//! W2  fence                 Release       R2  read the words     Relaxed
//! W3  write the words       Relaxed       R3  fence              Acquire
//! W4  stamp := done(s)      Release       R4  stamp = done(s)?   Relaxed
//! ```
//!
//! *Why the reader gets whole messages.* R1 reads the value of W4, so the words are at least as new as message
//! `s`. If a word were newer, its W3 belongs to a later lap; R3 then pairs with the W2 before it, so R4 sees at
//! least the W1 of that lap, which is not `done(s)`, and stamps of a slot never return to an earlier value.

use core::marker::PhantomData;
use core::mem::MaybeUninit;

use super::copy;
use super::{Sequence, Stamp};
use crate::message::Message;
use crate::sync::{AtomicU64, Ordering, fence, mutated};

/// A message that was read whole. Only [`Slot::read`] makes one, so having it is the proof.
pub(crate) struct Whole<'m, T>(&'m mut MaybeUninit<T>);

impl<T> Whole<'_, T> {
    /// Moves the message out: the one move between the ring and the caller, which a large message would notice.
    #[inline]
    pub(crate) fn take(self) -> T {
        // SAFETY: `Slot::read` made it after it had written every byte and seen `done(sequence)` twice, so by the argument
        // at the top of this file the bytes are those of one `T` that `Slot::write` stored; it is taken once.
        unsafe { self.0.assume_init_read() }
    }
}

/// Why a message can't be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is not there yet, or not whole yet.
    NotYet,
    /// A later message has taken its slot, or is about to.
    Overwritten,
}

/// Words in a cache line.
const LINE_WORDS: usize = 8;

/// The words of one slot; borrowed from the ring's storage.
pub(super) struct Slot<'a, T> {
    /// Exactly [`Slot::WORDS`] of them: the stamp, then the payload.
    words: &'a [AtomicU64],
    message: PhantomData<fn(T) -> T>,
}

impl<'a, T: Message> Slot<'a, T> {
    /// Where the payload begins: beside the stamp, or, where vectors copy it, on the next line, so that none of them
    /// straddles two.
    const PAYLOAD_AT: usize = if copy::by_vector::<T>() { LINE_WORDS } else { 1 };

    /// Words in use: the stamp and the payload, its last word padded.
    pub(super) const WORDS: usize = Self::PAYLOAD_AT + copy::words_of::<T>();

    /// Words from one slot to the next. Up to a line, a power of two, so that small messages share a line and none
    /// straddles two; above, whole lines.
    pub(super) const STRIDE: usize = if Self::WORDS <= LINE_WORDS {
        Self::WORDS.next_power_of_two()
    } else {
        Self::WORDS.next_multiple_of(LINE_WORDS)
    };

    #[inline]
    pub(super) fn new(words: &'a [AtomicU64]) -> Self {
        debug_assert_eq!(words.len(), Self::WORDS);
        Self { words, message: PhantomData }
    }

    #[inline]
    fn parts(&self) -> (&'a AtomicU64, &'a [AtomicU64]) {
        // The length is a constant to the optimiser: no check remains.
        (&self.words[0], &self.words[Self::PAYLOAD_AT..])
    }

    #[inline]
    pub(super) fn write(&self, sequence: Sequence, message: &T) {
        let (stamp, payload) = self.parts();
        let (mut writing, mut done) = (Stamp::writing(sequence), Stamp::done(sequence));
        if mutated!("slot_stamps_swapped") {
            (writing, done) = (done, writing);
        }
        if !mutated!("slot_no_writing_stamp") {
            // W1. Relaxed: W2 orders it before the words.
            stamp.store(writing.bits(), Ordering::Relaxed);
        }
        if !mutated!("slot_no_release_fence") {
            // W2. Release: pairs with R3. Whoever sees a word of this lap also sees W1.
            fence(Ordering::Release);
        }
        // W3. Relaxed: R1 orders them for readers of this lap, R3 and R4 catch readers of an earlier one.
        copy::store(payload, message);
        // W4. Release: pairs with R1, and with every other look at a stamp.
        let ordering = if mutated!("slot_done_relaxed") { Ordering::Relaxed } else { Ordering::Release };
        stamp.store(done.bits(), ordering);
    }

    #[inline]
    pub(super) fn read<'m>(
        &self,
        sequence: Sequence,
        message: &'m mut MaybeUninit<T>,
    ) -> Result<Whole<'m, T>, Missing> {
        let (stamp, payload) = self.parts();
        let wanted = Stamp::done(sequence);
        // R1. Acquire: pairs with W4.
        let ordering =
            if mutated!("slot_first_look_relaxed") { Ordering::Relaxed } else { Ordering::Acquire };
        let seen = Stamp::from_bits(stamp.load(ordering));
        if seen != wanted {
            return Err(if seen < wanted { Missing::NotYet } else { Missing::Overwritten });
        }
        // R2. Relaxed: they may be torn; R4 tells.
        copy::load(payload, message);
        if !mutated!("slot_no_acquire_fence") {
            // R3. Acquire: pairs with W2.
            fence(Ordering::Acquire);
        }
        // R4. Relaxed: R3 orders it after the words.
        let seen = Stamp::from_bits(stamp.load(Ordering::Relaxed));
        if seen != wanted && !mutated!("slot_no_second_look") {
            return Err(Missing::Overwritten);
        }
        // `copy::load` wrote every byte of `message`, and both looks saw `done(sequence)`.
        Ok(Whole(message))
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn strides_keep_small_slots_in_one_line() {
        fn stride<const N: usize>() -> usize {
            Slot::<[u8; N]>::STRIDE * 8
        }
        assert_eq!(stride::<0>(), 8);
        assert_eq!(stride::<1>(), 16);
        assert_eq!(stride::<8>(), 16);
        assert_eq!(stride::<9>(), 32);
        assert_eq!(stride::<24>(), 32);
        assert_eq!(stride::<25>(), 64);
        assert_eq!(stride::<56>(), 64);
        assert_eq!(stride::<57>(), 128);
        assert_eq!(stride::<120>(), 128);
        assert_eq!(stride::<121>(), 192);
        assert_eq!(stride::<4096>(), 4160);
    }
}
