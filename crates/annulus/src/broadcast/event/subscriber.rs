//! [`EventSubscriber`]: one reader of owned events.
//!
//! Its cursor in the gate moves on only when it is done with an event, so nobody changes what it reads.

use core::fmt;
use core::ops::{ControlFlow, Deref};
#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use crate::broadcast::handle::Handle;
use crate::broadcast::mode::{Lossless, Mode, Unstaged};
use crate::broadcast::stage::{DependencyBarrier, StageProgress, Staged, Tracked, Upstream, stage};
use crate::broadcast::subscriber::wait_without_deadline;
use crate::error::{RecvError, TryRecvError, UpstreamError};
#[cfg(feature = "std")]
use crate::error::{RecvTimeoutError, in_time};
use crate::hint::unlikely;
use crate::ring::Owned;
use crate::sequence::Sequence;
use crate::sync::mutated;
#[cfg(feature = "std")]
use crate::wait::wait_until;
use crate::wait::{Event, Look, Wait, WaitStrategy};

/// A reading end of a ring of owned events, made by [`EventSubscribable`](crate::event::EventSubscribable).
///
/// It sees every event from where it began, in order, each once, and by reference. Publishers wait for it. An
/// event counts as processed when the closure that got it returns or panics. So a closure that panics does
/// not get the same event again.
///
/// *A closure must not wait for room in the ring that its event comes from.* The same is true while you hold
/// a [`Ref`]. The event is not processed before the closure returns. So a `publish` that finds the ring full
/// waits for the closure that it runs in, for ever. Use
/// [`try_publish`](crate::event::EventPublisher::try_publish) or `publish_timeout`, and keep the values that
/// found no room until the closure has returned, as the example `feedback` does.
///
/// When it is dropped, also by a panic of its thread, publishers no longer wait for it.
pub struct EventSubscriber<T, M: Mode = Lossless> {
    pub(super) shared: Handle<Owned<T>, M::Seat>,
    /// The next sequence to process.
    pub(super) cursor: Sequence,
    /// Where it began.
    start: Sequence,
}

impl<T: Send + Sync, M: Mode> EventSubscriber<T, M> {
    pub(super) fn new(shared: Handle<Owned<T>, M::Seat>, start: Sequence) -> Self {
        Self { shared, cursor: start, start }
    }

