//! `annulus._annulus`: rings between processes for Python, as bytes. The package `annulus` wraps it.
//!
//! ```text
//! lib        the module
//! open       makes rings and joins them, by their names
//! sender     RawSender
//! receiver   RawReceiver
//! records    RawBytesProducer, RawBytesConsumer
//! frames     RawFramePublisher, RawFrameSubscriber, RawFrame
//! newest     RawNewestSender, RawNewestReader, RawChanges
//! queue      RawQueue, RawClaimed
//! services   RawServer, RawRequest, RawClient, RawPendingAnswer
//! port       a receiving handle, which a loop of descriptors polls
//! held       the end of a ring, as several threads use it: locks, waits, signals, forks
//! lent       memory of a ring that Python reads or writes in place
//! limit      how long a verb waits
//! buffer     the bytes of Python's objects
//! values     NumPy scalars
//! about      what a handle says of its ring
//! schema     schemas as text, and their structure as JSON
//! errors     the exceptions
//! refusals   which exception an error of the library is
//! ```

mod about;
mod buffer;
mod errors;
mod frames;
mod held;
mod lent;
mod limit;
mod newest;
mod open;
mod port;
mod queue;
mod receiver;
mod records;
mod refusals;
mod schema;
mod sender;
mod services;
mod values;

use pyo3::exceptions::PyImportError;
use pyo3::ffi;
use pyo3::prelude::*;

/// `ImportError` in an interpreter that is not the main one. The handles and exceptions of this module are
/// the process's, and the end of such an interpreter would close all handles.
fn check_interpreter() -> PyResult<()> {
    // SAFETY: this thread runs Python, so there is a current interpreter, which outlives the call.
    let number = unsafe { ffi::PyInterpreterState_GetID(ffi::PyInterpreterState_Get()) };
    if number == 0 {
        return Ok(());
    }
    Err(PyImportError::new_err(format!(
        "annulus works in the main interpreter of a process only, and this is subinterpreter {number}: take a thread or a process"
    )))
}

/// Closes what is still open. Python calls it when it ends.
#[pyfunction]
fn _close_all(py: Python<'_>) {
    py.detach(held::close_all);
}

/// Rings between processes, as bytes in buffers. The package `annulus` wraps this module.
///
/// The handles may be used by several threads: each is locked inside. So the module needs no GIL.
#[pymodule(gil_used = false)]
fn _annulus(module: &Bound<'_, PyModule>) -> PyResult<()> {
    check_interpreter()?;
    held::watch_forks();
    errors::add(module)?;
    schema::add(module)?;
    open::add(module)?;
    records::add(module)?;
    frames::add(module)?;
    newest::add(module)?;
    services::add(module)?;
    module.add_class::<about::About>()?;
    module.add_class::<lent::RawLoan>()?;
    module.add_class::<sender::RawSender>()?;
    module.add_class::<receiver::RawReceiver>()?;
    module.add_class::<queue::RawQueue>()?;
    module.add_class::<queue::RawClaimed>()?;
    let close_all = wrap_pyfunction!(_close_all, module)?;
    module.py().import("atexit")?.call_method1("register", (close_all,))?;
    Ok(())
}
