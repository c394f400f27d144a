//! [`Producer`]: the sending verbs.

use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use std::boxed::Box;
use std::sync::Arc;
use std::time::Duration;

use super::memory::Board;
use crate::base::common::Common;
use crate::base::peer_liveness::Gone;
use crate::close::Closer;
use crate::error::{GiveBack, Refusal, SendError, SendTimeoutError, TrySendError};
use crate::lane::{Number, PlaceTable};
use crate::message::Message;
use crate::queue::Cell;
use crate::shm::error::AttachError;
use crate::shm::invitation::Invitation;
use crate::shm::message_type::MessageType;
use crate::shm::places::Places;
use crate::shm::queue::PlaceLock;
use crate::shm::sleepers;
use crate::transmit::room::{AwaitRoom, SoleSender};
use crate::transmit::{WaitsForRoom, in_parts, transmits};
use crate::wait::{Armed, Choice, EventCount, RoomArm, Until, WaitStrategy, wait_until};
#[cfg(feature = "async")]
use crate::wait::{Look, Poll, Waiting};

/// Sends into a queue of several consumers. Made by [`producer`](fn@super::producer).
///
/// Beside these verbs it has those of [`Transmit`](crate::Transmit), and works in selects. It may move to
/// another thread.
pub struct Producer<T: Message> {
    place: usize,
    /// The next message.
    tail: Number,
    /// Where the next message goes, if it was found: it stays free.
    free: Option<Number>,
    /// Where this producer waits for room.
    received: Box<EventCount>,
    /// Whether all consumers are gone, and the queue ends with them.
    gone: Gone,
    strategy: WaitStrategy,
    board: Common<Board<T>>,
    _lock: PlaceLock,
}

impl<T: Message> Producer<T> {
    pub(in crate::shm) fn join(
        invitation: &Invitation,
        of: &MessageType,
        strategy: WaitStrategy,
    ) -> Result<Self, AttachError> {
        let board = Board::<T>::attach(invitation, of)?.in_common();
        if board.has_ended() {
            return Err(AttachError::Closed);
        }
        let (place, lock) = Board::<T>::place(&board.producers)?;
        let watched = Arc::clone(&board.consumers);
        let is_gone = move || watched.is_over();
        let asks = is_gone.clone();
        let ended = Arc::clone(&board.producers);
        // Another process that closes the queue may be dead before it wakes this one.
        let is_over = move || ended.queue().has_ended() || asks();
        let [_, received] = sleepers::remotes_of_place(&board.producers.page, place);
        let received = Box::new(EventCount::across(received.woken_from_elsewhere(is_over), None));
        let tail = board.lanes[place].resume();
        board.producers.come(place);
        let gone = Gone::new(is_gone);
        Ok(Self { place, tail, free: None, received, gone, strategy, board, _lock: lock })
    }

    /// Sends `value`. Waits while there is no room.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back: the queue is closed, also while this call waited.
    #[inline]
    pub fn send(&mut self, value: T) -> Result<(), SendError<T>> {
        crate::Transmit::send(self, value)
    }

