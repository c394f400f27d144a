//! [`EventPublisher`]: the one who changes the events.

use core::fmt;
#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use crate::broadcast::event::reset::Reset;
use crate::broadcast::handle::{Handle, Publishing};
use crate::broadcast::single::Single;
#[cfg(feature = "std")]
use crate::error::PublishTimeoutError;
use crate::error::{PublishError, TryPublishError};
use crate::ring::Owned;
use crate::wait::WaitStrategy;

/// The writing end of a ring of owned events, made by [`event::channel`](crate::event::channel).
///
/// Publishing hands a closure the event to change; subscribers see it once the closure has returned. If the closure panics, nothing is
/// published, and the event stays as the closure left it, for the next one to change.
///
/// A value that is there already goes in whole by [`send`](Self::send).
///
/// `R` says what is done to an event before a closure gets it: nothing, `()`, or a function that empties it
/// ([`event::channel_with_reset`](crate::event::channel_with_reset)).
///
/// Dropping it closes the ring: subscribers process what is left, then get `Closed`.
pub struct EventPublisher<T, R = ()> {
    single: Single<Owned<T>>,
    reset: R,
}

impl<T: Send + Sync, R: Reset<T>> EventPublisher<T, R> {
    pub(in crate::broadcast) fn new(shared: Handle<Owned<T>, Publishing>, reset: R) -> Self {
        Self { single: Single::new(shared), reset }
    }

    /// Lets `change` at the next event and publishes it. Waits with the [`WaitStrategy`] of the ring while the slowest subscriber has
    /// `capacity` events to process; never while there is none.
    ///
    /// Not for closures that process an event of the same ring: that event is not processed before the closure returns, so in a full ring this would wait
    /// for ever. There, use [`try_publish`](Self::try_publish) or `publish_timeout`, as the example `feedback` does. Nor may
    /// `change` wait for an event of the same ring: none comes before it returns.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the closure back, which has not run, where nobody is left to receive: every subscriber is gone, and every
    /// [`EventSubscribable`](crate::event::EventSubscribable) too.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, Vec::new);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(|bytes: &mut Vec<u8>| bytes.extend(b"abc")).unwrap();
    /// assert_eq!(subscriber.process(|bytes| bytes.len()), Ok(3));
    /// ```
    #[inline]
    pub fn publish<F: FnOnce(&mut T)>(&mut self, change: F) -> Result<(), PublishError<F>> {
        match self.single.admit() {
            Ok(()) => {
                self.change(change);
                Ok(())
            }
            Err(_) => Err(PublishError(change)),
        }
    }

    /// As [`publish`](Self::publish), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// As of [`publish`](Self::publish).
    #[inline]
    pub fn publish_by<F: FnOnce(&mut T)>(
        &mut self,
        change: F,
        strategy: WaitStrategy,
    ) -> Result<(), PublishError<F>> {
        match self.single.admit_by(strategy, None) {
            Ok(()) => {
                self.change(change);
                Ok(())
            }
            Err(_) => Err(PublishError(change)),
        }
    }

    /// As [`publish`](Self::publish), but gives up after `timeout` on the monotonic clock. A timeout too long for the clock means no
    /// timeout; a zero one still publishes where there is room.
    ///
    /// # Errors
    ///
    /// [`PublishTimeoutError`] gives the closure back, which has not run.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (mut publisher, subscribable) = annulus::event::channel(2, || 0);
    /// let _subscriber = subscribable.subscribe();
    /// let timeout = Duration::from_millis(1);
    /// assert!(publisher.publish_timeout(|number| *number = 1, timeout).is_ok());
    /// assert!(publisher.publish_timeout(|number| *number = 2, timeout).is_ok());
    /// assert!(publisher.publish_timeout(|number| *number = 3, timeout).is_err());
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn publish_timeout<F: FnOnce(&mut T)>(
        &mut self,
        change: F,
        timeout: Duration,
    ) -> Result<(), PublishTimeoutError<F>> {
        self.publish_until(change, Instant::now().checked_add(timeout))
    }

    /// As [`publish_timeout`](Self::publish_timeout), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// As of [`publish_timeout`](Self::publish_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn publish_deadline<F: FnOnce(&mut T)>(
        &mut self,
        change: F,
        deadline: Instant,
    ) -> Result<(), PublishTimeoutError<F>> {
        self.publish_until(change, Some(deadline))
    }

    #[cfg(feature = "std")]
    fn publish_until<F: FnOnce(&mut T)>(
        &mut self,
        change: F,
        deadline: Option<Instant>,
    ) -> Result<(), PublishTimeoutError<F>> {
        match self.single.admit_until(deadline) {
            Ok(()) => {
                self.change(change);
                Ok(())
            }
            Err(refusal) => Err(PublishTimeoutError::of(refusal, change)),
        }
    }

    /// Lets `change` at the next event and publishes it, if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// [`TryPublishError`] gives the closure back, which has not run.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(2, || 0);
    /// let mut subscriber = subscribable.subscribe();
    /// assert!(publisher.try_publish(|number| *number = 1).is_ok());
    /// assert!(publisher.try_publish(|number| *number = 2).is_ok());
    /// assert!(publisher.try_publish(|number| *number = 3).unwrap_err().is_full());
    /// assert_eq!(subscriber.process(|number| *number), Ok(1));
    /// assert!(publisher.try_publish(|number| *number = 3).is_ok());
    /// ```
    #[inline]
    pub fn try_publish<F: FnOnce(&mut T)>(&mut self, change: F) -> Result<(), TryPublishError<F>> {
        match self.single.try_admit() {
            Ok(()) => {
                self.change(change);
                Ok(())
            }
            Err(refusal) => Err(TryPublishError::of(refusal, change)),
        }
    }

    /// How many events have been published.
    #[inline]
    #[must_use]
    pub fn published(&self) -> u64 {
        self.single.published()
    }

    /// How many events the ring has: the number given to its constructor.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.single.shared.ring.capacity()
    }

    /// Whether nobody is left to receive: publishing will fail from now on.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.single.shared.is_abandoned()
    }

    /// Changes and publishes the next event, for which there is room.
    #[inline(always)]
    fn change(&mut self, change: impl FnOnce(&mut T)) {
        let reset = self.reset;
        self.put(|event| {
            // Decision 0023: now, not when the last reader leaves.
            reset.reset(event);
            change(event);
        });
    }

    /// Publishes the next event, for which there is room, once `change` has returned; returns what that returned.
    #[inline(always)]
    pub(super) fn put<C>(&mut self, change: impl FnOnce(&mut T) -> C) -> C {
        let Single { shared, next, .. } = &mut self.single;
        let sequence = *next;
        // SAFETY: the handle keeps the ring alive. This is the ring's only publisher, and the event was admitted, so every
        // subscriber is done with the event a lap before (`gate.rs`).
        let changed = unsafe {
            let changed = shared.slots().change(sequence, change);
            shared.slots().finish(sequence);
            changed
        };
        shared.ring.head().passed(sequence);
        *next = sequence.next();
        shared.published.notify();
        changed
    }

    /// The handle with its sequence and its limit.
    #[inline(always)]
    pub(super) fn single(&mut self) -> &mut Single<Owned<T>> {
        &mut self.single
    }
}

impl<T: Send + Sync, R: Reset<T>> fmt::Debug for EventPublisher<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventPublisher")
            .field("published", &self.published())
            .field("capacity", &self.capacity())
            .finish()
    }
}
