//! [`Publisher`]: the only handle that changes events.
//!
//! [`Reset`]: what is done to an event before a closure gets it.

use core::fmt;
#[cfg(feature = "std")]
use std::time::Duration;

use crate::Closer;
use crate::base::sequence::Sequence;
use crate::broadcast::await_subscribers::awaits_subscribers;
use crate::broadcast::event::{Subscribable, Subscriber};
use crate::broadcast::handle::{Handle, Publishing};
use crate::broadcast::publisher::SolePublisher;
#[cfg(feature = "async")]
use crate::broadcast::publisher::admitted;
use crate::broadcast::subscribable::subscribes;
use crate::error::{GiveBack, Refusal, SendError, SendTimeoutError, TrySendError, if_admitted};
use crate::observer::observable;
use crate::ring::Owned;
use crate::sync::seeded;
#[cfg(feature = "std")]
use crate::transmit::WaitsForRoom;
#[cfg(feature = "std")]
use crate::transmit::room::{AwaitRoom, SoleSender};
use crate::transmit::transmits;
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice, EventCount, RoomArm};
use crate::wait::{Until, WaitStrategy};

/// The writing end of a ring of owned events, made by [`event::channel`](crate::event::channel).
///
/// Publishing gives a closure the event to change. Subscribers see the event after the closure has returned.
/// If the closure panics, nothing is published. The next closure then gets the event as the first one left
/// it.
///
/// [`send`](Self::send) publishes a value that exists already.
///
/// `R` says what happens to an event before a closure gets it: nothing (`()`), or a function empties it
/// ([`with_reset`](Self::with_reset)).
///
/// Dropping it closes the ring. Subscribers process what is left, then get `Closed`.
#[doc(alias = "SingleProducer")]
pub struct Publisher<T, R = ()> {
    pub(in crate::broadcast) sole: SolePublisher<Owned<T>>,
    reset: R,
}

impl<T: Send + Sync, R: Reset<T>> Publisher<T, R> {
    /// Changes the next event by `change` and publishes it. Waits with the [`WaitStrategy`] of the ring while
    /// the slowest subscriber has `capacity` events to process. Never waits while there is no subscriber.
    ///
    /// Do not call it in a closure that processes an event of the same ring: that event is not processed
    /// before the closure returns, so in a full ring this would wait for ever. Use
    /// [`try_publish`](Self::try_publish) or `publish_timeout` there, as the example `feedback` does.
    /// `change` must not wait for an event of the same ring either, because none comes before `change`
    /// returns.
    ///
    /// # Errors
    ///
    /// [`SendError`] if nobody is left to receive (every subscriber is gone, and every [`Subscribable`] too),
    /// or if somebody has [closed](Self::close) the ring, also while this call waited. The closure has not
    /// run, and is dropped: to keep it for another try, pass `&mut change`.
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
    pub fn publish(&mut self, change: impl FnOnce(&mut T)) -> Result<(), SendError<()>> {
        let admitted = self.admit();
        self.change(admitted, change)
    }

    /// As [`publish`](Self::publish), but gives up after `timeout` on the monotonic clock. A timeout that is
    /// too long for the clock means no timeout. A timeout of zero still publishes if there is room.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`publish`](Self::publish). The closure has not run.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (mut publisher, subscribable) = annulus::event::channel(2, || 0);
    /// let _subscriber = subscribable.subscribe();
    /// let timeout = Duration::from_millis(1);
    /// assert!(publisher.publish_timeout(timeout, |number| *number = 1).is_ok());
    /// assert!(publisher.publish_timeout(timeout, |number| *number = 2).is_ok());
    /// assert!(publisher.publish_timeout(timeout, |number| *number = 3).is_err());
    /// ```
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
    /// [`publish`](Self::publish). The closure has not run.
    #[inline]
    pub fn publish_until(
        &mut self,
        until: impl Into<Until>,
        change: impl FnOnce(&mut T),
    ) -> Result<(), SendTimeoutError<()>> {
        let admitted = self.admit_until(until.into());
        self.change(admitted, change)
    }

    /// Changes the next event by `change` and publishes it, if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full): there is no room. [`Closed`](TrySendError::Closed): as
    /// [`publish`](Self::publish). The closure has not run.
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
    pub fn try_publish(&mut self, change: impl FnOnce(&mut T)) -> Result<(), TrySendError<()>> {
        let admitted = self.try_admit();
        self.change(admitted, change)
    }

