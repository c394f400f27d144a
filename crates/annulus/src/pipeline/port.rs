//! [`Inlet`] and [`Outlet`]: what a stage receives from, and what it sends into, whatever ring it is.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::any::Any;

use super::readers::{PipelineState, ReaderGone, Readers, WaitPlan, receive};
use super::stats::{ReadCounts, SentCount};
use super::timing::Timing;
use crate::broadcast::{Lossless, Lossy, Publisher};
use crate::error::{GiveBack, RecvError, Refusal, SendTimeoutError, TrySendError};
use crate::message::Message;
use crate::queue::kind::InPlace;
use crate::queue::{Producer, ordered, spsc};
use crate::sync::seeded;
use crate::transmit::room::SoleSender;
use crate::wait::{Control, EventCount, Lending, Look, Until, WaitStrategy};
use crate::{Closer, Receive, Transmit};

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
    /// and returns false if nothing receives it.
    fn pass(&mut self, message: T, timing: &mut Timing<'_>) -> bool;

    /// Whether the next message would be refused.
    fn is_closed(&self) -> bool;

    /// When [`is_closed`](Self::is_closed) becomes true, the thread that waits with `control` is woken.
    fn wake_at_the_end(&self, control: &Arc<Control>);

    // Decision 0076: one ring behind an input.
    /// The ring behind an input, where this is one.
    // Unreached: of what no input sends into: decision 0076
    fn into_input_ring(self: Box<Self>) -> Option<InputRing<T>>
    where
        T: Send + 'static,
    {
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

/// A receiving handle of a pipeline's own rings, and what it has counted.
pub(super) struct Reader<H> {
    /// Before the handle, which keeps the lent eventcount alive: fields are dropped in this order.
    lending: Lending,
    pub(super) handle: H,
    counters: Arc<ReadCounts>,
    /// Of a ring that the threads of one stage share: closes it if this thread panics.
    abandoned: Option<Closer>,
    /// After the handle.
    leaving: ReaderGone,
}

impl<H> Reader<H> {
    pub(super) fn new(handle: H, counters: Arc<ReadCounts>, readers: &Arc<Readers>) -> Self {
        let (lending, leaving) = (Lending::new(Arc::default()), ReaderGone(Arc::clone(readers)));
        Self { lending, handle, counters, abandoned: None, leaving }
    }

    /// This reader, which closes its ring if its thread panics.
    pub(super) fn of_several(self, closer: Closer) -> Self {
        Self { abandoned: Some(closer), ..self }
    }

    /// The handle, which is an output from now on, and what is told of its end.
    pub(super) fn into_output(self) -> (H, Arc<Readers>) {
        (self.handle, Arc::clone(&self.leaving.0))
    }
}

impl<H: Receive> Reader<H> {
    #[inline]
    fn tell_losses(&self) {
        let lost = self.handle.lost();
        if lost > 0 {
            self.counters.lost.set(lost);
        }
    }
}

impl<H: Receive<Item: Send> + Send + 'static> Inlet<H::Item> for Reader<H> {
    #[inline]
    fn receive(&mut self, how: WaitPlan<'_>) -> Result<H::Item, RecvError> {
        // SAFETY: the fields are in this order. Only what is no inlet yet is taken apart.
        let received = unsafe { receive(&mut self.handle, &mut self.lending, how) };
        self.counters.received.add(u64::from(received.is_ok()));
        self.tell_losses();
        received
    }

    #[inline]
    fn try_receive(&mut self) -> Option<H::Item> {
        // The end is found again by the next receive.
        let Look::Found(Ok(message)) = self.handle.poll_in_hand() else { return None };
        self.counters.received.add(1);
        self.tell_losses();
        Some(message)
    }

    fn each_control(&self, see: &mut dyn FnMut(&Arc<Control>)) {
        see(self.lending.control());
    }

    fn abandon(&mut self) {
        if let Some(ring) = &self.abandoned {
            ring.close();
        }
    }

    fn consumer(&mut self) -> Option<&mut CountedConsumer<H::Item>>
    where
        H::Item: Send + 'static,
    {
        (self as &mut dyn Any).downcast_mut()
    }
}

/// A sending handle, and what it has counted.
pub(super) struct Writer<H: ?Sized> {
    pub(super) counters: Arc<SentCount>,
    pub(super) readers: Arc<Readers>,
    /// Last, so that its type may be erased.
    pub(super) handle: H,
}

/// The consumer of a queue with one producer.
pub(super) type CountedConsumer<T> = Reader<spsc::Consumer<T>>;

/// The producer of a queue with one.
pub(super) type CountedProducer<T> = Writer<spsc::Producer<T>>;

pub(super) type BoxInlet<T> = Box<dyn Inlet<T>>;
pub(super) type BoxOutlet<T> = Box<dyn Outlet<T>>;
pub(super) type BoxWriter<T> = Box<Writer<dyn CountedSender<T>>>;

/// The ring behind an input, which sends into it alone. What is free there stays free until it sends.
pub(super) enum InputRing<T: Send> {
    /// A queue with one producer.
    Queue(CountedProducer<T>),
    Other(BoxWriter<T>),
}

impl<T: Send + 'static> InputRing<T> {
    pub(super) fn try_send(&mut self, message: T) -> Result<(), TrySendError<T>> {
        match self {
            Self::Queue(producer) => producer.try_send(message),
            Self::Other(writer) => writer.try_send(message),
        }
    }

    pub(super) fn look_for_room(&mut self) -> Result<(), Refusal> {
        match self {
            Self::Queue(producer) => producer.look_for_room(),
            Self::Other(writer) => writer.look_for_room(),
        }
    }

    pub(super) fn is_closed(&self) -> bool {
        match self {
            Self::Queue(producer) => producer.refuses(),
            Self::Other(writer) => writer.refuses(),
        }
    }

    /// How many messages went in.
    pub(super) fn sent(&self) -> u64 {
        match self {
            Self::Queue(producer) => producer.counters.0.get(),
            Self::Other(writer) => writer.counters.0.get(),
        }
    }
}

