//! [`Sender`]: the sending verbs.

use core::fmt;
#[cfg(feature = "std")]
use std::time::{Duration, Instant};

use super::state::State;
use crate::Closer;
use crate::base::common::Common;
#[cfg(feature = "std")]
use crate::error::SendTimeoutError;
use crate::error::{GiveBack, SendError, TrySendError};
use crate::observer::{Observer, observable};
#[cfg(feature = "std")]
use crate::wait::Deadline;
use crate::wait::WaitStrategy;

/// The sending end of an [ordered queue](super): each message reaches one receiver.
///
/// It may be cloned, or shared by reference, at any time: all verbs take `&self`, and all senders have one
/// bound and one order.
pub struct Sender<T: Send> {
    pub(super) state: Common<State<T>>,
}

impl<T: Send> Sender<T> {
    /// Sends `value`. Waits with the [`WaitStrategy`] of the queue while the queue is full.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back: the queue is closed, or was closed while this waited.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::queue::ordered;
    ///
    /// let (sender, receiver) = ordered::channel(2);
    /// let reader = std::thread::spawn(move || receiver.into_iter().sum::<u64>());
    /// for number in 1..=100 {
    ///     sender.send(number)?; // waits for the reader
    /// }
    /// drop(sender);
    /// assert_eq!(reader.join().unwrap(), 5050);
    /// # Ok::<(), annulus::SendError<u64>>(())
    /// ```
    #[doc(alias = "blocking_send")]
    #[inline]
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.send_as(value, None)
    }

    /// Sends `value` if there is room. Never waits, allocates nothing. Takes O(`size_of::<T>()`), and repeats
    /// its claim if another sender was faster.
    ///
    /// # Errors
    ///
    /// [`Full`](TrySendError::Full): the queue holds as many messages as its capacity, or a receiver has not
    /// left the next slot yet (see [who waits for whom](super#who-waits-for-whom)).
    /// [`Closed`](TrySendError::Closed): the queue is closed. Both give the value back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TrySendError;
    /// use annulus::queue::ordered;
    ///
    /// let (sender, receiver) = ordered::channel(1);
    /// assert!(sender.try_send("one").is_ok());
    /// assert!(sender.clone().try_send("two") == Err(TrySendError::Full("two")));
    /// assert_eq!(receiver.recv(), Ok("one"));
    /// drop(receiver);
    /// assert!(sender.try_send("two") == Err(TrySendError::Closed("two")));
    /// ```
    #[inline]
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.state.try_put(value).map_err(|(refusal, value)| TrySendError::of(refusal, value))
    }

    /// As [`send`](Self::send), waiting by `strategy`.
    ///
    /// # Errors
    ///
    /// Those of [`send`](Self::send).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{WaitStrategy, queue::ordered};
    ///
    /// let (sender, receiver) = ordered::channel(2);
    /// sender.send_by('a', WaitStrategy::BusySpin)?;
    /// assert_eq!(receiver.recv(), Ok('a'));
    /// # Ok::<(), annulus::SendError<char>>(())
    /// ```
    #[inline]
    pub fn send_by(&self, value: T, strategy: WaitStrategy) -> Result<(), SendError<T>> {
        self.send_as(value, Some(strategy))
    }

    /// Sends, waiting by `strategy`, or by that of the queue.
    #[inline(always)]
    fn send_as(&self, value: T, strategy: Option<WaitStrategy>) -> Result<(), SendError<T>> {
        let Err((_, value)) = self.state.try_put(value) else {
            return Ok(());
        };
        let strategy = strategy.unwrap_or(self.state.strategy);
        self.state.send_late(value, strategy, None).map_err(|(_, value)| SendError(value))
    }

    /// As [`send`](Self::send), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still sends if there is room.
    ///
    /// # Errors
    ///
    /// [`Timeout`](SendTimeoutError::Timeout): no room came in time. [`Closed`](SendTimeoutError::Closed): as
    /// [`send`](Self::send). Both give the value back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{SendTimeoutError, queue::ordered};
    /// use std::time::Duration;
    ///
    /// let (sender, receiver) = ordered::channel(1);
    /// sender.send(1).unwrap();
    /// let error = sender.send_timeout(2, Duration::from_millis(1)).unwrap_err();
    /// assert!(error == SendTimeoutError::Timeout(2));
    /// # drop(receiver);
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn send_timeout(&self, value: T, timeout: Duration) -> Result<(), SendTimeoutError<T>> {
        self.send_until(value, Instant::now().checked_add(timeout))
    }

    /// As [`send_timeout`](Self::send_timeout), but gives up at `deadline`.
    ///
    /// # Errors
    ///
    /// Those of [`send_timeout`](Self::send_timeout).
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn send_deadline(&self, value: T, deadline: Instant) -> Result<(), SendTimeoutError<T>> {
        self.send_until(value, Some(deadline))
    }

    #[cfg(feature = "std")]
    fn send_until(&self, value: T, deadline: Deadline) -> Result<(), SendTimeoutError<T>> {
        self.state
            .send_late(value, self.state.strategy, deadline)
            .map_err(|(refusal, value)| SendTimeoutError::of(refusal, value))
    }

    /// Sends as many of `values` as there is room for, from the first on, and returns how many. Returns 0 if
    /// the queue is closed. Never waits.
    ///
    /// One claim covers up to 64 of them. No messages of other senders come between those.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(3);
    /// assert_eq!(sender.try_send_batch(&[1, 2, 3, 4]), 3);
    /// assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [1, 2, 3]);
    /// ```
    #[inline]
    pub fn try_send_batch(&self, values: &[T]) -> usize
    where
        T: Copy,
    {
        self.state.try_send_some(values).unwrap_or(0)
    }

    /// Sends all of `values`, in order. Waits for room with the [`WaitStrategy`] of the queue as often as
    /// necessary. There may be more values than the queue holds. Messages of other senders may come between
    /// them.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives back the values that were not sent: the queue is closed, or was closed meanwhile.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(2);
    /// let reader = std::thread::spawn(move || receiver.into_iter().collect::<Vec<_>>());
    /// sender.send_batch(&[1, 2, 3, 4, 5]).unwrap();
    /// drop(sender);
    /// assert_eq!(reader.join().unwrap(), [1, 2, 3, 4, 5]);
    /// ```
    #[inline]
    pub fn send_batch<'v>(&self, values: &'v [T]) -> Result<(), SendError<&'v [T]>>
    where
        T: Copy,
    {
        self.state.send_all(values).map_err(SendError)
    }

    /// How many messages have been sent, by all senders, and not received yet. A message that is being
    /// written counts. This is a snapshot, and never more than the capacity. O(1).
    #[must_use]
    pub fn len(&self) -> usize {
        self.state.lane.len()
    }

    /// Whether every message has been received. This is a snapshot: others may have sent one when it returns.
    /// O(1).
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether the queue is full. This is a snapshot: others may have sent or received when it returns. O(1).
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(1);
    /// assert!(!sender.is_full());
    /// sender.send(1).unwrap();
    /// assert!(sender.is_full());
    /// receiver.recv().unwrap();
    /// assert!(!sender.is_full());
    /// ```
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// How many messages the queue holds: exactly the number that was requested.
    #[doc(alias = "max_capacity")]
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.state.lane.capacity()
    }

    /// Closes the queue for all its senders, and wakes all threads that wait. Receivers receive what was sent
    /// before. No effect on a closed queue.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::queue::ordered::channel(4);
    /// sender.send(1).unwrap();
    /// sender.close();
    /// assert_eq!(sender.send(2).unwrap_err().into_inner(), 2);
    /// assert_eq!(receiver.recv(), Ok(1));
    /// assert_eq!(receiver.recv(), Err(annulus::RecvError));
    /// ```
    pub fn close(&self) {
        self.state.close();
    }

    /// A [`Closer`], which closes the queue from any thread. It does not keep the queue open.
    #[must_use]
    pub fn closer(&self) -> Closer
    where
        T: 'static,
    {
        Closer::from_weak(self.state.downgrade())
    }

    observable! {
        where T: 'static,
        |handle| stats: handle.state.stats(),
        observer: Observer::from_weak(handle.state.downgrade())
    }

    /// Whether the queue is closed. If so, every send fails from now on.
    #[doc(alias = "is_disconnected")]
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.state.lane.is_ended()
    }
}

/// Another sender of the queue. Nobody has to wait for this, and it allocates nothing.
impl<T: Send> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.state.senders.add();
        Self { state: self.state.clone() }
    }
}

impl<T: Send> Drop for Sender<T> {
    fn drop(&mut self) {
        self.state.sender_goes();
    }
}

impl<T: Send> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("kind", &"shared")
            .field("len", &self.len())
            .field("capacity", &self.capacity())
            .field("closed", &self.is_closed())
            .finish()
    }
}
