//! [`Consumer`]: the receiving verbs and the iterators, for all kinds of queue.
//!
//! ```text
//! recv ─▶ receive ─▶ take_plainly of the end (`read.rs`; `read_many.rs` where there are many consumers)
//!                     └─ nothing was there ─▶ recv_slow_path, outlined: search the lanes, sleep, or closed
//! ```

use alloc::vec::Vec;
use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::iter::FusedIterator;
use core::ptr::NonNull;
#[cfg(feature = "std")]
use std::time::Duration;

#[cfg(feature = "async")]
use futures_core::FusedStream;

use super::ends::{Read, outlined, take_up_to};
use super::kind::{AnyKind, InPlace, Joinable, ManyConsumers, QueueKind};
use super::lane_node::QueueLane;
use super::roster::Round;
use super::shared_slice::SharedSlice;
use crate::Closer;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError, if_there, in_time};
use crate::lane::Number;
#[cfg(feature = "std")]
use crate::memory::Placement;
#[cfg(feature = "numa")]
use crate::memory::{MemoryError, node_here};
use crate::observer::observable;
use crate::receive::{Iter, Receive, Waitable, iterates};
use crate::sync::{AtomicU64, seeded};
use crate::wait::{
    EndMark, EventCount, Look, Poll, Source, Until, WaitStrategy, look_now, own_strategy, wait_until,
};
#[cfg(feature = "async")]
use crate::wait::{Streaming, Waiting};

/// The receiving end of a queue: each message of the queue reaches one consumer.
///
/// Made by [`spsc::channel`](crate::spsc::channel), [`mpsc::channel`](crate::mpsc::channel) and so on; `K`
/// says which kind of queue it is. You may mix all verbs: each begins where the one before stopped. If a verb
/// finds nothing, every message that was sent before the call began has been taken.
///
/// *Many producers* ([`mpsc`](crate::mpsc), [`mpmc`](crate::mpmc)): each has a ring of its own. A
/// consumer takes at most 128 messages from one ring (by a few verbs, more) before it goes on to the next. So
/// no message waits for ever, whatever other producers do. The guide says [how long a message may
/// wait](crate::guide::waiting#many-rings-in-turn), and what a poll costs.
///
/// *Many consumers* ([`spmc`](crate::spmc), [`mpmc`](crate::mpmc)): one message wakes one sleeping consumer,
/// and several messages at once wake as many. A close wakes all. Sometimes more are woken, but never too few.
///
/// *Rests*: right behind a fast producer, a consumer may execute some pause instructions before it looks
/// again, because both are then faster. The guide says [when](crate::guide::waiting#rests), and
/// [`recv_until`](Self::recv_until) how to avoid it.
#[doc(alias = "Receiver")]
#[doc(alias = "UnboundedReceiver")]
#[doc(alias = "registerConsumer")]
pub struct Consumer<T, K: AnyKind> {
    pub(super) end: K::Read<T>,
    /// How it waits, if not as its queue. Only slow paths look at it.
    // Decision 0095: receiving handles have it.
    pub(super) strategy: Option<WaitStrategy>,
}

// SAFETY: its end is so (`Parts`), and a verb that takes `&self` only looks.
unsafe impl<T: Send, K: AnyKind> Send for Consumer<T, K> {}
// SAFETY: as above.
unsafe impl<T: Send, K: AnyKind> Sync for Consumer<T, K> {}

