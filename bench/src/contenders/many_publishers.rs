//! Many publishers that wait for nobody. What they publish is received by the subscribers of `lossy`.

use super::{Annulus, Contender, Named, Payload, PhotonRing, Publisher, ours};

macro_rules! many {
    ($contender:ident, $lossy:ty, $library:ident) => {
        pub struct $contender;

        impl Named for $contender {
            const NAME: &'static str = <$lossy>::NAME;
        }

        impl Contender for $contender {
            type Publisher<T: Payload> = $library::MpPublisher<T>;
            type Subscriber<T: Payload> = <$lossy as Contender>::Subscriber<T>;

            fn channel<T: Payload>(capacity: usize) -> (Self::Publisher<T>, Self::Subscriber<T>) {
                let (publisher, subscribable) = $library::channel_mpmc(capacity);
                (publisher, subscribable.subscribe())
            }
        }

        impl<T: Payload> Publisher<T> for $library::MpPublisher<T> {
            #[inline(always)]
            fn publish(&mut self, message: T) {
                <$library::MpPublisher<T>>::publish(self, message);
            }
        }
    };
}

many!(AnnulusPublishers, Annulus, ours);
many!(PhotonRingPublishers, PhotonRing, photon_ring);
