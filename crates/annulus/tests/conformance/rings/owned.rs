//! Rings of owned events. An event is a vector of one to four copies of its number, so one that is
//! half-changed shows.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

use annulus::broadcast::{Lossless, Mode, Staged};
use annulus::event::{self, Reset};
use annulus::{
    LossyTryRecvError, RecvError, RecvTimeoutError, SendError, TryRecvError, TrySendError, WaitStrategy,
};

#[cfg(feature = "async")]
use futures_util::StreamExt;

#[cfg(feature = "async")]
use crate::support::tasks::{Messages, Task, block_on};

use super::{Got, Publish, Receive, Verb, batch, ring, verbs};

ring!(Events, lossless: true, many: false,
    event::Publisher<Vec<u64>>, event::Subscribable<Vec<u64>>, event::Subscriber<Vec<u64>>,
    |builder| event::with(builder, Vec::new), |source| source.subscribe(), oldest: |source| Some(source.subscribe_from_oldest()));
#[cfg(feature = "std")]
ring!(MappedEvents, lossless: true, many: false,
    event::Publisher<Vec<u64>>, event::Subscribable<Vec<u64>>, event::Subscriber<Vec<u64>>,
    |builder| event::with(builder.memory(super::mapped()), Vec::new), |source| source.subscribe(),
    oldest: |source| Some(source.subscribe_from_oldest()));
ring!(MpEvents, lossless: true, many: true,
    event::MpPublisher<Vec<u64>>, event::Subscribable<Vec<u64>>, event::Subscriber<Vec<u64>>,
    |builder| event::mp_with(builder, Vec::new), |source| source.subscribe(), oldest: |source| Some(source.subscribe_from_oldest()));

/// Two rings whose closures only add, and rely on the reset.
type Cleared = fn(&mut Vec<u64>);

ring!(ResetEvents, lossless: true, many: false,
    event::Publisher<Vec<u64>, Cleared>, event::Subscribable<Vec<u64>>, event::Subscriber<Vec<u64>>,
    |builder| event::with(builder, Vec::new).map(|(publisher, source)| (publisher.with_reset(Vec::clear), source)),
    |source| source.subscribe(),
    oldest: |source| Some(source.subscribe_from_oldest()));
ring!(MpResetEvents, lossless: true, many: true,
    event::MpPublisher<Vec<u64>, Cleared>, event::Subscribable<Vec<u64>>, event::Subscriber<Vec<u64>>,
    |builder| event::mp_with(builder, Vec::new).map(|(publisher, source)| (publisher.with_reset(Vec::clear), source)),
    |source| source.subscribe(),
    oldest: |source| Some(source.subscribe_from_oldest()));

/// How the closures of a ring find its events.
pub(crate) trait Finds: Reset<Vec<u64>> + 'static {
    const CLEARED: bool;
}

impl Finds for () {
    const CLEARED: bool = false;
}

impl Finds for Cleared {
    const CLEARED: bool = true;
}

/// The event of a number, as a value.
fn value(number: u64) -> Vec<u64> {
    vec![number; 1 + (number % 4) as usize]
}

/// Whether this one goes in whole.
fn is_sent(number: u64) -> bool {
    number % 3 == 1
}

/// The event of a number.
fn change<R: Finds>(number: u64) -> impl FnOnce(&mut Vec<u64>) {
    move |event| {
        if !R::CLEARED {
            event.clear();
        }
        event.extend(value(number));
    }
}

/// The number of an event.
#[allow(clippy::ptr_arg, reason = "the type of the events")]
fn number(event: &Vec<u64>) -> u64 {
    let number = event[0];
    assert!(event.iter().all(|&copy| copy == number), "half of another event: {event:?}");
    assert_eq!(event.len() as u64, 1 + number % 4, "half of another event: {event:?}");
    number
}

/// A value that was refused comes back as it was; in the error there is nothing left of it.
fn back<E>(number: u64, refused: &[u64], error: impl FnOnce(()) -> E) -> E {
    assert_eq!(refused, value(number));
    error(())
}

