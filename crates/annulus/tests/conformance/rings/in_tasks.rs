//! Any ring, with the async verbs in place of those that wait: what waits is a task.

use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::{CapacityError, LossyTryRecvError, RecvError, RecvTimeoutError, SendError, TrySendError};

use super::{Publish, Receive, Ring, Verb};
use crate::support::tasks::{Messages, Task, block_on, block_on_until};

pub(crate) struct InTasks<R>(std::marker::PhantomData<R>);

pub(crate) type LossyInTasks = InTasks<super::Lossy>;
pub(crate) type LosslessInTasks = InTasks<super::Lossless>;
pub(crate) type MpLossyInTasks = InTasks<super::MpLossy>;
pub(crate) type MpLosslessInTasks = InTasks<super::MpLossless>;
pub(crate) type EventsInTasks = InTasks<super::Events>;
pub(crate) type MpEventsInTasks = InTasks<super::MpEvents>;
pub(crate) type GroupedInTasks = InTasks<super::Grouped>;
pub(crate) type TrackedInTasks = InTasks<super::Tracked>;
pub(crate) type BehindLosslessInTasks = InTasks<super::BehindLossless>;
pub(crate) type MatchingInTasks = InTasks<super::Matching>;
pub(crate) type MatchingLosslessInTasks = InTasks<super::MatchingLossless>;
pub(crate) type SpscInTasks = InTasks<super::SpscQueue>;
pub(crate) type MpscInTasks = InTasks<super::MpscQueue>;
pub(crate) type SpmcInTasks = InTasks<super::SpmcQueue>;
pub(crate) type MpmcQueueInTasks = InTasks<super::MpmcQueue>;
pub(crate) type OneOrderInTasks = InTasks<super::OneOrderQueue>;

/// A publisher or a subscriber.
#[repr(transparent)]
pub(crate) struct InTask<H>(H);

impl<R: Ring> Ring for InTasks<R> {
    const LOSSLESS: bool = R::LOSSLESS;
    const MANY: bool = R::MANY;
    const PASSES_OVER: bool = R::PASSES_OVER;
    type Publisher = InTask<R::Publisher>;
    type Source = R::Source;
    type Subscriber = InTask<R::Subscriber>;

    fn make(settings: Settings) -> Result<(Self::Publisher, Self::Source), CapacityError> {
        R::make(settings).map(|(publisher, source)| (InTask(publisher), source))
    }

    fn begin(capacity: usize, first: u64) -> (Self::Publisher, Self::Source) {
        let (publisher, source) = R::begin(capacity, first);
        (InTask(publisher), source)
    }

    fn subscribe(source: &Self::Source) -> Self::Subscriber {
        InTask(R::subscribe(source))
    }

    fn from_oldest(source: &Self::Source) -> Option<Self::Subscriber> {
        R::from_oldest(source).map(InTask)
    }

    fn is_closed(source: &Self::Source) -> bool {
        R::is_closed(source)
    }
}

impl<P: Publish> Publish for InTask<P> {
    fn publish(&mut self, number: u64) -> Result<(), SendError<()>> {
        block_on(self.0.publish_async(number))
    }

    fn publish_async(&mut self, number: u64) -> Task<'_, Result<(), SendError<()>>> {
        self.0.publish_async(number)
    }

    fn try_publish(&mut self, number: u64) -> Result<(), TrySendError<()>> {
        self.0.try_publish(number)
    }

    fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), SendError<()>> {
        block_on(async {
            for &number in numbers {
                self.0.publish_async(number).await?;
            }
            Ok(())
        })
    }

    fn publish_panicking(&mut self) {
        self.0.publish_panicking();
    }

    fn published(&self) -> u64 {
        self.0.published()
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }

    fn is_abandoned(&self) -> bool {
        self.0.is_abandoned()
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    fn close(&self) {
        self.0.close();
    }

    fn closer(&self) -> annulus::Closer {
        self.0.closer()
    }

    fn observer(&self) -> annulus::Observer {
        self.0.observer()
    }

    fn accepted(publishers: &[Self]) -> u64 {
        // SAFETY: it is a `P` and nothing else (`repr(transparent)`).
        P::accepted(unsafe { &*(std::ptr::from_ref(publishers) as *const [P]) })
    }

    fn another(&self) -> Option<Self> {
        self.0.another().map(Self)
    }
}

impl<S: Receive> Receive for InTask<S> {
    fn try_recv(&mut self) -> Result<u64, LossyTryRecvError> {
        self.0.try_recv()
    }

    fn recv(&mut self) -> Result<u64, RecvError> {
        block_on(self.0.recv_async())
    }

    fn recv_async(&mut self) -> Task<'_, Result<u64, RecvError>> {
        self.0.recv_async()
    }

    #[cfg(feature = "async")]
    fn into_stream(self) -> Option<Messages> {
        self.0.into_stream()
    }

    /// A future that is dropped in time.
    fn recv_timeout(&mut self, timeout: Duration) -> Result<u64, RecvTimeoutError> {
        match Instant::now().checked_add(timeout) {
            Some(deadline) => self.recv_until(deadline),
            None => Ok(self.recv()?),
        }
    }

    fn recv_until(&mut self, deadline: Instant) -> Result<u64, RecvTimeoutError> {
        match block_on_until(self.0.recv_async(), Some(deadline)) {
            Some(found) => Ok(found?),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    fn panic_on_next(&mut self) -> bool {
        self.0.panic_on_next()
    }

    fn cursor(&self) -> u64 {
        self.0.cursor()
    }

    fn received(&self) -> u64 {
        self.0.received()
    }

    fn lagged(&self) -> u64 {
        self.0.lagged()
    }

    fn len(&self) -> usize {
        self.0.len()
    }

    fn capacity(&self) -> usize {
        self.0.capacity()
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    fn fork(&self) -> Option<Self> {
        self.0.fork().map(Self)
    }

    fn verbs() -> Vec<Verb<Self>> {
        // The async ones are in the list of the ring itself, and the others are tested there.
        vec![
            Verb { name: "recv", waits: true, ask: |subscriber| Receive::recv(subscriber).into() },
            Verb {
                name: "recv_timeout",
                waits: false,
                ask: |subscriber| subscriber.recv_timeout(Duration::ZERO).into(),
            },
        ]
    }
}
