//! [`Receiver`]: the verbs of the side that waits for the value; and the receiver as what one can wait at.

use core::fmt;
#[cfg(feature = "async")]
use core::{
    borrow::BorrowMut,
    future::{Future, IntoFuture},
    marker::PhantomData,
    pin::Pin,
    task::{self, Context},
};
#[cfg(feature = "std")]
use std::time::Duration;

use super::block::{CLOSED, ENDED, Share, VALUE};
use crate::error::{RecvError, RecvTimeoutError, TryRecvError, in_time};
use crate::receive::{Receive, Waitable};
use crate::sync::AtomicU64;
use crate::wait::{
    Deadline, EndMark, EventCount, Look, Poll, Source, Until, WaitStrategy, own_strategy, wait_until,
};

/// The receiving side of a [channel for one value](super). Dropped, it drops a value that it has not taken,
/// and tells the sender.
///
/// [`recv`](Self::recv) uses it up, and so does `receiver.await` with the feature `async`. The verbs that may
/// end without the value take `&mut self`. So do all verbs of [`Receive`], for loops and for code that takes
/// any handle; once the value was received, they return `Closed`.
///
/// ```compile_fail,E0382
/// let (_sender, receiver) = annulus::oneshot::channel::<u64>();
/// let first = receiver.recv();
/// let second = receiver.recv(); // used up: this does not compile
/// ```
pub struct Receiver<T> {
    share: Share<T, false>,
    /// Whether the value was taken.
    is_taken: bool,
    strategy: WaitStrategy,
}

impl<T: Send> Receiver<T> {
    pub(super) fn new(share: Share<T, false>) -> Self {
        Self { share, is_taken: false, strategy: WaitStrategy::default() }
    }

