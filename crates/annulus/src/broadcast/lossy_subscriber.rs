//! What a [`Subscriber`] can do if loss is allowed: learn of a loss, and skip messages on purpose.

#[cfg(feature = "async")]
use core::future::Future;
use core::mem::MaybeUninit;
#[cfg(all(feature = "shm", not(annulus_loom)))]
use std::time::Instant;

use super::Subscriber;
use super::mode::LossyMode;
use super::subscriber::{NoMessage, wait_without_deadline};
use crate::base::sequence::Sequence;
use crate::error::LossyRecvError;
use crate::message::Message;
use crate::sync::{AtomicU64, pause, seeded};
#[cfg(feature = "async")]
use crate::wait::Waiting;
#[cfg(all(feature = "shm", not(annulus_loom)))]
use crate::wait::wait_until;
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice};
use crate::wait::{EventCount, Look, Poll};

/// How often `latest` looks for a message of another process.
const MOST_LOOKS: u64 = 1_000;

impl<T: Message, M: LossyMode> Subscriber<T, M> {
    /// Receives the next message. Waits for it like [`recv`](Self::recv), but reports a lag like
    /// [`try_recv`](Self::try_recv). After a lag the next call goes on with the oldest message that is still
    /// in the ring.
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
        let mut message = MaybeUninit::uninit();
        match self.next(&mut message) {
            Ok(message) => Ok(message.take()),
            Err(NoMessage::Lapped) if !seeded!("lag_unreported") => {
                Err(LossyRecvError::Lagged { skipped: self.recover() })
            }
            Err(NoMessage::Corrupt(corrupt)) => Err(LossyRecvError::Corrupt(self.pass_corrupt(corrupt))),
            Err(_) => {
                let strategy = self.wait_strategy();
                wait_without_deadline(&mut OrLag(self), strategy)
            }
        }
    }

    /// As [`recv_or_lag`](Self::recv_or_lag), but gives up at `deadline`, if there is one: `None`.
    #[cfg(all(feature = "shm", not(annulus_loom)))]
    pub(crate) fn recv_or_lag_until(
        &mut self,
        deadline: Option<Instant>,
    ) -> Option<Result<T, LossyRecvError<M::Corrupt>>> {
        let strategy = self.wait_strategy();
        wait_until(&mut OrLag(self), strategy, deadline)
    }

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
pub(super) struct OrLag<'s, T: Message, M: LossyMode>(pub(super) &'s mut Subscriber<T, M>);

impl<T: Message, M: LossyMode> Poll for OrLag<'_, T, M> {
    type Found = Result<T, LossyRecvError<M::Corrupt>>;

    fn wait_point(&self) -> &EventCount {
        self.0.wait_point()
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        self.0.watched()
    }

    fn poll(&mut self) -> Look<Self::Found> {
        let mut message = MaybeUninit::uninit();
        match self.0.next(&mut message) {
            Ok(message) => Look::Found(Ok(message.take())),
            Err(NoMessage::Closed) => Look::Found(Err(LossyRecvError::Closed)),
            Err(NoMessage::Lapped) => {
                let skipped = self.0.recover();
                if seeded!("lag_unreported") {
                    return Look::Again;
                }
                Look::Found(Err(LossyRecvError::Lagged { skipped }))
            }
            Err(NoMessage::Corrupt(corrupt)) => {
                Look::Found(Err(LossyRecvError::Corrupt(self.0.pass_corrupt(corrupt))))
            }
            Err(NoMessage::Empty) => Look::Nothing,
        }
    }
}

#[cfg(feature = "async")]
#[cfg_attr(docsrs, doc(cfg(feature = "async")))]
impl<T: Message, M: LossyMode> Subscriber<T, M> {
    /// Receives the next message like [`recv_async`](Self::recv_async), but reports a lag, like
    /// [`recv_or_lag`](Self::recv_or_lag). After a lag the next call goes on with the oldest message that is
    /// still in the ring.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing. A lag that it has
    /// not reported is reported by the next receive.
    ///
    /// # Errors
    ///
    /// [`Lagged`](LossyRecvError::Lagged): messages were lost since the last receive. It says how many.
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
    /// pollster::block_on(async {
    ///     assert_eq!(subscriber.recv_or_lag_async().await, Err(LossyRecvError::Lagged { skipped: 1 }));
    ///     assert_eq!(subscriber.recv_or_lag_async().await, Ok(2));
    /// });
    /// ```
    pub fn recv_or_lag_async(
        &mut self,
    ) -> impl Future<Output = Result<T, LossyRecvError<M::Corrupt>>> + Unpin {
        // SAFETY: the events are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Waiting::new(OrLag(self)) }
    }
}

#[cfg(feature = "std")]
impl<T: Message, M: LossyMode> Subscriber<T, M> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn recv_or_lag_in_select(&mut self) -> impl Choice<Found = Result<T, LossyRecvError<M::Corrupt>>> {
        // SAFETY: the events are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Armed::new(OrLag(self), |or_lag| or_lag.0.wait_strategy(), |_, found| found) }
    }
}
