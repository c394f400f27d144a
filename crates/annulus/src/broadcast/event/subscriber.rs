//! [`Subscriber`]: one reader of owned events.
//!
//! Its cursor in the gate moves on only when it is done with an event, so nobody changes what it reads.

use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::ops::{ControlFlow, Deref};
#[cfg(feature = "std")]
use std::time::Duration;

use crate::base::sequence::Sequence;
use crate::broadcast::handle::Handle;
use crate::broadcast::mode::{Lossless, Mode, Unstaged};
use crate::broadcast::process::{process_batch_in_other_ways, process_in_other_ways};
use crate::broadcast::progress::{DependencyBarrier, StageProgress, Upstream};
use crate::broadcast::stage::{Staged, after_others, stage};
use crate::broadcast::subscriber::wait_without_deadline;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError, UpstreamError, in_time};
use crate::observer::observable;
use crate::receive::{Numbered, ReceiveRef, Waitable};
use crate::ring::Owned;
use crate::stats::OwnStats;
use crate::sync::{AtomicU64, seeded, unlikely};
#[cfg(feature = "async")]
use crate::wait::Waiting;
#[cfg(feature = "std")]
use crate::wait::{Armed, Choice};
use crate::wait::{EndMark, EventCount, Look, Poll, Source, Until, WaitStrategy, own_strategy, wait_until};

/// A reading end of a ring of owned events, made by [`Subscribable`](crate::event::Subscribable).
///
/// It sees every event from where it began, in order, each once, and by reference. Publishers wait for it. An
/// event counts as processed when the closure that got it returns or panics. So a closure that panics does
/// not get the same event again.
///
/// *A closure must not wait for room in the ring that its event comes from.* The same is true while you hold
/// a [`Ref`]. The event is not processed before the closure returns. So a `publish` that finds the ring full
/// waits for the closure that it runs in, for ever. Use
/// [`try_publish`](crate::event::Publisher::try_publish) or `publish_timeout`, and keep the values that
/// found no room until the closure has returned, as the example `feedback` does.
///
/// When it is dropped, also by a panic of its thread, publishers no longer wait for it.
#[doc(alias = "SingleConsumerBarrier")]
#[doc(alias = "EventPoller")]
pub struct Subscriber<T, M: Mode = Lossless> {
    pub(in crate::broadcast) shared: Handle<Owned<T>, M::Role>,
    /// The next sequence to process.
    pub(super) cursor: Sequence,
    /// Where it began.
    start: Sequence,
    /// How it waits, if not as its ring. Only slow paths look at it.
    strategy: Option<WaitStrategy>,
}

impl<T: Send + Sync, M: Mode> Subscriber<T, M> {
    pub(super) fn new(shared: Handle<Owned<T>, M::Role>, start: Sequence) -> Self {
        Self { shared, cursor: start, start, strategy: None }
    }

