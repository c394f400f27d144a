//! [`Receiver`]: the verbs that read the value, and wait for a new one; and the receiver as what one can wait
//! at.

use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use std::time::Duration;

use super::state::{Ref, WatchState};
use crate::Closer;
use crate::base::common::Common;
use crate::error::{RecvError, RecvTimeoutError, TryRecvError, in_time};
use crate::receive::{Receive, Waitable, iterates};
use crate::sync::AtomicU64;
use crate::wait::{
    Armed, Choice, EndMark, EventCount, Look, Poll, Source, Until, WaitStrategy, own_strategy, wait_until,
};

/// The side of a [channel](super) that reads the value. It remembers which value it has seen last. It may be
/// cloned; a clone has seen what the original has.
pub struct Receiver<T> {
    shared: Common<WatchState<T>>,
    /// The version that it has seen.
    seen: u64,
    strategy: WaitStrategy,
}

impl<T: Send + Sync> Receiver<T> {
    /// One that has been counted, and has seen what is there.
    pub(super) fn new(shared: Common<WatchState<T>>) -> Self {
        let seen = shared.version().number();
        Self { shared, seen, strategy: WaitStrategy::default() }
    }

    /// The value. It does not count as seen by that. Waits for a sender that is changing it, and for nobody
    /// else. See [`Ref`].
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::watch::channel(String::from("old"));
    /// sender.send("new".to_owned()).unwrap();
    /// assert_eq!(receiver.borrow().len(), 3);
    /// assert_eq!(receiver.has_changed(), Ok(true));
    /// ```
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.borrow(Some(self.seen))
    }

    /// As [`borrow`](Self::borrow), and the value counts as seen from now on.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::watch::channel(1);
    /// sender.send(2).unwrap();
    /// assert_eq!(*receiver.borrow_and_update(), 2);
    /// assert_eq!(receiver.has_changed(), Ok(false));
    /// ```
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let value = self.shared.borrow(Some(self.seen));
        self.seen = value.version();
        value
    }

    /// The value of this moment counts as not seen.
    ///
    /// ```
    /// let (_sender, mut receiver) = annulus::watch::channel(1);
    /// receiver.mark_changed();
    /// assert!(receiver.changed().is_ok()); // at once
    /// ```
    pub fn mark_changed(&mut self) {
        // No version of the past. (Their numbers are even.)
        self.seen = u64::MAX;
    }

    /// The value of this moment counts as seen.
    pub fn mark_unchanged(&mut self) {
        self.seen = self.shared.version().number();
    }

    /// Waits until there is a value that this receiver has not seen, and counts it as seen. Returns at once
    /// if there is one. Waits with the [strategy](Self::set_wait_strategy) of the receiver:
    /// [`WaitStrategy::default`] at first.
    ///
    /// A receiver that is slow is told once of several changes. A borrow that follows reads the newest value;
    /// where that came after this call, the next one returns at once.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: all senders are gone, or the channel was closed, and the last value was seen. It can
    /// still be borrowed.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::watch::channel("old");
    /// let thread = std::thread::spawn(move || sender.send("new"));
    /// assert_eq!(receiver.changed(), Ok(()));
    /// assert_eq!(*receiver.borrow(), "new");
    /// thread.join().unwrap().unwrap(); // the sender is gone
    /// assert_eq!(receiver.changed(), Err(annulus::RecvError::CLOSED));
    /// ```
    pub fn changed(&mut self) -> Result<(), RecvError> {
        let strategy = self.strategy;
        wait_until(&mut NewValue(self), strategy, None).unwrap_or(Err(RecvError::CLOSED))
    }

    /// As [`changed`](Self::changed), but gives up after `timeout` on the monotonic clock. A timeout that is
    /// too long for the clock means no timeout.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing changed in time.
    /// [`Closed`](RecvTimeoutError::Closed): as [`changed`](Self::changed).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::RecvTimeoutError;
    /// use std::time::Duration;
    ///
    /// let (_sender, mut receiver) = annulus::watch::channel(1);
    /// assert_eq!(receiver.changed_timeout(Duration::from_millis(1)), Err(RecvTimeoutError::Timeout));
    /// ```
    pub fn changed_timeout(&mut self, timeout: Duration) -> Result<(), RecvTimeoutError> {
        self.changed_until(timeout)
    }

    /// As [`changed`](Self::changed), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`changed`](Self::changed).
    pub fn changed_until(&mut self, until: impl Into<Until>) -> Result<(), RecvTimeoutError> {
        let until = until.into();
        let strategy = until.strategy_or(|| self.strategy);
        in_time(wait_until(&mut NewValue(self), strategy, until.deadline()))
    }

    /// As [`changed`](Self::changed), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has seen nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// As [`changed`](Self::changed).
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::watch::channel(1);
    /// let thread = std::thread::spawn(move || sender.send(2));
    /// pollster::block_on(async {
    ///     while receiver.changed_async().await.is_ok() {
    ///         println!("now it is {}", *receiver.borrow());
    ///     }
    /// });
    /// assert_eq!(*receiver.borrow(), 2);
    /// # thread.join().unwrap().unwrap();
    /// ```
    #[cfg(feature = "async")]
    pub fn changed_async(&mut self) -> impl Future<Output = Result<(), RecvError>> + Send + Unpin {
        // SAFETY: the eventcount is in what the handles share, which lives as long as the receiver, which is
        // borrowed.
        unsafe { crate::wait::Waiting::new(NewValue(self)) }
    }

    /// Waits until there is a value for which `is_wanted` returns true, and borrows it. All values that it
    /// was asked for count as seen. It is asked for the value of this moment first, whether that was seen or
    /// not. It runs under the [lock](super#the-lock).
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the last value is not wanted, and none comes any more.
    ///
    /// # Panics
    ///
    /// If `is_wanted` panics.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::watch::channel(0);
    /// let thread = std::thread::spawn(move || (1..=100).for_each(|n| sender.send(n).unwrap()));
    /// assert!(*receiver.wait_for(|n| *n >= 50).unwrap() >= 50);
    /// # drop(receiver);
    /// # let _ = thread.join();
    /// ```
    pub fn wait_for(&mut self, is_wanted: impl FnMut(&T) -> bool) -> Result<Ref<'_, T>, RecvError> {
        let strategy = self.strategy;
        wait_until(&mut self.wanted(is_wanted), strategy, None).unwrap_or(Err(RecvError::CLOSED))
    }

    /// As [`wait_for`](Self::wait_for), but gives up after `timeout`, as
    /// [`changed_timeout`](Self::changed_timeout) does.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): no such value came in time.
    /// [`Closed`](RecvTimeoutError::Closed): as [`wait_for`](Self::wait_for).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::RecvTimeoutError;
    /// use std::time::Duration;
    ///
    /// let (_sender, mut receiver) = annulus::watch::channel(0);
    /// let error = receiver.wait_for_timeout(Duration::from_millis(1), |n| *n > 0).unwrap_err();
    /// assert_eq!(error, RecvTimeoutError::Timeout);
    /// ```
    pub fn wait_for_timeout(
        &mut self,
        timeout: Duration,
        is_wanted: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, RecvTimeoutError> {
        self.wait_for_until(timeout, is_wanted)
    }

    /// As [`wait_for`](Self::wait_for), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): no such value came in time.
    /// [`Closed`](RecvTimeoutError::Closed): as [`wait_for`](Self::wait_for).
    pub fn wait_for_until(
        &mut self,
        until: impl Into<Until>,
        is_wanted: impl FnMut(&T) -> bool,
    ) -> Result<Ref<'_, T>, RecvTimeoutError> {
        let until = until.into();
        let strategy = until.strategy_or(|| self.strategy);
        in_time(wait_until(&mut self.wanted(is_wanted), strategy, until.deadline()))
    }

    /// As [`wait_for`](Self::wait_for), in a task: the task waits, not its thread. (The value that it returns
    /// must not be kept across an `.await`.)
    ///
    /// *Cancel safety*: values that `is_wanted` was asked for count as seen.
    ///
    /// # Errors
    ///
    /// As [`wait_for`](Self::wait_for).
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::watch::channel("starting");
    /// let thread = std::thread::spawn(move || sender.send("ready"));
    /// pollster::block_on(async { receiver.wait_for_async(|state| *state == "ready").await.map(drop) }).unwrap();
    /// # thread.join().unwrap().unwrap();
    /// ```
    #[cfg(feature = "async")]
    pub fn wait_for_async(
        &mut self,
        is_wanted: impl FnMut(&T) -> bool,
    ) -> impl Future<Output = Result<Ref<'_, T>, RecvError>> + Unpin {
        let wanted = self.wanted(is_wanted);
        // SAFETY: as in `changed_async`.
        unsafe { crate::wait::Waiting::new(wanted) }
    }

    fn wanted<F: FnMut(&T) -> bool>(&mut self, is_wanted: F) -> AwaitWanted<'_, T, F> {
        let Self { shared, seen, .. } = self;
        AwaitWanted { shared, seen, is_wanted, is_first: true }
    }

    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    pub fn wait_in_select(&mut self) -> impl Choice<Found = Result<(), RecvError>> {
        // SAFETY: as in `changed_async`.
        unsafe { Armed::new(NewValue(self), |new| new.0.strategy, |_, found| found) }
    }

    /// Whether the other one is of the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        core::ptr::eq(&raw const *self.shared, &raw const *other.shared)
    }

    /// As [`Sender::closer`](super::Sender::closer).
    #[must_use]
    pub fn closer(&self) -> Closer
    where
        T: 'static,
    {
        Closer::from_weak(self.shared.downgrade())
    }

    own_strategy! {
        make: "let (_sender, mut reader) = annulus::watch::channel(1);",
        |handle| own: handle.strategy
    }

    /// One look for [`changed`](Self::changed).
    #[inline]
    fn poll_changed(&mut self) -> Look<Result<(), RecvError>> {
        let version = self.shared.version();
        if version.number() != self.seen {
            self.seen = version.number();
            Look::Found(Ok(()))
        } else if version.is_closed() {
            Look::Found(Err(RecvError::CLOSED))
        } else {
            Look::Nothing
        }
    }
}

