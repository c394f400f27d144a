//! [`Subscriber`]: one reader of records, with a cursor of its own.
//!
//! A record stands while its extent is still there, and so are its bytes.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::mem::MaybeUninit;
#[cfg(feature = "std")]
use std::time::Duration;

#[cfg(feature = "async")]
use futures_core::FusedStream;

use super::super::handle::{Handle, Role};
use super::super::lossy_subscriber::or_lag_in_time;
use super::super::subscriber::{NoMessage, Recovery, wait_without_deadline};
use super::super::{Lossy, MayLose, Mode, Unstaged};
use crate::base::sequence::Sequence;
use crate::broadcast;
use crate::error::{
    LossyRecvError, LossyTryRecvError, RecvError, RecvTimeoutError, TryRecvError, if_there, in_time,
};
use crate::observer::observable;
use crate::receive::{Numbered, Receive, Waitable, iterates};
use crate::ring::{Area, Copied, Extent, Frontier};
use crate::stats::OwnStats;
use crate::sync::{AtomicU64, seeded};
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice};
use crate::wait::{
    EndMark, EventCount, Look, Poll, Source, Until, WaitStrategy, look_now, own_strategy, wait_until,
};
#[cfg(feature = "async")]
use crate::wait::{Streaming, Waiting};

/// A reading end of a ring of records, made by [`Subscribable`](super::Subscribable).
///
/// It sees every record from where it began, in order, each once, or counts it as lost. Its [`Mode`] says
/// whether the publisher waits for it:
///
/// - [`Lossy`]: nobody waits for it. If it falls behind, it loses the oldest records.
/// - [`Lossless`](crate::broadcast::Lossless): the publisher waits for it, so it loses nothing, and has no
///   verb with `or_lag`. When it is dropped, the publisher no longer waits.
/// - `Foreign`, of another process's ring: as lossy. What that process has written and no record can be is
///   lost, too.
/// - `Awaited`, of another process's ring whose publisher waits for it: it loses nothing, as long as no
///   process writes what it must not. Because one could, it counts what it lost, and has no clone.
///
/// At every moment, `total_received() + total_lagged()` is how far it has come.
///
/// Each receiving verb takes a buffer, and puts the record there in place of what the buffer held. It returns
/// the record's length, which then is the length of the buffer. If it returns an error, the buffer is empty.
/// It allocates only if the buffer's capacity is too small for the record; a buffer with room for
/// [`max_len`](Self::max_len) bytes never grows. A call that finds nothing, or that lost the record while it
/// copied, delivers nothing: records are whole.
///
/// It works wherever a receiving handle (`Waitable`) does: in a `select!`, a `Select`, a
/// `Worker`, and a `Notifier`. Where such a receiver takes a message, it is a copy of the record of
/// its own, a `Box<[u8]>`.
///
/// A subscriber may move to another thread. A clone starts at the same message, with counters at zero.
///
/// | verb | waits | on lag |
/// | --- | --- | --- |
/// | [`try_recv`](Self::try_recv) | no | counts it and goes on |
/// | [`recv`](Self::recv), `recv_timeout`, [`recv_until`](Self::recv_until) | yes | counts it and goes on |
/// | [`try_recv_or_lag`](Self::try_recv_or_lag) | no | says so, once |
/// | [`recv_or_lag`](Self::recv_or_lag), `recv_or_lag_timeout`, [`recv_or_lag_until`](Self::recv_or_lag_until) | yes | says so, once |
pub struct Subscriber<M: Mode = Lossy> {
    /// Receives where the records lie. Its cursor passes a record when this subscriber has its bytes.
    pub(in crate::broadcast) extents: broadcast::Subscriber<Extent, M>,
    pub(in crate::broadcast) area: Arc<Area>,
    /// Where it went on after the last lag.
    recovery: Recovery,
}

impl<M: Mode> Subscriber<M> {
    pub(super) fn new(extents: broadcast::Subscriber<Extent, M>, area: Arc<Area>) -> Self {
        Self { extents, area, recovery: Recovery::before_the_first() }
    }

