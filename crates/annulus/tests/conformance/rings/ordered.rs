//! The ordered queue, as a lossless ring with one subscriber.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::queue::ordered;
use annulus::{
    CapacityError, LossyTryRecvError, RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError,
    WaitStrategy,
};

#[cfg(feature = "async")]
use futures_util::StreamExt;

#[cfg(feature = "async")]
use crate::support::tasks::{Messages, Task, block_on};

#[cfg(feature = "async")]
use super::Got;
use super::{Publish, Receive, Ring, Verb, verbs};

pub(crate) struct OneOrder;

/// A sender that counts.
pub(crate) struct Counting {
    sender: ordered::Sender<u64>,
    sent: u64,
    /// While one of its side has it, the queue is open.
    open: Arc<()>,
}

/// A receiver that counts.
pub(crate) struct Reader {
    receiver: ordered::Receiver<u64>,
    start: u64,
    received: u64,
}

/// The receiver, until it is asked for.
#[derive(Clone)]
pub(crate) struct Once {
    reader: Arc<Mutex<Option<Reader>>>,
    open: Weak<()>,
}

impl Ring for OneOrder {
    const LOSSLESS: bool = true;
    const MANY: bool = true;
    type Publisher = Counting;
    type Source = Once;
    type Subscriber = Reader;

    fn make(_: annulus::Settings) -> Result<(Counting, Once), CapacityError> {
        unreachable!("no property of queues has a watermark")
    }

    fn begin(capacity: usize, first: u64) -> (Counting, Once) {
        let (sender, receiver) = ordered::with(Settings::new(capacity).first(first)).unwrap();
        let reader = Reader { receiver, start: first, received: 0 };
        let open = Arc::new(());
        let once = Once { reader: Arc::new(Mutex::new(Some(reader))), open: Arc::downgrade(&open) };
        (Counting { sender, sent: 0, open }, once)
    }

    fn subscribe(source: &Once) -> Reader {
        source.reader.lock().unwrap().take().expect("a queue has one subscriber here")
    }

    fn from_oldest(_: &Once) -> Option<Reader> {
        None
    }

    fn is_closed(source: &Once) -> bool {
        source.open.strong_count() == 0
    }
}

impl Publish for Counting {
    fn publish(&mut self, number: u64) -> Result<(), SendError<()>> {
        self.sender.send(number).map_err(|error| {
            assert_eq!(error.into_inner(), number);
            SendError(())
        })?;
        self.sent += 1;
        Ok(())
    }

