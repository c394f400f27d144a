//! [`Range`]: which messages a publisher has claimed, in a ring that several processes publish to; and the
//! word that says it to the others.

use crate::base::index::Index;
use crate::base::sequence::Sequence;

/// Messages that were claimed together, and are still to be written; or none.
///
/// Its word:
///
/// | bits | meaning |
/// | --- | --- |
/// | 0 to 6 | how many messages, [`MOST`](Self::MOST) at most |
/// | 7 to 63 | the first of them, modulo 2^57 |
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    first: Sequence,
    count: u64,
}

/// How many places there can be.
#[cfg(all(feature = "shm", not(annulus_loom)))]
pub(crate) const MOST_PLACES: usize = 1024;

const COUNT_BITS: u32 = 7;
const COUNT_MASK: u64 = (1 << COUNT_BITS) - 1;

impl Range {
    /// How many messages are claimed together at most.
    pub(super) const MOST: u64 = 64;

    /// How many are claimed together at most in a ring of so many slots. A publisher that is stopped holds so
    /// many.
    pub(super) fn most_of(capacity: usize) -> u64 {
        // (Models have small rings.)
        let part = if cfg!(annulus_loom) { 1 } else { 8 };
        (capacity as u64 / part).clamp(1, Self::MOST)
    }

    #[inline]
    pub(super) fn new(first: Sequence, count: u64) -> Self {
        Self { first, count }
    }

    #[inline]
    pub(crate) fn first(self) -> Sequence {
        self.first
    }

    /// The sequence behind the last of them.
    #[inline]
    pub(crate) fn end(self) -> Sequence {
        self.first.plus(self.count)
    }

    /// What is left of it from `sequence` on.
    pub(super) fn from(self, sequence: Sequence) -> Self {
        Self::new(sequence, self.end().since(sequence))
    }

    #[inline]
    pub(super) fn bits(self) -> u64 {
        self.first.get() << COUNT_BITS | self.count
    }

    /// What a word says; `near` is a message of the ring, of which all others are less than 2^56 away. Any
    /// bits are allowed.
    pub(super) fn of_bits(bits: u64, near: Sequence) -> Self {
        // With the sign of the highest of its bits.
        #[allow(clippy::cast_possible_wrap, reason = "on purpose")]
        let ahead = ((bits & !COUNT_MASK).wrapping_sub(near.get() << COUNT_BITS) as i64) >> COUNT_BITS;
        let distance = ahead.unsigned_abs();
        let first = if ahead < 0 { near.back(distance) } else { near.plus(distance) };
        // One that can be counted on from.
        Self { first: first.min(Sequence::LAST_BELIEVED), count: (bits & COUNT_MASK).min(Self::MOST) }
    }

    #[inline]
    pub(super) fn covers(self, sequence: Sequence) -> bool {
        self.first <= sequence && sequence < self.end()
    }

    /// The one of them that has the slot of `sequence` and is of an earlier lap.
    pub(super) fn before_in_slot(self, sequence: Sequence, index: &Index) -> Option<Sequence> {
        let (slot, first) = (index.of(sequence), index.of(self.first));
        let ahead = if slot < first { slot + index.capacity() - first } else { slot - first } as u64;
        let before = self.first.plus(ahead);
        (ahead < self.count && before < sequence).then_some(before)
    }

    /// Those of them from `from` on.
    pub(super) fn messages(self, from: Sequence) -> impl Iterator<Item = Sequence> {
        let first = self.first.max(from);
        (0..self.end().since(first)).map(move |ahead| first.plus(ahead))
    }
}

#[cfg(test)]
mod tests {
    use alloc::vec::Vec;

    use super::*;

    fn at(number: u64) -> Sequence {
        Sequence::new(number)
    }

    #[test]
    fn word_says_what_it_was_made_from() {
        let near_the_end = (1 << 63) - (1 << 42);
        for near in [0, 5, (1 << 57) - 1, 1 << 57, (1 << 57) + 7, near_the_end].map(at) {
            for first in [near, near.next(), near.plus(1 << 40), near.back(1), near.back(1 << 40)] {
                for range in [Range::new(first, 0), Range::new(first, 1), Range::new(first, Range::MOST)] {
                    assert_eq!(Range::of_bits(range.bits(), near), range, "near {near:?}");
                }
            }
        }
    }

    #[test]
    fn bits_of_any_value_are_a_range() {
        for bits in [0, 1, 127, u64::MAX, 1 << 63, u64::MAX - 127, 1 << 7] {
            for near in [Sequence::FIRST, Sequence::LAST_BELIEVED] {
                let range = Range::of_bits(bits, near);
                assert!(range.end() <= Sequence::LAST_BELIEVED.plus(Range::MOST), "one can count on from it");
            }
        }
        assert!(!Range::of_bits(0, Sequence::FIRST).covers(Sequence::FIRST), "no message");
    }

    /// By comparison with each message of the range, in rings of any size.
    #[test]
    fn range_says_which_of_its_messages_has_a_slot() {
        for capacity in [2, 3, 8, 12, 64] {
            let index = Index::new(capacity);
            for (first, count) in [(0, 0), (0, 1), (5, 2), (70, 2), (129, 1), (131, 2)] {
                let range = Range::new(at(first), count);
                for sequence in (0..300).map(at) {
                    let is_it =
                        |&before: &Sequence| before < sequence && index.of(before) == index.of(sequence);
                    let wanted = range.messages(Sequence::FIRST).find(is_it);
                    assert_eq!(range.before_in_slot(sequence, &index), wanted, "{range:?} {sequence:?}");
                }
            }
        }
    }

    #[test]
    fn range_from_a_message_on_is_what_is_left() {
        let range = Range::new(at(5), 3);
        assert_eq!((range.first(), range.end()), (at(5), at(8)));
        assert_eq!([4, 5, 7, 8].map(|number| range.covers(at(number))), [false, true, true, false]);
        let numbers = |range: Range, from| range.messages(at(from)).map(Sequence::get).collect::<Vec<_>>();
        assert_eq!((numbers(range, 0), numbers(range, 7)), (alloc::vec![5, 6, 7], alloc::vec![7]));
        assert_eq!(
            (numbers(range.from(at(6)), 0), numbers(range.from(at(8)), 0)),
            (alloc::vec![6, 7], alloc::vec![])
        );
        assert_eq!([2, 15, 16, 100, 512, 1 << 20].map(Range::most_of), [1, 1, 2, 12, 64, 64]);
    }
}
