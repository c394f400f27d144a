//! [`RawNewestSender`], [`RawNewestReader`] and [`RawChanges`]: newest values, in cells.

use std::os::fd::AsRawFd;
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use annulus::shm::dynamic::OpenError;
use annulus::shm::dynamic::watch::{self, AcceptedWatch, Changes, Sender};
use annulus::shm::watch::{GetError, KeyError};
use annulus::shm::{PeerState, Shared};
use annulus::{Notifier, Readiness, RecvTimeoutError, TryRecvError};
use pyo3::exceptions::{PyIndexError, PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

use crate::about::{About, state_name};
use crate::buffer::{Length, ReadBuffer};
use crate::errors::{Which, end_of_iteration, error};
use crate::held::{Close, Held, close_at_exit};
use crate::lent::{Back, Given, Lends, Piece};
use crate::limit::{Limit, whole_cells};
use crate::open::{
    Found, Place, RawInvitation, expected, info_of, introduced, invitation, message_type, open_refused,
    settings, strategy,
};
use crate::receiver::{end_of, late};
use crate::sender::closed_to_send;
use crate::values::{Room, Values, value};

/// Ends that lend no memory.
macro_rules! lend_nothing {
    ($($End:ty),*) => {$(
        impl Lends for $End {
            fn give_back(&mut self, _: &Piece, _: Back) -> Given {
                Given::Yes
            }
        }
    )*};
}
lend_nothing!(Sending, Reading, Waiting);

/// What a sender has. Its name goes first: it never leads to no table.
struct Sending {
    _found: Found,
    sender: Sender,
}

struct Reading {
    table: AcceptedWatch,
}

struct Waiting {
    changes: Notifier<Changes>,
}

impl Waiting {
    fn has_died(&self) -> bool {
        self.changes.get_ref().table().state() == PeerState::Dead
    }
}

/// An end, which is closed when Python ends.
fn held<E: Lends + Send + 'static>(end: E) -> Arc<Held<E>> {
    let end = Arc::new(Held::new(end));
    let weak: Weak<Held<E>> = Arc::downgrade(&end);
    close_at_exit(weak as Weak<dyn Close>);
    end
}

/// What an end says of its table, and makes of its values.
struct Table {
    about: About,
    values: PyOnceLock<Values>,
}

impl Table {
    fn new(about: About, cells: usize) -> Self {
        // (A header counts slots.)
        Self { about: About { capacity: cells, ..about }, values: PyOnceLock::new() }
    }

    /// # Errors
    ///
    /// `IndexError`.
    fn check(&self, cell: usize) -> PyResult<()> {
        if cell < self.about.capacity {
            return Ok(());
        }
        let (ring, cells) = (&self.about.ring, self.about.capacity);
        Err(PyIndexError::new_err(format!("there is no cell {cell} in {ring}: there are {cells}, from 0 on")))
    }

    fn make_values_by(&self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
        let values = Values::new(dtype, self.about.bytes)?;
        self.values.set(py, values).map_err(|_| {
            PyValueError::new_err("this handle makes values of a dtype already: it is given once")
        })
    }

    /// What `verb` reads, as a value; None if it read nothing.
    fn value<'py, R>(
        &self,
        py: Python<'py>,
        verb: impl FnOnce(&mut [u8]) -> PyResult<Option<R>>,
    ) -> PyResult<Option<(R, Bound<'py, PyAny>)>> {
        let mut room = Room::of(self.about.bytes);
        let Some(told) = verb(room.bytes())? else { return Ok(None) };
        Ok(Some((told, value(py, self.values.get(py), room.bytes())?)))
    }
}

/// Writes the values of a table.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawNewestSender {
    table: Table,
    invitation: Option<RawInvitation>,
    end: Arc<Held<Sending>>,
}

#[pymethods]
impl RawNewestSender {
    /// Replaces the value of a cell. Never waits. IndexError, ClosedError.
    fn send_to(&self, py: Python<'_>, cell: usize, buffer: &Bound<'_, PyAny>) -> PyResult<()> {
        self.table.check(cell)?;
        let buffer = ReadBuffer::of(buffer, Length::One(self.table.about.bytes))?;
        let value = buffer.bytes();
        let sent = self.end.now(py, |end| end.sender.send_to(cell, value))?;
        sent.map_err(|_| closed_to_send(py, &self.table.about.ring, false))
    }

    /// The newest value of a cell; None if nothing was sent to it. IndexError.
    fn get<'py>(&self, py: Python<'py>, cell: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.table.check(cell)?;
        let found = self
            .table
            .value(py, |value| Ok(self.end.now(py, |end| end.sender.get(cell, value))?.then_some(())));
        Ok(found?.map(|((), value)| value))
    }

    /// The cell of this key, which gets one if it has none. ValueError: there can be no such key.
    /// NoSeatError: all cells have others.
    fn cell(&self, py: Python<'_>, key: &str) -> PyResult<usize> {
        let cell = self.end.now(py, |end| end.sender.cell(key))?;
        cell.map_err(|refused| match refused {
            KeyError::Full { .. } => error(py, Which::NoSeat, refused.to_string()),
            refused => PyValueError::new_err(refused.to_string()),
        })
    }

    /// From now on `get` makes NumPy scalars of this dtype. Once for each handle.
    fn make_values_by(&self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
        self.table.make_values_by(py, dtype)
    }

    /// What this process reads the table by, if it has no name.
    #[getter]
    fn invitation(&self) -> Option<RawInvitation> {
        self.invitation.clone()
    }

    /// What the ring is.
    #[getter]
    fn about(&self) -> About {
        self.table.about.clone()
    }

    /// Whether the table is closed.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.end.is_closed(py, |end| end.sender.is_closed())
    }

    /// Ends the table. A second call does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.end.close(py)
    }
}