impl<T: Send, K: AnyKind> Consumer<T, K> {
    /// Receives the next message. Waits for one with the [`WaitStrategy`] of the ring.
    ///
    /// Right behind a producer that sends without a break it may rest briefly, because both are then much
    /// faster. To avoid that, use [`recv_until`](Self::recv_until).
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the queue is closed, and everything that was sent was received.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// let writer = std::thread::spawn(move || producer.send("hello"));
    /// assert_eq!(consumer.recv(), Ok("hello"));
    /// writer.join().unwrap().unwrap();
    /// assert_eq!(consumer.recv(), Err(annulus::RecvError::CLOSED));
    /// ```
    #[inline]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        match self.end.take_plainly() {
            Some(value) => Ok(value),
            None => outlined(self, |consumer| consumer.recv_slow_path(Until::FOREVER))
                .unwrap_or(Err(RecvError::CLOSED)),
        }
    }

    /// Receives the next message if there is one. Never waits for anybody, allocates nothing.
    ///
    /// # Errors
    ///
    /// - [`Empty`](TryRecvError::Empty): nothing is there.
    /// - [`Closed`](TryRecvError::Closed): the queue is closed, and everything that was sent was received.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TryRecvError;
    ///
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// assert_eq!(consumer.try_recv(), Err(TryRecvError::Empty));
    /// producer.send(5).unwrap();
    /// drop(producer);
    /// assert_eq!(consumer.try_recv(), Ok(5));
    /// assert_eq!(consumer.try_recv(), Err(TryRecvError::Closed));
    /// ```
    #[doc(alias = "pop")]
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        match self.end.take_plainly() {
            Some(value) => Ok(value),
            // Here, because a copy of the end costs more than the look.
            None if self.end.is_plainly_empty() => Err(TryRecvError::Empty),
            None => outlined(&mut self.end, try_recv_slow_path),
        }
    }

    /// As [`recv`](Self::recv), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still receives a message that is there.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (producer, mut consumer) = annulus::spsc::channel::<u32>(4);
    /// let error = consumer.recv_timeout(Duration::from_millis(1)).unwrap_err();
    /// assert_eq!(error, annulus::RecvTimeoutError::Timeout);
    /// # drop(producer);
    /// ```
    #[cfg(feature = "std")]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(timeout)
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says. With [`BusySpin`](WaitStrategy::BusySpin),
    /// [`PauseSpin`](WaitStrategy::PauseSpin) and [`Monitor`](WaitStrategy::Monitor) it never rests: each
    /// message comes as soon as it can, at the price of throughput.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::WaitStrategy;
    ///
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send(7).unwrap();
    /// assert_eq!(consumer.recv_until(WaitStrategy::BusySpin), Ok(7));
    /// ```
    #[doc(alias = "recv_deadline")]
    #[doc(alias = "recv_with")]
    #[inline]
    pub fn recv_until(&mut self, until: impl Into<Until>) -> Result<T, RecvTimeoutError> {
        if let Some(value) = self.end.take_plainly() {
            return Ok(value);
        }
        let until = until.into();
        in_time(outlined(self, |consumer| consumer.recv_slow_path(until)))
    }

    /// Receives a message, or waits for one, or for the end. `None` once the time has passed. It is the slow
    /// path of a receive that waits.
    #[cold]
    #[inline(never)]
    pub(super) fn recv_slow_path(&mut self, until: Until) -> Option<Result<T, RecvError>> {
        self.wait_for(Read::try_take, until)
    }

    /// Waits until `find` finds something, or for the end. `None` once the time has passed.
    pub(super) fn wait_for<F>(
        &mut self,
        mut find: impl FnMut(&mut K::Read<T>) -> Option<F>,
        until: Until,
    ) -> Option<Result<F, RecvError>> {
        let strategy = until.strategy_or(|| self.wait_strategy());
        let eager =
            matches!(strategy, WaitStrategy::BusySpin | WaitStrategy::PauseSpin | WaitStrategy::Monitor);
        if eager {
            self.end.before_spin();
        }
        if let Some(found) = find(&mut self.end) {
            return Some(Ok(found));
        }
        let mut next = NextMessage { consumer: self, find, eager };
        wait_until(&mut next, strategy, until.deadline())
    }

    /// Receives as many messages into `values` as are there and fit, from the front on, and returns how many.
    /// Never waits. The values that were in these places are dropped. Returns 0 if no message is there,
    /// whether the queue is closed or not.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// let mut values = [0; 2];
    /// assert_eq!(consumer.try_recv_batch(&mut values), 2);
    /// assert_eq!(values, [1, 2]);
    /// assert_eq!(consumer.try_recv_batch(&mut values), 1);
    /// ```
    #[doc(alias = "recv_into")]
    #[doc(alias = "steal_into")]
    #[doc(alias = "pop_partial_slice")]
    #[doc(alias = "steal")]
    #[inline]
    pub fn try_recv_batch(&mut self, values: &mut [T]) -> usize {
        let received = self.end.take_into(values);
        self.settle_if_over(received);
        received
    }

    /// Waits for a message like [`recv`](Self::recv). Then receives it and the messages behind it into
    /// `values`, like [`try_recv_batch`](Self::try_recv_batch). Returns how many: at least one. If `values`
    /// is empty, it returns 0 at once, whether the queue is open or closed.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv). `values` is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// drop(producer);
    /// let mut values = [0; 8];
    /// assert_eq!(consumer.recv_batch(&mut values), Ok(3));
    /// assert_eq!(consumer.recv_batch(&mut values), Err(annulus::RecvError::CLOSED));
    /// ```
    #[doc(alias = "recv_many")]
    #[doc(alias = "blocking_recv_many")]
    #[doc(alias = "poll_recv_many")]
    pub fn recv_batch(&mut self, values: &mut [T]) -> Result<usize, RecvError> {
        self.batch_from(values, Self::recv)
    }

    /// As [`recv_batch`](Self::recv_batch), but gives up after `timeout`, like
    /// [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `values` is unchanged.
    #[cfg(feature = "std")]
    pub fn recv_batch_timeout(
        &mut self,
        values: &mut [T],
        timeout: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_batch_until(values, timeout)
    }

    /// As [`recv_batch`](Self::recv_batch), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `values` is unchanged.
    pub fn recv_batch_until(
        &mut self,
        values: &mut [T],
        until: impl Into<Until>,
    ) -> Result<usize, RecvTimeoutError> {
        self.batch_from(values, |consumer| consumer.recv_until(until))
    }

    /// Receives a message by `first`, and those behind it, into `values`.
    #[inline]
    fn batch_from<E>(
        &mut self,
        values: &mut [T],
        first: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<usize, E> {
        let Some((place, rest)) = values.split_first_mut() else {
            return Ok(0);
        };
        *place = first(self)?;
        Ok(1 + self.try_recv_batch(rest))
    }

    /// As [`recv_batch`](Self::recv_batch), but appends at most `most` messages to `values`, which grows if
    /// necessary.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::mpsc::channel(4);
    /// for name in ["ada", "grace", "mary"] {
    ///     producer.send(String::from(name)).unwrap();
    /// }
    /// let mut names = Vec::new();
    /// assert_eq!(consumer.recv_many(&mut names, 2), Ok(2));
    /// assert_eq!(names, ["ada", "grace"]);
    /// ```
    pub fn recv_many(&mut self, values: &mut Vec<T>, most: usize) -> Result<usize, RecvError> {
        self.many_from(values, most, Self::recv)
    }

    /// As [`recv_many`](Self::recv_many), but gives up after `timeout`, like
    /// [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `values` is unchanged.
    #[cfg(feature = "std")]
    pub fn recv_many_timeout(
        &mut self,
        values: &mut Vec<T>,
        most: usize,
        timeout: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_many_until(values, most, timeout)
    }

    /// As [`recv_many`](Self::recv_many), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout). `values` is unchanged.
    pub fn recv_many_until(
        &mut self,
        values: &mut Vec<T>,
        most: usize,
        until: impl Into<Until>,
    ) -> Result<usize, RecvTimeoutError> {
        self.many_from(values, most, |consumer| consumer.recv_until(until))
    }

    /// Appends a message that it receives by `first`, and up to `most - 1` of those behind it, to `values`.
    fn many_from<E>(
        &mut self,
        values: &mut Vec<T>,
        most: usize,
        first: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<usize, E> {
        if most == 0 {
            return Ok(0);
        }
        values.push(first(self)?);
        Ok(1 + self.take_up_to(most - 1, |value| values.push(value)))
    }

    /// Hands up to `most` of the messages that are there to `handler`, and returns how many they were. It
    /// visits each ring once, and takes the messages that were there when the turn of that ring began. If
    /// `most` cuts a turn short, the next call goes on with that turn. Never waits. The slots of a ring
    /// become free when it is left. For all messages that are there, `most` is [`usize::MAX`].
    ///
    /// So `handler` must not wait for room in this queue: a [`send`](crate::queue::Producer::send) that finds
    /// its ring full may wait for the very handler that it runs in, for ever. Use
    /// [`try_send`](crate::queue::Producer::try_send) or `send_timeout`, and keep the values that found no
    /// room until this returns.
    ///
    /// If `handler` panics, the messages that it got count as received, including the one at which it
    /// panicked. The others stay in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// let mut taken = Vec::new();
    /// assert_eq!(consumer.consume(2, |number| taken.push(number)), 2);
    /// assert_eq!(consumer.consume(usize::MAX, |number| taken.push(number)), 1);
    /// assert_eq!(taken, [1, 2, 3]);
    /// ```
    #[doc(alias = "consume_all")]
    #[doc(alias = "consumeBatch")]
    #[inline]
    pub fn consume(&mut self, most: usize, mut handler: impl FnMut(T)) -> usize {
        let corrupt = self.end.corrupt();
        let (mut passed, mut consumed) = (0, 0);
        let mut there = self.end.left_of_turn();
        let mut round = self.end.begin_round();
        loop {
            // More than once only where some are corrupt, which do not count.
            while consumed < most && there > 0 {
                let taken = take_up_to(there.min(most - consumed), |left| {
                    self.end.take_from_lane(left, &mut handler)
                });
                passed += taken;
                consumed = passed - (self.end.corrupt() - corrupt) as usize;
                there = if taken == 0 { 0 } else { there - taken };
            }
            if consumed >= most || !self.end.next_in_round(&mut round) {
                self.settle_if_over(passed);
                return consumed;
            }
            // None is corrupt within one process: no more than these are looked for.
            let is_checked = size_of::<K::Corrupt>() > 0;
            there = self.end.lane_len(if is_checked { usize::MAX } else { most - consumed });
        }
    }

    /// Hands up to `most` messages to `handler`, from the rings in turn like [`try_recv`](Self::try_recv),
    /// and returns how many. Some may have come meanwhile.
    #[inline]
    fn take_up_to(&mut self, most: usize, handler: impl FnMut(T)) -> usize {
        let consumed = self.end.take_up_to(most, handler);
        self.settle_if_over(consumed);
        consumed
    }

    /// If nothing was found on a closed queue, the next call will know why.
    // Mutants: `with ()`: only a model sees it: what is sent beside a close, and in no list yet (loom
    // fan_in_wake, shared_wake); other calls look for the end, too.
    #[inline]
    fn settle_if_over(&mut self, found: usize) {
        // Mutants: `== with !=`, `&& with ||`: only a model sees it: what is sent beside a close, and in no
        // list yet (loom fan_in_wake, shared_wake); other calls look for the end, too.
        if found == 0 && self.end.state().may_be_over() {
            outlined(&mut self.end, Read::settle);
        }
    }

    /// Drops up to `most` messages that are there, in the order of [`try_recv`](Self::try_recv), and returns
    /// how many they were.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(consumer.skip(2), 2);
    /// assert_eq!(consumer.recv(), Ok(3));
    /// assert_eq!(consumer.skip(2), 0);
    /// ```
    pub fn skip(&mut self, most: usize) -> usize {
        self.take_up_to(most, drop)
    }

    /// How many messages have been sent and not received yet, in all rings. This is a snapshot, and never
    /// more than all rings hold. O(rings).
    #[doc(alias = "slots")]
    #[must_use]
    pub fn len(&self) -> usize {
        self.end.len()
    }

    /// How many messages were corrupt: another process has sent something that is no `T`, and this consumer
    /// has passed it. Always 0 within one process, and for types of which any bytes are a value.
    #[must_use]
    pub fn total_corrupt(&self) -> u64 {
        self.end.corrupt()
    }

    /// What the last corrupt message was.
    #[must_use]
    pub fn last_corrupt(&self) -> Option<K::Corrupt> {
        self.end.last_corrupt()
    }

    /// Whether there is no message. This is a snapshot: a producer may have sent one when it returns.
    /// O(rings).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many messages each ring holds: exactly the number that was requested.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.end.state().plan.capacity
    }

    /// Closes the queue and wakes all threads that wait. Sends fail from now on. Messages that were sent
    /// before can still be received. No effect on a closed queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send(1).unwrap();
    /// consumer.close();
    /// assert!(producer.send(2).is_err());
    /// assert_eq!(consumer.iter().collect::<Vec<_>>(), [1]);
    /// ```
    pub fn close(&self) {
        self.end.state().close();
    }

    /// A [`Closer`], which closes the queue from any thread. It does not keep the queue open.
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel::<u64>(4);
    /// let closer = consumer.closer();
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

    own_strategy! {
        make: "let (_producer, mut reader) = annulus::spsc::channel::<u64>(8);",
        |handle| ring: handle.end.state().plan.strategy
    }

    observable! {
        where T: 'static,
        |handle| stats: handle.end.state().stats(),
        observer: handle.end.state().observer()
    }

    /// Whether the queue is closed. There may be messages left.
    #[doc(alias = "is_disconnected")]
    #[doc(alias = "is_abandoned")]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.end.state().is_closed()
    }

    /// Whether the queue is closed and every message that was sent was received. If so, this stays true.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send(1).unwrap();
    /// drop(producer);
    /// assert!(consumer.is_closed() && !consumer.is_fully_drained());
    /// consumer.recv().unwrap();
    /// assert!(consumer.is_fully_drained());
    /// ```
    #[must_use]
    pub fn is_fully_drained(&mut self) -> bool {
        // The first decides where the queue ends.
        self.is_closed() && (self.end.settle() || self.end.settle())
    }

    /// Waits until messages are readable, or for the end. `None` once the time has passed.
    #[inline]
    pub(crate) fn await_readable(&mut self, until: Until) -> Option<Result<(), RecvError>>
    where
        K: InPlace,
    {
        self.wait_for(find_readable::<T, K>, until)
    }

    /// Whether messages are readable, or the queue has ended. Never waits.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    #[inline]
    pub(crate) fn poll_readable(&mut self) -> Look<Result<(), RecvError>>
    where
        K: InPlace,
    {
        find_or_end(&mut self.end, find_readable::<T, K>)
    }
}

