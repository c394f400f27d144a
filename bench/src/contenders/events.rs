//! A publisher that waits for its readers, with messages changed and read where they lie.

use std::array;

use super::{Annulus, FanOut, Gated, Named, PhotonRing, Publisher, Reader, Waiting};

pub struct AnnulusEvents;

impl Named for AnnulusEvents {
    const NAME: &'static str = Annulus::NAME;
}

impl<const READERS: usize> Gated<READERS> for AnnulusEvents {}

impl<const READERS: usize> FanOut<READERS> for AnnulusEvents {
    type Publisher = annulus::event::Publisher<u64>;
    type Reader = annulus::event::Subscriber<u64>;

    fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
        let (publisher, subscribable) = annulus::event::channel(capacity, || 0);
        (publisher, array::from_fn(|_| subscribable.subscribe()))
    }
}

impl Publisher<u64> for annulus::event::Publisher<u64> {
    #[inline(always)]
    fn publish(&mut self, message: u64) {
        let published = self.publish(|event| *event = message);
        assert!(published.is_ok(), "the readers are there");
    }
}

impl Reader for annulus::event::Subscriber<u64> {
    #[inline(always)]
    fn poll(&mut self, mut receive: impl FnMut(u64)) -> bool {
        self.try_process(|event| receive(*event)).is_ok()
    }
}

/// By verbs that wait.
pub struct AnnulusEventsWaiting;

impl Named for AnnulusEventsWaiting {
    const NAME: &'static str = Annulus::NAME;
}

impl<const READERS: usize> Gated<READERS> for AnnulusEventsWaiting {}

impl<const READERS: usize> FanOut<READERS> for AnnulusEventsWaiting {
    type Publisher = annulus::event::Publisher<u64>;
    type Reader = Waiting<annulus::event::Subscriber<u64>>;

    fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
        let (publisher, readers) = AnnulusEvents::channel(capacity);
        (publisher, readers.map(Waiting))
    }
}

impl Reader for Waiting<annulus::event::Subscriber<u64>> {
    #[inline(always)]
    fn poll(&mut self, mut receive: impl FnMut(u64)) -> bool {
        self.0.process(|event| receive(*event)).is_ok()
    }
}

pub struct PhotonRingEvents;

impl Named for PhotonRingEvents {
    const NAME: &'static str = PhotonRing::NAME;
}

impl<const READERS: usize> Gated<READERS> for PhotonRingEvents {}

impl<const READERS: usize> FanOut<READERS> for PhotonRingEvents {
    type Publisher = photon_ring::EventPublisher<u64>;
    type Reader = photon_ring::EventSubscriber<u64>;

    fn channel(capacity: usize) -> (Self::Publisher, [Self::Reader; READERS]) {
        let (publisher, subscribable) = photon_ring::event_channel(capacity, || 0);
        (publisher, array::from_fn(|_| subscribable.subscribe()))
    }
}

impl Publisher<u64> for photon_ring::EventPublisher<u64> {
    #[inline(always)]
    fn publish(&mut self, message: u64) {
        self.publish(|event| *event = message);
    }
}

impl Reader for photon_ring::EventSubscriber<u64> {
    #[inline(always)]
    fn poll(&mut self, mut receive: impl FnMut(u64)) -> bool {
        self.process(|event| receive(*event)).is_some()
    }
}
