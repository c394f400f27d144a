//! [`Consumer`].

use alloc::vec::Vec;
use core::fmt;
#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use super::apart::apart;
use super::iter::{IntoIter, Iter, TryIter};
use super::kind::{InPlace, Joinable, Kind, Read, Shared, take_up_to};
use super::pages::of_kinds;
use super::stats::ChannelStats;
#[cfg(feature = "std")]
use crate::error::RecvTimeoutError;
use crate::error::{RecvError, TryRecvError};
use crate::wait::{Deadline, Event, Look, Wait, WaitStrategy, wait_until};

/// Receives messages: each message of the queue reaches one consumer.
///
/// Made by [`spsc::channel`](crate::spsc::channel), [`mpsc::channel`](crate::mpsc::channel) and their like; `K` says which. All verbs may be mixed at
/// will: each takes up where the one before stopped.
///
/// # Many rings
///
/// Where there are several rings (`mpsc`, `mpmc`), each consumer goes round those that have messages, in the order in which the rings were made. A turn of one ring is at most
/// 128 messages; a verb that finds nothing means that nothing was left of what was there when it began.
///
/// *No message waits for ever.* With n rings, a message that has fewer than 128 before it in its own ring is received within (n + 1) · 128 receives of any one
/// consumer that goes on, whatever other producers do; each further 128 before it cost as much again. Verbs that work otherwise have bounds of their own:
///
/// - in place ([`readable`](Self::readable), [`peek`](Self::peek)), a turn ends with the slice in which 128 messages are reached, so it is at most 127 and the capacity: within
///   (n + 1) · (127 + capacity). A turn in which nothing is taken has no end but [`advance(0)`](Self::advance);
/// - [`consume`](Self::consume) and [`try_iter`](Self::try_iter) visit each ring once, and take what was there when its turn came: a turn is at most the capacity. A `try_iter` that is dropped before its end
///   ends the turn of the ring where it was.
///
/// *What a poll costs.* A search looks at rings that had messages lately, and at one word for each 64 rings. A ring in which nothing was found for some thousand looks is left out
/// of the rounds, until its producer sends again. So a poll takes O(rings with messages lately + rings / 64) steps, however many producers come meanwhile. (While another consumer leaves out rings, it
/// looks at all of them.)
///
/// *Memory* is that of as many rings as there were producers at one time, whatever consumers do, and is given back with the queue. A producer that joins goes on in the ring of one that has left,
/// behind what that one left there.
///
/// *Sleepers.* Where there are several consumers (`spmc`, `mpmc`), one message wakes one of those that sleep, and several at once wake as many; a close wakes all. Now and then more are woken, and never too few.
///
/// # Rests
///
/// Right behind a producer that sends without a break, each look takes the lines that the producer is writing, and brings a few
/// messages; both are then much faster if the consumer looks more rarely. So where one ring is all there is to look at (`spsc`, and `mpsc` with one
/// producer, or beside others that were quiet for long), a verb that has taken all it knew of, and several times in a row found between 4 messages and 512 (or an eighth of the capacity; in `mpsc`, 64),
/// pauses for half a microsecond to one before it goes on with what there is then. It keeps to that as long as each pause brings 32
/// messages: in streams of a message every 30 ns or less, that is. Where one brings fewer, it tries again after twice as many looks, up to 1,024.
/// [`recv_by`](Self::recv_by)`(BusySpin)` and `(YieldSpin)` never rest.
pub struct Consumer<T: Send, K: Kind> {
    pub(super) end: K::Read<T>,
}