    /// Hands each event to `clear` that all subscribers have processed, and that was not cleared before; the
    /// oldest first. Returns how many there were. Never waits.
    ///
    /// An event otherwise stays as it is until it is published again, a lap later, also while nobody
    /// publishes. So call this where what an event holds is to be let go: after each publication, at the end
    /// of a burst, or now and then.
    ///
    /// A subscriber [that begins with the oldest event](Subscribable::subscribe_from_oldest) begins
    /// after those that were cleared. If there is no subscriber, all events are cleared.
    ///
    /// `clear` may do what it likes with an event. [`publish`](Self::publish) gets it as `clear` left it. If
    /// `clear` panics, it does not get the events of this call that come after that one.
    ///
    /// O(subscribers) and two memory fences, and a call of `clear` for each event.
    ///
    /// # Examples
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// let (mut publisher, subscribable) = annulus::event::channel(8, || None);
    /// let mut subscriber = subscribable.subscribe();
    /// let file = Arc::new("what others wait for");
    /// publisher.send(Some(Arc::clone(&file))).unwrap();
    /// subscriber.process(|event| assert!(event.is_some())).unwrap();
    /// assert_eq!(Arc::strong_count(&file), 2); // the ring still has one
    /// assert_eq!(publisher.clear_processed(|event| *event = None), 1);
    /// assert_eq!(Arc::strong_count(&file), 1);
    /// ```
    pub fn clear_processed(&mut self, mut clear: impl FnMut(&mut T)) -> usize {
        let SolePublisher { shared, next, .. } = &self.sole;
        let clearable = shared.gate.take_clearable(*next).map(Sequence::new);
        let mut count = 0;
        for sequence in clearable {
            // SAFETY: the handle keeps the ring alive, whose one publisher this is. All subscribers are past
            // this event, and none begins before it (`Gate::take_clearable`), so nobody else looks at it.
            unsafe { shared.slots.change(sequence, &mut clear) };
            count += 1;
        }
        count
    }
}

impl<T: Send + Sync> Publisher<T> {
    pub(in crate::broadcast) fn new(shared: Handle<Owned<T>, Publishing>) -> Self {
        Self { sole: SolePublisher::new(shared), reset: () }
    }

    /// The same publisher, which from now on calls `reset` on an event before each closure of
    /// [`publish`](Self::publish) and similar verbs. So nobody receives what was in the event one lap before.
    ///
    /// `reset` should empty the event and keep its memory, as `String::clear` and `Vec::clear` do.
    /// [`send`](Self::send) does not call it. If it panics, nothing is published.
    ///
    /// # Examples
    ///
    /// ```
    /// let (publisher, subscribable) = annulus::event::channel(2, String::new);
    /// let mut publisher = publisher.with_reset(String::clear);
    /// let mut subscriber = subscribable.subscribe();
    /// for word in ["one", "two", "three"] {
    ///     publisher.publish(|text| text.push_str(word)).unwrap();
    ///     assert_eq!(subscriber.recv().unwrap(), word); // not "onethree"
    /// }
    /// ```
    #[must_use]
    pub fn with_reset(self, reset: fn(&mut T)) -> Publisher<T, fn(&mut T)> {
        Publisher { sole: self.sole, reset }
    }
}

// The way of an event.
impl<T: Send + Sync, R: Reset<T>> Publisher<T, R> {
    /// Makes sure that the next event may be changed, and announces that it is about to be:
    /// [`put`](Self::put) follows. Waits by the strategy of the ring.
    #[inline(always)]
    pub(super) fn admit(&mut self) -> Result<(), Refusal> {
        self.sole.admit()?;
        self.announce()
    }

    /// As [`admit`](Self::admit); [`Refusal::Full`] once the time has passed.
    #[inline(always)]
    pub(super) fn admit_until(&mut self, until: Until) -> Result<(), Refusal> {
        self.sole.admit_until(until)?;
        self.announce()
    }

    /// As [`admit`](Self::admit), without waiting.
    #[inline(always)]
    pub(super) fn try_admit(&mut self) -> Result<(), Refusal> {
        self.sole.try_admit()?;
        self.announce()
    }

    /// Announces the next event (owned.write7), unless somebody has closed the ring before it.
    #[inline(always)]
    pub(super) fn announce(&self) -> Result<(), Refusal> {
        let SolePublisher { shared, next, .. } = &self.sole;
        // SAFETY: the handle keeps the ring alive, whose one publisher this is.
        unsafe { shared.slots.announce(*next) };
        if shared.may_publish(*next) { Ok(()) } else { Err(Refusal::Closed) }
    }

    /// Changes and publishes the next event, if it was admitted.
    #[inline(always)]
    pub(super) fn change<E: GiveBack<()>>(
        &mut self,
        admitted: Result<(), Refusal>,
        change: impl FnOnce(&mut T),
    ) -> Result<(), E> {
        let reset = self.reset;
        if_admitted(admitted, (), |(), ()| {
            self.put(|event| {
                // Decision 0023: now, not when the last reader leaves.
                reset.reset(event);
                change(event);
            });
        })
    }

