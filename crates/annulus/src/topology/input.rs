//! [`Input`]: where messages go into a pipeline.

use alloc::boxed::Box;
use alloc::sync::Arc;
use core::fmt;
use std::sync::{Mutex, PoisonError};

use super::port::{BoxEntry, CountedProducer, Entry, Outlet};
use crate::await_room::{Alone, AwaitRoom};
use crate::error::{PublishError, Refusal, TryPublishError};
use crate::room::{HasRoom, WaitsForRoom};
#[cfg(feature = "async")]
use crate::wait::Waiting;
use crate::wait::{Arm, Choice, Event, Finding, SendChoice, Sending, WaitStrategy};

/// Where messages go into a pipeline; made by [`Builder::input`](super::Builder::input).
///
/// Until the pipeline is built, each message is given back. When the input is dropped, the pipeline works on
/// what it has, and ends. An input may move to another thread.
///
/// It [waits for room](WaitsForRoom), so [`select!`](crate::select!) and [`Select`](crate::Select) take it.
pub struct Input<T: Send> {
    way: Way<T>,
}

/// Where an input's messages go.
enum Way<T: Send> {
    /// Not built yet, as far as the input knows.
    Unbuilt(Slot<T>),
    /// The most frequent one is here itself, so that a loop that publishes has no indirect call, and keeps
    /// the producer in registers (decision 0002).
    Queue(CountedProducer<T>),
    Other(BoxEntry<T>),
}

impl<T: Send + 'static> Input<T> {
    pub(super) fn new(slot: Slot<T>) -> Self {
        Self { way: Way::Unbuilt(slot) }
    }

    /// Sends `message` into the pipeline. Waits for room, as the pipeline's
    /// [strategy](super::Builder::wait_strategy) says.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the message back: the pipeline is not built yet, or was shut down or aborted,
    /// or the stages at its input are gone (they panicked, or nobody receives what they send).
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::topology::Pipeline;
    ///
    /// let (mut input, stages) = Pipeline::builder().input::<u64>();
    /// assert_eq!(input.publish(1).unwrap_err().into_inner(), 1); // not built yet
    /// let (mut output, pipeline) = stages.then(|x| x + 1).build();
    /// input.publish(1).unwrap();
    /// assert_eq!(output.recv(), Ok(2));
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
            Way::Unbuilt(_) => Err(PublishError(message)),
            Way::Queue(producer) => producer.send(message, None).map_err(PublishError),
            Way::Other(entry) => entry.send(message, None).map_err(PublishError),
        }
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
                Err(TryPublishError::Full(message)) if crate::sync::mutated!("input_gives_up") => {
                    return Err(PublishError(message));
                }
                Err(TryPublishError::Full(back)) => message = back,
            }
            // SAFETY: the events are in the ring, which the input keeps alive. Nobody waits before there is
            // one: an input without a ring is found closed at once, and one that has a ring keeps it.
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
    /// [`Full`](TryPublishError::Full): there is no room. [`Closed`](TryPublishError::Closed): as
    /// [`publish`](Self::publish). Both give the message back.
    ///
    /// # Examples
    ///
    /// ```
    /// use annulus::{TryPublishError, topology::Pipeline};
    ///
    /// let (mut input, stages) = Pipeline::builder().capacity(2).input::<u64>();
    /// assert!(matches!(input.try_publish(1), Err(TryPublishError::Closed(1)))); // not built yet
    /// let (mut output, pipeline) = stages.then(|x| x + 1).build();
    /// input.try_publish(1).unwrap();
    /// assert_eq!(output.recv(), Ok(2));
    /// # pipeline.shutdown();
    /// ```
    #[doc(alias = "try_send")]
    pub fn try_publish(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        self.connect();
        match &mut self.way {
            Way::Unbuilt(_) => Err(TryPublishError::Closed(message)),
            Way::Queue(producer) => producer.try_send(message),
            Way::Other(entry) => entry.try_send(message),
        }
    }

    /// Whether a [`publish`](Self::publish) would fail now. Until the pipeline is built it would.
    #[must_use]
    pub fn is_closed(&mut self) -> bool {
        self.connect();
        match &self.way {
            Way::Unbuilt(_) => true,
            Way::Queue(producer) => producer.is_closed(),
            Way::Other(entry) => entry.is_closed(),
        }
    }

    /// Takes what the build has left.
    fn connect(&mut self) {
        if let Way::Unbuilt(slot) = &self.way {
            if let Some(entry) = slot.take() {
                self.way = entry.into_producer().map_or_else(Way::Other, Way::Queue);
            }
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
    fn released(&self) -> &Event {
        match &self.way {
            Way::Unbuilt(slot) => &slot.0.event,
            Way::Queue(producer) => producer.released(),
            Way::Other(entry) => entry.released(),
        }
    }

    fn look_for_room(&mut self) -> Result<(), Refusal> {
        self.connect();
        match &mut self.way {
            Way::Unbuilt(_) => Err(Refusal::Closed),
            Way::Queue(producer) => producer.look_for_room(),
            Way::Other(entry) => entry.look_for_room(),
        }
    }

    fn strategy(&self) -> WaitStrategy {
        match &self.way {
            Way::Unbuilt(_) => WaitStrategy::default(),
            Way::Queue(producer) => producer.strategy(),
            Way::Other(entry) => entry.strategy(),
        }
    }
}

impl<T: Send> fmt::Debug for Input<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").finish_non_exhaustive()
    }
}

/// Where the build leaves the ring for the input.
pub(super) struct Slot<T>(Arc<Left<T>>);

struct Left<T> {
    ring: Mutex<Option<BoxEntry<T>>>,
    /// For whoever asks where an input without a ring waits. Nobody waits there.
    event: Event,
}

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        Self(Arc::new(Left { ring: Mutex::new(None), event: Event::new() }))
    }

    pub(super) fn put(&self, ring: BoxEntry<T>) {
        *self.0.ring.lock().unwrap_or_else(PoisonError::into_inner) = Some(ring);
    }

    fn take(&self) -> Option<BoxEntry<T>> {
        self.0.ring.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
