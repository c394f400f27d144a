//! The numbers of a ring, for a program that has no handle of it: from an [`Observer`], which a handle made,
//! or from the list of all rings that have a name.

mod observe;
#[allow(clippy::module_inception, reason = "the type that the folder is about")]
mod observer;

#[cfg(all(feature = "std", not(annulus_loom)))]
mod listing;
#[cfg(any(not(feature = "std"), annulus_loom))]
#[path = "no_listing.rs"]
mod listing;

pub(crate) use listing::Listing;
pub(crate) use observe::Observe;
pub use observer::Observer;
pub(crate) use observer::observable;
