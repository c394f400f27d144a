//! [`Producer`]: the sending verbs, for all kinds of queue.
//!
//! ```text
//! send ─▶ send_as ─▶ send_plainly of the end (`write.rs`; `write_many.rs` where there are many consumers)
//!                     └─ the message came back ─▶ send_slow_path, outlined: wait for room, or closed
//! ```

use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
#[cfg(feature = "std")]
use std::time::Duration;

use super::ends::{Write, outlined};
#[cfg(any(feature = "std", feature = "async"))]
use super::free_slot::AwaitFreeSlot;
use super::kind::{AnyKind, InPlace, Joinable};
use super::lane_node::QueueLane;
use super::reservation::Reservation;
use super::write::WriteEnd;
use crate::Closer;
use crate::error::{GiveBack, Refusal, RegisterError, SendError, SendTimeoutError, TrySendError};
#[cfg(feature = "std")]
use crate::memory::Placement;
use crate::observer::observable;
#[cfg(feature = "std")]
use crate::transmit::WaitsForRoom;
use crate::transmit::in_parts;
#[cfg(feature = "std")]
use crate::transmit::room::SoleSender;
use crate::transmit::transmits;
#[cfg(feature = "async")]
use crate::wait::Waiting;
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice, RoomArm};
#[cfg(any(feature = "std", feature = "async"))]
use crate::wait::{EventCount, Look, Poll};
use crate::wait::{Until, WaitStrategy};

/// The sending end of a queue: each message reaches one consumer.
///
/// Made by [`spsc::channel`](crate::spsc::channel), [`mpsc::channel`](crate::mpsc::channel) and so on; `K`
/// says which kind of queue it is. In a queue with several producers, each producer has a ring of its own.
/// Messages of one producer arrive in the order of sending.
///
/// When a producer is dropped, the next producer that [joins](Self::register) takes over its ring, with the
/// messages in it. So there are only as many rings as there were producers at one time. A producer that joins
/// may therefore find less room than the capacity, or none, until the consumers have received those messages.
///
/// # Close
///
/// A queue is closed when its last producer is gone, when its last consumer is gone, or when somebody calls
/// [`close`](Self::close). From then on every send fails and gives its value back. Messages that were sent
/// before are received. If a send at the same time as a close returned `Ok`, it came before the close, or all
/// consumers were gone.
#[doc(alias = "Sender")]
#[doc(alias = "SyncSender")]
#[doc(alias = "UnboundedSender")]
#[doc(alias = "WeakSender")]
pub struct Producer<T, K: AnyKind> {
    pub(super) end: K::Write<T>,
}

// SAFETY: its end is so (`Parts`), and a verb that takes `&self` only looks.
unsafe impl<T: Send, K: AnyKind> Send for Producer<T, K> {}
// SAFETY: as above.
unsafe impl<T: Send, K: AnyKind> Sync for Producer<T, K> {}

impl<T: Send, K: AnyKind> Producer<T, K> {
    /// Sends `value`. Waits with the [`WaitStrategy`] of the ring while the ring is full.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back: the queue is closed, or was closed while this waited.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::spsc;
    ///
    /// let (mut producer, consumer) = spsc::channel(2);
    /// let reader = std::thread::spawn(move || consumer.into_iter().sum::<u64>());
    /// for number in 1..=100 {
    ///     producer.send(number)?; // waits for the reader
    /// }
    /// drop(producer);
    /// assert_eq!(reader.join().unwrap(), 5050);
    /// # Ok::<(), annulus::SendError<u64>>(())
    /// ```
    #[doc(alias = "blocking_send")]
    #[inline]
    pub fn send(&mut self, value: T) -> Result<(), SendError<T>> {
        let Err(value) = self.end.send_plainly(value) else {
            return Ok(());
        };
        outlined(&mut self.end, |end| send_slow_path(end, value, Until::FOREVER))
            .map_err(|(_, value)| SendError(value))
    }

