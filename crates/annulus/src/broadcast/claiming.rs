//! [`Claiming`]: one of many publishers of a lossless ring, which waits in a select until it has claimed a
//! sequence.

use super::ring_state::RingState;
use super::slot_access::{AwaitClaim, ClaimedRun, claim_of_one};
use crate::error::Refusal;
use crate::ring::Strided;
use crate::wait::{EventCount, Look, Wait, WaitStrategy};

/// One of many publishers of a lossless ring, until it has claimed a sequence.
pub(super) struct Claiming<'p, P, S> {
    pub(super) publisher: &'p P,
    claim: AwaitClaim<'p, S>,
}

impl<'p, P, S: Strided> Claiming<'p, P, S> {
    pub(super) fn by(publisher: &'p P, shared: &'p RingState<S>) -> Self {
        Self { publisher, claim: claim_of_one(shared) }
    }

    pub(super) fn strategy(&self) -> WaitStrategy {
        self.claim.strategy()
    }
}

impl<P, S: Strided> Wait for Claiming<'_, P, S> {
    type Found = Result<ClaimedRun, Refusal>;

    fn event(&self) -> &EventCount {
        self.claim.event()
    }

    fn poll(&mut self) -> Look<Self::Found> {
        self.claim.poll()
    }
}
