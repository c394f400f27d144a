//! [`Builder`]: makes broadcast rings. [`lossy`](fn@lossy) and the like are its short forms, which panic
//! instead of returning an error.

use alloc::borrow::Cow;

use super::event;
use super::handle::first_two;
#[cfg(feature = "shm")]
use super::ring_state::Elsewhere;
use super::ring_state::{RingParts, RingState};
use super::{Lossless, Lossy, MpPublisher, Publisher, Subscribable};
#[cfg(feature = "shm")]
use crate::base::common::Common;
use crate::base::sequence::Sequence;
use crate::error::CapacityError;
use crate::memory::Memory;
use crate::message::Message;
use crate::ring::{Copied, MIN_CAPACITY, Mirror, OwnPlace, Owned, Strided, Writers};
use crate::stats::{Counters, Name};
use crate::sync::seeded;
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
    memory: Memory,
    first: u64,
    statistics: bool,
    name: Option<&'static str>,
}

/// A ring's two sides, before they are dressed.
type FirstHandles<S> = (
    super::handle::Handle<S, super::handle::Publishing>,
    super::handle::Handle<S, super::handle::SubscribableRole>,
);

impl Builder {
    /// A ring of exactly `capacity` slots. Any number from 2 up is allowed; none is rounded.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self {
            capacity,
            headroom: 0,
            strategy: WaitStrategy::default(),
            memory: Memory::default(),
            first: 0,
            statistics: false,
            name: None,
        }
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
        let strategy = if seeded!("builder_strategy_unheard") { self.strategy } else { strategy };
        Self { strategy, ..self }
    }

    /// What the memory of the slots is to be like: see [`memory`](crate::memory). Without this setting they
    /// come from the global allocator.
    ///
    /// Each verb that makes a ring returns [`CapacityError::Memory`] if a required option can't be met.
    ///
    /// ```
    /// use annulus::memory::Memory;
    /// use annulus::broadcast::Builder;
    ///
    /// let memory = Memory::prefer().prefault().lock();
    /// let (publisher, _subscribable) = Builder::new(1024).memory(memory).lossy::<u64>()?;
    /// println!("{}", publisher.placement());
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn memory(self, memory: Memory) -> Self {
        let memory = if seeded!("builder_memory_unheard") { self.memory } else { memory };
        Self { memory, ..self }
    }

    /// Counts what happens rarely ([`Stats::counted`](crate::Stats::counted)). All other numbers need no such
    /// setting. Off by default. When it is off, it costs one look at a constant whenever a thread sleeps,
    /// wakes others, comes to its limit, or was lapped.
    ///
    /// ```
    /// use annulus::broadcast::Builder;
    ///
    /// let (mut publisher, subscribable) = Builder::new(4).statistics(true).lossy()?;
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3, 4, 5, 6]);
    /// assert_eq!(subscriber.recv(), Ok(3));
    /// assert_eq!(publisher.stats().counted.unwrap().lagged, 2);
    /// # Ok::<(), annulus::CapacityError>(())
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    #[must_use]
    pub fn statistics(self, on: bool) -> Self {
        Self { statistics: on, ..self }
    }

    /// Gives the ring a name, which its [`Stats`](crate::Stats) have. A ring with a name is in the list of
    /// `Observers`, and can be exported (feature `metrics`): by the name, once
    /// `metrics::export` was called for it.
    #[must_use]
    pub fn named(self, name: &'static str) -> Self {
        Self { name: Some(name), ..self }
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
        self.lossy_called(self.name())
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
        self.lossless_called(self.name())
    }

    /// A lossy ring for many publishers: see [`mp_lossy`].
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    #[doc(alias = "try_channel_mpmc")]
    #[doc(alias = "mpmc")]
    pub fn mp_lossy<T: Message>(self) -> Result<(MpPublisher<T>, Subscribable<T>), CapacityError> {
        self.mp_lossy_called(self.name())
    }

    /// A lossless ring for many publishers: see [`mp_lossless`].
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    #[doc(alias = "try_channel_mpmc_bounded")]
    #[doc(alias = "mpmc_lossless")]
    #[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
    pub fn mp_lossless<T: Message>(
        self,
    ) -> Result<(MpPublisher<T, Lossless>, Subscribable<T, Lossless>), CapacityError> {
        self.mp_lossless_called(self.name())
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
    ) -> Result<(event::Publisher<T>, event::Subscribable<T>), CapacityError> {
        let (publisher, subscribable) = self.made_of(self.event_parts(Writers::One, factory)?, self.name());
        Ok((event::Publisher::new(publisher), event::Subscribable::new(subscribable)))
    }

    /// A ring of owned events for many publishers: see [`event::mp_channel`](crate::event::mp_channel).
    ///
    /// # Errors
    ///
    /// [`CapacityError`].
    #[doc(alias = "try_event_channel_mpmc")]
    #[doc(alias = "mpmc_events")]
    pub fn mp_events<T: Send + Sync>(
        self,
        factory: impl Fn() -> T + Send + Sync + 'static,
    ) -> Result<(event::MpPublisher<T>, event::Subscribable<T>), CapacityError> {
        let (publisher, subscribable) = self.made_of(self.event_parts(Writers::Many, &factory)?, self.name());
        let publisher = event::MpPublisher::new(publisher, alloc::sync::Arc::new(factory));
        Ok((publisher, event::Subscribable::new(subscribable)))
    }

    /// What the ring is called, if somebody has said so.
    #[inline(always)]
    fn name(&self) -> Name {
        self.name.map(Cow::Borrowed)
    }

    /// The same, and `topic` otherwise.
    // Decision 0101: so that a topic can be exported.
    pub(crate) fn name_or(&self, topic: &str) -> Name {
        self.name().or_else(|| Some(Cow::Owned(topic.into())))
    }

    /// As [`lossy`](Self::lossy), by this name.
    #[inline]
    pub(crate) fn lossy_called<T: Message>(
        self,
        name: Name,
    ) -> Result<(Publisher<T>, Subscribable<T>), CapacityError> {
        let (publisher, subscribable) = self.made_of(self.lossy_parts(Writers::One)?, name);
        Ok((Publisher::new(publisher), Subscribable::<_, Lossy>::new(subscribable)))
    }

    /// As [`lossless`](Self::lossless), by this name.
    #[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
    #[inline]
    pub(crate) fn lossless_called<T: Message>(
        self,
        name: Name,
    ) -> Result<(Publisher<T, Lossless>, Subscribable<T, Lossless>), CapacityError> {
        let (publisher, subscribable) = self.made_of(self.parts(Writers::One)?, name);
        Ok((Publisher::new(publisher), Subscribable::new(subscribable)))
    }

    /// As [`mp_lossy`](Self::mp_lossy), by this name.
    pub(crate) fn mp_lossy_called<T: Message>(
        self,
        name: Name,
    ) -> Result<(MpPublisher<T>, Subscribable<T>), CapacityError> {
        let (parts, claims) = self.claimant_parts()?;
        let (publisher, subscribable) = self.made_of(parts, name);
        Ok((MpPublisher::new(publisher, claims), Subscribable::new(subscribable)))
    }

    /// As [`mp_lossless`](Self::mp_lossless), by this name.
    #[allow(clippy::type_complexity, reason = "a publisher and what makes subscribers")]
    pub(crate) fn mp_lossless_called<T: Message>(
        self,
        name: Name,
    ) -> Result<(MpPublisher<T, Lossless>, Subscribable<T, Lossless>), CapacityError> {
        let (publisher, subscribable) = self.made_of(self.parts(Writers::Many)?, name);
        Ok((MpPublisher::new(publisher, ()), Subscribable::new(subscribable)))
    }

    /// How many slots there are to be.
    #[cfg(feature = "shm")]
    pub(crate) fn slots(&self) -> usize {
        self.capacity
    }

    /// How many of them are to stay free.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn free_slots(&self) -> usize {
        self.headroom
    }

    /// What the memory of the slots is to be like.
    pub(crate) fn memory_options(&self) -> Memory {
        self.memory
    }

    /// Where no publisher waits, free slots are no use, and a caller that asks for them has taken the wrong
    /// ring.
    #[inline(always)]
    fn without_headroom(&self) -> Result<(), CapacityError> {
        match self.headroom {
            0 => Ok(()),
            headroom => Err(CapacityError::LossyHeadroom { headroom }),
        }
    }

    /// A ring whose slots `make` makes, and which other processes have, too. A lossless one, if there is a
    /// gate elsewhere.
    #[cfg(feature = "shm")]
    pub(super) fn shared_with<S: Strided, const SHARES: usize>(
        self,
        elsewhere: Elsewhere,
        make: impl FnOnce(usize, Sequence) -> Result<RingParts<S>, CapacityError>,
    ) -> Result<[Common<RingState<S>>; SHARES], CapacityError> {
        if elsewhere.gate.is_some() {
            self.check_headroom()?;
        } else {
            self.without_headroom()?;
        }
        let ring = make(self.capacity, self.first_sequence()?)?;
        let counters = Counters::new(self.statistics);
        let name = self.name.map(Into::into);
        Ok(RingState::across(ring, self.headroom, elsewhere, self.strategy, counters, name))
    }

    /// Some slots are left for messages.
    #[inline(always)]
    fn check_headroom(&self) -> Result<(), CapacityError> {
        let Self { capacity, headroom, .. } = *self;
        // Before the headroom: of a ring that can't be, no headroom is right.
        if capacity < MIN_CAPACITY {
            return Err(CapacityError::TooSmall { capacity, minimum: MIN_CAPACITY });
        }
        if headroom >= capacity {
            return Err(CapacityError::Headroom { headroom, capacity });
        }
        Ok(())
    }

    /// The number of the first message.
    #[inline(always)]
    pub(crate) fn first_sequence(&self) -> Result<Sequence, CapacityError> {
        let (first, largest) = (self.first, Sequence::LAST_FIRST.get());
        if first > largest {
            Err(CapacityError::FirstSequence { first, largest })
        } else {
            Ok(Sequence::new(first))
        }
    }

    /// The parts of a ring of copied messages, where publishers wait for nobody.
    #[inline(always)]
    pub(super) fn lossy_parts<T: Message>(
        &self,
        writers: Writers,
    ) -> Result<RingParts<Copied<T>>, CapacityError> {
        self.without_headroom()?;
        self.parts(writers)
    }

    /// The parts of a lossy ring of copied messages for many publishers, and the place of the first of them.
    #[allow(clippy::type_complexity, reason = "the parts of a ring, and a place")]
    pub(super) fn claimant_parts<T: Message>(
        &self,
    ) -> Result<(RingParts<Copied<T>>, OwnPlace), CapacityError> {
        let parts = self.lossy_parts(Writers::Claimants)?;
        // SAFETY: the slots are of the ring, and only its handles use the claims.
        let first = unsafe { OwnPlace::first_of(parts.words(), parts.first()) };
        let claims = first.shared_claims();
        Ok((parts.mirrored(Mirror::Shares(claims)), first))
    }

    /// The parts of a ring of copied messages.
    #[inline(always)]
    pub(super) fn parts<T: Message>(&self, writers: Writers) -> Result<RingParts<Copied<T>>, CapacityError> {
        let first = self.checked()?;
        let stride = Copied::<T>::stride(writers);
        let slots = Copied::new(self.capacity, stride, &self.memory, RingState::<Copied<T>>::BEFORE)?;
        Ok(RingParts::new(self.capacity, first, (writers, stride), slots))
    }

    /// The parts of a ring of events.
    fn event_parts<T>(
        &self,
        writers: Writers,
        factory: impl FnMut() -> T,
    ) -> Result<RingParts<Owned<T>>, CapacityError> {
        let first = self.checked()?;
        let slots = Owned::new(self.capacity, &self.memory, RingState::<Owned<T>>::BEFORE, factory)?;
        Ok(RingParts::new(self.capacity, first, (writers, Owned::<T>::stride(writers)), slots))
    }

    /// The number of the first message of a ring that there can be.
    #[inline(always)]
    fn checked(&self) -> Result<Sequence, CapacityError> {
        let first = self.first_sequence()?;
        self.check_headroom()?;
        Ok(first)
    }

    /// The ring of these parts. Nothing can fail here, so all is made where it is to be.
    #[inline(always)]
    pub(super) fn made_of<S: Strided + Send + Sync>(
        self,
        parts: RingParts<S>,
        name: Name,
    ) -> FirstHandles<S> {
        let counters = Counters::new(self.statistics);
        first_two(RingState::made(parts, self.headroom, self.strategy, counters, name))
    }
}