    /// Sends `value` if there is room. Never waits, allocates nothing; O(`size_of::<T>()`).
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full): the ring holds as many messages as its capacity.
    /// [`Closed`](TrySendError::Closed): the queue is closed. Both give the value back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{TrySendError, spsc};
    ///
    /// let (mut producer, mut consumer) = spsc::channel(1);
    /// assert!(producer.try_send("one").is_ok());
    /// assert!(producer.try_send("two") == Err(TrySendError::Full("two")));
    /// assert_eq!(consumer.recv(), Ok("one"));
    /// drop(consumer);
    /// assert!(producer.try_send("two") == Err(TrySendError::Closed("two")));
    /// ```
    #[doc(alias = "push")]
    #[doc(alias = "sendOne")]
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), TrySendError<T>> {
        let Err(value) = self.end.send_plainly(value) else {
            return Ok(());
        };
        outlined(&mut self.end, |end| try_send_slow_path(end, value))
            .map_err(|(refusal, value)| TrySendError::of(refusal, value))
    }

    /// As [`send`](Self::send), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still sends if there is room.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`send`](Self::send). Both give the value back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{SendTimeoutError, spsc};
    /// use std::time::Duration;
    ///
    /// let (mut producer, consumer) = spsc::channel(1);
    /// producer.send(1).unwrap();
    /// let error = producer.send_timeout(2, Duration::from_millis(1)).unwrap_err();
    /// assert!(error == SendTimeoutError::Timeout(2));
    /// # drop(consumer);
    /// ```
    #[cfg(feature = "std")]
    pub fn send_timeout(&mut self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(value, timeout)
    }

    /// As [`send`](Self::send), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`send_timeout`](Self::send_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{WaitStrategy, spsc};
    ///
    /// let (mut producer, mut consumer) = spsc::channel(2);
    /// producer.send_until('a', WaitStrategy::BusySpin)?;
    /// assert_eq!(consumer.recv(), Ok('a'));
    /// # Ok::<(), annulus::SendTimeoutError<char>>(())
    /// ```
    #[doc(alias = "send_deadline")]
    #[doc(alias = "send_with")]
    #[inline]
    pub fn send_until(&mut self, value: T, until: impl Into<Until>) -> Result<(), SendTimeoutError<T>> {
        let Err(value) = self.end.send_plainly(value) else {
            return Ok(());
        };
        let until = until.into();
        outlined(&mut self.end, |end| send_slow_path(end, value, until))
            .map_err(|(refusal, value)| SendTimeoutError::of(refusal, value))
    }

    /// Sends as many of `values` as there is room for, from the first on. Never waits. In a queue with one
    /// consumer, the consumer sees all of them at once.
    ///
    /// # Errors
    ///
    /// Both give back the values that were not sent. [`Full`](TrySendError::Full): there was no room for all.
    /// [`Closed`](TrySendError::Closed): the queue is closed.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TrySendError;
    ///
    /// let (mut producer, mut consumer) = annulus::spsc::channel(3);
    /// assert_eq!(producer.try_send_batch(&[1, 2, 3, 4]), Err(TrySendError::Full(&[4][..])));
    /// assert_eq!(consumer.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// assert_eq!(producer.try_send_batch(&[4]), Ok(()));
    /// ```
    #[doc(alias = "send_slice")]
    #[doc(alias = "push_partial_slice")]
    #[inline]
    pub fn try_send_batch<'v>(&mut self, values: &'v [T]) -> Result<(), TrySendError<&'v [T]>>
    where
        T: Copy,
    {
        match &values[self.end.send_some(values)..] {
            [] => Ok(()),
            rest if self.is_closed() => Err(TrySendError::Closed(rest)),
            rest => Err(TrySendError::Full(rest)),
        }
    }

    /// Sends all of `values`, in order. Waits for room with the [`WaitStrategy`] of the ring as often as
    /// necessary. There may be more values than the ring holds.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives back the values that were not sent: the queue is closed, or was closed meanwhile.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, consumer) = annulus::spsc::channel(2);
    /// let reader = std::thread::spawn(move || consumer.into_iter().collect::<Vec<_>>());
    /// producer.send_batch(&[1, 2, 3, 4, 5]).unwrap();
    /// drop(producer);
    /// assert_eq!(reader.join().unwrap(), [1, 2, 3, 4, 5]);
    /// ```
    #[doc(alias = "send_all")]
    #[inline]
    pub fn send_batch<'v>(&mut self, values: &'v [T]) -> Result<(), SendError<&'v [T]>>
    where
        T: Copy,
    {
        self.send_all(values, Until::FOREVER).map_err(|(rest, _)| SendError(rest))
    }

    /// As [`send_batch`](Self::send_batch), but gives up after `timeout`, like
    /// [`send_timeout`](Self::send_timeout). The time is for all of them together.
    ///
    /// # Errors
    ///
    /// As [`send_timeout`](Self::send_timeout). Both give back the values that were not sent.
    #[cfg(feature = "std")]
    pub fn send_batch_timeout<'v>(
        &mut self,
        values: &'v [T],
        timeout: Duration,
    ) -> Result<(), SendTimeoutError<&'v [T]>>
    where
        T: Copy,
    {
        self.send_batch_until(values, timeout)
    }

    /// As [`send_batch`](Self::send_batch), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`send_batch_timeout`](Self::send_batch_timeout).
    pub fn send_batch_until<'v>(
        &mut self,
        values: &'v [T],
        until: impl Into<Until>,
    ) -> Result<(), SendTimeoutError<&'v [T]>>
    where
        T: Copy,
    {
        self.send_all(values, until.into()).map_err(|(rest, refusal)| SendTimeoutError::of(refusal, rest))
    }

    /// Sends all of `values`. If it can't, returns the rest and why.
    #[inline]
    fn send_all<'v>(&mut self, values: &'v [T], until: Until) -> Result<(), (&'v [T], Refusal)>
    where
        T: Copy,
    {
        // A duration counts from the first wait.
        let mut wait = None;
        in_parts(values, |rest| {
            let sent = self.end.send_some(rest);
            // Nothing was sent where the ring is full, or closed.
            if sent == 0 {
                let own = || self.end.state().plan.strategy;
                let (strategy, deadline) =
                    *wait.get_or_insert_with(|| (until.strategy_or(own), until.deadline()));
                self.end.wait(strategy, deadline)?;
            }
            Ok(sent)
        })
    }

    /// How many messages of this producer's ring have not been received yet. This is a snapshot: a consumer
    /// may have taken more when it returns.
    #[doc(alias = "slots")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.end.node().lane.len()
    }

    /// Whether every message in this producer's ring has been received. If so, this stays true until this
    /// producer sends.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether this producer's ring is full. If it is not, nobody else can change that.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(1);
    /// assert!(!producer.is_full());
    /// producer.send(1).unwrap();
    /// assert!(producer.is_full());
    /// consumer.recv().unwrap();
    /// assert!(!producer.is_full());
    /// ```
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// How many messages this producer's ring holds: exactly the number that was requested.
    #[doc(alias = "max_capacity")]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.end.state().plan.capacity
    }

    /// Closes the queue for all its producers, and wakes all threads that wait. Consumers receive what was
    /// sent before. No effect on a closed queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send(1).unwrap();
    /// producer.close();
    /// assert_eq!(producer.send(2).unwrap_err().into_inner(), 2);
    /// assert_eq!(consumer.recv(), Ok(1));
    /// assert_eq!(consumer.recv(), Err(annulus::RecvError::CLOSED));
    /// ```
    pub fn close(&self) {
        self.end.state().close();
    }

    /// A [`Closer`], which closes the queue from any thread. It does not keep the queue open.
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel::<u64>(4);
    /// let closer = producer.closer();
    /// let reader = std::thread::spawn(move || consumer.recv());
    /// closer.close();
    /// assert_eq!(reader.join().unwrap(), Err(annulus::RecvError::CLOSED));
    /// assert!(producer.send(7).is_err());
    /// ```
    #[must_use]
    pub fn closer(&self) -> Closer
    where
        T: 'static,
    {
        self.end.state().closer()
    }

    observable! {
        where T: 'static,
        |handle| stats: handle.end.state().stats(),
        observer: handle.end.state().observer()
    }

    /// Whether the queue is closed. If so, every send fails from now on.
    #[doc(alias = "is_disconnected")]
    #[doc(alias = "is_abandoned")]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.end.state().is_closed()
    }
}

