//! [`Bus`] and [`TypedBus`]: topics by name, all with messages of one type, or each with messages of a
//! type of its own.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use super::error::{RemoveError, TopicError};
use super::kind::TopicRing;
use super::matching::MatchingSubscriber;
use super::pattern::{Pattern, PatternError};
use super::publisher::TopicPublisher;
use super::topic::TopicInfo;
use super::topic_builder::TopicBuilder;
use super::topics::Topics;
use crate::broadcast::{Lossy, Subscribable, Subscriber};
use crate::message::Message;
use crate::settings::Settings;

/// Topics by name, all with messages of type `T`. A topic is made by the first look-up of its name.
///
/// `K` is the [kind](TopicRing) of the topics for which no other one is chosen: [`topic`](Self::topic)
/// chooses another kind, or another capacity, for one topic.
///
/// A bus is shared by reference, or cloned: the clones have the same topics. The
/// [module](crate::bus) says how long a topic lives, and what a look-up costs.
///
/// ```
/// use annulus::bus::Bus;
///
/// let bus = Bus::<u64>::new(1024);
/// let mut subscriber = bus.subscribe("quotes.EURUSD");
/// let feed = std::thread::spawn({
///     let bus = bus.clone();
///     move || {
///         let mut publisher = bus.publisher("quotes.EURUSD");
///         (1..=3).for_each(|price| publisher.publish(price));
///         publisher.close(); // ends the topic; a drop would leave it open
///     }
/// });
/// assert_eq!(subscriber.iter().collect::<Vec<_>>(), [1, 2, 3]);
/// feed.join().unwrap();
/// bus.remove("quotes.EURUSD").unwrap();
/// ```
#[doc(alias = "Photon")]
pub struct Bus<T, K: TopicRing = Lossy> {
    bus: TypedBus<K>,
    message: PhantomData<fn() -> T>,
}

impl<T: Message> Bus<T> {
    /// A bus whose topics are lossy rings of `capacity` slots with one publisher each, if no other kind is
    /// chosen. The capacity is checked when a topic is made.
    ///
    /// ```
    /// use annulus::bus::Bus;
    ///
    /// let bus = Bus::<u64>::new(1);
    /// assert!(bus.try_subscribe("prices").unwrap_err().to_string().contains("capacity 1 is too small"));
    /// ```
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self::with(Settings::new(capacity))
    }
}

impl<T: Message, K: TopicRing> Bus<T, K> {
    /// A bus whose topics are rings of kind `K`, made with these settings, if no other kind is chosen.
    ///
    /// ```
    /// use annulus::WaitStrategy;
    /// use annulus::Settings;
    /// use annulus::bus::{Bus, Lossless, Many};
    ///
    /// let rings = Settings::new(64).wait_strategy(WaitStrategy::PauseSpin);
    /// let bus = Bus::<u64, Many<Lossless>>::with(rings);
    /// let mut subscriber = bus.subscribe("orders");
    /// let publishers = [bus.publisher("orders"), bus.publisher("orders")];
    /// for publisher in publishers {
    ///     publisher.publish(1)?;
    /// }
    /// assert_eq!(subscriber.try_iter().count(), 2);
    /// # Ok::<(), annulus::SendError<u64>>(())
    /// ```
    #[must_use]
    pub fn with(settings: Settings) -> Self {
        Self { bus: TypedBus::with(settings), message: PhantomData }
    }

    /// The publisher of a topic, which is made if it is not there. If the kind has many publishers, another
    /// one of them.
    ///
    /// # Panics
    ///
    /// Where [`try_publisher`](Self::try_publisher) returns an error: for one, if the publisher is taken.
    /// The message names the topic.
    #[must_use]
    #[track_caller]
    pub fn publisher(&self, topic: &str) -> TopicPublisher<T, K> {
        self.bus.publisher(topic)
    }