    /// Publishes the next event, which was [admitted](Self::admit), once `change` has returned; returns what
    /// that returned.
    #[inline(always)]
    pub(super) fn put<C>(&mut self, change: impl FnOnce(&mut T) -> C) -> C {
        let SolePublisher { shared, next, .. } = &mut self.sole;
        let sequence = *next;
        let announced = Announced { shared, sequence };
        // SAFETY: the handle keeps the ring alive. This is the ring's only publisher, and the event was
        // admitted, so every subscriber is done with the event a lap before (`gate.rs`).
        let changed = unsafe {
            let changed = shared.slots.change(sequence, change);
            shared.slots.finish(sequence);
            changed
        };
        core::mem::forget(announced);
        *next = sequence.next();
        shared.published.notify();
        changed
    }
}

/// What happens to an event before a closure gets it: nothing (`()`), or a function call. It is a type, so
/// publishers without a function have no extra step.
///
/// You need not implement it: [`Publisher::with_reset`] and [`MpPublisher::with_reset`] take the function.
///
/// [`MpPublisher::with_reset`]: crate::event::MpPublisher::with_reset
pub trait Reset<T>: Copy + Send + Sync + sealed::Sealed {
    #[doc(hidden)]
    fn reset(self, event: &mut T);
}

impl<T> Reset<T> for () {
    #[inline(always)]
    fn reset(self, _: &mut T) {}
}

impl<T> Reset<T> for fn(&mut T) {
    #[inline(always)]
    fn reset(self, event: &mut T) {
        self(event);
    }
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for () {}
    impl<T> Sealed for fn(&mut T) {}
}

/// Whole values: [`send`](Self::send) and similar verbs replace the event by `value`. They do not reset the
/// event first, because nothing of it is left.
impl<T: Send + Sync, R: Reset<T>> Publisher<T, R> {
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
    /// [`SendError`] gives the value back if nobody is left to receive (every subscriber is gone, and
    /// every [`Subscribable`] too), or if somebody has
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
    /// # Ok::<(), annulus::SendError<String>>(())
    /// ```
    #[inline]
    pub fn send(&mut self, value: T) -> Result<(), SendError<T>> {
        let admitted = self.admit();
        self.put_admitted(admitted, value)
    }

    /// As [`send`](Self::send), but never waits.
    ///
    /// # Errors
    ///
    /// [`TrySendError`] gives the value back: [`Full`](TrySendError::Full) if the slowest subscriber
    /// has `capacity` events to process; [`Closed`](TrySendError::Closed) as for [`send`](Self::send).
    #[inline]
    pub fn try_send(&mut self, value: T) -> Result<(), TrySendError<T>> {
        let admitted = self.try_admit();
        self.put_admitted(admitted, value)
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
        let admitted = self.admit_until(until.into());
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

/// Puts `value` in the event's place, and returns what was there.
#[inline]
// Decision 0024: the caller drops it after the publication.
pub(super) fn replace<T>(event: &mut T, value: T) -> T {
    if seeded!("event_send_keeps_the_old") { value } else { core::mem::replace(event, value) }
}

/// An event that was announced, while a closure changes it: if that panics, the announcement is taken back.
struct Announced<'a, T> {
    shared: &'a Handle<Owned<T>, Publishing>,
    sequence: Sequence,
}

impl<T> Drop for Announced<'_, T> {
    #[cold]
    fn drop(&mut self) {
        if !seeded!("event_stays_announced") {
            // SAFETY: the handle keeps the ring alive, whose one publisher has announced this event, and has
            // not published it.
            unsafe { self.shared.slots.take_back(self.sequence, self.shared.capacity()) };
            self.shared.withdraw(self.sequence);
        }
    }
}