    /// Sends `value` if there is room. Never waits. O(1), and O(messages that consumers hold) where it finds
    /// such a message.
    ///
    /// # Errors
    ///
    /// Both give the value back. [`Full`](TrySendError::Full): there is no room.
    /// [`Closed`](TrySendError::Closed): the queue is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TrySendError;
    /// use annulus::shm::mpmc;
    ///
    /// let invitation = mpmc::Builder::new(annulus::Settings::new(1)).build::<u32>()?.invitation;
    /// let mut producer = mpmc::producer::<u32>(&invitation)?;
    /// producer.try_send(1)?;
    /// assert_eq!(producer.try_send(2), Err(TrySendError::Full(2)));
    /// producer.close();
    /// assert_eq!(producer.try_send(3), Err(TrySendError::Closed(3)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), TrySendError<T>> {
        self.put(value).map_err(|(refusal, value)| TrySendError::of(refusal, value))
    }

    /// As [`send`](Self::send), but waits at most so long.
    ///
    /// # Errors
    ///
    /// Both give the value back. [`Timeout`](SendTimeoutError::Timeout): no room came in time.
    /// [`Closed`](SendTimeoutError::Closed): as of [`send`](Self::send).
    pub fn send_timeout(&mut self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        crate::Transmit::send_timeout(self, value, timeout)
    }

    /// Sends all of `values`, in order. Waits for room as often as necessary. There may be more values than
    /// the ring holds. Consumers that sleep are woken once for all that found room at once.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives back the values that were not sent: the queue is closed, or was closed meanwhile.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::shm::mpmc;
    ///
    /// let invitation = mpmc::Builder::new(annulus::Settings::new(4)).build::<u32>()?.invitation;
    /// let mut producer = mpmc::producer::<u32>(&invitation)?;
    /// let mut consumer = mpmc::consumer::<u32>(&invitation)?;
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// let mut messages = [0; 2];
    /// assert_eq!((consumer.recv_batch(&mut messages)?, messages), (2, [1, 2]));
    /// assert_eq!(consumer.try_recv_batch(&mut messages), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn send_batch<'v>(&mut self, values: &'v [T]) -> Result<(), SendError<&'v [T]>> {
        let sent = in_parts(values, |rest| {
            let count = self.put_some(rest);
            // Nothing was sent where the ring is full, or closed.
            if count == 0 {
                self.put_late(rest[0], Until::FOREVER).map_err(|(refusal, _)| refusal)?;
            }
            Ok(count.max(1))
        });
        sent.map_err(|(rest, _)| SendError(rest))
    }

    /// Sends as many of `values` as there is room for, in order. Never waits.
    ///
    /// # Errors
    ///
    /// Both give back the values that were not sent. [`Full`](TrySendError::Full): there is no room for them.
    /// [`Closed`](TrySendError::Closed): the queue is closed.
    pub fn try_send_batch<'v>(&mut self, values: &'v [T]) -> Result<(), TrySendError<&'v [T]>> {
        match &values[self.put_some(values)..] {
            [] => Ok(()),
            rest if self.is_closed() => Err(TrySendError::Closed(rest)),
            rest => Err(TrySendError::Full(rest)),
        }
    }

    /// As [`send`](Self::send), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has sent nothing.
    ///
    /// # Errors
    ///
    /// As of [`send`](Self::send).
    #[cfg(feature = "async")]
    pub fn send_async(&mut self, value: T) -> impl Future<Output = Result<(), SendError<T>>> + Send + Unpin {
        // SAFETY: the eventcount is in the producer, which is borrowed as long as the future lives.
        unsafe { Waiting::new(AwaitSent { producer: self, value: Some(value) }) }
    }

    /// Closes the queue, for all processes. What was sent before is received.
    pub fn close(&self) {
        self.board.close(false);
    }

    /// A [`Closer`], which [closes](Self::close) the queue from any thread. It keeps nothing open.
    ///
    /// ```
    /// use annulus::shm::mpmc;
    ///
    /// let invitation = mpmc::Builder::new(annulus::Settings::new(4)).build::<u32>()?.invitation;
    /// let mut consumer = mpmc::consumer::<u32>(&invitation)?;
    /// let closer = mpmc::producer::<u32>(&invitation)?.closer();
    /// closer.close(); // its handle is gone
    /// assert!(closer.is_closed() && !consumer.is_closed());
    ///
    /// let producer = mpmc::producer::<u32>(&invitation)?;
    /// producer.closer().close();
    /// assert!(consumer.recv().is_err());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn closer(&self) -> Closer {
        Closer::from_weak(self.board.downgrade())
    }

    /// The places for consumers.
    pub(in crate::shm) fn consumers(&self) -> Places {
        Places(Arc::clone(&self.board.consumers))
    }

    /// Whether the queue is closed.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.board.is_closed(&self.gone)
    }

    /// How many messages of this ring wait to be received for the first time, and those of the producers
    /// before that had the place.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a handle, not a collection")]
    pub fn len(&self) -> usize {
        self.board.lanes[self.place].len()
    }

    /// How many messages this producer's ring has room for.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.board.lanes[self.place].capacity()
    }

    /// Its place: a number below the number of places for producers.
    #[must_use]
    pub fn place(&self) -> usize {
        self.place
    }

    #[inline]
    fn put(&mut self, value: T) -> Result<(), (Refusal, T)> {
        self.put_quietly(value)?;
        self.board.sent.notify_across();
        Ok(())
    }

    /// How many it has put in, of the first ones.
    fn put_some(&mut self, values: &[T]) -> usize {
        let count = values.iter().take_while(|value| self.put_quietly(**value).is_ok()).count();
        if count > 0 {
            self.board.sent.notify_across();
        }
        count
    }

    /// Wakes nobody.
    #[inline]
    fn put_quietly(&mut self, value: T) -> Result<(), (Refusal, T)> {
        if let Err(refusal) = self.look_for_room() {
            return Err((refusal, value));
        }
        let (lane, board) = (&self.board.lanes[self.place], &self.board);
        let Some(number) = self.free.take() else { return Err((Refusal::Full, value)) };
        // SAFETY: this has the lock of the lane's place, and the number was found free since the last send.
        unsafe { lane.send(self.tail, number, Cell::of(value)) };
        self.tail = number.next();
        // mpmc.fence1: pairs with mpmc.barrier2 of a consumer that says that the queue has ended. It sees the
        // message, or this sees the close.
        board.sent.fence();
        if board.may_be_closed() && lane.take_back(number) {
            return Err((Refusal::Closed, value));
        }
        Ok(())
    }

    fn put_late(&mut self, value: T, until: Until) -> Result<(), (Refusal, T)> {
        let (strategy, deadline) = (until.strategy_or(|| self.strategy), until.deadline());
        match wait_until(&mut AwaitRoom(self), strategy, deadline) {
            Some(Ok(())) => self.put(value),
            Some(Err(refusal)) => Err((refusal, value)),
            None => Err((Refusal::Full, value)),
        }
    }
}