/// The slow path of a send that waits.
#[cold]
#[inline(never)]
pub(super) fn send_slow_path<T, W: Write<T>>(
    end: &mut W,
    value: T,
    until: Until,
) -> Result<(), (Refusal, T)> {
    if !end.has_free_slot() {
        let strategy = until.strategy_or(|| end.state().plan.strategy);
        if let Err(refusal) = end.wait(strategy, until.deadline()) {
            return Err((refusal, value));
        }
    }
    // SAFETY: there is room.
    unsafe { end.send(value) }.map_err(|value| (Refusal::Closed, value))
}

/// The slow path of a send that does not wait.
#[cold]
#[inline(never)]
pub(super) fn try_send_slow_path<T, W: Write<T>>(end: &mut W, value: T) -> Result<(), (Refusal, T)> {
    if !end.has_free_slot() {
        let refusal = if end.state().is_closed() { Refusal::Closed } else { Refusal::Full };
        return Err((refusal, value));
    }
    // SAFETY: there is room.
    unsafe { end.send(value) }.map_err(|value| (Refusal::Closed, value))
}

/// In place: for queues with one consumer, [`spsc`](crate::spsc) and [`mpsc`](crate::mpsc), also between
/// processes.
// The bounds are at the verbs, where the compiler explains one that is missing better.
impl<T: Send, K: AnyKind> Producer<T, K> {
    /// Reserves up to `most` adjacent free slots, to be written in place and sent at once. It reserves fewer
    /// if fewer are free, or if the end of the ring comes first. Never waits.
    ///
    /// Nothing is sent until one of the [`Reservation`]'s verbs commits. Dropping the reservation sends
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full): no slot is free. [`Closed`](TrySendError::Closed): the queue is closed.
    ///
    /// # Panics
    ///
    /// If `most` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel::<u32>(8);
    /// let reservation = producer.try_reserve(5).expect("the ring is empty");
    /// assert_eq!(reservation.write_iter((1..).map(|n| n * n)), 5);
    /// assert_eq!(consumer.readable(), [1, 4, 9, 16, 25]);
    /// ```
    #[doc(alias = "write_chunk")]
    #[doc(alias = "write_chunk_uninit")]
    #[doc(alias = "reserve")]
    #[inline]
    pub fn try_reserve(&mut self, most: usize) -> Result<Reservation<'_, T, K>, TrySendError<()>>
    where
        K: InPlace,
    {
        let end = self.end_to_reserve(most).map_err(|refusal| TrySendError::of(refusal, ()))?;
        Reservation::new(end, most).ok_or(TrySendError::Full(()))
    }

    /// As [`try_reserve`](Self::try_reserve), but waits with the [`WaitStrategy`] of the ring while no slot
    /// is free. It waits for one slot, not for `most` of them.
    ///
    /// # Errors
    ///
    /// [`SendError`]: the queue is closed, or was closed while this waited.
    ///
    /// # Panics
    ///
    /// If `most` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel::<u32>(4);
    /// let reader = std::thread::spawn(move || {
    ///     let mut sum = 0;
    ///     while let Ok(numbers) = consumer.wait_readable() {
    ///         let count = numbers.len();
    ///         sum += numbers.iter().sum::<u32>();
    ///         consumer.advance(count);
    ///     }
    ///     sum
    /// });
    /// for number in 1..=10 {
    ///     producer.reserve(1)?.fill(number);
    /// }
    /// drop(producer);
    /// assert_eq!(reader.join().unwrap(), 55);
    /// # Ok::<(), annulus::SendError<()>>(())
    /// ```
    #[inline]
    pub fn reserve(&mut self, most: usize) -> Result<Reservation<'_, T, K>, SendError<()>>
    where
        K: InPlace,
    {
        self.reserve_as(most, Until::FOREVER).map_err(|_| SendError(()))
    }

    /// As [`reserve`](Self::reserve), but gives up after `timeout`, like
    /// [`send_timeout`](Self::send_timeout).
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no slot became free in time.
    /// [`Closed`](SendTimeoutError::Closed): as [`reserve`](Self::reserve).
    ///
    /// # Panics
    ///
    /// If `most` is 0.
    #[cfg(feature = "std")]
    pub fn reserve_timeout(
        &mut self,
        most: usize,
        timeout: Duration,
    ) -> Result<Reservation<'_, T, K>, SendTimeoutError<()>>
    where
        K: InPlace,
    {
        self.reserve_until(most, timeout)
    }

    /// As [`reserve`](Self::reserve), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no slot became free in time.
    /// [`Closed`](SendTimeoutError::Closed): as [`reserve`](Self::reserve).
    ///
    /// # Panics
    ///
    /// If `most` is 0.
    pub fn reserve_until(
        &mut self,
        most: usize,
        until: impl Into<Until>,
    ) -> Result<Reservation<'_, T, K>, SendTimeoutError<()>>
    where
        K: InPlace,
    {
        self.reserve_as(most, until.into()).map_err(|refusal| SendTimeoutError::of(refusal, ()))
    }

    /// As [`reserve`](Self::reserve); [`Refusal::Full`] once the time has passed.
    #[inline]
    fn reserve_as(&mut self, most: usize, until: Until) -> Result<Reservation<'_, T, K>, Refusal>
    where
        K: InPlace,
    {
        let end = self.end_to_reserve(most)?;
        if !end.has_free_slots(1) {
            let strategy = until.strategy_or(|| Write::state(end).plan.strategy);
            end.wait_for(1, strategy, until.deadline())?;
        }
        Ok(Reservation::new(end, most).expect("a slot is free, and it stays"))
    }

    /// The end of the lane, if the queue is open.
    ///
    /// # Panics
    ///
    /// If `most` is 0.
    #[inline]
    fn end_to_reserve(&mut self, most: usize) -> Result<&mut WriteEnd<K::Cell<T>, K::ControlBlock>, Refusal>
    where
        K: InPlace,
    {
        assert!(most > 0, "no slot is asked for");
        if self.is_closed() { Err(Refusal::Closed) } else { Ok(K::write_end(&mut self.end)) }
    }
}

