//! [`Subscriber`]: one reader of records, with a cursor of its own.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::convert::Infallible;
use core::fmt;
use core::mem::MaybeUninit;
#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use super::super::miss::Miss;
use super::super::recovery::Recovery;
use super::super::subscriber::wait_without_deadline;
use super::standing::frontier;
use crate::broadcast;
use crate::error::{LossyTryRecvError, RecvError};
#[cfg(feature = "std")]
use crate::error::{RecvTimeoutError, in_time};
use crate::observer::observable;
use crate::ring::{Area, Extent, Frontier};
use crate::stats::OwnStats;
use crate::sync::{AtomicU64, mutated};
use crate::wait::own_strategy;
#[cfg(feature = "std")]
use crate::wait::wait_until;
use crate::wait::{EventCount, Look, Wait, WaitStrategy};

/// A reading end of a ring of records, made by [`Subscribable`](super::Subscribable).
///
/// It sees every record from where it began, in order, each once, or counts it as lost. Nobody waits for it.
/// At every moment, `total_received() + total_lagged()` is how far it has come.
///
/// Each receiving verb takes a buffer, and puts the record there in place of what the buffer held. It returns
/// the record's length, which then is the length of the buffer. If it returns an error, the buffer is empty.
/// It allocates only if the buffer's capacity is too small for the record; a buffer with room for
/// [`max_len`](Self::max_len) bytes never grows. A call that finds nothing, or that lost the record while it
/// copied, delivers nothing: records are whole.
///
/// It works wherever a receiving handle (`Waitable`) does: in a `select!`, a `Select`, an
/// `EventLoop`, and an `EventNotifier`. Where such a receiver takes a message, it is a copy of the record of
/// its own, a `Box<[u8]>`.
///
/// A subscriber may move to another thread. A clone starts at the same message, with counters at zero.
///
/// | verb | waits | on lag |
/// | --- | --- | --- |
/// | [`try_recv`](Self::try_recv) | no | says so, once |
/// | [`recv`](Self::recv), [`recv_by`](Self::recv_by), `recv_timeout`, `recv_deadline` | yes | counts it and goes on |
/// | [`recv_or_lag`](Self::recv_or_lag) | yes | says so, once |
pub struct Subscriber {
    /// Receives where the records lie. Its cursor passes a record when this subscriber has its bytes.
    pub(super) extents: broadcast::Subscriber<Extent>,
    pub(super) area: Arc<Area>,
    /// Where it went on after the last lag.
    recovery: Recovery,
}

impl Subscriber {
    pub(super) fn new(extents: broadcast::Subscriber<Extent>, area: Arc<Area>) -> Self {
        Self { extents, area, recovery: Recovery::before_the_first() }
    }

    /// Receives the next record if it is there. Never waits. Takes O(n) for n bytes, and after a lag a number
    /// of steps that grows with the logarithm of [`max_records`](Self::max_records).
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
    /// let mut subscriber = subscribable.subscribe();
    /// let mut buffer = Vec::new();
    /// assert_eq!(subscriber.try_recv(&mut buffer), Err(LossyTryRecvError::Empty));
    ///
    /// for record in [[1; 20], [2; 20], [3; 20]] {
    ///     publisher.publish(&record).unwrap(); // each takes 24 bytes: no room for three
    /// }
    /// drop(publisher);
    /// assert_eq!(subscriber.try_recv(&mut buffer), Err(LossyTryRecvError::Lagged { skipped: 1 }));
    /// assert_eq!(subscriber.try_recv(&mut buffer), Ok(20));
    /// assert_eq!(buffer, [2; 20]);
    /// assert_eq!(subscriber.try_recv(&mut buffer), Ok(20));
    /// assert_eq!(buffer, [3; 20]);
    /// assert_eq!(subscriber.try_recv(&mut buffer), Err(LossyTryRecvError::Closed));
    /// ```
    #[inline]
    pub fn try_recv(&mut self, buffer: &mut Vec<u8>) -> Result<usize, LossyTryRecvError> {
        match self.next(buffer) {
            Ok(length) => Ok(length),
            Err(Miss::Empty) => Err(LossyTryRecvError::Empty),
            Err(Miss::Closed) => Err(LossyTryRecvError::Closed),
            Err(Miss::Lapped) => Err(LossyTryRecvError::Lagged { skipped: self.go_on() }),
        }
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
        let strategy = self.extents.wait_strategy();
        self.recv_by(strategy, buffer)
    }

