//! Whole values into a ring of owned events: `send` and similar verbs, for one publisher and for many.

#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use super::mp_publisher::put;
use super::reset::Reset;
use super::{EventPublisher, MpEventPublisher};
use crate::broadcast::slot_access::{Claimed, claim, claim_by, claim_now};
#[cfg(feature = "std")]
use crate::error::PublishTimeoutError;
use crate::error::{PublishError, TryPublishError};
use crate::sequence::Sequence;
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
        match self.admit() {
            Ok(()) => {
                drop(self.put(|event| replace(event, value)));
                Ok(())
            }
            Err(_) => Err(PublishError(value)),
        }
    }

    /// As [`send`](Self::send), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send).
    #[inline]
    pub fn send_by(&mut self, value: T, strategy: WaitStrategy) -> Result<(), PublishError<T>> {
        match self.admit_by(strategy, None) {
            Ok(()) => {
                drop(self.put(|event| replace(event, value)));
                Ok(())
            }
            Err(_) => Err(PublishError(value)),
        }
    }

    /// As [`send`](Self::send), but never waits.
    ///
    /// # Errors
    ///
    /// [`TryPublishError`] gives the value back: [`Full`](TryPublishError::Full) if the slowest subscriber
    /// has `capacity` events to process; [`Closed`](TryPublishError::Closed) as for [`send`](Self::send).
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), TryPublishError<T>> {
        match self.try_admit() {
            Ok(()) => {
                drop(self.put(|event| replace(event, value)));
                Ok(())
            }
            Err(refusal) => Err(TryPublishError::of(refusal, value)),
        }
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
        match self.admit_until(deadline) {
            Ok(()) => {
                drop(self.put(|event| replace(event, value)));
                Ok(())
            }
            Err(refusal) => Err(PublishTimeoutError::of(refusal, value)),
        }
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
        match claim(self.shared(), 1, true) {
            Ok(Claimed { first, .. }) => {
                self.put_value(first, value);
                Ok(())
            }
            Err(_) => Err(PublishError(value)),
        }
    }

    /// As [`send`](Self::send), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send).
    #[inline]
    pub fn send_by(&self, value: T, strategy: WaitStrategy) -> Result<(), PublishError<T>> {
        match claim_by(self.shared(), 1, true, strategy, None) {
            Ok(Claimed { first, .. }) => {
                self.put_value(first, value);
                Ok(())
            }
            Err(_) => Err(PublishError(value)),
        }
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
        match claim_now(self.shared(), true) {
            Ok(Claimed { first, .. }) => {
                self.put_value(first, value);
                Ok(())
            }
            Err(refusal) => Err(TryPublishError::of(refusal, value)),
        }
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
        match claim_by(self.shared(), 1, true, self.shared().strategy, deadline) {
            Ok(Claimed { first, .. }) => {
                self.put_value(first, value);
                Ok(())
            }
            Err(refusal) => Err(PublishTimeoutError::of(refusal, value)),
        }
    }

    /// Publishes `value` in the place that was claimed for it; what was there is dropped afterwards.
    #[inline]
    pub(super) fn put_value(&self, sequence: Sequence, value: T) {
        // SAFETY: the caller has claimed `sequence` for this call.
        drop(unsafe { put(self.shared(), sequence, |event| replace(event, value)) });
    }
}

/// Puts `value` in the event's place, and returns what was there.
#[inline]
// Decision 0024: the caller drops it after the publication.
pub(super) fn replace<T>(event: &mut T, value: T) -> T {
    if mutated!("event_send_keeps_the_old") { value } else { core::mem::replace(event, value) }
}
