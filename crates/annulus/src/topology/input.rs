//! [`Input`]: where messages go into a pipeline.

use alloc::boxed::Box;
use core::fmt;

use super::early::{Early, EarlyRing};
use super::error::CloseReason;
use super::port::{CountedProducer, InputRing, Outlet, Writer};
use crate::error::{PublishError, Refusal, TryPublishError};
use crate::transmit::room::{Alone, AwaitRoom, HasRoom, WaitsForRoom};
#[cfg(feature = "async")]
use crate::wait::Waiting;
use crate::wait::{Arm, Choice, EventCount, Finding, SendChoice, Sending, WaitStrategy};

/// Where messages go into a pipeline; made by [`Builder::input`](super::Builder::input).
///
/// What is published before the pipeline is built waits for it, as many messages as the ring holds. Nothing
/// takes messages out before, so no verb waits for room then: without room, each gives the message back. If
/// the pipeline is never built, what waits is dropped with the builder.
///
/// When the input is dropped, the pipeline works on what it has, and ends. An input may move to another
/// thread.
///
/// It [waits for room](WaitsForRoom), so [`select!`](crate::select!) and [`Select`](crate::Select) take it.
pub struct Input<T: Send> {
    way: Way<T>,
}

/// Where an input's messages go.
enum Way<T: Send> {
    /// Not built yet, as far as the input knows.
    Unbuilt(Early<T>),
    /// The most frequent one is here itself, so that a loop that publishes has no indirect call, and keeps
    /// the producer in registers (decision 0002).
    Queue(CountedProducer<T>),
    Other(EarlyRing<T>),
}

