//! A publisher that waits for its readers.

use std::array;

use annulus::broadcast::Lossless;

use super::{Annulus, BatchPublisher, BatchReader, FanOut, Gated, Named, PhotonRing, Publisher, Reader};
use crate::messages::BATCH;

pub struct AnnulusLossless;

impl Named for AnnulusLossless {
    const NAME: &'static str = Annulus::NAME;
}

impl<const READERS: usize> Gated<READERS> for AnnulusLossless {}

impl<const READERS: usize> FanOut<READERS> for AnnulusLossless {
    type Publisher = annulus::broadcast::Publisher<u64, Lossless>;
    type Reader = annulus::broadcast::Subscriber<u64, Lossless>;

    fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
        let (publisher, subscribable) = annulus::broadcast::lossless(capacity);
        (publisher, array::from_fn(|_| subscribable.subscribe()))
    }
}

impl Publisher<u64> for annulus::broadcast::Publisher<u64, Lossless> {
    #[inline(always)]
    fn publish(&mut self, message: u64) {
        self.publish(message).expect("the readers are there");
    }
}

impl BatchPublisher for annulus::broadcast::Publisher<u64, Lossless> {
    #[inline(always)]
    fn publish_batch(&mut self, messages: &[u64; BATCH]) {
        self.publish_batch(messages).expect("the readers are there");
    }
}

/// Of one library's subscriber: one message a look, or a batch.
macro_rules! reader {
    ($subscriber:ty, $batch:ident) => {
        impl Reader for $subscriber {
            #[inline(always)]
            fn poll(&mut self, mut receive: impl FnMut(u64)) -> bool {
                self.try_recv().map(&mut receive).is_ok()
            }
        }

        impl BatchReader for $subscriber {
            #[inline(always)]
            fn poll_batch(&mut self, buffer: &mut [u64; BATCH], each: impl FnMut(u64)) -> u64 {
                let count = self.$batch(buffer);
                buffer[..count].iter().copied().for_each(each);
                count as u64
            }
        }
    };
}

reader!(annulus::broadcast::Subscriber<u64>, try_recv_batch);
reader!(annulus::broadcast::Subscriber<u64, Lossless>, try_recv_batch);
reader!(photon_ring::Subscriber<u64>, recv_batch);

/// Its lossless ring has the publisher and the subscriber of its lossy one.
pub struct PhotonRingBounded;

impl Named for PhotonRingBounded {
    const NAME: &'static str = PhotonRing::NAME;
}

impl<const READERS: usize> Gated<READERS> for PhotonRingBounded {}

impl<const READERS: usize> FanOut<READERS> for PhotonRingBounded {
    type Publisher = photon_ring::Publisher<u64>;
    type Reader = photon_ring::Subscriber<u64>;

    fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
        let (publisher, subscribable) = photon_ring::channel_bounded(capacity, 0);
        (publisher, array::from_fn(|_| subscribable.subscribe()))
    }
}

impl BatchPublisher for photon_ring::Publisher<u64> {
    #[inline(always)]
    fn publish_batch(&mut self, messages: &[u64; BATCH]) {
        photon_ring::Publisher::publish_batch(self, messages);
    }
}
