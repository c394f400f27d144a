//! [`Worker`] and [`Stopper`]: the handles of a worker's thread.

use alloc::sync::Arc;
use core::fmt;
#[cfg(not(annulus_loom))]
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind};
#[cfg(not(annulus_loom))]
use std::thread::JoinHandle;
#[cfg(not(annulus_loom))]
use std::time::Instant;

#[cfg(annulus_loom)]
use loom::thread::JoinHandle;

use crate::base::drop_all::contain;
#[cfg(not(annulus_loom))]
use crate::wait::WaitStrategy;
use crate::wait::{Control, Latch, Stop};

/// A thread that receives from a ring, and calls a handler for each message. The [module](super) describes
/// it.
///
/// It is made by [`Worker::builder`]. `C` is the handler's context, which [`join`](Self::join) gives back.
///
/// If it is dropped, it stops the thread like [`stop`](Self::stop), and does not wait for it. (Waiting could
/// last for ever: a handler may wait for the thread that drops this.) The process may then end before the
/// thread does. To be sure that all messages were handled, [`join`](Self::join) it.
#[must_use = "a worker that is dropped is stopped; `detach` lets it go on"]
pub struct Worker<C> {
    stopper: Stopper,
    /// `None` once it is joined or detached. The thread returns `None` if it did not begin.
    thread: Option<JoinHandle<Option<WorkerResult<C>>>>,
    /// Open once the thread has done all but end.
    #[cfg_attr(annulus_loom, allow(dead_code, reason = "for a thread that has a clock"))]
    ended: Arc<Latch>,
}

/// What the thread of a worker leaves to the thread that joins it. Where none does, the worker's thread drops
/// it, or the one that has the handle: a destructor that panics there would end the process.
pub(super) struct WorkerResult<C>(Option<std::thread::Result<Finished<C>>>);

impl<C> WorkerResult<C> {
    /// What `run` returns, or why it panicked.
    pub(super) fn by(run: impl FnOnce() -> Finished<C>) -> Self {
        // Under loom a panic is a model that fails.
        let ended = if cfg!(annulus_loom) { Ok(run()) } else { catch_unwind(AssertUnwindSafe(run)) };
        Self(Some(ended))
    }
}

impl<C> Drop for WorkerResult<C> {
    fn drop(&mut self) {
        contain(|| drop(self.0.take()));
    }
}

/// What a worker leaves behind: [`Worker::join`] returns it.
///
/// ```
/// use annulus::Worker;
///
/// let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
/// let subscriber = subscribable.subscribe();
/// (0..10).for_each(|number| publisher.publish(number)); // 6 more than fit
/// drop(publisher);
/// let worker = Worker::builder(subscriber, 0).spawn(|sum, number: i32, _| *sum += number)?;
/// let finished = worker.join().unwrap();
/// assert_eq!((finished.messages, finished.lost), (4, 6));
/// assert_eq!(finished.context, 6 + 7 + 8 + 9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finished<C> {
    /// The context.
    pub context: C,
    /// How many messages the handler got.
    pub messages: u64,
    /// How many messages were lost, because the worker fell behind. Always 0 on a ring that loses none. What
    /// the receiver lost before it got to the worker does not count, if the receiver knew of it.
    pub lost: u64,
}

impl<C> Worker<C> {
    pub(super) fn new(
        stopper: Stopper,
        thread: JoinHandle<Option<WorkerResult<C>>>,
        ended: Arc<Latch>,
    ) -> Self {
        Self { stopper, thread: Some(thread), ended }
    }

