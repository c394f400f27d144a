//! [`Builder`]: the one place where rings are made.

use super::event::{EventPublisher, EventSubscribable, MpEventPublisher};
use super::handle::first_two;
use super::shared::Shared;
use super::{Lossless, Lossy, MpPublisher, Publisher, Subscribable};
use crate::error::CapacityError;
use crate::message::Message;
use crate::ring::{Copied, MIN_CAPACITY, Owned, Ring, Sequence, Store, Writers};
use crate::sync::mutated;

/// How a ring is to be. The public constructors are short forms of it.
///
/// Not part of the API: the conformance suite begins its rings near the end of the sequence space by it.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    capacity: usize,
    watermark: usize,
    first: u64,
}

/// A ring's two sides, before they are dressed.
type Sides<S> =
    (super::handle::Handle<S, super::handle::Publishing>, super::handle::Handle<S, super::handle::Receiving>);

#[doc(hidden)]
impl Builder {
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity, watermark: 0, first: 0 }
    }

    #[must_use]
    pub fn watermark(self, watermark: usize) -> Self {
        Self { watermark, ..self }
    }

    /// The number of the first message.
    #[must_use]
    pub fn first(self, first: u64) -> Self {
        Self { first, ..self }
    }

    pub fn lossy<T: Message>(self) -> Result<(Publisher<T>, Subscribable<T>), CapacityError> {
        let (publisher, subscribable) = self.sides(Writers::One, Copied::new)?;
        Ok((Publisher::new(publisher), Subscribable::<_, Lossy>::new(subscribable)))
    }

    #[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
    pub fn lossless<T: Message>(
        self,
    ) -> Result<(Publisher<T, Lossless>, Subscribable<T, Lossless>), CapacityError> {
        let (publisher, subscribable) = self.sides(Writers::One, Copied::new)?;
        Ok((Publisher::new(publisher), Subscribable::new(subscribable)))
    }

    pub fn mpmc<T: Message>(self) -> Result<(MpPublisher<T>, Subscribable<T>), CapacityError> {
        let (publisher, subscribable) = self.sides(Writers::Many, Copied::new)?;
        Ok((MpPublisher::new(publisher), Subscribable::new(subscribable)))
    }

    #[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
    pub fn mpmc_lossless<T: Message>(
        self,
    ) -> Result<(MpPublisher<T, Lossless>, Subscribable<T, Lossless>), CapacityError> {
        let (publisher, subscribable) = self.sides(Writers::Many, Copied::new)?;
        Ok((MpPublisher::new(publisher), Subscribable::new(subscribable)))
    }

    pub fn events<T: Send + Sync>(
        self,
        factory: impl FnMut() -> T,
    ) -> Result<(EventPublisher<T>, EventSubscribable<T>), CapacityError> {
        let (publisher, subscribable) =
            self.sides(Writers::One, |capacity, _| Owned::new(capacity, factory))?;
        Ok((EventPublisher::new(publisher), EventSubscribable::new(subscribable)))
    }

    pub fn mpmc_events<T: Send + Sync>(
        self,
        factory: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<(MpEventPublisher<T>, EventSubscribable<T>), CapacityError> {
        let (publisher, subscribable) =
            self.sides(Writers::Many, |capacity, _| Owned::new(capacity, &factory))?;
        Ok((
            MpEventPublisher::new(publisher, alloc::sync::Arc::new(factory)),
            EventSubscribable::new(subscribable),
        ))
    }

    fn sides<S: Store>(
        self,
        writers: Writers,
        make: impl FnOnce(usize, usize) -> Result<S, CapacityError>,
    ) -> Result<Sides<S>, CapacityError> {
        let Self { capacity, watermark, first } = self;
        if first > Sequence::LAST_FIRST.get() {
            return Err(CapacityError::FirstSequence { first, largest: Sequence::LAST_FIRST.get() });
        }
        // Before the watermark: of a ring that can't be, no watermark is right.
        if capacity < MIN_CAPACITY && !mutated!("watermark_before_capacity") {
            return Err(CapacityError::TooSmall { capacity, minimum: MIN_CAPACITY });
        }
        if watermark >= capacity {
            return Err(CapacityError::Watermark { watermark, capacity });
        }
        let ring = Ring::new(capacity, Sequence::new(first), writers, make)?;
        Ok(first_two(Shared::new(ring, watermark)))
    }
}