impl<T> Receiver<T> {
    /// Whether there is a value that this receiver has not seen.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: there is none, and none comes any more.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::watch::channel(1);
    /// sender.send(2).unwrap();
    /// drop(sender);
    /// assert_eq!(receiver.has_changed(), Ok(true));
    /// receiver.mark_unchanged();
    /// assert_eq!(receiver.has_changed(), Err(annulus::RecvError::CLOSED));
    /// ```
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let version = self.shared.version();
        if version.number() != self.seen {
            return Ok(true);
        }
        if version.is_closed() { Err(RecvError::CLOSED) } else { Ok(false) }
    }

    /// Whether no value comes any more that this receiver has not seen.
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::watch::channel(1);
    /// sender.send(2).unwrap();
    /// drop(sender);
    /// assert!(!receiver.is_closed());
    /// receiver.changed().unwrap();
    /// assert!(receiver.is_closed());
    /// ```
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.has_changed().is_err()
    }
}

impl<T: Send + Sync + Clone> Receiver<T> {
    /// Waits until there is a value that this receiver has not seen, and returns a clone of it. Otherwise as
    /// [`changed`](Self::changed).
    ///
    /// # Errors
    ///
    /// As [`changed`](Self::changed).
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::watch::channel(1);
    /// sender.send(2).unwrap();
    /// sender.send(3).unwrap();
    /// assert_eq!(receiver.recv(), Ok(3)); // the newest one
    /// drop(sender);
    /// assert_eq!(receiver.recv(), Err(annulus::RecvError::CLOSED));
    /// ```
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.changed().map(|()| self.newest())
    }

    /// A clone of the value, if this receiver has not seen it. Never waits for a change.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): it was seen. [`Closed`](TryRecvError::Closed): as
    /// [`changed`](Self::changed).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TryRecvError;
    ///
    /// let (sender, mut receiver) = annulus::watch::channel(1);
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// sender.send(2).unwrap();
    /// assert_eq!(receiver.try_recv(), Ok(2));
    /// ```
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        match self.poll_changed() {
            Look::Found(changed) => changed.map(|()| self.newest()).map_err(TryRecvError::from),
            Look::Nothing | Look::Again => Err(TryRecvError::Empty),
        }
    }

    /// As [`recv`](Self::recv), with the timeout of [`changed_timeout`](Self::changed_timeout).
    ///
    /// # Errors
    ///
    /// As [`changed_timeout`](Self::changed_timeout).
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.changed_timeout(timeout).map(|()| self.newest())
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    pub fn recv_until(&mut self, until: impl Into<Until>) -> Result<T, RecvTimeoutError> {
        self.changed_until(until).map(|()| self.newest())
    }

    /// As [`recv`](Self::recv), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: as [`changed_async`](Self::changed_async).
    ///
    /// # Errors
    ///
    /// As [`changed`](Self::changed).
    #[cfg(feature = "async")]
    pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> + Send + Unpin {
        crate::wait::Waiting::next_of(self)
    }

    /// A clone of the newest value, which counts as seen.
    fn newest(&mut self) -> T {
        self.borrow_and_update().clone()
    }
}

