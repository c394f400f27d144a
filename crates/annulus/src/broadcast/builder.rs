//! [`Builder`]: makes broadcast rings.

use super::event::reset::Reset;
use super::event::{EventPublisher, EventSubscribable, MpEventPublisher};
use super::handle::first_two;
use super::shared::Shared;
use super::{Lossless, Lossy, MpPublisher, Publisher, Subscribable};
use crate::error::CapacityError;
use crate::message::Message;
use crate::ring::{Copied, MIN_CAPACITY, Owned, Ring, Strided, Writers};
use crate::sequence::Sequence;
use crate::sync::mutated;
use crate::wait::WaitStrategy;

/// Settings of a broadcast ring, and the verbs that make one.
///
/// The verbs are [`lossy`](Self::lossy), [`lossless`](Self::lossless), [`mp_lossy`](Self::mp_lossy),
/// [`mp_lossless`](Self::mp_lossless), [`events`](Self::events) and [`mp_events`](Self::mp_events). The
/// functions [`broadcast::lossy`](fn@super::lossy), [`event::channel`](crate::event::channel) and so on are
/// short forms, which panic instead of returning an error.
///
/// # Errors
///
/// Each verb that makes a ring returns a [`CapacityError`]: `TooSmall` below 2 slots, `TooLarge` if memory
/// has no room for the ring, `Headroom` if the headroom leaves no slot for messages, `LossyHeadroom` if a
/// lossy ring is to have one.
///
/// # Examples
///
/// ```
/// use annulus::{CapacityError, broadcast::Builder};
///
/// let (mut publisher, subscribable) = Builder::new(64).headroom(16).lossless::<u64>()?;
/// let subscriber = subscribable.subscribe();
/// for number in 0..48 {
///     publisher.try_publish(number).unwrap();
/// }
/// assert!(publisher.try_publish(48).unwrap_err().is_full());
///
/// let error = Builder::new(1).lossy::<u64>().unwrap_err();
/// assert_eq!(error, CapacityError::TooSmall { capacity: 1, minimum: 2 });
/// assert_eq!(error.to_string(), "capacity 1 is too small: this ring needs at least 2 slots");
/// # Ok::<(), CapacityError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Builder {
    capacity: usize,
    headroom: usize,
    strategy: WaitStrategy,
    first: u64,
}

/// A ring's two sides, before they are dressed.
type FirstHandles<S> =
    (super::handle::Handle<S, super::handle::Publishing>, super::handle::Handle<S, super::handle::Inviting>);

