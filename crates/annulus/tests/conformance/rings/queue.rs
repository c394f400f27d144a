//! Queues, as lossless rings with one subscriber: where the property is the same, so is the test.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::queue;
use annulus::queue::kind::AnyKind;
use annulus::queue::{Consumer, Producer};
use annulus::{
    CapacityError, LossyTryRecvError, RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError,
    WaitStrategy, mpmc, mpsc, spmc, spsc,
};

#[cfg(feature = "async")]
use futures_util::StreamExt;

#[cfg(feature = "async")]
use crate::support::tasks::{Messages, Task, block_on};

use super::{Got, Publish, Receive, Ring, Verb, verbs};

/// A producer that counts.
pub(crate) struct Counting<K: AnyKind> {
    producer: Producer<u64, K>,
    sent: u64,
    /// While one of its side has it, the queue is open.
    open: Arc<()>,
}

/// A consumer that counts.
pub(crate) struct Reader<K: AnyKind> {
    consumer: Consumer<u64, K>,
    start: u64,
    received: u64,
}

/// The consumer, until it is asked for.
pub(crate) struct Once<K: AnyKind> {
    reader: Arc<Mutex<Option<Reader<K>>>>,
    open: Weak<()>,
}

impl<K: AnyKind> Clone for Once<K> {
    fn clone(&self) -> Self {
        Self { reader: Arc::clone(&self.reader), open: Weak::clone(&self.open) }
    }
}

macro_rules! queue {
    ($name:ident, $kind:ty, many: $many:literal, |$settings:ident| $built:expr) => {
        queue!(@made $name, $kind, many: $many, |capacity, first| {
            let $settings = Settings::new(capacity).first(first);
            queue::with($built).unwrap()
        });
    };
    (@made $name:ident, $kind:ty, many: $many:literal, |$capacity:ident, $first:ident| $made:expr) => {
        pub(crate) struct $name;

        impl Ring for $name {
            const LOSSLESS: bool = true;
            const MANY: bool = $many;
            type Publisher = Counting<$kind>;
            type Source = Once<$kind>;
            type Subscriber = Reader<$kind>;

            fn make(
                _: annulus::Settings,
            ) -> Result<(Self::Publisher, Self::Source), CapacityError> {
                unreachable!("no property of queues has a headroom")
            }

            fn begin($capacity: usize, $first: u64) -> (Self::Publisher, Self::Source) {
                begin($made, $first)
            }

            fn subscribe(source: &Self::Source) -> Self::Subscriber {
                source.reader.lock().unwrap().take().expect("a queue has one subscriber here")
            }

            fn from_oldest(_: &Self::Source) -> Option<Self::Subscriber> {
                None
            }

            fn is_closed(source: &Self::Source) -> bool {
                source.open.strong_count() == 0
            }
        }
    };
}

queue!(Spsc, spsc::Spsc, many: false, |settings| settings);
queue!(Mpsc, mpsc::Mpsc, many: true, |settings| settings);
queue!(Spmc, spmc::Spmc, many: false, |settings| settings);
queue!(Mpmc, mpmc::Mpmc, many: true, |settings| settings);
#[cfg(feature = "std")]
queue!(MappedSpsc, spsc::Spsc, many: false, |settings| settings.memory(super::mapped()));
#[cfg(feature = "std")]
queue!(MappedMpmc, mpmc::Mpmc, many: true, |settings| settings.memory(super::mapped()));
// Between processes: both sides of it are mapped here.
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
queue!(@made SharedSpsc, annulus::shm::spsc::Across<u64>, many: false, |capacity, first| {
    let settings = Settings::new(capacity).first(first);
    let made = annulus::shm::spsc::producer(settings, annulus::shm::WhenGone::Close).unwrap();
    let (producer, invitation) = (made.handle, made.invitation);
    let (consumer, _) = annulus::shm::spsc::consumer(&invitation).unwrap();
    (producer, consumer)
});
// (A second producer joins by the invitation, and not by the first one.)
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
queue!(@made SharedMpsc, annulus::shm::mpsc::ManyAcross<u64>, many: false, |capacity, first| {
    use annulus::shm::{Shared, WhenGone, mpsc};

    let builder = mpsc::Builder::new(Settings::new(capacity).first(first)).producers(3);
    let builder = builder.when_no_producer(WhenGone::Close);
    let Shared { handle: consumer, invitation, .. } = builder.build().unwrap();
    (mpsc::producer(&invitation).unwrap().0, consumer)
});

/// What differs.
pub(crate) trait Sides: AnyKind {
    fn another(_: &Producer<u64, Self>) -> Option<Producer<u64, Self>> {
        None
    }
}

