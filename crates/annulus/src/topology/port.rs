//! [`Inlet`] and [`Outlet`]: what a stage receives from, and what it sends into, whatever ring it is.
//!
//! A stage takes what is there in one call, and sends its results in one call. So the rings may be behind a
//! `dyn`, at one indirect call for each batch.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use super::counters::{Received, Sent};
use super::link::Link;
use crate::await_room::Alone;
use crate::broadcast::{Lossless, Lossy, Mode, Publisher, Subscriber};
use crate::error::{PublishError, RecvError, Refusal, SendError, TryPublishError, TrySendError};
use crate::message::Message;
use crate::queue::{Consumer, Producer, shared, spsc};
use crate::wait::{Event, WaitStrategy};

/// Where a stage receives its messages.
pub(super) trait Inlet<T>: Send {
    /// Waits for a message by `strategy`, and appends it to `batch` with those behind it: no more than
    /// `most`, which is not 0.
    fn receive(&mut self, batch: &mut Vec<T>, most: usize, strategy: WaitStrategy) -> Result<(), RecvError>;

    // Decision 0100.
    /// The thread that receives here has panicked. If others of its stage receive from the same ring, nothing
    /// more comes in for them, and they end when nothing is left.
    fn abandon(&mut self) {}

    /// The consumer that it is, with what it counts, where it is one of a queue with one producer.
    fn consumer(&mut self) -> Option<(&mut spsc::Consumer<T>, &Received)>
    where
        T: Send,
    {
        None
    }
}

/// Where a stage sends its results.
pub(super) trait Outlet<T>: Send {
    /// Sends `message`. Waits for room by `strategy`, or by that of the ring. Gives it back if the ring is
    /// closed.
    fn send(&mut self, message: T, strategy: Option<WaitStrategy>) -> Result<(), T>;

    /// Sends all of `batch`, in order, and leaves it empty. If the ring is closed, it drops what was not
    /// sent, and returns false.
    fn send_all(&mut self, batch: &mut Vec<T>, strategy: WaitStrategy) -> bool;

    /// Whether a send would fail.
    fn is_closed(&self) -> bool;

    /// What an input sends into, where it is one ring.
    // Unreached: of what no input sends into: decision 0076
    fn into_entry(self: Box<Self>) -> Option<BoxEntry<T>> {
        None
    }

    /// The producer that it is, where it is one of a queue with one.
    fn producer(&mut self) -> Option<(&mut spsc::Producer<T>, &Sent)>
    where
        T: Send,
    {
        None
    }
}

// Decision 0076: one ring behind an input.
/// The ring behind an input, which sends into it alone. What is free there stays free until it sends.
pub(super) trait Entry<T>: Outlet<T> + Alone {
    /// Sends `message` if there is room.
    fn try_send(&mut self, message: T) -> Result<(), TryPublishError<T>>;

    /// The producer that it is, where it is one of a queue with one.
    fn into_producer(self: Box<Self>) -> Result<CountedProducer<T>, BoxEntry<T>>
    where
        T: Send;
}

/// What is no producer of such a queue.
macro_rules! no_producer {
    () => {
        fn into_producer(self: Box<Self>) -> Result<CountedProducer<T>, BoxEntry<T>> {
            Err(self)
        }
    };
}

/// A handle, and what it has counted.
pub(super) struct Counted<H, C> {
    pub(super) handle: H,
    pub(super) counters: Arc<C>,
}

/// The consumer of a queue with one producer.
pub(super) type CountedConsumer<T> = Counted<spsc::Consumer<T>, Received>;

/// The producer of a queue with one.
pub(super) type CountedProducer<T> = Counted<spsc::Producer<T>, Sent>;

pub(super) type BoxInlet<T> = Box<dyn Inlet<T>>;
pub(super) type BoxOutlet<T> = Box<dyn Outlet<T>>;
pub(super) type BoxEntry<T> = Box<dyn Entry<T>>;