/// Reads the values of a table.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawNewestReader {
    table: Table,
    end: Arc<Held<Reading>>,
}

#[pymethods]
impl RawNewestReader {
    /// The newest value of a cell; None if nothing was sent to it. IndexError. AnnulusError: the sender has
    /// replaced it at each look.
    fn get<'py>(&self, py: Python<'py>, cell: usize) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.table.check(cell)?;
        let found =
            self.table.value(py, |value| match self.end.now(py, |end| end.table.get(cell, value))? {
                Ok(()) => Ok(Some(())),
                Err(GetError::Empty) => Ok(None),
                Err(refused) => Err(error(py, Which::Base, refused.to_string())),
            });
        Ok(found?.map(|((), value)| value))
    }

    /// The cell of a key; None if no cell has it yet.
    fn find(&self, py: Python<'_>, key: &str) -> PyResult<Option<usize>> {
        self.end.now(py, |end| end.table.cell(key))
    }

    /// Each cell that has a key, and its key, in the order in which they were added.
    fn keys(&self, py: Python<'_>) -> PyResult<Vec<(usize, String)>> {
        self.end.now(py, |end| end.table.keys().map(|(cell, key)| (cell, key.to_string())).collect())
    }

    /// Waits for changes of a cell, or of all: it begins with the values that are there. IndexError.
    #[pyo3(signature = (cell=None))]
    fn changes(&self, py: Python<'_>, cell: Option<usize>) -> PyResult<RawChanges> {
        if let Some(cell) = cell {
            self.table.check(cell)?;
        }
        let changes = self.end.now(py, |end| match cell {
            Some(cell) => end.table.changes_of(cell).expect("it was checked"),
            None => end.table.changes(),
        })?;
        let changes = Notifier::new(changes).map_err(PyOSError::new_err)?;
        let table = Table::new(self.table.about.clone(), self.table.about.capacity);
        Ok(RawChanges { table, end: held(Waiting { changes }) })
    }

    /// From now on `get` makes NumPy scalars of this dtype. Once for each handle.
    fn make_values_by(&self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
        self.table.make_values_by(py, dtype)
    }

    /// Whether the sender is there.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.end.now(py, |end| state_name(end.table.state()))
    }

    /// What the ring is.
    #[getter]
    fn about(&self) -> About {
        self.table.about.clone()
    }

    /// Whether the sender has ended. The values stay.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.end.is_closed(py, |end| end.table.state() != PeerState::Alive)
    }

    /// Leaves the table. A second call does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.end.close(py)
    }
}

/// What came.
enum Got {
    Cell(usize),
    Nothing,
    End { has_died: bool },
}

/// Waits for changes of a table.
#[pyclass(module = "annulus._annulus", frozen, weakref)]
pub(crate) struct RawChanges {
    table: Table,
    end: Arc<Held<Waiting>>,
}

impl RawChanges {
    fn told(&self, py: Python<'_>, got: Got) -> PyResult<Option<usize>> {
        match got {
            Got::Cell(cell) => Ok(Some(cell)),
            Got::Nothing => Ok(None),
            Got::End { has_died } => Err(end_of(py, &self.table.about.ring, has_died)),
        }
    }

    fn take(&self, py: Python<'_>, value: &mut [u8]) -> PyResult<Option<usize>> {
        let got = self.end.now(py, |end| match end.changes.get_mut().try_recv(value) {
            Ok(cell) => Got::Cell(cell),
            Err(TryRecvError::Closed) => Got::End { has_died: end.has_died() },
            Err(_) => Got::Nothing,
        })?;
        self.told(py, got)
    }

    fn receive(&self, py: Python<'_>, value: &mut [u8], timeout: Option<f64>) -> PyResult<Option<usize>> {
        let limit = Limit::of(timeout)?;
        if let Some(cell) = self.take(py, value)? {
            return Ok(Some(cell));
        }
        let got = self.end.wait(py, limit, |end, slice| {
            match end.changes.get_mut().recv_timeout(value, slice) {
                Ok(cell) => Some(Got::Cell(cell)),
                Err(RecvTimeoutError::Timeout) => None,
                Err(_) => Some(Got::End { has_died: end.has_died() }),
            }
        })?;
        self.told(py, got.unwrap_or(Got::Nothing))
    }
}

