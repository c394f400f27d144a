//! [`Inlet`] and [`Outlet`]: what a stage receives from, and what it sends into, whatever ring it is.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;

use super::counters::{Received, SentCount};
use super::edge::EdgeKind;
use super::readers::{ReaderGone, Readers, WaitPlan, receive};
use super::timing::Timing;
use crate::Receive;
use crate::broadcast::{Lossless, Lossy, Mode, Publisher, Subscriber};
use crate::error::{PublishError, RecvError, Refusal, SendError, TryPublishError, TrySendError};
use crate::message::Message;
use crate::queue::{Consumer, Producer, ordered, spsc};
use crate::transmit::room::Alone;
use crate::wait::{Control, EventCount, Lending, Look, WaitStrategy};

/// Where a stage receives its messages.
pub(super) trait Inlet<T>: Send {
    /// Waits for a message. An error at the end of what comes, and if nothing is there and the wait is over.
    fn receive(&mut self, how: WaitPlan<'_>) -> Result<T, RecvError>;

    /// The next message, if it is there. The end is found by [`receive`](Self::receive).
    fn try_receive(&mut self) -> Option<T>;

    /// Appends messages that are there to `batch`, until it has `most`.
    fn receive_more(&mut self, batch: &mut Vec<T>, most: usize) {
        while batch.len() < most {
            let Some(message) = self.try_receive() else { break };
            batch.push(message);
        }
    }

    /// Shows what wakes the thread that waits here, once for each ring.
    fn each_control(&self, see: &mut dyn FnMut(&Arc<Control>));

    // Decision 0100.
    /// The thread that receives here has panicked. If others of its stage receive from the same ring, nothing
    /// more comes in for them, and they end when nothing is left.
    fn abandon(&mut self) {}

    /// The consumer that it is, where it is one of a queue with one producer.
    fn consumer(&mut self) -> Option<&mut CountedConsumer<T>>
    where
        T: Send + 'static,
    {
        None
    }
}

/// Where a stage sends its results.
pub(super) trait Outlet<T>: Send {
    /// Sends `message`. Waits for room as `timing` says, which does not count that as work. Drops the message
    /// and returns false if nobody receives it.
    fn pass(&mut self, message: T, timing: &mut Timing<'_>) -> bool;

    /// Whether the next message would be refused.
    fn is_closed(&self) -> bool;

    /// When [`is_closed`](Self::is_closed) becomes true, whoever waits with `control` is woken.
    fn wake_at_the_end(&self, control: &Arc<Control>);

    /// What an input sends into, where it is one ring.
    // Unreached: of what no input sends into: decision 0076
    fn into_entry(self: Box<Self>) -> Option<BoxEntry<T>> {
        None
    }

    /// The producer that it is, where it is one of a queue with one.
    fn producer(&mut self) -> Option<&mut CountedProducer<T>>
    where
        T: Send + 'static,
    {
        None
    }
}

// Decision 0076: one ring behind an input.
/// The ring behind an input, which sends into it alone. What is free there stays free until it sends.
pub(super) trait InputRing<T>: Outlet<T> + Alone {
    /// Sends `message` if there is room.
    fn try_send(&mut self, message: T) -> Result<(), TryPublishError<T>>;

    /// Sends `message`. Waits for room by `strategy`, or by that of the ring. Gives it back if the ring is
    /// closed.
    fn send(&mut self, message: T, strategy: Option<WaitStrategy>) -> Result<(), T>;

    /// Those who receive what it sends.
    fn readers(&self) -> &Readers;

    /// The producer that it is, where it is one of a queue with one.
    fn into_producer(self: Box<Self>) -> Result<CountedProducer<T>, BoxEntry<T>>
    where
        T: Send;
}

/// A receiving handle, and what it has counted.
pub(super) struct Reader<H> {
    /// Before the handle, which keeps the lent event alive: fields are dropped in this order.
    lending: Lending,
    pub(super) handle: H,
    counters: Arc<Received>,
    /// After the handle.
    leaving: ReaderGone,
}

impl<H> Reader<H> {
    pub(super) fn new(handle: H, counters: Arc<Received>, readers: &Arc<Readers>) -> Self {
        let (lending, leaving) = (Lending::new(Arc::default()), ReaderGone(Arc::clone(readers)));
        Self { lending, handle, counters, leaving }
    }