fn try_sent(number: u64, sent: Result<(), TrySendError<Vec<u64>>>) -> Result<(), TrySendError<()>> {
    sent.map_err(|error| match error {
        TrySendError::Full(refused) => back(number, &refused, TrySendError::Full),
        TrySendError::Closed(refused) => back(number, &refused, TrySendError::Closed),
    })
}

/// A closure that leaves the event half-changed and panics.
fn on_purpose(event: &mut Vec<u64>) {
    event.push(u64::MAX);
    resume_unwind(Box::new("on purpose"))
}

impl<R: Finds> Publish for event::Publisher<Vec<u64>, R> {
    fn publish(&mut self, number: u64) -> Result<(), SendError<()>> {
        if is_sent(number) {
            self.send(value(number)).map_err(|error| back(number, &error.0, SendError))
        } else {
            self.publish(change::<R>(number)).map_err(|_| SendError(()))
        }
    }

    #[cfg(feature = "async")]
    fn publish_async(&mut self, number: u64) -> Task<'_, Result<(), SendError<()>>> {
        Box::pin(async move {
            if is_sent(number) {
                self.send_async(value(number)).await.map_err(|error| back(number, &error.0, SendError))
            } else {
                self.publish_async(change::<R>(number)).await.map_err(|_| SendError(()))
            }
        })
    }

    fn try_publish(&mut self, number: u64) -> Result<(), TrySendError<()>> {
        if is_sent(number) {
            return try_sent(number, self.try_send(value(number)));
        }
        self.try_publish(change::<R>(number))
    }

    fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), SendError<()>> {
        numbers.iter().try_for_each(|&number| Publish::publish(self, number))
    }

    fn publish_panicking(&mut self) {
        catch_unwind(AssertUnwindSafe(|| self.publish(on_purpose).unwrap())).unwrap_err();
    }

    fn published(&self) -> u64 {
        self.published()
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    fn receiving_handle(&self) -> Option<Box<dyn Any>> {
        Some(Box::new(self.subscribable()))
    }

    fn is_abandoned(&self) -> bool {
        self.is_closed()
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

impl<R: Finds> Publish for event::MpPublisher<Vec<u64>, R> {
    fn publish(&mut self, number: u64) -> Result<(), SendError<()>> {
        if is_sent(number) {
            return self.send(value(number)).map_err(|error| back(number, &error.0, SendError));
        }
        self.publish(change::<R>(number))
    }

    #[cfg(feature = "async")]
    fn publish_async(&mut self, number: u64) -> Task<'_, Result<(), SendError<()>>> {
        Box::pin(async move {
            if is_sent(number) {
                self.send_async(value(number)).await.map_err(|error| back(number, &error.0, SendError))
            } else {
                self.publish_async(change::<R>(number)).await.map_err(|_| SendError(()))
            }
        })
    }

    fn try_publish(&mut self, number: u64) -> Result<(), TrySendError<()>> {
        if is_sent(number) {
            return try_sent(number, self.try_send(value(number)));
        }
        self.try_publish(change::<R>(number))
    }

    fn publish_batch(&mut self, numbers: &[u64]) -> Result<(), SendError<()>> {
        numbers.iter().try_for_each(|&number| Publish::publish(self, number))
    }

    fn publish_panicking(&mut self) {
        catch_unwind(AssertUnwindSafe(|| self.publish(on_purpose).unwrap())).unwrap_err();
    }

    fn published(&self) -> u64 {
        self.published()
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    fn receiving_handle(&self) -> Option<Box<dyn Any>> {
        Some(Box::new(self.subscribable()))
    }

    fn is_abandoned(&self) -> bool {
        self.is_closed()
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
        Some(self.clone())
    }
}

/// Which of them can be cloned.
pub(crate) trait ForksEvents: Mode + 'static {
    fn fork_events(_: &event::Subscriber<Vec<u64>, Self>) -> Option<event::Subscriber<Vec<u64>, Self>>;
}

impl ForksEvents for Lossless {
    fn fork_events(
        subscriber: &event::Subscriber<Vec<u64>, Self>,
    ) -> Option<event::Subscriber<Vec<u64>, Self>> {
        Some(subscriber.clone())
    }
}

impl ForksEvents for Staged<Lossless> {
    fn fork_events(_: &event::Subscriber<Vec<u64>, Self>) -> Option<event::Subscriber<Vec<u64>, Self>> {
        None
    }
}

impl<M: ForksEvents> Receive for event::Subscriber<Vec<u64>, M>
where
    event::Subscriber<Vec<u64>, M>: Send,
{
    fn try_recv(&mut self) -> Result<u64, LossyTryRecvError> {
        self.try_process(number).map_err(Into::into)
    }

    fn recv(&mut self) -> Result<u64, RecvError> {
        self.process(number)
    }

    #[cfg(feature = "async")]
    fn recv_async(&mut self) -> Task<'_, Result<u64, RecvError>> {
        Box::pin(self.process_async(number))
    }

    #[cfg(feature = "async")]
    fn into_stream(self) -> Option<Messages> {
        Some(Box::pin(self.into_stream().map(|event| number(&event))))
    }

    fn recv_timeout(&mut self, timeout: Duration) -> Result<u64, RecvTimeoutError> {
        self.process_timeout(timeout, number)
    }

    fn recv_until(&mut self, deadline: Instant) -> Result<u64, RecvTimeoutError> {
        self.process_until(deadline, number)
    }

    fn panic_on_next(&mut self) -> bool {
        catch_unwind(AssertUnwindSafe(|| self.process(|_| resume_unwind(Box::new("on purpose"))))).is_err()
    }

    fn cursor(&self) -> u64 {
        self.cursor()
    }

    fn received(&self) -> u64 {
        self.total_received()
    }

    fn lagged(&self) -> u64 {
        0
    }

    fn len(&self) -> usize {
        self.len()
    }

    fn capacity(&self) -> usize {
        self.capacity()
    }

    fn is_closed(&self) -> bool {
        self.is_closed()
    }

    fn fork(&self) -> Option<Self> {
        M::fork_events(self)
    }

    fn verbs() -> Vec<Verb<Self>> {
        #[allow(unused_mut, reason = "without the feature `async` nothing is added")]
        let mut verbs: Vec<Verb<Self>> = verbs! {
            "try_process", false, |subscriber| Receive::try_recv(subscriber);
            "process", true, |subscriber| subscriber.process(number);
            "process_until", true, |subscriber| subscriber.process_until(WaitStrategy::Monitor, number);
            "process_timeout", false, |subscriber| subscriber.process_timeout(Duration::ZERO, number);
            "process_until", false, |subscriber| subscriber.process_until(Instant::now(), number);
            "try_process_batch", false, |subscriber| batch(number, |look| match subscriber.try_process_batch(3, look) {
                Err(TryRecvError::Empty) => Err(RecvTimeoutError::Timeout),
                Err(TryRecvError::Closed) => Err(RecvTimeoutError::Closed),
                Ok(count) => Ok(count),
            });
            "process_batch", true, |subscriber| batch(number, |look| Ok(subscriber.process_batch(3, look)?));
            "process_batch_until", true, |subscriber| {
                batch(number, |look| subscriber.process_batch_until(3, WaitStrategy::PauseSpin, look))
            };
            "process_batch_timeout", false, |subscriber| {
                batch(number, |look| subscriber.process_batch_timeout(3, Duration::ZERO, look))
            };
            "process_batch_until", false, |subscriber| {
                batch(number, |look| subscriber.process_batch_until(usize::MAX, Instant::now(), look))
            };
            "peek", false, |subscriber| peek(subscriber);
            "wait", true, |subscriber| subscriber.wait().map(|()| peek(subscriber).unwrap());
            "wait_until", true, |subscriber| {
                subscriber.wait_until(WaitStrategy::PauseSpin).map(|()| peek(subscriber).unwrap())
            };
            "wait_timeout", false, |subscriber| {
                subscriber.wait_timeout(Duration::ZERO).map(|()| peek(subscriber).unwrap())
            };
            "wait_until", false, |subscriber| {
                subscriber.wait_until(Instant::now()).map(|()| peek(subscriber).unwrap())
            };
            "try_recv", false, |subscriber| {
                subscriber.try_recv().map(|event| number(&event)).map_err(LossyTryRecvError::from)
            };
            "recv", true, |subscriber| subscriber.recv().map(|event| number(&event));
            "recv_until", true, |subscriber| {
                subscriber.recv_until(WaitStrategy::Monitor).map(|event| number(&event))
            };
            "recv_timeout", false, |subscriber| subscriber.recv_timeout(Duration::ZERO).map(|event| number(&event));
            "recv_until", false, |subscriber| subscriber.recv_until(Instant::now()).map(|event| number(&event));
            "try_recv_batch", false, |subscriber| {
                let mut buffer = [const { Vec::new() }; 3];
                let count = subscriber.try_recv_batch(&mut buffer);
                assert!(buffer[count..].iter().all(Vec::is_empty), "wrote behind its count");
                buffer[..count].iter().map(number).collect::<Vec<_>>()
            };
            "recv_batch", true, |subscriber| {
                assert_eq!(subscriber.recv_batch(&mut []), Ok(0), "at once");
                let mut buffer = [const { Vec::new() }; 3];
                let result = subscriber.recv_batch(&mut buffer);
                Got::of_batch(result, buffer[..result.unwrap_or(0)].iter().map(number).collect())
            };
            "recv_many", true, |subscriber| {
                let mut buffer = vec![Vec::new()];
                assert_eq!(subscriber.recv_many(&mut buffer, 0), Ok(0), "at once");
                let result = subscriber.recv_many(&mut buffer, 2);
                assert!(buffer.remove(0).is_empty());
                Got::of_batch(result, buffer.iter().map(number).collect())
            };
            "try_iter", false, |subscriber| {
                let there = subscriber.try_iter().take(3);
                let count = there.len();
                let numbers: Vec<u64> = there.map(|event| number(&event)).collect();
                assert_eq!(numbers.len(), count);
                numbers
            };
            "iter", true, |subscriber| subscriber.iter().next().map(|event| number(&event));
            "for", true, |subscriber| subscriber.into_iter().next().map(|event| number(&event));
        };
        #[cfg(feature = "async")]
        {
            let more: Vec<Verb<Self>> = verbs! {
                "process_async", true, |subscriber| block_on(subscriber.process_async(number));
                "process_batch_async", true, |subscriber| {
                    batch(number, |look| Ok(block_on(subscriber.process_batch_async(3, look))?))
                };
                "wait_async", true, |subscriber| {
                    block_on(subscriber.wait_async()).map(|()| peek(subscriber).unwrap())
                };
                "recv_async", true, |subscriber| block_on(subscriber.recv_async()).map(|event| number(&event));
                "recv_batch_async", true, |subscriber| {
                    assert_eq!(block_on(subscriber.recv_batch_async(&mut [])), Ok(0), "at once");
                    let mut buffer = [const { Vec::new() }; 3];
                    let result = block_on(subscriber.recv_batch_async(&mut buffer));
                    Got::of_batch(result, buffer[..result.unwrap_or(0)].iter().map(number).collect())
                };
                "stream", true, |subscriber| block_on(subscriber.stream().next()).map(|event| number(&event));
            };
            verbs.extend(more);
        }
        verbs
    }
}

/// The next event by reference: looked at twice, then passed.
fn peek<M: Mode>(subscriber: &mut event::Subscriber<Vec<u64>, M>) -> Option<u64> {
    let seen = subscriber.peek().map(|event| number(&event));
    let event = subscriber.peek()?;
    assert_eq!(Some(number(&event)), seen);
    event.pass();
    seen
}