impl<T: Send, K: Kind> Consumer<T, K> {
    /// Receives the next message. Waits for one with the [`WaitStrategy`] of the ring.
    ///
    /// Right behind a producer that sends without a break it may hold back for about a microsecond, because both are then much faster; see
    /// [`recv_by`](Self::recv_by).
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
    /// assert_eq!(consumer.recv(), Err(annulus::RecvError));
    /// ```
    #[inline]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.receive(None)
    }

    /// Receives the next message if there is one. Never waits for anybody, allocates nothing.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): nothing is there. [`Closed`](TryRecvError::Closed): the queue is closed, and everything that was sent was
    /// received.
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
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        match self.end.take_plainly() {
            Some(value) => Ok(value),
            None => apart(self, Self::look),
        }
    }

    /// The long way of a receive that does not wait.
    #[cold]
    #[inline(never)]
    fn look(&mut self) -> Result<T, TryRecvError> {
        self.poll()
    }

    /// One look.
    fn poll(&mut self) -> Result<T, TryRecvError> {
        loop {
            if let Some(value) = self.end.try_take() {
                return Ok(value);
            }
            if !self.end.hub().may_be_closed() {
                return Err(TryRecvError::Empty);
            }
            if self.end.settle() {
                return Err(TryRecvError::Closed);
            }
        }
    }

    /// As [`recv`](Self::recv), waiting by `strategy`. With [`BusySpin`](WaitStrategy::BusySpin) and [`YieldSpin`](WaitStrategy::YieldSpin) it never holds
    /// back: each message comes as soon as it can, at the price of throughput.
    ///
    /// # Errors
    ///
    /// As of [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::WaitStrategy;
    ///
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send(7).unwrap();
    /// assert_eq!(consumer.recv_by(WaitStrategy::BusySpin), Ok(7));
    /// ```
    #[doc(alias = "recv_with")]
    #[inline]
    pub fn recv_by(&mut self, strategy: WaitStrategy) -> Result<T, RecvError> {
        self.receive(Some(strategy))
    }

    /// Receives by `strategy`, or by that of the queue.
    #[inline(always)]
    fn receive(&mut self, strategy: Option<WaitStrategy>) -> Result<T, RecvError> {
        match self.end.take_plainly() {
            Some(value) => Ok(value),
            None => apart(self, |consumer| consumer.wait(strategy, None)).unwrap_or(Err(RecvError)),
        }
    }

    /// As [`recv`](Self::recv), but gives up after `timeout` on the monotonic clock. A timeout too long for the clock means no timeout; a zero
    /// one still receives what is there.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as [`recv`](Self::recv).
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
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(Instant::now().checked_add(timeout))
    }

    /// As [`recv_timeout`](Self::recv_timeout), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// As of [`recv_timeout`](Self::recv_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn recv_deadline(&mut self, deadline: Instant) -> Result<T, RecvTimeoutError> {
        self.recv_until(Some(deadline))
    }

    #[cfg(feature = "std")]
    fn recv_until(&mut self, deadline: Deadline) -> Result<T, RecvTimeoutError> {
        match self.wait(None, deadline) {
            Some(found) => found.map_err(RecvTimeoutError::from),
            None => Err(RecvTimeoutError::Timeout),
        }
    }

    /// Receives a message, or waits for one, or for the end; `None` once `deadline` has passed. Of a receive that waits, the long way.
    #[cold]
    #[inline(never)]
    fn wait(&mut self, strategy: Option<WaitStrategy>, deadline: Deadline) -> Option<Result<T, RecvError>> {
        let strategy = strategy.unwrap_or(self.end.hub().plan.strategy);
        let eager = matches!(strategy, WaitStrategy::BusySpin | WaitStrategy::YieldSpin);
        if eager {
            self.end.expect();
        }
        if let Some(value) = self.end.try_take() {
            return Some(Ok(value));
        }
        let mut next = Next { consumer: self, eager };
        wait_until(&mut next, strategy, deadline)
    }

    /// Receives messages into `values`, from its start on, as many as are there and fit, and returns how many. Never waits. What was in
    /// these places before is dropped. 0 where nothing is there, closed or not.
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
    #[inline]
    pub fn try_recv_batch(&mut self, values: &mut [T]) -> usize {
        let received = self.end.take_into(values);
        self.look_for_the_end(received);
        received
    }

    /// Waits for a message as [`recv`](Self::recv) does, and receives it and those that are there already into `values`, as
    /// [`try_recv_batch`](Self::try_recv_batch) does. Returns how many: at least one, but 0 at once, open or closed, where `values` is empty.
    ///
    /// # Errors
    ///
    /// As of [`recv`](Self::recv). `values` is as it was.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// drop(producer);
    /// let mut values = [0; 8];
    /// assert_eq!(consumer.recv_batch(&mut values), Ok(3));
    /// assert_eq!(consumer.recv_batch(&mut values), Err(annulus::RecvError));
    /// ```
    pub fn recv_batch(&mut self, values: &mut [T]) -> Result<usize, RecvError> {
        let Some((first, rest)) = values.split_first_mut() else {
            return Ok(0);
        };
        *first = self.recv()?;
        Ok(1 + self.try_recv_batch(rest))
    }

    /// As [`recv_batch`](Self::recv_batch), but puts at most `most` messages at the end of `values`, which grows as it has to.
    ///
    /// # Errors
    ///
    /// As of [`recv`](Self::recv).
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
        if most == 0 {
            return Ok(0);
        }
        values.push(self.recv()?);
        Ok(1 + self.consume_up_to(most - 1, |value| values.push(value)))
    }

    /// Hands every message that is there to `handler`, in each ring until what was there when its turn came, and returns how many that
    /// were. Never waits. Slots are given back once for a ring, when it is done.
    ///
    /// So `handler` must not wait for room in this queue: a [`send`](crate::queue::Producer::send) that finds its ring full there may wait for the very handler
    /// that it runs in, for ever. Use [`try_send`](crate::queue::Producer::try_send) or `send_timeout`, and keep what
    /// there was no room for until this returns.
    ///
    /// If `handler` panics, the messages that it got count as received, the one it panicked with too, and the others stay.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// let mut sum = 0;
    /// assert_eq!(consumer.consume(|number| sum += number), 3);
    /// assert_eq!(sum, 6);
    /// ```
    #[doc(alias = "consume_all")]
    #[inline]
    pub fn consume(&mut self, mut handler: impl FnMut(T)) -> usize {
        let mut consumed = 0;
        let mut round = self.end.begin_round();
        while self.end.next_in_round(&mut round) {
            let here = self.end.here();
            consumed += take_up_to(here, |left| self.end.take_here(left, &mut handler));
        }
        self.look_for_the_end(consumed);
        consumed
    }

    /// As [`consume`](Self::consume), but no more than `most` messages, and from the rings in turn as [`try_recv`](Self::try_recv) would take them. `handler`
    /// must not wait for room in this queue: see [`consume`](Self::consume).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// let mut taken = Vec::new();
    /// assert_eq!(consumer.consume_up_to(2, |number| taken.push(number)), 2);
    /// assert_eq!(taken, [1, 2]);
    /// ```
    #[inline]
    pub fn consume_up_to(&mut self, most: usize, handler: impl FnMut(T)) -> usize {
        let consumed = self.end.take_up_to(most, handler);
        self.look_for_the_end(consumed);
        consumed
    }

    /// Where nothing was found on a closed queue, the next call will know why.
    #[inline]
    fn look_for_the_end(&mut self, found: usize) {
        if found == 0 && self.end.hub().may_be_closed() {
            apart(&mut self.end, Read::settle);
        }
    }

    /// Drops up to `most` messages, as [`try_recv`](Self::try_recv) would take them, and returns how many were there.
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
        self.consume_up_to(most, drop)
    }

    /// The messages that are there now: in each ring, until what was there when its turn came. Never waits, and ends, however fast the producers
    /// are. What is not asked for stays in the queue.
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
        TryIter::new(self)
    }

    /// Every message, waited for until the queue is closed and empty.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// drop(producer);
    /// assert_eq!(consumer.iter().sum::<i32>(), 6);
    /// ```
    pub fn iter(&mut self) -> Iter<'_, T, K> {
        Iter::new(self)
    }

    /// How many messages have been sent and not received, in all rings. A snapshot, and never more than all rings hold. O(rings).
    #[must_use]
    pub fn len(&self) -> usize {
        self.end.len()
    }

    /// Whether nothing is there. A snapshot: a producer may have sent something when it returns. O(rings).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many messages each ring holds: what was asked for, exactly.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.end.hub().plan.capacity
    }

    /// Closes the queue, and wakes everybody who waits. Sends fail from now on; what was sent before can still be received. No effect on
    /// a closed queue.
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
        self.end.hub().close();
    }

    /// Whether the queue is closed. There may be messages left.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.end.hub().is_closed()
    }

    /// Whether the queue is closed, and everything that was sent was received. If so, it stays so.
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
}

