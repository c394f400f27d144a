//! Several rings for one kind of message, one for each topic.

use std::array;

use super::{Annulus, Contender, Payload, PhotonRing, Tokio};

pub const TOPICS: usize = 4;

/// What a thread has of each topic.
pub type Ends<C, T> = [(<C as Contender>::Publisher<T>, <C as Contender>::Subscriber<T>); TOPICS];

pub trait Topics: Contender {
    fn topics<T: Payload>(capacity: usize) -> Ends<Self, T>
    where
        Self: Sized,
    {
        array::from_fn(|_| Self::channel(capacity))
    }
}

impl Topics for Annulus {}

impl Topics for Tokio {}

/// It has a map from names to rings.
impl Topics for PhotonRing {
    fn topics<T: Payload>(capacity: usize) -> Ends<Self, T> {
        let bus = photon_ring::Photon::new(capacity);
        ["AAPL", "MSFT", "GOOG", "NVDA"].map(|topic| (bus.publisher(topic), bus.subscribe(topic)))
    }
}