    /// The publisher of a topic, as [`publisher`](Self::publisher).
    ///
    /// ```
    /// use annulus::bus::{Bus, TopicError};
    ///
    /// let bus = Bus::<u64>::new(64);
    /// let publisher = bus.publisher("prices");
    /// assert_eq!(bus.try_publisher("prices").unwrap_err(), TopicError::Taken { topic: "prices".into() });
    /// drop(publisher);
    /// assert!(bus.try_publisher("prices").is_ok(), "it was given back");
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`TopicBuilder::publisher`].
    pub fn try_publisher(&self, topic: &str) -> Result<TopicPublisher<T, K>, TopicError> {
        self.bus.try_publisher(topic)
    }

    /// A subscriber of a topic, which is made if it is not there, for the messages that are published from
    /// now on.
    ///
    /// # Panics
    ///
    /// Where [`try_subscribe`](Self::try_subscribe) returns an error. The message names the topic.
    #[must_use]
    #[track_caller]
    pub fn subscribe(&self, topic: &str) -> Subscriber<T, K::Mode> {
        self.bus.subscribe(topic)
    }

    /// A subscriber of a topic, as [`subscribe`](Self::subscribe).
    ///
    /// # Errors
    ///
    /// Those of [`TopicBuilder::subscribe`].
    pub fn try_subscribe(&self, topic: &str) -> Result<Subscriber<T, K::Mode>, TopicError> {
        self.bus.try_subscribe(topic)
    }

    /// What makes subscribers of a topic, which is made if it is not there. Its holder needs no further
    /// look-ups.
    ///
    /// # Panics
    ///
    /// Where [`TopicBuilder::subscribable`] returns an error. The message names the topic.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn subscribable(&self, topic: &str) -> Subscribable<T, K::Mode> {
        self.bus.subscribable(topic)
    }

    /// One subscriber of all topics whose names match `pattern`, those that are made later included: see
    /// [`MatchingSubscriber`].
    ///
    /// A pattern has segments between dots, as names have. `*` stands for one segment. `**` at the end stands
    /// for one or more segments. All else stands for itself. Allocates; takes O(n) for n topics.
    ///
    /// ```
    /// use annulus::bus::{Bus, PatternError};
    ///
    /// let bus = Bus::<u64>::new(64);
    /// let mut quotes = bus.subscribe_matching("quotes.*").unwrap();
    /// bus.publisher("quotes.EURUSD").publish(1); // a topic that was not there
    /// assert_eq!(quotes.try_recv(), Ok(("quotes.EURUSD", 1)));
    ///
    /// let error = bus.subscribe_matching("quotes.EUR*").unwrap_err();
    /// assert_eq!(error, PatternError::PartOfSegment { pattern: "quotes.EUR*".into() });
    /// ```
    ///
    /// # Errors
    ///
    /// [`PatternError`]: this is no pattern. It names the pattern.
    pub fn subscribe_matching(&self, pattern: &str) -> Result<MatchingSubscriber<T>, PatternError> {
        self.bus.subscribe_matching(pattern)
    }

    /// A topic with settings of its own: see [`TopicBuilder`].
    pub fn topic<'b>(&'b self, topic: &'b str) -> TopicBuilder<'b, T, K> {
        self.bus.topic(topic)
    }

    /// Whether there is a topic of that name, open or closed. Makes none.
    #[must_use]
    pub fn contains(&self, topic: &str) -> bool {
        self.bus.contains(topic)
    }

    /// All topics, in the order of their names. Others may come and go meanwhile. Allocates.
    ///
    /// ```
    /// let bus = annulus::bus::Bus::<u64>::new(64);
    /// let subscriber = bus.subscribe("orders");
    /// let publisher = bus.topic("fills").lossless().publisher().unwrap();
    /// let topics = bus.topics();
    /// assert_eq!((topics[0].name.as_str(), topics[0].publishers, topics[0].subscribers), ("fills", 1, 0));
    /// assert_eq!((topics[1].name.as_str(), topics[1].publishers, topics[1].subscribers), ("orders", 0, 1));
    /// ```
    #[must_use]
    pub fn topics(&self) -> Vec<TopicInfo> {
        self.bus.topics()
    }

    /// Removes a topic that is closed, or of which there is no handle. Its memory is given back once the
    /// last handle is gone. The next look-up of that name makes a new topic.
    ///
    /// A look-up of that topic at the same time gets a handle of it, and then this returns an error; or it
    /// gets a handle of a new topic. (A look-up for a publisher that is taken counts while it runs.)
    ///
    /// ```
    /// use annulus::bus::{Bus, RemoveError};
    ///
    /// let bus = Bus::<u64>::new(64);
    /// let subscriber = bus.subscribe("prices");
    /// let error = bus.remove("prices").unwrap_err();
    /// assert_eq!(error, RemoveError::InUse { topic: "prices".into(), publishers: 0, receivers: 1 });
    /// drop(subscriber);
    /// assert_eq!(bus.remove("prices"), Ok(()));
    /// assert!(!bus.contains("prices"));
    /// ```
    ///
    /// # Errors
    ///
    /// [`Unknown`](RemoveError::Unknown): there is no such topic. [`InUse`](RemoveError::InUse): the topic is
    /// open, and there are handles of it.
    pub fn remove(&self, topic: &str) -> Result<(), RemoveError> {
        self.bus.remove(topic)
    }
}