    /// Receives the next record if it is there. Never waits. After a lag it goes on with the oldest record
    /// that is still whole, so `while subscriber.try_recv(&mut buffer).is_ok()` receives all that is there.
    /// [`total_lagged`](Self::total_lagged) counts what was lost, and
    /// [`try_recv_or_lag`](Self::try_recv_or_lag) reports it.
    ///
    /// Takes O(n) for n bytes, and after a lag a number of steps that grows with the logarithm of
    /// [`max_records`](Self::max_records). (If the publisher is so fast that it laps the subscriber at each
    /// of a thousand looks, this returns `Empty`.)
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): there is no new record. [`Closed`](TryRecvError::Closed): the ring is
    /// closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TryRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let mut subscriber = subscribable.subscribe();
    /// let mut buffer = Vec::new();
    /// assert_eq!(subscriber.try_recv(&mut buffer), Err(TryRecvError::Empty));
    ///
    /// for record in [[1; 20], [2; 20], [3; 20]] {
    ///     publisher.publish(&record).unwrap(); // each takes 24 bytes: no room for three
    /// }
    /// drop(publisher);
    /// assert_eq!(subscriber.try_recv(&mut buffer), Ok(20));
    /// assert_eq!(buffer, [2; 20]);
    /// assert_eq!(subscriber.try_recv(&mut buffer), Ok(20));
    /// assert_eq!(buffer, [3; 20]);
    /// assert_eq!(subscriber.try_recv(&mut buffer), Err(TryRecvError::Closed));
    /// assert_eq!(subscriber.total_lagged(), 1);
    /// ```
    #[inline]
    pub fn try_recv(&mut self, buffer: &mut Vec<u8>) -> Result<usize, TryRecvError> {
        match self.next(buffer) {
            Ok(length) => Ok(length),
            Err(NoMessage::Empty) => Err(TryRecvError::Empty),
            Err(NoMessage::Closed) => Err(TryRecvError::Closed),
            Err(NoMessage::Lapped) => self.try_recv_behind_loss(buffer),
        }
    }

    #[cold]
    #[inline(never)]
    fn try_recv_behind_loss(&mut self, buffer: &mut Vec<u8>) -> Result<usize, TryRecvError> {
        let mut next = NextRecord { subscriber: self, buffer };
        if_there(look_now(|| next.poll()))
    }

    /// Receives the next record. Waits for it with the [`WaitStrategy`] of the ring. After a lag it goes on
    /// with the oldest record that is still whole, so `while subscriber.recv(&mut buffer).is_ok()` ends only
    /// when the ring is closed.
    ///
    /// If the publisher is so fast that it overwrites the whole ring during each copy of one record, this
    /// does not return as long as that lasts.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(1024);
    /// let mut subscriber = subscribable.subscribe();
    /// let reader = std::thread::spawn(move || {
    ///     let (mut buffer, mut text) = (Vec::new(), Vec::new());
    ///     while subscriber.recv(&mut buffer).is_ok() {
    ///         text.extend_from_slice(&buffer);
    ///     }
    ///     text
    /// });
    /// publisher.publish(b"one, ").unwrap();
    /// publisher.publish(b"two").unwrap();
    /// drop(publisher);
    /// assert_eq!(reader.join().unwrap(), b"one, two");
    /// ```
    #[inline]
    pub fn recv(&mut self, buffer: &mut Vec<u8>) -> Result<usize, RecvError> {
        if let Ok(length) = self.next(buffer) {
            return Ok(length);
        }
        let strategy = self.extents.wait_strategy();
        wait_without_deadline(&mut NextRecord { subscriber: self, buffer }, strategy)
    }

    /// As [`recv`](Self::recv), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still receives a record that is there, even
    /// after a lag.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed):
    /// the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::RecvTimeoutError;
    /// use std::time::Duration;
    ///
    /// let (publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// let timeout = Duration::from_millis(1);
    /// assert_eq!(subscriber.recv_timeout(&mut buffer, timeout), Err(RecvTimeoutError::Timeout));
    /// drop(publisher);
    /// assert_eq!(subscriber.recv_timeout(&mut buffer, timeout), Err(RecvTimeoutError::Closed));
    /// ```
    #[cfg(feature = "std")]
    pub fn recv_timeout(
        &mut self,
        buffer: &mut Vec<u8>,
        timeout: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_until(buffer, timeout)
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    pub fn recv_until(
        &mut self,
        buffer: &mut Vec<u8>,
        until: impl Into<Until>,
    ) -> Result<usize, RecvTimeoutError> {
        if let Ok(length) = self.next(buffer) {
            return Ok(length);
        }
        let until = until.into();
        let strategy = until.strategy_or(|| self.extents.wait_strategy());
        in_time(wait_until(&mut NextRecord { subscriber: self, buffer }, strategy, until.deadline()))
    }
}

