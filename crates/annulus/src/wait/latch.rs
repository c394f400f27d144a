//! [`Latch`]: something that happens once, for threads and tasks that wait for it: a shutdown, or the end of
//! some threads.
//!
//! ```text
//! latch.open1  the count becomes 0    Release    latch.look2  is it 0? This is event.sleep3    Acquire
//! notify (event.wake2 ...)
//! ```

#[cfg(feature = "async")]
use core::future::Future;

use super::{Deadline, EventCount, Look, Poll, WaitStrategy, wait_until};
use crate::sync::{AtomicUsize, Ordering, seeded};

/// A count that is open once it is 0.
pub(crate) struct Latch {
    left: AtomicUsize,
    event: EventCount,
}

impl Latch {
    pub(crate) fn new(left: usize) -> Self {
        Self { left: AtomicUsize::new(left), event: EventCount::fenced() }
    }

    /// latch.look2.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        // Acquire: pairs with latch.open1: a thread that sees it open sees what was done before.
        self.left.load(Ordering::Acquire) == 0
    }

    /// latch.open1, at once and for good.
    pub(crate) fn open(&self) {
        // Release: pairs with latch.look2.
        self.left.store(0, Ordering::Release);
        self.wake();
    }

    /// One more to wait for. Nobody has found it open, or goes by that.
    #[cfg_attr(any(not(feature = "std"), annulus_loom), allow(dead_code, reason = "for pipelines"))]
    pub(crate) fn add(&self) {
        // Relaxed: the count only tells when it is 0.
        self.left.fetch_add(1, Ordering::Relaxed);
    }

    /// latch.open1: one less to wait for.
    #[cfg_attr(not(feature = "std"), allow(dead_code, reason = "for threads"))]
    pub(crate) fn count_down(&self) {
        // Release: pairs with latch.look2, which also sees what the others did, since all changes are
        // read-modify-writes.
        if self.left.fetch_sub(1, Ordering::Release) == 1 {
            self.wake();
        }
    }

    fn wake(&self) {
        if !seeded!("latch_wakes_nobody") {
            self.event.notify();
        }
    }

    /// Where one waits for it.
    #[cfg_attr(not(any(feature = "std", feature = "async")), allow(dead_code, reason = "for selects"))]
    pub(crate) fn wait_point(&self) -> &EventCount {
        &self.event
    }

    /// Waits until it is open. False if it is not so by the deadline.
    pub(crate) fn wait(&self, strategy: WaitStrategy, deadline: Deadline) -> bool {
        self.is_open() || wait_until(&mut Opening(self), strategy, deadline).is_some()
    }

    /// Waits until it is open, in a task.
    #[cfg(feature = "async")]
    pub(crate) fn opened(&self) -> impl Future<Output = ()> + Send + Unpin {
        // SAFETY: the eventcount is in the latch, which is borrowed.
        unsafe { super::Waiting::new(Opening(self)) }
    }
}

/// The opening of a latch, as something to wait for.
pub(crate) struct Opening<'l>(pub(crate) &'l Latch);

impl Poll for Opening<'_> {
    type Found = ();

    fn wait_point(&self) -> &EventCount {
        &self.0.event
    }

    fn poll(&mut self) -> Look<()> {
        if self.0.is_open() { Look::Found(()) } else { Look::Nothing }
    }
}

/// Counts a latch down when it is dropped, by a panic too.
#[cfg(feature = "std")]
pub(crate) struct CountsDown<L: core::ops::Deref<Target = Latch>>(pub(crate) L);

#[cfg(feature = "std")]
impl<L: core::ops::Deref<Target = Latch>> Drop for CountsDown<L> {
    fn drop(&mut self) {
        self.0.count_down();
    }
}
