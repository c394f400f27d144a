//! Without `std` nobody sleeps, so nobody has to be woken.

use super::Deadline;

/// An eventcount that costs nothing and wakes nobody. No strategy sleeps here, so only its `notify` is ever called.
pub(crate) struct Event;

/// Nothing to remember.
pub(super) struct Ticket;

#[allow(clippy::unused_self, reason = "the same shape as the one that sleeps")]
impl Event {
    pub(crate) fn new() -> Self {
        Self
    }

    /// Does nothing: whoever waits, spins.
    #[inline]
    pub(crate) fn notify(&self) {}

    pub(super) fn register(&self) -> Ticket {
        Ticket
    }

    pub(super) fn sleep(&self, _: Ticket, _: Deadline) {}
}
