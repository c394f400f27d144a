//! [`Receiver`]: the verbs of the side that waits for the value.

use core::fmt;
#[cfg(feature = "async")]
use core::{
    future::Future,
    pin::Pin,
    task::{self, Context},
};
#[cfg(feature = "std")]
use std::time::Duration;

use super::block::{CLOSED, ENDED, Share, VALUE};
use crate::error::{RecvError, RecvTimeoutError, TryRecvError, in_time};
use crate::sync::AtomicU64;
use crate::wait::{Deadline, EventCount, Look, Poll, Until, WaitStrategy, own_strategy, wait_until};

/// The receiving side of a [channel for one value](super). Dropped, it drops a value that it has not taken,
/// and tells the sender.
pub struct Receiver<T: Send> {
    pub(super) share: Share<T, false>,
    /// Whether the value was taken.
    is_taken: bool,
    strategy: WaitStrategy,
}

impl<T: Send> Receiver<T> {
    pub(super) fn new(share: Share<T, false>) -> Self {
        Self { share, is_taken: false, strategy: WaitStrategy::default() }
    }

    /// Receives the value. Waits for it with the [strategy](Self::set_wait_strategy) of the receiver:
    /// [`WaitStrategy::default`] at first.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the sender is gone, or this side has closed the channel, and no value is there. So each
    /// receive after the value is refused.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::oneshot::channel();
    /// let thread = std::thread::spawn(move || sender.send(42));
    /// assert_eq!(receiver.recv(), Ok(42));
    /// # thread.join().unwrap().unwrap();
    ///
    /// let (sender, mut receiver) = annulus::oneshot::channel::<u64>();
    /// drop(sender);
    /// assert_eq!(receiver.recv(), Err(annulus::RecvError::CLOSED));
    /// ```
    #[inline]
    pub fn recv(&mut self) -> Result<T, RecvError> {
        self.wait(self.strategy, None).unwrap_or(Err(RecvError::CLOSED))
    }

    /// Receives the value if it is there. Never waits.
    ///
    /// # Errors
    ///
    /// [`Empty`](TryRecvError::Empty): not yet. [`Closed`](TryRecvError::Closed): as [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::TryRecvError;
    ///
    /// let (sender, mut receiver) = annulus::oneshot::channel();
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Empty));
    /// sender.send(5).unwrap();
    /// assert_eq!(receiver.try_recv(), Ok(5));
    /// assert_eq!(receiver.try_recv(), Err(TryRecvError::Closed));
    /// ```
    #[inline]
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        match self.poll() {
            Look::Found(found) => found.map_err(TryRecvError::from),
            Look::Nothing | Look::Again => Err(TryRecvError::Empty),
        }
    }

    /// As [`recv`](Self::recv), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout. A timeout of zero still receives a value that is there.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): no value came in time; it may still come.
    /// [`Closed`](RecvTimeoutError::Closed): as [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let (sender, mut receiver) = annulus::oneshot::channel::<u64>();
    /// let error = receiver.recv_timeout(Duration::from_millis(1)).unwrap_err();
    /// assert_eq!(error, annulus::RecvTimeoutError::Timeout);
    /// # drop(sender);
    /// ```
    #[cfg(feature = "std")]
    #[cfg_attr(docsrs, doc(cfg(feature = "std")))]
    pub fn recv_timeout(&mut self, timeout: Duration) -> Result<T, RecvTimeoutError> {
        self.recv_until(timeout)
    }

    /// As [`recv`](Self::recv), but waits as [`Until`] says.
    ///
    /// # Errors
    ///
    /// [`Timeout`](RecvTimeoutError::Timeout): nothing came in time. [`Closed`](RecvTimeoutError::Closed): as
    /// [`recv`](Self::recv).
    pub fn recv_until(&mut self, until: impl Into<Until>) -> Result<T, RecvTimeoutError> {
        let until = until.into();
        in_time(self.wait(until.strategy_or(|| self.strategy), until.deadline()))
    }

    /// Receives the value, like [`recv`](Self::recv), in a task: the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv).
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::oneshot::channel();
    /// let thread = std::thread::spawn(move || sender.send("hello"));
    /// assert_eq!(pollster::block_on(receiver.recv_async()), Ok("hello"));
    /// # thread.join().unwrap().unwrap();
    /// ```
    #[cfg(feature = "async")]
    #[cfg_attr(docsrs, doc(cfg(feature = "async")))]
    pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> + Unpin {
        ReceivingValue::new(self)
    }

    /// Closes the channel: a value that was not sent yet is refused, and given back to its sender. One that
    /// was sent before can still be received.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::oneshot::channel();
    /// receiver.close();
    /// assert!(sender.send(1).is_err());
    /// assert_eq!(receiver.recv(), Err(annulus::RecvError::CLOSED));
    /// ```
    pub fn close(&mut self) {
        self.share.close();
    }

    /// Whether no value is there, and none comes any more. If so, this stays true.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::oneshot::channel();
    /// sender.send(1).unwrap();
    /// assert!(!receiver.is_closed());
    /// receiver.recv().unwrap();
    /// assert!(receiver.is_closed());
    /// ```
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let state = self.share.look();
        !self.is_there(state) && self.is_over(state)
    }

    own_strategy! {
        make: "let (_sender, mut reader) = annulus::oneshot::channel::<u64>();",
        |handle| own: handle.strategy
    }

    /// Whether there is something to take, by the state.
    #[inline(always)]
    pub(super) fn is_there(&self, state: u64) -> bool {
        state & VALUE != 0 && !self.is_taken
    }

    /// Whether nothing comes any more, by the state.
    #[inline(always)]
    pub(super) fn is_over(&self, state: u64) -> bool {
        self.is_taken || state & (ENDED | CLOSED) != 0
    }

    #[inline(always)]
    pub(super) fn poll(&mut self) -> Look<Result<T, RecvError>> {
        let state = self.share.look();
        if self.is_there(state) {
            self.is_taken = true;
            // SAFETY: `VALUE` was seen, and this is the one time.
            Look::Found(Ok(unsafe { self.share.take() }))
        } else if self.is_over(state) {
            Look::Found(Err(RecvError::CLOSED))
        } else {
            Look::Nothing
        }
    }

    #[inline]
    fn wait(&mut self, strategy: WaitStrategy, deadline: Deadline) -> Option<Result<T, RecvError>> {
        if let Look::Found(found) = self.poll() {
            return Some(found);
        }
        wait_until(&mut AwaitValue(self), strategy, deadline)
    }
}