/// For queues that producers can join, [`mpsc`](crate::mpsc) and [`mpmc`](crate::mpmc).
impl<T: Send, K: Joinable> Producer<T, K> {
    /// How many rings there are: see [`Consumer::rings`](super::Consumer::rings).
    #[must_use]
    pub fn rings(&self) -> usize {
        self.end.state().roster.count()
    }

    /// Another producer of this queue, with a ring of its own. Nobody has to wait for this. If a producer has
    /// left, the new one takes over its ring and sends behind the messages in it. This is lock-free and O(1).
    /// Otherwise this allocates a ring, in O(capacity).
    ///
    /// # Errors
    ///
    /// [`Closed`](RegisterError::Closed): the queue is closed. [`Capacity`](RegisterError::Capacity): there
    /// is no memory for another ring.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut first, mut consumer) = annulus::mpsc::channel(8);
    /// let mut second = first.register()?;
    /// first.send(1).unwrap();
    /// second.send(2).unwrap();
    /// drop((first, second));
    /// let mut all: Vec<_> = consumer.iter().collect();
    /// all.sort();
    /// assert_eq!(all, [1, 2]);
    /// # Ok::<(), annulus::RegisterError>(())
    /// ```
    pub fn register(&self) -> Result<Self, RegisterError> {
        if self.is_closed() {
            return Err(RegisterError::Closed);
        }
        let end = K::another_producer(&self.end)?;
        if self.is_closed() { Err(RegisterError::Closed) } else { Ok(Self { end }) }
    }
}

