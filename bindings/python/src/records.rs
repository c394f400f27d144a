//! [`RawBytesProducer`] and [`RawBytesConsumer`]: queues of records of any length.

use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use annulus::queue::bytes::{TryWriteError, WriteTimeoutError};
use annulus::shm::{Peer, PeerState, Shared, bytes};
use annulus::{Notifier, Readiness, RecvTimeoutError, TryRecvError};
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::about::{About, state_name};
use crate::buffer::{Length, ReadBuffer};
use crate::errors::end_of_iteration;
use crate::held::{Close, Held, close_at_exit};
use crate::lent::{Back, Given, Lender, Lends, Piece, RawLoan};
use crate::limit::{Limit, whole_capacity};
use crate::open::{
    Found, Place, RawInvitation, info_of, introduced, invitation, settings, strategy, when_gone,
};
use crate::receiver::{end_of, late};
use crate::refusals::{Sides, of_share};
use crate::sender::{closed_to_send, full};

/// What a producer has. Its name goes first: it never leads to no queue.
struct Sending {
    _found: Found,
    producer: bytes::Producer,
    consumer: Peer,
}

/// What a consumer has.
struct Receiving {
    consumer: Notifier<bytes::Consumer>,
    producer: Peer,
}

impl Lends for Sending {
    fn give_back(&mut self, piece: &Piece, back: Back) -> Given {
        let Back::First(len) = back else { return Given::Yes };
        // The same room comes again.
        let sent = match self.producer.try_reserve(piece.len()) {
            Ok(room) => room.commit_len(len).is_ok(),
            Err(_) => false,
        };
        if sent { Given::Yes } else { Given::Closed { peer_died: self.consumer.state() == PeerState::Dead } }
    }
}

impl Lends for Receiving {
    fn give_back(&mut self, piece: &Piece, back: Back) -> Given {
        if let Back::First(_) = back {
            // The record that was lent is the next one, as long as it was then.
            self.consumer.get_mut().receive_forgotten(piece.len());
        }
        Given::Yes
    }
}

/// What became of a record.
enum Sent {
    Yes,
    Full,
    Closed { peer_died: bool },
}

/// What came.
enum Got {
    Record(Vec<u8>),
    Nothing,
    End { has_died: bool },
}

/// The producer of a queue of records, which are bytes of any length.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawBytesProducer {
    about: About,
    max_len: usize,
    invitation: Option<RawInvitation>,
    end: Arc<Held<Sending>>,
}

impl RawBytesProducer {
    fn too_long(&self, bytes: usize) -> PyErr {
        let (ring, most) = (&self.about.ring, self.max_len);
        PyValueError::new_err(format!(
            "the record has {bytes} bytes, and {ring} takes up to {most}: half its capacity"
        ))
    }

    fn closed(&self, py: Python<'_>, peer_died: bool) -> PyErr {
        closed_to_send(py, &self.about.ring, peer_died)
    }

    fn send_now(&self, py: Python<'_>, record: &[u8]) -> PyResult<bool> {
        if record.len() > self.max_len {
            return Err(self.too_long(record.len()));
        }
        let sent = self.end.now(py, |end| match end.producer.try_write(record) {
            Ok(()) => Sent::Yes,
            Err(TryWriteError::Full) => Sent::Full,
            Err(_) => Sent::Closed { peer_died: end.consumer.state() == PeerState::Dead },
        })?;
        match sent {
            Sent::Yes => Ok(true),
            Sent::Full => Ok(false),
            Sent::Closed { peer_died } => Err(self.closed(py, peer_died)),
        }
    }
}

#[pymethods]
impl RawBytesProducer {
    /// Sends a record; waits for room. FullError, which is a TimeoutError; ClosedError. ValueError: it is
    /// longer than `max_len`.
    #[pyo3(signature = (record, timeout=None))]
    fn send(&self, py: Python<'_>, record: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<()> {
        let buffer = ReadBuffer::of(record, Length::Any)?;
        let record = buffer.bytes();
        Limit::check(timeout)?;
        if self.send_now(py, record)? {
            return Ok(());
        }
        let sent = self.end.wait(py, Limit::of(timeout)?, |end, slice| {
            match end.producer.write_timeout(record, slice) {
                Ok(()) => Some(Sent::Yes),
                Err(WriteTimeoutError::Timeout) => None,
                Err(_) => Some(Sent::Closed { peer_died: end.consumer.state() == PeerState::Dead }),
            }
        })?;
        match sent {
            Some(Sent::Closed { peer_died }) => Err(self.closed(py, peer_died)),
            Some(_) => Ok(()),
            None => Err(full(py, &self.about.ring, timeout)),
        }
    }