/// A sending handle of a pipeline's own rings.
pub(super) trait CountedSender<T>: Transmit<Item = T> + SoleSender + 'static {
    /// Sends `message` if there is room.
    fn try_put(&mut self, message: T) -> Result<(), TrySendError<T>> {
        self.put_now(message).map_err(|(refusal, message)| TrySendError::of(refusal, message))
    }

    /// Sends `message`, or waits for room. Gives the message back if the ring is closed.
    fn put(&mut self, message: T, until: Until) -> Result<(), T> {
        match self.put_now(message) {
            Err((Refusal::Full, message)) => self.put_late(message, until),
            put => put,
        }
        .map_err(|(_, message)| message)
    }

    /// As [`Outlet::is_closed`].
    fn refuses(&self) -> bool {
        self.is_closed()
    }
}

impl<H: ?Sized> Writer<H> {
    /// As [`CountedSender::try_put`].
    #[inline]
    pub(super) fn try_send<T>(&mut self, message: T) -> Result<(), TrySendError<T>>
    where
        H: CountedSender<T>,
    {
        self.handle.try_put(message).map(|()| self.counters.0.add(1))
    }

    /// As [`CountedSender::put`].
    #[inline]
    pub(super) fn send<T>(&mut self, message: T, until: Until) -> Result<(), T>
    where
        H: CountedSender<T>,
    {
        self.handle.put(message, until).map(|()| self.counters.0.add(1))
    }

    #[inline]
    pub(super) fn refuses<T>(&self) -> bool
    where
        H: CountedSender<T>,
    {
        self.handle.refuses()
    }
}

impl<T: Send + 'static, H: CountedSender<T>> Outlet<T> for Writer<H> {
    #[inline]
    fn pass(&mut self, message: T, timing: &mut Timing<'_>) -> bool {
        match self.try_send(message) {
            Ok(()) => true,
            Err(TrySendError::Full(message)) => {
                timing.while_it_waits(|strategy| self.send(message, strategy.into()).is_ok())
            }
            Err(TrySendError::Closed(_)) => false,
        }
    }

    #[inline]
    fn is_closed(&self) -> bool {
        self.handle.refuses()
    }

    fn wake_at_the_end(&self, control: &Arc<Control>) {
        self.readers.wake_at_the_end(control);
    }

    fn into_input_ring(self: Box<Self>) -> Option<InputRing<T>> {
        if (&*self as &dyn Any).is::<CountedProducer<T>>() {
            (self as Box<dyn Any>).downcast().ok().map(|producer| InputRing::Queue(*producer))
        } else {
            Some(InputRing::Other(self))
        }
    }

    fn producer(&mut self) -> Option<&mut CountedProducer<T>> {
        (self as &mut dyn Any).downcast_mut()
    }
}

