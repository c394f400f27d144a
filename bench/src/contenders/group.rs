//! One subscriber for ten consumers.

use super::{Annulus, Contender, Named, Payload, Subscriber};

/// Consumers in a group.
pub const GROUP: usize = 10;

pub struct AnnulusGroup;

impl Named for AnnulusGroup {
    const NAME: &'static str = Annulus::NAME;
}

impl Contender for AnnulusGroup {
    type Publisher<T: Payload> = annulus::Publisher<T>;
    type Subscriber<T: Payload> = annulus::SubscriberGroup<T, GROUP>;

    fn channel<T: Payload>(capacity: usize) -> (Self::Publisher<T>, Self::Subscriber<T>) {
        let (publisher, subscribable) = annulus::channel(capacity);
        (publisher, subscribable.subscribe_group())
    }
}

impl<T: Payload> Subscriber<T> for annulus::SubscriberGroup<T, GROUP> {
    type Error = annulus::TryRecvError;

    #[inline(always)]
    fn try_recv(&mut self) -> Result<T, Self::Error> {
        annulus::SubscriberGroup::try_recv(self)
    }

    #[inline(always)]
    fn cursor(&self) -> u64 {
        annulus::SubscriberGroup::cursor(self, 0)
    }

    fn total_lagged(&self) -> u64 {
        annulus::SubscriberGroup::total_lagged(self, 0)
    }
}