    /// The handle, which is an output from now on, and those who are told of its end.
    pub(super) fn into_output(self) -> (H, Arc<Readers>) {
        (self.handle, Arc::clone(&self.leaving.0))
    }
}

/// A sending handle, and what it has counted.
pub(super) struct Writer<H> {
    pub(super) handle: H,
    pub(super) counters: Arc<SentCount>,
    pub(super) readers: Arc<Readers>,
}

/// The consumer of a queue with one producer.
pub(super) type CountedConsumer<T> = Reader<spsc::Consumer<T>>;

/// The producer of a queue with one.
pub(super) type CountedProducer<T> = Writer<spsc::Producer<T>>;

pub(super) type BoxInlet<T> = Box<dyn Inlet<T>>;
pub(super) type BoxOutlet<T> = Box<dyn Outlet<T>>;
pub(super) type BoxEntry<T> = Box<dyn InputRing<T>>;

/// A receiving handle of a pipeline's own rings.
pub(super) trait Takes<T>: Receive<Item = T> + Send + 'static {
    /// How many messages it has lost, if it can lose any.
    fn losses(&self) -> Option<u64> {
        None
    }

    /// As [`Inlet::abandon`].
    fn abandon(&self) {}
}

impl<T: Send + 'static, H: Takes<T>> Inlet<T> for Reader<H> {
    #[inline]
    fn receive(&mut self, how: WaitPlan<'_>) -> Result<T, RecvError> {
        // SAFETY: the fields are in this order. Only what is no inlet yet is taken apart.
        let received = unsafe { receive(&mut self.handle, &mut self.lending, how) };
        self.counters.received.add(u64::from(received.is_ok()));
        if let Some(lost) = self.handle.losses() {
            self.counters.lost.set(lost);
        }
        received
    }

    #[inline]
    fn try_receive(&mut self) -> Option<T> {
        // The end is found again by the next receive.
        let Look::Found(Ok(message)) = self.handle.poll_in_hand() else { return None };
        self.counters.received.add(1);
        if let Some(lost) = self.handle.losses() {
            self.counters.lost.set(lost);
        }
        Some(message)
    }

    fn each_control(&self, see: &mut dyn FnMut(&Arc<Control>)) {
        see(self.lending.control());
    }

    fn abandon(&mut self) {
        self.handle.abandon();
    }

    fn consumer(&mut self) -> Option<&mut CountedConsumer<T>> {
        (self as &mut dyn Any).downcast_mut()
    }
}

impl<T: Send + 'static, K: EdgeKind> Takes<T> for Consumer<T, K> {}

impl<T: Message, M: Mode> Takes<T> for Subscriber<T, M> {
    fn losses(&self) -> Option<u64> {
        (!M::LOSSLESS).then(|| self.total_lagged())
    }
}

/// One thread of a stage takes a message when it works on it: what one thread holds, no other can work on.
impl<T: Send + 'static> Takes<T> for ordered::Receiver<T> {
    fn abandon(&self) {
        self.closer().close();
    }
}

/// A sending handle of a pipeline's own rings.
pub(super) trait Sends<T>: Alone + Send + 'static {
    /// As [`InputRing::try_send`].
    fn try_put(&mut self, message: T) -> Result<(), TryPublishError<T>>;

    /// As [`InputRing::send`].
    fn put(&mut self, message: T, strategy: Option<WaitStrategy>) -> Result<(), T>;

    /// As [`Outlet::is_closed`].
    fn refuses(&self) -> bool;
}