impl Builder {
    /// A ring of exactly `capacity` slots. Any number from 2 up is allowed; none is rounded.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { capacity, headroom: 0, strategy: WaitStrategy::default(), first: 0 }
    }

    /// How handles wait where a verb does not say.
    #[cfg(any(feature = "std", feature = "async"))]
    pub(crate) fn strategy(&self) -> WaitStrategy {
        self.strategy
    }

    /// The same with another capacity.
    pub(crate) fn with_capacity(self, capacity: usize) -> Self {
        Self { capacity, ..self }
    }

    /// How many slots of a lossless ring are kept free of messages that a subscriber still needs. 0 by
    /// default; must be smaller than the capacity.
    ///
    /// The publisher waits while its slowest subscriber is `capacity − headroom` messages behind. So it waits
    /// earlier, and the ring keeps more old messages for [taps](Subscribable::subscribe_lossy), and for
    /// subscribers that join at the oldest message.
    #[doc(alias = "watermark")]
    #[must_use]
    pub fn headroom(self, slots: usize) -> Self {
        Self { headroom: slots, ..self }
    }

    /// How the handles of this ring wait. Verbs that end in `_by` use the strategy of their argument instead.
    /// Without this setting it is [`WaitStrategy::default`].
    ///
    /// ```
    /// use annulus::{WaitStrategy, broadcast::Builder};
    ///
    /// let (mut publisher, subscribable) = Builder::new(64).wait_strategy(WaitStrategy::BusySpin).lossy()?;
    /// let mut subscriber = subscribable.subscribe();
    /// let reader = std::thread::spawn(move || subscriber.recv()); // spins
    /// publisher.publish(7);
    /// assert_eq!(reader.join().unwrap(), Ok(7));
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[must_use]
    pub fn wait_strategy(self, strategy: WaitStrategy) -> Self {
        let strategy = if mutated!("builder_strategy_unheard") { self.strategy } else { strategy };
        Self { strategy, ..self }
    }

    /// The number of the first message; tests begin shortly before the numbers wrap.
    #[doc(hidden)]
    #[must_use]
    pub fn first(self, first: u64) -> Self {
        Self { first, ..self }
    }

    /// A lossy ring for one publisher: see [`lossy`](fn@super::lossy).
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    #[doc(alias = "try_channel")]
    pub fn lossy<T: Message>(self) -> Result<(Publisher<T>, Subscribable<T>), CapacityError> {
        let (publisher, subscribable) = self.without_headroom()?.first_handles(Writers::One, Copied::new)?;
        Ok((Publisher::new(publisher), Subscribable::<_, Lossy>::new(subscribable)))
    }

    /// A lossless ring for one publisher: see [`lossless`](fn@super::lossless).
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    #[doc(alias = "try_channel_bounded")]
    #[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
    pub fn lossless<T: Message>(
        self,
    ) -> Result<(Publisher<T, Lossless>, Subscribable<T, Lossless>), CapacityError> {
        let (publisher, subscribable) = self.first_handles(Writers::One, Copied::new)?;
        Ok((Publisher::new(publisher), Subscribable::new(subscribable)))
    }

    /// A lossy ring for many publishers: see [`mp_lossy`](super::mp_lossy).
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    #[doc(alias = "try_channel_mpmc")]
    pub fn mp_lossy<T: Message>(self) -> Result<(MpPublisher<T>, Subscribable<T>), CapacityError> {
        let (publisher, subscribable) = self.without_headroom()?.first_handles(Writers::Many, Copied::new)?;
        Ok((MpPublisher::new(publisher), Subscribable::new(subscribable)))
    }

    /// A lossless ring for many publishers: see [`mp_lossless`](super::mp_lossless).
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    #[doc(alias = "try_channel_mpmc_bounded")]
    #[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
    pub fn mp_lossless<T: Message>(
        self,
    ) -> Result<(MpPublisher<T, Lossless>, Subscribable<T, Lossless>), CapacityError> {
        let (publisher, subscribable) = self.first_handles(Writers::Many, Copied::new)?;
        Ok((MpPublisher::new(publisher), Subscribable::new(subscribable)))
    }

    /// A ring of owned events for one publisher: see [`event::channel`](crate::event::channel).
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    #[doc(alias = "try_event_channel")]
    pub fn events<T: Send + Sync>(
        self,
        factory: impl FnMut() -> T,
    ) -> Result<(EventPublisher<T>, EventSubscribable<T>), CapacityError> {
        self.events_that(factory, ())
    }

    /// A ring of owned events for one publisher. `reset` empties each event before a closure gets it: see
    /// [`event::channel_with_reset`](crate::event::channel_with_reset).
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    #[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
    pub fn events_with_reset<T: Send + Sync>(
        self,
        factory: impl FnMut() -> T,
        reset: fn(&mut T),
    ) -> Result<(EventPublisher<T, fn(&mut T)>, EventSubscribable<T>), CapacityError> {
        self.events_that(factory, reset)
    }

    /// A ring of owned events for many publishers: see [`event::mp_channel`](crate::event::mp_channel).
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    #[doc(alias = "try_event_channel_mpmc")]
    pub fn mp_events<T: Send + Sync>(
        self,
        factory: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<(MpEventPublisher<T>, EventSubscribable<T>), CapacityError> {
        self.mp_events_that(factory, ())
    }

    /// A ring of owned events for many publishers. `reset` empties each event before a closure gets it: see
    /// [`event::mp_channel_with_reset`](crate::event::mp_channel_with_reset).
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    #[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
    pub fn mp_events_with_reset<T: Send + Sync>(
        self,
        factory: impl Fn() -> T + Send + Sync + 'static,
        reset: fn(&mut T),
    ) -> Result<(MpEventPublisher<T, fn(&mut T)>, EventSubscribable<T>), CapacityError> {
        self.mp_events_that(factory, reset)
    }

    #[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
    fn events_that<T: Send + Sync, R: Reset<T>>(
        self,
        factory: impl FnMut() -> T,
        reset: R,
    ) -> Result<(EventPublisher<T, R>, EventSubscribable<T>), CapacityError> {
        let (publisher, subscribable) =
            self.first_handles(Writers::One, |capacity, _| Owned::new(capacity, factory))?;
        Ok((EventPublisher::new(publisher, reset), EventSubscribable::new(subscribable)))
    }

    #[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
    fn mp_events_that<T: Send + Sync, R: Reset<T>>(
        self,
        factory: impl Fn() -> T + Send + Sync + 'static,
        reset: R,
    ) -> Result<(MpEventPublisher<T, R>, EventSubscribable<T>), CapacityError> {
        let (publisher, subscribable) =
            self.first_handles(Writers::Many, |capacity, _| Owned::new(capacity, &factory))?;
        Ok((
            MpEventPublisher::new(publisher, alloc::sync::Arc::new(factory), reset),
            EventSubscribable::new(subscribable),
        ))
    }

    /// Where nobody waits, free slots are no use, and who asks for them has taken the wrong ring.
    fn without_headroom(self) -> Result<Self, CapacityError> {
        match self.headroom {
            0 => Ok(self),
            headroom => Err(CapacityError::LossyHeadroom { headroom }),
        }
    }

    fn first_handles<S: Strided>(
        self,
        writers: Writers,
        make: impl FnOnce(usize, usize) -> Result<S, CapacityError>,
    ) -> Result<FirstHandles<S>, CapacityError> {
        let Self { capacity, headroom, strategy, first } = self;
        if first > Sequence::LAST_FIRST.get() {
            return Err(CapacityError::FirstSequence { first, largest: Sequence::LAST_FIRST.get() });
        }
        // Before the headroom: of a ring that can't be, no headroom is right.
        if capacity < MIN_CAPACITY && !mutated!("headroom_before_capacity") {
            return Err(CapacityError::TooSmall { capacity, minimum: MIN_CAPACITY });
        }
        if headroom >= capacity {
            return Err(CapacityError::Headroom { headroom, capacity });
        }
        let ring = Ring::new(capacity, Sequence::new(first), writers, make)?;
        Ok(first_two(Shared::new(ring, headroom, strategy)))
    }
}
