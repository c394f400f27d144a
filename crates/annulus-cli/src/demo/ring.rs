//! The broadcast ring of a run: lossy, or lossless.

use annulus::CapacityError;
use annulus::broadcast::{Builder, Lossless, Lossy, Mode, Publisher, Subscribable, Subscriber};

use super::quote::Quote;

/// The publisher of a run, and what makes its subscribers.
pub(super) type Ends<M> = (Publisher<Quote, M>, Subscribable<Quote, M>);

/// What the demo does with a ring of either mode.
pub(super) trait Ring: Mode + Sized {
    /// A ring of so many slots.
    ///
    /// # Errors
    ///
    /// There can be none.
    fn make(capacity: usize) -> Result<Ends<Self>, CapacityError>;

    /// A subscriber for what is published from now on.
    fn subscribe(subscribable: &Subscribable<Quote, Self>) -> Subscriber<Quote, Self>;

    /// Publishes `quote`, and says whether anybody can still receive.
    fn publish(publisher: &mut Publisher<Quote, Self>, quote: Quote) -> bool;
}

impl Ring for Lossy {
    fn make(capacity: usize) -> Result<Ends<Self>, CapacityError> {
        Builder::new(capacity).lossy()
    }

    fn subscribe(subscribable: &Subscribable<Quote>) -> Subscriber<Quote> {
        subscribable.subscribe()
    }

    #[inline]
    fn publish(publisher: &mut Publisher<Quote>, quote: Quote) -> bool {
        publisher.publish(quote);
        true
    }
}

impl Ring for Lossless {
    fn make(capacity: usize) -> Result<Ends<Self>, CapacityError> {
        Builder::new(capacity).lossless()
    }

    fn subscribe(subscribable: &Subscribable<Quote, Self>) -> Subscriber<Quote, Self> {
        subscribable.subscribe()
    }

    #[inline]
    fn publish(publisher: &mut Publisher<Quote, Self>, quote: Quote) -> bool {
        publisher.publish(quote).is_ok()
    }
}
