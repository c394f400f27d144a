//! The numbers of a ring, for whoever has no handle of it: from an [`Observer`], which a handle made, or from
//! the list of all rings that have a name.

mod observe;
#[allow(clippy::module_inception, reason = "the type that the folder is about")]
mod observer;

#[cfg(all(feature = "std", not(annulus_loom)))]
mod listing;
#[cfg(any(not(feature = "std"), annulus_loom))]
#[path = "no_listing.rs"]
mod listing;
#[cfg(all(feature = "std", not(annulus_loom)))]
mod observers;

pub(crate) use listing::Listing;
pub(crate) use observe::Observe;
pub use observer::Observer;
#[cfg(all(feature = "std", not(annulus_loom)))]
pub use observers::Observers;

/// Writes `stats` and `observer` of a handle: what else its users should know, what is shared in it, the
/// numbers of it, and what the messages must be for an observer.
macro_rules! observable {
    ($(#[$more:meta])* $(where $T:ident: 'static,)? |$handle:ident| stats: $stats:expr, observer: $observer:expr $(,)?) => {
        /// The numbers of the ring now: see [`Stats`](crate::Stats), which also says what a snapshot costs.
        /// Never waits.
        $(#[$more])*
        #[must_use]
        pub fn stats(&self) -> crate::Stats {
            let $handle = self;
            $stats
        }

        /// An [`Observer`](crate::Observer), which takes such snapshots from any thread. It does not keep the
        /// ring open, and nobody waits for it.
        #[must_use]
        pub fn observer(&self) -> crate::Observer
        $(where $T: 'static,)?
        {
            let $handle = self;
            $observer
        }
    };
}
pub(crate) use observable;