/// Another producer of the queue, with a ring of its own; see [`register`](Producer::register). Messages of
/// two producers have no order, even if one thread has both.
impl<T, K: Joinable> Clone for Producer<T, K> {
    /// On a closed queue this returns a producer whose sends all fail.
    ///
    /// # Panics
    ///
    /// If there is no memory for another ring. [`register`](Producer::register) returns an error instead.
    fn clone(&self) -> Self {
        match K::another_producer(&self.end) {
            Ok(end) => Self { end },
            // Unreached: no memory for another ring; a ring of the same size was had before
            Err(error) => panic!("no ring for another producer: {error}"),
        }
    }
}

// As what one can send into: `Transmit`.
transmits! {
    [T: Send, K: AnyKind] Producer<T, K>: T;
    |producer, value| now: match producer.end.send_plainly(value) {
        Ok(()) => Ok(()),
        Err(value) => try_send_slow_path(&mut producer.end, value),
    },
    |until| late: send_slow_path(&mut producer.end, value, until),
    closed: producer.is_closed(),
    task: Producer::send_async(producer, value),
}

/// In tasks.
#[cfg(feature = "async")]
impl<T: Send, K: AnyKind> Producer<T, K> {
    /// Sends `value`, like [`send`](Self::send), in a task: while the ring is full, the task waits, not its
    /// thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has sent nothing. The value is
    /// dropped with it.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back: the queue is closed, or was closed while this waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, consumer) = annulus::spsc::channel(2);
    /// let reader = std::thread::spawn(move || consumer.into_iter().sum::<u64>());
    /// pollster::block_on(async {
    ///     for number in 1..=100 {
    ///         producer.send_async(number).await.unwrap(); // waits for the reader
    ///     }
    /// });
    /// drop(producer);
    /// assert_eq!(reader.join().unwrap(), 5050);
    /// ```
    pub fn send_async(&mut self, value: T) -> impl Future<Output = Result<(), SendError<T>>> + Send + Unpin {
        // SAFETY: the eventcounts are in the queue state, which the producer keeps alive.
        unsafe { Waiting::new(AwaitSent { producer: self, value: Some(value) }) }
    }

