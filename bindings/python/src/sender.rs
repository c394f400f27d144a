//! [`RawSender`].

use std::sync::{Arc, Weak};
use std::time::Duration;

use annulus::shm::dynamic::Sender;
use annulus::shm::{Peer, PeerState};
use annulus::{SendTimeoutError, TrySendError};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::about::About;
use crate::buffer::{Length, ReadBuffer};
use crate::errors::{Which, closed, closed_after, error};
use crate::held::{Close, Held, close_at_exit};
use crate::lent::{Back, Given, Lender, Lends, Piece, RawLoan};
use crate::limit::Limit;
use crate::open::{Found, RawInvitation};

/// A batch of so many bytes is sent without the GIL.
pub(crate) const LONG: usize = 16 << 10;

/// What a sender has. Its name goes first: it never leads to no ring.
struct End {
    _found: Found,
    sender: Sender,
    /// Of a queue that this process has made.
    consumer: Option<Peer>,
}

impl End {
    fn peer_died(&self) -> bool {
        let made = self.consumer.as_ref().map(Peer::state);
        made.or_else(|| self.sender.consumer()) == Some(PeerState::Dead)
    }
}

impl Lends for End {
    fn give_back(&mut self, _: &Piece, back: Back) -> Given {
        let Back::First(count @ 1..) = back else { return Given::Yes };
        // The same room comes again. (Less of it only where another process moves a ring's numbers back.)
        let sent = match self.sender.reserve_timeout(count, Duration::ZERO) {
            Some(Ok(room)) if room.len() >= count => room.commit(count).is_ok(),
            _ => false,
        };
        if sent { Given::Yes } else { Given::Closed { peer_died: self.peer_died() } }
    }
}

/// The error where a broadcast ring is to lend memory.
#[cold]
pub(crate) fn lends_nothing(about: &About) -> PyErr {
    let About { ring, kind, .. } = about;
    PyTypeError::new_err(format!(
        "{ring} is of the kind {kind}, which lends no memory: the kinds spsc and mpsc do"
    ))
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
    invitation: Option<RawInvitation>,
    end: Arc<Held<End>>,
}

impl RawSender {
    pub(crate) fn new(about: About, sender: Sender, found: Found, consumer: Option<Peer>) -> Self {
        let (owns_name, invitation) = (found.owns_name(), found.invitation());
        let end = Arc::new(Held::new(End { _found: found, sender, consumer }));
        let weak: Weak<Held<End>> = Arc::downgrade(&end);
        close_at_exit(weak as Weak<dyn Close>);
        Self { about, owns_name, invitation, end }
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

    fn closed(&self, py: Python<'_>, peer_died: bool) -> PyErr {
        closed_to_send(py, &self.about.ring, peer_died)
    }
}

/// `ClosedError` of a verb that sends.
pub(crate) fn closed_to_send(py: Python<'_>, ring: &str, peer_died: bool) -> PyErr {
    closed(py, peer_died, &closed_text(ring, peer_died))
}

fn closed_text(ring: &str, peer_died: bool) -> String {
    if peer_died {
        format!("the process that received from {ring} has died")
    } else {
        format!("{ring} is closed: nothing can be sent any more")
    }
}

/// `FullError`.
pub(crate) fn full(py: Python<'_>, ring: &str, timeout: Option<f64>) -> PyErr {
    let seconds = timeout.unwrap_or_default();
    error(py, Which::Full, format!("no room came in {ring} in {seconds} seconds"))
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
        Limit::check(timeout)?;
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
            None => Err(full(py, &self.about.ring, timeout)),
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
            Some(peer_died) => {
                Err(closed_after(py, peer_died, &closed_text(&self.about.ring, peer_died), sent))
            }
            None => Ok(sent),
        }
    }

    /// Reserves room in a queue for up to `most` messages, to write them there; waits for room for one. The
    /// room has any bytes at first.
    ///
    /// FullError (a TimeoutError), ClosedError, LentError. TypeError: a broadcast ring lends none.
    #[pyo3(signature = (most, timeout=None))]
    fn reserve(&self, py: Python<'_>, most: usize, timeout: Option<f64>) -> PyResult<RawLoan> {
        if most < 1 {
            return Err(PyValueError::new_err("most is 0: room is reserved for at least one message"));
        }
        let limit = Limit::of(timeout)?;
        let bytes = self.about.bytes;
        let lent = self.end.lend(py, limit, |end, slice| {
            let room = match end.sender.reserve_timeout(most, slice) {
                None => return Some(Err(None)),
                Some(Ok(mut room)) => Ok(Piece::to_write(room.as_mut_ptr(), room.len() * bytes)),
                Some(Err(SendTimeoutError::Timeout(()))) => return None,
                Some(Err(_)) => Err(()),
            };
            Some(room.map_err(|()| Some(end.peer_died())))
        })?;
        match lent {
            Some(Ok(loan)) => {
                let lender = Arc::clone(&self.end) as Arc<dyn Lender>;
                RawLoan::new(py, loan, lender, bytes, &self.about.ring)
            }
            Some(Err(Some(peer_died))) => Err(self.closed(py, peer_died)),
            Some(Err(None)) => Err(lends_nothing(&self.about)),
            None => Err(full(py, &self.about.ring, timeout)),
        }
    }

    /// Waits until a lossless ring has so many subscribers, and returns whether it has: False once the time
    /// has passed, or if the ring is closed. True at once of other rings.
    #[pyo3(signature = (count, timeout=None))]
    fn wait_for_subscribers(&self, py: Python<'_>, count: usize, timeout: Option<f64>) -> PyResult<bool> {
        if self.end.now(py, |end| end.sender.wait_for_subscribers_timeout(count, Duration::ZERO))? {
            return Ok(true);
        }
        let come = self.end.wait(py, Limit::of(timeout)?, |end, slice| {
            let have_come = end.sender.wait_for_subscribers_timeout(count, slice);
            (have_come || end.sender.is_closed()).then_some(have_come)
        })?;
        Ok(come.unwrap_or(false))
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

    /// What this process joins the ring by, if it has no name and was made by this handle.
    #[getter]
    fn invitation(&self) -> Option<RawInvitation> {
        self.invitation.clone()
    }

    /// What the ring is.
    #[getter]
    fn about(&self) -> About {
        self.about.clone()
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
        let About { ring, kind, capacity, bytes, .. } = &self.about;
        format!("<RawSender of {ring}: {kind}, {capacity} messages of {bytes} bytes>")
    }
}
