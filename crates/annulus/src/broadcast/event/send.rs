//! Whole values into a ring of owned events: `send` and similar verbs, for one publisher and for many.

#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use super::mp_publisher::put;
use super::reset::Reset;
use super::{EventPublisher, MpEventPublisher};
use crate::broadcast::slot_access::{ClaimedRun, claim, claim_by, claim_now};
#[cfg(feature = "std")]
use crate::error::PublishTimeoutError;
use crate::error::{GiveBack, PublishError, Refusal, TryPublishError, if_admitted};
use crate::sync::mutated;
#[cfg(feature = "std")]
use crate::wait::Deadline;
use crate::wait::WaitStrategy;

/// Whole values: [`send`](Self::send) and similar verbs replace the event by `value`. They do not reset the
/// event first, because nothing of it is left.
impl<T: Send + Sync, R: Reset<T>> EventPublisher<T, R> {
    /// Publishes `value`. Waits with the [`WaitStrategy`] of the ring while the slowest subscriber has
    /// `capacity` events to process. Never waits for subscribers while there is none.
    ///
    /// This call drops the event of one lap before, after `value` is published. So a value that owns memory
    /// costs an allocation where it is made, and a free here. [`publish`](Self::publish) changes the event in
    /// place instead, and uses its memory again.
    ///
    /// Do not call it in a closure that processes an event of the same ring: see [`publish`](Self::publish).
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the value back if nobody is left to receive (every subscriber is gone, and
    /// every [`EventSubscribable`](crate::event::EventSubscribable) too), or if somebody has
    /// [closed](Self::close) the ring, also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    /// let [mut first, mut second] = [subscribable.subscribe(), subscribable.subscribe()];
    /// publisher.send("hello".to_owned())?;
    /// assert_eq!(first.recv(), Ok("hello".to_owned()));
    /// assert_eq!(second.recv(), Ok("hello".to_owned()));
    /// # Ok::<(), annulus::PublishError<String>>(())
    /// ```
    #[inline]
    pub fn send(&mut self, value: T) -> Result<(), PublishError<T>> {
        let admitted = self.admit();
        self.put_admitted(admitted, value)
    }

    /// As [`send`](Self::send), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send).
    #[inline]
    pub fn send_by(&mut self, value: T, strategy: WaitStrategy) -> Result<(), PublishError<T>> {
        let admitted = self.admit_by(strategy, None);
        self.put_admitted(admitted, value)
    }

    /// As [`send`](Self::send), but never waits.
    ///
    /// # Errors
    ///
    /// [`TryPublishError`] gives the value back: [`Full`](TryPublishError::Full) if the slowest subscriber
    /// has `capacity` events to process; [`Closed`](TryPublishError::Closed) as for [`send`](Self::send).
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), TryPublishError<T>> {
        let admitted = self.try_admit();
        self.put_admitted(admitted, value)
    }

    /// As [`send`](Self::send), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still publishes if there is room.
    ///
    /// # Errors
    ///
    /// [`PublishTimeoutError`] gives the value back.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn send_timeout(&mut self, value: T, timeout: Duration) -> Result<(), PublishTimeoutError<T>> {
        self.send_until(value, Instant::now().checked_add(timeout))
    }

    /// As [`send_timeout`](Self::send_timeout), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Those of [`send_timeout`](Self::send_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn send_deadline(&mut self, value: T, deadline: Instant) -> Result<(), PublishTimeoutError<T>> {
        self.send_until(value, Some(deadline))
    }

    #[cfg(feature = "std")]
    fn send_until(&mut self, value: T, deadline: Deadline) -> Result<(), PublishTimeoutError<T>> {
        let admitted = self.admit_until(deadline);
        self.put_admitted(admitted, value)
    }

    /// Replaces the next event by `value`, if that was admitted.
    #[inline(always)]
    pub(super) fn put_admitted<E: GiveBack<T>>(
        &mut self,
        admitted: Result<(), Refusal>,
        value: T,
    ) -> Result<(), E> {
        if_admitted(admitted, value, |(), value| drop(self.put(|event| replace(event, value))))
    }
}

