//! Lossless broadcast rings of records: a message is a record of 32 bytes, so that slots and bytes run out
//! together. Of a ring between processes, both mappings are in this process.
//!
//! The area has a power of two of bytes, so the capacity is rounded up: no property that needs another one.

use std::time::{Duration, Instant};

use annulus::broadcast::bytes::{
    Publisher, Subscribable, Subscriber, TryWriteError, WriteError, lossless_with,
};
use annulus::broadcast::{Lossless, Mode};
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
use annulus::shm::broadcast::bytes::AcceptedBytes;
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
use annulus::shm::{Shared, broadcast, broadcast::Awaited};
use annulus::{
    CapacityError, LossyTryRecvError, RecvError, RecvTimeoutError, SendError, Settings, TryRecvError,
    TrySendError, WaitStrategy,
};

#[cfg(feature = "async")]
use futures_util::StreamExt;

#[cfg(feature = "async")]
use crate::support::tasks::{Messages, Task, block_on};

use super::{Publish, Receive, Ring, Verb, verbs};

const RECORD_BYTES: usize = 32;

fn record(number: u64) -> [u8; RECORD_BYTES] {
    let mut record = [number as u8; RECORD_BYTES];
    record[..8].copy_from_slice(&number.to_le_bytes());
    record
}

/// The record is whole.
fn number(bytes: &[u8]) -> u64 {
    let number = u64::from_le_bytes(*bytes.first_chunk().expect("a number"));
    assert_eq!(bytes, record(number), "a torn record");
    number
}

/// A lossless ring of records: how it is made, and joined.
macro_rules! records {
    ($name:ident, between_processes: $between:literal, $source:ty, $mode:ty, |$settings:ident| $made:expr,
     |$from:ident| $subscribe:expr, oldest: |$past:ident| $oldest:expr) => {
        pub(crate) struct $name;

        impl Ring for $name {
            const LOSSLESS: bool = true;
            const MANY: bool = false;
            const BETWEEN_PROCESSES: bool = $between;
            type Publisher = Publisher<Lossless>;
            type Source = $source;
            type Subscriber = Reading<$mode>;

            fn make(_: Settings) -> Result<(Self::Publisher, Self::Source), CapacityError> {
                unreachable!("none of these properties has a headroom")
            }

            fn begin(capacity: usize, first: u64) -> (Self::Publisher, Self::Source) {
                let $settings = Settings::new(RECORD_BYTES * capacity).first(first);
                $made
            }

            fn subscribe($from: &Self::Source) -> Self::Subscriber {
                Reading { subscriber: $subscribe, buffer: Vec::new() }
            }

            fn from_oldest($past: &Self::Source) -> Option<Self::Subscriber> {
                Some(Reading { subscriber: $oldest, buffer: Vec::new() })
            }

            fn is_closed(source: &Self::Source) -> bool {
                source.is_closed()
            }
        }
    };
}

records!(LosslessRecords, between_processes: false, Subscribable<Lossless>, Lossless,
    |settings| lossless_with(settings).unwrap(),
    |source| source.subscribe(), oldest: |source| source.subscribe_from_oldest());
#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
records!(SharedLosslessRecords, between_processes: true, AcceptedBytes<Awaited>, Awaited,
    |settings| {
        let Shared { handle, invitation, .. } = broadcast::bytes::lossless(settings, 64).unwrap();
        (handle, invitation.accept_lossless_bytes().unwrap())
    },
    |source| source.subscribe().unwrap(), oldest: |source| source.subscribe_from_oldest().unwrap());

fn closed(error: WriteError) -> SendError<()> {
    assert_eq!(error, WriteError::Closed);
    SendError(())
}

impl Publish for Publisher<Lossless> {
    fn publish(&mut self, number: u64) -> Result<(), SendError<()>> {
        (*self).publish(&record(number)).map_err(closed)
    }

    #[cfg(feature = "async")]
    fn publish_async(&mut self, number: u64) -> Task<'_, Result<(), SendError<()>>> {
        Box::pin(async move { (*self).publish_async(&record(number)).await.map_err(closed) })
    }

    fn try_publish(&mut self, number: u64) -> Result<(), TrySendError<()>> {
        (*self).try_publish(&record(number)).map_err(|error| match error {
            TryWriteError::Full => TrySendError::Full(()),
            TryWriteError::Closed => TrySendError::Closed(()),
            TryWriteError::TooLong(error) => panic!("{error}"),
        })
    }

    /// One by one: a record is published by itself.
    fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), SendError<()>> {
        numbers.iter().try_for_each(|&number| Publish::publish(self, number))
    }

    fn publish_panicking(&mut self) {
        unreachable!("a record is made before it is published")
    }

    fn published(&self) -> u64 {
        self.published()
    }

    fn capacity(&self) -> usize {
        self.max_records()
    }

    fn is_abandoned(&self) -> bool {
        Self::is_closed(self)
    }

    fn is_closed(&self) -> bool {
        Self::is_closed(self)
    }

    fn close(&self) {
        Self::close(self);
    }

    fn closer(&self) -> annulus::Closer {
        Self::closer(self)
    }

    fn observer(&self) -> annulus::Observer {
        Self::observer(self)
    }

    fn another(&self) -> Option<Self> {
        None
    }
}

