//! What a [`Subscriber`] can do if loss is allowed: learn of a loss, and skip messages on purpose.

#[cfg(feature = "async")]
use core::future::Future;
use core::mem::MaybeUninit;
#[cfg(feature = "std")]
use std::time::Duration;

use super::Subscriber;
use super::mode::{LossyMode, MayLose};
use super::subscriber::{NoMessage, wait_without_deadline};
use crate::base::sequence::Sequence;
use crate::error::{LossyRecvError, LossyTryRecvError};
use crate::message::Message;
use crate::sync::{AtomicU64, pause, seeded};
#[cfg(feature = "async")]
use crate::wait::Waiting;
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice};
use crate::wait::{EventCount, Look, Poll, Until, wait_until};

/// How often `latest` looks for a message of another process.
const MOST_LOOKS: u64 = 1_000;

/// Verbs that report a lag: each lost message, and each that is corrupt, is reported once, by the first such
/// verb behind it. What a plain verb has counted, none of these reports.
impl<T: Message, M: MayLose> Subscriber<T, M> {
    /// Receives the next message if it is there, like [`try_recv`](Self::try_recv), but reports a lag. Never
    /// waits. Takes O(`size_of::<T>()`). After a lag it also looks at a bounded number of slots: with many
    /// publishers, at all of them.
    ///
    /// In a stage, the message counts as processed when the stage receives again or calls
    /// [`done`](Subscriber::done).
    ///
    /// # Errors
    ///
    /// - [`Empty`](LossyTryRecvError::Empty): there is no new message or, for a stage, none that all of its
    ///   upstreams have processed.
    /// - [`Lagged`](LossyTryRecvError::Lagged): publishers overwrote `skipped` messages that this subscriber
    ///   had not read. The next call goes on with the oldest message that was still in the ring. If the
    ///   subscriber was lapped again before it had read half a ring, it goes on with a later message, because
    ///   the oldest would be overwritten at once; the messages that it skips for that count in `skipped`. It
    ///   never skips a message that is still to be written.
    /// - [`Corrupt`](LossyTryRecvError::Corrupt): another process has published something that is no `T`. The
    ///   next call goes on behind it.
    /// - [`Closed`](LossyTryRecvError::Closed): the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::LossyTryRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    /// let mut subscriber = subscribable.subscribe();
    /// assert_eq!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Empty));
    ///
    /// publisher.publish_batch(&[1, 2, 3]);
    /// drop(publisher);
    /// assert_eq!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Lagged { skipped: 1 }));
    /// assert_eq!(subscriber.try_recv_or_lag(), Ok(2));
    /// assert_eq!(subscriber.try_recv_or_lag(), Ok(3));
    /// assert_eq!(subscriber.try_recv_or_lag(), Err(LossyTryRecvError::Closed));
    /// ```
    #[inline]
    pub fn try_recv_or_lag(&mut self) -> Result<T, LossyTryRecvError<M::Corrupt>> {
        self.begin();
        let mut message = MaybeUninit::uninit();
        Err(match self.next(&mut message) {
            Ok(message) => return Ok(message.take()),
            Err(NoMessage::Empty) => LossyTryRecvError::Empty,
            Err(NoMessage::Closed) => LossyTryRecvError::Closed,
            Err(NoMessage::Lapped) => LossyTryRecvError::Lagged { skipped: self.recover() },
            Err(NoMessage::Corrupt(corrupt)) => LossyTryRecvError::Corrupt(self.pass_corrupt(corrupt)),
        })
    }

