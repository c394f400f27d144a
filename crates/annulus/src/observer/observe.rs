//! [`Observe`]: what has numbers that anybody may see.

use crate::base::aligned::Aligned;
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

// SAFETY: it has what the value has.
unsafe impl<R: Observe> Observe for Aligned<R> {
    fn stats(&self) -> Stats {
        self.value().stats()
    }

    fn is_closed(&self) -> bool {
        self.value().is_closed()
    }

    #[cfg(all(feature = "metrics", not(annulus_loom)))]
    fn address(&self) -> *const () {
        self.value().address()
    }
}