impl<T: Send, K: Link> Inlet<T> for Counted<Consumer<T, K>, Received> {
    fn receive(&mut self, batch: &mut Vec<T>, most: usize, strategy: WaitStrategy) -> Result<(), RecvError> {
        batch.push(self.handle.recv_by(strategy)?);
        let count = 1 + self.handle.consume_up_to(most - 1, |message| batch.push(message));
        self.counters.received.add(count as u64);
        Ok(())
    }

    fn consumer(&mut self) -> Option<(&mut spsc::Consumer<T>, &Received)> {
        Some((K::spsc_consumer(&mut self.handle)?, &*self.counters))
    }
}

impl<T: Message, M: Mode> Inlet<T> for Counted<Subscriber<T, M>, Received> {
    fn receive(&mut self, batch: &mut Vec<T>, most: usize, strategy: WaitStrategy) -> Result<(), RecvError> {
        let first = self.handle.recv_by(strategy)?;
        let start = batch.len();
        batch.resize(start + most, first);
        let others = self.handle.try_recv_batch(&mut batch[start + 1..]);
        batch.truncate(start + 1 + others);
        self.counters.received.add(1 + others as u64);
        if !M::LOSSLESS {
            self.counters.lost.set(self.handle.total_lagged());
        }
        Ok(())
    }
}

impl<T: Send + 'static, K: Link> Outlet<T> for Counted<Producer<T, K>, Sent> {
    #[inline]
    fn send(&mut self, message: T, strategy: Option<WaitStrategy>) -> Result<(), T> {
        let sent = match strategy {
            None => self.handle.send(message),
            Some(strategy) => self.handle.send_by(message, strategy),
        };
        sent.map(|()| self.counters.0.add(1)).map_err(SendError::into_inner)
    }

    fn send_all(&mut self, batch: &mut Vec<T>, strategy: WaitStrategy) -> bool {
        let mut is_open = true;
        // The one that waited for room, where there was none, goes in by itself.
        let mut values = batch.drain(..);
        let mut left = values.len();
        while left > 0 {
            if let Some(slots) = self.handle.try_reserve(left) {
                let count = slots.write_iter(values.by_ref());
                self.counters.0.add(count as u64);
                left -= count;
                continue;
            }
            let Some(message) = values.next() else { break };
            if Outlet::send(self, message, Some(strategy)).is_err() {
                is_open = false;
                break;
            }
            left -= 1;
        }
        is_open
    }

    fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }

    fn into_entry(self: Box<Self>) -> Option<BoxEntry<T>> {
        Some(self)
    }

    fn producer(&mut self) -> Option<(&mut spsc::Producer<T>, &Sent)> {
        Some((K::spsc_producer(&mut self.handle)?, &*self.counters))
    }
}

impl<T: Send + 'static, K: Link> Entry<T> for Counted<Producer<T, K>, Sent> {
    fn try_send(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        given_back(self.handle.try_send(message)).map(|()| self.counters.0.add(1))
    }

    fn into_producer(self: Box<Self>) -> Result<CountedProducer<T>, BoxEntry<T>> {
        let Self { handle, counters } = *self;
        match K::into_spsc(handle) {
            Ok(handle) => Ok(Counted { handle, counters }),
            // Unreached: as `into_spsc` in topology/link.rs
            Err(handle) => Err(Box::new(Self { handle, counters })),
        }
    }
}

/// What a handle knows of its room.
impl<H: Alone, C> Alone for Counted<H, C> {
    fn released(&self) -> &Event {
        self.handle.released()
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.handle.look_for_room()
    }

    fn strategy(&self) -> WaitStrategy {
        self.handle.strategy()
    }
}

impl<T: Send + 'static> Inlet<T> for Counted<shared::Receiver<T>, Received> {
    fn receive(&mut self, batch: &mut Vec<T>, _: usize, strategy: WaitStrategy) -> Result<(), RecvError> {
        // One by one: what one thread holds, no other can work on.
        batch.push(self.handle.recv_by(strategy)?);
        self.counters.received.add(1);
        Ok(())
    }

    fn abandon(&mut self) {
        self.handle.closer().close();
    }
}

