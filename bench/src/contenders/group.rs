//! One subscriber for several consumers.

use super::{Annulus, Contender, Named, Payload, Subscriber};

pub struct AnnulusGroup<const CONSUMERS: usize>;

impl<const CONSUMERS: usize> Named for AnnulusGroup<CONSUMERS> {
    const NAME: &'static str = Annulus::NAME;
}

impl<const CONSUMERS: usize> Contender for AnnulusGroup<CONSUMERS> {
    type Publisher<T: Payload> = annulus::broadcast::Publisher<T>;
    type Subscriber<T: Payload> = annulus::broadcast::SubscriberGroup<T, CONSUMERS>;

    fn channel<T: Payload>(capacity: usize) -> (Self::Publisher<T>, Self::Subscriber<T>) {
        let (publisher, subscribable) = annulus::broadcast::lossy(capacity);
        (publisher, subscribable.subscribe_group())
    }
}

impl<T: Payload, const CONSUMERS: usize> Subscriber<T> for annulus::broadcast::SubscriberGroup<T, CONSUMERS> {
    type Error = annulus::TryRecvError;

    #[inline(always)]
    fn try_recv(&mut self) -> Result<T, Self::Error> {
        annulus::broadcast::SubscriberGroup::try_recv(self)
    }

    #[inline(always)]
    fn cursor(&self) -> u64 {
        annulus::broadcast::SubscriberGroup::cursor(self, 0)
    }

    fn total_lagged(&self) -> u64 {
        annulus::broadcast::SubscriberGroup::total_lagged(self, 0)
    }
}
