//! [`Input`]: where messages go into a pipeline.

use alloc::sync::Arc;
use core::fmt;
use std::sync::{Mutex, PoisonError};

use super::port::{BoxOutlet, CountedProducer, Outlet};
use crate::error::{PublishError, TryPublishError};

/// Where messages go into a pipeline; made by [`Builder::input`](super::Builder::input).
///
/// Until the pipeline is built, each message is given back. When the input is dropped, the pipeline works on
/// what it has, and ends. An input may move to another thread.
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
    Other(BoxOutlet<T>),
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
            Way::Other(outlet) => outlet.send(message, None).map_err(PublishError),
        }
    }

    /// Sends `message` into the pipeline if there is room. Never waits.
    ///
    /// # Errors
    ///
    /// [`Full`](TryPublishError::Full): there is no room. [`Closed`](TryPublishError::Closed): as
    /// [`publish`](Self::publish). Both give the message back.
    #[doc(alias = "try_send")]
    pub fn try_publish(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        self.connect();
        match &mut self.way {
            Way::Unbuilt(_) => Err(TryPublishError::Closed(message)),
            Way::Queue(producer) => producer.try_send(message),
            Way::Other(outlet) => outlet.try_send(message),
        }
    }

    /// Whether a [`publish`](Self::publish) would fail now. Until the pipeline is built it would.
    #[must_use]
    pub fn is_closed(&mut self) -> bool {
        self.connect();
        match &self.way {
            Way::Unbuilt(_) => true,
            Way::Queue(producer) => producer.is_closed(),
            Way::Other(outlet) => outlet.is_closed(),
        }
    }

    /// Takes what the build has left.
    fn connect(&mut self) {
        if let Way::Unbuilt(slot) = &self.way {
            if let Some(outlet) = slot.take() {
                self.way = outlet.into_producer().map_or_else(Way::Other, Way::Queue);
            }
        }
    }
}

impl<T: Send> fmt::Debug for Input<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").finish_non_exhaustive()
    }
}

/// Where the build leaves the ring for the input.
pub(super) struct Slot<T>(Arc<Mutex<Option<BoxOutlet<T>>>>);

impl<T> Slot<T> {
    pub(super) fn new() -> Self {
        Self(Arc::default())
    }

    pub(super) fn put(&self, outlet: BoxOutlet<T>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(outlet);
    }

    fn take(&self) -> Option<BoxOutlet<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
