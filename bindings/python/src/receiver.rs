//! [`RawReceiver`].

use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use annulus::shm::PeerState;
use annulus::shm::broadcast::Mark;
use annulus::shm::dynamic::Receiver;
use annulus::{Notifier, Readiness, RecvTimeoutError, TryRecvError};
use pyo3::exceptions::{PyOSError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::about::{About, state_name};
use crate::buffer::{Length, WriteBuffer};
use crate::errors::{Which, closed, error};
use crate::held::{Close, Held, close_at_exit};
use crate::lent::{Back, Given, Lender, Lends, Piece, RawLoan};
use crate::limit::Limit;
use crate::open::{Found, RawInvitation, seconds_of};
use crate::port::Port;
use crate::queue::RawClaimed;
use crate::sender::{LONG, lends_nothing};
use crate::values::{Room, Values, value};

/// What a receiver has. Its name goes first: it never leads to no ring.
struct End {
    _found: Found,
    port: Port<Receiver>,
    /// Where it shows other processes how far it is, if nothing else does.
    mark: Option<Mark>,
}

impl End {
    /// To receive. What was armed is no more.
    #[inline]
    fn receiver(&mut self) -> &mut Receiver {
        self.port.get_mut()
    }

    /// Shows how far it is, to `annulus top`.
    fn show(&self) {
        if let (Some(mark), Some(cursor)) = (&self.mark, self.port.get_ref().cursor()) {
            mark.set(cursor);
        }
    }

    fn has_died(&self) -> bool {
        self.port.get_ref().state() == PeerState::Dead
    }

    #[inline]
    fn try_recv(&mut self, message: &mut [u8]) -> Got {
        match self.receiver().try_recv(message) {
            Ok(()) => Got::Messages(1),
            Err(TryRecvError::Closed) => Got::End { has_died: self.has_died() },
            Err(_) => Got::Nothing,
        }
    }
}

impl Lends for End {
    fn give_back(&mut self, _: &Piece, back: Back) -> Given {
        if let Back::First(count) = back {
            self.receiver().advance(count);
        }
        Given::Yes
    }
}

/// `ClosedError` of a verb that receives.
#[cold]
pub(crate) fn end_of(py: Python<'_>, ring: &str, has_died: bool) -> PyErr {
    let text = if has_died {
        format!("the process that sent to {ring} has died, and all that it had sent is received")
    } else {
        format!("{ring} is closed, and all that was sent is received")
    };
    closed(py, has_died, &text)
}

/// `TimeoutError` of a verb that receives.
#[cold]
pub(crate) fn late(py: Python<'_>, ring: &str, timeout: Option<f64>) -> PyErr {
    let seconds = timeout.unwrap_or_default();
    error(py, Which::Timeout, format!("nothing came from {ring} in {seconds} seconds"))
}

/// The error where a ring is to give a claim that has none.
#[cold]
fn claims_nothing(about: &About) -> PyErr {
    let About { ring, kind, .. } = about;
    PyTypeError::new_err(format!(
        "{ring} is of the kind {kind}, which has one receiver for each message from the beginning: the kind mpmc has claims"
    ))
}

/// What came.
enum Got {
    Messages(usize),
    Nothing,
    End { has_died: bool },
}

/// The receiving end of a ring.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawReceiver {
    about: About,
    invitation: Option<RawInvitation>,
    end: Arc<Held<End>>,
    values: PyOnceLock<Values>,
    skipped: AtomicU64,
}

impl RawReceiver {
    pub(crate) fn new(about: About, receiver: Receiver, found: Found) -> Self {
        // Without a mark it does its work as well.
        let mark = receiver.mark().and_then(Result::ok);
        let invitation = found.invitation();
        let end = End { _found: found, port: Port::Plain(receiver), mark };
        end.show();
        let end = Arc::new(Held::new(end));
        let weak: Weak<Held<End>> = Arc::downgrade(&end);
        close_at_exit(weak as Weak<dyn Close>);
        Self { about, invitation, end, values: PyOnceLock::new(), skipped: AtomicU64::new(0) }
    }

    /// How many messages came, or that the ring has ended.
    #[inline]
    fn told(&self, py: Python<'_>, got: Got) -> PyResult<usize> {
        match got {
            Got::Messages(count) => Ok(count),
            Got::Nothing => Ok(0),
            Got::End { has_died } => Err(self.ended(py, has_died)),
        }
    }

    fn ended(&self, py: Python<'_>, has_died: bool) -> PyErr {
        end_of(py, &self.about.ring, has_died)
    }

    fn late(&self, py: Python<'_>, timeout: Option<f64>) -> PyErr {
        late(py, &self.about.ring, timeout)
    }