impl<T: Message> SoleSender for Producer<T> {
    fn released(&self) -> &EventCount {
        &self.received
    }

    #[inline]
    fn look_for_room(&mut self) -> Result<(), Refusal> {
        if self.board.may_be_closed() {
            return Err(Refusal::Closed);
        }
        if self.free.is_none() {
            self.free = self.board.lanes[self.place].free_number(self.tail);
        }
        if self.free.is_some() {
            return Ok(());
        }
        Err(if self.board.is_closed(&self.gone) { Refusal::Closed } else { Refusal::Full })
    }

    fn strategy(&self) -> WaitStrategy {
        self.strategy
    }
}

transmits! {
    [T: Message] Producer<T>: T;
    |producer, value| now: producer.put(value),
    |until| late: producer.put_late(value, until),
    closed: producer.is_closed(),
    task: Producer::send_async(producer, value),
}

impl<T: Message> Producer<T> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    pub fn send_in_select(&mut self) -> impl Choice<Found = impl FnOnce(T) -> Result<(), SendError<T>>> {
        // SAFETY: the eventcount is in the producer, which is borrowed.
        unsafe {
            Armed::new(AwaitRoom(self), AwaitRoom::strategy, |AwaitRoom(producer), found| {
                move |value| match found {
                    Ok(()) => producer.put(value).map_err(|(_, value)| SendError(value)),
                    Err(_) => Err(SendError(value)),
                }
            })
        }
    }
}

impl<T: Message> WaitsForRoom for Producer<T> {
    fn room(&mut self) -> RoomArm<'_> {
        // SAFETY: the eventcount is in the producer, which is borrowed.
        unsafe { RoomArm::new(AwaitRoom(self), AwaitRoom::strategy) }
    }
}

/// Until a message is sent, or the queue is closed.
#[cfg(feature = "async")]
struct AwaitSent<'p, T: Message> {
    producer: &'p mut Producer<T>,
    value: Option<T>,
}

#[cfg(feature = "async")]
impl<T: Message> Poll for AwaitSent<'_, T> {
    type Found = Result<(), SendError<T>>;

    fn wait_point(&self) -> &EventCount {
        &self.producer.received
    }

    fn poll(&mut self) -> Look<Self::Found> {
        let Some(value) = self.value.take() else { return Look::Nothing };
        match self.producer.put(value) {
            Ok(()) => Look::Found(Ok(())),
            Err((Refusal::Closed, value)) => Look::Found(Err(SendError(value))),
            Err((Refusal::Full, value)) => {
                self.value = Some(value);
                Look::Nothing
            }
        }
    }
}

impl<T: Message> Drop for Producer<T> {
    /// All that was sent is received. The place is free then.
    fn drop(&mut self) {
        if self.board.producers.leave(self.place) {
            self.board.close(false);
        }
    }
}

impl<T: Message> fmt::Debug for Producer<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("closed", &self.board.has_ended())
            .finish_non_exhaustive()
    }
}