    /// The same subscriber in another mode, if `change` allows it: at its cursor, with its counters.
    pub(super) fn try_becoming<Q: Mode, E>(
        self,
        change: impl FnOnce(Handle<Owned<T>, M::Role>, Sequence) -> Result<Handle<Owned<T>, Q::Role>, E>,
    ) -> Result<Subscriber<T, Q>, E> {
        let Self { shared, cursor, start, strategy } = self;
        Ok(Subscriber { shared: change(shared, cursor)?, cursor, start, strategy })
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
        self.process_after(look, Self::poll_next)
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
    #[doc(alias = "EventGuard")]
    #[inline]
    pub fn process<R>(&mut self, look: impl FnOnce(&T) -> R) -> Result<R, RecvError> {
        self.process_after(look, Self::wait)
    }

    process_in_other_ways! { see: "see the [type](Self).", wait_until }

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
    #[doc(alias = "Polling")]
    #[doc(alias = "new_event_poller")]
    #[doc(alias = "poll")]
    #[doc(alias = "take")]
    pub fn try_process_batch(
        &mut self,
        most: usize,
        look: impl FnMut(&T, bool),
    ) -> Result<usize, TryRecvError> {
        self.process_batch_after(most, look, Self::poll_next)
    }

    /// As [`try_process_batch`](Self::try_process_batch), but waits with the [`WaitStrategy`] of the ring
    /// until there is an event. `look` must not wait for room in this ring: see the [type](Self).
    ///
    /// # Errors
    ///
    /// Those of [`process`](Self::process).
    pub fn process_batch(&mut self, most: usize, look: impl FnMut(&T, bool)) -> Result<usize, RecvError> {
        self.process_batch_after(most, look, Self::wait)
    }

    process_batch_in_other_ways! { see: "see the [type](Self).", wait_until }

    /// The next event, which `wait` brings.
    #[inline(always)]
    fn process_after<R, E>(
        &mut self,
        look: impl FnOnce(&T) -> R,
        wait: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<R, E> {
        wait(self)?;
        Ok(self.process_next(look))
    }

    /// A batch whose first event `wait` brings.
    #[inline(always)]
    fn process_batch_after<E>(
        &mut self,
        most: usize,
        look: impl FnMut(&T, bool),
        wait: impl FnOnce(&mut Self) -> Result<(), E>,
    ) -> Result<usize, E> {
        wait(self)?;
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
}

// The way of an event.
impl<T: Send + Sync, M: Mode> Subscriber<T, M> {
    /// Whether the event at the cursor is there.
    #[inline]
    pub(super) fn poll_next(&mut self) -> Result<(), TryRecvError> {
        let cursor = self.cursor;
        self.shared.begin(cursor);
        let admitted = self.shared.admits(cursor);
        let shared = &self.shared;
        // SAFETY: the handle keeps the ring alive.
        if admitted && unsafe { shared.slots.is_there(cursor) } {
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
    pub(super) fn process_there(&mut self, most: usize, mut look: impl FnMut(&T, bool)) -> usize {
        self.process_while::<false>(most, |event, end_of_batch| {
            look(event, end_of_batch);
            ControlFlow::Continue(())
        })
    }

    /// As [`process_there`](Self::process_there), until `look` breaks it off. The event at which it does so
    /// counts as processed. In a stage, each event counts as processed when `look` returns from it, if
    /// `ONE_BY_ONE`, and otherwise at the end of the batch.
    pub(super) fn process_while<const ONE_BY_ONE: bool>(
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
            if ONE_BY_ONE {
                passing.tell();
            }
        }
        passing.count as usize
    }

    /// How many events from the cursor on are there, up to `most`.
    pub(super) fn there(&self, most: usize) -> usize {
        let most = most.min(self.capacity());
        let end = self.shared.end_before(self.cursor.plus(most as u64));
        let most = end.since(self.cursor) as usize;
        // SAFETY: the handle keeps the ring alive.
        let is_there = |count: &usize| unsafe { self.shared.slots.is_there(self.cursor.plus(*count as u64)) };
        (0..most).take_while(is_there).count()
    }

    /// Passes `count` events, and has processed them.
    #[inline]
    fn pass(&mut self, count: u64) {
        self.advance(count);
        self.tell(self.cursor);
    }

    /// Passes `count` events. Publishers may use their slots again.
    #[inline]
    fn advance(&mut self, count: u64) {
        self.cursor = self.cursor.plus(count);
        M::advance(self.shared.role(), &self.shared, self.cursor);
    }

    /// It has processed the events before `end`.
    #[inline]
    fn tell(&mut self, end: Sequence) {
        self.shared.begin(end);
    }

    /// A clone of the next event, which is there. It counts as processed at the next look.
    #[inline]
    pub(super) fn take_in_hand(&mut self) -> T
    where
        T: Clone,
    {
        let event = T::clone(&Ref { subscriber: self });
        self.advance(1);
        event
    }
}

/// Events that a closure is processing. They count as processed when this is dropped, also by a panic.
struct Passing<'a, T: Send + Sync, M: Mode> {
    subscriber: &'a mut Subscriber<T, M>,
    count: u64,
}

impl<T: Send + Sync, M: Mode> Passing<'_, T, M> {
    /// The next event, which was found to be there.
    #[inline]
    fn next(&mut self) -> &T {
        let sequence = self.subscriber.cursor.plus(self.count);
        if seeded!("event_passed_before_it_is_read") {
            self.subscriber.pass(1);
        } else {
            self.count += 1;
        }
        // SAFETY: the handle keeps the ring alive, `poll_next` or `there` found the event there, and the
        // cursor in the gate moves on only when `self`, which the reference borrows, is dropped.
        unsafe { self.subscriber.shared.slots.value(sequence) }
    }

    /// Stages behind may see the events so far. Publishers may not use their slots before `self` is dropped.
    #[inline]
    fn tell(&mut self) {
        let end = self.subscriber.cursor.plus(self.count);
        self.subscriber.tell(end);
    }
}

impl<T: Send + Sync, M: Mode> Drop for Passing<'_, T, M> {
    #[inline]
    fn drop(&mut self) {
        self.subscriber.pass(self.count);
    }
}

/// The next event of an [`Subscriber`], made by [`peek`](Subscriber::peek); derefs to it.
///
/// Dropping it changes nothing: the event stays the next one. [`pass`](Self::pass) goes on to the next event.
pub struct Ref<'a, T, M: Mode = Lossless> {
    subscriber: &'a mut Subscriber<T, M>,
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
        unsafe { self.subscriber.shared.slots.value(self.subscriber.cursor) }
    }
}

