//! Without `std` nobody sleeps, so nobody has to be woken.

use super::Deadline;
use crate::stats::Counting;
use crate::sync::{AtomicU32, Ordering, fence};

/// An eventcount that wakes nobody. Only its flag is left. No strategy sleeps here.
pub(crate) struct EventCount {
    pub(super) word: AtomicU32,
}

/// As where somebody may sleep; here it is always [`More`](Self::More).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(dead_code, reason = "nobody sleeps")]
pub(crate) enum SleeperKind {
    Nobody,
    Tasks,
    More,
}

/// Nothing to remember.
pub(super) struct Ticket;

/// All begin alike.
#[derive(Clone, Copy)]
pub(crate) struct NewWord;

impl NewWord {
    pub(crate) fn of_events() -> Self {
        Self
    }
}

#[allow(clippy::unused_self, reason = "the same shape as the one that sleeps")]
impl EventCount {
    pub(crate) fn new() -> Self {
        Self { word: AtomicU32::new(0) }
    }

    /// Nobody sleeps here either.
    pub(crate) fn fenced() -> Self {
        Self::new()
    }

    /// The bit that is set for good when the queue is closed.
    pub(crate) const CLOSED: u32 = 4;

    /// Sets the flag. It is published as by a store with `ordering`. A sleeper looks again.
    pub(crate) fn set_closed(&self, ordering: Ordering) {
        self.word.fetch_or(Self::CLOSED, ordering);
    }

    /// Whether the flag is set, by a load with `ordering`. (All later changes of the word are
    /// read-modify-writes, so a thread that sees one of them sees the Release of the flag.)
    #[inline(always)]
    pub(crate) fn is_closed(&self, ordering: Ordering) -> bool {
        self.word.load(ordering) & Self::CLOSED != 0
    }

    /// Sets the flag. There is nobody to wake.
    pub(crate) fn close(&self) {
        // Release: pairs with the Acquire of a thread that looks for the flag.
        self.set_closed(Ordering::Release);
    }

    /// There is nothing to count.
    pub(crate) fn counting(_: Counting) -> Self {
        Self::new()
    }

    /// There is nothing to count.
    pub(crate) fn begun(_: NewWord, _: Counting) -> Self {
        Self::new()
    }

    /// Does nothing: a waiter spins.
    #[inline]
    pub(crate) fn notify(&self) {}

    /// Nobody sleeps. The caller looks at the flag.
    pub(crate) fn sleepers(&self) -> SleeperKind {
        SleeperKind::More
    }

    /// Does nothing, as [`notify`](Self::notify).
    pub(crate) fn wake_tasks(&self) {}

    /// Does nothing, as [`notify`](Self::notify).
    pub(crate) fn notify_fenced(&self) {}

    /// Does nothing, as [`notify`](Self::notify).
    pub(crate) fn notify_some_fenced(&self, _count: usize) {}

    /// Nobody does.
    #[inline]
    pub(crate) fn may_have_sleepers(&self) -> bool {
        false
    }

    /// Whether it is closed; nobody sleeps. Pairs with [`barrier`](Self::barrier). It needs a full
    /// fence, because no sleeper can make up for a light one here.
    #[inline]
    pub(crate) fn needs_slow_path(&self) -> bool {
        fence(Ordering::SeqCst);
        self.is_closed(Ordering::Relaxed)
    }

    /// There is no light one here.
    pub(crate) fn needs_fence(&self) -> bool {
        true
    }

    /// The fence of [`needs_slow_path`](Self::needs_slow_path) by itself.
    pub(crate) fn fence(&self) {
        fence(Ordering::SeqCst);
    }

    /// The same: there is only this one.
    pub(crate) fn fence_fully(&self) {
        fence(Ordering::SeqCst);
    }

    /// Pairs with [`needs_slow_path`](Self::needs_slow_path).
    pub(crate) fn barrier(&self) -> bool {
        fence(Ordering::SeqCst);
        true
    }

    /// A barrier is a fence here.
    pub(crate) fn has_cheap_barriers(&self) -> bool {
        true
    }

    /// As [`barrier`](Self::barrier).
    pub(crate) fn barrier_at_any_price(&self) {
        fence(Ordering::SeqCst);
    }

    /// As [`barrier`](Self::barrier).
    pub(crate) fn barrier_behind_flag(&self) {
        fence(Ordering::SeqCst);
    }

    pub(super) fn register(&self) -> Ticket {
        Ticket
    }

    pub(super) fn count_sleep(&self) {}

    pub(super) fn sleep_on(&self, _: Ticket, _: Deadline, _: u32) -> bool {
        true
    }
}
