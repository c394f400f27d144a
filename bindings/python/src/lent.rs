//! [`Loan`]: memory of a ring that Python reads or writes in place. [`RawLoan`]: what has it.
//!
//! An object exports the memory, and keeps the end of the ring. Each view (a memoryview, an array of NumPy)
//! keeps that object, so no view outlives the memory. The end takes its memory back only when the object is
//! gone. (To count views is not enough: an array that `numpy.ndarray(…, buffer=view)` makes is no view that
//! Python counts, but keeps the object.)
//!
//! Python's stable interface has exporters from 3.11 on. CPython has taken that function of a type since
//! 3.9, by the same number: see [`buffer`](crate::buffer).

use std::ffi::{c_int, c_void};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;

use crate::buffer::{PyBuffer_FillInfo, View};
use crate::errors::{Which, error};
use crate::sender::closed_to_send;

/// A piece of a ring's memory.
#[derive(Clone, Copy)]
pub(crate) struct Piece {
    first: NonNull<u8>,
    bytes: usize,
    is_writable: bool,
}

// SAFETY: an address, whose bytes are read and written as the loan allows.
unsafe impl Send for Piece {}
// SAFETY: as above.
unsafe impl Sync for Piece {}

impl Piece {
    /// What is read.
    pub(crate) fn to_read(first: *const u8, bytes: usize) -> Self {
        let first = NonNull::new(first.cast_mut()).unwrap_or(NonNull::dangling());
        Self { first, bytes, is_writable: false }
    }

    /// What is written.
    pub(crate) fn to_write(first: *mut u8, bytes: usize) -> Self {
        Self { is_writable: true, ..Self::to_read(first, bytes) }
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes
    }
}

/// What an end has lent.
pub(crate) struct Loan {
    piece: Piece,
    /// Nothing exports it any more.
    is_over: AtomicBool,
}

impl Loan {
    pub(crate) fn new(piece: Piece) -> Self {
        Self { piece, is_over: AtomicBool::new(false) }
    }

    pub(crate) fn piece(&self) -> &Piece {
        &self.piece
    }

    /// Whether no view is left, and none can be made.
    pub(crate) fn is_over(&self) -> bool {
        // Acquire: pairs with the Release in `end`.
        self.is_over.load(Ordering::Acquire)
    }

    fn end(&self) {
        // Release: pairs with the Acquire in `is_over`: what the views have read and written comes before.
        self.is_over.store(true, Ordering::Release);
    }
}

/// What is given back.
#[derive(Clone, Copy)]
pub(crate) enum Back {
    /// Nothing is received or sent.
    Nothing,
    /// The first so many messages, or bytes of a record.
    First(usize),
}

/// What became of it.
#[derive(Clone, Copy)]
pub(crate) enum Given {
    Yes,
    /// Nothing was sent.
    Closed {
        peer_died: bool,
    },
}

/// An end that lends.
pub(crate) trait Lends {
    /// Receives or sends what of the piece is given back. No view of it is left.
    fn give_back(&mut self, piece: &Piece, back: Back) -> Given;
}

/// Where an end is given back its memory.
pub(crate) trait Lender: Send + Sync {
    /// # Errors
    ///
    /// `LentError`: views are left, or the loan is over. `ForkedError`.
    fn give_back(&self, py: Python<'_>, loan: &Arc<Loan>, back: Back) -> PyResult<Given>;

    /// The same for a loan that is dropped, if it was not given back before.
    fn drop_loan(&self, loan: &Arc<Loan>);
}

/// What an exporter keeps.
struct Kept {
    piece: Piece,
    /// The memory is there as long as this is.
    _owner: Box<dyn Send + Sync>,
}

/// Keeps the end of a ring whose memory is lent.
struct Lending {
    loan: Arc<Loan>,
    _lender: Arc<dyn Lender>,
}

impl Drop for Lending {
    fn drop(&mut self) {
        self.loan.end();
    }
}

/// An object that exports memory, to be read, which is there as long as `owner` is.
pub(crate) fn exported(
    py: Python<'_>,
    piece: Piece,
    owner: impl Send + Sync + 'static,
) -> PyResult<Py<PyAny>> {
    exporter(py, Kept { piece, _owner: Box::new(owner) })
}

/// A new memoryview of what exports memory.
pub(crate) fn memoryview<'py>(py: Python<'py>, exporter: &Py<PyAny>) -> PyResult<Bound<'py, PyAny>> {
    // SAFETY: an object with a buffer. What comes is a new reference, or null and an error.
    unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyMemoryView_FromObject(exporter.as_ptr())) }
}

