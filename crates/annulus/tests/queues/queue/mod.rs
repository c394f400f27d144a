//! Queues: against plain models, between threads, and at their edges.
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

/// The tests of these names, for every kind.
macro_rules! for_each_kind {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn one() {
                super::$name::<annulus::spsc::Spsc>();
            }
            #[test]
            fn many_to_one() {
                super::$name::<annulus::mpsc::Mpsc>();
            }
            #[test]
            fn one_to_many() {
                super::$name::<annulus::spmc::Spmc>();
            }
            #[test]
            fn many_to_many() {
                super::$name::<annulus::mpmc::Mpmc>();
            }
        }
    )*};
}

mod bounded;
mod counted;
mod dice;
mod drops;
mod edges;
mod fair;
mod fairness;
#[cfg(feature = "std")]
mod limits;
mod model;
mod named;
mod ordered;
mod ordered_batches;
mod received;
mod rings;
mod snapshots;
mod threads;
mod wakes;

use annulus::TrySendError;
use counted::{Counted, panics};

/// How many of `batch` were sent.
fn sent_of<T>(batch: &[T], sent: Result<(), TrySendError<&[T]>>) -> u64 {
    (batch.len() - sent.map_or_else(|error| error.into_inner().len(), |()| 0)) as u64
}
