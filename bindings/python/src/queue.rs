//! [`RawQueue`]: a queue that several consumers share. [`RawClaimed`]: a message that one of them has
//! claimed.

use std::sync::{Arc, Mutex, PoisonError, Weak};

use annulus::shm::dynamic::{Claimed, WorkQueue};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::about::About;
use crate::errors::{Which, error};
use crate::held::{Close, Held, OfThisProcess, close_at_exit};
use crate::lent::{Back, Given, Lends, Piece};
use crate::open::{Found, RawInvitation};

/// What the handle of a queue has. Its name goes first: it never leads to no queue.
struct Whole {
    _found: Found,
    queue: WorkQueue,
}

impl Lends for Whole {
    fn give_back(&mut self, _: &Piece, _: Back) -> Given {
        Given::Yes
    }
}

/// A queue that several consumers share, as a whole.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawQueue {
    about: About,
    invitation: Option<RawInvitation>,
    end: Arc<Held<Whole>>,
}

impl RawQueue {
    pub(crate) fn new(about: About, queue: WorkQueue, found: Found) -> Self {
        let invitation = found.invitation();
        let end = Arc::new(Held::new(Whole { _found: found, queue }));
        let weak: Weak<Held<Whole>> = Arc::downgrade(&end);
        close_at_exit(weak as Weak<dyn Close>);
        Self { about, invitation, end }
    }
}

#[pymethods]
impl RawQueue {
    /// How many messages wait to be received for the first time.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.end.now(py, |end| end.queue.len())
    }

    #[allow(clippy::unused_self, reason = "it is true, however long it is")]
    fn __bool__(&self) -> bool {
        true
    }

    /// How many producers are there.
    #[getter]
    fn producers(&self, py: Python<'_>) -> PyResult<usize> {
        self.end.now(py, |end| end.queue.producers().taken())
    }

    /// How many consumers are there.
    #[getter]
    fn consumers(&self, py: Python<'_>) -> PyResult<usize> {
        self.end.now(py, |end| end.queue.consumers().taken())
    }

    /// How many messages were given again.
    #[getter]
    fn given_again(&self, py: Python<'_>) -> PyResult<u64> {
        self.end.now(py, |end| end.queue.given_again())
    }

    /// How many messages of dead consumers were dropped.
    #[getter]
    fn dropped(&self, py: Python<'_>) -> PyResult<u64> {
        self.end.now(py, |end| end.queue.dropped())
    }

    /// Closes the queue, for all processes.
    fn end(&self, py: Python<'_>) -> PyResult<()> {
        self.end.now(py, |end| end.queue.close())
    }

    /// Whether the handle, or the queue, is closed.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.end.is_closed(py, |end| end.queue.is_closed())
    }

    /// What this process joins the queue by, if it has no name.
    #[getter]
    fn invitation(&self) -> Option<RawInvitation> {
        self.invitation.clone()
    }

    /// What the ring is.
    #[getter]
    fn about(&self) -> About {
        self.about.clone()
    }

    /// Takes the name back; the queue stays for those that have joined. A second call does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.end.close(py)
    }
}

/// A message that a consumer has claimed. Its end gives it back.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawClaimed(Mutex<Option<OfThisProcess<Claimed>>>);

impl RawClaimed {
    pub(crate) fn new(claimed: Claimed) -> Self {
        Self(Mutex::new(Some(OfThisProcess::new(claimed))))
    }

    fn with<R>(&self, py: Python<'_>, look: impl FnOnce(&Claimed) -> R) -> PyResult<R> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().ok_or_else(|| over(py))?.get(py).map(look)
    }

    fn taken(&self, py: Python<'_>) -> PyResult<Claimed> {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.as_ref().ok_or_else(|| over(py))?.get(py)?;
        Ok(kept.take().ok_or_else(|| over(py))?.into_inner())
    }
}

#[cold]
fn over(py: Python<'_>) -> PyErr {
    error(py, Which::Base, "this message is done or given back already: it was claimed once")
}

#[pymethods]
impl RawClaimed {
    /// The message. AnnulusError: it is done, or given back.
    fn message<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.with(py, |claimed| PyBytes::new(py, claimed.message()))
    }

    /// It is received: nobody has it again. AnnulusError: it was given back before.
    fn done(&self, py: Python<'_>) -> PyResult<()> {
        self.taken(py).map(Claimed::done)
    }

    /// Gives it back. Of one that is done, it does nothing.
    fn give_back(&self, py: Python<'_>) -> PyResult<()> {
        if self.is_over() { Ok(()) } else { self.taken(py).map(drop) }
    }

    /// Whether it is done, or given back.
    #[getter]
    fn is_over(&self) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_none()
    }

    /// How often the message was given before, 15 at most.
    #[getter]
    fn given_before(&self, py: Python<'_>) -> PyResult<u64> {
        self.with(py, Claimed::given_before)
    }
}
