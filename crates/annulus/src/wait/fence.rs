//! The light fence of the waker and the heavy fence of the sleeper.
//!
//! Between "store, then look for sleepers" and "register, then look for the store" each side needs a fence between its
//! store and its load. The waker runs for every message and the sleeper once in a while, so where the operating system
//! can make the other cores execute a barrier (Linux, `membarrier(2)`, private expedited), the waker's fence is for the
//! compiler only and the sleeper pays for both. Elsewhere both are `fence(SeqCst)`.
//!
//! Only wake-ups hang on this pair, never the soundness of a read: `membarrier` is outside the language's memory model,
//! and nothing that the model has to promise is built on it. Loom and Miri see two `SeqCst` fences.

use std::time::{Duration, Instant};

use super::Deadline;
#[cfg(not(annulus_loom))]
use crate::hint::unlikely;
use crate::sync::{Ordering, fence};

/// A pair of fences with a total order between the two sides. Constant once made.
#[derive(Clone, Copy)]
pub(super) struct FencePair {
    /// Whether the sleeper's side does the work of both.
    asymmetric: bool,
}

impl FencePair {
    pub(super) fn detect() -> Self {
        Self { asymmetric: system::register() }
    }

    /// The waker's fence.
    #[inline]
    pub(super) fn light(self) {
        #[cfg(not(annulus_loom))]
        if !unlikely(!self.asymmetric) {
            crate::sync::compiler_fence(Ordering::SeqCst);
            return;
        }
        fence(Ordering::SeqCst);
    }

    /// The sleeper's fence; false where the system refused it, although it had promised it.
    pub(super) fn heavy(self) -> bool {
        fence(Ordering::SeqCst);
        !self.asymmetric || system::barrier()
    }

    /// When to look again without the heavy fence: soon. A process that forbids itself the system call after it made its
    /// rings (a sandbox) sleeps in naps, and a wake-up that is missed comes late by a nap rather than never.
    #[allow(clippy::unused_self, reason = "belongs to the pair")]
    pub(super) fn nap(self, deadline: Deadline) -> Deadline {
        let soon = Instant::now() + Duration::from_millis(1);
        Some(deadline.map_or(soon, |deadline| deadline.min(soon)))
    }
}

#[cfg(all(target_os = "linux", not(annulus_loom), not(miri)))]
mod system {
    use std::sync::OnceLock;

    use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

    /// Tells the kernel, once for the process, that it will ask for barriers; false where it can't.
    pub(super) fn register() -> bool {
        static REGISTERED: OnceLock<bool> = OnceLock::new();
        *REGISTERED.get_or_init(|| {
            membarrier_query().contains(MembarrierQuery::PRIVATE_EXPEDITED)
                && membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
        })
    }

    /// A barrier on every core that runs a thread of this process.
    pub(super) fn barrier() -> bool {
        membarrier(MembarrierCommand::PrivateExpedited).is_ok()
    }
}

#[cfg(not(all(target_os = "linux", not(annulus_loom), not(miri))))]
mod system {
    pub(super) fn register() -> bool {
        false
    }

    pub(super) fn barrier() -> bool {
        true
    }
}

#[cfg(all(test, not(annulus_loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_heavy_fence_is_had_on_this_system() {
        assert!(FencePair::detect().heavy());
        assert!(FencePair { asymmetric: false }.heavy());
    }

    #[test]
    fn a_nap_is_short_and_never_later_than_the_deadline() {
        let pair = FencePair { asymmetric: true };
        let now = Instant::now();
        assert!(pair.nap(None).unwrap() < now + Duration::from_secs(1));
        assert_eq!(pair.nap(Some(now)), Some(now));
    }
}
