//! The numbers of a ring, for a program that has no handle of it: from an [`Observer`], which a handle made,
//! or from the list of all rings that have a name.

#[allow(clippy::module_inception, reason = "the type that the folder is about")]
mod observer;

#[cfg(all(feature = "std", not(annulus_loom)))]
mod listing;

pub(crate) use listing::Listing;
pub use observer::Observer;
pub(crate) use observer::observable;

use crate::stats::Stats;

/// A ring whose numbers any thread may read.
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

/// Without `std` there is no list of rings that have a name, nor in models.
#[cfg(any(not(feature = "std"), annulus_loom))]
mod listing {
    use super::Observe;

    /// Nothing.
    pub(crate) struct Listing;

    #[allow(clippy::unused_self, reason = "the same shape as the real one")]
    impl Listing {
        pub(crate) fn new(_: Option<&str>) -> Self {
            Self
        }

        /// # Safety
        ///
        /// None.
        pub(crate) unsafe fn begin<R: Observe>(&self, _: &R, _: usize) {}

        pub(crate) fn is_there(&self) -> bool {
            false
        }

        pub(crate) fn side_comes(&self) {}

        pub(crate) fn side_goes(&self) {}
    }
}