/// The Python object that exports the memory.
#[repr(C)]
struct Exporter {
    base: PyObject,
    /// From a box; null only in an object that `exporter` has not made.
    kept: *mut Kept,
}

#[allow(clippy::cast_possible_wrap, reason = "a few words")]
const EXPORTER_SIZE: c_int = size_of::<Exporter>() as c_int;

/// The number of that function of a type.
const BF_GETBUFFER: c_int = 1;

/// The error of what comes too late.
pub(crate) fn given_back(py: Python<'_>) -> PyErr {
    error(
        py,
        Which::Lent,
        "what the ring has lent was given back already: views of it are made inside the block, which ends once",
    )
}

/// # Safety
///
/// Python calls it: `object` is an exporter.
unsafe fn kept<'a>(object: *mut PyObject) -> Option<&'a Kept> {
    // SAFETY: the caller's promise; the box lives until `dealloc`.
    unsafe { (*object.cast::<Exporter>()).kept.as_ref() }
}

unsafe extern "C" fn get_buffer(object: *mut PyObject, view: *mut View, flags: c_int) -> c_int {
    // SAFETY: Python calls it with an exporter, which it keeps meanwhile.
    let found = unsafe { kept(object) };
    let Some(Kept { piece, .. }) = found else {
        // SAFETY: Python gives a structure to fill. Without an object in it, it is not released.
        unsafe { (*view).obj = std::ptr::null_mut() };
        // SAFETY: Python calls this attached.
        let py = unsafe { Python::assume_attached() };
        error(py, Which::Lent, "what the ring has lent was given back already: views of it are made inside the block, which ends once")
            .restore(py);
        return -1;
    };
    let Piece { first, bytes, is_writable } = piece;
    let read_only = c_int::from(!is_writable);
    let Ok(len) = ffi::Py_ssize_t::try_from(*bytes) else { unreachable!("no memory has so many bytes") };
    // SAFETY: so many bytes lie there as long as the object lives, which the view keeps. The structure is the
    // caller's.
    unsafe { PyBuffer_FillInfo(view, object, first.as_ptr().cast(), len, read_only, flags) }
}

unsafe extern "C" fn dealloc(object: *mut PyObject) {
    // SAFETY: Python calls it once, with an exporter that nothing refers to. The box comes from `exporter`,
    // and the type has a function that frees its objects.
    unsafe {
        let kept = (*object.cast::<Exporter>()).kept;
        if !kept.is_null() {
            drop(Box::from_raw(kept));
        }
        let of = ffi::Py_TYPE(object);
        let free = ffi::PyType_GetSlot(of, ffi::Py_tp_free);
        std::mem::transmute::<*mut c_void, ffi::freefunc>(free)(object.cast());
        // An object of such a type counts as a reference to it.
        ffi::Py_DECREF(of.cast());
    }
}

/// The type of exporters.
fn exporter_type(py: Python<'_>) -> PyResult<&Py<PyType>> {
    static TYPE: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    TYPE.get_or_try_init(py, || {
        let get: unsafe extern "C" fn(*mut PyObject, *mut View, c_int) -> c_int = get_buffer;
        let end: ffi::destructor = dealloc;
        let slot = |slot, pfunc| ffi::PyType_Slot { slot, pfunc };
        let mut slots = [
            slot(BF_GETBUFFER, get as *mut c_void),
            slot(ffi::Py_tp_dealloc, end as *mut c_void),
            slot(0, std::ptr::null_mut()),
        ];
        let mut spec = ffi::PyType_Spec {
            name: c"annulus._annulus.Memory".as_ptr(),
            basicsize: EXPORTER_SIZE,
            itemsize: 0,
            flags: ffi::Py_TPFLAGS_DEFAULT as _,
            slots: slots.as_mut_ptr(),
        };
        // SAFETY: the name is static, the list of functions ends with 0, and each has the type that Python
        // calls it by. What comes is a new reference, or null and an error.
        let made = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_FromSpec(&raw mut spec)) }?;
        Ok(made.cast_into::<PyType>()?.unbind())
    })
}