impl<T: Send + Sync + fmt::Debug, M: Mode> fmt::Debug for Ref<'_, T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

// Waiting for an event.
impl<T: Send + Sync, M: Mode> Subscriber<T, M> {
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
        if self.poll_next().is_ok() {
            return Ok(());
        }
        let strategy = self.wait_strategy();
        wait_without_deadline(self, strategy)
    }

    /// As [`wait`](Self::wait), but gives up after `timeout` on the monotonic clock.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed):
    /// the ring is closed and nothing is left.
    #[cfg(feature = "std")]
    pub fn wait_timeout(&mut self, timeout: Duration) -> Result<(), RecvTimeoutError> {
        self.wait_until(timeout)
    }

    /// As [`wait`](Self::wait), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`wait`](Self::wait).
    #[inline]
    pub fn wait_until(&mut self, until: impl Into<Until>) -> Result<(), RecvTimeoutError> {
        if self.poll_next().is_ok() {
            return Ok(());
        }
        let until = until.into();
        let strategy = until.strategy_or(|| self.wait_strategy());
        in_time(wait_until(self, strategy, until.deadline()))
    }
}

impl<T: Send + Sync, M: Mode> Poll for Subscriber<T, M> {
    type Found = Result<(), RecvError>;

    fn wait_point(&self) -> &EventCount {
        self.shared.wait_point(self.cursor)
    }

    fn watched(&self) -> Option<&AtomicU64> {
        self.shared.watched(self.cursor)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        self.poll_next().into()
    }
}

impl<T: Send + Sync, M: Mode> Subscriber<T, M> {
    /// How many events could be processed now. With many publishers, only events before the first one that is
    /// still being published count.
    #[doc(alias = "pending")]
    #[must_use]
    pub fn len(&self) -> usize {
        let head = self.shared.frontier(self.cursor).head;
        self.shared.end_before(head).since(self.cursor) as usize
    }

    /// Whether no event could be processed now: [`len`](Self::len) is 0.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// History: begins with the last `count` events that were published, and returns how many these are. For
    /// a subscriber that has just joined with the oldest event; see
    /// [`broadcast::Subscriber::begin_with_last`](crate::broadcast::Subscriber::begin_with_last).
    pub fn begin_with_last(&mut self, count: usize) -> usize {
        let (begin, there) = self.shared.last(self.shared.start(self.cursor), count);
        if begin > self.cursor {
            self.start = self.start.plus(begin.since(self.cursor));
            self.cursor = begin;
            self.shared.skipped(begin);
            M::advance(self.shared.role(), &self.shared, begin);
        }
        there
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
        self.shared.capacity()
    }

    /// Whether all publishers are gone, or somebody has closed the ring. Events may still be left to process.
    /// A message that is being published may still come, too: only `Closed` from a receive is the end.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_closed()
    }

    own_strategy! {
        make: "let mut reader = annulus::event::channel(8, || 0).1.subscribe();",
        |handle| ring: handle.shared.strategy
    }

    observable! {
        where T: 'static,
        |handle| stats: crate::stats::Stats { own: Some(handle.own_stats()), ..handle.shared.stats() },
        observer: handle.shared.observer()
    }

    fn own_stats(&self) -> OwnStats {
        let (position, received) = (self.cursor(), self.total_received());
        OwnStats { position, received, lagged: 0, corrupt: 0, pending: self.len() as u64 }
    }
}

