//! [`Sender`]: the verbs that change the value.

use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::mem;
use std::time::Duration;

use super::Receiver;
use super::state::{Ref, WatchState};
use crate::Closer;
use crate::base::common::Common;
use crate::error::SendError;
use crate::wait::{EventCount, Look, Poll, Until, WaitStrategy, wait_until};

/// The side of a [channel](super) that changes the value. It may be cloned; the last one that is dropped
/// closes the channel. All verbs take `&self`.
pub struct Sender<T> {
    shared: Common<WatchState<T>>,
}

impl<T: Send + Sync> Sender<T> {
    /// A channel with this value, and without a receiver: [`subscribe`](Self::subscribe) makes them.
    ///
    /// # Examples
    ///
    /// ```
    /// let sender = annulus::watch::Sender::new(1);
    /// assert_eq!(sender.receiver_count(), 0);
    /// let mut receiver = sender.subscribe();
    /// sender.send(2).unwrap();
    /// assert_eq!(receiver.recv(), Ok(2));
    /// ```
    #[must_use]
    pub fn new(value: T) -> Self {
        let [shared] = WatchState::new(value);
        shared.receivers.remove_beside_others();
        Self { shared }
    }

    /// Replaces the value, and tells all receivers. The value before is dropped. Waits for the threads that
    /// [borrow](super#the-lock) the value, and for nobody else. Allocates nothing.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back, and nothing has changed: there is no receiver, or the channel was
    /// [closed](Self::closer). To store a value for receivers that are yet to come, use
    /// [`send_replace`](Self::send_replace).
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::watch::channel(1);
    /// sender.send(2).unwrap();
    /// assert_eq!(*receiver.borrow(), 2);
    /// drop(receiver);
    /// assert_eq!(sender.send(3).unwrap_err().into_inner(), 3);
    /// ```
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        let mut value = Some(value);
        if !self.shared.receivers.is_zero() {
            let replace = |place: &mut T| (true, value.take().map(|value| mem::replace(place, value)));
            if let Some((_, before)) = self.shared.change(true, replace) {
                // Without the lock.
                drop(before);
                return Ok(());
            }
        }
        value.map_or(Ok(()), |value| Err(SendError(value)))
    }

    /// Replaces the value, tells all receivers, if there are any, and returns the value before. Otherwise as
    /// [`send`](Self::send). (If the channel was closed, the value is replaced, and nobody is told.)
    ///
    /// # Examples
    ///
    /// ```
    /// let sender = annulus::watch::Sender::new(1);
    /// assert_eq!(sender.send_replace(2), 1);
    /// assert_eq!(*sender.subscribe().borrow(), 2);
    /// ```
    pub fn send_replace(&self, value: T) -> T {
        self.changed_by(|place| (true, mem::replace(place, value))).1
    }

    /// Changes the value in place, and tells all receivers. `modify` runs under the
    /// [lock](super#the-lock): it must not use the channel. Otherwise as
    /// [`send_replace`](Self::send_replace).
    ///
    /// # Panics
    ///
    /// If `modify` panics: nobody is told, and the value is as `modify` left it.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::watch::channel(vec![1]);
    /// sender.send_modify(|numbers| numbers.push(2));
    /// assert_eq!(receiver.recv(), Ok(vec![1, 2]));
    /// ```
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        self.changed_by(|value| (true, modify(value)));
    }

    /// As [`send_modify`](Self::send_modify), but tells receivers only if `modify` returns true. Returns what
    /// it returned.
    ///
    /// # Panics
    ///
    /// As [`send_modify`](Self::send_modify).
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::watch::channel(5_u64);
    /// let raise_to = |new: u64| {
    ///     sender.send_if_modified(|highest| {
    ///         let is_higher = new > *highest;
    ///         *highest = new.max(*highest);
    ///         is_higher
    ///     })
    /// };
    /// assert!(!raise_to(4));
    /// assert_eq!(receiver.has_changed(), Ok(false));
    /// assert!(raise_to(6));
    /// assert_eq!(receiver.has_changed(), Ok(true));
    /// ```
    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        self.changed_by(|value| (modify(value), ())).0
    }

    fn changed_by<R>(&self, change: impl FnOnce(&mut T) -> (bool, R)) -> (bool, R) {
        self.shared.change(false, change).unwrap_or_else(|| unreachable!("it is not refused"))
    }

    /// The value. See [`Ref`].
    ///
    /// ```
    /// let sender = annulus::watch::Sender::new(1);
    /// assert_eq!(*sender.borrow(), 1);
    /// ```
    pub fn borrow(&self) -> Ref<'_, T> {
        self.shared.borrow(None)
    }

    /// Another receiver, for which the value of this moment counts as seen. O(1), allocates nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, first) = annulus::watch::channel(1);
    /// sender.send(2).unwrap();
    /// let second = sender.subscribe();
    /// assert_eq!(first.has_changed(), Ok(true));
    /// assert_eq!((second.has_changed(), *second.borrow()), (Ok(false), 2));
    /// ```
    #[must_use]
    pub fn subscribe(&self) -> Receiver<T> {
        self.shared.receivers.add();
        Receiver::new(self.shared.clone())
    }

    /// Waits until [`is_closed`](Self::is_closed): the last receiver has gone, or somebody has closed the
    /// channel. Waits by [`WaitStrategy::default`].
    ///
    /// ```
    /// let (sender, receiver) = annulus::watch::channel(1);
    /// let reader = std::thread::spawn(move || drop(receiver));
    /// sender.closed();
    /// # reader.join().unwrap();
    /// ```
    pub fn closed(&self) {
        self.closed_until(Until::FOREVER);
    }

    /// As [`closed`](Self::closed), but gives up after `timeout` on the monotonic clock. Returns whether the
    /// last receiver has gone, or somebody has closed the channel.
    #[must_use]
    pub fn closed_timeout(&self, timeout: Duration) -> bool {
        self.closed_until(timeout)
    }

    /// As [`closed`](Self::closed), but waits as [`Until`] says. False if the time has passed.
    pub fn closed_until(&self, until: impl Into<Until>) -> bool {
        let until = until.into();
        let strategy = until.strategy_or(WaitStrategy::default);
        wait_until(&mut AwaitEnd(&self.shared), strategy, until.deadline()).is_some()
    }

    /// As [`closed`](Self::closed), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has changed nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::watch::channel(1);
    /// let reader = std::thread::spawn(move || drop(receiver));
    /// pollster::block_on(sender.closed_async());
    /// # reader.join().unwrap();
    /// ```
    #[cfg(feature = "async")]
    pub fn closed_async(&self) -> impl Future<Output = ()> + Send + Unpin {
        // SAFETY: the eventcount is in what the handles share, which lives as long as the sender, which is
        // borrowed.
        unsafe { crate::wait::Waiting::new(AwaitEnd(&self.shared)) }
    }

    /// Whether the other one is of the same channel.
    #[must_use]
    pub fn same_channel(&self, other: &Self) -> bool {
        core::ptr::eq(&raw const *self.shared, &raw const *other.shared)
    }

    /// What closes the channel from anywhere, or with a [`Shutdown`](crate::Shutdown). What was sent before
    /// is seen; then receivers are told the end, and [`send`](Self::send) is refused.
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::watch::channel(1);
    /// sender.send(2).unwrap();
    /// sender.closer().close();
    /// assert_eq!((receiver.recv(), receiver.recv()), (Ok(2), Err(annulus::RecvError::CLOSED)));
    /// ```
    #[must_use]
    pub fn closer(&self) -> Closer
    where
        T: 'static,
    {
        Closer::from_weak(self.shared.downgrade())
    }
}

