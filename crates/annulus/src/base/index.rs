//! Sequence → slot number, for any capacity, without a division.

use crate::base::sequence::Sequence;

/// Maps a sequence to its slot, which is `sequence mod capacity`.
///
/// A power of two masks. Any other capacity multiplies by a reciprocal: with `r = ⌊2^64 / capacity⌋`, the
/// product `⌊sequence · r / 2^64⌋` is the quotient or one less (its error is below `sequence / 2^64 < 1`), so
/// one conditional subtraction makes the remainder exact for every `u64`. (Barrett's reduction, with a
/// precision of one word.) An index kept beside the sequence would do without the two multiplications, but it
/// is one more store for each message, and stores are what a publisher with a live reader pays for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Index {
    /// The capacity less one where that masks, so for a power of two from 2 up; otherwise 0.
    mask: u64,
    /// At least 1.
    capacity: u64,
    /// `⌊2^64 / capacity⌋`; not used for a power of two.
    reciprocal: u64,
}

impl Index {
    pub(crate) const fn new(capacity: usize) -> Self {
        let capacity = capacity as u64;
        debug_assert!(capacity >= 1);
        let mask = if capacity.is_power_of_two() { capacity - 1 } else { 0 };
        // No capacity but a power of two divides 2^64, so the quotient is the same from 2^64 − 1.
        // (A division takes longer than all the rest.)
        let reciprocal = if mask == 0 { u64::MAX / capacity } else { 0 };
        Self { mask, capacity, reciprocal }
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.capacity as usize
    }

    /// What masks a sequence to its slot, or 0 where that takes [`of`](Self::of).
    // Mutants: `with 0`: costs or saves time.
    pub(crate) const fn mask(&self) -> u64 {
        self.mask
    }

    /// The slot of `sequence`: always below the capacity.
    #[inline]
    pub(crate) fn of(&self, sequence: Sequence) -> usize {
        if self.mask != 0 {
            return (sequence.get() & self.mask) as usize;
        }
        self.without_mask(sequence)
    }

    /// As [`of`](Self::of), by multiplication.
    #[inline]
    pub(crate) fn without_mask(&self, sequence: Sequence) -> usize {
        let sequence = sequence.get();
        // Decision 0007: two multiplications instead of a stored index.
        let quotient = ((u128::from(sequence) * u128::from(self.reciprocal)) >> 64) as u64;
        let remainder = sequence - quotient * self.capacity;
        (if remainder < self.capacity { remainder } else { remainder - self.capacity }) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(capacity: u64, sequence: u64) {
        let index = Index::new(capacity as usize);
        assert_eq!(
            index.of(Sequence::new(sequence)) as u64,
            sequence % capacity,
            "{sequence} mod {capacity}"
        );
    }

    #[test]
    fn corners() {
        let numbers = [1, 2, 3, 4, 5, 6, 7, 10, 641, 4096, 1 << 32, (1 << 32) + 1, (1 << 63) - 1, 1 << 63];
        for capacity in numbers.into_iter().chain([u64::MAX - 1, u64::MAX]) {
            for lap in [0, 1, 2, u64::MAX / capacity / 2, u64::MAX / capacity] {
                let start = lap.saturating_mul(capacity);
                for sequence in [start.saturating_sub(1), start, start.saturating_add(1), u64::MAX] {
                    check(capacity, sequence);
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 10 } else { 10_000 }))]
        #[test]
        fn agrees_with_the_remainder(shift in 0_u32..63, capacity: u64, sequence: u64) {
            check((capacity >> shift).max(1), sequence);
        }
    }
}