impl Sides for spsc::Spsc {}
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
impl Sides for annulus::shm::spsc::Across<u64> {}
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
impl Sides for annulus::shm::mpsc::ManyAcross<u64> {}
impl Sides for spmc::Spmc {}

impl Sides for mpsc::Mpsc {
    fn another(producer: &Producer<u64, Self>) -> Option<Producer<u64, Self>> {
        Some(producer.clone())
    }
}

impl Sides for mpmc::Mpmc {
    fn another(producer: &Producer<u64, Self>) -> Option<Producer<u64, Self>> {
        Some(producer.clone())
    }
}

fn begin<K: Sides>(
    (producer, consumer): (Producer<u64, K>, Consumer<u64, K>),
    first: u64,
) -> (Counting<K>, Once<K>) {
    let open = Arc::new(());
    let reader = Arc::new(Mutex::new(Some(Reader { consumer, start: first, received: 0 })));
    let once = Once { reader, open: Arc::downgrade(&open) };
    (Counting { producer, sent: 0, open }, once)
}

impl<K: Sides> Publish for Counting<K>
where
    Producer<u64, K>: Send + 'static,
{
    fn publish(&mut self, number: u64) -> Result<(), SendError<()>> {
        self.producer.send(number).map_err(|error| {
            assert_eq!(error.into_inner(), number);
            SendError(())
        })?;
        self.sent += 1;
        Ok(())
    }

    #[cfg(feature = "async")]
    fn publish_async(&mut self, number: u64) -> Task<'_, Result<(), SendError<()>>> {
        Box::pin(async move {
            self.producer.send_async(number).await.map_err(|error| {
                assert_eq!(error.into_inner(), number);
                SendError(())
            })?;
            self.sent += 1;
            Ok(())
        })
    }

    fn try_publish(&mut self, number: u64) -> Result<(), TrySendError<()>> {
        self.producer.try_send(number).map_err(|error| match error {
            TrySendError::Full(back) => {
                assert_eq!(back, number);
                TrySendError::Full(())
            }
            TrySendError::Closed(back) => {
                assert_eq!(back, number);
                TrySendError::Closed(())
            }
        })?;
        self.sent += 1;
        Ok(())
    }

    fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), SendError<()>> {
        let sent = self.producer.send_batch(numbers);
        let left = sent.as_ref().map_or_else(|error| error.0.len(), |()| 0);
        self.sent += (numbers.len() - left) as u64;
        sent.map_err(|_| SendError(()))
    }

    fn publish_panicking(&mut self) {
        unreachable!("a value is made before it is sent")
    }

    fn published(&self) -> u64 {
        self.sent
    }

    fn capacity(&self) -> usize {
        self.producer.capacity()
    }

    fn is_abandoned(&self) -> bool {
        self.producer.is_closed()
    }

    fn is_closed(&self) -> bool {
        self.producer.is_closed()
    }

    fn accepted(publishers: &[Self]) -> u64 {
        publishers.iter().map(|publisher| publisher.sent).sum()
    }

    fn close(&self) {
        self.producer.close();
    }

    fn closer(&self) -> annulus::Closer {
        self.producer.closer()
    }

    fn observer(&self) -> annulus::Observer {
        self.producer.observer()
    }

    fn another(&self) -> Option<Self> {
        let producer = K::another(&self.producer)?;
        Some(Self { producer, sent: 0, open: Arc::clone(&self.open) })
    }
}

impl<K: Sides> Reader<K> {
    fn count<E>(&mut self, result: Result<u64, E>) -> Result<u64, E> {
        self.received += u64::from(result.is_ok());
        result
    }

    fn count_all(&mut self, messages: Vec<u64>) -> Vec<u64> {
        self.received += messages.len() as u64;
        messages
    }
}

