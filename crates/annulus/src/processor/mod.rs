//! Waiting by the processor, until a word changes: what a futex does in the kernel, on the core itself.
//!
//! | processor | watches the word | waits | it is there |
//! | --- | --- | --- | --- |
//! | x86-64, Intel | `UMONITOR` | `UMWAIT` | where CPUID says so (leaf 7, ECX, bit 5) |
//! | x86-64, AMD | `MONITORX` | `MWAITX`, with its timer | where CPUID says so (leaf `8000_0001h`, ECX, bit 29) |
//! | aarch64 | `LDXR` | `WFET`, else `WFE` | where Linux says so: it has `WFET`, or it sends all cores an event now and then |
//!
//! Nothing is tried to see whether it works: an instruction that the processor does not have, or that the
//! hypervisor does not allow, ends the process.
//!
//! ```text
//! waiter                                             the thread that it waits for
//! monitor.wait1  seen := the word      Relaxed       its store to the word (slot.w4, lane.send3 …)
//! monitor.wait2  poll: nothing is there
//! monitor.wait3  watch the line of the word
//! monitor.wait4  is the word still `seen`?
//! monitor.wait5  wait for a store to that line, or for the end of the bound
//! ```
//!
//! monitor.wait1 and monitor.wait2 are in `wait/wait_until.rs`. monitor.wait3 to monitor.wait5 are one block
//! of assembly, so that nothing comes between them.
//!
//! *Why no store is missed.* The store is the one that makes the poll succeed, and the poll loads the same
//! word. All threads see the stores to one word in one order. If monitor.wait1 comes after the store in that
//! order, so does the load of the poll, and the poll finds what it looks for. If the store comes between
//! monitor.wait1 and monitor.wait4, then monitor.wait4 sees another value. If it comes after monitor.wait4,
//! the line was watched already, and the store ends monitor.wait5.
//!
//! What a store to another word brings (a close, for one) is found at the end of the bound. The same is true
//! where the processor forgets what it watches, as it may at an interrupt.

mod kind;

#[cfg(all(
    target_arch = "aarch64",
    target_os = "linux",
    target_pointer_width = "64",
    feature = "std",
    not(any(annulus_loom, miri))
))]
#[path = "aarch64.rs"]
mod instructions;
#[cfg(all(
    target_arch = "x86_64",
    target_pointer_width = "64",
    not(any(target_env = "sgx", annulus_loom, miri))
))]
#[path = "x86_64.rs"]
mod instructions;
#[cfg(not(any(
    all(
        target_arch = "aarch64",
        target_os = "linux",
        target_pointer_width = "64",
        feature = "std",
        not(any(annulus_loom, miri))
    ),
    all(
        target_arch = "x86_64",
        target_pointer_width = "64",
        not(any(target_env = "sgx", annulus_loom, miri))
    )
)))]
#[path = "none.rs"]
mod instructions;

pub use kind::ProcessorWait;

use core::time::Duration;

use crate::sync::AtomicU64;

/// So long one wait lasts at most.
// Decision 0081: as long as Linux allows a UMWAIT, and as its event stream bounds a WFE.
pub(crate) const BOUND: Duration = Duration::from_micros(100);

/// monitor.wait3 to monitor.wait5: waits while `word` is `seen`, for `bound` at most, or for [`BOUND`] where
/// that is shorter. May return at any time. (A `WFE` is bounded by the event stream instead.)
pub(crate) fn wait_while(word: &AtomicU64, seen: u64, bound: Duration) {
    let nanos = bound.min(BOUND).as_nanos() as u32;
    instructions::wait_while(ProcessorWait::of_this_processor(), word, seen, nanos);
}

/// One pause, for a waiter that polls and has no single word to watch: with `TPAUSE` at less power.
#[inline]
pub(crate) fn pause() {
    instructions::pause_by(ProcessorWait::of_this_processor());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_ends() {
        (0..100).for_each(|_| pause());
    }

    /// Where the processor has none of the instructions, these hold, too. (Miri takes longer for anything.)
    #[cfg(all(feature = "std", not(miri)))]
    mod waits {
        use std::time::Instant;

        use super::*;
        use crate::sync::Ordering;

        /// Waits until one wait is that short: somebody else may have the core in any one of them.
        #[track_caller]
        fn once_in_less_than(limit: Duration, mut wait: impl FnMut()) {
            let mut time = || {
                let begun = Instant::now();
                wait();
                begun.elapsed()
            };
            assert!((0..1_000).any(|_| time() < limit), "never in less than {limit:?}");
        }

        #[test]
        fn word_that_has_changed_is_not_waited_for() {
            let word = AtomicU64::new(1);
            once_in_less_than(20 * BOUND, || (0..100).for_each(|_| wait_while(&word, 0, BOUND)));
        }

        #[test]
        fn no_wait_is_longer_than_its_bound() {
            let word = AtomicU64::new(1);
            for bound in [Duration::ZERO, BOUND / 10, BOUND, Duration::MAX] {
                once_in_less_than(2 * BOUND, || wait_while(&word, 1, bound));
            }
        }

        /// A store ends a wait, mostly early.
        #[test]
        fn store_ends_a_wait() {
            let word = AtomicU64::new(0);
            let rounds = 10_000;
            std::thread::scope(|scope| {
                scope.spawn(|| {
                    for round in 0..rounds {
                        while word.load(Ordering::Relaxed) != 2 * round + 1 {
                            wait_while(&word, 2 * round, BOUND);
                        }
                        word.store(2 * round + 2, Ordering::Relaxed);
                    }
                });
                for round in 0..rounds {
                    word.store(2 * round + 1, Ordering::Relaxed);
                    while word.load(Ordering::Relaxed) != 2 * round + 2 {
                        wait_while(&word, 2 * round + 1, BOUND);
                    }
                }
            });
        }
    }
}