/// The most frequent handle has the queue's own verbs, which a loop inlines.
impl<T: Send + 'static, K: InPlace> CountedSender<T> for Producer<T, K> {
    #[inline]
    fn try_put(&mut self, message: T) -> Result<(), TrySendError<T>> {
        self.try_send(message)
    }

    #[inline]
    fn put(&mut self, message: T, until: Until) -> Result<(), T> {
        self.send_until(message, until).map_err(SendTimeoutError::into_inner)
    }

    #[inline]
    fn refuses(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Send + 'static> CountedSender<T> for ordered::Sender<T> {}

impl<T: Message> CountedSender<T> for Publisher<T, Lossless> {}

/// A publisher of a lossy ring waits for nothing. Here, a ring without subscribers counts as closed.
impl<T: Message> CountedSender<T> for Publisher<T, Lossy> {
    fn try_put(&mut self, message: T) -> Result<(), TrySendError<T>> {
        self.put(message, Until::FOREVER).map_err(TrySendError::Closed)
    }

    fn put(&mut self, message: T, _: Until) -> Result<(), T> {
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
impl<H: SoleSender + ?Sized> SoleSender for Writer<H> {
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

/// A receiving handle of the user's as what a stage receives from.
///
/// Its ring is not the pipeline's, so a shutdown can't close it. The thread waits there as a worker
/// does: it lends the ring's eventcount to the thread that stops it ([`Control`]).
pub(super) struct Existing<R: Receive> {
    /// Before the receiver, which keeps the lent eventcount alive: fields are dropped in this order.
    lending: Lending,
    receiver: R,
    counters: Arc<ReadCounts>,
}

impl<R: Receive> Existing<R> {
    pub(super) fn new(receiver: R, counters: Arc<ReadCounts>, shared: &PipelineState) -> Self {
        Self { lending: Lending::new(Arc::clone(&shared.source)), receiver, counters }
    }

    /// Counts what only the receiver can tell.
    fn tell_what_is_left(&self) {
        if !seeded!("source_loss_uncounted") {
            self.counters.lost.set(self.receiver.lost());
        }
        self.counters.left.set(self.receiver.left().unwrap_or(0));
    }
}

impl<R: Receive + Send> Inlet<R::Item> for Existing<R> {
    fn receive(&mut self, how: WaitPlan<'_>) -> Result<R::Item, RecvError> {
        // SAFETY: the fields are in this order, and nothing takes them apart.
        let received = unsafe { receive(&mut self.receiver, &mut self.lending, how) };
        self.counters.received.add(u64::from(received.is_ok()));
        self.tell_what_is_left();
        received
    }

    fn try_receive(&mut self) -> Option<R::Item> {
        if self.lending.control().asked().is_some() {
            return None;
        }
        // The end is found again by the next receive.
        let Look::Found(Ok(message)) = self.receiver.poll_in_hand() else { return None };
        self.counters.received.add(1);
        Some(message)
    }

    fn receive_more(&mut self, batch: &mut Vec<R::Item>, most: usize) {
        // One by one where the next receive says that the message before is processed.
        let most = if self.receiver.is_staged() && !seeded!("source_processed_early") { 1 } else { most };
        while batch.len() < most {
            let Some(message) = self.try_receive() else { break };
            batch.push(message);
        }
    }

    fn each_control(&self, see: &mut dyn FnMut(&Arc<Control>)) {
        see(self.lending.control());
    }
}

impl<R: Receive> Drop for Existing<R> {
    fn drop(&mut self) {
        self.tell_what_is_left();
    }
}

#[cfg(test)]
mod tests {
    use alloc::boxed::Box;
    use core::mem;

    use super::*;
    use crate::wait::Stop;

    /// Of a handle in a box, and of the handle itself.
    #[test]
    fn batch_is_what_is_there_before_a_stop() {
        let (mut publisher, subscribable) = crate::broadcast::lossless(8);
        let (stage, subscriber) = (subscribable.subscribe_tracked(), subscribable.subscribe());
        (0..6).for_each(|number| publisher.publish(number).unwrap());
        let shared = PipelineState::default();
        let mut batch = Vec::new();
        let mut source = Existing::new(Box::new(subscriber), Arc::default(), &shared);
        source.receive_more(&mut batch, 2);
        assert_eq!(mem::take(&mut batch), [0, 1]);
        source.receive_more(&mut batch, 8);
        assert_eq!(mem::take(&mut batch), [2, 3, 4, 5]);
        let mut source = Existing::new(Box::new(stage), Arc::default(), &shared);
        source.receive_more(&mut batch, 8);
        assert_eq!(mem::take(&mut batch), [0]);
        shared.source.stop(Stop::Now);
        source.receive_more(&mut batch, 8);
        assert_eq!(batch, []);
        let counters = Arc::clone(&source.counters);
        drop(source);
        assert_eq!((counters.received.get(), counters.left.get()), (1, 5));
    }
}