/// Until the value is there, or none comes any more.
struct AwaitValue<'r, T: Send>(&'r mut Receiver<T>);

impl<T: Send> Poll for AwaitValue<'_, T> {
    type Found = Result<T, RecvError>;

    fn wait_point(&self) -> &EventCount {
        self.0.share.wait_point()
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.0.share.word())
    }

    #[inline(always)]
    fn poll(&mut self) -> Look<Self::Found> {
        self.0.poll()
    }
}

/// The future of [`Receiver::recv_async`]. Dropped at any time, it leaves no waker behind, unless the sender
/// is just waking it.
#[cfg(feature = "async")]
#[must_use = "a future does nothing until it is awaited"]
struct ReceivingValue<'r, T: Send> {
    receiver: &'r mut Receiver<T>,
    /// Whether its waker is in the block.
    is_armed: bool,
}

#[cfg(feature = "async")]
impl<'r, T: Send> ReceivingValue<'r, T> {
    fn new(receiver: &'r mut Receiver<T>) -> Self {
        Self { receiver, is_armed: false }
    }

    #[cold]
    #[inline(never)]
    fn arm(&mut self, context: &Context<'_>) -> Look<Result<T, RecvError>> {
        let (receiver, waker) = (&mut *self.receiver, context.waker());
        // SAFETY: it is armed, and this was said after `disarm`.
        if self.is_armed && unsafe { receiver.share.is_armed_for(waker) } {
            return Look::Nothing;
        }
        let waker = waker.clone();
        self.is_armed = false;
        // (A future before this one may have been forgotten.)
        receiver.share.disarm();
        if let Look::Found(found) = receiver.poll() {
            return Look::Found(found);
        }
        // SAFETY: `disarm` was called, and nothing was found after it.
        unsafe { receiver.share.arm(waker) };
        self.is_armed = true;
        receiver.poll()
    }
}

#[cfg(feature = "async")]
impl<T: Send> Future for ReceivingValue<'_, T> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> task::Poll<Self::Output> {
        let this = self.get_mut();
        let mut look = this.receiver.poll();
        if matches!(look, Look::Nothing) {
            look = this.arm(context);
        }
        match look {
            Look::Found(found) => task::Poll::Ready(found),
            Look::Nothing | Look::Again => task::Poll::Pending,
        }
    }
}

#[cfg(feature = "async")]
impl<T: Send> Drop for ReceivingValue<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.is_armed {
            self.receiver.share.disarm();
        }
    }
}

/// The sender is told.
impl<T: Send> Drop for Receiver<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this is the last use, unless there is a value.
        let is_over = unsafe { self.share.end(CLOSED, if self.is_taken { 0 } else { VALUE }) };
        if !is_over {
            // SAFETY: there is a value, which nobody has taken.
            let value = unsafe { self.share.take() };
            // SAFETY: this is the last use. (The value goes after it, because its drop may panic.)
            unsafe { self.share.end(CLOSED, 0) };
            drop(value);
        }
    }
}

impl<T: Send> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("kind", &"oneshot")
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
