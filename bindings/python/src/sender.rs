//! [`RawSender`].

use std::sync::{Arc, Weak};
use std::time::Duration;

use annulus::shm::dynamic::Sender;
use annulus::shm::{Peer, PeerState, PublishedName};
use annulus::{SendTimeoutError, TrySendError};
use pyo3::prelude::*;

use crate::about::About;
use crate::buffer::{Length, ReadBuffer};
use crate::errors::{Which, closed, closed_after, error};
use crate::held::{Close, Held, close_at_exit};
use crate::limit::Limit;

/// A batch of so many bytes is sent without the GIL.
pub(crate) const LONG: usize = 16 << 10;

/// What a sender has. The name goes first: it never leads to no ring.
struct End {
    _name: Option<PublishedName>,
    sender: Sender,
    /// Of a queue that this process has made.
    consumer: Option<Peer>,
}

impl End {
    fn peer_died(&self) -> bool {
        self.consumer.as_ref().is_some_and(|consumer| consumer.state() == PeerState::Dead)
    }
}

/// What became of one message.
enum Sent {
    Yes,
    Full,
    Closed { peer_died: bool },
}

/// The sending end of a ring.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawSender {
    about: About,
    owns_name: bool,
    end: Arc<Held<End>>,
}

impl RawSender {
    pub(crate) fn new(
        about: About,
        sender: Sender,
        name: Option<PublishedName>,
        consumer: Option<Peer>,
    ) -> Self {
        let owns_name = name.is_some();
        let end = Arc::new(Held::new(End { _name: name, sender, consumer }));
        let weak: Weak<Held<End>> = Arc::downgrade(&end);
        close_at_exit(weak as Weak<dyn Close>);
        Self { about, owns_name, end }
    }

    /// Sends without a wait.
    #[inline]
    fn send_now(&self, py: Python<'_>, message: &[u8]) -> PyResult<bool> {
        let sent = self.end.now(py, |end| match end.sender.try_send(message) {
            Ok(()) => Sent::Yes,
            Err(TrySendError::Full(())) => Sent::Full,
            Err(_) => Sent::Closed { peer_died: end.peer_died() },
        })?;
        match sent {
            Sent::Yes => Ok(true),
            Sent::Full => Ok(false),
            Sent::Closed { peer_died } => Err(self.closed(py, peer_died)),
        }
    }

    fn closed_text(&self, peer_died: bool) -> String {
        let name = &self.about.name;
        if peer_died {
            format!("the process that received from {name:?} has died")
        } else {
            format!("the ring {name:?} is closed: nothing can be sent any more")
        }
    }

    fn closed(&self, py: Python<'_>, peer_died: bool) -> PyErr {
        closed(py, peer_died, &self.closed_text(peer_died))
    }
}