/// The ends of a ring, or a panic that names the constructor.
#[track_caller]
pub(crate) fn ends_of<E>(name: &str, ends: Result<E, CapacityError>) -> E {
    ends.unwrap_or_else(|error| panic!("annulus::{name}: {error}"))
}

/// Makes a lossy broadcast ring of `capacity` slots: one publisher, any number of subscribers, and every
/// subscriber sees every message.
///
/// The publisher never waits. A subscriber that falls more than `capacity` messages behind loses the oldest
/// messages, is told how many, and goes on with the oldest message that is still in the ring. `capacity` may
/// be any number from 2 up, and is not rounded. With a power of two, finding a slot takes one instruction
/// less.
///
/// This function allocates and touches the memory of the whole ring. Messages allocate nothing later. Of the
/// subscribers, only [stages and groups](crate::guide::limits#which-handles-allocate) allocate when they join. A slot takes
/// `size_of::<T>()` + 8 bytes, rounded up to a power of two (up to 64 bytes) or to a multiple of 64 (above).
/// A message of 256 bytes or more begins on a cache line of its own: its slot takes 64 bytes and the message,
/// rounded up to a multiple of 64.
///
/// The ring belongs to this process: see the [limits](crate::guide::limits#what-does-not-hold) on `fork()`. If it is the
/// first one, and the process has more threads, `prepare` says what the first sleeps cost.
///
/// # Panics
///
/// If `capacity` is below 2, or memory has no room for the ring. [`Builder::lossy`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::broadcast;
///
/// let (mut publisher, subscribable) = broadcast::lossy::<u64>(1024);
/// let mut first = subscribable.subscribe();
/// let mut second = subscribable.subscribe();
///
/// publisher.publish(42);
///
/// assert_eq!(first.recv(), Ok(42));
/// assert_eq!(second.recv(), Ok(42));
/// ```
#[doc(alias = "force_push")]
#[doc(alias = "channel")]
#[must_use]
#[track_caller]
pub fn lossy<T: Message>(capacity: usize) -> (Publisher<T>, Subscribable<T>) {
    let builder = Builder::new(capacity);
    let parts = ends_of("broadcast::lossy", builder.lossy_parts(Writers::One));
    let (publisher, subscribable) = builder.made_of(parts, None);
    (Publisher::new(publisher), Subscribable::new(subscribable))
}

