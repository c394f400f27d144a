//! The fences of wakers, and of threads that change what a waker looks at: full ones while an eventcount is
//! young.
//!
//! *Young eventcounts.* A heavy fence is a system call which interrupts all cores, and many a ring lives for
//! one message. So each eventcount begins with bit 1: its wakers have full fences, and a thread that sleeps,
//! or sets the flag (`CLOSED`), has one and calls nobody. After `YOUTH` looks of wakers in a
//! row that found nobody to wake, the bit is cleared, for good (event.grow8), and wakers are light from then
//! on. Each look at the bit is a look at the word that has what it is about, so coherence decides:
//!
//! - A thread that sees bit 1 set at event.sleep1, or in a word that has the flag, comes before event.grow8
//!   in the order of changes of the word. A light waker sees bit 1 clear, so at a later word: that has the
//!   registration or the flag, or a wake-up since. It takes the slow path, or has nothing to do.
//! - All other wakers have full fences. Of two full fences one comes first, as above.
//! - A thread that sees bit 1 clear asks for a heavy fence. That reaches wakers of both kinds.
//!
//! For bit 5 it is the same: a sleeper that has set it while the eventcount was young serves the threads that
//! come when it is not, because no light waker has a look from before the first sleeper's event.sleep1.

use super::{EventCount, FENCE_BOTH_SIDES, SLEEPER};
use crate::sync::{Ordering, light_fence, seeded};
use crate::wait::fence;
#[cfg(feature = "shm")]
use crate::wait::other_processes::Remote;

impl EventCount {
    /// event.wake2 by itself, the light one or, where that is not enough, or somebody sleeps here, the full
    /// one: for a caller that looks at other things than this eventcount only.
    // Mutants: `with ()`: only a model sees it: event_no_light_fence.
    #[inline]
    pub(crate) fn fence(&self) {
        light_fence();
        #[cfg(feature = "shm")]
        if self.remote.as_ref().is_some_and(Remote::is_asymmetric) {
            fence::light_across();
        }
        // Mutants: `& with |`: a fence more.
        // Mutants: `!= with ==`, `& with ^`: only a model sees it: event_no_light_fence.
        if self.word.load(Ordering::Relaxed) & (FENCE_BOTH_SIDES | SLEEPER) != 0 {
            if !seeded!("event_no_light_fence") {
                fence::full();
            }
            self.grow();
        }
    }

    /// As [`fence`](Self::fence), but always the full one.
    // Mutants: `with ()`: only a model sees it: ordered_counts_early.
    #[inline]
    pub(crate) fn fence_fully(&self) {
        fence::full();
        self.grow();
    }

    /// A waker looks, with a full fence.
    #[inline]
    fn grow(&self) {
        // Relaxed, here and below: a hint.
        let youth = self.youth.load(Ordering::Relaxed);
        let bits = FENCE_BOTH_SIDES | Self::CLOSED;
        // (What is closed is about to end, and the closing thread looks, too.)
        if youth == 0 || self.word.load(Ordering::Relaxed) & bits != FENCE_BOTH_SIDES {
            return;
        }
        if youth == 1 {
            // event.grow8. Relaxed: which changes of the word come before it is all that matters.
            self.word.fetch_and(!FENCE_BOTH_SIDES, Ordering::Relaxed);
        }
        self.youth.store(youth - 1, Ordering::Relaxed);
    }

    /// Whether a light fence is never enough for the threads that [`fence`](Self::fence).
    pub(crate) fn needs_fence(&self) -> bool {
        let is_constant = self.youth.load(Ordering::Relaxed) == 0;
        is_constant && self.word.load(Ordering::Relaxed) & FENCE_BOTH_SIDES != 0
    }

    /// The other side of [`needs_slow_path`](Self::needs_slow_path), for a caller that changes something that
    /// a waker looks at: each waker sees the change, or the caller sees what that waker stored before.
    /// False where the system refused it.
    // Mutants: `with true`: only a model sees it: end_no_barrier. No test can tell what a barrier did to
    // other cores, nor that the system refused one that it had offered.
    #[cfg_attr(not(feature = "shm"), allow(clippy::unused_self, reason = "for rings of other processes"))]
    pub(crate) fn barrier(&self) -> bool {
        #[cfg(feature = "shm")]
        if let Some(remote) = &*self.remote {
            // The waker may be of another process.
            return fence::heavy_across(remote.is_asymmetric());
        }
        // A young eventcount is no help: a waker that sees event.grow8 need not see what the caller has
        // changed.
        fence::heavy(fence::is_asymmetric())
    }

    /// Whether a [`barrier`](Self::barrier) would take microseconds. (It may find out by one.) If not, the
    /// process would register for it first, which takes milliseconds.
    pub(crate) fn has_cheap_barriers(&self) -> bool {
        self.needs_fence() || fence::is_registered()
    }

    /// As [`barrier`](Self::barrier), for a caller that can't go without. Where the system refuses it
    /// (because the process has not registered, or in a sandbox that forbids itself the system call after it
    /// made its rings), it waits a millisecond instead, in which a processor carries out what it has begun.
    // Mutants: `with ()`: only a model sees it: end_no_barrier. No test can tell what a barrier did to other
    // cores, nor that the system refused one that it had offered.
    pub(crate) fn barrier_at_any_price(&self) {
        self.barrier_or_wait(fence::is_asymmetric());
    }

    /// As [`barrier_at_any_price`](Self::barrier_at_any_price), for a caller that has seen the flag of this
    /// eventcount, or has set it: each waker sees the flag, or the caller sees what that waker stored before.
    /// Where the eventcount is young, the system is not asked.
    pub(crate) fn barrier_behind_flag(&self) {
        // Relaxed: not before the word in which the flag was seen (coherence).
        let is_young = self.word.load(Ordering::Relaxed) & FENCE_BOTH_SIDES != 0;
        self.barrier_or_wait(!is_young && !seeded!("grown_taken_for_young"));
    }

    // Mutants: `with ()`: only a model sees it: end_no_barrier.
    #[cfg_attr(not(feature = "shm"), allow(clippy::unused_self, reason = "for rings of other processes"))]
    fn barrier_or_wait(&self, asymmetric: bool) {
        if seeded!("end_no_barrier") {
            return;
        }
        #[cfg(feature = "shm")]
        if self.remote.is_some() {
            // Mutants: `delete !`: a millisecond in place of a barrier.
            if !self.barrier() {
                // Unreached: where the system refuses membarrier after it allowed it
                fence::wait_out();
            }
            return;
        }
        fence::heavy_or_wait(asymmetric);
    }
}