// The way of a record.
impl<M: Mode> Subscriber<M> {
    /// History: begins with the last `count` records that were published and still stand whole, and returns
    /// how many these are. For a subscriber that has just joined with the oldest record; see
    /// [`broadcast::Subscriber::begin_with_last`].
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// for record in [[1; 20], [2; 20], [3; 20]] {
    ///     publisher.publish(&record).unwrap(); // each takes 24 bytes: no room for three
    /// }
    /// let (mut late, mut buffer) = (subscribable.subscribe_from_oldest(), Vec::new());
    /// assert_eq!(late.begin_with_last(1), 1);
    /// assert_eq!((late.try_recv(&mut buffer), buffer[0]), (Ok(20), 3));
    /// assert_eq!(subscribable.subscribe_from_oldest().begin_with_last(9), 2, "one is overwritten");
    /// ```
    pub fn begin_with_last(&mut self, count: usize) -> usize {
        self.extents.begin_at(self.frontier().oldest);
        self.extents.begin_with_last(count)
    }

    /// The one read that everything else is made of: the record at the cursor, which the cursor passes if the
    /// record is whole. If not, the buffer is empty.
    #[inline]
    pub(super) fn next(&mut self, buffer: &mut Vec<u8>) -> Result<usize, NoMessage<Infallible>> {
        buffer.clear();
        let mut extent = MaybeUninit::uninit();
        let extent = match self.extents.read(&mut extent) {
            Ok(extent) => extent.take(),
            Err(NoMessage::Empty) => return Err(NoMessage::Empty),
            Err(NoMessage::Closed) => return Err(NoMessage::Closed),
            // (Any numbers are an extent: nothing is corrupt.)
            Err(NoMessage::Lapped | NoMessage::Corrupt(_)) => return Err(NoMessage::Lapped),
        };
        // Decision 0163: what no record can be is lost.
        let is_there = !M::IS_CHECKED || self.area.has(extent);
        if !(is_there && self.area.read(extent, buffer)) {
            return Err(NoMessage::Lapped);
        }
        self.extents.pass();
        Ok(buffer.len())
    }

    /// Goes on after a lag and says how many records that cost.
    #[cold]
    #[inline(never)]
    pub(super) fn recover(&mut self) -> u64 {
        broadcast::Subscriber::<Extent, M>::assert_may_lose();
        self.recovery = self.recovery_in(self.frontier());
        let skipped = self.extents.skip_to(self.recovery.resume);
        self.extents.shared.note_lag(skipped);
        skipped
    }

    fn frontier(&self) -> Frontier {
        let cursor = self.extents.cursor;
        // (The bug goes by the extents only.)
        if seeded!("bytes_go_on_by_extents") {
            return self.extents.shared.frontier(cursor);
        }
        frontier::<M, _>(&self.extents.shared, &self.area, cursor)
    }

    /// Where it would go on, if it was lapped.
    fn recovery_in(&self, frontier: Frontier) -> Recovery {
        // Of records this long, the ring holds as many as stand now. Half of them are never all: so this does
        // not pass the newest.
        let standing = frontier.head.since(frontier.oldest);
        self.recovery.next_among(frontier, standing, self.extents.cursor)
    }
}

