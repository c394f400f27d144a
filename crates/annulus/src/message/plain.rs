//! [`Plain`]: types that lie in the ring as they are.

use alloc::borrow::Cow;
use core::marker::PhantomData;
use core::num::{NonZero, Wrapping};

use super::schema::{Kind, Scalar, Schema};
use super::text::Text;

/// A type each byte of which has a value: it has no padding, and nothing that may be uninitialized.
///
/// # Safety
///
/// So it is.
pub unsafe trait Filled: Copy + Send + 'static {}

// SAFETY: `Plain` promises it.
unsafe impl<T: Plain> Filled for T {}

/// A type that lies in a ring as it is.
///
/// bytemuck's `NoUninit` promises as much, and has no schema. Each `Pod` type has that one already, so a
/// derive that wrote it would shut out types that derive both.
///
/// # Safety
///
/// All bytes of each value of the type are initialized. Where `ANY_BITS` is true, any bytes are a value, and
/// where [`is_value`](Self::is_value) says so, those are.
// Decision 0147: a trait of this library.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a field of a message that is copied as it is: it may have bytes without a value",
    label = "not without padding, or not to be copied",
    note = "an enum without data: add `#[repr(u8)]` to it",
    note = "an `Option`, a tuple, an enum with data, a struct with padding: add `#[message(packed)]` to the struct that has this field. Then all of its fields may be such, and no padding has to be named",
    note = "a struct or an enum of your own that is no message yet: add `#[derive(Clone, Copy, annulus::Message)]` to it",
    note = "text: `annulus::Text<N>`. What owns memory or borrows it: a ring of owned events (`annulus::event`) or a queue (`annulus::queue`)",
    note = "a `Handle` of an `annulus::pool`, which every subscriber would receive and only one could redeem: no derive helps; for one reader a queue, for many a ring of owned events (example `video_frames`)"
)]
pub unsafe trait Plain: Copy + Send + 'static {
    /// What it is made of.
    const SCHEMA: &'static Schema;

    /// Whether any bytes are a value.
    const ANY_BITS: bool;

    /// Whether the bytes that begin there are a value.
    ///
    /// # Safety
    ///
    /// There are as many as the type has, and all are initialized. They need no alignment.
    unsafe fn is_value(bytes: *const u8) -> bool;
}

/// Any bytes are a value.
macro_rules! any_bits {
    () => {
        const ANY_BITS: bool = true;

        #[inline(always)]
        unsafe fn is_value(_: *const u8) -> bool {
            true
        }
    };
}

/// A type for which some bytes are no value: a number for which `$is_value` says no.
macro_rules! some_bits {
    ($number:ty, $is_value:expr) => {
        const ANY_BITS: bool = false;

        #[inline(always)]
        unsafe fn is_value(bytes: *const u8) -> bool {
            // SAFETY: the caller's promise.
            let number = unsafe { bytes.cast::<$number>().read_unaligned() };
            $is_value(number)
        }
    };
}

/// A schema without a name.
macro_rules! unnamed {
    ($kind:expr) => {
        &$crate::message::schema::Schema {
            name: alloc::borrow::Cow::Borrowed(""),
            version: 0,
            kind: $crate::message::schema::KindRef::Static { 0: &$kind },
            __made_by_annulus: (),
        }
    };
}
pub(crate) use unnamed;

macro_rules! scalars {
    ($($ty:ty = $scalar:ident),*) => {
        $(
            // SAFETY: a number has no padding.
            unsafe impl Plain for $ty {
                const SCHEMA: &'static Schema = unnamed!(Kind::Scalar(Scalar::$scalar));
                any_bits!();
            }
        )*
    };
}
scalars!(f32 = F32, f64 = F64);

// SAFETY: a byte, 0 or 1.
unsafe impl Plain for bool {
    const SCHEMA: &'static Schema = unnamed!(Kind::Scalar(Scalar::Bool));
    some_bits!(u8, |number| number < 2);
}

// SAFETY: a number without padding, which stands for a character.
unsafe impl Plain for char {
    const SCHEMA: &'static Schema = unnamed!(Kind::Scalar(Scalar::Char));
    some_bits!(u32, |number| char::from_u32(number).is_some());
}

/// Integers, and their `NonZero` types.
macro_rules! integers {
    ($($ty:ty = $scalar:ident),*) => {
        scalars!($($ty = $scalar),*);
        $(
            // SAFETY: a number has no padding.
            unsafe impl Plain for NonZero<$ty> {
                const SCHEMA: &'static Schema = unnamed!(Kind::NonZero(Scalar::$scalar));
                some_bits!($ty, |number| number != 0);
            }

            // SAFETY: as above; 0 stands for none, as the standard library promises.
            unsafe impl Plain for Option<NonZero<$ty>> {
                const SCHEMA: &'static Schema = unnamed!(Kind::Scalar(Scalar::$scalar));
                any_bits!();
            }
        )*
    };
}
integers!(
    u8 = U8,
    u16 = U16,
    u32 = U32,
    u64 = U64,
    u128 = U128,
    i8 = I8,
    i16 = I16,
    i32 = I32,
    i64 = I64,
    i128 = I128
);
#[cfg(target_pointer_width = "64")]
integers!(usize = U64, isize = I64);
#[cfg(target_pointer_width = "32")]
integers!(usize = U32, isize = I32);

// SAFETY: an array has no byte that is not one of its elements'.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {
    #[allow(clippy::init_numbered_fields, reason = "what a call borrows lives shorter, before Rust 1.89")]
    const SCHEMA: &'static Schema = unnamed!(Kind::Array { 0: T::SCHEMA.part(), 1: N });
    const ANY_BITS: bool = T::ANY_BITS;

    #[inline]
    unsafe fn is_value(bytes: *const u8) -> bool {
        // SAFETY: the caller's promise, for each element.
        T::ANY_BITS || (0..N).all(|at| unsafe { T::is_value(bytes.add(at * size_of::<T>())) })
    }
}

// SAFETY: arrays of bytes, one after the other.
unsafe impl<const N: usize> Plain for Text<N> {
    const SCHEMA: &'static Schema = unnamed!(Kind::Text(N));
    const ANY_BITS: bool = false;

    #[inline]
    unsafe fn is_value(bytes: *const u8) -> bool {
        // SAFETY: the caller's promise; it is made of bytes, so it needs no alignment.
        unsafe { &*bytes.cast::<Self>() }.is_text()
    }
}

// SAFETY: it is its only field.
unsafe impl<T: Plain> Plain for Wrapping<T> {
    const SCHEMA: &'static Schema = T::SCHEMA;
    const ANY_BITS: bool = T::ANY_BITS;

    #[inline(always)]
    unsafe fn is_value(bytes: *const u8) -> bool {
        // SAFETY: the caller's promise.
        unsafe { T::is_value(bytes) }
    }
}

// SAFETY: it has no bytes.
unsafe impl Plain for () {
    const SCHEMA: &'static Schema = unnamed!(Kind::Struct(Cow::Borrowed(&[])));
    any_bits!();
}

// SAFETY: it has no bytes.
unsafe impl<T: Send + 'static> Plain for PhantomData<T> {
    const SCHEMA: &'static Schema = <()>::SCHEMA;
    any_bits!();
}