    /// Hands the next event to `look`, if there is one, and returns the result of `look`. Never waits. `look`
    /// must not wait for room in this ring: see the [type](Self).
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): there is no new event or, for a stage, none that all of its upstreams
    /// have processed. [`Closed`](TryRecvError::Closed): the ring is closed and nothing is left. `look` has
    /// not run.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TryRecvError;
    ///
    /// let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// assert_eq!(subscriber.try_process(|text| text.len()), Err(TryRecvError::Empty));
    /// publisher.publish(|text| text.push('a')).unwrap();
    /// drop(publisher);
    /// assert_eq!(subscriber.try_process(|text| text.len()), Ok(1));
    /// assert_eq!(subscriber.try_process(|text| text.len()), Err(TryRecvError::Closed));
    /// ```
    #[inline]
    pub fn try_process<R>(&mut self, look: impl FnOnce(&T) -> R) -> Result<R, TryRecvError> {
        self.poll_next()?;
        Ok(self.process_next(look))
    }

    /// Hands the next event to `look`, and returns the result of `look`. Waits for the event with the
    /// [`WaitStrategy`] of the ring. `look` must not wait for room in this ring: see the [type](Self).
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// let reader = std::thread::spawn(move || {
    ///     let mut length = 0;
    ///     while let Ok(more) = subscriber.process(|text| text.len()) {
    ///         length += more;
    ///     }
    ///     length
    /// });
    /// for _ in 0..10 {
    ///     publisher.publish(|text| *text = "abc".to_owned()).unwrap();
    /// }
    /// drop(publisher);
    /// assert_eq!(reader.join().unwrap(), 30);
    /// ```
    #[inline]
    pub fn process<R>(&mut self, look: impl FnOnce(&T) -> R) -> Result<R, RecvError> {
        self.wait()?;
        Ok(self.process_next(look))
    }

    /// As [`process`](Self::process), waiting by `strategy`. `look` must not wait for room in this ring: see
    /// the [type](Self).
    ///
    /// # Errors
    ///
    /// Those of [`process`](Self::process).
    #[inline]
    pub fn process_by<R>(
        &mut self,
        strategy: WaitStrategy,
        look: impl FnOnce(&T) -> R,
    ) -> Result<R, RecvError> {
        self.wait_by(strategy)?;
        Ok(self.process_next(look))
    }

    /// As [`process`](Self::process), but gives up after `timeout` on the monotonic clock. `look` must not
    /// wait for room in this ring: see the [type](Self).
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed):
    /// the ring is closed and nothing is left.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn process_timeout<R>(
        &mut self,
        timeout: Duration,
        look: impl FnOnce(&T) -> R,
    ) -> Result<R, RecvTimeoutError> {
        self.wait_timeout(timeout)?;
        Ok(self.process_next(look))
    }

    /// As [`process_timeout`](Self::process_timeout), but gives up at `deadline`. `look` must not wait for
    /// room in this ring: see the [type](Self).
    ///
    /// # Errors
    ///
    /// Those of [`process_timeout`](Self::process_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn process_deadline<R>(
        &mut self,
        deadline: Instant,
        look: impl FnOnce(&T) -> R,
    ) -> Result<R, RecvTimeoutError> {
        self.wait_deadline(deadline)?;
        Ok(self.process_next(look))
    }

    /// Hands up to `most` events that are there now to `look`, one after the other, and returns how many they
    /// were. The flag that `look` gets is true for the last event. Publishers see all of them as processed at
    /// the end of the batch, so a batch costs less than its events one by one. Never waits.
    ///
    /// If `look` panics, all events up to the one that it got count as processed. `look` must not wait for
    /// room in this ring, because the slots of the batch are not free before its end: see the [type](Self).
    ///
    /// # Errors
    ///
    /// Those of [`try_process`](Self::try_process): there is no event at all. (With a `most` of 0, it returns
    /// `Ok(0)` if there is one.)
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(8, || 0);
    /// let mut subscriber = subscribable.subscribe();
    /// (1..=5).for_each(|i| publisher.publish(|number| *number = i).unwrap());
    /// let mut seen = Vec::new();
    /// let count = subscriber.try_process_batch(3, |number, end_of_batch| seen.push((*number, end_of_batch)));
    /// assert_eq!(count, Ok(3));
    /// assert_eq!(seen, [(1, false), (2, false), (3, true)]);
    /// ```
    pub fn try_process_batch(
        &mut self,
        most: usize,
        look: impl FnMut(&T, bool),
    ) -> Result<usize, TryRecvError> {
        self.poll_next()?;
        Ok(self.process_there(most, look))
    }

    /// As [`try_process_batch`](Self::try_process_batch), but waits with the [`WaitStrategy`] of the ring
    /// until there is an event. `look` must not wait for room in this ring: see the [type](Self).
    ///
    /// # Errors
    ///
    /// Those of [`process`](Self::process).
    pub fn process_batch(&mut self, most: usize, look: impl FnMut(&T, bool)) -> Result<usize, RecvError> {
        self.wait()?;
        Ok(self.process_there(most, look))
    }

    /// As [`process_batch`](Self::process_batch), waiting by `strategy`. `look` must not wait for room in
    /// this ring: see the [type](Self).
    ///
    /// # Errors
    ///
    /// Those of [`process`](Self::process).
    pub fn process_batch_by(
        &mut self,
        strategy: WaitStrategy,
        most: usize,
        look: impl FnMut(&T, bool),
    ) -> Result<usize, RecvError> {
        self.wait_by(strategy)?;
        Ok(self.process_there(most, look))
    }

    /// As [`process_batch`](Self::process_batch), but gives up after `timeout` on the monotonic clock. `look`
    /// must not wait for room in this ring: see the [type](Self).
    ///
    /// # Errors
    ///
    /// Those of [`process_timeout`](Self::process_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn process_batch_timeout(
        &mut self,
        timeout: Duration,
        most: usize,
        look: impl FnMut(&T, bool),
    ) -> Result<usize, RecvTimeoutError> {
        self.wait_timeout(timeout)?;
        Ok(self.process_there(most, look))
    }

    /// As [`process_batch_timeout`](Self::process_batch_timeout), but gives up at `deadline`. `look` must not
    /// wait for room in this ring: see the [type](Self).
    ///
    /// # Errors
    ///
    /// Those of [`process_timeout`](Self::process_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn process_batch_deadline(
        &mut self,
        deadline: Instant,
        most: usize,
        look: impl FnMut(&T, bool),
    ) -> Result<usize, RecvTimeoutError> {
        self.wait_deadline(deadline)?;
        Ok(self.process_there(most, look))
    }

    /// The next event, if there is one. It stays the next event until [`Ref::pass`] is called. Never waits.
    /// `None` also if the ring is closed and drained; [`wait`](Self::wait) tells the difference. Do not wait
    /// for room in this ring while you hold the result: see the [type](Self).
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, || 0);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(|number| *number = 7).unwrap();
    /// assert_eq!(subscriber.peek().as_deref(), Some(&7));
    /// let event = subscriber.peek().unwrap(); // still there
    /// event.pass();
    /// assert!(subscriber.peek().is_none());
    /// ```
    #[inline]
    pub fn peek(&mut self) -> Option<Ref<'_, T, M>> {
        self.poll_next().ok()?;
        Some(Ref { subscriber: self })
    }

    /// Waits with the [`WaitStrategy`] of the ring until there is an event. Then [`peek`](Self::peek) and the
    /// other verbs find it.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, || 0);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(|number| *number = 7).unwrap();
    /// subscriber.wait()?;
    /// assert_eq!(*subscriber.peek().unwrap(), 7);
    /// # Ok::<(), annulus::RecvError>(())
    /// ```
    #[inline]
    pub fn wait(&mut self) -> Result<(), RecvError> {
        self.wait_as(None)
    }

    /// As [`wait`](Self::wait), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`wait`](Self::wait).
    #[inline]
    pub fn wait_by(&mut self, strategy: WaitStrategy) -> Result<(), RecvError> {
        self.wait_as(Some(strategy))
    }

    /// Waits by `strategy`, or by that of the ring, which is looked up only if it has to wait.
    #[inline(always)]
    fn wait_as(&mut self, strategy: Option<WaitStrategy>) -> Result<(), RecvError> {
        match self.poll_next() {
            Ok(()) => Ok(()),
            Err(_) => wait_without_deadline(self, strategy.unwrap_or(self.shared.strategy)),
        }
    }

    /// As [`wait`](Self::wait), but gives up after `timeout` on the monotonic clock.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed):
    /// the ring is closed and nothing is left.
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn wait_timeout(&mut self, timeout: Duration) -> Result<(), RecvTimeoutError> {
        self.wait_timed(Instant::now().checked_add(timeout))
    }

    /// As [`wait_timeout`](Self::wait_timeout), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Those of [`wait_timeout`](Self::wait_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn wait_deadline(&mut self, deadline: Instant) -> Result<(), RecvTimeoutError> {
        self.wait_timed(Some(deadline))
    }

    #[cfg(feature = "std")]
    fn wait_timed(&mut self, deadline: Option<Instant>) -> Result<(), RecvTimeoutError> {
        in_time(wait_until(self, self.shared.strategy, deadline))
    }

    /// How many events could be processed now. With many publishers, only events before the first one that is
    /// still being published count.
    #[doc(alias = "pending")]
    #[must_use]
    pub fn len(&self) -> usize {
        let head = self.shared.ring.frontier(self.cursor).head;
        M::end(self.shared.role(), head).since(self.cursor) as usize
    }

    /// Whether no event could be processed now: [`len`](Self::len) is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The sequence number of the event that comes next. The events of a ring are numbered from 0.
    #[inline]
    #[must_use]
    pub fn cursor(&self) -> u64 {
        self.cursor.get()
    }

    /// How many events this subscriber has processed.
    #[inline]
    #[must_use]
    pub fn total_received(&self) -> u64 {
        self.cursor.since(self.start)
    }

    /// How many events the ring has: the number given to its constructor.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.shared.ring.capacity()
    }

    /// Whether all publishers are gone, or somebody has closed the ring. Events may still be left to process.
    /// A message that is being published may still come, too: only `Closed` from a receive is the end.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    /// Whether the event at the cursor is there.
    #[inline]
    pub(super) fn poll_next(&mut self) -> Result<(), TryRecvError> {
        let cursor = self.cursor;
        let admitted = M::admits(self.shared.role_mut().0, cursor);
        let shared = &self.shared;
        // SAFETY: the handle keeps the ring alive.
        if admitted && unsafe { shared.slots().is_there(cursor) } {
            return Ok(());
        }
        if unlikely(shared.may_be_closed()) && shared.is_drained(cursor) {
            return Err(TryRecvError::Closed);
        }
        Err(TryRecvError::Empty)
    }

    /// Hands the next event, which is there, to `look`. It is processed afterwards, also if `look` panics.
    #[inline]
    fn process_next<R>(&mut self, look: impl FnOnce(&T) -> R) -> R {
        let mut passing = Passing { subscriber: self, count: 0 };
        look(passing.next())
    }

    /// Hands up to `most` events to `look`, the first of which is there.
    fn process_there(&mut self, most: usize, mut look: impl FnMut(&T, bool)) -> usize {
        self.process_while(most, |event, end_of_batch| {
            look(event, end_of_batch);
            ControlFlow::Continue(())
        })
    }

    /// As [`process_there`](Self::process_there), until `look` breaks it off. The event at which it does so
    /// counts as processed.
    pub(super) fn process_while(
        &mut self,
        most: usize,
        mut look: impl FnMut(&T, bool) -> ControlFlow<()>,
    ) -> usize {
        let count = self.there(most);
        let mut passing = Passing { subscriber: self, count: 0 };
        for left in (0..count).rev() {
            if look(passing.next(), left == 0).is_break() {
                break;
            }
        }
        passing.count as usize
    }

    /// How many events from the cursor on are there, up to `most`.
    pub(super) fn there(&self, most: usize) -> usize {
        let most = most.min(self.capacity());
        let end = M::end(self.shared.role(), self.cursor.plus(most as u64));
        let most = end.since(self.cursor) as usize;
        // SAFETY: the handle keeps the ring alive.
        let is_there =
            |count: &usize| unsafe { self.shared.slots().is_there(self.cursor.plus(*count as u64)) };
        (0..most).take_while(is_there).count()
    }

    /// Passes `count` events.
    #[inline]
    fn pass(&mut self, count: u64) {
        self.cursor = self.cursor.plus(count);
        let cursor = self.cursor;
        let (seat, shared) = self.shared.role_mut();
        M::advance(seat, shared, cursor);
        // Where it is done with an event it has processed it.
        M::begin(seat, shared, cursor);
    }
}

