//! [`TopicBuilder`]: a topic with settings of its own.

use alloc::borrow::Cow;
use core::fmt;
use core::marker::PhantomData;

use super::Lossless;
use super::error::TopicError;
use super::kind::{Ends, Many, TopicRing};
use super::publisher::TopicPublisher;
use super::topics::{Request, RingSettings, Topics};
use crate::broadcast::{Lossy, Subscribable, SubscribableShare, Subscriber};
use crate::message::Message;
use crate::settings::Settings;
use crate::sync::seeded;
use crate::wait::WaitStrategy;

/// Asks a bus for handles of one topic, and says how the topic is to be made if it is not there; made by
/// [`Bus::topic`](super::Bus::topic) and [`TypedBus::topic`](super::TypedBus::topic). It begins with the
/// settings of the bus.
///
/// Of a topic that is there, the kind must be the one that is requested here. So must the capacity, if
/// [`capacity`](Self::capacity) is called. All other settings of such a topic stay as they are.
///
/// ```
/// use annulus::bus::{Bus, TopicError, TopicKind};
///
/// let bus = Bus::<u64>::new(1024);
/// let mut orders = bus.topic("orders").lossless().capacity(2).publisher()?;
/// let mut subscriber = bus.topic("orders").lossless().subscribe()?;
/// orders.publish(1).unwrap();
/// orders.publish(2).unwrap();
/// assert!(orders.try_publish(3).is_err(), "it waits for its subscriber");
/// assert_eq!(subscriber.recv(), Ok(1));
///
/// // Another kind is refused, with the reason.
/// let error = bus.try_subscribe("orders").unwrap_err();
/// assert_eq!(
///     error.to_string(),
///     "topic \"orders\" is lossless, with one publisher, and was requested to be lossy, with one publisher"
/// );
/// # Ok::<(), TopicError>(())
/// ```
#[must_use = "a topic is made when a handle of it is requested"]
pub struct TopicBuilder<'b, T, K: TopicRing = Lossy> {
    topics: &'b Topics,
    request: Request<'b>,
    types: PhantomData<fn() -> (T, K)>,
}

impl<'b, T: Message, K: TopicRing> TopicBuilder<'b, T, K> {
    pub(super) fn new(topics: &'b Topics, name: &'b str, settings: &'b Settings) -> Self {
        let request = Request { name, settings: RingSettings::OfTheBus(settings), capacity: None };
        Self { topics, request, types: PhantomData }
    }

    /// With other settings than the bus has.
    fn with(mut self, change: impl FnOnce(Settings) -> Settings) -> Self {
        self.request.settings = RingSettings::Own(change(self.request.settings.get()));
        self
    }