    /// Asks the thread to end after the messages that were sent before this call. Wakes it if it sleeps. Does
    /// not wait for it: [`join`](Self::join) does.
    ///
    /// - *Before this call*: also by another thread, if this thread knows of it (because it joined that
    ///   thread, for example). Others may send on: their messages do not keep the worker from its end.
    /// - *After this call*: the handler also gets what is sent until the worker sees the request, after the
    ///   message that it is handling. With [`spawn_ref`](super::Builder::spawn_ref) it gets the rest of a
    ///   batch, too. Later messages are dropped with the receiver, if nobody else receives them.
    /// - *A message that another thread is still writing* may count as sent. Then the worker waits for it (it
    ///   spins), so that it can receive the messages behind it.
    /// - *Behind other stages*, what counts is what they have processed. So stop the workers of a pipeline
    ///   one after the other, and [`join`](Self::join) each before you stop the next one.
    ///
    /// It takes a lock for a moment, and calls the operating system if the thread sleeps, so it is not for
    /// signal handlers.
    ///
    /// ```
    /// use annulus::Worker;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(8);
    /// let parse = subscribable.subscribe_tracked();
    /// let store = subscribable.subscribe().after(&[&parse]);
    /// let parse = Worker::builder(parse, ()).spawn(|(), _: u64, _| { /* … */ })?;
    /// let store = Worker::builder(store, 0).spawn(|sum, number: u64, _| *sum += number)?;
    /// publisher.publish_batch(&[1, 2, 3]).unwrap();
    ///
    /// parse.stop();
    /// assert_eq!(parse.join().unwrap().messages, 3);
    /// store.stop();
    /// assert_eq!(store.join().unwrap().context, 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stop(&self) {
        self.stopper.stop();
    }

    /// Asks the thread to end after the message that it is handling. Wakes it if it sleeps. Does not wait for
    /// it: [`join`](Self::join) does. It also breaks off what [`stop`](Self::stop) has begun.
    ///
    /// Messages that were not handled are dropped with the receiver, if nobody else receives them. If the
    /// thread was woken for one that another consumer can take, that one is woken in its place.
    ///
    /// ```
    /// use annulus::Worker;
    ///
    /// let (producer, consumer) = annulus::mpmc::channel::<u64>(8);
    /// let worker = Worker::builder(consumer, ()).spawn(|(), _, _| ())?;
    /// worker.stop_now(); // wakes it
    /// assert_eq!(worker.join().unwrap().messages, 0);
    /// assert!(producer.is_closed(), "its consumer was the last one");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn stop_now(&self) {
        self.stopper.stop_now();
    }

    /// A handle that stops the thread. It may be cloned and sent anywhere. For one that the handler can have,
    /// see [`Builder::stopper`](super::Builder::stopper).
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// Whether the thread has come to its end. If so, [`join`](Self::join) does not wait, and it stays so.
    #[cfg(not(annulus_loom))]
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Whether the handler or the idle callback has panicked, or its destructor. [`join`](Self::join) returns
    /// the panic.
    ///
    /// A producer that learns from its ring that the receiver is gone (its queue is closed, its subscriber
    /// left) sees true here, if that is why: the panic is noted before the receiver is dropped.
    /// [`is_finished`](Self::is_finished) comes later, at the end of the thread. (If what panics is the
    /// destructor of a message that was left in the queue, the queue is closed already.)
    ///
    /// ```
    /// use annulus::Worker;
    ///
    /// let (mut producer, consumer) = annulus::spsc::channel(4);
    /// let worker = Worker::builder(consumer, ()).spawn(|(), number: i32, _| assert!(number < 3))?;
    /// let refused = (1..).find(|number| producer.send(*number).is_err());
    /// assert!(refused.is_some_and(|number| number > 3));
    /// assert!(worker.panicked());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn panicked(&self) -> bool {
        self.stopper.control.has_panicked()
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
    /// use annulus::Worker;
    ///
    /// let (mut producer, consumer) = annulus::spsc::channel(4);
    /// let worker = Worker::builder(consumer, ()).spawn(|(), number: i32, _| assert!(number > 0))?;
    /// producer.send(-1).unwrap();
    /// assert!(worker.join().is_err());
    /// assert!(producer.send(1).is_err(), "nobody receives any more");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn join(mut self) -> std::thread::Result<Finished<C>> {
        let Some(thread) = self.thread.take() else { unreachable!("it was joined") };
        match thread.join()?.and_then(|mut left| left.0.take()) {
            Some(ended) => ended,
            None => unreachable!("it began"),
        }
    }

    /// As [`join`](Self::join), but gives up after `timeout` on the monotonic clock. A timeout that is too
    /// long for the clock means no timeout.
    ///
    /// # Errors
    ///
    /// The handle, if the thread goes on. (To drop it is to [stop](Self::stop) the thread.) The result inside
    /// is the one of [`join`](Self::join).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Worker;
    /// use std::time::Duration;
    ///
    /// let (producer, consumer) = annulus::spsc::channel::<u64>(4);
    /// let worker = Worker::builder(consumer, ()).spawn(|(), _, _| ())?;
    /// let worker = worker.join_timeout(Duration::from_millis(1)).unwrap_err();
    /// worker.stop();
    /// let finished = worker.join_timeout(Duration::from_secs(60)).unwrap().unwrap();
    /// assert_eq!(finished.messages, 0);
    /// # drop(producer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[cfg(not(annulus_loom))]
    pub fn join_timeout(self, timeout: Duration) -> Result<std::thread::Result<Finished<C>>, Self> {
        if self.ended.wait(WaitStrategy::default(), Instant::now().checked_add(timeout)) {
            Ok(self.join())
        } else {
            Err(self)
        }
    }

    /// Lets the thread go on without this handle. It ends when its ring is closed, or when a
    /// [`Stopper`] stops it. Nobody learns of a panic, or gets the context, which is dropped. A panic of its
    /// destructor ends there.
    ///
    /// ```
    /// use annulus::Worker;
    ///
    /// let (mut producer, consumer) = annulus::spsc::channel(4);
    /// let (mut answers, mut answer) = annulus::spsc::channel(4);
    /// let handler = move |(): &mut (), number: i32, _| answers.send(-number).unwrap();
    /// Worker::builder(consumer, ()).spawn(handler)?.detach();
    /// producer.send(5).unwrap();
    /// assert_eq!(answer.recv(), Ok(-5));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn detach(mut self) {
        self.thread = None;
    }
}

impl<C> Drop for Worker<C> {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.stop();
        }
    }
}

impl<C> fmt::Debug for Worker<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Worker").field("stopper", &self.stopper).finish_non_exhaustive()
    }
}

/// Stops a [`Worker`], from any thread, and from its handler; made by
/// [`Builder::stopper`](super::Builder::stopper) and [`Worker::stopper`].
///
/// Its clones stop the same worker. Any number of threads may do so at once, also beside the worker's end: a
/// `stop_now` counts more than a `stop`, whichever comes first. Dropping it stops nothing. When the worker
/// has ended, it does nothing.
///
/// ```
/// use annulus::Worker;
///
/// let (mut producer, consumer) = annulus::spsc::channel(4);
/// let builder = Worker::builder(consumer, 0);
/// let stopper = builder.stopper();
/// let worker = builder.spawn(move |sum, number: i32, _| {
///     *sum += number;
///     if number == 2 {
///         stopper.stop_now();
///     }
/// })?;
/// (1..=3).for_each(|number| drop(producer.send(number)));
/// assert_eq!(worker.join().unwrap().context, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Stopper {
    pub(super) control: Arc<Control>,
}

impl Stopper {
    /// As [`Worker::stop`].
    pub fn stop(&self) {
        self.control.stop(Stop::Drained);
    }

    /// As [`Worker::stop_now`].
    pub fn stop_now(&self) {
        self.control.stop(Stop::Now);
    }

    /// Whether somebody has asked the worker to stop. It may still be at work.
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