/// An object that exports the memory of a loan.
fn exporter(py: Python<'_>, kept: Kept) -> PyResult<Py<PyAny>> {
    let of = exporter_type(py)?.as_ptr().cast();
    // SAFETY: a new object of that type, whose bytes behind the base are 0: no box yet.
    let object = unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(of, 0)) }?;
    // SAFETY: it has that structure, and nothing else refers to it.
    unsafe { (*object.as_ptr().cast::<Exporter>()).kept = Box::into_raw(Box::new(kept)) };
    Ok(object.unbind())
}

/// What a handle has lent, until it is given back.
#[pyclass(module = "annulus._annulus", frozen)]
pub(crate) struct RawLoan {
    loan: Arc<Loan>,
    lender: Arc<dyn Lender>,
    /// `None` once it was given back.
    exporter: Mutex<Option<Py<PyAny>>>,
    /// The bytes of a message; of a record 1.
    unit: usize,
    /// The ring, for texts.
    ring: String,
}

impl RawLoan {
    pub(crate) fn new(
        py: Python<'_>,
        loan: Arc<Loan>,
        lender: Arc<dyn Lender>,
        unit: usize,
        ring: &str,
    ) -> PyResult<Self> {
        // (Where there is no object, the drop of this ends the loan.)
        let lending = Lending { loan: Arc::clone(&loan), _lender: Arc::clone(&lender) };
        match exported(py, loan.piece, lending) {
            Ok(exporter) => {
                let exporter = Mutex::new(Some(exporter));
                Ok(Self { loan, lender, exporter, unit: unit.max(1), ring: ring.into() })
            }
            Err(error) => {
                lender.drop_loan(&loan);
                Err(error)
            }
        }
    }
}

impl RawLoan {
    /// Lets go of the object that exports the memory. (Its drop runs outside of the lock: it may drop the end
    /// of the ring.)
    fn let_go(&self) {
        let exporter = self.exporter.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(exporter);
    }
}

impl Drop for RawLoan {
    fn drop(&mut self) {
        self.let_go();
        self.lender.drop_loan(&self.loan);
    }
}

#[pymethods]
impl RawLoan {
    /// A new memoryview of the bytes. LentError: they were given back.
    fn view<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let exporter = {
            let exporter = self.exporter.lock().unwrap_or_else(PoisonError::into_inner);
            exporter.as_ref().map(|exporter| exporter.clone_ref(py))
        };
        memoryview(py, &exporter.ok_or_else(|| given_back(py))?)
    }

    /// How many messages there are, or there is room for; of a record, how many bytes.
    fn __len__(&self) -> usize {
        self.loan.piece.bytes / self.unit
    }

    /// Receives or sends the first `count` messages, or bytes of the record that is sent, and gives the rest
    /// back; None: neither, so all stay as they were.
    ///
    /// LentError: a view of them exists; then it happens once no view is left, and another verb of the handle
    /// is called. ClosedError: nothing was sent.
    fn give_back(&self, py: Python<'_>, count: Option<usize>) -> PyResult<()> {
        let most = self.__len__();
        if let Some(count) = count.filter(|count| *count > most) {
            return Err(pyo3::exceptions::PyValueError::new_err(format!(
                "count is {count}, and {most} are lent"
            )));
        }
        self.let_go();
        match self.lender.give_back(py, &self.loan, count.map_or(Back::Nothing, Back::First))? {
            Given::Yes => Ok(()),
            Given::Closed { peer_died } => Err(closed_to_send(py, &self.ring, peer_died)),
        }
    }
}
