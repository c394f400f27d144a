//! The verbs that begin a worker, and [`SpawnError`]: it has no thread.

use alloc::boxed::Box;
use alloc::string::ToString;
use alloc::sync::Arc;
use core::error::Error;
use core::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};
#[cfg(not(annulus_loom))]
use std::thread;

#[cfg(annulus_loom)]
use loom::thread;

use super::feed::{ByRef, ByValue, Feed};
use super::handle::WorkerResult;
use super::run::WorkerRun;
use super::{Builder, Delivery, Finished, Worker};
use crate::affinity::{NoThread, PinError, spawn, write_no_cpu};
use crate::base::drop_all::Contained;
use crate::receive::{Numbered, Receive, ReceiveRef, Waitable};
use crate::sync::seeded;
use crate::wait::{CountsDown, Latch};

impl<R, C> Builder<R, C> {
    /// Begins the thread. It calls `handler` with each message, by value. The flag is true for the last
    /// message of a batch: see the [module](super#batches).
    ///
    /// - *Stages*: a message counts as processed when the handler has returned, an event, too.
    /// - *Events* are cloned. [`spawn_ref`](Self::spawn_ref) lends them.
    /// - *Loss*: the worker goes on after a lag, and [`Finished::lost`] counts it.
    ///
    /// The handler must not wait for room in the ring that its messages come from: the ring may be full of
    /// messages that wait for this handler. Use `try_send` or `try_publish` there.
    ///
    /// # Errors
    ///
    /// [`SpawnError`]: the system has no thread to give, or does not let it run on the
    /// [`core`](Self::core). It gives back the builder and the handler.
    ///
    /// # Panics
    ///
    /// The thread panics, and [`join`](Worker::join) returns that, if the receiver is a group without an
    /// aligned member.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Worker;
    ///
    /// let (producer, consumer) = annulus::mpsc::channel(64);
    /// let mut other = producer.clone();
    /// let mut producer = producer;
    /// let words = Worker::builder(consumer, String::new())
    ///     .spawn(|text, word: &'static str, _end_of_batch| text.push_str(word))?;
    /// producer.send("a").unwrap();
    /// other.send("b").unwrap();
    /// drop((producer, other));
    /// assert_eq!(words.join().unwrap().messages, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn<H>(self, handler: H) -> Result<Worker<C>, SpawnError<R, C, H>>
    where
        R: Receive + Send + 'static,
        C: Send + 'static,
        H: FnMut(&mut C, R::Item, bool) + Send + 'static,
    {
        self.start(ByValue::new(handler)).map_err(|failed| failed.with(ByValue::into_handler))
    }

    /// As [`spawn`](Self::spawn), for [events](crate::event), which `handler` gets by reference. So they need
    /// not be cloned. Publishers may use the slots of a batch again when the handler has returned from its
    /// last event. Stages behind see each event as soon as the handler has returned from it, so the handler
    /// may wait for what such a stage gives back, for credits for example. It must not wait for what a
    /// publisher gives back only after it has found room, except with a [`max_batch`](Self::max_batch) of 1.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Worker;
    ///
    /// let (mut publisher, subscribable) = annulus::event::channel(8, || [0; 1920]);
    /// let brightness = Worker::builder(subscribable.subscribe(), 0)
    ///     .spawn_ref(|sum, row: &[u8; 1920], _end_of_batch| *sum += u32::from(row[0]))?;
    /// publisher.publish(|row| row[0] = 7).unwrap();
    /// publisher.publish(|row| row[0] = 8).unwrap();
    /// drop(publisher);
    /// assert_eq!(brightness.join().unwrap().context, 15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn_ref<H>(self, handler: H) -> Result<Worker<C>, SpawnError<R, C, H>>
    where
        R: ReceiveRef + Send + 'static,
        C: Send + 'static,
        H: FnMut(&mut C, &R::Item, bool) + Send + 'static,
    {
        self.start(ByRef::new(handler)).map_err(|failed| failed.with(ByRef::into_handler))
    }

    /// As [`spawn`](Self::spawn), for rings that number their messages: `handler` gets the number of each,
    /// too. See [`Delivery`].
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Worker;
    /// use annulus::worker::Delivery;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossy(4);
    /// let subscriber = subscribable.subscribe();
    /// (0..10).for_each(|number| publisher.publish(number * 100)); // 6 more than fit
    /// drop(publisher);
    /// let worker = Worker::builder(subscriber, Vec::new())
    ///     .spawn_numbered(|seen, price, Delivery { sequence, .. }| seen.push((sequence, price)))?;
    /// assert_eq!(worker.join().unwrap().context, [(6, 600), (7, 700), (8, 800), (9, 900)]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "sequence")]
    pub fn spawn_numbered<H>(self, handler: H) -> Result<Worker<C>, SpawnError<R, C, H>>
    where
        R: Receive + Numbered + Send + 'static,
        C: Send + 'static,
        H: FnMut(&mut C, R::Item, Delivery) + Send + 'static,
    {
        self.start(ByValue::new(handler)).map_err(|failed| failed.with(ByValue::into_handler))
    }