/// How far the publisher has come, and the oldest record that stands. A record may be overwritten at any
/// moment after that.
///
/// Takes a bounded number of steps: as [`frontier`](crate::broadcast::ring_state::RingState::frontier) of the
/// ring of extents, and a look at the extents of log₂ n records, where n is the number of extents. `known` is
/// a bound that the caller already has.
pub(super) fn frontier<M: Mode, R: Role>(
    extents: &Handle<Copied<Extent>, R>,
    area: &Area,
    known: Sequence,
) -> Frontier {
    let frontier = extents.frontier(known);
    let first_standing = area.first_standing();
    let stands = |sequence| {
        let mut extent = MaybeUninit::uninit();
        // All of these were published, so an extent that can't be read was overwritten.
        // SAFETY: the handle keeps the ring alive.
        let Ok(extent) = (unsafe { extents.slots.read(sequence, &mut extent) }) else { return false };
        let extent = broadcast::Subscriber::<Extent, M>::value_of(extent);
        extent.is_ok_and(|extent| extent.take()[0] >= first_standing)
    };
    // Records lie in the order of their numbers, so those that stand come last.
    let (mut overwritten, mut oldest) = (frontier.oldest, frontier.head);
    while overwritten < oldest {
        let middle = overwritten.plus(oldest.since(overwritten) / 2);
        if stands(middle) {
            oldest = middle;
        } else {
            overwritten = middle.next();
        }
    }
    Frontier { oldest, ..frontier }
}

/// A subscriber that waits for a record, and the buffer for it.
pub(super) struct NextRecord<'s, M: Mode> {
    pub(super) subscriber: &'s mut Subscriber<M>,
    pub(super) buffer: &'s mut Vec<u8>,
}

impl<M: Mode> Poll for NextRecord<'_, M> {
    type Found = Result<usize, RecvError>;

    fn wait_point(&self) -> &EventCount {
        Poll::wait_point(&self.subscriber.extents)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Poll::watched(&self.subscriber.extents)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.subscriber.next(self.buffer) {
            Ok(length) => Look::Found(Ok(length)),
            Err(NoMessage::Closed) => {
                let has_died = self.subscriber.extents.shared.head.publisher_has_died();
                Look::Found(Err(RecvError::of(has_died)))
            }
            Err(NoMessage::Empty) => Look::Nothing,
            // The record that lapped it may be the last one for a long time. Records are there, and no
            // publisher will notify for them.
            Err(NoMessage::Lapped) => {
                self.subscriber.recover();
                Look::Again
            }
        }
    }
}

/// Verbs that report a lag: each lost record is reported once, by the first such verb behind it. What a plain
/// verb has counted, none of these reports.
impl<M: MayLose> Subscriber<M> {
    /// Receives the next record if it is there, like [`try_recv`](Self::try_recv), but reports a lag. Never
    /// waits. Takes O(n) for n bytes, and after a lag a number of steps that grows with the logarithm of
    /// [`max_records`](Self::max_records).
    ///
    /// # Errors
    ///
    /// - [`Empty`](LossyTryRecvError::Empty): there is no new record.
    /// - [`Lagged`](LossyTryRecvError::Lagged): the publisher overwrote `skipped` records that this
    ///   subscriber had not read, or had not read to the end. The next call goes on with the oldest record
    ///   that was still whole. If the subscriber was lapped again before it had read half of what the ring
    ///   holds, it goes on with a later one; the records that it skips for that count in `skipped`.
    /// - [`Closed`](LossyTryRecvError::Closed): the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::LossyTryRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// for record in [[1; 20], [2; 20], [3; 20]] {
    ///     publisher.publish(&record).unwrap(); // each takes 24 bytes: no room for three
    /// }
    /// drop(publisher);
    /// assert_eq!(subscriber.try_recv_or_lag(&mut buffer), Err(LossyTryRecvError::Lagged { skipped: 1 }));
    /// assert_eq!(subscriber.try_recv_or_lag(&mut buffer), Ok(20));
    /// assert_eq!(buffer, [2; 20]);
    /// assert_eq!(subscriber.try_recv_or_lag(&mut buffer), Ok(20));
    /// assert_eq!(subscriber.try_recv_or_lag(&mut buffer), Err(LossyTryRecvError::Closed));
    /// ```
    #[inline]
    pub fn try_recv_or_lag(&mut self, buffer: &mut Vec<u8>) -> Result<usize, LossyTryRecvError> {
        Err(match self.next(buffer) {
            Ok(length) => return Ok(length),
            Err(NoMessage::Empty) => LossyTryRecvError::Empty,
            Err(NoMessage::Closed) => LossyTryRecvError::Closed,
            Err(NoMessage::Lapped) => LossyTryRecvError::Lagged { skipped: self.recover() },
        })
    }

