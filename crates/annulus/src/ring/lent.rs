//! Where the slots and the head of a ring lie, for code in another language (`broadcast/lent.rs`).

use core::ptr::NonNull;

/// The slots of a ring of one publisher. Message `s` has slot `s` modulo `capacity`. A slot begins with its
/// stamp, and has its message some words behind.
#[derive(Clone, Copy, Debug)]
pub struct LentSlots {
    /// The first one.
    pub start: NonNull<u64>,
    /// How many there are.
    pub capacity: usize,
    /// From one to the next, in words.
    pub stride: usize,
    /// Where the message lies in it, in words.
    pub payload_at: usize,
}

/// How far the one publisher of a ring says it is.
#[derive(Clone, Copy, Debug)]
pub struct LentHead {
    /// end.send4: a message whose number has none of these bits takes the slow path where they are 0, and
    /// head.pass1 otherwise.
    pub slow_path_mask: NonNull<u64>,
    /// head.pass1 stores here.
    pub bound: NonNull<u64>,
}
