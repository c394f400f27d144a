//! [`Shutdown`]: a flag that asks threads to stop.

use alloc::sync::Arc;

use crate::sync::{AtomicBool, Ordering};

/// A flag, shared by its clones, that asks threads to stop; it never goes back.
///
/// A thread that waits in `recv` does not see it: close the ring (drop the publisher) for that, or wait with
/// `recv_timeout`.
///
/// ```
/// use annulus::Shutdown;
///
/// let shutdown = Shutdown::new();
/// let worker = std::thread::spawn({
///     let shutdown = shutdown.clone();
///     move || {
///         let mut rounds = 0_u64;
///         while !shutdown.is_shutdown() {
///             rounds += 1;
///         }
///         rounds
///     }
/// });
/// shutdown.trigger();
/// worker.join().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Shutdown {
    triggered: Arc<AtomicBool>,
}

impl Shutdown {
    /// A flag that nobody has triggered.
    #[must_use]
    pub fn new() -> Self {
        Self { triggered: Arc::new(AtomicBool::new(false)) }
    }

    /// Asks everybody who holds a clone to stop. Calling it again changes nothing.
    pub fn trigger(&self) {
        // Release: pairs with the Acquire in `is_shutdown`; what came before the trigger is visible to who sees it.
        self.triggered.store(true, Ordering::Release);
    }

    /// Whether somebody has asked. One load; never waits.
    #[inline]
    #[must_use]
    pub fn is_shutdown(&self) -> bool {
        // Acquire: pairs with the Release in `trigger`.
        self.triggered.load(Ordering::Acquire)
    }
}

impl Default for Shutdown {
    fn default() -> Self {
        Self::new()
    }
}
