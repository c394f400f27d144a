//! Without `std` nobody sleeps, so nobody has to be woken.

use super::Deadline;
use crate::sync::{Ordering, fence};

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

    /// Nobody sleeps. Pairs with [`barrier`](Self::barrier): a full fence, because nobody can make up for a lighter one here.
    #[inline]
    pub(crate) fn is_quiet(&self) -> bool {
        fence(Ordering::SeqCst);
        true
    }

    /// The fence of [`is_quiet`](Self::is_quiet) by itself.
    pub(crate) fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    /// Pairs with [`is_quiet`](Self::is_quiet).
    pub(crate) fn barrier(&self) -> bool {
        fence(Ordering::SeqCst);
        true
    }

    /// As [`barrier`](Self::barrier).
    pub(crate) fn barrier_at_any_price(&self) {
        fence(Ordering::SeqCst);
    }

    pub(super) fn register(&self) -> Ticket {
        Ticket
    }

    pub(super) fn sleep(&self, _: Ticket, _: Deadline) {}
}