impl<T: Send + 'static> Outlet<T> for Counted<shared::Sender<T>, Sent> {
    fn send(&mut self, message: T, strategy: Option<WaitStrategy>) -> Result<(), T> {
        let sent = match strategy {
            None => self.handle.send(message),
            Some(strategy) => self.handle.send_by(message, strategy),
        };
        sent.map(|()| self.counters.0.add(1)).map_err(SendError::into_inner)
    }

    fn send_all(&mut self, batch: &mut Vec<T>, strategy: WaitStrategy) -> bool {
        batch.drain(..).all(|message| self.send(message, Some(strategy)).is_ok())
    }

    fn is_closed(&self) -> bool {
        self.handle.is_closed()
    }

    fn into_entry(self: Box<Self>) -> Option<BoxEntry<T>> {
        Some(self)
    }
}

impl<T: Send + 'static> Entry<T> for Counted<shared::Sender<T>, Sent> {
    no_producer!();

    fn try_send(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        given_back(self.handle.try_send(message)).map(|()| self.counters.0.add(1))
    }
}

/// What a queue gives back, as a publisher's error.
fn given_back<T>(sent: Result<(), TrySendError<T>>) -> Result<(), TryPublishError<T>> {
    sent.map_err(|error| match error {
        TrySendError::Full(message) => TryPublishError::Full(message),
        TrySendError::Closed(message) => TryPublishError::Closed(message),
    })
}

/// A publisher, and what it has counted.
pub(super) struct Publishing<P> {
    pub(super) publisher: P,
    pub(super) counters: Arc<Sent>,
}

impl<T: Message> Outlet<T> for Publishing<Publisher<T, Lossless>> {
    fn send(&mut self, message: T, strategy: Option<WaitStrategy>) -> Result<(), T> {
        let sent = match strategy {
            None => self.publisher.publish(message),
            // Unreached: a stage sends into a broadcast ring in batches, and an input without a strategy
            Some(strategy) => self.publisher.publish_by(message, strategy),
        };
        sent.map(|()| self.counters.0.add(1)).map_err(PublishError::into_inner)
    }

    fn send_all(&mut self, batch: &mut Vec<T>, strategy: WaitStrategy) -> bool {
        let sent = self.publisher.publish_batch_by(batch, strategy);
        let left = sent.map_or_else(|error| error.into_inner().len(), |()| 0);
        self.counters.0.add((batch.len() - left) as u64);
        batch.clear();
        left == 0
    }

    fn is_closed(&self) -> bool {
        self.publisher.is_closed()
    }

    fn into_entry(self: Box<Self>) -> Option<BoxEntry<T>> {
        Some(self)
    }
}

impl<T: Message> Entry<T> for Publishing<Publisher<T, Lossless>> {
    no_producer!();

    fn try_send(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        self.publisher.try_publish(message).map(|()| self.counters.0.add(1))
    }
}

/// A publisher of a lossy ring waits for nobody. Here, a ring that nobody reads counts as closed.
impl<T: Message> Outlet<T> for Publishing<Publisher<T, Lossy>> {
    fn send(&mut self, message: T, _: Option<WaitStrategy>) -> Result<(), T> {
        if self.is_closed() {
            return Err(message);
        }
        self.publisher.publish(message);
        self.counters.0.add(1);
        Ok(())
    }

    fn send_all(&mut self, batch: &mut Vec<T>, _: WaitStrategy) -> bool {
        let is_open = !self.is_closed();
        if is_open {
            self.publisher.publish_batch(batch);
            self.counters.0.add(batch.len() as u64);
        }
        batch.clear();
        is_open
    }

    fn is_closed(&self) -> bool {
        self.publisher.is_closed() || self.publisher.subscriber_count() == 0
    }

    fn into_entry(self: Box<Self>) -> Option<BoxEntry<T>> {
        Some(self)
    }
}

impl<T: Message> Entry<T> for Publishing<Publisher<T, Lossy>> {
    no_producer!();

    fn try_send(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        self.send(message, None).map_err(TryPublishError::Closed)
    }
}

/// What a publisher knows of its room.
impl<P: Alone> Alone for Publishing<P> {
    fn released(&self) -> &Event {
        self.publisher.released()
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.publisher.look_for_room()
    }

    fn strategy(&self) -> WaitStrategy {
        self.publisher.strategy()
    }
}