impl<T, K: TopicRing> Clone for Bus<T, K> {
    fn clone(&self) -> Self {
        Self { bus: self.bus.clone(), message: PhantomData }
    }
}

impl<T: Message, K: TopicRing> fmt::Debug for Bus<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bus").field("topics", &self.topics()).finish_non_exhaustive()
    }
}

/// Topics by name, each with messages of a type of its own. The first look-up of a topic decides its
/// type. A look-up with another type gets an error, which has the names of both.
///
/// Otherwise it is like [`Bus`].
///
/// ```
/// use annulus::bus::{TopicError, TypedBus};
///
/// let bus = TypedBus::new(64);
/// let mut prices = bus.subscribe::<u64>("prices");
/// let mut flags = bus.subscribe::<[bool; 4]>("flags");
/// bus.publisher("prices").publish(100_u64);
/// bus.publisher("flags").publish([true; 4]);
/// assert_eq!((prices.try_recv(), flags.try_recv()), (Ok(100), Ok([true; 4])));
///
/// let error = bus.try_publisher::<i32>("prices").unwrap_err();
/// assert_eq!(error.to_string(), "topic \"prices\" has messages of type u64, and i32 was requested");
/// ```
pub struct TypedBus<K: TopicRing = Lossy> {
    topics: Arc<Topics>,
    settings: Settings,
    kind: PhantomData<fn() -> K>,
}

impl TypedBus {
    /// As [`Bus::new`](Bus::new).
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self::with(Settings::new(capacity))
    }
}

impl<K: TopicRing> TypedBus<K> {
    /// As [`Bus::with`](Bus::with).
    #[must_use]
    pub fn with(settings: Settings) -> Self {
        Self { topics: Arc::new(Topics::new()), settings, kind: PhantomData }
    }

    /// As [`Bus::publisher`](Bus::publisher).
    ///
    /// # Panics
    ///
    /// Where [`try_publisher`](Self::try_publisher) returns an error. The message names the topic.
    #[must_use]
    #[track_caller]
    pub fn publisher<T: Message>(&self, topic: &str) -> TopicPublisher<T, K> {
        self.try_publisher(topic).unwrap_or_else(|error| refuse("publisher", &error))
    }

    /// As [`Bus::try_publisher`](Bus::try_publisher).
    ///
    /// # Errors
    ///
    /// Those of [`TopicBuilder::publisher`].
    pub fn try_publisher<T: Message>(&self, topic: &str) -> Result<TopicPublisher<T, K>, TopicError> {
        self.topic(topic).publisher()
    }

