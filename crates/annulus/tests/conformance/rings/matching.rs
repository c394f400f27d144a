//! The topics of a bus that match a pattern, where there is one: it does what a subscriber of that topic
//! does. Its end is that of the bus.

use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::broadcast::{Lossless as Bound, Lossy as Unbound, Subscribable};
use annulus::bus::{Bus, MatchingSubscriber, TopicError, TopicPublisher, TopicRing};
use annulus::{
    CapacityError, Closer, LossyTryRecvError, Observer, RecvError, RecvTimeoutError, SendError, TrySendError,
};
#[cfg(feature = "async")]
use futures_util::{StreamExt, TryFutureExt};

#[cfg(feature = "async")]
use super::Got;
use super::{Publish, Receive, Ring, Verb, verbs};
#[cfg(feature = "async")]
use crate::support::tasks::{Messages, Task, block_on};

const TOPIC: &str = "the.topic";

pub(crate) type Matching = OneTopic<Unbound>;
pub(crate) type MatchingLossless = OneTopic<Bound>;

pub(crate) struct OneTopic<K>(std::marker::PhantomData<K>);

/// A kind with one publisher.
pub(crate) trait One: TopicRing<Publisher<u64>: Publish> + 'static {
    const LOSSLESS: bool;

    /// The number of the next message.
    fn head(source: &Subscribable<u64, Self::Mode>) -> u64;
}

impl One for Unbound {
    const LOSSLESS: bool = false;

    fn head(source: &Subscribable<u64>) -> u64 {
        source.subscribe().cursor()
    }
}

impl One for Bound {
    const LOSSLESS: bool = true;

    fn head(source: &Subscribable<u64, Self>) -> u64 {
        source.subscribe_lossy().cursor()
    }
}

/// The publisher, and the bus, which ends with it.
pub(crate) struct Publishing<K: One> {
    publisher: TopicPublisher<u64, K>,
    bus: Mutex<Option<Arc<Bus<u64, K>>>>,
}

pub(crate) struct Receiving {
    matching: MatchingSubscriber<u64>,
    /// Where it began.
    start: u64,
    received: u64,
    capacity: usize,
    /// The number of the next message, and whether the topic is closed.
    end: Box<dyn Fn() -> (u64, bool) + Send>,
}

impl<K: One> Ring for OneTopic<K> {
    const LOSSLESS: bool = K::LOSSLESS;
    const MANY: bool = false;
    type Publisher = Publishing<K>;
    type Source = Weak<Bus<u64, K>>;
    type Subscriber = Receiving;

    fn make(settings: Settings) -> Result<(Self::Publisher, Self::Source), CapacityError> {
        let bus = Arc::new(Bus::with(settings));
        let publisher = bus.try_publisher(TOPIC).map_err(|error| match error {
            TopicError::Ring { error, .. } => error,
            error => panic!("{error}"),
        })?;
        let source = Arc::downgrade(&bus);
        Ok((Publishing { publisher, bus: Mutex::new(Some(bus)) }, source))
    }

    fn subscribe(source: &Self::Source) -> Receiving {
        let bus = source.upgrade().expect("the bus is there");
        let matching = bus.subscribe_matching("the.*").unwrap();
        let source = bus.subscribable(TOPIC);
        let (start, capacity) = (K::head(&source), source.capacity());
        let end = Box::new(move || (K::head(&source), source.is_closed()));
        Receiving { matching, start, received: 0, capacity, end }
    }

    fn from_oldest(_: &Self::Source) -> Option<Receiving> {
        None
    }

    fn is_closed(source: &Self::Source) -> bool {
        source.upgrade().is_none_or(|bus| bus.topics()[0].closed)
    }
}

impl<K: One> Publish for Publishing<K> {
    fn publish(&mut self, number: u64) -> Result<(), SendError<()>> {
        Publish::publish(self.publisher.publisher_mut(), number)
    }

    #[cfg(feature = "async")]
    fn publish_async(&mut self, number: u64) -> Task<'_, Result<(), SendError<()>>> {
        Publish::publish_async(self.publisher.publisher_mut(), number)
    }

    fn try_publish(&mut self, number: u64) -> Result<(), TrySendError<()>> {
        Publish::try_publish(self.publisher.publisher_mut(), number)
    }

    fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), SendError<()>> {
        Publish::publish_batch(self.publisher.publisher_mut(), numbers)
    }

    fn publish_panicking(&mut self) {
        self.publisher.publisher_mut().publish_panicking();
    }

    fn published(&self) -> u64 {
        Publish::published(self.publisher.publisher())
    }

    fn capacity(&self) -> usize {
        Publish::capacity(self.publisher.publisher())
    }

    fn is_abandoned(&self) -> bool {
        false
    }

    fn is_closed(&self) -> bool {
        Publish::is_closed(self.publisher.publisher())
    }

    fn close(&self) {
        Publish::close(self.publisher.publisher());
        self.bus.lock().unwrap().take();
    }

    fn closer(&self) -> Closer {
        Publish::closer(self.publisher.publisher())
    }

    fn observer(&self) -> Observer {
        Publish::observer(self.publisher.publisher())
    }

    fn another(&self) -> Option<Self> {
        None
    }
}