#[pymethods]
impl RawChanges {
    /// Receives the next change: its cell, and the newest value. Waits for it. TimeoutError, ClosedError.
    #[pyo3(signature = (timeout=None))]
    fn recv<'py>(&self, py: Python<'py>, timeout: Option<f64>) -> PyResult<(usize, Bound<'py, PyAny>)> {
        let received = self.table.value(py, |value| self.receive(py, value, timeout))?;
        received.ok_or_else(|| late(py, &self.table.about.ring, timeout))
    }

    /// As `recv`, without a wait; None if nothing has changed. ClosedError.
    fn try_recv<'py>(&self, py: Python<'py>) -> PyResult<Option<(usize, Bound<'py, PyAny>)>> {
        self.table.value(py, |value| self.take(py, value))
    }

    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    /// As `recv`, without a limit; ends when the table is closed and nothing is left. ClosedError: the
    /// process has died.
    fn __next__<'py>(&self, py: Python<'py>) -> PyResult<(usize, Bound<'py, PyAny>)> {
        self.recv(py, None).map_err(|error| end_of_iteration(py, error))
    }

    /// The key of a cell; None if it has none yet.
    fn key(&self, py: Python<'_>, cell: usize) -> PyResult<Option<String>> {
        self.end.now(py, |end| end.changes.get_ref().table().key(cell).map(|key| key.to_string()))
    }

    /// From now on `recv` and its like make NumPy scalars of this dtype. Once for each handle.
    fn make_values_by(&self, py: Python<'_>, dtype: &Bound<'_, PyAny>) -> PyResult<()> {
        self.table.make_values_by(py, dtype)
    }

    /// Whether the sender is there.
    #[getter]
    fn state(&self, py: Python<'_>) -> PyResult<&'static str> {
        self.end.now(py, |end| state_name(end.changes.get_ref().table().state()))
    }

    /// Whether the sender has ended. Changes may be left to receive.
    #[getter]
    fn is_closed(&self, py: Python<'_>) -> PyResult<bool> {
        self.end.is_closed(py, |end| end.changes.get_ref().table().state() != PeerState::Alive)
    }

    /// A descriptor that is readable when something can be received, after `arm`. Only poll for it.
    fn fileno(&self, py: Python<'_>) -> PyResult<i32> {
        self.end.now(py, |end| end.changes.as_raw_fd())
    }

    /// Asks for a wake-up by the descriptor. False: something is there already.
    fn arm(&self, py: Python<'_>) -> PyResult<bool> {
        Ok(self.end.now(py, |end| end.changes.arm())? == Readiness::Armed)
    }

    /// Ends the wait. A second call does nothing.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.end.close(py)
    }
}

/// Makes a table of newest values, and its sender.
///
/// NameTakenError; SchemaError; ValueError: there can be no such table; DirectoryError.
#[pyfunction]
#[pyo3(signature = (name, directory, cells, schema, bytes=None, alignment=1, wait="block"))]
#[allow(clippy::too_many_arguments, reason = "Python names them")]
fn make_newest(
    py: Python<'_>,
    name: Option<&str>,
    directory: Option<PathBuf>,
    #[pyo3(from_py_with = whole_cells)] cells: usize,
    schema: Option<&str>,
    bytes: Option<usize>,
    alignment: usize,
    wait: &str,
) -> PyResult<RawNewestSender> {
    let of = message_type(py, schema, bytes, alignment)?;
    let made = watch::table(settings(cells, wait)?, &of);
    let Shared { handle: sender, invitation, .. } =
        made.map_err(|refused: OpenError| open_refused(py, name, &refused))?;
    let (about, found) = introduced(py, name, directory, invitation)?;
    let invitation = found.invitation();
    let end = held(Sending { _found: found, sender });
    Ok(RawNewestSender { table: Table::new(about, cells), invitation, end })
}

/// Opens a table of newest values, to read them. Waits for it so long.
///
/// `schema` or `bytes` is what the values are to be; where both are None, they are what the table says.
/// RingNotFoundError: there is no such table, and the timeout is 0. TimeoutError: none came. MismatchError.
#[pyfunction]
#[pyo3(signature = (name, directory=None, schema=None, bytes=None, wait="block", timeout=Some(0.0)))]
fn join_newest(
    py: Python<'_>,
    name: Place,
    directory: Option<PathBuf>,
    schema: Option<&str>,
    bytes: Option<usize>,
    wait: &str,
    timeout: Option<f64>,
) -> PyResult<RawNewestReader> {
    let strategy = strategy(wait)?;
    let invitation = invitation(py, &name, directory, timeout)?;
    let name = name.name();
    let info = info_of(py, name, &invitation)?;
    let (of, sides) = expected(py, name, &info, schema, bytes)?;
    let table = AcceptedWatch::accept(&invitation, &of, strategy);
    let table = table.map_err(|refused| sides.of_open(py, &refused))?;
    let cells = table.cells();
    Ok(RawNewestReader { table: Table::new(About::of(name, &info), cells), end: held(Reading { table }) })
}

/// Gives the module its classes and functions.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<RawNewestSender>()?;
    module.add_class::<RawNewestReader>()?;
    module.add_class::<RawChanges>()?;
    module.add_function(wrap_pyfunction!(make_newest, module)?)?;
    module.add_function(wrap_pyfunction!(join_newest, module)?)
}
