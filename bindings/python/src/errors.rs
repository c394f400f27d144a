//! The exceptions. Some have a second base of Python's own, so that usual code catches them too.

use std::error::Error;
use std::io;
use std::path::Path;

use pyo3::exceptions::{
    PyBufferError, PyException, PyLookupError, PyOSError, PyPermissionError, PyStopIteration, PyTimeoutError,
    PyTypeError, PyValueError,
};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyTuple, PyType};

/// The types of the exceptions.
pub(crate) struct Exceptions {
    base: Py<PyType>,
    closed: Py<PyType>,
    full: Py<PyType>,
    timeout: Py<PyType>,
    not_found: Py<PyType>,
    taken: Py<PyType>,
    mismatch: Py<PyType>,
    schema: Py<PyType>,
    permission: Py<PyType>,
    no_seat: Py<PyType>,
    forked: Py<PyType>,
    directory: Py<PyType>,
    lent: Py<PyType>,
    refused: Py<PyType>,
}

static EXCEPTIONS: PyOnceLock<Exceptions> = PyOnceLock::new();

/// Which exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Base,
    Full,
    Timeout,
    NotFound,
    Taken,
    Mismatch,
    Schema,
    Permission,
    NoSeat,
    Forked,
    Directory,
    Lent,
    Refused,
}

impl Exceptions {
    fn of(py: Python<'_>) -> PyResult<&Self> {
        EXCEPTIONS.get_or_try_init(py, || Self::new(py))
    }

    fn new(py: Python<'_>) -> PyResult<Self> {
        let none: [Bound<'_, PyType>; 0] = [];
        let exception = py.get_type::<PyException>();
        let base = new(py, "AnnulusError", "What can go wrong with a ring.", [exception])?;
        let below = |name: &str, doc: &str, other: Option<Bound<'_, PyType>>| {
            new(py, name, doc, [base.clone()].into_iter().chain(other)).map(Bound::unbind)
        };
        let closed = new(
            py,
            "ClosedError",
            "The ring is closed, and all that was sent is received.\n\n`peer_died`: \
             whether the process on the other side has died, in place of closing. `sent`: of `send_batch`, how many messages were sent \
             before.",
            [base.clone()].into_iter().chain(none),
        )?;
        closed.setattr("peer_died", false)?;
        closed.setattr("sent", 0)?;
        let timeout = new(
            py,
            "TimeoutError",
            "It did not happen in that time.",
            [base.clone(), py.get_type::<PyTimeoutError>()],
        )?;
        Ok(Self {
            closed: closed.unbind(),
            full: new(py, "FullError", "No room came in the ring in that time.", [timeout.clone()])?.unbind(),
            timeout: timeout.unbind(),
            not_found: below(
                "RingNotFoundError",
                "There is no ring of this name.",
                Some(py.get_type::<PyLookupError>()),
            )?,
            taken: below("NameTakenError", "Another ring has this name.", None)?,
            mismatch: below(
                "MismatchError",
                "The ring's messages or its kind are not those that were asked for. The text shows both.",
                Some(py.get_type::<PyTypeError>()),
            )?,
            schema: below("SchemaError", "The text is no schema.", Some(py.get_type::<PyValueError>()))?,
            permission: below(
                "PermissionError",
                "The ring belongs to another user, or the system refuses access.",
                Some(py.get_type::<PyPermissionError>()),
            )?,
            no_seat: below(
                "NoSeatError",
                "Each seat of the lossless ring is taken, or each place of the queue.",
                None,
            )?,
            forked: below(
                "ForkedError",
                "The handle belongs to the parent of this process: a fork can't use it. Make one here.",
                None,
            )?,
            directory: below(
                "DirectoryError",
                "The directory can't be used for the names of rings.",
                Some(py.get_type::<PyOSError>()),
            )?,
            lent: below(
                "LentError",
                "The handle lends memory of its ring, or what it has lent is still looked at.",
                Some(py.get_type::<PyBufferError>()),
            )?,
            refused: below(
                "RefusedError",
                "The server has refused the question, or has closed the service before it received it.",
                None,
            )?,
            base: base.unbind(),
        })
    }