    #[cfg(feature = "async")]
    fn publish_async(&mut self, number: u64) -> Task<'_, Result<(), SendError<()>>> {
        Box::pin(async move {
            self.sender.send_async(number).await.map_err(|error| {
                assert_eq!(error.into_inner(), number);
                SendError(())
            })?;
            self.sent += 1;
            Ok(())
        })
    }

    fn try_publish(&mut self, number: u64) -> Result<(), TrySendError<()>> {
        self.sender.try_send(number).map_err(|error| match error {
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
        let sent = self.sender.send_batch(numbers);
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
        self.sender.capacity()
    }

    fn is_abandoned(&self) -> bool {
        self.sender.is_closed()
    }

    fn is_closed(&self) -> bool {
        self.sender.is_closed()
    }

    fn accepted(publishers: &[Self]) -> u64 {
        publishers.iter().map(|publisher| publisher.sent).sum()
    }

    fn close(&self) {
        self.sender.close();
    }

    fn closer(&self) -> annulus::Closer {
        self.sender.closer()
    }

    fn observer(&self) -> annulus::Observer {
        self.sender.observer()
    }

    fn another(&self) -> Option<Self> {
        Some(Self { sender: self.sender.clone(), sent: 0, open: Arc::clone(&self.open) })
    }
}

impl Reader {
    fn count<E>(&mut self, result: Result<u64, E>) -> Result<u64, E> {
        self.received += u64::from(result.is_ok());
        result
    }

    fn count_all(&mut self, messages: Vec<u64>) -> Vec<u64> {
        self.received += messages.len() as u64;
        messages
    }
}

impl Receive for Reader {
    fn try_recv(&mut self) -> Result<u64, LossyTryRecvError> {
        let result = self.receiver.try_recv().map_err(|error| match error {
            TryRecvError::Empty => LossyTryRecvError::Empty,
            TryRecvError::Closed => LossyTryRecvError::Closed,
        });
        self.count(result)
    }

    fn recv(&mut self) -> Result<u64, RecvError> {
        let result = self.receiver.recv();
        self.count(result)
    }

    #[cfg(feature = "async")]
    fn recv_async(&mut self) -> Task<'_, Result<u64, RecvError>> {
        Box::pin(async move {
            let result = self.receiver.recv_async().await;
            self.count(result)
        })
    }

    #[cfg(feature = "async")]
    fn into_stream(self) -> Option<Messages> {
        Some(Box::pin(self.receiver.into_stream()))
    }

    fn recv_timeout(&mut self, timeout: Duration) -> Result<u64, RecvTimeoutError> {
        let result = self.receiver.recv_timeout(timeout);
        self.count(result)
    }

    fn recv_until(&mut self, deadline: Instant) -> Result<u64, RecvTimeoutError> {
        let result = self.receiver.recv_until(deadline);
        self.count(result)
    }

    fn panic_on_next(&mut self) -> bool {
        let consume = || self.receiver.consume(usize::MAX, |_| resume_unwind(Box::new("on purpose")));
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
        self.receiver.len()
    }

    fn capacity(&self) -> usize {
        self.receiver.capacity()
    }

    fn is_closed(&self) -> bool {
        self.receiver.is_closed()
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
                let result = reader.receiver.recv_until(WaitStrategy::Monitor);
                reader.count(result)
            };
            "recv_timeout", false, |reader| Receive::recv_timeout(reader, Duration::ZERO);
            "recv_until", false, |reader| Receive::recv_until(reader, Instant::now());
            "try_recv_batch", false, |reader| {
                let mut buffer = [u64::MAX; 3];
                let count = reader.receiver.try_recv_batch(&mut buffer);
                assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                reader.count_all(buffer[..count].to_vec())
            };
            "recv_batch", true, |reader| {
                let mut buffer = [u64::MAX; 3];
                let count = reader.receiver.recv_batch(&mut buffer).unwrap_or(0);
                reader.count_all(buffer[..count].to_vec())
            };
            "recv_many", true, |reader| {
                let mut buffer = vec![u64::MAX];
                assert_eq!(reader.receiver.recv_many(&mut buffer, 0), Ok(0), "at once");
                let count = reader.receiver.recv_many(&mut buffer, 2).unwrap_or(0);
                assert_eq!((buffer.remove(0), buffer.len()), (u64::MAX, count));
                reader.count_all(buffer)
            };
            "consume", false, |reader| {
                let mut messages = Vec::new();
                reader.receiver.consume(usize::MAX, |message| messages.push(message));
                reader.count_all(messages)
            };
            "consume_up_to", false, |reader| {
                let mut messages = Vec::new();
                reader.receiver.consume(2, |message| messages.push(message));
                reader.count_all(messages)
            };
            "try_iter", false, |reader| {
                let messages = reader.receiver.try_iter().collect();
                reader.count_all(messages)
            };
            "try_iter, a part of it", false, |reader| {
                let message = reader.receiver.try_iter().next();
                reader.count_all(message.into_iter().collect())
            };
            "iter", true, |reader| {
                let message = reader.receiver.iter().next();
                reader.count_all(message.into_iter().collect())
            };
        };
        #[cfg(feature = "async")]
        {
            let more: Vec<Verb<Self>> = verbs! {
                "recv_async", true, |reader| block_on(Receive::recv_async(reader));
                "recv_batch_async", true, |reader| {
                    assert_eq!(block_on(reader.receiver.recv_batch_async(&mut [])), Ok(0), "at once");
                    let mut buffer = [u64::MAX; 3];
                    let result = block_on(reader.receiver.recv_batch_async(&mut buffer));
                    let count = result.unwrap_or(0);
                    assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                    Got::of_batch(result, reader.count_all(buffer[..count].to_vec()))
                };
                "stream", true, |reader| {
                    let message = block_on(reader.receiver.stream().next());
                    reader.count_all(message.into_iter().collect())
                };
            };
            verbs.extend(more);
        }
        verbs
    }
}
