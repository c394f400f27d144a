//! [`Builder`]: how the thread of an event loop is named, where it runs and how it waits.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::error::Error;
use core::fmt;
use std::io;
use std::sync::{Mutex, PoisonError};
#[cfg(not(annulus_loom))]
use std::thread;
use std::time::Duration;

#[cfg(annulus_loom)]
use loom::thread;

use super::feed::{ByRef, ByValue, Feed};
use super::handle::Left;
use super::run::{Idle, Run};
use super::{EventLoop, Finished, Stopper};
use crate::WaitStrategy;
use crate::affinity::thread::{NoThread, spawn, write_no_cpu};
use crate::receive::{Receive, ReceiveRef, Waitable};
use crate::sync::mutated;
use crate::wait::Control;

/// The longest batch, unless the builder says otherwise.
const MOST: usize = 64;

/// Makes an [`EventLoop`]; made by [`EventLoop::builder`].
///
/// ```
/// use annulus::{EventLoop, WaitStrategy};
/// use std::time::Duration;
///
/// let (mut producer, consumer) = annulus::spsc::channel::<String>(64);
/// let log = EventLoop::builder(consumer, Vec::new())
///     .name("log")
///     .wait_strategy(WaitStrategy::BackoffSpin)
///     .on_idle(Duration::from_millis(100), |lines| println!("{} lines so far", lines.len()))
///     .spawn(|lines, line, end_of_batch| {
///         lines.push(line);
///         if end_of_batch {
///             println!("nothing more for the moment");
///         }
///     })?;
/// producer.send("begin".to_owned()).unwrap();
/// drop(producer);
/// assert_eq!(log.join().unwrap().context, ["begin"]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use = "the thread begins with `spawn`"]
pub struct Builder<R, C> {
    receiver: R,
    context: C,
    name: String,
    core: Option<usize>,
    strategy: Option<WaitStrategy>,
    most: usize,
    idle: Option<Idle<C>>,
    control: Arc<Control>,
}

impl<C> EventLoop<C> {
    /// A builder of an event loop that receives from `receiver`: any receiving handle (see [`Waitable`]).
    /// `context` is what the handler and the idle callback share; `()` if they share nothing.
    ///
    /// ```
    /// use annulus::EventLoop;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(8);
    /// let sum = EventLoop::builder(subscribable.subscribe(), 0)
    ///     .spawn(|sum, number: u64, _| *sum += number)?;
    /// publisher.publish_batch(&[1, 2, 3]).unwrap();
    /// drop(publisher); // the end of the ring is the end of the loop
    /// assert_eq!(sum.join().unwrap().context, 6);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "handle_events_with")]
    #[doc(alias = "handle_events_and_state_with")]
    pub fn builder<R>(receiver: R, context: C) -> Builder<R, C> {
        Builder::new(receiver, context)
    }
}

impl<R, C> Builder<R, C> {
    fn new(receiver: R, context: C) -> Self {
        Self {
            receiver,
            context,
            name: "event loop".to_string(),
            core: None,
            strategy: None,
            most: MOST,
            idle: None,
            control: Arc::new(Control::new()),
        }
    }