/// Makes a lossless broadcast ring of `capacity` slots: one publisher, any number of subscribers, and nobody
/// loses a message.
///
/// The publisher waits while its slowest subscriber is `capacity` messages behind. ([`Builder::headroom`]
/// makes it wait earlier.) Subscribers join and leave at any time. The publisher does not wait for taps
/// ([`subscribe_lossy`](Subscribable::subscribe_lossy)).
///
/// *With no subscriber it never waits*: it takes any number of messages, and nobody receives them. (Half a
/// ring of them stays for [`subscribe_from_oldest`](Subscribable::subscribe_from_oldest).) So subscribe
/// before you publish, or let the publisher wait:
/// [`wait_for_subscribers`](Publisher::wait_for_subscribers).
///
/// The publisher waits for every subscriber that was not dropped. A subscriber that was forgotten
/// (`mem::forget`), or whose thread is not in this process after a `fork()`, holds it up for ever.
///
/// The memory of the ring is allocated as by [`lossy`](fn@lossy). A subscriber that joins also allocates a
/// place for its cursor, unless one is free. Places are used again.
///
/// # Panics
///
/// Like [`lossy`](fn@lossy). [`Builder::lossless`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::broadcast;
///
/// let (mut publisher, subscribable) = broadcast::lossless::<u64>(2);
/// let mut subscriber = subscribable.subscribe();
/// assert!(publisher.try_publish(1).is_ok());
/// assert!(publisher.try_publish(2).is_ok());
/// assert!(publisher.try_publish(3).is_err(), "full");
/// assert_eq!(subscriber.recv(), Ok(1));
/// assert!(publisher.try_publish(3).is_ok());
/// ```
#[doc(alias = "channel_bounded")]
#[must_use]
#[track_caller]
pub fn lossless<T: Message>(capacity: usize) -> (Publisher<T, Lossless>, Subscribable<T, Lossless>) {
    let builder = Builder::new(capacity);
    let parts = ends_of("broadcast::lossless", builder.parts(Writers::One));
    let (publisher, subscribable) = builder.made_of(parts, None);
    (Publisher::new(publisher), Subscribable::new(subscribable))
}