    /// Receives the value, and uses the receiver up. Waits for the value with the
    /// [strategy](Self::set_wait_strategy) of the receiver: [`WaitStrategy::default`] at first.
    ///
    /// # Errors
    ///
    /// [`RecvError`]: the sender is gone, or this side has closed the channel, and no value is there. Also if
    /// another verb has received the value before.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::oneshot::channel();
    /// let thread = std::thread::spawn(move || sender.send(42));
    /// assert_eq!(receiver.recv(), Ok(42));
    /// # thread.join().unwrap().unwrap();
    ///
    /// let (sender, receiver) = annulus::oneshot::channel::<u64>();
    /// drop(sender);
    /// assert_eq!(receiver.recv(), Err(annulus::RecvError::CLOSED));
    /// ```
    #[inline]
    pub fn recv(mut self) -> Result<T, RecvError> {
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

    /// Receives the value, like [`recv`](Self::recv), in a task: the task waits, not its thread. It keeps the
    /// receiver for a later call, as a branch of a `select!` in a loop needs it; `receiver.await` uses the
    /// receiver up.
    ///
    /// *Cancel safety*: a future that is dropped has received nothing, and loses nothing.
    ///
    /// # Errors
    ///
    /// As [`recv`](Self::recv): also if the value was received before.
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
    pub fn recv_async(&mut self) -> impl Future<Output = Result<T, RecvError>> + Send + Unpin {
        RecvFuture::new(self)
    }

    /// Closes the channel: a value that was not sent yet is refused, and given back to its sender. One that
    /// was sent before can still be received.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, receiver) = annulus::oneshot::channel();
    /// receiver.close();
    /// assert!(sender.send(1).is_err());
    /// assert_eq!(receiver.recv(), Err(annulus::RecvError::CLOSED));
    /// ```
    pub fn close(&self) {
        self.share.close();
    }

    own_strategy! {
        make: "let (_sender, mut reader) = annulus::oneshot::channel::<u64>();",
        |handle| own: handle.strategy
    }

    #[inline(always)]
    fn poll(&mut self) -> Look<Result<T, RecvError>> {
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

impl<T> Receiver<T> {
    /// Whether no value is there, and none comes any more. If so, this stays true.
    ///
    /// # Examples
    ///
    /// ```
    /// let (sender, mut receiver) = annulus::oneshot::channel();
    /// sender.send(1).unwrap();
    /// assert!(!receiver.is_closed());
    /// receiver.try_recv().unwrap();
    /// assert!(receiver.is_closed());
    /// ```
    #[must_use]
    pub fn is_closed(&self) -> bool {
        let state = self.share.look();
        !self.is_there(state) && self.is_over(state)
    }

    /// Whether there is something to take, by the state.
    #[inline(always)]
    fn is_there(&self, state: u64) -> bool {
        state & VALUE != 0 && !self.is_taken
    }

    /// Whether nothing comes any more, by the state.
    #[inline(always)]
    fn is_over(&self, state: u64) -> bool {
        self.is_taken || state & (ENDED | CLOSED) != 0
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

// SAFETY: the eventcount is in the block, which lives as long as the receiver.
unsafe impl<T: Send> Source for Receiver<T> {
    fn wait_point(&self) -> &EventCount {
        self.share.wait_point()
    }

    fn is_ready(&mut self) -> bool {
        let state = self.share.look();
        self.is_there(state) || self.is_over(state)
    }

    // Unreached: where the processor waits by the word (the strategy Monitor)
    fn watched(&self) -> Option<&AtomicU64> {
        Some(self.share.word())
    }

    fn strategy(&self) -> WaitStrategy {
        self.wait_strategy()
    }

    fn has_more(&mut self) -> bool {
        self.is_there(self.share.look())
    }

    fn mark(&mut self) -> EndMark {
        EndMark::at(u64::from(self.has_more()))
    }

    fn has_passed(&self, mark: &mut EndMark) -> bool {
        mark.is_passed(|_, sent| sent == 0 || !self.is_there(self.share.look()))
    }

    fn left(&self) -> Option<u64> {
        Some(u64::from(self.is_there(self.share.look())))
    }
}

impl<T: Send> Waitable for Receiver<T> {
    fn is_closed(&self) -> bool {
        self.is_closed()
    }
}

impl<T: Send> Receive for Receiver<T> {
    type Item = T;

    #[inline(always)]
    fn poll_recv(&mut self) -> Look<Result<T, RecvError>> {
        self.poll()
    }
}

/// The future of `receiver.await`: it has the receiver `R`. (The one of [`Receiver::recv_async`] borrows it.)
///
/// *Cancel safety*: dropped at any time, it leaves no waker behind, unless the sender is just waking it. The
/// receiver goes with it, and a value that was sent already is dropped. It is `Send` and `Unpin`.
#[cfg(feature = "async")]
#[must_use = "a future does nothing until it is awaited"]
pub struct RecvFuture<T: Send, R: BorrowMut<Receiver<T>> = Receiver<T>> {
    receiver: R,
    /// Whether its waker is in the block.
    is_armed: bool,
    value: PhantomData<fn() -> T>,
}

#[cfg(feature = "async")]
impl<T: Send, R: BorrowMut<Receiver<T>>> RecvFuture<T, R> {
    fn new(receiver: R) -> Self {
        Self { receiver, is_armed: false, value: PhantomData }
    }

    #[cold]
    #[inline(never)]
    fn arm(&mut self, context: &Context<'_>) -> Look<Result<T, RecvError>> {
        let (receiver, waker) = (self.receiver.borrow_mut(), context.waker());
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
impl<T: Send, R: BorrowMut<Receiver<T>>> Future for RecvFuture<T, R> {
    type Output = Result<T, RecvError>;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> task::Poll<Self::Output> {
        let this = self.get_mut();
        let mut look = this.receiver.borrow_mut().poll();
        if matches!(look, Look::Nothing) {
            look = this.arm(context);
        }
        match look {
            Look::Found(found) => task::Poll::Ready(found),
            Look::Nothing | Look::Again => task::Poll::Pending,
        }
    }
}

/// Nothing in it is pinned.
#[cfg(feature = "async")]
impl<T: Send, R: BorrowMut<Receiver<T>>> Unpin for RecvFuture<T, R> {}

#[cfg(feature = "async")]
impl<T: Send, R: BorrowMut<Receiver<T>>> Drop for RecvFuture<T, R> {
    #[inline]
    fn drop(&mut self) {
        if self.is_armed {
            self.receiver.borrow_mut().share.disarm();
        }
    }
}

#[cfg(feature = "async")]
impl<T: Send, R: BorrowMut<Receiver<T>>> fmt::Debug for RecvFuture<T, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RecvFuture").field("receiver", self.receiver.borrow()).finish_non_exhaustive()
    }
}

/// `receiver.await` receives the value like [`recv`](Receiver::recv), in a task.
///
/// ```
/// let (sender, receiver) = annulus::oneshot::channel();
/// let thread = std::thread::spawn(move || sender.send("hello"));
/// assert_eq!(pollster::block_on(async { receiver.await }), Ok("hello"));
/// # thread.join().unwrap().unwrap();
/// ```
#[cfg(feature = "async")]
impl<T: Send> IntoFuture for Receiver<T> {
    type Output = Result<T, RecvError>;
    type IntoFuture = RecvFuture<T>;

    fn into_future(self) -> RecvFuture<T> {
        RecvFuture::new(self)
    }
}

/// The sender is told.
impl<T> Drop for Receiver<T> {
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

impl<T> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver")
            .field("kind", &"oneshot")
            .field("closed", &self.is_closed())
            .finish_non_exhaustive()
    }
}
