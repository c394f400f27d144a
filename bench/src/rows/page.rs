//! Messages of 4 KiB, where the copy is what costs.

use std::time::Instant;

use super::{Plan, Row, Sample, contenders, ns_each, phases};
use crate::contenders::{Contender, Named, PhotonRing, Publisher, Subscriber};
use crate::floor;

pub fn rows() -> [Row; 3] {
    [("4 KiB, ring of 4", 4), ("4 KiB, ring of 64", 64), ("4 KiB, ring of 1024", 1024)].map(|(name, capacity)| {
        Row::new(
            name,
            "[u64; 512] from a buffer that changes each time, published, received and summed up on one thread",
            capacity,
            50_000,
        )
        .entries(contenders!(publish_and_receive))
        .floor("a memcpy in, one out, and the sum", floor::copy_in_and_out)
        .target(PhotonRing::NAME, 0.25)
    })
}

#[inline(never)]
fn publish_and_receive<C: Contender>(plan: &Plan) -> Sample {
    let (mut publisher, mut subscriber) = C::channel::<[u64; Page::WORDS]>(plan.capacity);
    let mut page = Page::new();
    let mut begun = Instant::now();
    for phase in phases(plan.capacity as u64, plan.messages) {
        begun = Instant::now();
        for i in phase {
            page.change(i);
            publisher.publish(page.words);
            match subscriber.try_recv() {
                Ok(received) => assert!(Page::sum_of(&received) == page.sum),
                Err(error) => panic!("{error:?}"),
            }
        }
    }
    ns_each(begun, plan.messages).into()
}

/// A message in memory, of which one word changes each time, and the sum of its words.
pub struct Page {
    pub words: [u64; Self::WORDS],
    pub sum: u64,
}

impl Page {
    pub const WORDS: usize = 512;

    pub fn new() -> Self {
        let words = std::array::from_fn(|i| super::mix(i as u64));
        Self { words, sum: Self::sum_of(&words) }
    }

    #[inline(always)]
    pub fn change(&mut self, sequence: u64) {
        let word = &mut self.words[sequence as usize % Self::WORDS];
        let next = super::mix(sequence ^ *word);
        self.sum = self.sum.wrapping_sub(*word).wrapping_add(next);
        *word = next;
    }

    #[inline(always)]
    pub fn sum_of(words: &[u64; Self::WORDS]) -> u64 {
        words.iter().fold(0, |sum, &word| sum.wrapping_add(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_keeps_up_with_the_words() {
        let mut page = Page::new();
        for i in 0..2_000 {
            let before = page.words;
            page.change(i);
            assert_ne!(page.words, before);
            assert_eq!(page.sum, Page::sum_of(&page.words));
        }
    }
}