/// Events that a closure is processing. They count as processed when this is dropped, also by a panic.
struct Passing<'a, T: Send + Sync, M: Mode> {
    subscriber: &'a mut EventSubscriber<T, M>,
    count: u64,
}

impl<T: Send + Sync, M: Mode> Passing<'_, T, M> {
    /// The next event, which was found to be there.
    #[inline]
    fn next(&mut self) -> &T {
        let sequence = self.subscriber.cursor.plus(self.count);
        if mutated!("event_passed_before_it_is_read") {
            self.subscriber.pass(1);
        } else {
            self.count += 1;
        }
        // SAFETY: the handle keeps the ring alive, `poll_next` or `there` found the event there, and the
        // cursor in the gate moves on only when `self`, which the reference borrows, is dropped.
        unsafe { self.subscriber.shared.slots().value(sequence) }
    }
}

impl<T: Send + Sync, M: Mode> Drop for Passing<'_, T, M> {
    #[inline]
    fn drop(&mut self) {
        self.subscriber.pass(self.count);
    }
}

/// The next event of an [`EventSubscriber`], made by [`peek`](EventSubscriber::peek); derefs to it.
///
/// Dropping it changes nothing: the event stays the next one. [`pass`](Self::pass) goes on to the next event.
pub struct Ref<'a, T: Send + Sync, M: Mode = Lossless> {
    subscriber: &'a mut EventSubscriber<T, M>,
}