    /// As [`spawn_ref`](Self::spawn_ref), and `handler` gets the number of each event, too. See [`Delivery`].
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::Worker;
    /// use annulus::worker::Delivery;
    ///
    /// let (mut publisher, subscribable) = annulus::event::channel(8, String::new);
    /// let log = Worker::builder(subscribable.subscribe(), Vec::new())
    ///     .spawn_ref_numbered(|log, text: &String, at: Delivery| log.push(format!("{} {text}", at.sequence)))?;
    /// publisher.send("begin".to_owned()).unwrap();
    /// publisher.send("end".to_owned()).unwrap();
    /// drop(publisher);
    /// assert_eq!(log.join().unwrap().context, ["0 begin", "1 end"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn_ref_numbered<H>(self, handler: H) -> Result<Worker<C>, SpawnError<R, C, H>>
    where
        R: ReceiveRef + Send + 'static,
        C: Send + 'static,
        H: FnMut(&mut C, &R::Item, Delivery) + Send + 'static,
    {
        self.start(ByRef::new(handler)).map_err(|failed| failed.with(ByRef::into_handler))
    }

    /// Begins the thread, or gives everything back.
    fn start<F>(self, feed: F) -> Result<Worker<C>, SpawnError<R, C, F>>
    where
        R: Waitable + Send + 'static,
        C: Send + 'static,
        F: Feed<R, C> + Send + 'static,
    {
        let (stopper, name, core) = (self.stopper(), self.name.clone(), self.core);
        // What the thread needs lies where this function finds it again, if the thread does not take it.
        let place = Arc::new(Mutex::new(Some((self, feed))));
        let take = |place: &Mutex<Option<(Self, F)>>| {
            let mut job = place.lock().unwrap_or_else(PoisonError::into_inner);
            job.take()
        };
        let ended = Arc::new(Latch::new(1));
        let body = {
            let (place, ended) = (Arc::clone(&place), Arc::clone(&ended));
            move || {
                let _ended = CountsDown(ended);
                let Some((builder, feed)) = take(&place) else {
                    unreachable!("nobody else takes it meanwhile")
                };
                drop(place);
                WorkerResult::by(|| builder.run(feed))
            }
        };
        match spawn(thread::Builder::new().name(name), core, body) {
            Ok(thread) => Ok(Worker::new(stopper, thread, ended)),
            Err(failure) => match take(&place) {
                Some((builder, feed)) => Err(SpawnError::new(failure, builder, feed)),
                None => unreachable!("no thread took it"),
            },
        }
    }

    /// On the new thread.
    fn run<F: Feed<R, C>>(self, feed: F) -> Finished<C>
    where
        R: Waitable,
    {
        let Self { receiver, context, strategy, most, idle, control, .. } = self;
        let strategy = strategy.filter(|_| !seeded!("worker_waits_like_its_ring"));
        let strategy = strategy.unwrap_or(receiver.strategy());
        WorkerRun { receiver, context, feed, idle, strategy, most, control }.run()
    }
}

/// The error of a [`spawn`](Builder::spawn) and its like: the worker has no thread. It has the builder,
/// with the receiver and the context, and the handler: [`into_parts`](Self::into_parts) gives them back.
/// Where they are of no more use, `?` makes it an [`io::Error`] with the same text.
///
/// ```
/// use annulus::Worker;
///
/// let (mut producer, consumer) = annulus::spsc::channel(4);
/// let builder = Worker::builder(consumer, 0).core(1_000_000);
/// let error = builder.spawn(|sum, number: i32, _| *sum += number).unwrap_err();
/// assert!(error.to_string().contains("CPU 1000000"));
///
/// let (builder, handler) = error.into_parts();
/// let worker = builder.core(None).spawn(handler).unwrap();
/// producer.send(5).unwrap();
/// drop(producer);
/// assert_eq!(worker.join().unwrap().context, 5);
/// ```
pub struct SpawnError<R, C, H> {
    failure: NoThread,
    parts: Box<(Builder<R, C>, Contained<H>)>,
}

impl<R, C, H> SpawnError<R, C, H> {
    pub(super) fn new(failure: NoThread, builder: Builder<R, C>, handler: H) -> Self {
        Self { failure, parts: Box::new((builder, Contained::new(handler))) }
    }

    /// The same, with the handler in another form.
    pub(super) fn with<G>(self, form: impl FnOnce(H) -> G) -> SpawnError<R, C, G> {
        let (builder, handler) = *self.parts;
        SpawnError::new(self.failure, builder, form(handler.into_inner()))
    }

    /// Why the thread may not run on its core. `None`: the system has no thread to give.
    #[must_use]
    pub fn pin_error(&self) -> Option<&PinError> {
        match &self.failure {
            // Unreached: as of the text
            NoThread::Begin(_) => None,
            NoThread::Cpu(error) => Some(error),
        }
    }

    /// The builder and the handler.
    pub fn into_parts(self) -> (Builder<R, C>, H) {
        let (builder, handler) = *self.parts;
        (builder, handler.into_inner())
    }
}

impl<R, C, H> fmt::Debug for SpawnError<R, C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpawnError").field("failure", &self.failure).finish_non_exhaustive()
    }
}

impl<R, C, H> fmt::Display for SpawnError<R, C, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.parts.0.name;
        match &self.failure {
            // Unreached: the system has no thread to give, which no test of workers can bring about
            NoThread::Begin(error) => write!(f, "can't begin the thread {name:?} of a worker: {error}"),
            NoThread::Cpu(error) => write_no_cpu(f, format_args!("the thread {name:?} of a worker"), error),
        }
    }
}

impl<R, C, H> From<SpawnError<R, C, H>> for io::Error {
    /// The builder and the handler are dropped.
    fn from(error: SpawnError<R, C, H>) -> Self {
        Self::new(error.failure.kind(), error.to_string())
    }
}

impl<R, C, H> Error for SpawnError<R, C, H> {}