    /// The name of the thread: "event loop" if this is not called. (Linux shows the first 15 bytes.)
    ///
    /// # Panics
    ///
    /// If the name has a null byte, which systems take for its end.
    #[doc(alias = "thread_name")]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        assert!(!self.name.contains('\0'), "Builder::name: {:?} has a null byte", self.name);
        self
    }

    /// The thread runs on this core only, by the operating system's number of it. With `None`, and if this is
    /// not called, it may run where the thread may run that spawns it. [`affinity`](crate::affinity) says
    /// which cores there are, which to choose, and on which systems that works. On others
    /// [`spawn`](Self::spawn) returns an error.
    ///
    /// ```
    /// use annulus::EventLoop;
    ///
    /// let (producer, consumer) = annulus::spsc::channel::<u64>(4);
    /// let builder = EventLoop::builder(consumer, ()).core(0);
    /// let event_loop = builder.spawn(|(), _, _| ()).or_else(|error| {
    ///     eprintln!("{error}"); // and says where this thread may run
    ///     let (builder, handler) = error.into_parts();
    ///     builder.core(None).spawn(handler)
    /// })?;
    /// # drop((producer, event_loop));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "pin_at_core")]
    pub fn core(mut self, core: impl Into<Option<usize>>) -> Self {
        self.core = core.into();
        self
    }

    /// How the thread waits for messages: like the ring, if this is not called.
    pub fn wait_strategy(mut self, strategy: WaitStrategy) -> Self {
        self.strategy = Some(strategy);
        self
    }

    /// How many messages a batch has at most: 64 if this is not called. 0 means 1.
    ///
    /// The longer a batch, the fewer there are, and the later the handler learns of the end of one if the
    /// other side is fast. With [`spawn_ref`](Self::spawn_ref), publishers may use the slots of a batch again
    /// at its end.
    ///
    /// ```
    /// use annulus::EventLoop;
    ///
    /// let (mut producer, consumer) = annulus::spsc::channel(8);
    /// (1..=5).for_each(|number| producer.send(number).unwrap());
    /// let event_loop = EventLoop::builder(consumer, vec![])
    ///     .max_batch(2)
    ///     .spawn(|ends, number: i32, end_of_batch| ends.extend(end_of_batch.then_some(number)))?;
    /// drop(producer);
    /// assert_eq!(event_loop.join().unwrap().context, [2, 4, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_batch(mut self, most: usize) -> Self {
        self.most = most.max(1);
        self
    }

    /// Calls `callback` each time nothing came for `timeout`, on the loop's thread, and goes on. The time is
    /// measured on the monotonic clock, from when the loop found nothing to do, or from the last call. With a
    /// `timeout` of zero it is called whenever nothing is there, so the thread never sleeps.
    ///
    /// A stop ends the calls, except one that was about to begin. If this is called again, only the last
    /// callback counts.
    ///
    /// ```
    /// use annulus::EventLoop;
    /// use std::time::Duration;
    ///
    /// let (producer, consumer) = annulus::spsc::channel::<u64>(4);
    /// let builder = EventLoop::builder(consumer, 0);
    /// let stopper = builder.stopper();
    /// let event_loop = builder
    ///     .on_idle(Duration::from_millis(1), move |calls| {
    ///         *calls += 1;
    ///         if *calls == 3 {
    ///             stopper.stop();
    ///         }
    ///     })
    ///     .spawn(|_, _, _| ())?;
    /// assert_eq!(event_loop.join().unwrap().context, 3);
    /// # drop(producer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn on_idle(mut self, timeout: Duration, callback: impl FnMut(&mut C) + Send + 'static) -> Self {
        self.idle = Some(Idle { timeout, callback: Box::new(callback) });
        self
    }

    /// A handle that stops the loop, for its handler for example: [`Stopper`] shows that. A loop that was
    /// stopped before it begins handles what was sent before, or nothing, and ends.
    pub fn stopper(&self) -> Stopper {
        Stopper { control: Arc::clone(&self.control) }
    }

    /// Begins the thread. It calls `handler` with each message, by value. The flag is true for the last
    /// message of a batch: see the [module](super#batches).
    ///
    /// - *Stages*: a message counts as processed when the handler has returned.
    /// - *Events* are cloned. [`spawn_ref`](Self::spawn_ref) lends them.
    /// - *Loss*: the loop goes on after a lag, and [`Finished::lost`] counts it.
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
    /// The thread panics, and [`join`](EventLoop::join) returns that, if the receiver is a group without an
    /// aligned member.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::EventLoop;
    ///
    /// let (producer, consumer) = annulus::mpsc::channel(64);
    /// let mut other = producer.clone();
    /// let mut producer = producer;
    /// let words = EventLoop::builder(consumer, String::new())
    ///     .spawn(|text, word: &'static str, _end_of_batch| text.push_str(word))?;
    /// producer.send("a").unwrap();
    /// other.send("b").unwrap();
    /// drop((producer, other));
    /// assert_eq!(words.join().unwrap().messages, 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn<H>(self, handler: H) -> Result<EventLoop<C>, SpawnError<R, C, H>>
    where
        R: Receive + Send + 'static,
        C: Send + 'static,
        H: FnMut(&mut C, R::Item, bool) + Send + 'static,
    {
        self.start(ByValue(handler)).map_err(|failed| failed.with(|ByValue(handler)| handler))
    }

    /// As [`spawn`](Self::spawn), for [events](crate::event), which `handler` gets by reference. So they need
    /// not be cloned. Publishers may use the slots of a batch again when the handler has returned from its
    /// last event.
    ///
    /// # Errors
    ///
    /// As [`spawn`](Self::spawn).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::EventLoop;
    ///
    /// let (mut publisher, subscribable) = annulus::event::channel(8, || [0; 1920]);
    /// let brightness = EventLoop::builder(subscribable.subscribe(), 0)
    ///     .spawn_ref(|sum, row: &[u8; 1920], _end_of_batch| *sum += u32::from(row[0]))?;
    /// publisher.publish(|row| row[0] = 7).unwrap();
    /// publisher.publish(|row| row[0] = 8).unwrap();
    /// drop(publisher);
    /// assert_eq!(brightness.join().unwrap().context, 15);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn spawn_ref<H>(self, handler: H) -> Result<EventLoop<C>, SpawnError<R, C, H>>
    where
        R: ReceiveRef + Send + 'static,
        C: Send + 'static,
        H: FnMut(&mut C, &R::Item, bool) + Send + 'static,
    {
        self.start(ByRef(handler)).map_err(|failed| failed.with(|ByRef(handler)| handler))
    }

    /// Begins the thread, or gives everything back.
    fn start<F>(self, feed: F) -> Result<EventLoop<C>, SpawnError<R, C, F>>
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
        let body = {
            let place = Arc::clone(&place);
            move || {
                let Some((builder, feed)) = take(&place) else {
                    unreachable!("nobody else takes it meanwhile")
                };
                drop(place);
                Left::by(|| builder.run(feed))
            }
        };
        match spawn(thread::Builder::new().name(name), core, body) {
            Ok(thread) => Ok(EventLoop::new(stopper, thread)),
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
        let strategy = strategy.filter(|_| !mutated!("loop_waits_like_its_ring"));
        let strategy = strategy.unwrap_or(receiver.strategy());
        Run { receiver, context, feed, idle, strategy, most, control }.run()
    }
}

