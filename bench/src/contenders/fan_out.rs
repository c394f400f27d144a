//! Lossy rings with several readers.

use std::array;

use super::{Annulus, FanOut, PhotonRing, Reader};

/// As `lossy`, with a subscriber for each reader.
macro_rules! fan_out {
    ($contender:ident, $library:ident) => {
        impl<const READERS: usize> FanOut<READERS> for $contender {
            type Publisher = $library::Publisher<u64>;
            type Reader = Independent<$library::Subscriber<u64>>;

            fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
                let (publisher, subscribable) = $library::channel(capacity);
                (publisher, array::from_fn(|_| Independent(subscribable.subscribe())))
            }
        }

        impl Reader for Independent<$library::Subscriber<u64>> {
            #[inline(always)]
            fn poll(&mut self, receive: impl FnMut(u64)) -> bool {
                self.0.try_recv().map(receive).is_ok()
            }
        }
    };
}

/// A subscriber that nobody waits for.
pub struct Independent<S>(S);

fan_out!(Annulus, annulus);
fan_out!(PhotonRing, photon_ring);
