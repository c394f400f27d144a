//! [`FreeSlot`]: a producer that waits for a free slot, and sends nothing yet.

use core::marker::PhantomData;

use super::ends::Write;
use crate::error::Refusal;
#[cfg(feature = "std")]
use crate::wait::WaitStrategy;
use crate::wait::{Event, Look, Wait};

/// Until a producer's end has a free slot.
pub(super) struct FreeSlot<'p, W, T>(&'p mut W, PhantomData<fn() -> T>);

impl<'p, W: Write<T>, T> FreeSlot<'p, W, T> {
    pub(super) fn of(end: &'p mut W) -> Self {
        Self(end, PhantomData)
    }

    #[cfg(feature = "std")]
    pub(super) fn strategy(&self) -> WaitStrategy {
        self.0.state().plan.strategy
    }

    /// Sends `value` in the slot that was found, if one was.
    ///
    /// # Safety
    ///
    /// The last poll found a slot, or `found` is an error.
    #[cfg(feature = "std")]
    pub(super) unsafe fn fill(self, found: Result<(), Refusal>, value: T) -> Result<(), T> {
        match found {
            // SAFETY: the caller's promise. This has borrowed the end, so nothing came between.
            Ok(()) => unsafe { self.0.send(value) },
            Err(_) => Err(value),
        }
    }
}

impl<W: Write<T>, T> Wait for FreeSlot<'_, W, T> {
    type Found = Result<(), Refusal>;

    fn event(&self) -> &Event {
        self.0.event()
    }

    fn poll(&mut self) -> Look<Self::Found> {
        if self.0.state().is_closed() {
            Look::Found(Err(Refusal::Closed))
        } else if self.0.has_free_slot() {
            Look::Found(Ok(()))
        } else {
            Look::Nothing
        }
    }
}
