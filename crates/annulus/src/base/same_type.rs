//! [`Same`]: that two types are one, where the compiler does not know it.

use core::marker::PhantomData;
use core::mem::{ManuallyDrop, transmute_copy};

/// `A` and `B` are the same type. Only [`new`](Self::new) makes one, for a type and itself, so having it is
/// the proof.
pub(crate) struct Same<A, B>(PhantomData<fn(A) -> B>);

impl<T> Same<T, T> {
    pub(crate) const fn new() -> Self {
        Self(PhantomData)
    }
}

impl<A, B> Clone for Same<A, B> {
    // Unreached: it is copied, and what is `Copy` has a clone
    fn clone(&self) -> Self {
        *self
    }
}

impl<A, B> Copy for Same<A, B> {}

#[allow(clippy::unused_self, reason = "having it is the proof")]
impl<A, B> Same<A, B> {
    #[inline(always)]
    pub(crate) fn forth(self, value: A) -> B {
        let value = ManuallyDrop::new(value);
        // SAFETY: they are one type, and the value is moved out of a place that is not dropped.
        unsafe { transmute_copy(&*value) }
    }

    #[inline(always)]
    pub(crate) fn back(self, value: B) -> A {
        let value = ManuallyDrop::new(value);
        // SAFETY: as in `forth`.
        unsafe { transmute_copy(&*value) }
    }

    #[inline(always)]
    pub(crate) fn back_slice(self, values: &[B]) -> &[A] {
        // SAFETY: they are one type.
        unsafe { core::slice::from_raw_parts(values.as_ptr().cast(), values.len()) }
    }

    #[inline(always)]
    pub(crate) fn back_slice_mut(self, values: &mut [B]) -> &mut [A] {
        // SAFETY: they are one type.
        unsafe { core::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), values.len()) }
    }
}
