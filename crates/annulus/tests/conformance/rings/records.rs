//! Queues of records, as lossless rings with one subscriber: a message is a record of 8 bytes.
#![allow(clippy::disallowed_types, reason = "what the tests count is none of the library's atomics")]

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::queue::bytes::{Consumer, Producer, TryWriteError, WriteError};
use annulus::queue::kind::InPlace;
use annulus::{
    CapacityError, LossyTryRecvError, RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError,
    WaitStrategy, spsc,
};

#[cfg(feature = "async")]
use futures_util::StreamExt;

#[cfg(feature = "async")]
use crate::support::tasks::{Messages, Task, block_on};

use super::{Publish, Receive, Ring, Verb, verbs};

/// Of a record of 8 bytes: its length, and these.
const RECORD_BYTES: usize = 16;

/// A producer that counts.
pub(crate) struct Writing<K: InPlace> {
    producer: Producer<K>,
    /// What the consumer sees of it, too.
    sent: Arc<AtomicU64>,
    /// While it has it, the queue is open.
    _open: Arc<()>,
}

/// A consumer that counts.
pub(crate) struct Reading<K: InPlace> {
    consumer: Consumer<K>,
    start: u64,
    sent: Arc<AtomicU64>,
    received: u64,
}

/// The consumer, until it is asked for.
pub(crate) struct Once<K: InPlace> {
    reader: Arc<Mutex<Option<Reading<K>>>>,
    open: Weak<()>,
}

impl<K: InPlace> Clone for Once<K> {
    fn clone(&self) -> Self {
        Self { reader: Arc::clone(&self.reader), open: Weak::clone(&self.open) }
    }
}

