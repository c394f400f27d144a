//! What a publisher waits for in a task or a select: [`Room`] for the only one, [`Claiming`] for one of many.

#[cfg(feature = "std")]
use super::shared::Shared;
use super::single::Single;
#[cfg(feature = "std")]
use super::slot_access::{Claim, Claimed, claim_of_one};
use crate::error::Refusal;
use crate::ring::Strided;
#[cfg(feature = "std")]
use crate::wait::WaitStrategy;
use crate::wait::{Event, Look, Wait};

/// Who publishes alone on a lossless ring.
pub(super) trait Alone {
    /// Where it waits.
    fn released(&self) -> &Event;

    /// Makes sure that the next message may be written, if that takes no waiting.
    fn look_for_room(&mut self) -> Result<(), Refusal>;
}

impl<S: Strided> Alone for Single<S> {
    fn released(&self) -> &Event {
        &self.shared.released
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.try_admit()
    }
}

/// The only publisher, until the gate lets its next message pass.
pub(super) struct Room<'p, P>(pub(super) &'p mut P);

impl<P: Alone> Wait for Room<'_, P> {
    type Found = Result<(), Refusal>;

    fn event(&self) -> &Event {
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

/// One of many publishers of a lossless ring, until it has claimed a sequence.
#[cfg(feature = "std")]
pub(super) struct Claiming<'p, P, S> {
    pub(super) publisher: &'p P,
    claim: Claim<'p, S>,
}

#[cfg(feature = "std")]
impl<'p, P, S: Strided> Claiming<'p, P, S> {
    pub(super) fn by(publisher: &'p P, shared: &'p Shared<S>) -> Self {
        Self { publisher, claim: claim_of_one(shared, true) }
    }

    pub(super) fn strategy(&self) -> WaitStrategy {
        self.claim.strategy()
    }
}

#[cfg(feature = "std")]
impl<P, S: Strided> Wait for Claiming<'_, P, S> {
    type Found = Result<Claimed, Refusal>;

    fn event(&self) -> &Event {
        self.claim.event()
    }

    fn poll(&mut self) -> Look<Self::Found> {
        self.claim.poll()
    }
}