    /// As [`recv`](Self::recv), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::WaitStrategy;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(b"text").unwrap();
    /// let mut buffer = Vec::new();
    /// assert_eq!(subscriber.recv_by(WaitStrategy::BusySpin, &mut buffer), Ok(4));
    /// ```
    #[inline]
    pub fn recv_by(&mut self, strategy: WaitStrategy, buffer: &mut Vec<u8>) -> Result<usize, RecvError> {
        match self.next(buffer) {
            Ok(length) => Ok(length),
            Err(_) => wait_without_deadline(&mut NextRecord { subscriber: self, buffer }, strategy),
        }
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
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn recv_timeout(
        &mut self,
        buffer: &mut Vec<u8>,
        timeout: Duration,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_until(buffer, || Instant::now().checked_add(timeout))
    }

    /// As [`recv`](Self::recv), but gives up at `deadline`. A deadline that has passed still receives a
    /// record that is there.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed):
    /// the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Instant;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::bytes::lossy(64);
    /// let (mut subscriber, mut buffer) = (subscribable.subscribe(), Vec::new());
    /// publisher.publish(b"text").unwrap();
    /// let deadline = Instant::now();
    /// assert_eq!(subscriber.recv_deadline(&mut buffer, deadline), Ok(4));
    /// assert!(subscriber.recv_deadline(&mut buffer, deadline).is_err());
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn recv_deadline(
        &mut self,
        buffer: &mut Vec<u8>,
        deadline: Instant,
    ) -> Result<usize, RecvTimeoutError> {
        self.recv_until(buffer, || Some(deadline))
    }

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
        // As in `go_on`.
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
        |handle| stats: crate::Stats { own: Some(handle.own_stats()), ..handle.extents.shared.stats() },
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

    #[cfg(feature = "std")]
    fn recv_until(
        &mut self,
        buffer: &mut Vec<u8>,
        deadline: impl FnOnce() -> Option<Instant>,
    ) -> Result<usize, RecvTimeoutError> {
        if let Ok(length) = self.next(buffer) {
            return Ok(length);
        }
        let strategy = self.extents.wait_strategy();
        in_time(wait_until(&mut NextRecord { subscriber: self, buffer }, strategy, deadline()))
    }

    /// The one read that everything else is made of: the record at the cursor, which the cursor passes if the
    /// record is whole. If not, the buffer is empty.
    #[inline]
    pub(super) fn next(&mut self, buffer: &mut Vec<u8>) -> Result<usize, Miss<Infallible>> {
        buffer.clear();
        let mut extent = MaybeUninit::uninit();
        let extent = match self.extents.read(&mut extent) {
            Ok(extent) => extent.take(),
            Err(Miss::Empty) => return Err(Miss::Empty),
            Err(Miss::Closed) => return Err(Miss::Closed),
            // (Nothing is corrupt within one process.)
            Err(Miss::Lapped | Miss::Corrupt(_)) => return Err(Miss::Lapped),
        };
        if !self.area.read(extent, buffer) {
            return Err(Miss::Lapped);
        }
        self.extents.pass();
        Ok(buffer.len())
    }

    /// Goes on after a lag and says how many records that cost.
    #[cold]
    #[inline(never)]
    pub(super) fn go_on(&mut self) -> u64 {
        self.recovery = self.recovery_in(self.frontier());
        let skipped = self.extents.skip_to(self.recovery.resume);
        self.extents.shared.note_lag(skipped);
        skipped
    }

    fn frontier(&self) -> Frontier {
        let cursor = self.extents.cursor;
        // (The bug goes by the extents only.)
        if mutated!("bytes_go_on_by_extents") {
            return self.extents.shared.ring.frontier(cursor);
        }
        frontier(&self.extents.shared, &self.area, cursor)
    }

    /// Where it would go on, if it was lapped.
    fn recovery_in(&self, frontier: Frontier) -> Recovery {
        // Of records this long, the ring holds as many as stand now. Half of them are never all: so this does
        // not pass the newest.
        let standing = frontier.head.since(frontier.oldest);
        self.recovery.next_among(frontier, standing, self.extents.cursor)
    }
}

/// A subscriber that waits for a record, and the buffer for it.
pub(super) struct NextRecord<'s> {
    pub(super) subscriber: &'s mut Subscriber,
    pub(super) buffer: &'s mut Vec<u8>,
}

impl Wait for NextRecord<'_> {
    type Found = Result<usize, RecvError>;

    fn event(&self) -> &EventCount {
        Wait::event(&self.subscriber.extents)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Wait::watched(&self.subscriber.extents)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.subscriber.next(self.buffer) {
            Ok(length) => Look::Found(Ok(length)),
            Err(Miss::Closed) => Look::Found(Err(RecvError)),
            Err(Miss::Empty) => Look::Nothing,
            // The record that lapped it may be the last one for a long time. Records are there, and no
            // publisher will notify for them.
            Err(Miss::Lapped) => {
                self.subscriber.go_on();
                Look::Again
            }
        }
    }
}

impl Clone for Subscriber {
    /// A subscriber with the same cursor, and counters at zero.
    fn clone(&self) -> Self {
        Self::new(self.extents.clone(), Arc::clone(&self.area))
    }
}

impl fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber")
            .field("cursor", &self.cursor())
            .field("received", &self.total_received())
            .field("lagged", &self.total_lagged())
            .finish_non_exhaustive()
    }
}
