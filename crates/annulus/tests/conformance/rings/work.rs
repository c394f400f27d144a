//! Queues that consumers of several processes share, as lossless rings with one subscriber. All mappings of a
//! queue are in this process.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use annulus::shm::mpmc::{Builder, Consumer, Producer, consumer, producer};
use annulus::shm::{Invitation, WhenGone};
use annulus::{
    CapacityError, LossyTryRecvError, RecvError, RecvTimeoutError, SendError, Settings, TryRecvError,
    TrySendError, WaitStrategy,
};

#[cfg(feature = "async")]
use futures_util::StreamExt;

#[cfg(feature = "async")]
use crate::support::tasks::{Task, block_on};

use super::{Got, Publish, Receive, Ring, Verb, verbs};

/// A queue that several consumers may share.
pub(crate) struct SharedWork;

impl Ring for SharedWork {
    const LOSSLESS: bool = true;
    const MANY: bool = true;
    type Publisher = Sending;
    type Source = Once;
    type Subscriber = Reading;

    fn make(_: Settings) -> Result<(Sending, Once), CapacityError> {
        unreachable!("no property of queues has a headroom")
    }

    fn begin(capacity: usize, first: u64) -> (Sending, Once) {
        let builder = Builder::new(Settings::new(capacity).first(first)).when_no_producer(WhenGone::Close);
        let made = builder.when_no_consumer(WhenGone::Close).build::<u64>().unwrap();
        let invitation = Arc::new(made.invitation);
        let capacity = made.handle.capacity();
        let reader =
            Reading { consumer: consumer(&invitation).unwrap(), start: first, received: 0, capacity };
        let open = Arc::new(());
        let once = Once { reader: Arc::new(Mutex::new(Some(reader))), open: Arc::downgrade(&open) };
        (Sending { producer: producer(&invitation).unwrap(), sent: 0, invitation, open }, once)
    }

    fn subscribe(source: &Once) -> Reading {
        source.reader.lock().unwrap().take().expect("a queue has one subscriber here")
    }

    fn from_oldest(_: &Once) -> Option<Reading> {
        None
    }

    fn is_closed(source: &Once) -> bool {
        source.open.strong_count() == 0
    }
}

/// A producer that counts, and what another one joins by.
pub(crate) struct Sending {
    producer: Producer<u64>,
    sent: u64,
    invitation: Arc<Invitation>,
    /// While one of its side has it, the queue is open.
    open: Arc<()>,
}

/// A consumer that counts.
pub(crate) struct Reading {
    consumer: Consumer<u64>,
    start: u64,
    received: u64,
    capacity: usize,
}

/// The consumer, until it is asked for.
#[derive(Clone)]
pub(crate) struct Once {
    reader: Arc<Mutex<Option<Reading>>>,
    open: Weak<()>,
}

impl Publish for Sending {
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
            self.producer.send_async(number).await.map_err(|_| SendError(()))?;
            self.sent += 1;
            Ok(())
        })
    }

    fn try_publish(&mut self, number: u64) -> Result<(), TrySendError<()>> {
        self.producer.try_send(number).map_err(|error| {
            let is_full = error.is_full();
            assert_eq!(error.into_inner(), number);
            if is_full { TrySendError::Full(()) } else { TrySendError::Closed(()) }
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
        unreachable!("another process observes it")
    }

    fn another(&self) -> Option<Self> {
        let producer = producer(&self.invitation).ok()?;
        let (invitation, open) = (Arc::clone(&self.invitation), Arc::clone(&self.open));
        Some(Self { producer, sent: 0, invitation, open })
    }
}

impl Reading {
    fn count<E>(&mut self, result: Result<u64, E>) -> Result<u64, E> {
        self.received += u64::from(result.is_ok());
        result
    }

    fn count_all(&mut self, messages: &[u64]) -> Vec<u64> {
        self.received += messages.len() as u64;
        messages.to_vec()
    }
}

impl Receive for Reading {
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
            let result = annulus::Receive::recv_async(&mut self.consumer).await;
            self.count(result)
        })
    }

    fn recv_timeout(&mut self, timeout: Duration) -> Result<u64, RecvTimeoutError> {
        let result = self.consumer.recv_timeout(timeout);
        self.count(result)
    }

    fn recv_until(&mut self, deadline: Instant) -> Result<u64, RecvTimeoutError> {
        let result = annulus::Receive::recv_until(&mut self.consumer, deadline);
        self.count(result)
    }

    /// It comes back, and is received in the second try.
    fn panic_on_next(&mut self) -> bool {
        let work = || {
            let _claimed = self.consumer.try_claim().expect("one is there");
            resume_unwind(Box::new("on purpose"))
        };
        let _: Box<dyn std::any::Any + Send> = catch_unwind(AssertUnwindSafe(work)).unwrap_err();
        let again = self.consumer.try_claim().expect("it is given again");
        assert_eq!(again.given_before(), 1);
        again.done();
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
        self.capacity
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
                let result = annulus::Receive::recv_until(&mut reader.consumer, WaitStrategy::Monitor);
                reader.count(result)
            };
            "recv_timeout", false, |reader| Receive::recv_timeout(reader, Duration::ZERO);
            "recv_until", false, |reader| Receive::recv_until(reader, Instant::now());
            "claim", true, |reader| {
                let result = reader.consumer.claim().map(annulus::shm::mpmc::Claimed::done);
                reader.count(result)
            };
            "try_claim", false, |reader| {
                let result = reader.consumer.try_claim().map(annulus::shm::mpmc::Claimed::done);
                reader.count(result)
            };
            "try_recv_batch", false, |reader| {
                let mut buffer = [u64::MAX; 3];
                let count = reader.consumer.try_recv_batch(&mut buffer);
                assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                reader.count_all(&buffer[..count])
            };
            "recv_batch", true, |reader| {
                assert_eq!(reader.consumer.recv_batch(&mut []), Ok(0), "at once");
                let mut buffer = [u64::MAX; 3];
                let result = reader.consumer.recv_batch(&mut buffer);
                let count = result.unwrap_or(0);
                assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                Got::of_batch(result, reader.count_all(&buffer[..count]))
            };
            "iter", true, |reader| {
                let message = annulus::Receive::iter(&mut reader.consumer).next();
                reader.received += u64::from(message.is_some());
                message
            };
        };
        #[cfg(feature = "async")]
        {
            let more: Vec<Verb<Self>> = verbs! {
                "recv_async", true, |reader| block_on(Receive::recv_async(reader));
                "claim_async", true, |reader| {
                    let result = block_on(reader.consumer.claim_async()).map(annulus::shm::mpmc::Claimed::done);
                    reader.count(result)
                };
                "stream", true, |reader| {
                    let message = block_on(annulus::Receive::stream(&mut reader.consumer).next());
                    reader.received += u64::from(message.is_some());
                    message
                };
            };
            verbs.extend(more);
        }
        verbs
    }
}
