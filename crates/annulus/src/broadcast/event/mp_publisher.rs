//! [`MpEventPublisher`]: one of many handles that change events.

use alloc::sync::Arc;
use core::fmt;
#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use crate::Closer;
use crate::base::sequence::Sequence;
use crate::broadcast::await_subscribers::awaits_subscribers;
use crate::broadcast::event::reset::Reset;
use crate::broadcast::event::{EventSubscribable, EventSubscriber};
use crate::broadcast::handle::{Handle, Publishing};
use crate::broadcast::slot_access::{ClaimedRun, claim, claim_by, claim_now, has_free_slot};
use crate::broadcast::subscribable::subscribes;
#[cfg(feature = "std")]
use crate::error::PublishTimeoutError;
use crate::error::{GiveBack, PublishError, Refusal, TryPublishError, if_admitted};
use crate::observer::observable;
use crate::ring::Owned;
use crate::wait::WaitStrategy;

/// A writing end of a ring of owned events with many publishers, made by
/// [`event::mp_channel`](crate::event::mp_channel).
///
/// It is `Clone + Send`: clone it for each thread. A clone makes an event of its own with the factory.
/// Publishing gives the closure that event, and then swaps it with the next event of the ring. So the event
/// that the next closure gets was in the ring before.
///
/// [`send`](Self::send) publishes a value that exists already, and takes `&self`. For `R` see
/// [`EventPublisher`](crate::event::EventPublisher).
///
/// Dropping the last publisher closes the ring. Subscribers process what is left, then get `Closed`.
#[doc(alias = "MultiProducer")]
pub struct MpEventPublisher<T, R = ()> {
    /// What the next closure changes. It goes before the ring: if its destructor panics, those of the ring
    /// still run ([`drop_all`](crate::base::drop_all::drop_all)).
    spare: T,
    pub(in crate::broadcast) shared: Handle<Owned<T>, Publishing>,
    factory: Arc<dyn Fn() -> T + Send + Sync>,
    reset: R,
}

impl<T: Send + Sync, R: Reset<T>> MpEventPublisher<T, R> {
    pub(in crate::broadcast) fn new(
        shared: Handle<Owned<T>, Publishing>,
        factory: Arc<dyn Fn() -> T + Send + Sync>,
        reset: R,
    ) -> Self {
        Self { shared, spare: factory(), factory, reset }
    }

    /// Changes an event by `change`, then publishes it. The closure runs first, and nobody waits for it. If
    /// it panics, nothing is published. Then this waits with the [`WaitStrategy`] of the ring while the
    /// slowest subscriber has `capacity` events to process. Never waits for subscribers while there is none.
    ///
    /// Do not call it in a closure that processes an event of the same ring: that event is not processed
    /// before the closure returns, so in a full ring this would wait for ever. Use
    /// [`try_publish`](Self::try_publish) or `publish_timeout` there.
    ///
    /// # Errors
    ///
    /// [`PublishError`] if nobody is left to receive, or if somebody has closed the ring. The closure has run
    /// then, and the next closure gets the event as this one left it.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::mp_channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(|text| text.push_str("hello")).unwrap();
    /// assert_eq!(subscriber.process(|text| text.len()), Ok(5));
    /// ```
    #[inline]
    pub fn publish(&mut self, change: impl FnOnce(&mut T)) -> Result<(), PublishError<()>> {
        self.change(change);
        self.publish_spare(claim(&self.shared, 1))
    }

    /// As [`publish`](Self::publish), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish).
    #[inline]
    pub fn publish_by(
        &mut self,
        change: impl FnOnce(&mut T),
        strategy: WaitStrategy,
    ) -> Result<(), PublishError<()>> {
        self.change(change);
        self.publish_spare(claim_by(&self.shared, 1, strategy, None))
    }

