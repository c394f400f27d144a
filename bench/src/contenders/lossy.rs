//! One publisher that waits for nobody.

use super::{Contender, Named, Payload, Publisher, Subscriber, ours};

/// Both crates call the same things by the same names; this writes the adapter for each.
macro_rules! contender {
    ($contender:ident, $package:literal, $library:ident) => {
        pub struct $contender;

        impl Named for $contender {
            const NAME: &'static str = $package;
        }

        impl Contender for $contender {
            type Publisher<T: Payload> = $library::Publisher<T>;
            type Subscriber<T: Payload> = $library::Subscriber<T>;

            fn channel<T: Payload>(capacity: usize) -> (Self::Publisher<T>, Self::Subscriber<T>) {
                let (publisher, subscribable) = $library::channel(capacity);
                (publisher, subscribable.subscribe())
            }
        }

        impl<T: Payload> Publisher<T> for $library::Publisher<T> {
            #[inline(always)]
            fn publish(&mut self, message: T) {
                <$library::Publisher<T>>::publish(self, message);
            }
        }

        impl<T: Payload> Subscriber<T> for $library::Subscriber<T> {
            type Error = $library::TryRecvError;

            #[inline(always)]
            fn try_recv(&mut self) -> Result<T, Self::Error> {
                $library::Subscriber::try_recv(self)
            }

            #[inline(always)]
            fn cursor(&self) -> u64 {
                $library::Subscriber::cursor(self)
            }

            fn total_lagged(&self) -> u64 {
                $library::Subscriber::total_lagged(self)
            }
        }
    };
}

contender!(Annulus, "annulus", ours);
contender!(PhotonRing, "photon-ring", photon_ring);