/// Whether messages are readable.
#[inline]
fn find_readable<T, K: InPlace>(end: &mut K::Read<T>) -> Option<()> {
    (!K::read_end(end).readable(1).is_empty()).then_some(())
}

/// The slow path of a receive that does not wait.
#[cold]
#[inline(never)]
fn try_recv_slow_path<T, E: Read<T>>(end: &mut E) -> Result<T, TryRecvError> {
    if_there(look_now(|| find_or_end::<T, E, T>(end, E::try_take)))
}

/// Looks for what `find` finds, or for the end. It may have passed a message that is corrupt.
#[inline(always)]
pub(super) fn find_or_end<T, E: Read<T>, F>(
    end: &mut E,
    mut find: impl FnMut(&mut E) -> Option<F>,
) -> Look<Result<F, RecvError>> {
    let before = end.corrupt();
    loop {
        if let Some(found) = find(end) {
            return Look::Found(Ok(found));
        }
        if end.corrupt() != before {
            return Look::Again;
        }
        if !end.state().may_be_over() {
            return Look::Nothing;
        }
        if end.settle() {
            return Look::Found(Err(end.state().end()));
        }
    }
}

/// What `find` finds, or the end.
pub(super) struct NextMessage<'c, T, K: AnyKind, Find> {
    pub(super) consumer: &'c mut Consumer<T, K>,
    pub(super) find: Find,
    /// It is in a hurry.
    pub(super) eager: bool,
}

