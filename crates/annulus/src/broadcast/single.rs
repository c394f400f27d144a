//! The only publisher of a lossless ring: its handle, its sequence, and how far the gate lets it go.

use super::handle::{Handle, Publishing};
use super::slot_access::{look_for_free_slot, wait_for_free_slot, wait_for_free_slot_by};
use crate::base::sequence::Sequence;
use crate::error::Refusal;
use crate::ring::{Store, Strided};
use crate::sync::mutated;
#[cfg(any(feature = "std", feature = "async"))]
use crate::transmit::await_room::Alone;
#[cfg(any(feature = "std", feature = "async"))]
use crate::wait::EventCount;
use crate::wait::{Deadline, WaitStrategy};

/// What [`Publisher`](super::Publisher) and [`EventPublisher`](super::event::EventPublisher) are made of.
///
/// Between two looks at the gate it compares two of its own numbers and reads one constant flag. Cold paths
/// take and return values, so that it can live in registers.
pub(super) struct Single<S: Store> {
    pub(super) shared: Handle<S, Publishing>,
    /// The next sequence to publish; the ring's head is a lower bound of it.
    pub(super) next: Sequence,
    /// Where subscribers are waited for: messages before this one may be written without another look at the
    /// gate.
    limit: Sequence,
}

impl<S: Strided> Single<S> {
    pub(super) fn new(shared: Handle<S, Publishing>) -> Self {
        let next = shared.ring.first();
        Self { shared, next, limit: next }
    }

    /// How many messages have been published.
    #[inline]
    pub(super) fn published(&self) -> u64 {
        self.next.since(self.shared.ring.first())
    }

    /// How many messages may be written without another look at the gate.
    // Mutants: `with 0`, `with 1`: one by one.
    #[inline]
    pub(super) fn free_slots(&self) -> usize {
        usize::try_from(self.limit.since(self.next)).unwrap_or(usize::MAX)
    }

    /// Makes sure that the next message may be written, waiting by the strategy of the ring. Never
    /// [`Refusal::Full`].
    #[inline(always)]
    pub(super) fn admit(&mut self) -> Result<(), Refusal> {
        if !self.may_write() {
            self.limit = wait_for_free_slot(&self.shared, self.next)?;
        }
        Ok(())
    }

    /// As [`admit`](Self::admit), by `strategy`; [`Refusal::Full`] once `deadline` has passed.
    #[inline(always)]
    pub(super) fn admit_by(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Result<(), Refusal> {
        if !self.may_write() {
            self.limit = wait_for_free_slot_by(&self.shared, self.next, strategy, deadline)?;
        }
        Ok(())
    }

    /// As [`admit`](Self::admit); [`Refusal::Full`] once `deadline` has passed.
    #[cfg(feature = "std")]
    pub(super) fn admit_until(&mut self, deadline: Deadline) -> Result<(), Refusal> {
        self.admit_by(self.shared.strategy, deadline)
    }

    /// As [`admit`](Self::admit), without waiting.
    #[inline(always)]
    pub(super) fn try_admit(&mut self) -> Result<(), Refusal> {
        if !self.may_write() {
            self.limit = look_for_free_slot(&self.shared, self.next)?;
        }
        Ok(())
    }

    /// Whether the next message may be written without a look at the gate.
    // Mutants: `with false`: it looks at the gate.
    #[inline(always)]
    fn may_write(&self) -> bool {
        // Mutants: `|| with &&`, `< with >`: it looks at the gate.
        (self.next < self.limit || mutated!("lossless_overtakes")) && !self.shared.is_abandoned()
    }
}

#[cfg(any(feature = "std", feature = "async"))]
impl<S: Strided> Alone for Single<S> {
    fn released(&self) -> &EventCount {
        &self.shared.released
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.try_admit()
    }

    #[cfg(feature = "std")]
    fn strategy(&self) -> WaitStrategy {
        self.shared.strategy
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    /// Room that a publisher knows of is no room any more once nobody receives.
    #[test]
    fn known_room_ends_with_the_last_receiver() {
        let (mut publisher, subscribable) = crate::broadcast::lossless(8);
        publisher.publish(1).unwrap();
        assert!(publisher.try_publish(2).is_ok());
        drop(subscribable);
        assert!(publisher.publish(3).is_err() && publisher.try_publish(3).is_err());
        assert_eq!(publisher.published(), 2);
    }
}
