//! The ends of a queue, which count what they send and receive: a lossless ring with one subscriber.

use std::sync::{Arc, Mutex, Weak};

/// A sending end that counts.
pub(crate) struct Counting<P> {
    pub(super) producer: P,
    pub(super) sent: u64,
    /// While one of its side has it, the queue is open.
    pub(super) open: Arc<()>,
}

/// A receiving end that counts.
pub(crate) struct Reader<C> {
    pub(super) consumer: C,
    pub(super) start: u64,
    pub(super) received: u64,
}

/// The receiving end, until it is asked for.
pub(crate) struct Once<C> {
    pub(super) reader: Arc<Mutex<Option<Reader<C>>>>,
    pub(super) open: Weak<()>,
}

impl<C> Clone for Once<C> {
    fn clone(&self) -> Self {
        Self { reader: Arc::clone(&self.reader), open: Weak::clone(&self.open) }
    }
}

/// The two ends of a queue whose first message is this one.
pub(super) fn begin<P, C>((producer, consumer): (P, C), first: u64) -> (Counting<P>, Once<C>) {
    let open = Arc::new(());
    let reader = Arc::new(Mutex::new(Some(Reader { consumer, start: first, received: 0 })));
    let once = Once { reader, open: Arc::downgrade(&open) };
    (Counting { producer, sent: 0, open }, once)
}

impl<C> Reader<C> {
    pub(super) fn count<E>(&mut self, result: Result<u64, E>) -> Result<u64, E> {
        self.received += u64::from(result.is_ok());
        result
    }

    pub(super) fn count_all(&mut self, messages: Vec<u64>) -> Vec<u64> {
        self.received += messages.len() as u64;
        messages
    }
}