impl<T, K: AnyKind, F, Find: FnMut(&mut K::Read<T>) -> Option<F>> Poll for NextMessage<'_, T, K, Find> {
    type Found = Result<F, RecvError>;

    fn wait_point(&self) -> &EventCount {
        &self.consumer.end.state().published
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        self.consumer.end.watched()
    }

    fn poll(&mut self) -> Look<Self::Found> {
        if self.eager {
            self.consumer.end.before_spin();
        }
        find_or_end::<T, _, F>(&mut self.consumer.end, &mut self.find)
    }
}

/// In place: for queues with one consumer, [`spsc`](crate::spsc) and [`mpsc`](crate::mpsc).
///
/// Between processes, the other process may write to a message while it is read. So the verbs that show
/// messages as slices exist for queues within one process, and others, whose names end in `_shared` or
/// have it before `_timeout`, `_until` or `_async`, show a [`SharedSlice`], from which messages are copied.
// The bounds are at the verbs, where the compiler explains one that is missing better.
impl<T: Send, K: AnyKind> Consumer<T, K> {
    /// The next messages of one ring as a slice, to be read in place. The slice is empty if no message is
    /// there. The messages stay in the queue until [`advance`](Self::advance). Never waits.
    ///
    /// It stays with one ring until 128 of its messages were taken, or `advance(0)` ends the turn. Until
    /// then, another call looks at the same ring.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(consumer.readable(), [1, 2, 3]);
    /// consumer.advance(2);
    /// assert_eq!(consumer.readable(), [3]);
    /// ```
    #[doc(alias = "ReadChunk")]
    #[doc(alias = "ChunkError")]
    #[doc(alias = "read_chunk")]
    #[doc(alias = "as_slices")]
    #[doc(alias = "peek_many")]
    #[inline]
    pub fn readable(&mut self) -> &[T]
    where
        K: InPlace + QueueKind,
    {
        self.first_readable(usize::MAX)
    }