    /// Reserves room for a record of up to so many bytes, to write it there; waits for room. The room has any
    /// bytes at first. The errors of `send`; LentError.
    #[pyo3(signature = (max_bytes, timeout=None))]
    fn reserve(&self, py: Python<'_>, max_bytes: usize, timeout: Option<f64>) -> PyResult<RawLoan> {
        if max_bytes > self.max_len {
            return Err(self.too_long(max_bytes));
        }
        let lent = self.end.lend(py, Limit::of(timeout)?, |end, slice| {
            match end.producer.reserve_timeout(max_bytes, slice) {
                Ok(mut room) => return Some(Ok(Piece::to_write(room.as_mut_ptr(), room.len()))),
                Err(WriteTimeoutError::Timeout) => return None,
                Err(_) => {}
            }
            Some(Err(end.consumer.state() == PeerState::Dead))
        })?;
        match lent {
            Some(Ok(loan)) => {
                let lender = Arc::clone(&self.end) as Arc<dyn Lender>;
                RawLoan::new(py, loan, lender, 1, &self.about.ring)
            }
            Some(Err(peer_died)) => Err(self.closed(py, peer_died)),
            None => Err(full(py, &self.about.ring, timeout)),
        }
    }

    /// Sends a record without a wait. False: there is no room.
    fn try_send(&self, py: Python<'_>, record: &Bound<'_, PyAny>) -> PyResult<bool> {
        let buffer = ReadBuffer::of(record, Length::Any)?;
        self.send_now(py, buffer.bytes())
    }

    /// How long a record may be: half the capacity.
    #[getter]
    fn max_len(&self) -> usize {
        self.max_len
    }

    /// What this process joins the queue by, if it has no name and was made by this handle.
    #[getter]
    fn invitation(&self) -> Option<RawInvitation> {
        self.invitation.clone()
    }

    /// What the ring is.
    #[getter]
    fn about(&self) -> About {
        self.about.clone()
    }

    /// Whether the consumer's process is there.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.end.now(py, |end| state_name(end.consumer.state()))
    }

    /// Whether the queue is closed.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.end.is_closed(py, |end| end.producer.is_closed())
    }

    /// Leaves the queue, as the end of the program does. A second call does nothing. Then other verbs raise
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
        let About { ring, capacity, .. } = &self.about;
        format!("<RawBytesProducer of {ring}: records in {capacity} bytes>")
    }
}

/// The consumer of a queue of records.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawBytesConsumer {
    about: About,
    max_len: usize,
    end: Arc<Held<Receiving>>,
}

impl RawBytesConsumer {
    fn record<'py>(&self, py: Python<'py>, got: Got) -> PyResult<Option<Bound<'py, PyBytes>>> {
        match got {
            Got::Record(record) => Ok(Some(PyBytes::new(py, &record))),
            Got::Nothing => Ok(None),
            Got::End { has_died } => Err(end_of(py, &self.about.ring, has_died)),
        }
    }

    fn end_of(end: &Receiving) -> Got {
        Got::End { has_died: end.producer.state() == PeerState::Dead }
    }
}

#[pymethods]
impl RawBytesConsumer {
    /// Receives a record. TimeoutError, ClosedError.
    #[pyo3(signature = (timeout=None))]
    fn recv<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyBytes>> {
        Limit::check(timeout)?;
        if let Some(record) = self.try_recv(py)? {
            return Ok(record);
        }
        let got = self.end.wait(py, Limit::of(timeout)?, |end, slice| {
            match end.consumer.get_mut().read_timeout(slice) {
                Ok(record) => return Some(Got::Record(record.to_vec())),
                Err(RecvTimeoutError::Timeout) => return None,
                Err(_) => {}
            }
            Some(Self::end_of(end))
        })?;
        self.record(py, got.unwrap_or(Got::Nothing))?.ok_or_else(|| late(py, &self.about.ring, timeout))
    }

    /// Lends the next record where it lies in the queue, and waits for it. TimeoutError, ClosedError,
    /// LentError.
    #[pyo3(signature = (timeout=None))]
    fn readable(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<RawLoan> {
        let lent = self.end.lend(py, Limit::of(timeout)?, |end, slice| {
            match end.consumer.get_mut().read_timeout(slice) {
                Ok(record) => {
                    let piece = Piece::to_read(record.shared().as_ptr(), record.len());
                    // Its drop would receive it. So it comes again.
                    std::mem::forget(record);
                    return Some(Ok(piece));
                }
                Err(RecvTimeoutError::Timeout) => return None,
                Err(_) => {}
            }
            Some(Err(end.producer.state() == PeerState::Dead))
        })?;
        match lent {
            Some(Ok(loan)) => {
                let lender = Arc::clone(&self.end) as Arc<dyn Lender>;
                RawLoan::new(py, loan, lender, 1, &self.about.ring)
            }
            Some(Err(has_died)) => Err(end_of(py, &self.about.ring, has_died)),
            None => Err(late(py, &self.about.ring, timeout)),
        }
    }

    /// Receives a record without a wait; None if nothing is there. ClosedError.
    fn try_recv<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let got = self.end.now(py, |end| {
            match end.consumer.get_mut().try_read() {
                Ok(record) => return Got::Record(record.to_vec()),
                Err(TryRecvError::Empty) => return Got::Nothing,
                Err(_) => {}
            }
            Self::end_of(end)
        })?;
        self.record(py, got)
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// As `recv`, without a limit; ends when the queue is closed and nothing is left. ClosedError: the
    /// process has died.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        self.recv(py, None).map_err(|error| end_of_iteration(py, error))
    }

