//! What the messages are, and how they are checked.
//!
//! ```text
//! numbers   messages of u64
//! pages     messages of several words
//! blocks    many words at once, where they are to lie
//! ```

mod blocks;
mod numbers;
mod pages;

pub use blocks::{BLOCK, BLOCKS, Word, fill, is_all};
pub use numbers::{BATCH, Check, mix, mixes};
pub use pages::Page;