impl<T: Send + 'static> Input<T> {
    pub(super) fn new(early: Early<T>) -> Self {
        Self { way: Way::Unbuilt(early) }
    }

    /// Sends `message` into the pipeline. Waits for room, as the pipeline's
    /// [strategy](super::Builder::wait_strategy) says.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the message back: the pipeline was shut down or aborted, or the stages at its
    /// input are gone (they panicked, or nobody receives what they send). Or the builder was dropped, the
    /// build failed, or the pipeline is not built yet and its ring is full: then build it first.
    /// [`close_reason`](Self::close_reason) says which it was.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::topology::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// input.publish(1).unwrap(); // waits for the build
    /// let (mut output, pipeline) = stages.then(|x| x + 1).build();
    /// input.publish(2).unwrap();
    /// assert_eq!((output.recv(), output.recv()), (Ok(2), Ok(3)));
    /// pipeline.shutdown();
    /// assert_eq!(input.publish(3).unwrap_err().into_inner(), 3);
    /// ```
    #[doc(alias = "send")]
    #[inline]
    pub fn publish(&mut self, message: T) -> Result<(), PublishError<T>> {
        if let Way::Queue(producer) = &mut self.way {
            return producer.send(message, None).map_err(PublishError);
        }
        self.publish_otherwise(message)
    }

    #[inline(never)]
    fn publish_otherwise(&mut self, message: T) -> Result<(), PublishError<T>> {
        self.connect();
        match &mut self.way {
            Way::Unbuilt(early) => {
                early.try_publish(message).map_err(|error| PublishError(error.into_inner()))
            }
            Way::Queue(producer) => producer.send(message, None).map_err(PublishError),
            Way::Other(ring) => ring.entry.send(message, None).map_err(PublishError),
        }
    }

    /// Sends the message that `make` returns, like [`publish`](Self::publish). `make` runs before anything is
    /// sent. If it panics, nothing is.
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::topology::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (mut output, pipeline) = stages.then(|x| x + 1).build();
    /// input.publish_with(|| 6 * 7).unwrap();
    /// assert_eq!(output.recv(), Ok(43));
    /// # drop(input);
    /// # pipeline.join().unwrap();
    /// ```
    #[inline]
    pub fn publish_with(&mut self, make: impl FnOnce() -> T) -> Result<(), PublishError<T>> {
        self.publish(make())
    }

    /// Sends all of `messages` into the pipeline, in order. Waits for room as often as necessary. There may
    /// be more messages than the ring holds.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives back the messages that were not sent, for the reasons of
    /// [`publish`](Self::publish).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::topology::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(2).input::<u64>();
    /// assert_eq!(input.publish_batch(&[1, 2, 3]).unwrap_err().into_inner(), [3]); // not built yet
    /// let (output, pipeline) = stages.then(|x| x * 2).build();
    /// let reader = std::thread::spawn(move || output.into_iter().sum::<u64>());
    /// input.publish_batch(&[3, 4, 5]).unwrap();
    /// drop(input);
    /// assert_eq!(reader.join().unwrap(), 30);
    /// # pipeline.join().unwrap();
    /// ```
    #[doc(alias = "send_batch")]
    #[inline]
    pub fn publish_batch<'m>(&mut self, messages: &'m [T]) -> Result<(), PublishError<&'m [T]>>
    where
        T: Copy,
    {
        let mut rest = messages;
        while let Some((first, others)) = rest.split_first() {
            if let Way::Queue(Writer { handle, counters, .. }) = &mut self.way {
                let sent = handle.try_send_batch(rest);
                counters.0.add(sent as u64);
                if sent > 0 {
                    rest = &rest[sent..];
                    continue;
                }
            }
            self.publish(*first).map_err(|_| PublishError(rest))?;
            rest = others;
        }
        Ok(())
    }

    /// Sends `message` into the pipeline like [`publish`](Self::publish), in a task: while there is no room,
    /// the task waits, not its thread.
    ///
    /// *Cancel safety*: a future that is dropped before it has returned `Ok` has sent nothing. The message is
    /// dropped with it.
    ///
    /// # Errors
    ///
    /// Those of [`publish`](Self::publish), also where the pipeline ends while this waits.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::topology::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(4).input::<u64>();
    /// let (output, pipeline) = stages.then(|x| x * 2).build();
    /// let reader = std::thread::spawn(move || output.into_iter().sum::<u64>());
    /// pollster::block_on(async {
    ///     for number in 1..=100 {
    ///         input.publish_async(number).await.unwrap(); // waits for the reader
    ///     }
    /// });
    /// drop(input);
    /// assert_eq!(reader.join().unwrap(), 10_100);
    /// # pipeline.join().unwrap();
    /// ```
    #[cfg(feature = "async")]
    #[cfg_attr(docsrs, doc(cfg(feature = "async")))]
    #[doc(alias = "send_async")]
    pub async fn publish_async(&mut self, mut message: T) -> Result<(), PublishError<T>> {
        loop {
            match self.try_publish(message) {
                Ok(()) => return Ok(()),
                Err(TryPublishError::Closed(message)) => return Err(PublishError(message)),
                Err(TryPublishError::Full(message))
                    if matches!(self.way, Way::Unbuilt(_)) || crate::sync::seeded!("input_gives_up") =>
                {
                    return Err(PublishError(message));
                }
                Err(TryPublishError::Full(back)) => message = back,
            }
            // SAFETY: the events are in the ring, which the input keeps alive. Nobody waits before it has
            // one: a look at an input without a ring never says that it is full, and one that has a ring
            // keeps it.
            let _room_or_end = unsafe { Waiting::new(AwaitRoom(self)) }.await;
        }
    }

    /// An arm of [`select!`](crate::select!).
    #[doc(hidden)]
    #[inline]
    pub fn send_in_select(&mut self) -> impl Choice<Found = impl SendChoice<T, PublishError<T>>> {
        // SAFETY: as in `publish_async`.
        let room = unsafe { Finding::new(AwaitRoom(self), AwaitRoom::strategy) };
        // A slot that was found is still free.
        Sending::new(room, |AwaitRoom(input), found, message| match found {
            Ok(()) => input.try_publish(message).map_err(|error| PublishError(error.into_inner())),
            Err(_) => Err(PublishError(message)),
        })
    }

    /// Sends `message` into the pipeline if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// [`Full`](TryPublishError::Full): there is no room. [`Closed`](TryPublishError::Closed): the pipeline,
    /// or its builder, is gone; see [`publish`](Self::publish). Both give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{TryPublishError, topology::Pipeline};
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(2).input::<u64>();
    /// assert!((0..2).all(|x| input.try_publish(x).is_ok()));
    /// assert_eq!(input.try_publish(2), Err(TryPublishError::Full(2))); // not built yet
    /// let (mut output, pipeline) = stages.then(|x| x + 1).build();
    /// assert_eq!((output.recv(), output.recv()), (Ok(1), Ok(2)));
    /// pipeline.shutdown();
    /// assert_eq!(input.try_publish(3), Err(TryPublishError::Closed(3)));
    /// ```
    #[doc(alias = "try_send")]
    pub fn try_publish(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        self.connect();
        match &mut self.way {
            Way::Unbuilt(early) => early.try_publish(message),
            Way::Queue(producer) => producer.try_send(message),
            Way::Other(ring) => ring.entry.try_send(message),
        }
    }

    /// How many messages have been published, those before the build included.
    ///
    /// ```
    /// use annulus::topology::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(64).input::<u64>();
    /// input.publish(1).unwrap();
    /// let (output, pipeline) = stages.then(|x| x + 1).build();
    /// input.publish_batch(&[2, 3]).unwrap();
    /// assert_eq!((input.published(), input.capacity()), (3, 64));
    /// # drop((input, output));
    /// # pipeline.join().unwrap();
    /// ```
    #[must_use]
    pub fn published(&self) -> u64 {
        match &self.way {
            Way::Unbuilt(early) => early.published(),
            Way::Queue(producer) => producer.counters.0.get(),
            Way::Other(ring) => ring.sent.0.get(),
        }
    }

    /// How many messages the ring behind the input holds. Before its stage is added, this is the capacity
    /// that the [builder](super::Builder::capacity) was given.
    #[must_use]
    pub fn capacity(&self) -> usize {
        match &self.way {
            Way::Unbuilt(early) => early.capacity(),
            Way::Queue(producer) => producer.handle.capacity(),
            Way::Other(ring) => ring.capacity,
        }
    }

    /// Whether the pipeline takes no more messages, so that a [`publish`](Self::publish) would fail: it, or
    /// its builder, has come to its end.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        match &self.way {
            Way::Unbuilt(early) => early.is_closed(),
            Way::Queue(producer) => producer.is_closed(),
            Way::Other(ring) => ring.entry.is_closed(),
        }
    }

    /// Why the pipeline takes no more messages, if it takes none: for whoever had one back. After a panic of
    /// a stage it says which one, and with what.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::topology::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// let (mut output, pipeline) = stages.then(|x| 10 / x).named("divide").build();
    /// assert!(input.close_reason().is_none());
    /// input.publish(0).unwrap();
    /// while input.publish(1).is_ok() {}
    /// assert_eq!(
    ///     input.close_reason().unwrap().to_string(),
    ///     "the pipeline takes no more messages: the stage \"divide\" panicked: attempt to divide by zero"
    /// );
    /// # assert!(output.recv().is_err());
    /// # assert!(pipeline.join().is_err());
    /// ```
    #[must_use]
    pub fn close_reason(&mut self) -> Option<CloseReason> {
        self.connect();
        self.is_closed().then(|| match &self.way {
            Way::Unbuilt(_) => CloseReason::NotBuilt,
            Way::Queue(producer) => producer.readers.close_reason(),
            Way::Other(ring) => ring.entry.readers().close_reason(),
        })
    }

    /// Takes what the build has left.
    fn connect(&mut self) {
        let Way::Unbuilt(early) = &self.way else { return };
        if let Some(EarlyRing { entry, sent, capacity }) = early.take() {
            let other = |entry| Way::Other(EarlyRing { entry, sent, capacity });
            self.way = entry.into_producer().map_or_else(other, Way::Queue);
        }
    }
}