impl Receiving {
    /// What `result` brought, which is of the one topic.
    fn of<N: AsRef<str>, E>(&mut self, result: Result<(N, u64), E>) -> Result<u64, E> {
        let (topic, number) = result?;
        assert_eq!(topic.as_ref(), TOPIC);
        self.received += 1;
        Ok(number)
    }

    fn owned<E>(result: Result<(&str, u64), E>) -> Result<(Box<str>, u64), E> {
        result.map(|(topic, number)| (topic.into(), number))
    }
}

impl Receive for Receiving {
    fn try_recv(&mut self) -> Result<u64, LossyTryRecvError> {
        let result = Self::owned(self.matching.try_recv_or_lag());
        self.of(result)
    }

    fn recv(&mut self) -> Result<u64, RecvError> {
        let result = Self::owned(self.matching.recv());
        self.of(result)
    }

    #[cfg(feature = "async")]
    fn recv_async(&mut self) -> Task<'_, Result<u64, RecvError>> {
        let Self { matching, received, .. } = self;
        Box::pin(matching.recv_async().map_ok(|(topic, number)| {
            assert_eq!(&*topic, TOPIC);
            *received += 1;
            number
        }))
    }

    #[cfg(feature = "async")]
    fn into_stream(self) -> Option<Messages> {
        Some(Box::pin(self.matching.into_stream().map(|(_, number)| number)))
    }

    fn recv_timeout(&mut self, timeout: Duration) -> Result<u64, RecvTimeoutError> {
        let result = Self::owned(self.matching.recv_timeout(timeout));
        self.of(result)
    }

    fn recv_until(&mut self, deadline: Instant) -> Result<u64, RecvTimeoutError> {
        let result = Self::owned(self.matching.recv_until(deadline));
        self.of(result)
    }

    fn panic_on_next(&mut self) -> bool {
        false
    }

    fn cursor(&self) -> u64 {
        self.start + self.received + self.lagged()
    }

    fn received(&self) -> u64 {
        self.received
    }

    fn lagged(&self) -> u64 {
        self.matching.total_lagged()
    }

    fn len(&self) -> usize {
        ((self.end)().0 - self.cursor()).min(self.capacity as u64) as usize
    }

    fn capacity(&self) -> usize {
        self.capacity
    }

    fn is_closed(&self) -> bool {
        (self.end)().1
    }

    fn fork(&self) -> Option<Self> {
        None
    }

    fn verbs() -> Vec<Verb<Self>> {
        #[allow(unused_mut, reason = "without the feature `async` nothing is added")]
        let mut verbs: Vec<Verb<Self>> = verbs! {
            "try_recv", false, |matching| Receive::try_recv(matching);
            "plain try_recv", false, |matching| {
                let result = Receiving::owned(matching.matching.try_recv());
                matching.of(result.map_err(LossyTryRecvError::from))
            };
            "recv", true, |matching| Receive::recv(matching);
            "recv_or_lag", true, |matching| {
                let result = Receiving::owned(matching.matching.recv_or_lag());
                matching.of(result.map_err(LossyTryRecvError::from))
            };
            "recv_or_lag_timeout", false, |matching| {
                let result = Receiving::owned(matching.matching.recv_or_lag_timeout(Duration::ZERO));
                matching.of(result)
            };
            "recv_timeout", false, |matching| Receive::recv_timeout(matching, Duration::ZERO);
            "recv_until", false, |matching| Receive::recv_until(matching, Instant::now());
        };
        #[cfg(feature = "async")]
        {
            let more: Vec<Verb<Self>> = verbs! {
                "recv_async", true, |matching| block_on(Receive::recv_async(matching));
                "recv_or_lag_async", true, |matching| {
                    let result = block_on(matching.matching.recv_or_lag_async());
                    matching.of(result.map_err(LossyTryRecvError::from))
                };
                "recv_batch_async", true, |matching| {
                    assert_eq!(block_on(matching.matching.recv_batch_async(&mut [])), Ok(0), "at once");
                    let mut buffer: [(Arc<str>, u64); 3] = Default::default();
                    let result = block_on(matching.matching.recv_batch_async(&mut buffer));
                    let (got, left) = buffer.split_at(result.unwrap_or(0));
                    assert!(got.iter().all(|(topic, _)| &**topic == TOPIC));
                    assert!(left.iter().all(|(topic, _)| topic.is_empty()), "wrote behind its count");
                    matching.received += got.len() as u64;
                    Got::of_batch(result, got.iter().map(|(_, number)| *number).collect())
                };
                "stream", true, |matching| {
                    let next = block_on(matching.matching.stream().next());
                    matching.received += u64::from(next.is_some());
                    next.map(|(_, number)| number)
                };
            };
            verbs.extend(more);
        }
        verbs
    }
}