/// A queue: its name, its ends, and how it is made.
macro_rules! queue {
    ($name:ident, $producer:ty, $consumer:ty, many: $many:literal, |$settings:ident| $made:expr) => {
        pub(crate) struct $name;

        impl crate::rings::Ring for $name {
            const LOSSLESS: bool = true;
            const MANY: bool = $many;
            type Publisher = crate::rings::ends::Counting<$producer>;
            type Source = crate::rings::ends::Once<$consumer>;
            type Subscriber = crate::rings::ends::Reader<$consumer>;

            fn make(_: annulus::Settings) -> Result<(Self::Publisher, Self::Source), annulus::CapacityError> {
                unreachable!("no property of queues has a headroom")
            }

            fn begin(capacity: usize, first: u64) -> (Self::Publisher, Self::Source) {
                let $settings = annulus::Settings::new(capacity).first(first);
                crate::rings::ends::begin($made, first)
            }

            fn named(name: &'static str) -> (Self::Publisher, Self::Source) {
                let $settings = annulus::Settings::new(8).name(name);
                crate::rings::ends::begin($made, 0)
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
pub(super) use queue;

/// A sending end: its generic parameters and its type, and what differs.
macro_rules! sends {
    ([$($generic:tt)*] $producer:ty, observer: |$observed:ident| $observer:expr,
     another: |$original:ident| $another:expr $(,)?) => {
        impl<$($generic)*> crate::rings::Publish for crate::rings::ends::Counting<$producer>
        where
            $producer: Send + 'static,
        {
            fn publish(&mut self, number: u64) -> Result<(), annulus::SendError<()>> {
                self.producer.send(number).map_err(|error| {
                    assert_eq!(error.into_inner(), number);
                    annulus::SendError(())
                })?;
                self.sent += 1;
                Ok(())
            }

            #[cfg(feature = "async")]
            fn publish_async(
                &mut self,
                number: u64,
            ) -> crate::support::tasks::Task<'_, Result<(), annulus::SendError<()>>> {
                Box::pin(async move {
                    self.producer.send_async(number).await.map_err(|error| {
                        assert_eq!(error.into_inner(), number);
                        annulus::SendError(())
                    })?;
                    self.sent += 1;
                    Ok(())
                })
            }

            fn try_publish(&mut self, number: u64) -> Result<(), annulus::TrySendError<()>> {
                self.producer.try_send(number).map_err(|error| {
                    let is_full = error.is_full();
                    assert_eq!(error.into_inner(), number);
                    if is_full { annulus::TrySendError::Full(()) } else { annulus::TrySendError::Closed(()) }
                })?;
                self.sent += 1;
                Ok(())
            }

            fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), annulus::SendError<()>> {
                let sent = self.producer.send_batch(numbers);
                let left = sent.as_ref().map_or_else(|error| error.0.len(), |()| 0);
                self.sent += (numbers.len() - left) as u64;
                sent.map_err(|_| annulus::SendError(()))
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
                let $observed = &self.producer;
                $observer
            }

            fn another(&self) -> Option<Self> {
                let $original = &self.producer;
                let (producer, open) = ($another?, std::sync::Arc::clone(&self.open));
                Some(Self { producer, sent: 0, open })
            }
        }
    };
}
pub(super) use sends;

/// A receiving end: its generic parameters and its type, and what differs.
macro_rules! receives {
    ([$($generic:tt)*] $consumer:ty, into_stream: |$streaming:ident| $into_stream:expr,
     panic_on_next: |$panicking:ident| $panic_on_next:expr, more_verbs: $more_verbs:expr $(,)?) => {
        impl<$($generic)*> crate::rings::Receive for crate::rings::ends::Reader<$consumer>
        where
            $consumer: Send + 'static,
        {
            fn try_recv(&mut self) -> Result<u64, annulus::LossyTryRecvError> {
                let result = self.consumer.try_recv().map_err(annulus::LossyTryRecvError::from);
                self.count(result)
            }

            fn recv(&mut self) -> Result<u64, annulus::RecvError> {
                let result = self.consumer.recv();
                self.count(result)
            }

            #[cfg(feature = "async")]
            fn recv_async(
                &mut self,
            ) -> crate::support::tasks::Task<'_, Result<u64, annulus::RecvError>> {
                Box::pin(async move {
                    let result = self.consumer.recv_async().await;
                    self.count(result)
                })
            }

            #[cfg(feature = "async")]
            fn into_stream(self) -> Option<crate::support::tasks::Messages> {
                let $streaming = self.consumer;
                $into_stream
            }

            fn recv_timeout(
                &mut self,
                timeout: std::time::Duration,
            ) -> Result<u64, annulus::RecvTimeoutError> {
                let result = self.consumer.recv_timeout(timeout);
                self.count(result)
            }

            fn recv_until(
                &mut self,
                deadline: std::time::Instant,
            ) -> Result<u64, annulus::RecvTimeoutError> {
                let result = self.consumer.recv_until(deadline);
                self.count(result)
            }

            fn panic_on_next(&mut self) -> bool {
                let $panicking = &mut self.consumer;
                $panic_on_next;
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

            fn verbs() -> Vec<crate::rings::Verb<Self>> {
                use std::time::{Duration, Instant};

                let mut verbs: Vec<crate::rings::Verb<Self>> = crate::rings::verbs! {
                    "try_recv", false, |reader| crate::rings::Receive::try_recv(reader);
                    "recv", true, |reader| crate::rings::Receive::recv(reader);
                    "recv_until", true, |reader| {
                        let result = reader.consumer.recv_until(annulus::WaitStrategy::Monitor);
                        reader.count(result)
                    };
                    "recv_timeout", false, |reader| {
                        crate::rings::Receive::recv_timeout(reader, Duration::ZERO)
                    };
                    "recv_until", false, |reader| crate::rings::Receive::recv_until(reader, Instant::now());
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
                        crate::rings::Got::of_batch(result, reader.count_all(buffer[..count].to_vec()))
                    };
                    "iter", true, |reader| {
                        let message = reader.consumer.iter().next();
                        reader.count_all(message.into_iter().collect())
                    };
                };
                #[cfg(feature = "async")]
                {
                    use futures_util::StreamExt;

                    let more: Vec<crate::rings::Verb<Self>> = crate::rings::verbs! {
                        "recv_async", true, |reader| {
                            crate::support::tasks::block_on(crate::rings::Receive::recv_async(reader))
                        };
                        "stream", true, |reader| {
                            let message = crate::support::tasks::block_on(reader.consumer.stream().next());
                            reader.count_all(message.into_iter().collect())
                        };
                    };
                    verbs.extend(more);
                }
                verbs.extend($more_verbs);
                verbs
            }
        }
    };
}
pub(super) use receives;

/// What the consumers of all queues in one process have besides.
macro_rules! more_verbs {
    () => {{
        #[allow(unused_mut, reason = "without the feature `async` nothing is added")]
        let mut verbs: Vec<crate::rings::Verb<Self>> = crate::rings::verbs! {
            "recv_many", true, |reader| {
                let mut buffer = vec![u64::MAX];
                assert_eq!(reader.consumer.recv_many(&mut buffer, 0), Ok(0), "at once");
                let result = reader.consumer.recv_many(&mut buffer, 2);
                assert_eq!(buffer.remove(0), u64::MAX);
                crate::rings::Got::of_batch(result, reader.count_all(buffer))
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
        };
        #[cfg(feature = "async")]
        {
            use crate::support::tasks::block_on;

            let more: Vec<crate::rings::Verb<Self>> = crate::rings::verbs! {
                "recv_batch_async", true, |reader| {
                    assert_eq!(block_on(reader.consumer.recv_batch_async(&mut [])), Ok(0), "at once");
                    let mut buffer = [u64::MAX; 3];
                    let result = block_on(reader.consumer.recv_batch_async(&mut buffer));
                    let count = result.unwrap_or(0);
                    assert!(buffer[count..].iter().all(|&left| left == u64::MAX), "wrote behind its count");
                    crate::rings::Got::of_batch(result, reader.count_all(buffer[..count].to_vec()))
                };
            };
            verbs.extend(more);
        }
        verbs
    }};
}
pub(super) use more_verbs;

/// The handler of the next message panics.
macro_rules! panic_in_handler {
    ($consumer:ident) => {{
        use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

        let consume = || $consumer.consume(usize::MAX, |_| resume_unwind(Box::new("on purpose")));
        catch_unwind(AssertUnwindSafe(consume)).expect_err("it was to panic")
    }};
}
pub(super) use panic_in_handler;
