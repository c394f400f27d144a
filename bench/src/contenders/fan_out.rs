//! Lossy rings with several readers.

use std::array;

use super::{Annulus, FanOut, PhotonRing, ours};

/// As `lossy`, with a subscriber for each reader.
macro_rules! fan_out {
    ($contender:ident, $library:ident) => {
        impl<const READERS: usize> FanOut<READERS> for $contender {
            type Publisher = $library::Publisher<u64>;
            type Reader = $library::Subscriber<u64>;

            fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
                let (publisher, subscribable) = $library::channel(capacity);
                (publisher, array::from_fn(|_| subscribable.subscribe()))
            }
        }
    };
}

fan_out!(Annulus, ours);
fan_out!(PhotonRing, photon_ring);
