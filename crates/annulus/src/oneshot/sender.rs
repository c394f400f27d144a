//! [`Sender`]: the verbs of the side that has the value.

use core::fmt;
#[cfg(feature = "async")]
use core::future::Future;
use core::mem::ManuallyDrop;
#[cfg(feature = "std")]
use std::time::Duration;

use super::block::{CLOSED, ENDED, Share, VALUE};
use crate::error::SendError;
use crate::sync::AtomicU64;
use crate::wait::{EventCount, Look, Poll, Until, WaitStrategy, wait_until};

/// The sending side of a [channel for one value](super). [`send`](Self::send) uses it up; dropped before, it
/// tells the receiver that nothing comes.
pub struct Sender<T> {
    share: Share<T, true>,
}

impl<T: Send> Sender<T> {
    pub(super) fn new(share: Share<T, true>) -> Self {
        Self { share }
    }

    /// Sends the value, and wakes the receiver if it waits. Never waits itself, allocates nothing. O(1), and
    /// a system call if the receiver's thread sleeps. It may free the channel's memory.
    ///
    /// `Ok` says that the value is the receiver's now, which may still be dropped without taking it.
    ///
    /// # Errors
    ///
    /// [`SendError`] gives the value back: the receiver is gone, or has closed the channel.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::oneshot::channel();
    /// drop(receiver);
    /// let error = sender.send(String::from("nobody asks")).unwrap_err();
    /// assert_eq!(error.0, "nobody asks");
    /// ```
    #[inline]
    pub fn send(self, value: T) -> Result<(), SendError<T>> {
        let Self { share } = &*ManuallyDrop::new(self);
        share.put(value);
        // SAFETY: the value was put, the share is not used after an end, and nobody drops it.
        if unsafe { share.end(VALUE, CLOSED) } {
            return Ok(());
        }
        // SAFETY: `VALUE` was not said, and is not from here on.
        let value = unsafe { share.take() };
        // SAFETY: this is the last use.
        unsafe { share.end(ENDED, 0) };
        Err(SendError(value))
    }

    /// Waits until the receiver is gone or has closed the channel. Waits by [`WaitStrategy::default`].
    ///
    /// ```
    /// let (sender, receiver) = annulus::oneshot::channel::<u64>();
    /// let asker = std::thread::spawn(move || drop(receiver));
    /// sender.closed();
    /// assert!(sender.is_closed());
    /// # asker.join().unwrap();
    /// ```
    pub fn closed(&self) {
        self.closed_until(Until::FOREVER);
    }

    /// As [`closed`](Self::closed), but gives up after `timeout` on the monotonic clock. Returns whether the
    /// receiver is gone or has closed the channel.
    #[cfg(feature = "std")]
    #[must_use]
    pub fn closed_timeout(&self, timeout: Duration) -> bool {
        self.closed_until(timeout)
    }

    /// As [`closed`](Self::closed), but waits as [`Until`] says. False if the time has passed.
    pub fn closed_until(&self, until: impl Into<Until>) -> bool {
        let until = until.into();
        let strategy = until.strategy_or(WaitStrategy::default);
        wait_until(&mut AwaitClose(&self.share), strategy, until.deadline()).is_some()
    }

    /// As [`closed`](Self::closed), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has changed nothing.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::oneshot::channel::<u64>();
    /// let asker = std::thread::spawn(move || drop(receiver));
    /// pollster::block_on(sender.closed_async());
    /// assert!(sender.is_closed());
    /// # asker.join().unwrap();
    /// ```
    #[cfg(feature = "async")]
    pub fn closed_async(&self) -> impl Future<Output = ()> + Send + Unpin {
        // SAFETY: the eventcount is in the block, which lives as long as the sender, which is borrowed.
        unsafe { crate::wait::Waiting::new(AwaitClose(&self.share)) }
    }
}

impl<T> Sender<T> {
    /// Whether the receiver is gone, or has closed the channel. If so, this stays true.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::oneshot::channel::<u64>();
    /// assert!(!sender.is_closed());
    /// drop(receiver);
    /// assert!(sender.is_closed()); // so the answer need not be found
    /// ```
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.share.look() & CLOSED != 0
    }
}

/// Until the receiver wants no value any more.
struct AwaitClose<'s, T>(&'s Share<T, true>);

impl<T> Poll for AwaitClose<'_, T> {
    type Found = ();

    fn wait_point(&self) -> &EventCount {
        self.0.wait_point()
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.0.word())
    }

    fn poll(&mut self) -> Look<()> {
        if self.0.look() & CLOSED != 0 { Look::Found(()) } else { Look::Nothing }
    }
}

/// The receiver is told that nothing comes.
impl<T> Drop for Sender<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this is the last use; no value was put.
        unsafe { self.share.end(ENDED, 0) };
    }
}

impl<T> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender")
            .field("kind", &"oneshot")
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
