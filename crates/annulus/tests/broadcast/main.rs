//! Broadcast rings: what their verbs promise, against models, beside other threads, and what they say of
//! themselves.

mod broadcast_bytes;
mod cleared;
#[cfg(all(feature = "derive", feature = "std"))]
mod derive;
mod group;
mod history;
mod lag;
mod many;
#[cfg(feature = "metrics")]
mod metrics;
mod model;
#[cfg(all(feature = "std", not(annulus_loom)))]
mod observers;
#[cfg(all(feature = "derive", feature = "std"))]
mod schema;
mod shown;
mod skipped;
mod stages;
#[cfg(feature = "std")]
mod stats;
mod stress;
#[path = "../support/mod.rs"]
mod support;
mod verbs;