/// Makes a lossy broadcast ring of `capacity` slots for any number of publishers.
///
/// Like [`lossy`](fn@lossy), but the publisher is `Clone`, and all subscribers see all messages in one order.
/// Each message takes one compare-exchange more. No publisher waits for another one, also not for one that is
/// stopped in the middle of a write: see [`MpPublisher`].
///
/// A publisher has a place, in 128 bytes, which is allocated when there are more publishers than ever before.
///
/// # Panics
///
/// Like [`lossy`](fn@lossy). [`Builder::mp_lossy`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::broadcast;
///
/// let (mut publisher, subscribable) = broadcast::mp_lossy::<u64>(64);
/// let mut subscriber = subscribable.subscribe();
/// let mut other = publisher.clone();
/// std::thread::spawn(move || other.publish(1)).join().unwrap();
/// publisher.publish(2);
/// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2]);
/// ```
#[doc(alias = "channel_mpmc")]
#[must_use]
#[track_caller]
pub fn mp_lossy<T: Message>(capacity: usize) -> (MpPublisher<T>, Subscribable<T>) {
    let builder = Builder::new(capacity);
    let (parts, claims) = ends_of("broadcast::mp_lossy", builder.claimant_parts());
    let (publisher, subscribable) = builder.made_of(parts, None);
    (MpPublisher::new(publisher, claims), Subscribable::new(subscribable))
}

