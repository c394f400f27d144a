//! Many publishers that wait for nobody. What they publish is received by the subscribers of `lossy`.

use annulus::WaitStrategy;

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

/// Whose publishers wait by `BackoffSpin`, or by `YieldSpin`, for the one that had a slot a lap before.
pub struct AnnulusPublishersBy<const BACKOFF: bool>;

#[derive(Clone)]
pub struct PublisherBy<T: Payload, const BACKOFF: bool>(annulus::broadcast::MpPublisher<T>);

impl<const BACKOFF: bool> Named for AnnulusPublishersBy<BACKOFF> {
    const NAME: &'static str = Annulus::NAME;
}

impl<const BACKOFF: bool> Contender for AnnulusPublishersBy<BACKOFF> {
    type Publisher<T: Payload> = PublisherBy<T, BACKOFF>;
    type Subscriber<T: Payload> = <Annulus as Contender>::Subscriber<T>;

    fn channel<T: Payload>(capacity: usize) -> (Self::Publisher<T>, Self::Subscriber<T>) {
        let (publisher, subscriber) = AnnulusPublishers::channel(capacity);
        (PublisherBy(publisher), subscriber)
    }
}

impl<T: Payload, const BACKOFF: bool> Publisher<T> for PublisherBy<T, BACKOFF> {
    #[inline(always)]
    fn publish(&mut self, message: T) {
        self.0.publish_by(message, if BACKOFF { WaitStrategy::BackoffSpin } else { WaitStrategy::YieldSpin });
    }
}