    /// The first `most` messages of [`readable`](Self::readable), or all of them if there are fewer.
    #[inline]
    fn first_readable(&mut self, most: usize) -> &[T]
    where
        K: InPlace + QueueKind,
    {
        // SAFETY: this process alone has the memory, and its producers leave these messages as they are.
        unsafe { self.first_shared(most).as_slice() }
    }

    /// As [`readable`](Self::readable), but waits like [`recv`](Self::recv) while no message is there. So the
    /// slice is never empty.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// drop(producer);
    /// assert_eq!(consumer.wait_readable(), Ok(&[1, 2, 3][..]));
    /// consumer.advance(3);
    /// assert_eq!(consumer.wait_readable(), Err(annulus::RecvError::CLOSED));
    /// ```
    #[inline]
    pub fn wait_readable(&mut self) -> Result<&[T], RecvError>
    where
        K: InPlace + QueueKind,
    {
        self.await_readable(Until::FOREVER).unwrap_or(Err(RecvError::CLOSED))?;
        Ok(self.readable())
    }

    /// As [`wait_readable`](Self::wait_readable), but gives up after `timeout`, like
    /// [`recv_timeout`](Self::recv_timeout).
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout).
    #[cfg(feature = "std")]
    pub fn wait_readable_timeout(&mut self, timeout: Duration) -> Result<&[T], RecvTimeoutError>
    where
        K: InPlace + QueueKind,
    {
        self.wait_readable_until(timeout)
    }

    /// As [`wait_readable`](Self::wait_readable), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout).
    pub fn wait_readable_until(&mut self, until: impl Into<Until>) -> Result<&[T], RecvTimeoutError>
    where
        K: InPlace + QueueKind,
    {
        in_time(self.await_readable(until.into()))?;
        Ok(self.readable())
    }

    /// Drops the first `count` messages of [`readable`](Self::readable), or of
    /// [`readable_shared`](Self::readable_shared): all of them, even if a destructor panics. Their slots
    /// become free at once.
    ///
    /// `advance(0)` drops nothing and ends the turn of this ring. The next [`readable`](Self::readable) or
    /// [`peek`](Self::peek) goes on with the next ring that has a message, and comes back to this ring after
    /// the others. Use it if you can't take this message yet, so that the messages of other producers need
    /// not wait. It has no effect if there is one ring.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut first, mut consumer) = annulus::mpsc::channel(4);
    /// let mut second = first.clone();
    /// first.send(1).unwrap();
    /// second.send(2).unwrap();
    /// let one = consumer.readable()[0];
    /// consumer.advance(0); // not yet
    /// assert_eq!(consumer.readable(), [3 - one]);
    /// consumer.advance(1);
    /// assert_eq!(consumer.readable(), [one]);
    /// ```
    ///
    /// # Panics
    ///
    /// If `count` is larger than the number of messages that `readable` would return without a new look.
    /// Nothing is dropped then.
    #[doc(alias = "commit")]
    #[inline]
    pub fn advance(&mut self, count: usize)
    where
        K: InPlace,
    {
        if count > 0 {
            K::current(&mut self.end).advance(count);
        } else {
            K::end_turn(&mut self.end);
        }
    }

    /// The next message, by reference. It stays in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send(1).unwrap();
    /// assert_eq!(consumer.peek(), Some(&1));
    /// assert_eq!(consumer.recv(), Ok(1));
    /// assert_eq!(consumer.peek(), None);
    /// ```
    #[doc(alias = "PeekError")]
    #[doc(alias = "recv_ref")]
    #[inline]
    pub fn peek(&mut self) -> Option<&T>
    where
        K: InPlace + QueueKind,
    {
        self.first_readable(1).first()
    }

    /// As [`readable`](Self::readable), also for queues between processes: the messages are copied from what
    /// is shown.
    ///
    /// # Examples
    ///
    /// ```
    /// # #[cfg(all(feature = "shm", target_os = "linux"))] {
    /// use annulus::shm::{Shared, WhenGone, spsc};
    ///
    /// let builder = annulus::Settings::new(8);
    /// let Shared { handle: mut producer, invitation, .. } =
    ///     spsc::producer::<u32>(builder, WhenGone::Close)?;
    /// let (mut consumer, _) = spsc::consumer::<u32>(&invitation)?; // usually in another process
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(consumer.readable_shared().to_vec(), [1, 2, 3]);
    /// consumer.advance(2);
    /// assert_eq!(consumer.readable_shared().get(0), Some(3));
    /// # }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub fn readable_shared(&mut self) -> SharedSlice<'_, T>
    where
        K: InPlace,
    {
        self.first_shared(usize::MAX)
    }

    /// The first `most` messages of [`readable_shared`](Self::readable_shared), or all of them if there are
    /// fewer. For the C library, which takes one message at a time: so it does not look how many there are.
    #[doc(hidden)]
    #[inline]
    pub fn first_shared(&mut self, most: usize) -> SharedSlice<'_, T>
    where
        K: InPlace,
    {
        let cells = K::read_end(&mut self.end).readable(most);
        // (A cell has the layout of a message.)
        let messages = NonNull::slice_from_raw_parts(cells.cast(), cells.len());
        // SAFETY: they were sent, and stay while this handle is borrowed.
        unsafe { SharedSlice::new(messages) }
    }

    /// As [`wait_readable`](Self::wait_readable), for [`readable_shared`](Self::readable_shared).
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    #[inline]
    pub fn wait_readable_shared(&mut self) -> Result<SharedSlice<'_, T>, RecvError>
    where
        K: InPlace,
    {
        self.await_readable(Until::FOREVER).unwrap_or(Err(RecvError::CLOSED))?;
        Ok(self.readable_shared())
    }

    /// As [`wait_readable_timeout`](Self::wait_readable_timeout), for
    /// [`readable_shared`](Self::readable_shared).
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout).
    #[cfg(feature = "std")]
    pub fn wait_readable_shared_timeout(
        &mut self,
        timeout: Duration,
    ) -> Result<SharedSlice<'_, T>, RecvTimeoutError>
    where
        K: InPlace,
    {
        self.wait_readable_shared_until(timeout)
    }

    /// As [`wait_readable_until`](Self::wait_readable_until), for [`readable_shared`](Self::readable_shared).
    ///
    /// # Errors
    ///
    /// As [`recv_timeout`](Self::recv_timeout).
    pub fn wait_readable_shared_until(
        &mut self,
        until: impl Into<Until>,
    ) -> Result<SharedSlice<'_, T>, RecvTimeoutError>
    where
        K: InPlace,
    {
        in_time(self.await_readable(until.into()))?;
        Ok(self.readable_shared())
    }
}

