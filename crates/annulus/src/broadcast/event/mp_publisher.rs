//! [`MpPublisher`]: one of many handles that change events.

use alloc::sync::Arc;
use core::fmt;
#[cfg(feature = "std")]
use std::time::Duration;

use super::publisher::{Reset, replace};
use super::{Subscribable, Subscriber};
use crate::Closer;
use crate::base::drop_all::Contained;
use crate::base::sequence::Sequence;
use crate::broadcast::await_subscribers::awaits_subscribers;
use crate::broadcast::handle::{Handle, Publishing};
#[cfg(any(feature = "std", feature = "async"))]
use crate::broadcast::slot_access::FromHead;
#[cfg(feature = "async")]
use crate::broadcast::slot_access::claimed;
#[cfg(feature = "std")]
use crate::broadcast::slot_access::{AwaitClaim, Claimable, claim_of_one};
use crate::broadcast::slot_access::{ClaimedRun, claim, claim_now, claim_until, has_free_slot};
use crate::broadcast::subscribable::subscribes;
use crate::error::{GiveBack, Refusal, SendError, SendTimeoutError, TrySendError, if_admitted};
use crate::observer::observable;
use crate::ring::Owned;
#[cfg(feature = "std")]
use crate::transmit::WaitsForRoom;
use crate::transmit::transmits;
use crate::wait::Until;
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice, RoomArm, fill_claim};

/// A writing end of a ring of owned events with many publishers, made by
/// [`event::mp_channel`](crate::event::mp_channel).
///
/// It is `Clone + Send`: clone it for each thread. A clone makes an event of its own with the factory.
/// Publishing gives the closure that event, and then swaps it with the next event of the ring. So the event
/// that the next closure gets was in the ring before.
///
/// [`send`](Self::send) publishes a value that exists already. For `R` see
/// [`Publisher`](crate::event::Publisher).
///
/// Dropping the last publisher closes the ring. Subscribers process what is left, then get `Closed`.
#[doc(alias = "MultiProducer")]
pub struct MpPublisher<T, R = ()> {
    /// What the next closure changes. It goes before the ring: if its destructor panics, the destructors of
    /// the ring still run ([`drop_all`](crate::base::drop_all::drop_all)), and so does that of the factory.
    spare: Contained<T>,
    pub(in crate::broadcast) shared: Handle<Owned<T>, Publishing>,
    factory: Contained<Arc<dyn Fn() -> T + Send + Sync>>,
    reset: R,
}

impl<T: Send + Sync, R: Reset<T>> MpPublisher<T, R> {
    /// Changes an event by `change`, then publishes it. The closure runs first, and nobody waits for it. If
    /// it panics, nothing is published. Then this waits with the [`WaitStrategy`](crate::WaitStrategy) of the
    /// ring while the slowest subscriber has `capacity` events to process. Never waits for subscribers while
    /// there is none.
    ///
    /// Do not call it in a closure that processes an event of the same ring: that event is not processed
    /// before the closure returns, so in a full ring this would wait for ever. Use
    /// [`try_publish`](Self::try_publish) or `publish_timeout` there.
    ///
    /// # Errors
    ///
    /// [`SendError`] if nobody is left to receive (every subscriber is gone, and every [`Subscribable`] too),
    /// or if somebody has [closed](Self::close) the ring, also while this call waited. The closure has run
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
    pub fn publish(&mut self, change: impl FnOnce(&mut T)) -> Result<(), SendError<()>> {
        self.change(change);
        self.publish_spare(claim(&self.shared, 1))
    }

    /// As [`publish`](Self::publish), but gives up after `timeout` on the monotonic clock. The closure has
    /// run then.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time.
    /// [`Closed`](SendTimeoutError::Closed): as [`publish`](Self::publish).
    #[cfg(feature = "std")]
    pub fn publish_timeout(
        &mut self,
        timeout: Duration,
        change: impl FnOnce(&mut T),
    ) -> Result<(), SendTimeoutError<()>> {
        self.publish_until(timeout, change)
    }

    /// As [`publish`](Self::publish), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`publish`](Self::publish).
    pub fn publish_until(
        &mut self,
        until: impl Into<Until>,
        change: impl FnOnce(&mut T),
    ) -> Result<(), SendTimeoutError<()>> {
        // A timeout is for the closure, too.
        let until = until.into().begun();
        self.change(change);
        self.publish_spare(claim_until(&self.shared, 1, until))
    }