/// A subscriber, and its buffer.
pub(crate) struct Reading<M: Mode> {
    subscriber: Subscriber<M>,
    buffer: Vec<u8>,
}

/// What subscribers of the two modes do in their own ways.
pub(crate) trait Way: Mode + 'static {
    fn try_recv(reading: &mut Reading<Self>) -> Result<u64, LossyTryRecvError> {
        reading.by::<TryRecvError>(Subscriber::try_recv).map_err(Into::into)
    }

    fn fork(_: &Subscriber<Self>) -> Option<Subscriber<Self>> {
        None
    }

    /// Those that report a lag, where there can be one.
    fn or_lag_verbs() -> Vec<Verb<Reading<Self>>> {
        Vec::new()
    }
}

impl Way for Lossless {
    fn fork(subscriber: &Subscriber<Self>) -> Option<Subscriber<Self>> {
        Some(subscriber.clone())
    }
}

#[cfg(all(feature = "shm", target_os = "linux", not(any(miri, annulus_loom))))]
impl Way for Awaited {
    fn try_recv(reading: &mut Reading<Self>) -> Result<u64, LossyTryRecvError> {
        reading.by(Subscriber::try_recv_or_lag)
    }

    fn or_lag_verbs() -> Vec<Verb<Reading<Self>>> {
        verbs! {
            "try_recv_or_lag", false, |reader| reader.by(Subscriber::try_recv_or_lag);
            "recv_or_lag", true, |reader| reader.by(Subscriber::recv_or_lag).map_err(LossyTryRecvError::from);
            "recv_or_lag_timeout", false, |reader| {
                reader.by(|subscriber, buffer| subscriber.recv_or_lag_timeout(buffer, Duration::ZERO))
            };
        }
    }
}

impl<M: Mode> Reading<M> {
    /// The number of the record that a verb has brought.
    fn by<E>(
        &mut self,
        verb: impl FnOnce(&mut Subscriber<M>, &mut Vec<u8>) -> Result<usize, E>,
    ) -> Result<u64, E> {
        let length = verb(&mut self.subscriber, &mut self.buffer)?;
        assert_eq!(length, self.buffer.len());
        Ok(number(&self.buffer))
    }
}

impl<M: Way> Receive for Reading<M>
where
    Subscriber<M>: Send,
{
    fn try_recv(&mut self) -> Result<u64, LossyTryRecvError> {
        M::try_recv(self)
    }

    fn recv(&mut self) -> Result<u64, RecvError> {
        self.by(Subscriber::recv)
    }

    #[cfg(feature = "async")]
    fn recv_async(&mut self) -> Task<'_, Result<u64, RecvError>> {
        Box::pin(async move {
            self.subscriber.recv_async(&mut self.buffer).await?;
            Ok(number(&self.buffer))
        })
    }

    #[cfg(feature = "async")]
    fn into_stream(self) -> Option<Messages> {
        Some(Box::pin(self.subscriber.into_stream().map(|record| number(&record))))
    }

    fn recv_timeout(&mut self, timeout: Duration) -> Result<u64, RecvTimeoutError> {
        self.by(|subscriber, buffer| subscriber.recv_timeout(buffer, timeout))
    }

    fn recv_until(&mut self, deadline: Instant) -> Result<u64, RecvTimeoutError> {
        self.by(|subscriber, buffer| subscriber.recv_until(buffer, deadline))
    }

    fn panic_on_next(&mut self) -> bool {
        false
    }

    fn cursor(&self) -> u64 {
        self.subscriber.cursor()
    }

    fn received(&self) -> u64 {
        self.subscriber.total_received()
    }

    fn lagged(&self) -> u64 {
        self.subscriber.total_lagged()
    }

    fn len(&self) -> usize {
        self.subscriber.len()
    }

    fn capacity(&self) -> usize {
        self.subscriber.max_records()
    }

    fn is_closed(&self) -> bool {
        self.subscriber.is_closed()
    }

    fn fork(&self) -> Option<Self> {
        Some(Self { subscriber: M::fork(&self.subscriber)?, buffer: Vec::new() })
    }

    fn verbs() -> Vec<Verb<Self>> {
        #[allow(unused_mut, reason = "without the feature `async` nothing is added")]
        let mut verbs: Vec<Verb<Self>> = verbs! {
            "try_recv", false, |reader| reader.by::<TryRecvError>(Subscriber::try_recv);
            "recv", true, |reader| Receive::recv(reader);
            "recv_until", true, |reader| {
                reader.by(|subscriber, buffer| subscriber.recv_until(buffer, WaitStrategy::Monitor))
            };
            "recv_timeout", false, |reader| Receive::recv_timeout(reader, Duration::ZERO);
            "recv_until", false, |reader| Receive::recv_until(reader, Instant::now());
        };
        #[cfg(feature = "async")]
        {
            let more: Vec<Verb<Self>> = verbs! {
                "recv_async", true, |reader| block_on(Receive::recv_async(reader));
                "stream", true, |reader| {
                    block_on(reader.subscriber.stream().next()).map(|record| number(&record))
                };
            };
            verbs.extend(more);
        }
        verbs.extend(M::or_lag_verbs());
        verbs
    }
}
