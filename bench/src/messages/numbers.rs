//! What the messages of u64 are, and how they are checked.
//!
//! The benchmark's own work for a message is part of every figure, of all contenders alike. It is kept small
//! beside what a ring does: a message is made, and compared, by an addition and no branch where there are
//! many of them.

use std::iter;

/// Messages in a batch.
pub const BATCH: usize = 64;

/// From one message to the next.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

/// The message of `sequence`: different in most bytes from the one before, not what a slot held a lap before,
/// and the first is not 0.
#[inline(always)]
pub fn mix(sequence: u64) -> u64 {
    sequence.wrapping_mul(STEP).wrapping_add(0x55)
}

/// The messages of the sequences from `first` on.
#[inline(always)]
pub fn mixes(first: u64) -> impl Iterator<Item = u64> {
    iter::successors(Some(mix(first)), |message| Some(message.wrapping_add(STEP)))
}

/// Checks each message of a stream, and says for a whole batch whether all were right.
pub struct Check {
    expected: u64,
    wrong: u64,
}

impl Check {
    /// Of messages from sequence 0 on.
    pub fn new() -> Self {
        Self { expected: mix(0), wrong: 0 }
    }

    #[inline(always)]
    pub fn look_at(&mut self, message: u64) {
        self.wrong |= message ^ self.expected;
        self.expected = self.expected.wrapping_add(STEP);
    }

    /// A message of several words, each of which is the same.
    #[inline(always)]
    pub fn look_at_words(&mut self, words: &[u64]) {
        self.wrong |= words.iter().fold(0, |wrong, word| wrong | (word ^ self.expected));
        self.expected = self.expected.wrapping_add(STEP);
    }

    /// # Panics
    ///
    /// If one of the messages was not that of its sequence.
    #[inline(always)]
    pub fn settle(&self) {
        assert!(self.wrong == 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_is_that_of_its_sequence() {
        assert!(mixes(7).zip(7..100).all(|(message, sequence)| message == mix(sequence)));
        let mut check = Check::new();
        mixes(0).take(100).for_each(|message| check.look_at(message));
        mixes(100).take(100).for_each(|message| check.look_at_words(&[message; 3]));
        check.settle();
    }

    #[test]
    #[should_panic(expected = "wrong == 0")]
    fn one_wrong_word_is_noticed() {
        let mut check = Check::new();
        check.look_at_words(&[mix(0), mix(0), mix(1)]);
        check.look_at_words(&[mix(1); 3]);
        check.settle();
    }

    #[test]
    #[should_panic(expected = "wrong == 0")]
    fn one_wrong_message_is_noticed_at_the_end_of_its_batch() {
        let mut check = Check::new();
        [0, 1, 3, 3].map(mix).into_iter().for_each(|message| check.look_at(message));
        check.settle();
    }
}
