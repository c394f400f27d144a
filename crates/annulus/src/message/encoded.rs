//! [`Encoded`]: what lies in a ring of a message, and the way there and back. It seals [`Message`].
//!
//! A trait of its own, so that a program that has [`Message`] in scope gets no verb named `encode` with it,
//! and so that the page of [`Message`] has nothing that nobody may use.
//!
//! [`Message`]: super::Message

use core::mem::MaybeUninit;

use super::as_it_is::AsItIs;
use super::plain::Filled;

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
