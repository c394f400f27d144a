//! [`ClaimWord`]: which message of its slot was claimed last, and by whom, in a ring that several processes
//! publish to.

use crate::base::sequence::Sequence;

/// The last word of a slot.
///
/// | bits | meaning |
/// | --- | --- |
/// | 0 to 10 | 0: nobody has claimed the slot. 1 to 1024: whoever has the place before that number. 2047: nobody writes the message |
/// | 11 to 63 | the message, modulo 2^53 |
///
/// So it takes 2^53 messages until a word comes again: a hundred days of a thousand million a second, within
/// one call of a process that is stopped meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ClaimWord {
    pub(super) sequence: Sequence,
    pub(super) owner: ClaimOwner,
}

/// Who has claimed a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ClaimOwner {
    /// Nobody has ever claimed the slot.
    Nobody,
    /// Who has this place, if there is such a place.
    Place(usize),
    /// Whoever had claimed it is gone, or has taken that back: it will never be.
    Lost,
}

/// How many places there can be.
pub(crate) const MOST_PLACES: usize = 1024;

const OWNER_BITS: u32 = 11;
const OWNER_MASK: u64 = (1 << OWNER_BITS) - 1;
const LOST: u64 = OWNER_MASK;
const _: () = assert!((MOST_PLACES as u64) < LOST);

impl ClaimWord {
    #[inline]
    pub(super) fn of(sequence: Sequence, place: usize) -> Self {
        Self { sequence, owner: ClaimOwner::Place(place) }
    }

    pub(super) fn lost(sequence: Sequence) -> Self {
        Self { sequence, owner: ClaimOwner::Lost }
    }

    #[inline]
    pub(super) fn bits(self) -> u64 {
        let owner = match self.owner {
            ClaimOwner::Nobody => return 0,
            ClaimOwner::Place(place) => place as u64 + 1,
            ClaimOwner::Lost => LOST,
        };
        self.sequence.get() << OWNER_BITS | owner
    }

    /// What a word says; `near` is a message of the slot, of which all others are less than 2^52 away. Any
    /// bits are allowed.
    #[inline]
    pub(super) fn of_bits(bits: u64, near: Sequence) -> Self {
        let owner = match bits & OWNER_MASK {
            0 => return Self { sequence: Sequence::FIRST, owner: ClaimOwner::Nobody },
            LOST => ClaimOwner::Lost,
            place => ClaimOwner::Place(place as usize - 1),
        };
        // With the sign of the highest of its bits.
        #[allow(clippy::cast_possible_wrap, reason = "on purpose")]
        let ahead = (bits.wrapping_sub(near.get() << OWNER_BITS) as i64) >> OWNER_BITS;
        let distance = ahead.unsigned_abs();
        let sequence = if ahead < 0 { near.back(distance) } else { near.plus(distance) };
        // One that can be counted on from.
        Self { sequence: sequence.min(Sequence::LAST_BELIEVED), owner }
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_claim_says_what_it_was_made_from() {
        let near_the_end = (1 << 63) - (1 << 42);
        for near in [0, 5, (1 << 53) - 1, 1 << 53, (1 << 53) + 7, near_the_end] {
            let near = Sequence::new(near);
            for sequence in [near, near.next(), near.plus(1 << 40), near.back(1), near.back(1 << 40)] {
                for claim in
                    [ClaimWord::of(sequence, 0), ClaimWord::of(sequence, 1023), ClaimWord::lost(sequence)]
                {
                    assert_eq!(ClaimWord::of_bits(claim.bits(), near), claim, "near {near:?}");
                }
            }
        }
    }

    #[test]
    fn any_bits_are_a_claim() {
        let nobody = ClaimWord::of_bits(0, Sequence::new(7));
        assert_eq!((nobody.owner, nobody.bits()), (ClaimOwner::Nobody, 0));
        for bits in [1, 2046, u64::MAX, 1 << 63, u64::MAX - 1, 1 << 11] {
            for near in [Sequence::FIRST, Sequence::LAST_BELIEVED] {
                let ClaimWord { sequence, .. } = ClaimWord::of_bits(bits, near);
                assert!(sequence <= Sequence::LAST_BELIEVED, "it can be counted on from");
            }
        }
    }
}