impl<T: Send + 'static> WaitsForRoom for Input<T> {}

impl<T: Send + 'static> HasRoom for Input<T> {
    fn room(&mut self) -> Box<dyn Arm + '_> {
        // SAFETY: as in `publish_async`.
        Box::new(unsafe { Finding::that_takes_nothing(AwaitRoom(self), AwaitRoom::strategy) })
    }
}

impl<T: Send + 'static> Alone for Input<T> {
    fn released(&self) -> &EventCount {
        match &self.way {
            Way::Unbuilt(early) => early.event(),
            Way::Queue(producer) => producer.released(),
            Way::Other(ring) => ring.entry.released(),
        }
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.connect();
        match &mut self.way {
            // Nobody waits here: a publish gives the message back.
            Way::Unbuilt(early) => early.look_for_room().map_err(|_| Refusal::Closed),
            Way::Queue(producer) => producer.look_for_room(),
            Way::Other(ring) => ring.entry.look_for_room(),
        }
    }

    fn strategy(&self) -> WaitStrategy {
        match &self.way {
            Way::Unbuilt(_) => WaitStrategy::default(),
            Way::Queue(producer) => producer.strategy(),
            Way::Other(ring) => ring.entry.strategy(),
        }
    }
}

impl<T: Send> fmt::Debug for Input<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").finish_non_exhaustive()
    }
}
