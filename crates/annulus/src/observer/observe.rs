//! [`Observe`]: a ring whose numbers any thread may read.

use crate::stats::Stats;

/// Something that has numbers.
///
/// # Safety
///
/// No function looks at a message, or calls code of its type: what a message borrows may be gone (where
/// handles were leaked).
pub(crate) unsafe trait Observe: Send + Sync {
    /// Its numbers now.
    fn stats(&self) -> Stats;

    /// Whether it is closed.
    fn is_closed(&self) -> bool;

    /// Where it is.
    #[cfg(all(feature = "metrics", not(annulus_loom)))]
    fn address(&self) -> *const () {
        core::ptr::from_ref(self).cast()
    }
}