#[cfg(feature = "async")]
impl<T: Send + Sync, R: Reset<T>> Publisher<T, R> {
    /// Changes the next event by `change` and publishes it, like [`publish`](Self::publish), in a task: the
    /// task waits for the slowest subscriber, not its thread.
    ///
    /// *Cancel safety*: if the future is dropped before it has returned, the closure has not run, and nothing
    /// is published.
    ///
    /// # Errors
    ///
    /// [`SendError`]: as [`publish`](Self::publish). The closure has not run.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, Vec::new);
    /// let mut subscriber = subscribable.subscribe();
    /// let published = pollster::block_on(publisher.publish_async(|bytes: &mut Vec<u8>| bytes.extend(b"abc")));
    /// assert!(published.is_ok());
    /// assert_eq!(subscriber.process(|bytes| bytes.len()), Ok(3));
    /// ```
    pub async fn publish_async(&mut self, change: impl FnOnce(&mut T)) -> Result<(), SendError<()>> {
        let admitted = self.admitted().await;
        self.change(admitted, change)
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
    /// let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// pollster::block_on(publisher.send_async("hello".to_owned())).unwrap();
    /// assert_eq!(subscriber.recv(), Ok("hello".to_owned()));
    /// ```
    pub async fn send_async(&mut self, value: T) -> Result<(), SendError<T>> {
        let admitted = self.admitted().await;
        self.put_admitted(admitted, value)
    }

    /// As [`admit`](Self::admit), in a task: what follows is in the same poll.
    async fn admitted(&mut self) -> Result<(), Refusal> {
        admitted(&mut self.sole).await?;
        self.announce()
    }
}

#[cfg(feature = "std")]
impl<T: Send + Sync, R: Reset<T>> Publisher<T, R> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&mut self) -> impl Choice<Found = impl FnOnce(T) -> Result<(), SendError<T>>> {
        // SAFETY: the eventcounts are in the ring's shared state, which the publisher's handle keeps alive.
        unsafe {
            Armed::new(AwaitRoom(self), AwaitRoom::strategy, |AwaitRoom(publisher), found| {
                move |value| {
                    let admitted = found.and_then(|()| publisher.announce());
                    publisher.put_admitted(admitted, value)
                }
            })
        }
    }
}

#[cfg(feature = "std")]
impl<T: Send + Sync, R: Reset<T>> WaitsForRoom for Publisher<T, R> {
    fn room(&mut self) -> RoomArm<'_> {
        // SAFETY: as above.
        unsafe { RoomArm::new(AwaitRoom(self), AwaitRoom::strategy) }
    }
}

#[cfg(feature = "std")]
impl<T: Send + Sync, R: Reset<T>> SoleSender for Publisher<T, R> {
    fn released(&self) -> &EventCount {
        self.sole.released()
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.sole.look_for_room()
    }

    fn strategy(&self) -> WaitStrategy {
        self.sole.strategy()
    }
}

transmits! {
    [T: Send + Sync, R: Reset<T>] Publisher<T, R>: T;
    |publisher, value| now: {
        let admitted = publisher.try_admit();
        publisher.put_admitted(admitted, value)
    },
    |until| late: {
        let admitted = publisher.admit_until(until);
        publisher.put_admitted(admitted, value)
    },
    closed: publisher.is_closed(),
    task: publisher.send_async(value),
}

impl<T: Send + Sync, R: Reset<T>> Publisher<T, R> {
    /// How many events have been published.
    #[inline]
    #[must_use]
    pub fn published(&self) -> u64 {
        self.sole.published()
    }

    /// How many events the ring has: the number given to its constructor.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.sole.shared.capacity()
    }

    /// Whether publishing will fail from now on, because nobody is left to receive, or because somebody has
    /// [closed](Self::close) the ring.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.sole.shared.refuses()
    }

    /// How many subscribers the ring has now, on whichever thread: plain ones, stages and clones. Subscribers
    /// may join and leave meanwhile. An [`Subscribable`] does not
    /// count, so somebody may still join when this is 0.
    #[must_use]
    pub fn subscriber_count(&self) -> usize {
        self.sole.shared.subscriber_count()
    }

    awaits_subscribers! {
        make: "let (publisher, subscribable) = annulus::event::channel(8, || 0);",
        |publisher| &publisher.sole.shared
    }

    /// Closes the ring, as dropping the publisher does, but keeps the publisher. Subscribers process what was
    /// published, then get `Closed`. Threads that wait in the ring are woken. From now on publishing fails.
    /// No effect on a closed ring.
    pub fn close(&self) {
        self.sole.shared.close_as_publisher();
    }

    /// A [`Closer`], which closes the ring from any thread. It does not keep the ring open. If a closure is
    /// changing an event when the ring is closed, that event is published when the closure has returned, and
    /// subscribers wait for it.
    #[must_use]
    pub fn closer(&self) -> Closer
    where
        T: 'static,
    {
        self.sole.shared.closer()
    }

    subscribes! {
        make: "let (publisher, subscribable) = annulus::event::channel(8, String::new);",
        |handle| Subscribable<T>: Subscribable::new(handle.sole.shared.subscribable_of_publisher()),
        Subscriber<T>
    }

    observable! {
        where T: 'static,
        |handle| stats: handle.sole.shared.stats(),
        observer: handle.sole.shared.observer()
    }
}

impl<T: Send + Sync, R: Reset<T>> fmt::Debug for Publisher<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher")
            .field("published", &self.published())
            .field("capacity", &self.capacity())
            .finish()
    }
}