/// Until there is a value that was not seen, which is seen then; or the end.
struct NewValue<'r, T: Send + Sync>(&'r mut Receiver<T>);

impl<T: Send + Sync> Poll for NewValue<'_, T> {
    type Found = Result<(), RecvError>;

    fn wait_point(&self) -> &EventCount {
        &self.0.shared.changed
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.0.shared.word())
    }

    fn poll(&mut self) -> Look<Self::Found> {
        self.0.poll_changed()
    }
}

/// Until there is a value that is wanted, or the end.
struct AwaitWanted<'r, T, F> {
    shared: &'r WatchState<T>,
    seen: &'r mut u64,
    is_wanted: F,
    /// Whether it was not asked yet.
    is_first: bool,
}

impl<'r, T, F: FnMut(&T) -> bool> Poll for AwaitWanted<'r, T, F> {
    type Found = Result<Ref<'r, T>, RecvError>;

    fn wait_point(&self) -> &EventCount {
        &self.shared.changed
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.shared.word())
    }

    fn poll(&mut self) -> Look<Self::Found> {
        let version = self.shared.version();
        if self.is_first || version.number() != *self.seen {
            let value = self.shared.borrow(Some(*self.seen));
            *self.seen = value.version();
            self.is_first = false;
            // (Another one may have come, or the end.)
            return if (self.is_wanted)(&value) { Look::Found(Ok(value)) } else { Look::Again };
        }
        if version.is_closed() { Look::Found(Err(RecvError::CLOSED)) } else { Look::Nothing }
    }
}