    fn the(&self, which: Which) -> &Py<PyType> {
        match which {
            Which::Base => &self.base,
            Which::Full => &self.full,
            Which::Timeout => &self.timeout,
            Which::NotFound => &self.not_found,
            Which::Taken => &self.taken,
            Which::Mismatch => &self.mismatch,
            Which::Schema => &self.schema,
            Which::Permission => &self.permission,
            Which::NoSeat => &self.no_seat,
            Which::Forked => &self.forked,
            Which::Directory => &self.directory,
            Which::Lent => &self.lent,
            Which::Refused => &self.refused,
        }
    }
}

/// A new type of exception.
fn new<'py>(
    py: Python<'py>,
    name: &str,
    doc: &str,
    bases: impl IntoIterator<Item = Bound<'py, PyType>>,
) -> PyResult<Bound<'py, PyType>> {
    let bases = PyTuple::new(py, bases.into_iter().collect::<Vec<_>>())?;
    let members = PyDict::new(py);
    members.set_item("__doc__", doc)?;
    members.set_item("__module__", "annulus")?;
    let made = py.get_type::<PyType>().call1((name, bases, members))?;
    Ok(made.cast_into()?)
}

/// The exception of this type, with this text.
pub(crate) fn error(py: Python<'_>, which: Which, text: impl Into<String>) -> PyErr {
    match Exceptions::of(py) {
        Ok(all) => PyErr::from_type(all.the(which).bind(py).clone(), (text.into(),)),
        Err(error) => error,
    }
}

/// The exception of this type, which is an `OSError`, of a call to the system: with its `errno`, and the file
/// that the call was about, where that is known. The text is without the file's path.
pub(crate) fn system_error(
    py: Python<'_>,
    which: Which,
    text: impl Into<String>,
    refused: &io::Error,
    path: Option<&Path>,
) -> PyErr {
    // An error that says at which step it came has the system's number in its source.
    let inner = || refused.source()?.downcast_ref::<io::Error>()?.raw_os_error();
    let Some(errno) = refused.raw_os_error().or_else(inner) else { return error(py, which, text) };
    match Exceptions::of(py) {
        Ok(all) => {
            let path = path.map(|path| path.as_os_str().to_owned());
            PyErr::from_type(all.the(which).bind(py).clone(), (errno, text.into(), path))
        }
        Err(error) => error,
    }
}

/// `ClosedError`.
pub(crate) fn closed(py: Python<'_>, peer_died: bool, text: &str) -> PyErr {
    let made = Exceptions::of(py).and_then(|all| {
        let made = all.closed.bind(py).call1((text,))?;
        made.setattr("peer_died", peer_died)?;
        Ok(PyErr::from_value(made))
    });
    made.unwrap_or_else(|error| error)
}

/// Gives the module its exceptions.
pub(crate) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let all = Exceptions::of(py)?;
    let types = [
        &all.base,
        &all.closed,
        &all.full,
        &all.timeout,
        &all.not_found,
        &all.taken,
        &all.mismatch,
        &all.schema,
        &all.permission,
        &all.no_seat,
        &all.forked,
        &all.directory,
        &all.lent,
        &all.refused,
    ];
    types.into_iter().try_for_each(|of| {
        let of = of.bind(py);
        module.add(of.name()?.to_str()?, of)
    })
}

/// `ClosedError` of a batch, of which so many messages were sent.
pub(crate) fn closed_after(py: Python<'_>, peer_died: bool, text: &str, sent: usize) -> PyErr {
    let error = closed(py, peer_died, text);
    match error.value(py).setattr("sent", sent) {
        Ok(()) => error,
        Err(error) => error,
    }
}

/// `StopIteration`, where the error says that the ring was closed. A death is no end that a loop may take for
/// one.
pub(crate) fn end_of_iteration(py: Python<'_>, error: PyErr) -> PyErr {
    match Exceptions::of(py) {
        Ok(all) if error.matches(py, &all.closed).unwrap_or(false) && !has_died(py, &error) => {
            PyStopIteration::new_err(())
        }
        _ => error,
    }
}

fn has_died(py: Python<'_>, error: &PyErr) -> bool {
    error.value(py).getattr("peer_died").and_then(|died| died.is_truthy()).unwrap_or(false)
}
