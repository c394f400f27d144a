//! Without `std` nobody sleeps, so nobody has to be woken.

use super::Deadline;
use super::mark::{Mark, Marked};
use crate::sync::{AtomicU32, Ordering, fence};

/// An eventcount that wakes nobody: what is left of it are its marks. No strategy sleeps here.
pub(crate) struct Event {
    pub(super) word: AtomicU32,
}

/// Nothing to remember.
pub(super) struct Ticket;

impl Marked for Event {
    #[inline(always)]
    fn word(&self) -> &AtomicU32 {
        &self.word
    }
}

#[allow(clippy::unused_self, reason = "the same shape as the one that sleeps")]
impl Event {
    pub(crate) fn new() -> Self {
        Self { word: AtomicU32::new(0) }
    }

    /// Does nothing: whoever waits, spins.
    #[inline]
    pub(crate) fn notify(&self) {}

    /// Does nothing, as [`notify`](Self::notify).
    #[inline]
    pub(crate) fn notify_some(&self, _count: usize) {}

    /// Nobody does.
    #[inline]
    pub(crate) fn may_have_sleepers(&self) -> bool {
        false
    }

    /// Nobody does.
    pub(crate) fn has_sleepers(&self) -> bool {
        false
    }

    /// Nobody sleeps; whether [`Mark::Over`] is not set. Pairs with [`barrier`](Self::barrier): a full fence, because nobody can make up for a
    /// lighter one here.
    #[inline]
    pub(crate) fn is_calm(&self) -> bool {
        fence(Ordering::SeqCst);
        !self.is_marked(Mark::Over, Ordering::Relaxed)
    }

    /// The fence of [`is_calm`](Self::is_calm) by itself.
    pub(crate) fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    /// Pairs with [`is_calm`](Self::is_calm).
    pub(crate) fn barrier(&self) -> bool {
        fence(Ordering::SeqCst);
        true
    }

    /// A fence is all it is.
    pub(crate) fn has_cheap_barriers(&self) -> bool {
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