    /// Receives the next message. Waits for it like [`recv`](Self::recv), but reports a lag. After a lag the
    /// next call goes on with the oldest message that is still in the ring.
    ///
    /// In a stage, the message counts as processed when the stage receives again or calls
    /// [`done`](Subscriber::done).
    ///
    /// # Errors
    ///
    /// [`Lagged`](LossyRecvError::Lagged): messages were lost since the last receive. It says how many.
    /// [`Corrupt`](LossyRecvError::Corrupt): another process has published something that is no `T`.
    /// [`Closed`](LossyRecvError::Closed): the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::LossyRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// drop(publisher);
    /// assert_eq!(subscriber.recv_or_lag(), Err(LossyRecvError::Lagged { skipped: 1 }));
    /// assert_eq!(subscriber.recv_or_lag(), Ok(2));
    /// assert_eq!(subscriber.recv_or_lag(), Ok(3));
    /// assert_eq!(subscriber.recv_or_lag(), Err(LossyRecvError::Closed));
    /// ```
    #[inline]
    pub fn recv_or_lag(&mut self) -> Result<T, LossyRecvError<M::Corrupt>> {
        match OrLag(self).poll() {
            Look::Found(found) => found,
            Look::Nothing | Look::Again => {
                let strategy = self.wait_strategy();
                wait_without_deadline(&mut OrLag(self), strategy)
            }
        }
    }

    /// As [`recv_or_lag`](Self::recv_or_lag), but gives up after `timeout` on the monotonic clock. A timeout
    /// that is too long for the clock means no timeout. A timeout of zero still receives a message that is
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
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// let timeout = Duration::from_millis(1);
    /// let lagged = Err(LossyTryRecvError::Lagged { skipped: 1 });
    /// assert_eq!(subscriber.recv_or_lag_timeout(timeout), lagged);
    /// assert_eq!(subscriber.recv_or_lag_timeout(timeout), Ok(2));
    /// assert_eq!(subscriber.recv_or_lag_timeout(timeout), Ok(3));
    /// assert_eq!(subscriber.recv_or_lag_timeout(timeout), Err(LossyTryRecvError::Empty));
    /// ```
    #[cfg(feature = "std")]
    pub fn recv_or_lag_timeout(&mut self, timeout: Duration) -> Result<T, LossyTryRecvError<M::Corrupt>> {
        self.recv_or_lag_until(timeout)
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
    /// use annulus::{LossyTryRecvError, WaitStrategy};
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// let spins = WaitStrategy::BusySpin;
    /// assert_eq!(subscriber.recv_or_lag_until(spins), Err(LossyTryRecvError::Lagged { skipped: 1 }));
    /// assert_eq!(subscriber.recv_or_lag_until(spins), Ok(2));
    /// ```
    #[inline]
    pub fn recv_or_lag_until(&mut self, until: impl Into<Until>) -> Result<T, LossyTryRecvError<M::Corrupt>> {
        match self.try_recv_or_lag() {
            Err(LossyTryRecvError::Empty) => {
                let until = until.into();
                let strategy = until.strategy_or(|| self.wait_strategy());
                or_lag_in_time(wait_until(&mut OrLag(self), strategy, until.deadline()))
            }
            received => received,
        }
    }
}

/// What a wait with a deadline found, or that the time passed.
pub(super) fn or_lag_in_time<T, C>(
    found: Option<Result<T, LossyRecvError<C>>>,
) -> Result<T, LossyTryRecvError<C>> {
    found.map_or(Err(LossyTryRecvError::Empty), |found| found.map_err(LossyTryRecvError::from))
}

impl<T: Message, M: LossyMode> Subscriber<T, M> {
    /// Receives the newest message and skips the messages before it, which count as lagged. `None` if no
    /// message has come since the last receive. Never goes back, and never delivers a message twice. It tries
    /// again if publishers overwrite the message while it copies, and waits for nothing else. If what is
    /// newest is corrupt, it passes that, and is content only with a newer one. With many
    /// publishers it also skips messages that are still being written, and looks at the slot of each.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// assert_eq!(subscriber.latest(), Some(3));
    /// assert_eq!(subscriber.latest(), None);
    /// assert_eq!((subscriber.total_received(), subscriber.total_lagged()), (1, 2));
    /// ```
    pub fn latest(&mut self) -> Option<T> {
        let mut from = if seeded!("latest_delivers_twice") { self.shared.first() } else { self.cursor };
        // Another process may make it look for ever, on purpose.
        let mut looks = if self.shared.head.is_seen() { MOST_LOOKS } else { u64::MAX };
        while looks > 0 {
            looks -= 1;
            let newest = self.shared.newest(from)?;
            let mut message = MaybeUninit::uninit();
            // SAFETY: the handle keeps the ring alive.
            if let Ok(whole) = unsafe { self.shared.slots.read(newest, &mut message) } {
                self.skip_on_purpose(newest);
                match Self::value_of(whole) {
                    Ok(message) => {
                        self.cursor = newest.next();
                        return Some(message.take());
                    }
                    Err(corrupt) => {
                        self.pass_corrupt(corrupt);
                        from = self.cursor;
                        continue;
                    }
                }
            }
            // It was overwritten meanwhile: there is a newer one, or will be at the next look.
            // Unreached: overwritten, or not yet written, between two looks: two threads have to meet there;
            // loom seqlock and head
            pause();
        }
        None
    }