/// For queues that producers can join, [`mpsc`](crate::mpsc) and [`mpmc`](crate::mpmc).
impl<T: Send, K: Joinable> Consumer<T, K> {
    /// How many rings there are: as many as there were producers at one time. When a producer leaves, the
    /// next producer that joins takes over its ring, whatever the consumers do. The memory of the rings is
    /// freed with the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (first, consumer) = annulus::mpsc::channel::<u64>(4);
    /// for number in 0..1_000 {
    ///     first.clone().try_send(number).ok();
    /// }
    /// assert_eq!(consumer.rings(), 2);
    /// ```
    #[must_use]
    pub fn rings(&self) -> usize {
        self.end.state().roster.count()
    }
}

/// Another consumer of the queue. Nobody has to wait for this.
impl<T, K: ManyConsumers> Clone for Consumer<T, K> {
    fn clone(&self) -> Self {
        Self { end: K::another_consumer(&self.end), strategy: self.strategy }
    }
}

impl<T: Send, K: AnyKind> Consumer<T, K> {
    /// An iterator over the messages that are there now. It visits each ring once, and takes the messages
    /// that were there when the turn of that ring began. So it ends, however fast the producers are. It never
    /// waits. Messages that it is not asked for stay in the queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(consumer.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// assert_eq!(consumer.try_iter().next(), None);
    /// ```
    #[doc(alias = "drain")]
    #[doc(alias = "drain_all")]
    pub fn try_iter(&mut self) -> TryIter<'_, T, K> {
        let round = self.end.begin_round();
        TryIter { consumer: self, here: 0, round }
    }

    /// An iterator that waits for messages until the queue is closed and empty.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// drop(producer);
    /// assert_eq!(consumer.iter().sum::<i32>(), 6);
    /// ```
    pub fn iter(&mut self) -> Iter<&mut Self> {
        Iter::of(self)
    }
}

/// An iterator over the messages that are there now; made by [`Consumer::try_iter`].
#[doc(alias = "Drain")]
#[must_use = "an iterator does nothing until it is asked"]
pub struct TryIter<'c, T, K: AnyKind> {
    consumer: &'c mut Consumer<T, K>,
    /// Messages left in this ring.
    here: usize,
    /// The rings after this one.
    round: Round,
}

