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
use crate::sync::{Ordering, fence};

/// Whether a sleeper can do the work of both sides. The answer never changes within a process.
pub(super) fn is_asymmetric() -> bool {
    system::register()
}

/// The waker's fence where the pair is asymmetric: it keeps the compiler from moving the look before the store.
#[inline(always)]
pub(super) fn light() {
    #[cfg(not(annulus_loom))]
    crate::sync::compiler_fence(Ordering::SeqCst);
}

/// The waker's fence where it is not.
pub(super) fn full() {
    fence(Ordering::SeqCst);
}

/// The sleeper's fence; false where the system refused it, although it had promised it.
pub(super) fn heavy(asymmetric: bool) -> bool {
    fence(Ordering::SeqCst);
    !asymmetric || system::barrier()
}

/// When to look again without the heavy fence: soon. A process that forbids itself the system call after it made its
/// rings (a sandbox) sleeps in naps, and a wake-up that is missed comes late by a nap rather than never.
pub(super) fn nap(deadline: Deadline) -> Instant {
    let soon = Instant::now() + Duration::from_millis(1);
    deadline.map_or(soon, |deadline| deadline.min(soon))
}

#[cfg(all(target_os = "linux", not(annulus_loom), not(miri)))]
mod system {
    use std::sync::OnceLock;

    use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

    /// Tells the kernel, once for the process, that it will be asked for barriers; false where it can't.
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
        // Models in which nobody sleeps run without the waker's fence, which would hide a missing order elsewhere.
        cfg!(annulus_loom) && std::env::var_os("ANNULUS_LOOM_ASYMMETRIC").is_some()
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
        assert!(heavy(is_asymmetric()));
        assert!(heavy(false));
    }

    #[test]
    fn a_nap_is_short_and_never_later_than_the_deadline() {
        let now = Instant::now();
        assert!(nap(None) < now + Duration::from_secs(1));
        assert_eq!(nap(Some(now)), now);
    }
}