    /// Receives the next record. Waits for it like [`recv`](Self::recv), but reports a lag.
    ///
    /// # Errors
    ///
    /// [`Lagged`](LossyRecvError::Lagged): records were lost since the last receive. It says how many.
    /// [`Closed`](LossyRecvError::Closed): the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::LossyRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// for record in [[1; 32], [2; 32], [3; 32]] {
    ///     publisher.publish(&record).unwrap();
    /// }
    /// assert_eq!(subscriber.recv_or_lag(&mut buffer), Err(LossyRecvError::Lagged { skipped: 1 }));
    /// assert_eq!(subscriber.recv_or_lag(&mut buffer), Ok(32));
    /// ```
    #[inline]
    pub fn recv_or_lag(&mut self, buffer: &mut Vec<u8>) -> Result<usize, LossyRecvError> {
        match self.try_recv_or_lag(buffer).into() {
            Look::Found(found) => found,
            Look::Nothing | Look::Again => {
                let strategy = self.extents.wait_strategy();
                wait_without_deadline(&mut NextOrLag(NextRecord { subscriber: self, buffer }), strategy)
            }
        }
    }

    /// As [`recv_or_lag`](Self::recv_or_lag), but gives up after `timeout` on the monotonic clock. A timeout
    /// that is too long for the clock means no timeout. A timeout of zero still receives a record that is
    /// there, or reports a lag.
    ///
    /// # Errors
    ///
    /// Those of [`try_recv_or_lag`](Self::try_recv_or_lag); [`Empty`](LossyTryRecvError::Empty): nothing came
    /// in time.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::LossyTryRecvError;
    /// use std::time::Duration;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// publisher.publish(b"one").unwrap();
    /// let timeout = Duration::from_millis(1);
    /// assert_eq!(subscriber.recv_or_lag_timeout(&mut buffer, timeout), Ok(3));
    /// let nothing = Err(LossyTryRecvError::Empty);
    /// assert_eq!(subscriber.recv_or_lag_timeout(&mut buffer, timeout), nothing);
    /// ```
    #[cfg(feature = "std")]
    pub fn recv_or_lag_timeout(
        &mut self,
        buffer: &mut Vec<u8>,
        timeout: Duration,
    ) -> Result<usize, LossyTryRecvError> {
        self.recv_or_lag_until(buffer, timeout)
    }

    /// As [`recv_or_lag`](Self::recv_or_lag), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// Those of [`try_recv_or_lag`](Self::try_recv_or_lag); [`Empty`](LossyTryRecvError::Empty): nothing came
    /// in time.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::WaitStrategy;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// publisher.publish(b"one").unwrap();
    /// assert_eq!(subscriber.recv_or_lag_until(&mut buffer, WaitStrategy::BusySpin), Ok(3));
    /// ```
    pub fn recv_or_lag_until(
        &mut self,
        buffer: &mut Vec<u8>,
        until: impl Into<Until>,
    ) -> Result<usize, LossyTryRecvError> {
        match self.try_recv_or_lag(buffer) {
            Err(LossyTryRecvError::Empty) => {
                let until = until.into();
                let strategy = until.strategy_or(|| self.extents.wait_strategy());
                let mut next = NextOrLag(NextRecord { subscriber: self, buffer });
                or_lag_in_time(wait_until(&mut next, strategy, until.deadline()))
            }
            received => received,
        }
    }
}