    /// Skips all messages before the newest, and returns how many. They count as lagged. The next receive
    /// returns the newest message, unless it was overwritten by then. With many publishers this also skips
    /// messages that are still being written. Never goes back. Returns 0 if at most one message is pending.
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(8);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// assert_eq!(subscriber.skip_to_latest(), 2);
    /// assert_eq!(subscriber.try_recv(), Ok(3));
    /// ```
    pub fn skip_to_latest(&mut self) -> u64 {
        match self.shared.newest(self.cursor) {
            // Decision 0013: counts as lagged.
            Some(newest) => self.skip_on_purpose(newest),
            None => 0,
        }
    }

    /// Moves on to `sequence`, without a lag, and counts what it passes.
    fn skip_on_purpose(&mut self, sequence: Sequence) -> u64 {
        let skipped = self.skip_to(sequence);
        self.shared.note_lag(skipped);
        skipped
    }
}

/// A subscriber that waits for a message, or for a lag.
struct OrLag<'s, T: Message, M: MayLose>(&'s mut Subscriber<T, M>);

impl<T: Message, M: MayLose> Poll for OrLag<'_, T, M> {
    type Found = Result<T, LossyRecvError<M::Corrupt>>;

    fn wait_point(&self) -> &EventCount {
        self.0.wait_point()
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        self.0.watched()
    }

    #[inline(always)]
    fn poll(&mut self) -> Look<Self::Found> {
        match self.0.try_recv_or_lag() {
            Err(LossyTryRecvError::Lagged { .. }) if seeded!("lag_unreported") => Look::Again,
            received => received.into(),
        }
    }
}

#[cfg(feature = "async")]
impl<T: Message, M: MayLose> Subscriber<T, M> {
    /// Receives the next message like [`recv_async`](Self::recv_async), but reports a lag, like
    /// [`recv_or_lag`](Self::recv_or_lag). After a lag the next call goes on with the oldest message that is
    /// still in the ring.
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
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(2);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish_batch(&[1, 2, 3]);
    /// pollster::block_on(async {
    ///     assert_eq!(subscriber.recv_or_lag_async().await, Err(LossyRecvError::Lagged { skipped: 1 }));
    ///     assert_eq!(subscriber.recv_or_lag_async().await, Ok(2));
    /// });
    /// ```
    pub fn recv_or_lag_async(
        &mut self,
    ) -> impl Future<Output = Result<T, LossyRecvError<M::Corrupt>>> + Unpin {
        // SAFETY: the eventcounts are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Waiting::new(OrLag(self)) }
    }
}

#[cfg(feature = "std")]
impl<T: Message, M: MayLose> Subscriber<T, M> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn recv_or_lag_in_select(&mut self) -> impl Choice<Found = Result<T, LossyRecvError<M::Corrupt>>> {
        // SAFETY: the eventcounts are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Armed::new(OrLag(self), |or_lag| or_lag.0.wait_strategy(), |_, found| found) }
    }
}