    /// Receives a message that is there, and says whether one was.
    #[inline]
    fn take(&self, py: Python<'_>, message: &mut [u8]) -> PyResult<bool> {
        let got = self.end.now(py, |end| end.try_recv(message))?;
        Ok(self.told(py, got)? > 0)
    }

    /// Receives a message, and says whether one came in time.
    #[inline]
    fn receive(&self, py: Python<'_>, message: &mut [u8], timeout: Option<f64>) -> PyResult<bool> {
        Limit::check(timeout)?;
        if self.take(py, message)? {
            return Ok(true);
        }
        self.wait_for(py, message, Limit::of(timeout)?).map(|count| count > 0)
    }

    /// Waits for a message, and receives it and those behind it, as many as fit into the run.
    fn wait_for(&self, py: Python<'_>, run: &mut [u8], limit: Limit) -> PyResult<usize> {
        let bytes = self.about.bytes;
        let got = self.end.wait(py, limit, |end, slice| {
            end.show();
            let (first, rest) = run.split_at_mut(bytes);
            match end.receiver().recv_timeout(first, slice) {
                Ok(()) if rest.is_empty() => Some(Got::Messages(1)),
                Ok(()) => Some(Got::Messages(1 + end.receiver().recv_run_into(rest))),
                Err(RecvTimeoutError::Timeout) => None,
                Err(_) => Some(Got::End { has_died: end.has_died() }),
            }
        })?;
        self.told(py, got.unwrap_or(Got::Nothing))
    }

    /// Receives messages that are there into the run, as many as fit.
    fn take_run(&self, py: Python<'_>, run: &mut [u8]) -> PyResult<usize> {
        let bytes = self.about.bytes;
        if run.is_empty() {
            self.end.check_process(py)?;
            return Ok(0);
        }
        let is_long = run.len() >= LONG;
        let verb = |end: &mut End| {
            let count = end.receiver().recv_run_into(run);
            if count > 0 {
                end.show();
                return Got::Messages(count);
            }
            // Nothing, or the end; or a message that has come now.
            end.try_recv(&mut run[..bytes])
        };
        let got = if is_long { self.end.detached(py, verb) } else { self.end.now(py, verb) };
        self.told(py, got?)
    }

    fn take_latest(&self, py: Python<'_>, message: &mut [u8]) -> PyResult<bool> {
        let got = self.end.now(py, |end| match end.receiver().latest(message) {
            Ok(passed) => {
                end.show();
                (Got::Messages(1), passed)
            }
            Err(TryRecvError::Closed) => (Got::End { has_died: end.has_died() }, 0),
            Err(_) => (Got::Nothing, 0),
        });
        let (got, passed) = got?;
        // Relaxed: a number for statistics.
        self.skipped.fetch_add(passed, Ordering::Relaxed);
        Ok(self.told(py, got)? > 0)
    }

    /// What `verb` receives, as a value; None if it received nothing.
    #[inline]
    fn value<'py>(
        &self,
        py: Python<'py>,
        is_bytes: bool,
        verb: impl FnOnce(&mut [u8]) -> PyResult<bool>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let mut room = Room::of(self.about.bytes);
        if !verb(room.bytes())? {
            return Ok(None);
        }
        let values = if is_bytes { None } else { self.values.get(py) };
        value(py, values, room.bytes()).map(Some)
    }

    fn one(
        &self,
        buffer: &Bound<'_, PyAny>,
        verb: impl FnOnce(&mut [u8]) -> PyResult<bool>,
    ) -> PyResult<bool> {
        verb(WriteBuffer::of(buffer, Length::One(self.about.bytes))?.bytes())
    }
}

#[pymethods]
impl RawReceiver {
    /// Receives the next message into a buffer of `message_bytes` bytes. False: none came in time.
    /// ClosedError.
    #[pyo3(signature = (buffer, timeout=None))]
    fn recv_into(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>, timeout: Option<f64>) -> PyResult<bool> {
        self.one(buffer, |message| self.receive(py, message, timeout))
    }

    /// As `recv_into`, without a wait.
    fn try_recv_into(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.one(buffer, |message| self.take(py, message))
    }