    /// Changes an event by `change` and publishes it, if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full), [`Closed`](TrySendError::Closed). The closure has not run, unless
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
    pub fn try_publish(&mut self, change: impl FnOnce(&mut T)) -> Result<(), TrySendError<()>> {
        let claimed = has_free_slot(&self.shared).and_then(|()| {
            self.change(change);
            claim_now(&self.shared)
        });
        self.publish_spare(claimed)
    }
}

impl<T: Send + Sync> MpPublisher<T> {
    pub(in crate::broadcast) fn new(
        shared: Handle<Owned<T>, Publishing>,
        factory: Contained<Arc<dyn Fn() -> T + Send + Sync>>,
    ) -> Self {
        Self { spare: Contained::new(factory()), shared, factory, reset: () }
    }

    /// The same publisher, which from now on calls `reset` on its own event before each closure of
    /// [`publish`](Self::publish) and similar verbs, as do the clones that are made of it. So nobody receives
    /// what was in the event one lap before. Otherwise as
    /// [`Publisher::with_reset`](crate::event::Publisher::with_reset).
    ///
    /// # Examples
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::event::mp_channel(2, String::new);
    /// let mut publisher = publisher.with_reset(String::clear);
    /// let mut subscriber = subscribable.subscribe();
    /// for word in ["one", "two", "three", "four"] {
    ///     publisher.publish(|text| text.push_str(word)).unwrap();
    ///     assert_eq!(subscriber.recv().unwrap(), word);
    /// }
    /// ```
    #[must_use]
    pub fn with_reset(self, reset: fn(&mut T)) -> MpPublisher<T, fn(&mut T)> {
        let Self { spare, shared, factory, reset: () } = self;
        MpPublisher { spare, shared, factory, reset }
    }
}

// The way of an event.
impl<T: Send + Sync, R: Reset<T>> MpPublisher<T, R> {
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
        let (shared, spare) = (&self.shared, &mut *self.spare);
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
        let changed = shared.slots.change(sequence, change);
        shared.slots.finish(sequence);
        changed
    };
    shared.published.notify();
    changed
}

/// Whole values: [`send`](Self::send) and similar verbs replace the event by `value`. They do not reset the
/// event first, because nothing of it is left.
impl<T: Send + Sync, R: Reset<T>> MpPublisher<T, R> {
    /// Publishes `value`, in one order with the values of other publishers. Waits with the
    /// [`WaitStrategy`](crate::WaitStrategy) of the ring while the slowest subscriber has `capacity` events
    /// to process. Never waits for subscribers while there is none.
    ///
    /// This call drops the event of one lap before, after `value` is published. So a value that owns memory
    /// costs an allocation where it is made, and a free here. [`publish`](Self::publish) changes the event in
    /// place instead, and uses its memory again.
    ///
    /// Do not call it in a closure that processes an event of the same ring: see [`publish`](Self::publish).
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back if nobody is left to receive (every subscriber is gone, and
    /// every [`Subscribable`] too), or if somebody has
    /// [closed](Self::close) the ring, also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::mp_channel(4, String::new);
    /// let [mut first, mut second] = [subscribable.subscribe(), subscribable.subscribe()];
    /// publisher.send("hello".to_owned())?;
    /// assert_eq!(first.recv(), Ok("hello".to_owned()));
    /// assert_eq!(second.recv(), Ok("hello".to_owned()));
    /// # Ok::<(), annulus::SendError<String>>(())
    /// ```
    #[inline]
    pub fn send(&mut self, value: T) -> Result<(), SendError<T>> {
        self.put_admitted(claim(self.shared(), 1), value)
    }

    /// As [`send`](Self::send), but never waits.
    ///
    /// # Errors
    ///
    /// [`TrySendError`] gives the value back: [`Full`](TrySendError::Full) if the slowest subscriber
    /// has `capacity` events to process, or if another publisher has not finished with the slot one lap
    /// before; [`Closed`](TrySendError::Closed) as for [`send`](Self::send).
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), TrySendError<T>> {
        self.put_admitted(claim_now(self.shared()), value)
    }

    /// As [`send`](Self::send), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still publishes if there is room.
    ///
    /// # Errors
    ///
    /// [`SendTimeoutError`] gives the value back.
    #[cfg(feature = "std")]
    pub fn send_timeout(&mut self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(value, timeout)
    }

