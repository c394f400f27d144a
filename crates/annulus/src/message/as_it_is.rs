//! Types that lie in the ring as they are.
//!
//! They are [`Plain`]. [`Message`](super::Message) and [`Encoded`](super::encoded::Encoded) ask for them by a
//! trait of our own, because the compiler names the condition at which a type fails, which nobody should have
//! to look up in another library. It would follow a single implementation to the conditions of that one;
//! where there are two that might apply, it stops at the trait. So there is a second implementation, which
//! never applies.

use super::plain::{Filled, Plain, unnamed};
use super::schema::{Kind, Schema};

/// A type that is its own wire form.
pub trait AsItIs: Copy {
    /// The type itself.
    type Wire: Filled;

    /// What it is made of.
    const SCHEMA: &'static Schema;

    /// As of [`Plain`].
    const ANY_BITS: bool;

    /// As of [`Plain`].
    ///
    /// # Safety
    ///
    /// As of [`Plain`].
    unsafe fn is_value(bytes: *const u8) -> bool;

    /// The value itself.
    fn wire(&self) -> &Self::Wire;

    /// The value that lies at `wire`.
    ///
    /// # Safety
    ///
    /// It points to a value of this type, or to bytes that are one.
    unsafe fn from_wire(wire: *const Self::Wire) -> Self;
}

impl<T: Plain> AsItIs for T {
    type Wire = T;

    const SCHEMA: &'static Schema = <T as Plain>::SCHEMA;
    const ANY_BITS: bool = <T as Plain>::ANY_BITS;

    #[inline(always)]
    unsafe fn is_value(bytes: *const u8) -> bool {
        // SAFETY: the caller's promise.
        unsafe { <T as Plain>::is_value(bytes) }
    }

    #[inline(always)]
    fn wire(&self) -> &T {
        self
    }

    #[inline(always)]
    unsafe fn from_wire(wire: *const T) -> T {
        // SAFETY: the caller's promise: there is a `T`.
        unsafe { wire.read() }
    }
}

/// Nothing is [`Possible`], and nobody outside can name it. Of the two conditions the first proves to this
/// crate that no type has both implementations, and the second proves it to a crate with a type of its own.
impl<T: Copy> AsItIs for T
where
    Never<T>: Possible,
    Never: Possible<T>,
{
    type Wire = ();

    const SCHEMA: &'static Schema = unnamed!(Kind::Text(0));
    const ANY_BITS: bool = false;

    // Unreached: as below
    unsafe fn is_value(_: *const u8) -> bool {
        unreachable!("no type has this implementation")
    }

    // Unreached: as it says, here and below
    fn wire(&self) -> &() {
        unreachable!("no type has this implementation")
    }

    // Unreached: as above
    unsafe fn from_wire(_: *const ()) -> T {
        unreachable!("no type has this implementation")
    }
}

/// What [`Possible`] might be said of.
pub struct Never<T = ()>(T);

/// It has no implementation.
pub trait Possible<T = ()> {}