    /// Receives the next message as bytes. TimeoutError, ClosedError.
    #[pyo3(signature = (timeout=None))]
    fn recv_bytes<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        let received = self.value(py, true, |message| self.receive(py, message, timeout))?;
        received.ok_or_else(|| self.late(py, timeout))
    }

    /// As `recv_bytes`, without a wait; None if nothing is there. ClosedError.
    fn try_recv_bytes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.value(py, true, |message| self.take(py, message))
    }

    /// Waits for a message, receives it and those that are there behind it, as many as fit, and returns how
    /// many. 0: none came in time.
    ///
    /// The buffer's length is a multiple of `message_bytes`. What lies behind the messages stays as it was.
    /// ClosedError.
    #[pyo3(signature = (buffer, timeout=None))]
    fn recv_batch_into(
        &self,
        py: Python<'_>,
        buffer: &Bound<'_, PyAny>,
        timeout: Option<f64>,
    ) -> PyResult<usize> {
        let mut buffer = WriteBuffer::of(buffer, Length::Many(self.about.bytes))?;
        let run = buffer.bytes();
        let limit = Limit::of(timeout)?;
        let taken = self.take_run(py, run)?;
        if taken > 0 || run.is_empty() {
            return Ok(taken);
        }
        self.wait_for(py, run, limit)
    }

    /// As `recv_batch_into`, without a wait.
    fn try_recv_batch_into(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<usize> {
        let mut buffer = WriteBuffer::of(buffer, Length::Many(self.about.bytes))?;
        self.take_run(py, buffer.bytes())
    }

    /// Lends up to `most` messages where they lie in a queue, and waits for the first. They lie in one piece,
    /// so more may wait behind them.
    ///
    /// TimeoutError, ClosedError, LentError. TypeError: a broadcast ring lends none.
    #[pyo3(signature = (most=None, timeout=None))]
    fn readable(&self, py: Python<'_>, most: Option<usize>, timeout: Option<f64>) -> PyResult<RawLoan> {
        if most == Some(0) {
            return Err(PyValueError::new_err("most is 0: at least one message is lent"));
        }
        let (most, limit) = (most.unwrap_or(usize::MAX), Limit::of(timeout)?);
        let lent = self.end.lend(py, limit, |end, slice| {
            let has_died = match end.receiver().readable_timeout(most, slice) {
                None => return Some(Err(None)),
                Some(Ok(there)) => return Some(Ok(Piece::to_read(there.as_ptr(), there.len()))),
                Some(Err(RecvTimeoutError::Timeout)) => return None,
                Some(Err(_)) => end.has_died(),
            };
            Some(Err(Some(has_died)))
        })?;
        match lent {
            Some(Ok(loan)) => {
                let lender = Arc::clone(&self.end) as Arc<dyn Lender>;
                RawLoan::new(py, loan, lender, self.about.bytes, &self.about.ring)
            }
            Some(Err(Some(has_died))) => Err(self.ended(py, has_died)),
            Some(Err(None)) => Err(lends_nothing(&self.about)),
            None => Err(self.late(py, timeout)),
        }
    }

    /// Claims the next message of a queue that several consumers share, and waits for it. TimeoutError,
    /// ClosedError. TypeError: of another ring.
    #[pyo3(signature = (timeout=None))]
    fn claim(&self, py: Python<'_>, timeout: Option<f64>) -> PyResult<RawClaimed> {
        if let Some(claimed) = self.try_claim(py)? {
            return Ok(claimed);
        }
        let found = self.end.wait(py, Limit::of(timeout)?, |end, slice| {
            match end.receiver().claim_timeout(slice)? {
                Ok(claimed) => Some(Ok(claimed)),
                Err(RecvTimeoutError::Timeout) => None,
                Err(_) => Some(Err(end.has_died())),
            }
        })?;
        match found {
            Some(Ok(claimed)) => Ok(RawClaimed::new(claimed)),
            Some(Err(has_died)) => Err(self.ended(py, has_died)),
            None => Err(self.late(py, timeout)),
        }
    }

    /// As `claim`, without a wait; None if nothing is there.
    fn try_claim(&self, py: Python<'_>) -> PyResult<Option<RawClaimed>> {
        let found = self.end.now(py, |end| {
            let claimed = end.receiver().claim_timeout(Duration::ZERO)?;
            Some(claimed.map_err(|error| (error != RecvTimeoutError::Timeout).then(|| end.has_died())))
        })?;
        match found {
            Some(Ok(claimed)) => Ok(Some(RawClaimed::new(claimed))),
            Some(Err(Some(has_died))) => Err(self.ended(py, has_died)),
            Some(Err(None)) => Ok(None),
            None => Err(claims_nothing(&self.about)),
        }
    }

    /// Receives the newest message that is there, and passes those before it, which count in `total_skipped`
    /// (of a lossy ring in `total_lagged`, too). Never the same message twice: False if nothing has come.
    /// ClosedError.
    fn latest_into(&self, py: Python<'_>, buffer: &Bound<'_, PyAny>) -> PyResult<bool> {
        self.one(buffer, |message| self.take_latest(py, message))
    }

    /// As `latest_into`, as bytes; None if nothing has come.
    fn latest_bytes<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.value(py, true, |message| self.take_latest(py, message))
    }

    /// From now on `recv_value` and its like make NumPy scalars of this dtype, whose itemsize is
    /// `message_bytes`. Once for each handle.
    fn make_values_by(&self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
        let values = Values::new(dtype, self.about.bytes)?;
        self.values.set(py, values).map_err(|_| {
            PyValueError::new_err("this handle makes values of a dtype already: it is given once")
        })
    }

    /// As `recv_bytes`; a NumPy scalar (of a structured dtype, `numpy.void`) after `make_values_by`.
    #[pyo3(signature = (timeout=None))]
    fn recv_value<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<Bound<'py, PyAny>> {
        let received = self.value(py, false, |message| self.receive(py, message, timeout))?;
        received.ok_or_else(|| self.late(py, timeout))
    }

    /// As `try_recv_bytes`; a NumPy scalar after `make_values_by`.
    fn try_recv_value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.value(py, false, |message| self.take(py, message))
    }

    /// As `latest_bytes`; a NumPy scalar after `make_values_by`.
    fn latest_value<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.value(py, false, |message| self.take_latest(py, message))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// As `recv_value`, without a limit; ends when the ring is closed and nothing is left. ClosedError: the
    /// process has died.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.recv_value(py, None).map_err(|error| crate::errors::end_of_iteration(py, error))
    }

    /// How many messages wait to be received.
    fn __len__(&self, py: Python<'_>) -> PyResult<usize> {
        self.end.now(py, |end| end.port.get_ref().len())
    }

    #[allow(clippy::unused_self, reason = "it is true, however long it is")]
    fn __bool__(&self) -> bool {
        true
    }

    /// The number of the next message, of a broadcast ring.
    #[getter]
    fn cursor(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        self.end.now(py, |end| end.port.get_ref().cursor())
    }

    /// After how many seconds of silence the publisher is overdue; None if nobody has said that.
    #[getter]
    fn deadline(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.end.now(py, |end| end.port.get_ref().deadline().map(|time| time.as_secs_f64()))
    }

    /// From now on the publisher is overdue after so many seconds, whatever it has promised. TypeError: of a
    /// queue.
    fn overdue_after(&self, py: Python<'_>, seconds: f64) -> PyResult<()> {
        let silence = seconds_of("seconds", seconds)?;
        if matches!(self.about.kind, "spsc" | "mpsc" | "mpmc") {
            let About { ring, kind, .. } = &self.about;
            let text = format!("{ring} is of the kind {kind}, whose producers promise nothing");
            return Err(PyTypeError::new_err(text));
        }
        self.end.now(py, |end| end.receiver().overdue_after(silence))
    }

    /// For how many seconds the publisher has been silent, if it is overdue, and its process is there.
    #[getter]
    fn overdue(&self, py: Python<'_>) -> PyResult<Option<f64>> {
        self.end.now(py, |end| end.receiver().overdue().map(|time| time.as_secs_f64()))
    }

    /// How many messages it has lost because it fell behind.
    #[getter]
    fn total_lagged(&self, py: Python<'_>) -> PyResult<u64> {
        self.end.now(py, |end| end.port.get_ref().total_lagged())
    }

    /// How many messages `latest_into` and its like have passed.
    #[getter]
    fn total_skipped(&self) -> u64 {
        self.skipped.load(Ordering::Relaxed)
    }

    /// Whether the process that sends is there, or one of several. After the end: `dead` if it has died, and
    /// `closed` if it has closed.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.end.now(py, |end| state_name(end.port.get_ref().state()))
    }

    /// Whether the ring is closed. Messages may be left to receive.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.end.is_closed(py, |end| end.port.get_ref().is_closed())
    }

    /// A descriptor that is readable when something can be received, after `arm`. For select, poll, epoll,
    /// asyncio. Only poll for it.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        self.end
            .now(py, |end| end.port.notifier().map(|notifier| notifier.as_raw_fd()))?
            .map_err(PyOSError::new_err)
    }

    /// Asks for a wake-up by the descriptor. False: something is there already, so receive it and do not
    /// wait. Call it before each wait.
    fn arm(&self, py: Python<'_>) -> PyResult<bool> {
        let readiness = self.end.now(py, |end| {
            end.show();
            end.port.notifier().map(Notifier::arm)
        });
        Ok(readiness?.map_err(PyOSError::new_err)? == Readiness::Armed)
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
        format!("<RawReceiver of {ring}: {kind}, {capacity} messages of {bytes} bytes>")
    }
}