    /// How long a record may be: half the capacity.
    #[getter]
    fn max_len(&self) -> usize {
        self.max_len
    }

    /// What the ring is.
    #[getter]
    fn about(&self) -> About {
        self.about.clone()
    }

    /// Whether the producer's process is there.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.end.now(py, |end| state_name(end.producer.state()))
    }

    /// Whether the queue is closed. Records may be left to receive.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.end.is_closed(py, |end| end.consumer.get_ref().is_closed())
    }

    /// A descriptor that is readable when something can be received, after `arm`. For select, poll, epoll,
    /// asyncio. Only poll for it.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        self.end.now(py, |end| end.consumer.as_raw_fd())
    }

    /// Asks for a wake-up by the descriptor. False: something is there already, so receive it and do not
    /// wait. Call it before each wait.
    fn arm(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.end.now(py, |end| end.consumer.arm())? == Readiness::Armed)
    }

    /// Leaves the queue, as the end of the program does. A second call does nothing. Then other verbs raise
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
        let About { ring, capacity, .. } = &self.about;
        format!("<RawBytesConsumer of {ring}: records in {capacity} bytes>")
    }
}

/// Makes a queue of records with so many bytes, and its producer.
#[pyfunction]
#[pyo3(signature = (name, directory, capacity, wait="block", when_consumer_dies="close"))]
fn make_bytes(
    py: Python<'_>,
    name: Option<&str>,
    directory: Option<PathBuf>,
    #[pyo3(from_py_with = whole_capacity)] capacity: usize,
    wait: &str,
    when_consumer_dies: &str,
) -> PyResult<RawBytesProducer> {
    let policy = when_gone(when_consumer_dies)?;
    let made =
        bytes::producer(settings(capacity, wait)?, policy).map_err(|refused| of_share(py, &refused))?;
    let Shared { handle: producer, peers: consumer, invitation, .. } = made;
    let (about, found) = introduced(py, name, directory, invitation)?;
    let (about, invitation) = (About { capacity: producer.capacity(), ..about }, found.invitation());
    let max_len = producer.max_len();
    let end = Arc::new(Held::new(Sending { _found: found, producer, consumer }));
    let weak: Weak<Held<Sending>> = Arc::downgrade(&end);
    close_at_exit(weak as Weak<dyn Close>);
    Ok(RawBytesProducer { about, max_len, invitation, end })
}

/// Becomes the consumer of a queue of records. Waits for the queue so long.
#[pyfunction]
#[pyo3(signature = (name, directory=None, wait="block", timeout=Some(0.0)))]
fn join_bytes(
    py: Python<'_>,
    name: Place,
    directory: Option<PathBuf>,
    wait: &str,
    timeout: Option<f64>,
) -> PyResult<RawBytesConsumer> {
    let strategy = strategy(wait)?;
    let invitation = invitation(py, &name, directory, timeout)?.with_wait_strategy(strategy);
    let name = name.name();
    let sides = Sides { name, ..Sides::default() };
    let (consumer, producer) =
        bytes::consumer(&invitation).map_err(|refused| sides.of_attach(py, &refused))?;
    let about = About { capacity: consumer.capacity(), ..About::of(name, &info_of(py, name, &invitation)?) };
    let max_len = consumer.max_len();
    let consumer = Notifier::new(consumer).map_err(PyOSError::new_err)?;
    let end = Arc::new(Held::new(Receiving { consumer, producer }));
    let weak: Weak<Held<Receiving>> = Arc::downgrade(&end);
    close_at_exit(weak as Weak<dyn Close>);
    Ok(RawBytesConsumer { about, max_len, end })
}

/// Gives the module its classes and functions.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RawBytesProducer>()?;
    module.add_class::<RawBytesConsumer>()?;
    module.add_function(wrap_pyfunction!(make_bytes, module)?)?;
    module.add_function(wrap_pyfunction!(join_bytes, module)?)
}
