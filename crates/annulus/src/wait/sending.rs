//! [`Sending`]: a send as one of several things that a thread waits for.

use super::any::Arm;
use super::arms::{Choice, Finding};
use super::look::Look;
use super::{EventCount, Wait, WaitStrategy};
use crate::error::Refusal;

/// A send whose value is made when there is room for it, and not before.
///
/// `W` waits for room `R`.
pub(crate) struct Sending<W, R, T, E> {
    room: Finding<W, Result<R, Refusal>>,
    /// Whether others wait until room that was found is filled.
    is_claim: bool,
    /// Fills the room that was found.
    put: fn(W, Result<R, Refusal>, T) -> Result<(), E>,
}

impl<W: Wait<Found = Result<R, Refusal>>, R, T, E> Sending<W, R, T, E> {
    /// A send in room that stays there until `put`, which gets what a look of `room` found, and the value.
    #[inline]
    pub(crate) fn new(
        room: Finding<W, Result<R, Refusal>>,
        put: fn(W, Result<R, Refusal>, T) -> Result<(), E>,
    ) -> Self {
        Self { room, is_claim: false, put }
    }

    /// As [`new`](Self::new), but whoever looks for the room has claimed it, and it must be filled.
    #[inline]
    pub(crate) fn in_claim(
        room: Finding<W, Result<R, Refusal>>,
        put: fn(W, Result<R, Refusal>, T) -> Result<(), E>,
    ) -> Self {
        Self { room, is_claim: true, put }
    }
}

/// A send that was chosen.
pub trait SendChoice<T, E> {
    /// Sends the value that `make` returns.
    ///
    /// # Errors
    ///
    /// Those of the handle's own verb.
    fn send(self, make: impl FnOnce() -> T) -> Result<(), E>;
}

impl<W: Wait<Found = Result<R, Refusal>>, R, T, E> SendChoice<T, E> for Sending<W, R, T, E> {
    #[inline]
    fn send(self, make: impl FnOnce() -> T) -> Result<(), E> {
        let (waiter, found) = self.room.take_both();
        // Decision 0072: a claim can't be given back, and others wait until it is filled.
        let to_be_filled = (self.is_claim && found.is_ok()).then(|| ToBeFilled);
        let value = make();
        core::mem::forget(to_be_filled);
        (self.put)(waiter, found, value)
    }
}

impl<W: Wait<Found = Result<R, Refusal>>, R, T, E> Choice for Sending<W, R, T, E> {
    type Found = Self;

    #[inline]
    fn found(self) -> Self {
        self
    }
}

/// A claim that is not filled yet. If making the value panics, there is nothing to fill it with.
struct ToBeFilled;

impl Drop for ToBeFilled {
    // Unreached: the process ends there, with what it has counted: test select a_panic_in_a_claim_aborts
    #[cold]
    fn drop(&mut self) {
        std::process::abort();
    }
}

// SAFETY: that of the room.
unsafe impl<W: Wait<Found = Result<R, Refusal>>, R, T, E> Arm for Sending<W, R, T, E> {
    fn event(&self) -> &EventCount {
        self.room.event()
    }

    #[inline]
    fn look(&mut self) -> Look<()> {
        self.room.look()
    }

    fn strategy(&self) -> WaitStrategy {
        self.room.strategy()
    }
}