impl<R, C> fmt::Debug for Builder<R, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("name", &self.name)
            .field("core", &self.core)
            .field("wait_strategy", &self.strategy)
            .field("max_batch", &self.most)
            .field("idle_timeout", &self.idle.as_ref().map(|idle| idle.timeout))
            .finish_non_exhaustive()
    }
}

/// The error of a [`spawn`](Builder::spawn): the event loop has no thread. It has the builder, with the
/// receiver and the context, and the handler: [`into_parts`](Self::into_parts) gives them back. Where they
/// are of no more use, `?` makes it an [`io::Error`] with the same text.
///
/// ```
/// use annulus::EventLoop;
///
/// let (mut producer, consumer) = annulus::spsc::channel(4);
/// let builder = EventLoop::builder(consumer, 0).core(1_000_000);
/// let error = builder.spawn(|sum, number: i32, _| *sum += number).unwrap_err();
/// assert!(error.to_string().contains("CPU 1000000"));
///
/// let (builder, handler) = error.into_parts();
/// let event_loop = builder.core(None).spawn(handler).unwrap();
/// producer.send(5).unwrap();
/// drop(producer);
/// assert_eq!(event_loop.join().unwrap().context, 5);
/// ```
pub struct SpawnError<R, C, H> {
    failure: NoThread,
    parts: Box<(Builder<R, C>, H)>,
}

impl<R, C, H> SpawnError<R, C, H> {
    fn new(failure: NoThread, builder: Builder<R, C>, handler: H) -> Self {
        Self { failure, parts: Box::new((builder, handler)) }
    }

    /// The same, with the handler in another form.
    fn with<G>(self, form: impl FnOnce(H) -> G) -> SpawnError<R, C, G> {
        let (builder, handler) = *self.parts;
        SpawnError::new(self.failure, builder, form(handler))
    }

    /// The builder and the handler.
    pub fn into_parts(self) -> (Builder<R, C>, H) {
        *self.parts
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
            // Unreached: the system has no thread to give, which no test of event loops can bring about
            NoThread::Begin(_) => write!(f, "can't begin the thread {name:?} of an event loop"),
            NoThread::Cpu(error) => {
                write_no_cpu(f, format_args!("the thread {name:?} of an event loop"), error)
            }
        }
    }
}

impl<R, C, H> From<SpawnError<R, C, H>> for io::Error {
    /// The builder and the handler are dropped.
    fn from(error: SpawnError<R, C, H>) -> Self {
        Self::new(error.failure.kind(), error.to_string())
    }
}

impl<R, C, H> Error for SpawnError<R, C, H> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(self.failure.error())
    }
}