macro_rules! records {
    ($name:ident, $kind:ty, |$settings:ident| $made:expr) => {
        pub(crate) struct $name;

        impl Ring for $name {
            const LOSSLESS: bool = true;
            const MANY: bool = false;
            type Publisher = Writing<$kind>;
            type Source = Once<$kind>;
            type Subscriber = Reading<$kind>;

            fn make(_: annulus::Settings) -> Result<(Self::Publisher, Self::Source), CapacityError> {
                unreachable!("no property of queues has a headroom")
            }

            fn begin(capacity: usize, first: u64) -> (Self::Publisher, Self::Source) {
                // So many records fit, and not one more.
                let $settings = Settings::new(RECORD_BYTES * capacity).first(first);
                let (producer, consumer) = $made;
                let (open, sent) = (Arc::new(()), Arc::new(AtomicU64::new(0)));
                let reader = Reading { consumer, start: first, sent: Arc::clone(&sent), received: 0 };
                let reader = Arc::new(Mutex::new(Some(reader)));
                let once = Once { reader, open: Arc::downgrade(&open) };
                (Writing { producer, sent, _open: open }, once)
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

records!(Records, spsc::Spsc, |settings| annulus::queue::bytes::with(settings).unwrap());
// Between processes: both sides of it are mapped here.
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
records!(SharedRecords, annulus::shm::spsc::Across<u64>, |settings| {
    use annulus::shm::{Shared, WhenGone, bytes};

    let Shared { handle: producer, invitation, .. } = bytes::producer(settings, WhenGone::Close).unwrap();
    (producer, bytes::consumer(&invitation).unwrap().0)
});

fn number(record: impl Into<Box<[u8]>>) -> u64 {
    u64::from_le_bytes((*record.into()).try_into().expect("a record of 8 bytes"))
}

impl<K: InPlace> Publish for Writing<K>
where
    Producer<K>: Send + 'static,
{
    fn publish(&mut self, number: u64) -> Result<(), SendError<()>> {
        self.producer.write(&number.to_le_bytes()).map_err(|error| {
            assert_eq!(error, WriteError::Closed);
            SendError(())
        })?;
        self.sent.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    #[cfg(feature = "async")]
    fn publish_async(&mut self, number: u64) -> Task<'_, Result<(), SendError<()>>> {
        Box::pin(async move {
            self.producer.write_async(&number.to_le_bytes()).await.map_err(|_| SendError(()))?;
            self.sent.fetch_add(1, Ordering::Relaxed);
            Ok(())
        })
    }

    fn try_publish(&mut self, number: u64) -> Result<(), TrySendError<()>> {
        self.producer.try_write(&number.to_le_bytes()).map_err(|error| match error {
            TryWriteError::Full => TrySendError::Full(()),
            TryWriteError::Closed => TrySendError::Closed(()),
            TryWriteError::TooLong(error) => panic!("{error}"),
        })?;
        self.sent.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    /// One by one: a record is sent by itself. In place, unlike the others.
    fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), SendError<()>> {
        for number in numbers {
            let mut record = self.producer.reserve(8).map_err(|_| SendError(()))?;
            record.write_at(0, &number.to_le_bytes());
            record.commit().map_err(|_| SendError(()))?;
            self.sent.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }

    fn publish_panicking(&mut self) {
        unreachable!("a record is made before it is sent")
    }

    fn published(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    fn capacity(&self) -> usize {
        self.producer.capacity() / RECORD_BYTES
    }

    fn is_abandoned(&self) -> bool {
        self.producer.is_closed()
    }

    fn is_closed(&self) -> bool {
        self.producer.is_closed()
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
        None
    }
}

impl<K: InPlace> Reading<K> {
    fn count<E>(&mut self, result: Result<u64, E>) -> Result<u64, E> {
        self.received += u64::from(result.is_ok());
        result
    }
}

impl<K: InPlace> Receive for Reading<K>
where
    Consumer<K>: Send + 'static,
{
    fn try_recv(&mut self) -> Result<u64, LossyTryRecvError> {
        let result = self.consumer.try_read().map(number).map_err(|error| match error {
            TryRecvError::Empty => LossyTryRecvError::Empty,
            TryRecvError::Closed => LossyTryRecvError::Closed,
        });
        self.count(result)
    }

    fn recv(&mut self) -> Result<u64, RecvError> {
        let result = self.consumer.read().map(number);
        self.count(result)
    }

    #[cfg(feature = "async")]
    fn recv_async(&mut self) -> Task<'_, Result<u64, RecvError>> {
        Box::pin(async move {
            let result = self.consumer.read_async().await.map(number);
            self.count(result)
        })
    }

    #[cfg(feature = "async")]
    fn into_stream(self) -> Option<Messages> {
        Some(Box::pin(self.consumer.into_stream().map(number)))
    }

    fn recv_timeout(&mut self, timeout: Duration) -> Result<u64, RecvTimeoutError> {
        let result = self.consumer.read_timeout(timeout).map(number);
        self.count(result)
    }

    fn recv_until(&mut self, deadline: Instant) -> Result<u64, RecvTimeoutError> {
        let result = self.consumer.read_until(deadline).map(number);
        self.count(result)
    }

    fn panic_on_next(&mut self) -> bool {
        let read = || {
            let _record = self.consumer.try_read().expect("one is there");
            resume_unwind(Box::new("on purpose"))
        };
        let _: Box<dyn std::any::Any + Send> = catch_unwind(AssertUnwindSafe(read)).unwrap_err();
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
        let len = (self.sent.load(Ordering::Relaxed) - self.received) as usize;
        assert_eq!(len == 0, self.consumer.is_empty());
        len
    }

    fn capacity(&self) -> usize {
        self.consumer.capacity() / RECORD_BYTES
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
            "try_read", false, |reader| Receive::try_recv(reader);
            "read", true, |reader| Receive::recv(reader);
            "read_until", true, |reader| {
                let result = reader.consumer.read_until(WaitStrategy::Monitor).map(number);
                reader.count(result)
            };
            "read_timeout", false, |reader| Receive::recv_timeout(reader, Duration::ZERO);
            "read_until", false, |reader| Receive::recv_until(reader, Instant::now());
        };
        #[cfg(feature = "async")]
        {
            let more: Vec<Verb<Self>> = verbs! {
                "read_async", true, |reader| block_on(Receive::recv_async(reader));
                "stream", true, |reader| {
                    let record = block_on(reader.consumer.stream().next());
                    reader.received += u64::from(record.is_some());
                    record.map(number)
                };
            };
            verbs.extend(more);
        }
        verbs
    }
}