impl<T: Send + 'static, H: Sends<T>> Outlet<T> for Writer<H> {
    #[inline]
    fn pass(&mut self, message: T, timing: &mut Timing<'_>) -> bool {
        match self.try_send(message) {
            Ok(()) => true,
            Err(TryPublishError::Full(message)) => {
                timing.while_it_waits(|strategy| self.send(message, Some(strategy)).is_ok())
            }
            Err(TryPublishError::Closed(_)) => false,
        }
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.handle.refuses()
    }

    fn wake_at_the_end(&self, control: &Arc<Control>) {
        self.readers.wake_at_the_end(control);
    }

    fn into_entry(self: Box<Self>) -> Option<BoxEntry<T>> {
        Some(self)
    }

    fn producer(&mut self) -> Option<&mut CountedProducer<T>> {
        (self as &mut dyn Any).downcast_mut()
    }
}

impl<T: Send + 'static, H: Sends<T>> InputRing<T> for Writer<H> {
    #[inline]
    fn try_send(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        self.handle.try_put(message).map(|()| self.counters.0.add(1))
    }

    #[inline]
    fn send(&mut self, message: T, strategy: Option<WaitStrategy>) -> Result<(), T> {
        self.handle.put(message, strategy).map(|()| self.counters.0.add(1))
    }

    fn readers(&self) -> &Readers {
        &self.readers
    }

    fn into_producer(self: Box<Self>) -> Result<CountedProducer<T>, BoxEntry<T>> {
        let mut this = Some(*self);
        match (&mut this as &mut dyn Any).downcast_mut::<Option<CountedProducer<T>>>() {
            Some(producer) => Ok(producer.take().unwrap_or_else(|| unreachable!("it is there"))),
            None => Err(Box::new(this.unwrap_or_else(|| unreachable!("it is there")))),
        }
    }
}

impl<T: Send + 'static, K: EdgeKind> Sends<T> for Producer<T, K> {
    #[inline]
    fn try_put(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        given_back(self.try_send(message))
    }

    #[inline]
    fn put(&mut self, message: T, strategy: Option<WaitStrategy>) -> Result<(), T> {
        let sent = match strategy {
            None => self.send(message),
            Some(strategy) => self.send_by(message, strategy),
        };
        sent.map_err(SendError::into_inner)
    }

    #[inline]
    fn refuses(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Send + 'static> Sends<T> for ordered::Sender<T> {
    fn try_put(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        given_back(self.try_send(message))
    }

    fn put(&mut self, message: T, strategy: Option<WaitStrategy>) -> Result<(), T> {
        let sent = match strategy {
            None => self.send(message),
            Some(strategy) => self.send_by(message, strategy),
        };
        sent.map_err(SendError::into_inner)
    }

    fn refuses(&self) -> bool {
        self.is_closed()
    }
}

/// What a queue gives back, as a publisher's error.
#[inline]
fn given_back<T>(sent: Result<(), TrySendError<T>>) -> Result<(), TryPublishError<T>> {
    sent.map_err(|error| match error {
        TrySendError::Full(message) => TryPublishError::Full(message),
        TrySendError::Closed(message) => TryPublishError::Closed(message),
    })
}

impl<T: Message> Sends<T> for Publisher<T, Lossless> {
    fn try_put(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        self.try_publish(message)
    }

    fn put(&mut self, message: T, strategy: Option<WaitStrategy>) -> Result<(), T> {
        let sent = match strategy {
            None => self.publish(message),
            Some(strategy) => self.publish_by(message, strategy),
        };
        sent.map_err(PublishError::into_inner)
    }

    fn refuses(&self) -> bool {
        self.is_closed()
    }
}

/// A publisher of a lossy ring waits for nobody. Here, a ring that nobody reads counts as closed.
impl<T: Message> Sends<T> for Publisher<T, Lossy> {
    fn try_put(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        self.put(message, None).map_err(TryPublishError::Closed)
    }

    fn put(&mut self, message: T, _: Option<WaitStrategy>) -> Result<(), T> {
        if self.refuses() {
            return Err(message);
        }
        self.publish(message);
        Ok(())
    }

    fn refuses(&self) -> bool {
        self.is_closed() || self.subscriber_count() == 0
    }
}

/// What a handle knows of its room.
impl<H: Alone> Alone for Writer<H> {
    fn released(&self) -> &EventCount {
        self.handle.released()
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.handle.look_for_room()
    }

    fn strategy(&self) -> WaitStrategy {
        self.handle.strategy()
    }
}
