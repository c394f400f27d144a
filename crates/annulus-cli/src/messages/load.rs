//! [`Load`]: a message of the benchmark, which says by itself whether it is whole.

use annulus::Message;
use bytemuck::{Pod, Zeroable};

/// Words that are no filling: the number, the time, the mark, the checksum.
const HEAD: usize = 4;

/// What the words are mixed with (the golden ratio).
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// A message of so many words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Message, Pod, Zeroable)]
#[repr(transparent)]
pub(crate) struct Load<const WORDS: usize>([u64; WORDS]);

/// What a message says of the part that it belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mark {
    /// The number of the first message of its part.
    pub(crate) start: u64,
    /// It is the last message of its part.
    pub(crate) is_last: bool,
    /// Messages of the part have the time of their publication.
    pub(crate) is_timed: bool,
}

impl Mark {
    fn to_word(self) -> u64 {
        self.start << 2 | u64::from(self.is_last) << 1 | u64::from(self.is_timed)
    }

    fn of_word(word: u64) -> Self {
        Self { start: word >> 2, is_last: word & 2 != 0, is_timed: word & 1 != 0 }
    }
}

impl<const WORDS: usize> Load<WORDS> {
    /// Message `number`, which is published at `sent_ns`.
    #[inline]
    pub(crate) fn new(number: u64, sent_ns: u64, mark: Mark) -> Self {
        let mut words = [0; WORDS];
        [words[0], words[1], words[2]] = [number, sent_ns, mark.to_word()];
        let seed = seed(&words);
        words[3] = seed;
        for (index, word) in (1..).zip(&mut words[HEAD..]) {
            *word = filling(seed, index);
        }
        Self(words)
    }

    /// Its number, its time, and its mark; `None` if any of its bytes is not as it was published.
    #[inline]
    pub(crate) fn checked(&self) -> Option<(u64, u64, Mark)> {
        let words = &self.0;
        let seed = seed(words);
        // All of them, whatever the first ones say: each byte is read.
        let differences = (1..)
            .zip(&words[HEAD..])
            .fold(words[3] ^ seed, |differences, (index, &word)| differences | (word ^ filling(seed, index)));
        (differences == 0).then(|| (words[0], words[1], Mark::of_word(words[2])))
    }
}

/// A checksum of what a message says. It is never 0 for a message that is all 0.
#[inline]
fn seed(words: &[u64]) -> u64 {
    let mut seed = MIX;
    for &word in &words[..3] {
        seed = (seed ^ word).wrapping_mul(MIX).rotate_left(29);
    }
    seed
}

/// What stands in word `index` of the filling.
#[inline]
fn filling(seed: u64, index: u64) -> u64 {
    seed ^ index.wrapping_mul(MIX)
}

/// Calls a function for messages of a size in bytes, with the number of their words, or evaluates to `None`.
macro_rules! with_words_of {
    ($bytes:expr, $call:ident($($argument:expr),*)) => {
        match $bytes {
            32 => Some($call::<4>($($argument),*)),
            56 => Some($call::<7>($($argument),*)),
            64 => Some($call::<8>($($argument),*)),
            120 => Some($call::<15>($($argument),*)),
            128 => Some($call::<16>($($argument),*)),
            256 => Some($call::<32>($($argument),*)),
            512 => Some($call::<64>($($argument),*)),
            1024 => Some($call::<128>($($argument),*)),
            4096 => Some($call::<512>($($argument),*)),
            _ => None,
        }
    };
}
pub(crate) use with_words_of;

/// The sizes that [`with_words_of`] knows.
pub(crate) const SIZES: [usize; 9] = [32, 56, 64, 120, 128, 256, 512, 1024, 4096];

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: Mark = Mark { start: 3, is_last: true, is_timed: false };

    #[test]
    fn message_says_what_it_was_made_of() {
        for mark in [MARK, Mark { is_last: false, is_timed: true, start: u64::MAX >> 2 }] {
            assert_eq!(Load::<4>::new(7, 8, mark).checked(), Some((7, 8, mark)));
            assert_eq!(Load::<512>::new(7, 8, mark).checked(), Some((7, 8, mark)));
        }
    }

    #[test]
    fn changed_bit_of_a_load_is_noticed() {
        let load = Load::<7>::new(7, 8, MARK);
        for bit in 0..7 * 64 {
            let mut changed = load;
            changed.0[bit / 64] ^= 1 << (bit % 64);
            assert_eq!(changed.checked(), None, "bit {bit}");
        }
        assert_eq!(Load::<7>([0; 7]).checked(), None);
        // Halves of two messages.
        let (mut torn, other) = (load, Load::<7>::new(8, 9, MARK));
        torn.0[5..].copy_from_slice(&other.0[5..]);
        assert_eq!(torn.checked(), None);
    }

    #[test]
    fn sizes_are_those_of_the_types() {
        fn bytes<const WORDS: usize>() -> usize {
            size_of::<Load<WORDS>>()
        }
        for size in SIZES {
            assert_eq!(with_words_of!(size, bytes()), Some(size));
        }
        assert_eq!(with_words_of!(40, bytes()), None);
    }
}