impl<T: Send + Sync, M: Mode> Ref<'_, T, M> {
    /// Declares the event as processed. Publishers may use its slot again, and the subscriber goes on to the
    /// next event.
    #[inline]
    pub fn pass(self) {
        self.subscriber.pass(1);
    }
}

impl<T: Send + Sync, M: Mode> Deref for Ref<'_, T, M> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: the handle keeps the ring alive, `peek` found the event there, and the cursor in the gate
        // moves on only by `pass`, which takes `self`, or by the subscriber, which `self` borrows.
        unsafe { self.subscriber.shared.slots().value(self.subscriber.cursor) }
    }
}

impl<T: Send + Sync + fmt::Debug, M: Mode> fmt::Debug for Ref<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Send + Sync, M: Mode> Wait for EventSubscriber<T, M> {
    type Found = Result<(), RecvError>;

    fn event(&self) -> &Event {
        M::event(self.shared.role(), &self.shared, self.cursor)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        match self.poll_next() {
            Ok(()) => Look::Found(Ok(())),
            Err(TryRecvError::Closed) => Look::Found(Err(RecvError)),
            Err(TryRecvError::Empty) => Look::Nothing,
        }
    }
}

/// Stages, like those of a [`Subscriber`](crate::broadcast::Subscriber::after), but an event is processed
/// when its closure returns.
impl<T: Send + Sync, M: Mode> EventSubscriber<T, M> {
    /// Turns the subscriber into a stage. A stage sees an event only after all of `upstreams` have processed
    /// it, and other subscribers can follow the stage in turn. An upstream that is dropped no longer counts.
    /// A stage can't be cloned: clone the subscriber before.
    ///
    /// # Panics
    ///
    /// If an upstream belongs to another ring. [`try_after`](Self::try_after) returns an error instead.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(8, String::new);
    /// let mut first = subscribable.subscribe_tracked();
    /// let mut second = subscribable.subscribe().after(&[&first]);
    /// publisher.publish(|text| text.push('a')).unwrap();
    /// assert!(second.try_process(|_| ()).is_err());
    /// assert_eq!(first.try_process(|text| text.len()), Ok(1));
    /// assert_eq!(second.try_process(|text| text.len()), Ok(1));
    /// ```
    #[must_use]
    #[track_caller]
    pub fn after(self, upstreams: &[&dyn Upstream]) -> EventSubscriber<T, Staged<M>>
    where
        M: Unstaged,
    {
        self.try_after(upstreams).unwrap_or_else(|error| panic!("EventSubscriber::after: {error}"))
    }

