//! What messages that are taken apart are made of in the ring: values beside each other, or one of two, and
//! never a byte without a value. `annulus_derive` builds its types of these.

use core::mem::MaybeUninit;

use bytemuck::NoUninit;

use super::Message;
use crate::sync::mutated;

/// One behind the other, without padding.
#[derive(Clone, Copy)]
#[repr(C, packed)]
// Decision 0062: what a wire form is made of.
pub struct Both<A, B>(pub A, pub B);

// SAFETY: both have no uninitialised byte, and packed there is nothing between them or behind them.
unsafe impl<A: NoUninit, B: NoUninit> NoUninit for Both<A, B> {}

/// As many beside each other.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Several<T, const N: usize>(pub [T; N]);

// SAFETY: an array has no byte that is not one of its elements'.
unsafe impl<T: NoUninit, const N: usize> NoUninit for Several<T, N> {}

/// One or the other; who has it knows which. What the shorter one leaves is zero.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub union Either<A: Copy, B: Copy> {
    first: A,
    second: B,
}

// SAFETY: `filled` writes every byte of it, and nobody else makes one. No byte is padding, which a move could
// lose: packed, it is as long as the longer of the two, and that one has none.
unsafe impl<A: NoUninit, B: NoUninit> NoUninit for Either<A, B> {}

impl<A: NoUninit, B: NoUninit> Either<A, B> {
    /// The one.
    #[inline(always)]
    #[must_use]
    pub fn first(first: A) -> Self {
        Self::filled(first)
    }

    /// The other.
    #[inline(always)]
    #[must_use]
    pub fn second(second: B) -> Self {
        Self::filled(second)
    }

    /// `value`, which is an `A` or a `B`, and zeros.
    #[inline(always)]
    fn filled<V: NoUninit>(value: V) -> Self {
        const { assert!(size_of::<V>() <= size_of::<Self>()) }
        let mut filled = MaybeUninit::<Self>::zeroed();
        if mutated!("wire_leaves_bytes") {
            filled = MaybeUninit::uninit();
        }
        // SAFETY: it has room for a `V`, and any bytes are a union.
        unsafe {
            filled.as_mut_ptr().cast::<V>().write_unaligned(value);
            filled.assume_init()
        }
    }

    /// The one.
    ///
    /// # Safety
    ///
    /// It was made by [`first`](Self::first).
    #[inline(always)]
    #[must_use]
    pub unsafe fn as_first(self) -> A {
        // SAFETY: the caller's promise.
        unsafe { self.first }
    }

    /// The other.
    ///
    /// # Safety
    ///
    /// It was made by [`second`](Self::second).
    #[inline(always)]
    #[must_use]
    pub unsafe fn as_second(self) -> B {
        // SAFETY: the caller's promise.
        unsafe { self.second }
    }
}

/// A field of a message that is taken apart.
#[inline(always)]
pub fn encode<T: Message>(value: T) -> T::Wire {
    *value.encode(&mut MaybeUninit::uninit())
}

/// The field that `wire` was made of.
///
/// # Safety
///
/// [`encode`] made it.
#[inline(always)]
#[must_use]
pub unsafe fn decode<T: Message>(wire: T::Wire) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::decode(&raw const wire) }
}