    /// As [`Bus::subscribe`](Bus::subscribe).
    ///
    /// # Panics
    ///
    /// Where [`try_subscribe`](Self::try_subscribe) returns an error. The message names the topic.
    #[must_use]
    #[track_caller]
    pub fn subscribe<T: Message>(&self, topic: &str) -> Subscriber<T, K::Mode> {
        self.try_subscribe(topic).unwrap_or_else(|error| refuse("subscribe", &error))
    }

    /// As [`Bus::try_subscribe`](Bus::try_subscribe).
    ///
    /// # Errors
    ///
    /// Those of [`TopicBuilder::subscribe`].
    pub fn try_subscribe<T: Message>(&self, topic: &str) -> Result<Subscriber<T, K::Mode>, TopicError> {
        self.topic(topic).subscribe()
    }

    /// As [`Bus::subscribable`](Bus::subscribable).
    ///
    /// # Panics
    ///
    /// Where [`TopicBuilder::subscribable`] returns an error. The message names the topic.
    #[inline]
    #[must_use]
    #[track_caller]
    pub fn subscribable<T: Message>(&self, topic: &str) -> Subscribable<T, K::Mode> {
        self.topic(topic).subscribable().unwrap_or_else(|error| refuse("subscribable", &error))
    }

    /// As [`Bus::subscribe_matching`](Bus::subscribe_matching), for those topics of which the messages
    /// are of type `T`. Topics of other types are left out.
    ///
    /// # Errors
    ///
    /// [`PatternError`]: this is no pattern. It names the pattern.
    pub fn subscribe_matching<T: Message>(
        &self,
        pattern: &str,
    ) -> Result<MatchingSubscriber<T>, PatternError> {
        Ok(MatchingSubscriber::new(&self.topics, Pattern::new(pattern)?, &self.settings))
    }

    /// As [`Bus::topic`](Bus::topic).
    ///
    /// ```
    /// let bus = annulus::bus::TypedBus::new(64);
    /// let mut publisher = bus.topic::<u64>("orders").lossless().publisher()?;
    /// let mut subscriber = bus.topic::<u64>("orders").lossless().subscribe()?;
    /// publisher.publish(1).unwrap();
    /// assert_eq!(subscriber.recv(), Ok(1));
    /// # Ok::<(), annulus::bus::TopicError>(())
    /// ```
    pub fn topic<'b, T: Message>(&'b self, topic: &'b str) -> TopicBuilder<'b, T, K> {
        TopicBuilder::new(&self.topics, topic, &self.settings)
    }

    /// As [`Bus::contains`](Bus::contains).
    #[must_use]
    pub fn contains(&self, topic: &str) -> bool {
        self.topics.contains(topic)
    }

    /// As [`Bus::topics`](Bus::topics).
    #[must_use]
    pub fn topics(&self) -> Vec<TopicInfo> {
        self.topics.all()
    }

    /// As [`Bus::remove`](Bus::remove).
    ///
    /// # Errors
    ///
    /// Those of [`Bus::remove`](Bus::remove).
    pub fn remove(&self, topic: &str) -> Result<(), RemoveError> {
        self.topics.remove(topic)
    }
}

impl<K: TopicRing> Clone for TypedBus<K> {
    fn clone(&self) -> Self {
        Self { topics: Arc::clone(&self.topics), settings: self.settings.clone(), kind: PhantomData }
    }
}

impl<K: TopicRing> fmt::Debug for TypedBus<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedBus").field("topics", &self.topics()).finish_non_exhaustive()
    }
}

/// The panic of a verb that returns no error.
#[cold]
#[track_caller]
fn refuse<H>(verb: &str, error: &TopicError) -> H {
    panic!("annulus: {verb} of a bus: {error}")
}