    /// Sends all of `values`, like [`send_batch`](Self::send_batch), in a task.
    ///
    /// *Cancel safety*: a future that is dropped has sent the first of them, and it can't be known how many.
    ///
    /// # Errors
    ///
    /// As [`send_batch`](Self::send_batch).
    pub fn send_batch_async<'v>(
        &mut self,
        values: &'v [T],
    ) -> impl Future<Output = Result<(), SendError<&'v [T]>>> + Unpin
    where
        T: Copy,
    {
        // SAFETY: the eventcounts are in the queue state, which the producer keeps alive.
        unsafe { Waiting::new(AwaitAllSent { producer: self, rest: values }) }
    }

    /// As [`reserve`](Self::reserve), in a task: while no slot is free, the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has reserved nothing.
    ///
    /// # Errors
    ///
    /// As [`reserve`](Self::reserve).
    ///
    /// # Panics
    ///
    /// If `most` is 0.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// pollster::block_on(async {
    ///     producer.reserve_async(3).await?.fill(7);
    ///     Ok::<(), annulus::SendError<()>>(())
    /// })?;
    /// assert_eq!(consumer.readable(), [7, 7, 7]);
    /// # Ok::<(), annulus::SendError<()>>(())
    /// ```
    pub async fn reserve_async(&mut self, most: usize) -> Result<Reservation<'_, T, K>, SendError<()>>
    where
        K: InPlace,
    {
        self.end_to_reserve(most).map_err(|_| SendError(()))?;
        // SAFETY: the eventcounts are in the queue state, which the producer keeps alive.
        unsafe { Waiting::new(AwaitRoom { producer: self }) }.await.map_err(|_| SendError(()))?;
        let end = K::write_end(&mut self.end);
        Ok(Reservation::new(end, most).expect("a slot is free, and it stays"))
    }
}

/// Until a value is sent.
#[cfg(feature = "async")]
struct AwaitSent<'p, T, K: AnyKind> {
    producer: &'p mut Producer<T, K>,
    /// `None` once it is sent, or given back.
    value: Option<T>,
}

