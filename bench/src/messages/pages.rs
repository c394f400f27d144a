//! Messages of several words: one in memory, of which a word changes each time.

use super::numbers::mix;

/// A message in memory, of which one word changes each time, and the sum of its words.
pub struct Page<const WORDS: usize> {
    pub words: [u64; WORDS],
    pub sum: u64,
}

impl<const WORDS: usize> Page<WORDS> {
    pub fn new() -> Self {
        let words = std::array::from_fn(|i| mix(i as u64));
        Self { words, sum: Self::sum_of(&words) }
    }

    #[inline(always)]
    pub fn change(&mut self, sequence: u64) {
        let word = &mut self.words[sequence as usize % WORDS];
        let next = mix(sequence ^ *word);
        self.sum = self.sum.wrapping_sub(*word).wrapping_add(next);
        *word = next;
    }

    #[inline(always)]
    pub fn sum_of(words: &[u64; WORDS]) -> u64 {
        words.iter().fold(0, |sum, &word| sum.wrapping_add(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sum_keeps_up_with_the_words() {
        let mut page = Page::<512>::new();
        for i in 0..2_000 {
            let before = page.words;
            page.change(i);
            assert_ne!(page.words, before);
            assert_eq!(page.sum, Page::sum_of(&page.words));
        }
    }
}