    /// As [`publish`](Self::publish), but gives up after `timeout` on the monotonic clock. The closure has
    /// run then.
    ///
    /// # Errors
    ///
    /// [`Timeout`](PublishTimeoutError::Timeout): no room came in time.
    /// [`Closed`](PublishTimeoutError::Closed): as [`publish`](Self::publish).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn publish_timeout(
        &mut self,
        change: impl FnOnce(&mut T),
        timeout: Duration,
    ) -> Result<(), PublishTimeoutError<()>> {
        self.publish_until(change, Instant::now().checked_add(timeout))
    }

    /// As [`publish_timeout`](Self::publish_timeout), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Those of [`publish_timeout`](Self::publish_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn publish_deadline(
        &mut self,
        change: impl FnOnce(&mut T),
        deadline: Instant,
    ) -> Result<(), PublishTimeoutError<()>> {
        self.publish_until(change, Some(deadline))
    }

    #[cfg(feature = "std")]
    fn publish_until(
        &mut self,
        change: impl FnOnce(&mut T),
        deadline: Option<Instant>,
    ) -> Result<(), PublishTimeoutError<()>> {
        self.change(change);
        self.publish_spare(claim_by(&self.shared, 1, self.shared.strategy, deadline))
    }

    /// Changes an event by `change` and publishes it, if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// [`Full`](TryPublishError::Full), [`Closed`](TryPublishError::Closed). The closure has not run, unless
    /// another publisher took the room while it ran. In that case the next closure gets the event as this one
    /// left it. So a closure that may be tried again should set the event's content, not add to it.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::mp_channel(2, || 0);
    /// let _subscriber = subscribable.subscribe();
    /// assert!(publisher.try_publish(|number| *number = 1).is_ok());
    /// assert!(publisher.try_publish(|number| *number = 2).is_ok());
    /// assert!(publisher.try_publish(|number| *number = 3).unwrap_err().is_full());
    /// ```
    #[inline]
    pub fn try_publish(&mut self, change: impl FnOnce(&mut T)) -> Result<(), TryPublishError<()>> {
        let claimed = has_free_slot(&self.shared).and_then(|()| {
            self.change(change);
            claim_now(&self.shared)
        });
        self.publish_spare(claimed)
    }

    /// How many events all publishers of the ring have published, or are publishing.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.shared.ring.head().claimed().since(self.shared.ring.first())
    }

    /// How many events the ring has: the number given to its constructor.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.ring.capacity()
    }

    /// Whether publishing will fail from now on, because nobody is left to receive, or because somebody has
    /// [closed](Self::close) the ring.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.refuses()
    }

    /// Closes the ring for all its publishers, and wakes all threads that wait in it. Subscribers process
    /// what was published, then get `Closed`. From now on publishing fails. No effect on a closed ring.
    pub fn close(&self) {
        self.shared.close();
    }

    /// A [`Closer`], which closes the ring from any thread. It does not keep the ring open.
    #[must_use]
    pub fn closer(&self) -> Closer
    where
        T: 'static,
    {
        self.shared.closer()
    }

    subscribes! {
        make: "let (publisher, subscribable) = annulus::event::mp_channel(8, String::new);",
        |handle| EventSubscribable<T>: EventSubscribable::new(handle.shared.inviter_of_publisher()),
        EventSubscriber<T>
    }

    observable! {
        where T: 'static,
        |handle| stats: handle.shared.stats(),
        observer: handle.shared.observer()
    }

    /// How many subscribers the ring has now, on whichever thread: plain ones, stages and clones. Subscribers
    /// may join and leave meanwhile. An [`EventSubscribable`] does not
    /// count, so somebody may still join when this is 0.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.shared.subscriber_count()
    }

    awaits_subscribers! {
        make: "let (publisher, subscribable) = annulus::event::mp_channel(8, || 0);",
        |publisher| &publisher.shared
    }

    /// Lets `change` at this publisher's own event.
    #[inline]
    pub(super) fn change(&mut self, change: impl FnOnce(&mut T)) {
        self.reset.reset(&mut self.spare);
        change(&mut self.spare);
    }

    /// Publishes this publisher's own event in the slot that was claimed for it, if one was. Takes what was
    /// there.
    #[inline]
    pub(super) fn publish_spare<E: GiveBack<()>>(
        &mut self,
        claimed: Result<ClaimedRun, Refusal>,
    ) -> Result<(), E> {
        // Decision 0022: swapped in, not changed in place.
        let (shared, spare) = (&self.shared, &mut self.spare);
        if_admitted(claimed, (), |ClaimedRun { first, .. }, ()| {
            // SAFETY: the caller has claimed `first` for this call.
            unsafe { put(shared, first, |event| core::mem::swap(event, spare)) };
        })
    }

    /// The handle.
    #[inline]
    pub(super) fn shared(&self) -> &Handle<Owned<T>, Publishing> {
        &self.shared
    }
}

/// Publishes the event in a place that was claimed, once `change` has returned; returns what that returned.
/// `change` is the library's and does not panic: a place that is claimed must be filled.
///
/// # Safety
///
/// The caller has claimed `sequence`, and calls this once for it.
#[inline]
pub(super) unsafe fn put<T, C>(
    shared: &Handle<Owned<T>, Publishing>,
    sequence: Sequence,
    change: impl FnOnce(&mut T) -> C,
) -> C {
    // SAFETY: the handle keeps the ring alive. Nobody else has claimed `sequence`, the writer of the lap
    // before has left its slot, and the claim was below the gate's limit, so every subscriber is done with
    // the event a lap before (`gate.rs`).
    let changed = unsafe {
        let changed = shared.slots().change(sequence, change);
        shared.slots().finish(sequence);
        changed
    };
    shared.published.notify();
    changed
}

impl<T: Send + Sync, R: Reset<T>> Clone for MpEventPublisher<T, R> {
    /// Another publisher, with an event from the factory.
    fn clone(&self) -> Self {
        Self::new(self.shared.publisher(), Arc::clone(&self.factory), self.reset)
    }
}

impl<T: Send + Sync, R: Reset<T>> fmt::Debug for MpEventPublisher<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MpEventPublisher")
            .field("published", &self.published())
            .field("capacity", &self.capacity())
            .finish()
    }
}
