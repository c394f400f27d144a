//! [`Encoded`]: what lies in a ring of a message, and the way there and back. It seals [`Message`].
//!
//! A trait of its own, so that a program that has [`Message`] in scope gets no verb named `encode` with it,
//! and so that the page of [`Message`] has nothing that nobody may use.
//!
//! *Types that lie in the ring as they are* are [`Plain`]. [`Message`] and [`Encoded`] ask for them by a
//! trait of our own, [`AsItIs`], because the compiler names the condition at which a type fails, which nobody
//! should have to look up in another library. It would follow a single implementation to the conditions of
//! that one; where there are two that might apply, it stops at the trait. So there is a second
//! implementation, which never applies.
//!
//! [`Message`]: super::Message

use core::mem::MaybeUninit;

use super::plain::{Filled, Plain, unnamed};
use super::schema::{Kind, Schema};

/// How a message lies in a ring. The derive implements it, and this library.
///
/// # Safety
///
/// [`is_value`](Self::is_value) says yes only to what [`decode`](Self::decode) makes a value of, and so does
/// [`ANY_BITS`](Self::ANY_BITS). `decode` takes what `encode` has made.
#[diagnostic::on_unimplemented(
    message = "`annulus::Message` is not implemented by hand, as it is for `{Self}`",
    label = "only the derive makes a message",
    note = "write `#[derive(Clone, Copy, annulus::Message)]` (feature `derive` of `annulus`) in place of the `impl`"
)]
pub unsafe trait Encoded: Copy + Send + 'static {
    /// What lies in the ring.
    type Wire: Filled;

    /// Whether any bytes in its place in a ring are a message.
    const ANY_BITS: bool;

    /// Of a block (`ring/message_block.rs`), where it begins in a slot, in words: a slot then has as much of
    /// it as fits in. 0 of all other messages, of which a slot has all.
    const BLOCK_AT: usize = 0;

    /// Whether the bytes that begin there are a message as it lies in a ring.
    ///
    /// # Safety
    ///
    /// There are as many as [`Wire`](Self::Wire) has, and all are initialized. They need no alignment.
    unsafe fn is_value(bytes: *const u8) -> bool;

    /// The message as it lies in the ring; `space` is there for one that has to be made.
    fn encode<'a>(&'a self, space: &'a mut MaybeUninit<Self::Wire>) -> &'a Self::Wire;

    /// The message that `wire` was made of.
    ///
    /// # Safety
    ///
    /// `wire` points to what [`encode`](Self::encode) of this type returned, or to a copy of it; or to bytes
    /// of which [`is_value`](Self::is_value) is true, or any, where [`ANY_BITS`](Self::ANY_BITS) is.
    unsafe fn decode(wire: *const Self::Wire) -> Self;
}

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

/// A type without padding lies in the ring as it is.
// SAFETY: as `Plain` promises, through `AsItIs`, which nothing else implements.
#[diagnostic::do_not_recommend]
unsafe impl<T: AsItIs + Send + 'static> Encoded for T {
    type Wire = T::Wire;

    const ANY_BITS: bool = T::ANY_BITS;

    #[inline(always)]
    unsafe fn is_value(bytes: *const u8) -> bool {
        // SAFETY: the caller's promise.
        unsafe { T::is_value(bytes) }
    }

    #[inline(always)]
    fn encode<'a>(&'a self, _: &'a mut MaybeUninit<T::Wire>) -> &'a T::Wire {
        self.wire()
    }

    #[inline(always)]
    unsafe fn decode(wire: *const T::Wire) -> T {
        // SAFETY: the caller's promise: there is a `T`.
        unsafe { T::from_wire(wire) }
    }
}