/// A subscriber that waits for a record, or for a lag.
pub(super) struct NextOrLag<'s, M: Mode>(pub(super) NextRecord<'s, M>);

impl<M: MayLose> Poll for NextOrLag<'_, M> {
    type Found = Result<usize, LossyRecvError>;

    fn wait_point(&self) -> &EventCount {
        self.0.wait_point()
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        self.0.watched()
    }

    fn poll(&mut self) -> Look<Self::Found> {
        let NextRecord { subscriber, buffer } = &mut self.0;
        subscriber.try_recv_or_lag(buffer).into()
    }
}

// SAFETY: the eventcounts are of the extents' ring, which this handle keeps alive.
unsafe impl<M: Mode> Source for Subscriber<M> {
    fn wait_point(&self) -> &EventCount {
        Source::wait_point(&self.extents)
    }

    fn is_ready(&mut self) -> bool {
        // A record whose bytes are gone is a lag, so an extent is enough.
        self.extents.is_ready()
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Source::watched(&self.extents)
    }

    fn strategy(&self) -> WaitStrategy {
        self.extents.strategy()
    }

    fn has_more(&mut self) -> bool {
        self.extents.has_more()
    }

    fn mark(&mut self) -> EndMark {
        self.extents.mark()
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        self.extents.has_passed(mark)
    }

    fn lost(&self) -> u64 {
        self.extents.lost()
    }
}

impl<M: Mode> Waitable for Subscriber<M> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<M: Mode> Numbered for Subscriber<M> {
    fn next_sequence(&self) -> u64 {
        self.extents.next_sequence()
    }
}

/// A message is a copy of a record.
impl<M: Mode> Receive for Subscriber<M> {
    type Item = Box<[u8]>;

    fn poll_recv(&mut self) -> Look<Result<Box<[u8]>, RecvError>> {
        // (An empty one: it allocates only if there is a record.)
        let mut buffer = Vec::new();
        let look = NextRecord { subscriber: self, buffer: &mut buffer }.poll();
        look.map(|found| found.map(|_| buffer.into()))
    }
}

iterates! { [M: Mode] Subscriber<M>; }