impl<T> Sender<T> {
    /// How many receivers there are. Others may come and go meanwhile.
    #[must_use]
    pub fn receiver_count(&self) -> usize {
        self.shared.receivers.count()
    }

    /// How many senders there are. Others may come and go meanwhile.
    #[must_use]
    pub fn sender_count(&self) -> usize {
        self.shared.senders.count()
    }

    /// Whether a [`send`](Self::send) would be refused: there is no receiver at this moment, or the channel
    /// was closed.
    ///
    /// ```
    /// let (sender, receiver) = annulus::watch::channel(1);
    /// assert!(!sender.is_closed());
    /// drop(receiver);
    /// assert!(sender.is_closed());
    /// let _receiver = sender.subscribe();
    /// assert!(!sender.is_closed());
    /// ```
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.shared.is_over()
    }
}

/// Until there is no receiver.
struct AwaitEnd<'s, T>(&'s WatchState<T>);

impl<T> Poll for AwaitEnd<'_, T> {
    type Found = ();

    fn wait_point(&self) -> &EventCount {
        &self.0.alone
    }

    fn poll(&mut self) -> Look<()> {
        if self.0.is_over() { Look::Found(()) } else { Look::Nothing }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.shared.senders.add();
        Self { shared: self.shared.clone() }
    }
}

/// The last one closes the channel.
impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        if self.shared.senders.remove() {
            self.shared.close();
        }
    }
}

impl<T: Send + Sync + Default> Default for Sender<T> {
    fn default() -> Self {
        Self::new(T::default())
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("kind", &"watch")
            .field("receivers", &self.receiver_count())
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
