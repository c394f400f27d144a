//! [`EventLoop`] and [`Stopper`]: the handles of a loop's thread.

use alloc::sync::Arc;
use core::fmt;
#[cfg(not(annulus_loom))]
use std::thread::JoinHandle;

#[cfg(annulus_loom)]
use loom::thread::JoinHandle;

use super::control::{Control, Stop};

/// A thread that receives from a ring, and calls a handler for each message. The [module](super) describes
/// it.
///
/// It is made by [`EventLoop::builder`]. `C` is the handler's context, which [`join`](Self::join) gives back.
///
/// If it is dropped, it stops the thread like [`stop`](Self::stop), and does not wait for it. (Waiting could
/// last for ever: a handler may wait for the thread that drops this.) The process may then end before the
/// thread does. To be sure that all messages were handled, [`join`](Self::join) it.
#[must_use = "a loop that is dropped is stopped; `detach` lets it go on"]
pub struct EventLoop<C> {
    stopper: Stopper,
    /// `None` once it is joined or detached. The thread returns `None` if it did not begin.
    thread: Option<JoinHandle<Option<Finished<C>>>>,
}

/// What an event loop leaves behind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished<C> {
    /// The context.
    pub context: C,
    /// How many messages the handler got.
    pub messages: u64,
    /// How many messages were lost meanwhile, because the loop fell behind. Always 0 on a ring that loses
    /// none.
    pub lost: u64,
}

impl<C> EventLoop<C> {
    pub(super) fn new(stopper: Stopper, thread: JoinHandle<Option<Finished<C>>>) -> Self {
        Self { stopper, thread: Some(thread) }
    }

    /// Asks the thread to end after the messages that were sent before this call. Wakes it if it sleeps. Does
    /// not wait for it: [`join`](Self::join) does.
    ///
    /// *Before this call*: also by another thread, if this thread knows of it (because it joined that thread,
    /// for example). The handler may also get some messages that are sent later: those of a batch that was
    /// begun. Messages that come after them are dropped with the receiver, if nobody else receives them.
    ///
    /// A message that another thread is still writing when this is called may count as sent. Then the loop
    /// waits for it, so that it can receive the messages behind it.
    pub fn stop(&self) {
        self.stopper.stop();
    }

    /// Asks the thread to end after the message that it is handling. Wakes it if it sleeps. Does not wait for
    /// it: [`join`](Self::join) does. It also breaks off what [`stop`](Self::stop) has begun.
    ///
    /// Messages that were not handled are dropped with the receiver, if nobody else receives them.
    pub fn stop_now(&self) {
        self.stopper.stop_now();
    }

    /// A handle that stops the thread. It may be cloned and sent anywhere.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Whether the thread has come to its end. If so, [`join`](Self::join) does not wait.
    #[cfg(not(annulus_loom))]
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Waits for the end of the thread, and returns what it leaves behind. It does not stop the thread: that
    /// ends when it is [stopped](Self::stop), or when its ring is closed. The receiver is dropped before this
    /// returns.
    ///
    /// Don't call it from the handler, which would wait for itself.
    ///
    /// # Errors
    ///
    /// The panic of the handler or of the idle callback, as the standard library's
    /// [`join`](std::thread::JoinHandle::join) returns it. The context is dropped.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::EventLoop;
    ///
    /// let (mut producer, consumer) = annulus::spsc::channel(4);
    /// let event_loop = EventLoop::builder(consumer, ()).spawn(|(), number: i32, _| assert!(number > 0))?;
    /// producer.send(-1).unwrap();
    /// assert!(event_loop.join().is_err());
    /// assert!(producer.send(1).is_err(), "nobody receives any more");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn join(mut self) -> std::thread::Result<Finished<C>> {
        let Some(thread) = self.thread.take() else { unreachable!("it was joined") };
        thread.join().map(|finished| match finished {
            Some(finished) => finished,
            None => unreachable!("it began"),
        })
    }

    /// Lets the thread go on without this handle. It ends when its ring is closed, or when a
    /// [`Stopper`] stops it.
    pub fn detach(mut self) {
        self.thread = None;
    }
}

impl<C> Drop for EventLoop<C> {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.stop();
        }
    }
}

impl<C> fmt::Debug for EventLoop<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EventLoop").field("stopper", &self.stopper).finish_non_exhaustive()
    }
}

/// Stops an [`EventLoop`], from any thread, and from its handler; made by
/// [`Builder::stopper`] and [`EventLoop::stopper`].
///
/// Its clones stop the same loop. Dropping it stops nothing. When the loop has ended, it does nothing.
///
/// ```
/// use annulus::EventLoop;
///
/// let (mut producer, consumer) = annulus::spsc::channel(4);
/// let builder = EventLoop::builder(consumer, 0);
/// let stopper = builder.stopper();
/// let event_loop = builder.spawn(move |sum, number: i32, _| {
///     *sum += number;
///     if number == 2 {
///         stopper.stop_now();
///     }
/// })?;
/// (1..=3).for_each(|number| drop(producer.send(number)));
/// assert_eq!(event_loop.join().unwrap().context, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Stopper {
    pub(super) control: Arc<Control>,
}

impl Stopper {
    /// As [`EventLoop::stop`].
    pub fn stop(&self) {
        self.control.stop(Stop::Drained);
    }

    /// As [`EventLoop::stop_now`].
    pub fn stop_now(&self) {
        self.control.stop(Stop::Now);
    }

    /// Whether somebody has asked the loop to stop. It may still be at work.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.control.asked().is_some()
    }
}

impl fmt::Debug for Stopper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stopper").field("stopped", &self.is_stopped()).finish()
    }
}
