//! [`Gone`]: whether another process is gone, asked of the kernel now and then; and [`NowAndThen`], which
//! says when.

use alloc::boxed::Box;

use crate::sync::{AtomicBool, AtomicU64, Ordering, seeded};

/// Whether another process is gone.
pub(crate) struct Gone {
    /// Asks the kernel: a system call.
    ask: Box<dyn Fn() -> bool + Send + Sync>,
    /// It was gone.
    seen: AtomicBool,
    when: NowAndThen,
}

impl Gone {
    /// `is_gone` asks the kernel.
    #[cfg(feature = "shm")]
    pub(crate) fn new(is_gone: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self { ask: Box::new(is_gone), seen: AtomicBool::new(false), when: NowAndThen::new() }
    }

    /// Whether it is gone. Asks the kernel, unless somebody did so a moment ago.
    #[inline]
    pub(crate) fn look(&self) -> bool {
        // Acquire: pairs with the Release below. The answer comes after all that the process did.
        if self.seen.load(Ordering::Acquire) {
            return true;
        }
        let is_gone = self.when.is_due() && !seeded!("gone_never_asked") && (self.ask)();
        if is_gone {
            // Release: pairs with the Acquire above.
            self.seen.store(true, Ordering::Release);
        }
        is_gone
    }
}

#[cfg(feature = "shm")]
impl Gone {
    /// Whether it is gone, now.
    pub(crate) fn is_gone(&self) -> bool {
        // Acquire: as in `look`.
        self.seen.load(Ordering::Acquire) || (self.ask)()
    }
}

/// When to ask the kernel again.
pub(crate) struct NowAndThen {
    /// In milliseconds, by [`now`]; or [`NEVER`].
    ask_at: AtomicU64,
}

const NEVER: u64 = u64::MAX;

/// How long a process may be gone before anybody asks.
const ASK_EVERY: u64 = 10;

impl NowAndThen {
    #[cfg(feature = "shm")]
    pub(crate) fn new() -> Self {
        Self { ask_at: AtomicU64::new(0) }
    }

    /// Where all is of this process, and the kernel has nothing to say.
    pub(crate) fn never() -> Self {
        Self { ask_at: AtomicU64::new(NEVER) }
    }

    /// Whether nobody has asked for a while. Then the caller does.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        // Relaxed, here and below: which thread asks when is up to luck.
        let ask_at = self.ask_at.load(Ordering::Relaxed);
        if ask_at == NEVER {
            return false;
        }
        let now = now();
        if now < ask_at && !cfg!(annulus_loom) {
            return false;
        }
        self.ask_at.store(now + ASK_EVERY, Ordering::Relaxed);
        true
    }
}

/// The time in milliseconds, as of the last tick of the kernel, which was 10 milliseconds ago at most.
// Decision 0104: each poll that finds nothing looks, and the exact clock takes longer than the poll.
#[cfg(all(feature = "shm", target_os = "linux"))]
#[inline]
fn now() -> u64 {
    use rustix::time::{ClockId, clock_gettime};

    let now = clock_gettime(ClockId::MonotonicCoarse);
    // (The clock begins at 0.)
    now.tv_sec.unsigned_abs() * 1000 + now.tv_nsec.unsigned_abs() / 1_000_000
}

/// Without other processes nobody asks.
#[cfg(not(all(feature = "shm", target_os = "linux")))]
fn now() -> u64 {
    0
}
