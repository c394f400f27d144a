//! [`TypedBus`]: topics by name, each with messages of a type of its own.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;

use super::bus::refuse;
use super::error::{RemoveError, TopicError};
use super::info::TopicInfo;
use super::kind::TopicRing;
use super::matching::MatchingSubscriber;
use super::pattern::{Pattern, PatternError};
use super::publisher::TopicPublisher;
use super::topic_builder::TopicBuilder;
use super::topics::Topics;
use crate::broadcast::{Builder, Lossy, Subscribable, Subscriber};
use crate::message::Message;

/// Topics by name, each with messages of a type of its own. Whoever makes a topic decides its type. Whoever
/// asks for another type is told the names of both.
///
/// Otherwise it is like [`Bus`](super::Bus).
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
    builder: Builder,
    kind: PhantomData<fn() -> K>,
}

impl TypedBus {
    /// As [`Bus::new`](super::Bus::new).
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self::with(Builder::new(capacity))
    }
}

impl<K: TopicRing> TypedBus<K> {
    /// As [`Bus::with`](super::Bus::with).
    #[must_use]
    pub fn with(builder: Builder) -> Self {
        Self { topics: Arc::new(Topics::new()), builder, kind: PhantomData }
    }

    /// As [`Bus::publisher`](super::Bus::publisher).
    ///
    /// # Panics
    ///
    /// Where [`try_publisher`](Self::try_publisher) returns an error. The message names the topic.
    #[must_use]
    #[track_caller]
    pub fn publisher<T: Message>(&self, topic: &str) -> TopicPublisher<T, K> {
        self.try_publisher(topic).unwrap_or_else(|error| refuse("publisher", &error))
    }

    /// As [`Bus::try_publisher`](super::Bus::try_publisher).
    ///
    /// # Errors
    ///
    /// Those of [`TopicBuilder::publisher`].
    pub fn try_publisher<T: Message>(&self, topic: &str) -> Result<TopicPublisher<T, K>, TopicError> {
        self.topic(topic).publisher()
    }

    /// As [`Bus::subscribe`](super::Bus::subscribe).
    ///
    /// # Panics
    ///
    /// Where [`try_subscribe`](Self::try_subscribe) returns an error. The message names the topic.
    #[must_use]
    #[track_caller]
    pub fn subscribe<T: Message>(&self, topic: &str) -> Subscriber<T, K::Mode> {
        self.try_subscribe(topic).unwrap_or_else(|error| refuse("subscribe", &error))
    }

    /// As [`Bus::try_subscribe`](super::Bus::try_subscribe).
    ///
    /// # Errors
    ///
    /// Those of [`TopicBuilder::subscribe`].
    pub fn try_subscribe<T: Message>(&self, topic: &str) -> Result<Subscriber<T, K::Mode>, TopicError> {
        self.topic(topic).subscribe()
    }

    /// As [`Bus::subscribable`](super::Bus::subscribable).
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

    /// As [`Bus::subscribe_matching`](super::Bus::subscribe_matching), for those topics of which the messages
    /// are of type `T`. Topics of other types are left out.
    ///
    /// # Errors
    ///
    /// [`PatternError`]: this is no pattern. It names the pattern.
    pub fn subscribe_matching<T: Message>(
        &self,
        pattern: &str,
    ) -> Result<MatchingSubscriber<T>, PatternError> {
        Ok(MatchingSubscriber::new(&self.topics, Pattern::new(pattern)?, self.builder))
    }

    /// As [`Bus::topic`](super::Bus::topic).
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
        TopicBuilder::new(&self.topics, topic, &self.builder)
    }

    /// As [`Bus::contains`](super::Bus::contains).
    #[must_use]
    pub fn contains(&self, topic: &str) -> bool {
        self.topics.contains(topic)
    }

    /// As [`Bus::topics`](super::Bus::topics).
    #[must_use]
    pub fn topics(&self) -> Vec<TopicInfo> {
        self.topics.all()
    }

    /// As [`Bus::remove`](super::Bus::remove).
    ///
    /// # Errors
    ///
    /// Those of [`Bus::remove`](super::Bus::remove).
    pub fn remove(&self, topic: &str) -> Result<(), RemoveError> {
        self.topics.remove(topic)
    }
}

impl<K: TopicRing> Clone for TypedBus<K> {
    fn clone(&self) -> Self {
        Self { topics: Arc::clone(&self.topics), builder: self.builder, kind: PhantomData }
    }
}

impl<K: TopicRing> fmt::Debug for TypedBus<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedBus").field("topics", &self.topics()).finish_non_exhaustive()
    }
}
