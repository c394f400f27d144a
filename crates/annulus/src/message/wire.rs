//! The parts of a packed message as it lies in the ring: values one after the other, or one of two, and never
//! a byte without a value. `annulus_derive` builds its types of these.

use core::any::TypeId;
use core::mem::{self, MaybeUninit};

use super::Message;
use super::plain::Filled;
use crate::sync::seeded;

/// One behind the other, without padding.
#[derive(Clone, Copy)]
#[repr(C, packed)]
// Decision 0062: what a wire form is made of.
pub struct Both<A, B>(pub A, pub B);

// SAFETY: both have no uninitialised byte, and packed there is nothing between them or behind them.
unsafe impl<A: Filled, B: Filled> Filled for Both<A, B> {}

/// `N` values, one after the other.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Several<T, const N: usize>(pub [T; N]);

// SAFETY: an array has no byte that is not one of its elements'.
unsafe impl<T: Filled, const N: usize> Filled for Several<T, N> {}

/// One or the other, or what one of them is made of if it is of this kind again; the code that uses it knows
/// which. What a shorter one leaves is zero.
#[derive(Clone, Copy)]
#[repr(C, packed)]
pub union Either<A: Copy, B: Copy> {
    first: A,
    second: B,
}

// SAFETY: `of` writes every byte of it, and nobody else makes one. No byte is padding, which a move could
// lose: packed, it is as long as the longer of the two, and that one has none.
unsafe impl<A: Filled, B: Filled> Filled for Either<A, B> {}

impl<A: Filled, B: Filled> Either<A, B> {
    /// `value`, and zeros.
    #[inline(always)]
    #[must_use]
    pub fn of<V: Filled>(value: V) -> Self {
        const { assert!(size_of::<V>() <= size_of::<Self>()) }
        let mut filled = MaybeUninit::<Self>::zeroed();
        if seeded!("wire_leaves_bytes") {
            filled = MaybeUninit::uninit();
        }
        // SAFETY: it has room for a `V`, and any bytes are a union.
        unsafe {
            filled.as_mut_ptr().cast::<V>().write_unaligned(value);
            filled.assume_init()
        }
    }

    /// The value.
    ///
    /// # Safety
    ///
    /// It was made by [`of`](Self::of) with a value of the same type.
    #[inline(always)]
    #[must_use]
    pub unsafe fn get<V: Filled>(self) -> V {
        const { assert!(size_of::<V>() <= size_of::<Self>()) }
        // SAFETY: the caller's promise: there is a `V` at its beginning.
        unsafe { (&raw const self).cast::<V>().read_unaligned() }
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
/// [`encode`] made it, or it was checked.
#[inline(always)]
#[must_use]
pub unsafe fn decode<T: Message>(wire: T::Wire) -> T {
    // SAFETY: the caller's promise.
    unsafe { T::decode(&raw const wire) }
}

/// The fields of an array.
#[inline(always)]
pub fn encode_all<T: Message, const N: usize>(values: [T; N]) -> Several<T::Wire, N> {
    if is_whole::<T>() {
        // SAFETY: a `T` is its own wire, and `Several` is an array.
        return unsafe { mem::transmute_copy(&values) };
    }
    Several(values.map(encode))
}

/// The array that `wire` was made of.
///
/// # Safety
///
/// [`encode_all`] made it.
#[inline(always)]
#[must_use]
pub unsafe fn decode_all<T: Message, const N: usize>(wire: Several<T::Wire, N>) -> [T; N] {
    if is_whole::<T>() {
        // SAFETY: as in `encode_all`.
        return unsafe { mem::transmute_copy(&wire) };
    }
    // SAFETY: the caller's promise.
    wire.0.map(|wire| unsafe { decode(wire) })
}

/// Whether a `T` lies in the ring as it is, so that an array is copied at once. A `T` that is its own wire is
/// `Plain`, so it has the one implementation of `Encoded` that there is for these, which changes nothing.
#[inline(always)]
fn is_whole<T: Message>() -> bool {
    TypeId::of::<T>() == TypeId::of::<T::Wire>()
}