    /// One publisher, which never waits.
    pub fn lossy(self) -> TopicBuilder<'b, T, Lossy> {
        self.of_kind()
    }

    /// One publisher, which waits for the slowest subscriber.
    pub fn lossless(self) -> TopicBuilder<'b, T, Lossless> {
        self.of_kind()
    }

    /// Many publishers, which wait for no subscriber.
    pub fn mp_lossy(self) -> TopicBuilder<'b, T, Many<Lossy>> {
        self.of_kind()
    }

    /// Many publishers, which wait for the slowest subscriber.
    pub fn mp_lossless(self) -> TopicBuilder<'b, T, Many<Lossless>> {
        self.of_kind()
    }

    /// The topic is of kind `L`: for code that has the kind as a type parameter.
    pub fn of_kind<L: TopicRing>(self) -> TopicBuilder<'b, T, L> {
        TopicBuilder { topics: self.topics, request: self.request, types: PhantomData }
    }

    /// How many messages the ring holds: from 2 up, and never rounded.
    pub fn capacity(mut self, capacity: usize) -> Self {
        self.request.capacity = Some(capacity);
        self.with(|settings| settings.with_capacity(capacity))
    }

    /// As [`Settings::headroom`], for a lossless topic.
    pub fn headroom(self, slots: usize) -> Self {
        self.with(|settings| settings.headroom(slots))
    }

    /// How the ring's handles wait where a verb does not say.
    pub fn wait_strategy(self, strategy: WaitStrategy) -> Self {
        self.with(|settings| settings.wait_strategy(strategy))
    }

    /// What the memory of the ring's slots is to be like: see [`memory`](crate::memory). If a required option
    /// can't be met, the verbs below return [`TopicError::Ring`].
    #[cfg(feature = "std")]
    pub fn memory(self, memory: crate::memory::Memory) -> Self {
        self.with(|settings| settings.memory(memory))
    }

    /// Counts what happens rarely in a new topic's ring: see [`Settings::statistics`].
    ///
    /// ```
    /// let bus = annulus::bus::Bus::<u64>::new(64);
    /// let subscriber = bus.topic("quotes").statistics(true).subscribe()?;
    /// assert_eq!(subscriber.stats().counted.unwrap().sleeps, 0);
    /// # Ok::<(), annulus::bus::TopicError>(())
    /// ```
    #[cfg(feature = "std")]
    pub fn statistics(self, on: bool) -> Self {
        if seeded!("topic_statistics_unheard") {
            return self;
        }
        self.with(|settings| settings.statistics(on))
    }

    /// Gives the ring of a new topic another name than the topic's: see [`Settings::name`].
    ///
    /// ```
    /// let bus = annulus::bus::Bus::<u64>::new(64);
    /// let quotes = bus.topic("quotes").subscribe()?;
    /// let orders = bus.topic("orders").name("orders of today").subscribe()?;
    /// assert_eq!(quotes.stats().name.as_deref(), Some("quotes"));
    /// assert_eq!(orders.stats().name.as_deref(), Some("orders of today"));
    /// # Ok::<(), annulus::bus::TopicError>(())
    /// ```
    pub fn name(self, name: impl Into<Cow<'static, str>>) -> Self {
        self.with(|settings| settings.name(name))
    }

    /// A publisher of the topic.
    ///
    /// # Errors
    ///
    /// [`Taken`](TopicError::Taken): the topic has one publisher at a time, and it is taken.
    /// [`Closed`](TopicError::Closed): the topic is closed. [`Kind`](TopicError::Kind),
    /// [`Type`](TopicError::Type), [`Capacity`](TopicError::Capacity): the topic is there, and is not as
    /// requested. [`Ring`](TopicError::Ring): the topic is not there, and can't be made.
    pub fn publisher(self) -> Result<TopicPublisher<T, K>, TopicError> {
        self.topics.get::<T, K, _>(&self.request, |ends, topic| {
            let taken = TopicPublisher::take(ends, topic);
            // After the take: its last holder may have closed the topic, and then given it back.
            if ends.subscribable.is_closed() && !seeded!("topic_closed_unasked") {
                return Err(TopicError::Closed { topic: self.request.name.into() });
            }
            taken.ok_or_else(|| TopicError::Taken { topic: self.request.name.into() })
        })
    }

    /// A subscriber for the messages that are published from now on. If the topic is closed, it gets `Closed`
    /// at once.
    ///
    /// # Errors
    ///
    /// Those of [`publisher`](Self::publisher), but for `Taken` and `Closed`.
    pub fn subscribe(self) -> Result<Subscriber<T, K::Mode>, TopicError> {
        self.topics.get(&self.request, |ends: &Ends<T, K>, _| Ok(K::subscribe(&ends.subscribable)))
    }

    /// What makes subscribers of the topic, without further look-ups. While it is there, the topic is in use.
    ///
    /// # Errors
    ///
    /// Those of [`subscribe`](Self::subscribe).
    #[inline]
    pub fn subscribable(self) -> Result<Subscribable<T, K::Mode>, TopicError> {
        Ok(self.share()?.whole())
    }

    /// The same in one word.
    // Decision 0075: a function of its own, so that the handle is made by its caller, where it stays.
    #[inline(never)]
    fn share(self) -> Result<SubscribableShare<T, K::Mode>, TopicError> {
        self.topics.get(&self.request, |ends: &Ends<T, K>, _| Ok(ends.subscribable.share()))
    }
}

impl<T, K: TopicRing> fmt::Debug for TopicBuilder<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TopicBuilder")
            .field("topic", &self.request.name)
            .field("kind", &K::KIND)
            .field("settings", &self.request.settings.get())
            .finish_non_exhaustive()
    }
}