of_kinds! { spsc::Spsc, mpsc::Mpsc =>
impl<T: Send, K: Kind> Consumer<T, K> {
    /// The next messages of one ring that lie beside each other, to be read in place; empty where nothing is there. They stay in the queue until
    /// [`advance`](Self::advance). Never waits.
    ///
    /// It stays with a ring until 128 of its messages were taken, or `advance(0)` ends the turn: until then another call looks at the same ring.
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
    #[inline]
    pub fn readable(&mut self) -> &[T]
    where
        K: InPlace,
    {
        self.peek_many(usize::MAX)
    }

    /// Drops the first `count` messages of [`readable`](Self::readable), and gives their slots back at once.
    ///
    /// `advance(0)` drops nothing, and ends the turn of this ring: the next [`readable`](Self::readable) or [`peek`](Self::peek) goes on with the next ring that has a
    /// message, and comes back to this one after the others. So whoever can't take what is there yet does not keep the messages of other producers waiting. No effect where there is one ring.
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
    /// If `count` is above the number of messages that `readable` would return without a new look: nothing is dropped then.
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

    /// What the queue looks like now: for each producer, how many messages it has sent and how many of them were received, and how long
    /// they took, where that is measured (`Builder::statistics`). Allocates; O(rings).
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::mpsc::channel(8);
    /// let mut other = producer.clone();
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// other.send(4).unwrap();
    /// consumer.recv().unwrap();
    /// let stats = consumer.snapshot();
    /// assert_eq!(stats.producers[0].sent + stats.producers[1].sent, 4);
    /// assert_eq!(stats.pending(), 3);
    /// ```
    #[must_use]
    pub fn snapshot(&self) -> ChannelStats
    where
        K: InPlace,
    {
        ChannelStats { producers: K::producers(&self.end), closed: self.is_closed() }
    }

    /// The next message, which stays in the queue.
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
    #[inline]
    pub fn peek(&mut self) -> Option<&T>
    where
        K: InPlace,
    {
        self.peek_many(1).first()
    }

    /// The first `most` messages of [`readable`](Self::readable), or as many as there are: who takes blocks need not look at
    /// how long the slice is.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut producer, mut consumer) = annulus::spsc::channel(4);
    /// producer.send_batch(&[1, 2, 3]).unwrap();
    /// assert_eq!(consumer.peek_many(2), [1, 2]);
    /// ```
    #[inline]
    pub fn peek_many(&mut self, most: usize) -> &[T]
    where
        K: InPlace,
    {
        K::read_end(&mut self.end).readable(most)
    }
}
}