    /// Like [`after`](Self::after), but returns an error instead of a panic. The subscriber is then dropped,
    /// and holds nobody up.
    ///
    /// # Errors
    ///
    /// [`UpstreamError`] says which upstream can't be followed, and why.
    pub fn try_after(
        self,
        upstreams: &[&dyn Upstream],
    ) -> Result<EventSubscriber<T, Staged<M>>, UpstreamError>
    where
        M: Unstaged,
    {
        // Not `try_new`: which of them is of another ring is told by this one, not by the first of them.
        self.try_after_barrier(&DependencyBarrier::of(upstreams))
    }

    /// As [`after`](Self::after), for upstreams that several subscribers follow.
    ///
    /// # Panics
    ///
    /// As [`after`](Self::after).
    #[must_use]
    #[track_caller]
    pub fn after_barrier(self, barrier: &DependencyBarrier) -> EventSubscriber<T, Staged<M>>
    where
        M: Unstaged,
    {
        self.try_after_barrier(barrier).unwrap_or_else(|error| panic!("EventSubscriber::after: {error}"))
    }

    /// Like [`after_barrier`](Self::after_barrier), but returns an error instead of a panic.
    ///
    /// # Errors
    ///
    /// Those of [`try_after`](Self::try_after).
    pub fn try_after_barrier(
        self,
        barrier: &DependencyBarrier,
    ) -> Result<EventSubscriber<T, Staged<M>>, UpstreamError>
    where
        M: Unstaged,
    {
        let Self { shared, cursor, start } = self;
        Ok(EventSubscriber { shared: stage::<M, _>(shared, cursor, barrier)?, cursor, start })
    }
}

impl<T: Send + Sync, M: Unstaged> Tracked for EventSubscriber<T, Staged<M>> {
    fn progress(&self) -> &StageProgress {
        self.shared.role().progress()
    }
}

impl<T: Send + Sync, M: Unstaged> Upstream for EventSubscriber<T, Staged<M>> {}

impl<T: Send + Sync, M: Unstaged> Clone for EventSubscriber<T, M> {
    /// A subscriber with the same cursor, and counters at zero. (A stage can't be cloned: its followers would
    /// not follow the clone.)
    fn clone(&self) -> Self {
        let seat = M::fork(self.shared.role(), &self.shared, self.cursor);
        Self::new(self.shared.another(seat), self.cursor)
    }
}

impl<T: Send + Sync, M: Mode> fmt::Debug for EventSubscriber<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventSubscriber")
            .field("cursor", &self.cursor())
            .field("received", &self.total_received())
            .finish_non_exhaustive()
    }
}