#[cfg(feature = "async")]
impl<T: Send, K: AnyKind> Poll for AwaitSent<'_, T, K> {
    type Found = Result<(), SendError<T>>;

    fn wait_point(&self) -> &EventCount {
        &self.producer.end.node().released
    }

    /// # Panics
    ///
    /// If it has returned what it found before.
    #[inline]
    fn poll(&mut self) -> Look<Self::Found> {
        let value = self.value.take().expect("a future is not polled after its end");
        let Err(value) = self.producer.end.send_plainly(value) else {
            return Look::Found(Ok(()));
        };
        match try_send_slow_path(&mut self.producer.end, value) {
            Ok(()) => Look::Found(Ok(())),
            Err((Refusal::Closed, value)) => Look::Found(Err(SendError(value))),
            Err((Refusal::Full, value)) => {
                self.value = Some(value);
                Look::Nothing
            }
        }
    }
}

/// Until all of a batch is sent.
#[cfg(feature = "async")]
struct AwaitAllSent<'p, 'v, T, K: AnyKind> {
    producer: &'p mut Producer<T, K>,
    rest: &'v [T],
}

#[cfg(feature = "async")]
impl<'v, T: Copy + Send, K: AnyKind> Poll for AwaitAllSent<'_, 'v, T, K> {
    type Found = Result<(), SendError<&'v [T]>>;

    fn wait_point(&self) -> &EventCount {
        &self.producer.end.node().released
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.producer.try_send_batch(self.rest) {
            Ok(()) => Look::Found(Ok(())),
            Err(TrySendError::Closed(rest)) => Look::Found(Err(SendError(rest))),
            Err(TrySendError::Full(rest)) => {
                self.rest = rest;
                Look::Nothing
            }
        }
    }
}

/// Until a slot is free.
#[cfg(feature = "async")]
struct AwaitRoom<'p, T, K: AnyKind> {
    producer: &'p mut Producer<T, K>,
}

#[cfg(feature = "async")]
impl<T: Send, K: AnyKind> Poll for AwaitRoom<'_, T, K> {
    type Found = Result<(), Refusal>;

    fn wait_point(&self) -> &EventCount {
        &self.producer.end.node().released
    }

    fn poll(&mut self) -> Look<Self::Found> {
        AwaitFreeSlot::of(&mut self.producer.end).poll()
    }
}

#[cfg(feature = "std")]
impl<T: Send, K: AnyKind> Producer<T, K> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&mut self) -> impl Choice<Found = impl FnOnce(T) -> Result<(), SendError<T>>> {
        let free = AwaitFreeSlot::of(&mut self.end);
        // SAFETY: the eventcounts are in the queue state, which the producer keeps alive.
        unsafe {
            Armed::new(free, AwaitFreeSlot::strategy, |free, found| {
                // SAFETY: what `found` says is of the last poll.
                move |value| free.fill(found, value).map_err(SendError)
            })
        }
    }
}

#[cfg(feature = "std")]
impl<T: Send, K: AnyKind> WaitsForRoom for Producer<T, K> {
    fn room(&mut self) -> RoomArm<'_> {
        // SAFETY: as above.
        unsafe { RoomArm::new(AwaitFreeSlot::of(&mut self.end), AwaitFreeSlot::strategy) }
    }
}

/// For the input of a pipeline.
#[cfg(feature = "std")]
impl<T: Send, K: AnyKind> SoleSender for Producer<T, K> {
    fn released(&self) -> &EventCount {
        &self.end.node().released
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        match AwaitFreeSlot::of(&mut self.end).poll() {
            Look::Found(found) => found,
            Look::Nothing | Look::Again => Err(Refusal::Full),
        }
    }

    fn strategy(&self) -> WaitStrategy {
        self.end.state().plan.strategy
    }
}

impl<T, K: AnyKind> fmt::Debug for Producer<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Producer")
            .field("kind", &K::NAME)
            .field("len", &self.end.node().lane.len())
            .field("capacity", &self.end.state().plan.capacity)
            .field("closed", &self.end.state().is_closed())
            .finish_non_exhaustive()
    }
}

// Last on its page.
#[cfg(feature = "std")]
impl<T: Send, K: AnyKind> Producer<T, K> {
    /// What the memory of this producer's ring is like now, and which options of
    /// [`Settings::memory`](crate::Settings::memory) were refused. Asks the kernel: see [`Placement`].
    #[must_use]
    pub fn placement(&self) -> Placement {
        self.end.node().lane.block().placement()
    }
}