impl<T, K: AnyKind> Iterator for TryIter<'_, T, K> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        loop {
            if self.here > 0 {
                self.here -= 1;
                let mut value = None;
                // (As many are there, unless another consumer takes them.)
                let passed = self.consumer.end.take_from_lane(1, |taken| value = Some(taken));
                if value.is_some() {
                    return value;
                }
                // (What is corrupt was passed.)
                if passed == 1 {
                    continue;
                }
                self.here = 0;
            }
            if !self.consumer.end.next_in_round(&mut self.round) {
                return None;
            }
            self.here = self.consumer.end.lane_len(usize::MAX);
        }
    }
}

impl<T, K: AnyKind> FusedIterator for TryIter<'_, T, K> {}

iterates! { [T: Send, K: AnyKind] Consumer<T, K>; }

impl<T, K: AnyKind> fmt::Debug for TryIter<'_, T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TryIter").field("here", &self.here).finish_non_exhaustive()
    }
}

// SAFETY: the eventcounts are in the queue state, which the consumer keeps alive.
unsafe impl<T: Send, K: AnyKind> Source for Consumer<T, K> {
    fn wait_point(&self) -> &EventCount {
        &self.end.state().published
    }

    fn watched(&self) -> Option<&AtomicU64> {
        self.end.watched()
    }

    fn is_ready(&mut self) -> bool {
        match find_or_end::<T, _, _>(&mut self.end, |end| end.has_message().then_some(())) {
            // (What is corrupt is there, too.)
            Look::Found(Ok(())) | Look::Again => true,
            Look::Found(Err(_)) => !seeded!("end_is_not_ready"),
            Look::Nothing => false,
        }
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }

    fn has_more(&mut self) -> bool {
        self.end.has_certain_message()
    }

    /// Of each lane with a message. What a producer sends that joins later comes after the mark, also in a
    /// lane that was there.
    fn mark(&mut self) -> EndMark {
        let spans = self.end.state().nodes().map(|node| (node.index, node.lane.span()));
        let ends = spans.filter(|(_, span)| span.count() > 0);
        EndMark::of(ends.map(|(lane, span)| (u64::from(lane), span.tail.get())))
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        let roster = &self.end.state().roster;
        mark.is_passed(|lane, end| {
            roster.node(lane as usize).is_none_or(|node| !node.lane.head().is_before(Number::new(end)))
        })
    }

    fn left(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

impl<T: Send, K: AnyKind> Waitable for Consumer<T, K> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Send, K: AnyKind> Receive for Consumer<T, K> {
    type Item = T;

    #[inline(always)]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        if let Some(value) = self.end.take_plainly() {
            return Look::Found(Ok(value));
        }
        // Decision 0072: a select looks at many that are empty.
        if self.end.is_plainly_empty() {
            return Look::Nothing;
        }
        // Not outlined: a consumer that a future borrows lies in memory anyway.
        find_or_end::<T, _, _>(&mut self.end, Read::try_take)
    }

    /// By its own slow path: a caller that spins for the next message is in a hurry.
    fn recv_late(&mut self, until: Until) -> Option<Result<T, RecvError>> {
        self.recv_slow_path(until)
    }

    #[inline]
    fn recv(&mut self) -> Result<T, RecvError> {
        self.recv()
    }
}

/// In tasks.
#[cfg(feature = "async")]
impl<T: Send, K: AnyKind> Consumer<T, K> {
    /// Receives the next message, like [`recv`](Self::recv), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. If it was woken for
    /// a message, another consumer that waits is woken in its place.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the queue is closed, and everything that was sent was received.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// let writer = std::thread::spawn(move || producer.send("hello"));
    /// pollster::block_on(async {
    ///     assert_eq!(consumer.recv_async().await, Ok("hello"));
    ///     assert_eq!(consumer.recv_async().await, Err(annulus::RecvError::CLOSED));
    /// });
    /// # writer.join().unwrap().unwrap();
    /// ```
    pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> + Send + Unpin {
        Waiting::next_of(self)
    }

    /// Waits for a message like [`recv_async`](Self::recv_async). Then receives it and the messages behind it
    /// into `values`, like [`try_recv_batch`](Self::try_recv_batch). Returns how many: at least one. If
    /// `values` is empty, it returns 0 at once, whether the queue is open or closed.
    ///
    /// *Cancel safety*: as of [`recv_async`](Self::recv_async).
    ///
    /// # Errors
    ///
    /// As [`recv_async`](Self::recv_async). `values` is unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// let mut values = [0; 8];
    /// assert_eq!(pollster::block_on(consumer.recv_batch_async(&mut values)), Ok(3));
    /// assert_eq!(values[..3], [1, 2, 3]);
    /// ```
    pub fn recv_batch_async(
        &mut self,
        values: &mut [T],
    ) -> impl Future<Output = Result<usize, RecvError>> + Send + Unpin {
        self.find_in_task(move |end: &mut K::Read<T>| {
            let received = if values.is_empty() { 0 } else { end.take_into(values) };
            (received > 0 || values.is_empty()).then_some(received)
        })
    }