// SAFETY: the eventcounts are in the ring's shared state, which the subscriber's handle keeps alive.
unsafe impl<T: Send + Sync, M: Mode> Source for Subscriber<T, M> {
    fn wait_point(&self) -> &EventCount {
        Poll::wait_point(self)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Poll::watched(self)
    }

    fn is_ready(&mut self) -> bool {
        !matches!(self.poll(), Look::Nothing)
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }

    fn is_staged(&self) -> bool {
        self.shared.is_stage()
    }

    fn has_more(&mut self) -> bool {
        self.there(1) > 0
    }

    fn mark(&mut self) -> EndMark {
        EndMark::at(self.shared.end_before(self.shared.end_of_published(self.cursor)).get())
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        mark.is_passed(|_, end| self.cursor() >= end)
    }

    fn left(&self) -> Option<u64> {
        Some(self.len() as u64)
    }
}

impl<T: Send + Sync, M: Mode> ReceiveRef for Subscriber<T, M> {
    type Item = T;

    fn lend(
        &mut self,
        most: usize,
        mut look: impl FnMut(&T, u64, bool) -> ControlFlow<()>,
    ) -> Look<Result<(), RecvError>> {
        let mut sequences = self.cursor()..;
        let look = |event: &T, end_of_batch| {
            let sequence = sequences.start;
            sequences.start += 1;
            look(event, sequence, end_of_batch)
        };
        self.poll_next().map(|()| _ = self.process_while::<true>(most, look)).into()
    }
}

impl<T: Send + Sync, M: Mode> Waitable for Subscriber<T, M> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Send + Sync, M: Mode> Numbered for Subscriber<T, M> {
    fn next_sequence(&self) -> u64 {
        self.cursor.get()
    }
}

/// Until an event is there.
#[cfg(any(feature = "std", feature = "async"))]
pub(super) struct There<'s, T: Send + Sync, M: Mode>(pub(super) &'s mut Subscriber<T, M>);

#[cfg(any(feature = "std", feature = "async"))]
impl<T: Send + Sync, M: Mode> Poll for There<'_, T, M> {
    type Found = Result<(), RecvError>;

    fn wait_point(&self) -> &EventCount {
        Poll::wait_point(self.0)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Poll::watched(self.0)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        self.0.poll()
    }
}

/// Once an event is there, or at once if it does not wait for one: `then`, in the same look.
#[cfg(feature = "async")]
pub(super) struct Then<'s, T, M: Mode, F> {
    pub(super) subscriber: &'s mut Subscriber<T, M>,
    pub(super) waits: bool,
    /// `None` once it has run.
    pub(super) last: Option<F>,
}

#[cfg(feature = "async")]
impl<'s, T: Send + Sync, M: Mode, R, F: FnOnce(&mut Subscriber<T, M>) -> R> Then<'s, T, M, F> {
    pub(super) fn once_there(subscriber: &'s mut Subscriber<T, M>, waits: bool, then: F) -> Waiting<Self> {
        // SAFETY: the eventcounts are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Waiting::new(Self { subscriber, waits, last: Some(then) }) }
    }
}

#[cfg(feature = "async")]
impl<T: Send + Sync, M: Mode, R, F: FnOnce(&mut Subscriber<T, M>) -> R> Poll for Then<'_, T, M, F> {
    type Found = Result<R, RecvError>;

    fn wait_point(&self) -> &EventCount {
        Poll::wait_point(self.subscriber)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Poll::watched(self.subscriber)
    }

    fn poll(&mut self) -> Look<Self::Found> {
        let look = if self.waits { self.subscriber.poll_next() } else { Ok(()) };
        // It is there, and stays there.
        look.map(|()| (self.last.take().expect("polled after its end"))(self.subscriber)).into()
    }
}

/// Stages, like the stages of a [`Subscriber`](crate::broadcast::Subscriber::after), but an event is
/// processed when its closure returns.
impl<T: Send + Sync, M: Mode> Subscriber<T, M> {
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
    #[doc(alias = "and_then")]
    #[doc(alias = "new_branch")]
    #[doc(alias = "join")]
    #[must_use]
    #[track_caller]
    pub fn after(self, upstreams: &[&dyn Upstream]) -> Subscriber<T, Staged<M>>
    where
        M: Unstaged,
    {
        self.try_after(upstreams).unwrap_or_else(|error| panic!("Subscriber::after: {error}"))
    }