/// Whole values: [`send`](Self::send) and similar verbs replace the event by `value`. They do not reset the
/// event first, because nothing of it is left.
impl<T: Send + Sync, R: Reset<T>> MpEventPublisher<T, R> {
    /// Publishes `value`, in one order with the values of other publishers. Waits with the [`WaitStrategy`]
    /// of the ring while the slowest subscriber has `capacity` events to process. Never waits for subscribers
    /// while there is none.
    ///
    /// This call drops the event of one lap before, after `value` is published. So a value that owns memory
    /// costs an allocation where it is made, and a free here. [`publish`](Self::publish) changes the event in
    /// place instead, and uses its memory again.
    ///
    /// Do not call it in a closure that processes an event of the same ring: see [`publish`](Self::publish).
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the value back if nobody is left to receive (every subscriber is gone, and
    /// every [`EventSubscribable`](crate::event::EventSubscribable) too), or if somebody has
    /// [closed](Self::close) the ring, also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::event::mp_channel(4, String::new);
    /// let [mut first, mut second] = [subscribable.subscribe(), subscribable.subscribe()];
    /// publisher.send("hello".to_owned())?;
    /// assert_eq!(first.recv(), Ok("hello".to_owned()));
    /// assert_eq!(second.recv(), Ok("hello".to_owned()));
    /// # Ok::<(), annulus::PublishError<String>>(())
    /// ```
    #[inline]
    pub fn send(&self, value: T) -> Result<(), PublishError<T>> {
        self.put_admitted(claim(self.shared(), 1), value)
    }

    /// As [`send`](Self::send), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send).
    #[inline]
    pub fn send_by(&self, value: T, strategy: WaitStrategy) -> Result<(), PublishError<T>> {
        self.put_admitted(claim_by(self.shared(), 1, strategy, None), value)
    }

    /// As [`send`](Self::send), but never waits.
    ///
    /// # Errors
    ///
    /// [`TryPublishError`] gives the value back: [`Full`](TryPublishError::Full) if the slowest subscriber
    /// has `capacity` events to process, or if another publisher has not finished with the slot one lap
    /// before; [`Closed`](TryPublishError::Closed) as for [`send`](Self::send).
    #[inline]
    pub fn try_send(&self, value: T) -> Result<(), TryPublishError<T>> {
        self.put_admitted(claim_now(self.shared()), value)
    }

    /// As [`send`](Self::send), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still publishes if there is room.
    ///
    /// # Errors
    ///
    /// [`PublishTimeoutError`] gives the value back.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), PublishTimeoutError<T>> {
        self.send_until(value, Instant::now().checked_add(timeout))
    }

    /// As [`send_timeout`](Self::send_timeout), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Those of [`send_timeout`](Self::send_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn send_deadline(&self, value: T, deadline: Instant) -> Result<(), PublishTimeoutError<T>> {
        self.send_until(value, Some(deadline))
    }

    #[cfg(feature = "std")]
    fn send_until(&self, value: T, deadline: Deadline) -> Result<(), PublishTimeoutError<T>> {
        self.put_admitted(claim_by(self.shared(), 1, self.shared().strategy, deadline), value)
    }

    /// Publishes `value` in the slot that was claimed for it, if one was. Drops what was there afterwards.
    #[inline(always)]
    pub(super) fn put_admitted<E: GiveBack<T>>(
        &self,
        claimed: Result<ClaimedRun, Refusal>,
        value: T,
    ) -> Result<(), E> {
        if_admitted(claimed, value, |ClaimedRun { first, .. }, value| {
            // SAFETY: the caller has claimed `first` for this call.
            drop(unsafe { put(self.shared(), first, |event| replace(event, value)) });
        })
    }
}

/// Puts `value` in the event's place, and returns what was there.
#[inline]
// Decision 0024: the caller drops it after the publication.
pub(super) fn replace<T>(event: &mut T, value: T) -> T {
    if mutated!("event_send_keeps_the_old") { value } else { core::mem::replace(event, value) }
}