    /// As [`send`](Self::send), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`send`](Self::send). Both give the value back.
    #[inline]
    pub fn send_until(&mut self, value: T, until: impl Into<Until>) -> Result<(), SendTimeoutError<T>> {
        self.put_admitted(claim_until(self.shared(), 1, until.into()), value)
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

#[cfg(feature = "async")]
impl<T: Send + Sync, R: Reset<T>> MpPublisher<T, R> {
    /// Changes an event by `change`, then publishes it, like [`publish`](Self::publish), in a task: the task
    /// waits for the slowest subscriber, not its thread. The closure runs at the first poll.
    ///
    /// *Cancel safety*: if the future is dropped before it has returned, nothing is published. If it was
    /// polled, the closure has run, and the next closure gets the event as this one left it.
    ///
    /// # Errors
    ///
    /// [`SendError`] if nobody is left to receive, or if somebody has closed the ring. The closure has run
    /// then.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::mp_channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// pollster::block_on(publisher.publish_async(|text| text.push_str("hello"))).unwrap();
    /// assert_eq!(subscriber.process(|text| text.len()), Ok(5));
    /// ```
    pub async fn publish_async(&mut self, change: impl FnOnce(&mut T)) -> Result<(), SendError<()>> {
        self.change(change);
        let claimed = claimed(FromHead, self.shared()).await;
        self.publish_spare(claimed)
    }

    /// Publishes `value` like [`send`](Self::send), in a task: the task waits for the slowest subscriber, not
    /// its thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has published nothing. The value
    /// is dropped with it.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back: nobody is left to receive, or somebody has closed the ring,
    /// also while this call waited.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::mp_channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// pollster::block_on(publisher.send_async("hello".to_owned())).unwrap();
    /// assert_eq!(subscriber.recv(), Ok("hello".to_owned()));
    /// ```
    pub async fn send_async(&mut self, value: T) -> Result<(), SendError<T>> {
        let claimed = claimed(FromHead, self.shared()).await;
        self.put_admitted(claimed, value)
    }
}

#[cfg(feature = "std")]
impl<T: Send + Sync, R: Reset<T>> MpPublisher<T, R> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&mut self) -> impl Choice<Found = impl FnOnce(T) -> Result<(), SendError<T>>> {
        let this = &*self;
        let put = |claimed, value| this.put_admitted(claimed, value);
        let claim = claim_of_one(FromHead, this.shared());
        // SAFETY: the eventcounts are in the ring's shared state, which the publisher's handle keeps alive.
        unsafe { Armed::new(claim, AwaitClaim::strategy, move |_, claimed| fill_claim(claimed, put)) }
    }
}

#[cfg(feature = "std")]
impl<T: Send + Sync, R: Reset<T>> WaitsForRoom for MpPublisher<T, R> {
    fn room(&mut self) -> RoomArm<'_> {
        let claimable = Claimable::of(FromHead, self.shared());
        // SAFETY: the eventcounts are in the ring's shared state, which the publisher's handle keeps alive.
        unsafe { RoomArm::new(claimable, Claimable::strategy) }
    }
}

transmits! {
    [T: Send + Sync, R: Reset<T>] MpPublisher<T, R>: T;
    |publisher, value| now: publisher.put_admitted(claim_now(publisher.shared()), value),
    |until| late: {
        publisher.put_admitted(claim_until(publisher.shared(), 1, until), value)
    },
    closed: publisher.is_closed(),
    task: publisher.send_async(value),
}

impl<T: Send + Sync, R: Reset<T>> MpPublisher<T, R> {
    /// How many events all publishers of the ring have published, or are publishing.
    #[must_use]
    pub fn published(&self) -> u64 {
        self.shared.head.claimed().since(self.shared.first())
    }

    /// How many events the ring has: the number given to its constructor.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.capacity()
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
        |handle| Subscribable<T>: Subscribable::new(handle.shared.subscribable_of_publisher()),
        Subscriber<T>
    }

    observable! {
        where T: 'static,
        |handle| stats: handle.shared.stats(),
        observer: handle.shared.observer()
    }

    /// How many subscribers the ring has now, on whichever thread: plain ones, stages and clones. Subscribers
    /// may join and leave meanwhile. An [`Subscribable`] does not
    /// count, so somebody may still join when this is 0.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.shared.subscriber_count()
    }

    awaits_subscribers! {
        make: "let (publisher, subscribable) = annulus::event::mp_channel(8, || 0);",
        |publisher| &publisher.shared
    }
}

impl<T: Send + Sync, R: Reset<T>> Clone for MpPublisher<T, R> {
    /// Another publisher, with an event from the factory.
    fn clone(&self) -> Self {
        let (shared, factory) = (self.shared.publisher(), Contained::new(Arc::clone(&self.factory)));
        Self { spare: Contained::new(factory()), shared, factory, reset: self.reset }
    }
}

impl<T: Send + Sync, R: Reset<T>> fmt::Debug for MpPublisher<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MpPublisher")
            .field("published", &self.published())
            .field("capacity", &self.capacity())
            .finish()
    }
}
