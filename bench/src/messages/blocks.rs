//! Blocks of words: how large they are, what is in them, and how they are filled and checked.

use std::mem::MaybeUninit;
use std::ops::{BitOr, BitXor};

/// Words in a block.
pub const BLOCK: usize = 32_768;

/// Blocks in the ring.
pub const BLOCKS: usize = 2;

/// What a block is made of.
pub trait Word:
    Copy + Default + PartialEq + Send + 'static + BitXor<Output = Self> + BitOr<Output = Self>
{
    /// What all words of block `i` are.
    fn of(i: u64) -> Self;
}

impl Word for u32 {
    #[inline(always)]
    fn of(i: u64) -> Self {
        i as Self
    }
}

impl Word for u64 {
    #[inline(always)]
    fn of(i: u64) -> Self {
        i
    }
}

/// Whether all `words` are `value`. Each is looked at.
#[inline(always)]
pub fn is_all<T: Word>(words: &[T], value: T) -> bool {
    words.iter().fold(T::default(), |difference, &word| difference | (word ^ value)) == T::default()
}

/// Of ours, of rtrb and of the floor: where a build happens to put so short a loop moves what it takes by a
/// sixth and more, so there is one.
#[inline(never)]
pub fn fill<T: Copy>(words: &mut [MaybeUninit<T>], value: T) {
    words.fill(MaybeUninit::new(value));
}