/// In tasks. (Feature `async`.) No future polls by itself: a task that waits is woken by the publisher, or by
/// the close.
#[cfg(feature = "async")]
impl<M: Mode> Subscriber<M> {
    /// Receives the next record, like [`recv`](Self::recv), in a task: the task waits, not its thread. After
    /// a lag it goes on with the oldest record that is still whole.
    ///
    /// There is no form for a batch, as there is none of [`recv`](Self::recv): each record is proved whole by
    /// itself, after its copy. Await the first one, and take those behind it by
    /// [`try_recv`](Self::try_recv), which never waits.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. So it can be a
    /// branch of a `select!`. (What a lag has skipped stays counted.)
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(1024);
    /// let mut subscriber = subscribable.subscribe();
    /// let writer = std::thread::spawn(move || publisher.publish(b"hello"));
    /// pollster::block_on(async {
    ///     let mut buffer = Vec::new();
    ///     assert_eq!(subscriber.recv_async(&mut buffer).await, Ok(5));
    ///     assert_eq!(buffer, b"hello");
    /// });
    /// # writer.join().unwrap().unwrap();
    /// ```
    ///
    /// All that is there, and at least one:
    ///
    /// ```
    /// # let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(1024);
    /// # let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// publisher.publish(b"one").unwrap();
    /// publisher.publish(b"four").unwrap();
    /// let bytes = pollster::block_on(async {
    ///     let mut bytes = subscriber.recv_async(&mut buffer).await?;
    ///     while let Ok(more) = subscriber.try_recv(&mut buffer) {
    ///         bytes += more;
    ///     }
    ///     Ok::<_, annulus::RecvError>(bytes)
    /// })?;
    /// assert_eq!(bytes, 7);
    /// # Ok::<(), annulus::RecvError>(())
    /// ```
    pub fn recv_async<'s>(
        &'s mut self,
        buffer: &'s mut Vec<u8>,
    ) -> impl Future<Output = Result<usize, RecvError>> + Send + Unpin + 's {
        // SAFETY: the eventcounts are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Waiting::new(NextRecord { subscriber: self, buffer }) }
    }

    /// A stream of the records, each in a box of its own. It ends when the ring is closed and nothing is
    /// left, not on a lag, and not while there is no record. Once it has ended, it stays so. (To use one
    /// buffer again and again, call [`recv_async`](Self::recv_async) in a loop.)
    ///
    /// *Cancel safety*: a stream that is dropped has received no record that it did not return.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(1024);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(b"one").unwrap();
    /// publisher.publish(b"four").unwrap();
    /// drop(publisher);
    /// let lengths = subscriber.stream().map(|record| record.len());
    /// assert_eq!(pollster::block_on(lengths.collect::<Vec<_>>()), [3, 4]);
    /// ```
    pub fn stream(&mut self) -> impl FusedStream<Item = Box<[u8]>> + Send + Unpin {
        Streaming::messages_of(self)
    }

    /// A stream like [`stream`](Self::stream) that owns the subscriber.
    ///
    /// *Cancel safety*: as for [`stream`](Self::stream). A stream that is dropped drops the subscriber.
    ///
    /// # Examples
    ///
    /// ```
    /// use futures_util::StreamExt;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(1024);
    /// let records = subscribable.subscribe().into_stream();
    /// publisher.publish(b"one").unwrap();
    /// drop(publisher);
    /// assert_eq!(pollster::block_on(records.collect::<Vec<_>>()), [Box::from(*b"one")]);
    /// ```
    #[must_use = "a stream does nothing until it is polled"]
    pub fn into_stream(self) -> impl FusedStream<Item = Box<[u8]>> + Send + Unpin {
        Streaming::messages_of(self)
    }
}

#[cfg(feature = "async")]
impl<M: MayLose> Subscriber<M> {
    /// Receives the next record like [`recv_async`](Self::recv_async), but reports a lag, like
    /// [`recv_or_lag`](Self::recv_or_lag).
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. A lag that it has
    /// not reported is reported by the next receive.
    ///
    /// # Errors
    ///
    /// Those of [`recv_or_lag`](Self::recv_or_lag).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::LossyRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// for record in [[1; 32], [2; 32], [3; 32]] {
    ///     publisher.publish(&record).unwrap();
    /// }
    /// pollster::block_on(async {
    ///     let lagged = Err(LossyRecvError::Lagged { skipped: 1 });
    ///     assert_eq!(subscriber.recv_or_lag_async(&mut buffer).await, lagged);
    ///     assert_eq!(subscriber.recv_or_lag_async(&mut buffer).await, Ok(32));
    /// });
    /// ```
    pub fn recv_or_lag_async<'s>(
        &'s mut self,
        buffer: &'s mut Vec<u8>,
    ) -> impl Future<Output = Result<usize, LossyRecvError>> + Send + Unpin + 's {
        // SAFETY: the eventcounts are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Waiting::new(NextOrLag(NextRecord { subscriber: self, buffer })) }
    }
}

#[cfg(feature = "std")]
impl<M: MayLose> Subscriber<M> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    pub fn recv_or_lag_in_select(&mut self) -> impl Choice<Found = Result<Box<[u8]>, LossyRecvError>> {
        // SAFETY: the eventcounts are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Armed::new(RecordOrLag(self), |or_lag| or_lag.0.strategy(), |_, found| found) }
    }
}

/// A subscriber that waits for a record of its own, or for a lag.
#[cfg(feature = "std")]
struct RecordOrLag<'s, M: Mode>(&'s mut Subscriber<M>);