    /// As [`wait_readable`](Self::wait_readable), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has dropped no message.
    ///
    /// # Errors
    ///
    /// As [`recv_async`](Self::recv_async).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(pollster::block_on(consumer.wait_readable_async()), Ok(&[1, 2, 3][..]));
    /// consumer.advance(3);
    /// ```
    pub async fn wait_readable_async(&mut self) -> Result<&[T], RecvError>
    where
        K: InPlace + QueueKind,
    {
        self.find_in_task(find_readable::<T, K>).await?;
        Ok(self.readable())
    }

    /// As [`wait_readable_async`](Self::wait_readable_async), for
    /// [`readable_shared`](Self::readable_shared).
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// As [`recv_async`](Self::recv_async).
    pub async fn wait_readable_shared_async(&mut self) -> Result<SharedSlice<'_, T>, RecvError>
    where
        K: InPlace,
    {
        self.find_in_task(find_readable::<T, K>).await?;
        Ok(self.readable_shared())
    }

    /// What `find` finds, or the end, in a task.
    pub(super) fn find_in_task<F, Find>(&mut self, find: Find) -> Waiting<NextMessage<'_, T, K, Find>>
    where
        Find: FnMut(&mut K::Read<T>) -> Option<F>,
    {
        // SAFETY: the eventcounts are in the queue state, which the consumer keeps alive.
        unsafe { Waiting::new(NextMessage { consumer: self, find, eager: false }) }
    }

    /// A stream of the messages. It ends when the queue is closed and empty. Once it has ended, it stays so.
    ///
    /// *Cancel safety*: a stream that is dropped has received no message that it did not return.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// drop(producer);
    /// assert_eq!(pollster::block_on(consumer.stream().collect::<Vec<_>>()), [1, 2, 3]);
    /// ```
    pub fn stream(&mut self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }

    /// A stream like [`stream`](Self::stream) that owns the consumer.
    ///
    /// *Cancel safety*: as of [`stream`](Self::stream). A stream that is dropped drops the consumer.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut producer, consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// drop(producer);
    /// assert_eq!(pollster::block_on(consumer.into_stream().collect::<Vec<_>>()), [1, 2, 3]);
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = T> + Unpin {
        Streaming::messages_of(self)
    }
}

impl<T, K: AnyKind> fmt::Debug for Consumer<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer")
            .field("kind", &K::NAME)
            .field("len", &self.end.len())
            .field("closed", &self.end.state().is_closed())
            .finish_non_exhaustive()
    }
}

// Last on its page.
#[cfg(feature = "std")]
impl<T: Send, K: AnyKind> Consumer<T, K> {
    /// What the memory of all rings is like now, and which options of
    /// [`Settings::memory`](crate::Settings::memory) were refused. Asks the kernel: see [`Placement`].
    /// O(rings).
    #[must_use]
    pub fn placement(&self) -> Placement {
        let rings = self.end.state().nodes().map(|node| node.lane.block().placement());
        rings.reduce(Placement::and).unwrap_or_default()
    }

    /// Moves the slots of all rings to the NUMA node of the core on which the calling thread runs now. Pin
    /// the thread before. The queue must have the option
    /// [`near_reader`](crate::memory::Memory::near_reader). Where several consumers call this, the last call
    /// decides.
    ///
    /// Rings of producers that join later go there, too. The ring of a producer that joins during this call
    /// may be left out: [`placement`](Self::placement) says so, and another call moves it.
    ///
    /// This takes system calls, and handles that use a slot meanwhile wait for its page. No message is lost.
    ///
    /// # Errors
    ///
    /// [`MemoryError`]: the queue was made without that option, or the slots of a ring can't be moved. Those
    /// of other rings may have been moved.
    #[cfg(feature = "numa")]
    pub fn bring_memory_here(&self) -> Result<(), MemoryError> {
        self.end.state().bring_to(node_here()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ptr::NonNull;

    use crate::base::allocation::Before;
    use crate::queue::ends::Write;
    use crate::queue::kind::Joinable;
    use crate::queue::lane_node::{LaneNode, NewLane};
    use crate::queue::{Producer, mpmc, mpsc};

    fn beside_one_that_joins<K: Joinable>((first, mut consumer): (Producer<u64, K>, Consumer<u64, K>))
    where
        <K::Write<u64> as Write<u64>>::Lane: NewLane,
    {
        let (state, mut mark) = (first.end.state(), EndMark::of([]));
        state.roster.add(|index| {
            // The lane is counted and not there yet, and one behind it has a message already.
            first.clone().try_send(7).unwrap();
            mark = consumer.mark();
            let plan = &state.plan.again(&None);
            let slots = <K::Write<u64> as Write<u64>>::Lane::slots(plan, Before::NOTHING).unwrap();
            // SAFETY: `made` has memory for it.
            let lane = |dst| unsafe { NewLane::write_at(dst, slots, plan) };
            LaneNode::made(lane, index, 9, NonNull::from(state).cast(), plan, EventCount::new())
        });
        assert!(!consumer.has_passed(&mut mark));
        assert_eq!(consumer.try_recv(), Ok(7));
        assert!(consumer.has_passed(&mut mark));
    }

    #[test]
    fn lane_that_is_being_added_shifts_no_mark() {
        beside_one_that_joins(mpsc::channel(4));
        beside_one_that_joins(mpmc::channel(4));
    }
}