of_kinds! { mpsc::Mpsc, mpmc::Mpmc =>
impl<T: Send, K: Joinable> Consumer<T, K> {
    /// How many rings there are: as many as there were producers at one time. A ring goes to the next producer that comes when its own has
    /// left, whatever the consumers do; their memory is given back with the queue.
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
        self.end.hub().roster.count()
    }
}
}

of_kinds! { spmc::Spmc, mpmc::Mpmc =>
/// Another consumer of the queue. Stops nobody.
impl<T: Send, K: Shared> Clone for Consumer<T, K> {
    fn clone(&self) -> Self {
        Self { end: K::another(&self.end) }
    }
}
}

/// The next message, or the end.
struct Next<'c, T: Send, K: Kind> {
    consumer: &'c mut Consumer<T, K>,
    /// It is in a hurry.
    eager: bool,
}

impl<T: Send, K: Kind> Wait for Next<'_, T, K> {
    type Found = Result<T, RecvError>;

    fn event(&self) -> &Event {
        self.consumer.end.event()
    }

    fn poll(&mut self) -> Look<Self::Found> {
        if self.eager {
            self.consumer.end.expect();
        }
        match self.consumer.poll() {
            Ok(value) => Look::Found(Ok(value)),
            Err(TryRecvError::Empty) => {
                self.consumer.end.ask();
                Look::Nothing
            }
            Err(TryRecvError::Closed) => Look::Found(Err(RecvError)),
        }
    }
}

#[allow(clippy::into_iter_without_iter, reason = "`iter` takes the consumer mutably, as it must")]
impl<'c, T: Send, K: Kind> IntoIterator for &'c mut Consumer<T, K> {
    type Item = T;
    type IntoIter = Iter<'c, T, K>;

    fn into_iter(self) -> Iter<'c, T, K> {
        self.iter()
    }
}

impl<T: Send, K: Kind> IntoIterator for Consumer<T, K> {
    type Item = T;
    type IntoIter = IntoIter<T, K>;

    fn into_iter(self) -> IntoIter<T, K> {
        IntoIter::new(self)
    }
}

impl<T: Send, K: Kind> fmt::Debug for Consumer<T, K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consumer")
            .field("kind", &K::NAME)
            .field("len", &self.len())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