#[cfg(feature = "std")]
impl<M: MayLose> Poll for RecordOrLag<'_, M> {
    type Found = Result<Box<[u8]>, LossyRecvError>;

    // Unreached: asked of the first arm of a select that waits; in the tests that is another one
    fn wait_point(&self) -> &EventCount {
        Source::wait_point(&*self.0)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Source::watched(&*self.0)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        let mut buffer = Vec::new();
        let look = NextOrLag(NextRecord { subscriber: self.0, buffer: &mut buffer }).poll();
        look.map(|found| found.map(|_| buffer.into()))
    }
}

impl<M: Mode> Subscriber<M> {
    /// How many records could be received now: those that were published, are still whole, and were not
    /// received yet. Records that a lag would skip do not count. Meanwhile more may come, and some may be
    /// overwritten. While the publisher rests, the number is exact. Takes as many steps as a lag.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let subscriber = subscribable.subscribe();
    /// assert!(subscriber.is_empty());
    /// for record in [[1; 32], [2; 32], [3; 32]] {
    ///     publisher.publish(&record).unwrap();
    /// }
    /// assert_eq!(subscriber.len(), 2);
    /// ```
    #[doc(alias = "pending")]
    #[must_use]
    pub fn len(&self) -> usize {
        // At most as many as there are extents.
        self.pending() as usize
    }

    /// Whether no record could be received now: [`len`](Self::len) is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn pending(&self) -> u64 {
        let (frontier, cursor) = (self.frontier(), self.extents.cursor);
        let lapped = cursor < frontier.oldest;
        // As in `recover`.
        let start = if lapped { self.recovery_in(frontier).resume } else { cursor };
        frontier.head.since(start)
    }

    /// The number of the record that comes next. The records of a ring are numbered from 0, so all
    /// subscribers of one ring use the same number for the same record.
    #[inline]
    #[must_use]
    pub fn cursor(&self) -> u64 {
        self.extents.cursor()
    }

    /// How many records this subscriber has received.
    #[inline]
    #[must_use]
    pub fn total_received(&self) -> u64 {
        self.extents.total_received()
    }

    /// How many records this subscriber has lost: they were overwritten before it had read them to the end,
    /// or skipped after a lag.
    #[inline]
    #[must_use]
    pub fn total_lagged(&self) -> u64 {
        self.extents.total_lagged()
    }

    /// The length of the longest record that the ring takes, in bytes: half of its capacity.
    #[must_use]
    pub fn max_len(&self) -> usize {
        self.area.longest()
    }

    /// The capacity in bytes: the number given to its constructor, rounded up.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.area.bytes()
    }

    /// How many records the ring holds at most: see [the module](super).
    #[must_use]
    pub fn max_records(&self) -> usize {
        self.extents.capacity()
    }

    /// Whether the publisher is gone, or somebody has closed the ring. Records may still be left to receive.
    /// A record that is being published may still come, too: only `Closed` from a receive is the end.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.extents.is_closed()
    }

    own_strategy! {
        make: "let mut reader = annulus::broadcast::bytes::lossy(64).1.subscribe();",
        |handle| as: handle.extents
    }

    observable! {
        |handle| stats: crate::stats::Stats { own: Some(handle.own_stats()), ..handle.extents.shared.stats() },
        observer: handle.extents.observer()
    }

    fn own_stats(&self) -> OwnStats {
        OwnStats {
            position: self.cursor(),
            received: self.total_received(),
            lagged: self.total_lagged(),
            corrupt: 0,
            pending: self.pending(),
        }
    }
}

impl<M: Unstaged> Clone for Subscriber<M> {
    /// A subscriber with the same cursor, and counters at zero.
    fn clone(&self) -> Self {
        Self::new(self.extents.clone(), Arc::clone(&self.area))
    }
}

impl<M: Mode> fmt::Debug for Subscriber<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber")
            .field("cursor", &self.cursor())
            .field("received", &self.total_received())
            .field("lagged", &self.total_lagged())
            .finish_non_exhaustive()
    }
}
