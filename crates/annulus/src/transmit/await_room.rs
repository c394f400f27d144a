//! [`AwaitRoom`]: who sends into its ring alone, and waits for room in a task or a select.

use crate::error::Refusal;
#[cfg(feature = "std")]
use crate::wait::WaitStrategy;
use crate::wait::{EventCount, Look, Wait};

/// A handle that sends alone into a ring, or into its part of one: a slot that is free stays free until it
/// sends.
pub(crate) trait Alone {
    /// Where it waits.
    fn released(&self) -> &EventCount;

    /// Makes sure that the next message may be written, if that takes no waiting.
    fn look_for_room(&mut self) -> Result<(), Refusal>;

    /// How to wait, where nobody says.
    #[cfg(feature = "std")]
    fn strategy(&self) -> WaitStrategy;
}

/// Until it has room, or learns that its ring is closed.
pub(crate) struct AwaitRoom<'p, P>(pub(crate) &'p mut P);

#[cfg(feature = "std")]
impl<P: Alone> AwaitRoom<'_, P> {
    pub(crate) fn strategy(&self) -> WaitStrategy {
        self.0.strategy()
    }
}

impl<P: Alone> Wait for AwaitRoom<'_, P> {
    type Found = Result<(), Refusal>;

    fn event(&self) -> &EventCount {
        self.0.released()
    }

    #[inline]
    fn poll(&mut self) -> Look<Self::Found> {
        match self.0.look_for_room() {
            Err(Refusal::Full) => Look::Nothing,
            result => Look::Found(result),
        }
    }
}