impl<K: Sides> Receive for Reader<K>
where
    Consumer<u64, K>: Send + 'static,
{
    fn try_recv(&mut self) -> Result<u64, LossyTryRecvError> {
        let result = self.consumer.try_recv().map_err(|error| match error {
            TryRecvError::Empty => LossyTryRecvError::Empty,
            TryRecvError::Closed => LossyTryRecvError::Closed,
        });
        self.count(result)
    }

    fn recv(&mut self) -> Result<u64, RecvError> {
        let result = self.consumer.recv();
        self.count(result)
    }

    #[cfg(feature = "async")]
    fn recv_async(&mut self) -> Task<'_, Result<u64, RecvError>> {
        Box::pin(async move {
            let result = self.consumer.recv_async().await;
            self.count(result)
        })
    }

    #[cfg(feature = "async")]
    fn into_stream(self) -> Option<Messages> {
        Some(Box::pin(self.consumer.into_stream()))
    }

    fn recv_timeout(&mut self, timeout: Duration) -> Result<u64, RecvTimeoutError> {
        let result = self.consumer.recv_timeout(timeout);
        self.count(result)
    }

    fn recv_until(&mut self, deadline: Instant) -> Result<u64, RecvTimeoutError> {
        let result = self.consumer.recv_until(deadline);
        self.count(result)
    }

    fn panic_on_next(&mut self) -> bool {
        let consume = || self.consumer.consume(usize::MAX, |_| resume_unwind(Box::new("on purpose")));
        catch_unwind(AssertUnwindSafe(consume)).expect_err("it was to panic");
        self.received += 1;
        true
    }

    fn cursor(&self) -> u64 {
        self.start + self.received
    }

    fn received(&self) -> u64 {
        self.received
    }

    fn lagged(&self) -> u64 {
        0
    }

    fn len(&self) -> usize {
        self.consumer.len()
    }

    fn capacity(&self) -> usize {
        self.consumer.capacity()
    }

    fn is_closed(&self) -> bool {
        self.consumer.is_closed()
    }

    fn fork(&self) -> Option<Self> {
        None
    }

    fn verbs() -> Vec<Verb<Self>> {
        #[allow(unused_mut, reason = "without the feature `async` nothing is added")]
        let mut verbs: Vec<Verb<Self>> = verbs! {
            "try_recv", false, |reader| Receive::try_recv(reader);
            "recv", true, |reader| Receive::recv(reader);
            "recv_until", true, |reader| {
                let result = reader.consumer.recv_until(WaitStrategy::Monitor);
                reader.count(result)
            };
            "recv_timeout", false, |reader| Receive::recv_timeout(reader, Duration::ZERO);
            "recv_until", false, |reader| Receive::recv_until(reader, Instant::now());
            "try_recv_batch", false, |reader| {
                let mut buffer = [u64::MAX; 3];
                let count = reader.consumer.try_recv_batch(&mut buffer);
                assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                reader.count_all(buffer[..count].to_vec())
            };
            "recv_batch", true, |reader| {
                assert_eq!(reader.consumer.recv_batch(&mut []), Ok(0), "at once");
                let mut buffer = [u64::MAX; 3];
                let result = reader.consumer.recv_batch(&mut buffer);
                let count = result.unwrap_or(0);
                assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                Got::of_batch(result, reader.count_all(buffer[..count].to_vec()))
            };
            "recv_many", true, |reader| {
                let mut buffer = vec![u64::MAX];
                assert_eq!(reader.consumer.recv_many(&mut buffer, 0), Ok(0), "at once");
                let result = reader.consumer.recv_many(&mut buffer, 2);
                assert_eq!(buffer.remove(0), u64::MAX);
                Got::of_batch(result, reader.count_all(buffer))
            };
            "consume", false, |reader| {
                let mut messages = Vec::new();
                reader.consumer.consume(usize::MAX, |message| messages.push(message));
                reader.count_all(messages)
            };
            "consume_up_to", false, |reader| {
                let mut messages = Vec::new();
                reader.consumer.consume(2, |message| messages.push(message));
                reader.count_all(messages)
            };
            "try_iter", false, |reader| {
                let messages = reader.consumer.try_iter().collect();
                reader.count_all(messages)
            };
            "try_iter, a part of it", false, |reader| {
                let message = reader.consumer.try_iter().next();
                reader.count_all(message.into_iter().collect())
            };
            "iter", true, |reader| {
                let message = reader.consumer.iter().next();
                reader.count_all(message.into_iter().collect())
            };
        };
        #[cfg(feature = "async")]
        {
            let more: Vec<Verb<Self>> = verbs! {
                "recv_async", true, |reader| block_on(Receive::recv_async(reader));
                "recv_batch_async", true, |reader| {
                    assert_eq!(block_on(reader.consumer.recv_batch_async(&mut [])), Ok(0), "at once");
                    let mut buffer = [u64::MAX; 3];
                    let result = block_on(reader.consumer.recv_batch_async(&mut buffer));
                    let count = result.unwrap_or(0);
                    assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                    Got::of_batch(result, reader.count_all(buffer[..count].to_vec()))
                };
                "stream", true, |reader| {
                    let message = block_on(reader.consumer.stream().next());
                    reader.count_all(message.into_iter().collect())
                };
            };
            verbs.extend(more);
        }
        verbs
    }
}
