//! What a fuzzer's bytes mean: four for the ring, then four for each step.

use std::fmt::Debug;

pub(crate) struct Case<S> {
    ring: [u8; 4],
    pub(crate) steps: Vec<S>,
}

impl<S: From<[u8; 4]> + Debug> Case<S> {
    /// `None` where the bytes do not make a ring. Bytes that do not make a step are left out.
    pub(crate) fn of(bytes: &[u8]) -> Option<Self> {
        let (&ring, steps) = bytes.split_first_chunk()?;
        let case = Self { ring, steps: steps.as_chunks().0.iter().copied().map(S::from).collect() };
        // For a person that looks at a file that the fuzzer left.
        if std::env::var_os("ANNULUS_FUZZ_PRINT").is_some() {
            eprintln!("ring {:?}, steps {:#?}", case.ring, case.steps);
        }
        Some(case)
    }

    /// Which of `count` kinds of ring.
    pub(crate) fn kind(&self, count: u8) -> u8 {
        self.ring[0] % count
    }

    /// From `least` on: mostly a few slots, up to 768 for the others.
    pub(crate) fn capacity(&self, least: usize) -> usize {
        let [_, size, more, _] = self.ring.map(usize::from);
        least + if size < 192 { size % 8 } else { 3 * more }
    }

    /// Below `capacity`.
    pub(crate) fn headroom(&self, capacity: usize) -> usize {
        usize::from(self.ring[3]).saturating_sub(128) % capacity
    }

    /// Where the numbers of the messages begin: at 0, or so that they soon begin anew.
    pub(crate) fn first(&self) -> u64 {
        match self.ring[3] {
            0..128 => 0,
            before => u64::MAX - u64::from(before - 128),
        }
    }
}