/// Makes a lossless broadcast ring of `capacity` slots for any number of publishers.
///
/// Like [`lossless`](fn@lossless), but the publisher is `Clone + Send + Sync`, and all subscribers see all
/// messages in one order.
///
/// # Panics
///
/// Like [`lossy`](fn@lossy). [`Builder::mp_lossless`] returns an error instead.
///
/// # Examples
///
/// ```
/// use annulus::broadcast;
///
/// let (publisher, subscribable) = broadcast::mp_lossless::<u64>(2);
/// let mut subscriber = subscribable.subscribe();
/// publisher.publish(1)?;
/// publisher.clone().publish(2)?;
/// assert!(publisher.try_publish(3).is_err(), "full");
/// assert_eq!(subscriber.try_iter().collect::<Vec<_>>(), [1, 2]);
/// # Ok::<(), annulus::SendError<u64>>(())
/// ```
#[doc(alias = "channel_mpmc_bounded")]
#[must_use]
#[track_caller]
pub fn mp_lossless<T: Message>(capacity: usize) -> (MpPublisher<T, Lossless>, Subscribable<T, Lossless>) {
    let builder = Builder::new(capacity);
    let parts = ends_of("broadcast::mp_lossless", builder.parts(Writers::Many));
    let (publisher, subscribable) = builder.made_of(parts, None);
    (MpPublisher::new(publisher, ()), Subscribable::new(subscribable))
}
