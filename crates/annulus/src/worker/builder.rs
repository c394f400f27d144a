//! [`Builder`]: how the thread of a worker is named, where it runs and how it waits.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::sync::Arc;
use core::fmt;
use std::time::Duration;

use super::run::Idle;
use super::{Stopper, Worker};
use crate::WaitStrategy;
use crate::base::drop_all::Contained;
use crate::wait::Control;

/// The longest batch, unless the builder says otherwise.
const MOST: usize = 64;

/// Makes a [`Worker`]; made by [`Worker::builder`].
///
/// ```
/// use annulus::{Worker, WaitStrategy};
/// use std::time::Duration;
///
/// let (mut producer, consumer) = annulus::spsc::channel::<String>(64);
/// let log = Worker::builder(consumer, Vec::new())
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
    pub(super) receiver: R,
    pub(super) context: Contained<C>,
    pub(super) name: String,
    pub(super) core: Option<usize>,
    pub(super) strategy: Option<WaitStrategy>,
    pub(super) most: usize,
    pub(super) idle: Option<Idle<C>>,
    pub(super) control: Arc<Control>,
}

impl<C> Worker<C> {
    /// A builder of a worker that receives from `receiver`: any receiving handle (see
    /// [`Waitable`](crate::Waitable)). `context` is what the handler and the idle callback share; `()` if
    /// they share nothing.
    ///
    /// ```
    /// use annulus::Worker;
    ///
    /// let (mut publisher, subscribable) = annulus::broadcast::lossless(8);
    /// let sum = Worker::builder(subscribable.subscribe(), 0)
    ///     .spawn(|sum, number: u64, _| *sum += number)?;
    /// publisher.publish_batch(&[1, 2, 3]).unwrap();
    /// drop(publisher); // the end of the ring is the end of the worker
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
            context: Contained::new(context),
            name: "worker".to_string(),
            core: None,
            strategy: None,
            most: MOST,
            idle: None,
            control: Arc::new(Control::new()),
        }
    }

    /// The name of the thread: "worker" if this is not called. (Linux shows the first 15 bytes.)
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
    /// use annulus::Worker;
    ///
    /// let (producer, consumer) = annulus::spsc::channel::<u64>(4);
    /// let builder = Worker::builder(consumer, ()).core(0);
    /// let worker = builder.spawn(|(), _, _| ()).or_else(|error| {
    ///     eprintln!("{error}"); // and says where this thread may run
    ///     let (builder, handler) = error.into_parts();
    ///     builder.core(None).spawn(handler)
    /// })?;
    /// # drop((producer, worker));
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
    /// at its end. (Stages behind do not wait for that.)
    ///
    /// ```
    /// use annulus::Worker;
    ///
    /// let (mut producer, consumer) = annulus::spsc::channel(8);
    /// (1..=5).for_each(|number| producer.send(number).unwrap());
    /// let worker = Worker::builder(consumer, vec![])
    ///     .max_batch(2)
    ///     .spawn(|ends, number: i32, end_of_batch| ends.extend(end_of_batch.then_some(number)))?;
    /// drop(producer);
    /// assert_eq!(worker.join().unwrap().context, [2, 4, 5]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn max_batch(mut self, most: usize) -> Self {
        self.most = most.max(1);
        self
    }

    /// Calls `callback` each time nothing came for `timeout`, on the worker's thread, and goes on. The time
    /// is measured on the monotonic clock, from when the worker found nothing to do, or from the last call.
    /// With a `timeout` of zero it is called whenever nothing is there, so the thread never sleeps.
    ///
    /// A stop ends the calls, except one that was about to begin. If this is called again, only the last
    /// callback counts.
    ///
    /// ```
    /// use annulus::Worker;
    /// use std::time::Duration;
    ///
    /// let (producer, consumer) = annulus::spsc::channel::<u64>(4);
    /// let builder = Worker::builder(consumer, 0);
    /// let stopper = builder.stopper();
    /// let worker = builder
    ///     .on_idle(Duration::from_millis(1), move |calls| {
    ///         *calls += 1;
    ///         if *calls == 3 {
    ///             stopper.stop();
    ///         }
    ///     })
    ///     .spawn(|_, _, _| ())?;
    /// assert_eq!(worker.join().unwrap().context, 3);
    /// # drop(producer);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[doc(alias = "tick")]
    pub fn on_idle(mut self, timeout: Duration, callback: impl FnMut(&mut C) + Send + 'static) -> Self {
        self.idle = Some(Idle { timeout, callback: Contained::new(Box::new(callback)) });
        self
    }

    /// A handle that stops the worker, for its handler for example: [`Stopper`] shows that. A worker that was
    /// stopped before it begins handles what was sent before, or nothing, and ends.
    pub fn stopper(&self) -> Stopper {
        Stopper { control: Arc::clone(&self.control) }
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