// SAFETY: the eventcount is in what the handles share, which lives as long as the receiver.
unsafe impl<T: Send + Sync> Source for Receiver<T> {
    fn wait_point(&self) -> &EventCount {
        &self.shared.changed
    }

    fn is_ready(&mut self) -> bool {
        self.has_changed() != Ok(false)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.shared.word())
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }

    fn has_more(&mut self) -> bool {
        self.has_changed() == Ok(true)
    }

    /// What the receiver had seen, if there was a value that it had not seen. (A later one takes its place.)
    fn mark(&mut self) -> EndMark {
        EndMark::of(self.has_more().then_some((0, self.seen)))
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        // One receive is enough, whatever it got.
        mark.is_passed(|_, seen| seen != self.seen)
    }

    fn left(&self) -> Option<u64> {
        Some(u64::from(self.has_changed() == Ok(true)))
    }
}

impl<T: Send + Sync> Waitable for Receiver<T> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Send + Sync + Clone> Receive for Receiver<T> {
    type Item = T;

    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        self.poll_changed().map(|changed| changed.map(|()| self.newest()))
    }
}

iterates! { [T: Send + Sync + Clone] Receiver<T>; }

impl<T> Clone for Receiver<T> {
    fn clone(&self) -> Self {
        self.shared.receivers.add();
        Self { shared: self.shared.clone(), seen: self.seen, strategy: self.strategy }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.shared.receiver_goes();
    }
}

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("kind", &"watch")
            .field("changed", &self.has_changed().unwrap_or(false))
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