#[pymethods]
impl RawSender {
    /// Sends one message; waits for room where the ring waits for receivers.
    ///
    /// Raises FullError, which is a TimeoutError, if no room came in that time; and ClosedError.
    #[pyo3(signature = (buffer, timeout=None))]
    fn send(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<()> {
        let buffer = ReadBuffer::of(buffer, Length::One(self.about.bytes))?;
        let message = buffer.bytes();
        if self.send_now(py, message)? {
            return Ok(());
        }
        let sent = self.end.wait(py, Limit::of(timeout)?, |end, slice| {
            match end.sender.send_timeout(message, slice) {
                Ok(()) => Some(Sent::Yes),
                Err(SendTimeoutError::Timeout(())) => None,
                Err(_) => Some(Sent::Closed { peer_died: end.peer_died() }),
            }
        })?;
        match sent {
            Some(Sent::Closed { peer_died }) => Err(self.closed(py, peer_died)),
            Some(_) => Ok(()),
            None => {
                let (name, seconds) = (&self.about.name, timeout.unwrap_or_default());
                Err(error(py, Which::Full, format!("no room came in {name:?} in {seconds} seconds")))
            }
        }
    }

    /// Sends one message without a wait, and returns whether there was room.
    fn try_send(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<bool> {
        let buffer = ReadBuffer::of(buffer, Length::One(self.about.bytes))?;
        self.send_now(py, buffer.bytes())
    }

    /// Sends the messages of the buffer, one after the other, and returns how many: fewer than all if the
    /// time ends.
    ///
    /// ClosedError says by its `sent` how many were sent before.
    #[pyo3(signature = (buffer, timeout=None))]
    fn send_batch(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<usize> {
        let buffer = ReadBuffer::of(buffer, Length::Many(self.about.bytes))?;
        let (run, limit) = (buffer.bytes(), Limit::of(timeout)?);
        let mut rest = run;
        let mut died = None;
        let mut step = |end: &mut End, slice: Option<Duration>| {
            // (Its own type says what of the run is left.)
            let refused = match slice {
                None => match end.sender.try_send_run(rest) {
                    Ok(()) => None,
                    Err(TrySendError::Full(left)) => Some((left, true)),
                    Err(TrySendError::Closed(left)) => Some((left, false)),
                },
                Some(slice) => match end.sender.send_run_timeout(rest, slice) {
                    Ok(()) => None,
                    Err(SendTimeoutError::Timeout(left)) => Some((left, true)),
                    Err(SendTimeoutError::Closed(left)) => Some((left, false)),
                },
            };
            let (left, is_full) = refused.unwrap_or((&[], false));
            let is_closed = refused.is_some() && !is_full;
            rest = left;
            if is_closed {
                died = Some(end.peer_died());
            }
            (!is_full).then_some(())
        };
        let first = if run.len() < LONG {
            self.end.now(py, |end| step(end, None))?
        } else {
            self.end.detached(py, |end| step(end, None))?
        };
        if first.is_none() {
            self.end.wait(py, limit, |end, slice| step(end, Some(slice)))?;
        }
        let sent = (run.len() - rest.len()) / self.about.bytes.max(1);
        match died {
            Some(peer_died) => Err(closed_after(py, peer_died, &self.closed_text(peer_died), sent)),
            None => Ok(sent),
        }
    }

    /// Waits until a lossless ring has so many subscribers, and returns whether it has. True at once of other
    /// rings.
    #[pyo3(signature = (count, timeout=None))]
    fn wait_for_subscribers(&self, py: Python<'_>, count: usize, timeout: Option<f64>) -> PyResult<bool> {
        if self.end.now(py, |end| end.sender.wait_for_subscribers_timeout(count, Duration::ZERO))? {
            return Ok(true);
        }
        let found = self.end.wait(py, Limit::of(timeout)?, |end, slice| {
            end.sender.wait_for_subscribers_timeout(count, slice).then_some(())
        })?;
        Ok(found.is_some())
    }

    /// The number of the next message, of a broadcast ring with one publisher.
    #[getter]
    fn sequence(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.end.now(py, |end| end.sender.sequence())
    }

    /// Whether the ring is closed.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.end.is_closed(py, |end| end.sender.is_closed())
    }

    /// Whether this handle has given the ring its name, and takes it back when it is closed.
    #[getter]
    fn owns_name(&self) -> bool {
        self.owns_name
    }

    /// The ring's name.
    #[getter]
    fn name(&self) -> &str {
        &self.about.name
    }

    /// Which ring it is.
    #[getter]
    fn kind(&self) -> &'static str {
        self.about.kind
    }

    /// How many messages the ring holds; a queue of several producers holds so many in all their places
    /// together.
    #[getter]
    fn capacity(&self) -> usize {
        self.about.capacity
    }

    /// How many bytes a message has.
    #[getter]
    fn message_bytes(&self) -> usize {
        self.about.bytes
    }

    /// What the messages are, as the ring says it; None if only their size is known.
    #[getter]
    fn schema(&self) -> Option<&str> {
        self.about.schema.as_deref()
    }

    /// Leaves the ring, as the end of the program does. A second call does nothing. Then other verbs raise
    /// ClosedError.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.end.close(py)
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __exit__(
        &self,
        py: Python<'_>,
        _type: &Bound<'_, PyAny>,
        _value: &Bound<'_, PyAny>,
        _traceback: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.end.close(py)
    }

    fn __repr__(&self) -> String {
        let About { name, kind, capacity, bytes, .. } = &self.about;
        format!("<RawSender of {name:?}: {kind}, {capacity} messages of {bytes} bytes>")
    }
}
