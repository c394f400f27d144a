//! [`Input`]: where messages go into a pipeline.

use alloc::sync::Arc;
use core::fmt;
use std::sync::{Mutex, PoisonError};

use super::port::BoxOutlet;
use crate::error::{PublishError, TryPublishError};

/// Where messages go into a pipeline; made by [`Builder::input`](super::Builder::input).
///
/// Until the pipeline is built, each message is given back. When the input is dropped, the pipeline works on
/// what it has, and ends. An input may move to another thread.
pub struct Input<T> {
    slot: Slot<T>,
    outlet: Option<BoxOutlet<T>>,
}

impl<T> Input<T> {
    pub(super) fn new(slot: Slot<T>) -> Self {
        Self { slot, outlet: None }
    }

    /// Sends `message` into the pipeline. Waits for room, as the pipeline's
    /// [strategy](super::Builder::wait_strategy) says.
    ///
    /// # Errors
    ///
    /// [`PublishError`] gives the message back: the pipeline is not built yet, or was shut down or aborted, or
    /// the stages at its input are gone (they panicked, or nobody receives what they send).
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
        match self.outlet() {
            Some(outlet) => outlet.send(message, None).map_err(PublishError),
            None => Err(PublishError(message)),
        }
    }

    /// Sends `message` into the pipeline if there is room. Does not wait, with one exception: in front of a
    /// [parallel](super::Stages::then_parallel) stage or of clones it is the stage before that waits.
    ///
    /// # Errors
    ///
    /// [`Full`](TryPublishError::Full): there is no room. [`Closed`](TryPublishError::Closed): as
    /// [`publish`](Self::publish). Both give the message back.
    #[doc(alias = "try_send")]
    #[inline]
    pub fn try_publish(&mut self, message: T) -> Result<(), TryPublishError<T>> {
        match self.outlet() {
            Some(outlet) => outlet.try_send(message),
            None => Err(TryPublishError::Closed(message)),
        }
    }

    /// Whether a [`publish`](Self::publish) would fail now. Until the pipeline is built it would.
    #[must_use]
    pub fn is_closed(&mut self) -> bool {
        self.outlet().is_none_or(|outlet| outlet.is_closed())
    }

    #[inline]
    fn outlet(&mut self) -> Option<&mut BoxOutlet<T>> {
        if self.outlet.is_none() {
            self.outlet = self.slot.take();
        }
        self.outlet.as_mut()
    }
}

impl<T> fmt::Debug for Input<T> {
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

    #[cold]
    fn take(&self) -> Option<BoxOutlet<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl<T> Clone for Slot<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}