    after_others!(Subscriber);
}

#[allow(private_interfaces, reason = "this is what seals `Upstream`")]
impl<T: Send + Sync, M: Unstaged> Upstream for Subscriber<T, Staged<M>> {
    fn progress(&self) -> &StageProgress {
        self.shared.role().progress()
    }
}

#[cfg(feature = "async")]
impl<T: Send + Sync, M: Mode> Subscriber<T, M> {
    /// Waits until there is an event, like [`wait`](Self::wait), in a task: the task waits, not its thread.
    /// Then [`peek`](Self::peek) and the other verbs find it.
    ///
    /// *Cancel safety*: it processes nothing, so nothing is lost if the future is dropped.
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
    /// pollster::block_on(subscriber.wait_async())?;
    /// assert_eq!(*subscriber.peek().unwrap(), 7);
    /// # Ok::<(), annulus::RecvError>(())
    /// ```
    pub fn wait_async(&mut self) -> impl Future<Output = Result<(), RecvError>> + Send + Unpin {
        // SAFETY: the eventcounts are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Waiting::new(There(self)) }
    }

    /// Hands the next event to `look`, like [`process`](Self::process), in a task: the task waits, not its
    /// thread. `look` must not wait for room in this ring: see the [type](Self).
    ///
    /// *Cancel safety*: a future that is dropped has processed nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `look` has not run.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// publisher.publish(|text| text.push_str("abc")).unwrap();
    /// assert_eq!(pollster::block_on(subscriber.process_async(|text| text.len())), Ok(3));
    /// ```
    pub fn process_async<R>(
        &mut self,
        look: impl FnOnce(&T) -> R,
    ) -> impl Future<Output = Result<R, RecvError>> + Unpin {
        Then::once_there(self, true, |subscriber| subscriber.process_next(look))
    }

    /// Hands up to `most` events to `look`, like [`process_batch`](Self::process_batch), in a task: the task
    /// waits until there is an event, not its thread. `look` must not wait for room in this ring: see the
    /// [type](Self).
    ///
    /// *Cancel safety*: a future that is dropped has processed nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the ring is closed and nothing is left. `look` has not run.
    ///
    /// # Examples
    ///
    /// ```
    /// let (mut publisher, subscribable) = annulus::event::channel(4, String::new);
    /// let mut subscriber = subscribable.subscribe();
    /// ["a", "b"].into_iter().for_each(|text| publisher.send(text.to_owned()).unwrap());
    /// let mut seen = String::new();
    /// let look = |text: &String, is_last: bool| seen.push_str(if is_last { "." } else { text });
    /// assert_eq!(pollster::block_on(subscriber.process_batch_async(8, look)), Ok(2));
    /// assert_eq!(seen, "a.");
    /// ```
    pub fn process_batch_async(
        &mut self,
        most: usize,
        look: impl FnMut(&T, bool),
    ) -> impl Future<Output = Result<usize, RecvError>> + Unpin {
        Then::once_there(self, true, move |subscriber| subscriber.process_there(most, look))
    }
}

#[cfg(feature = "std")]
impl<T: Send + Sync, M: Mode> Subscriber<T, M> {
    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn wait_in_select(&mut self) -> impl Choice<Found = Result<(), RecvError>> {
        // SAFETY: the eventcounts are in the ring's shared state, which the subscriber's handle keeps alive.
        unsafe { Armed::new(There(self), |there| there.0.wait_strategy(), |_, found| found) }
    }
}

impl<T: Send + Sync, M: Unstaged> Clone for Subscriber<T, M> {
    /// A subscriber with the same cursor, and counters at zero. (A stage can't be cloned: its followers would
    /// not follow the clone.)
    fn clone(&self) -> Self {
        let role = M::fork(self.shared.role(), &self.shared, self.cursor);
        Self { strategy: self.strategy, ..Self::new(self.shared.another(role), self.cursor) }
    }
}

impl<T: Send + Sync, M: Mode> fmt::Debug for Subscriber<T, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Subscriber")
            .field("cursor", &self.cursor())
            .field("received", &self.total_received())
            .finish_non_exhaustive()
    }
}
