//! [`Block`]: a message whose size is known at run time.

use core::mem::MaybeUninit;

use super::copy::VECTOR_FLOOR;
use super::slots::payload_at;
use crate::message::Message;
use crate::message::encoded::Encoded;
use crate::message::schema::Schema;

/// A message of up to so many words, of which a slot has as many as fit in: for rings between processes whose
/// messages have a size that is known at run time. What a slot does not have is 0.
///
/// `LARGE` says whether the message has 256 bytes or more.
// Decision 0129: a class of sizes on the stack, and exactly the message in the ring.
#[derive(Clone, Copy, Debug)]
#[repr(transparent)]
pub struct Block<const WORDS: usize, const LARGE: bool>(pub [u64; WORDS]);

/// Messages of so many bytes and more are large.
pub const LARGE_BYTES: usize = VECTOR_FLOOR;

impl<const WORDS: usize, const LARGE: bool> Message for Block<WORDS, LARGE> {
    const SCHEMA: &'static Schema = <[u64; WORDS]>::SCHEMA;
}

// SAFETY: words, of which any bits are a value.
unsafe impl<const WORDS: usize, const LARGE: bool> Encoded for Block<WORDS, LARGE> {
    type Wire = [u64; WORDS];

    const ANY_BITS: bool = true;

    #[inline(always)]
    // Unreached: any words are a value, so nobody asks
    unsafe fn is_value(_: *const u8) -> bool {
        true
    }

    const BLOCK_AT: usize = payload_at(if LARGE { LARGE_BYTES } else { 0 });

    #[inline(always)]
    fn encode<'a>(&'a self, _: &'a mut MaybeUninit<[u64; WORDS]>) -> &'a [u64; WORDS] {
        &self.0
    }

    #[inline(always)]
    unsafe fn decode(wire: *const [u64; WORDS]) -> Self {
        // SAFETY: the caller's promise: there are so many words.
        Self(unsafe { wire.read() })
    }
}
