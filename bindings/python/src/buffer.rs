//! [`ReadBuffer`] and [`WriteBuffer`]: the bytes of a Python object that has the buffer protocol.
//!
//! The stable interface of Python has these functions from 3.11 on. CPython 3.10 has them too, with the same
//! structure, and changes none any more: so they are declared here, and one build serves all versions from
//! 3.10 on.

use std::ffi::{c_char, c_int, c_void};
use std::marker::PhantomData;
use std::{ptr, slice};

use pyo3::exceptions::{PyBufferError, PyTypeError, PyValueError};
use pyo3::ffi::{Py_ssize_t, PyObject};
use pyo3::prelude::*;

/// `Py_buffer`.
#[repr(C)]
pub(crate) struct View {
    buf: *mut c_void,
    pub(crate) obj: *mut PyObject,
    len: Py_ssize_t,
    itemsize: Py_ssize_t,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut Py_ssize_t,
    strides: *mut Py_ssize_t,
    suboffsets: *mut Py_ssize_t,
    internal: *mut c_void,
}

unsafe extern "C" {
    fn PyObject_GetBuffer(object: *mut PyObject, view: *mut View, flags: c_int) -> c_int;
    fn PyBuffer_Release(view: *mut View);
    /// Fills the structure for bytes in one piece.
    pub(crate) fn PyBuffer_FillInfo(
        view: *mut View,
        object: *mut PyObject,
        first: *mut c_void,
        bytes: Py_ssize_t,
        is_read_only: c_int,
        flags: c_int,
    ) -> c_int;
}

/// In one piece, in C order.
const SIMPLE: c_int = 0;
const WRITABLE: c_int = 1;
/// Any shape, any order.
const FULL_READ_ONLY: c_int = 0x0100 | 0x0010 | 0x0008;

impl View {
    const EMPTY: Self = Self {
        buf: ptr::null_mut(),
        obj: ptr::null_mut(),
        len: 0,
        itemsize: 0,
        readonly: 0,
        ndim: 0,
        format: ptr::null_mut(),
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        suboffsets: ptr::null_mut(),
        internal: ptr::null_mut(),
    };
}

/// A view of an object's bytes, which stay where they are until it is dropped.
struct Held<'py> {
    view: View,
    /// It is released with the GIL.
    python: PhantomData<Python<'py>>,
}

impl<'py> Held<'py> {
    #[inline]
    fn of(object: &Bound<'py, PyAny>, flags: c_int) -> PyResult<Self> {
        let mut view = View::EMPTY;
        // SAFETY: the object lives, and the structure is the one that Python fills.
        if unsafe { PyObject_GetBuffer(object.as_ptr(), &raw mut view, flags) } == 0 {
            Ok(Self { view, python: PhantomData })
        } else {
            Err(PyErr::fetch(object.py()))
        }
    }

    fn len(&self) -> usize {
        self.view.len.unsigned_abs()
    }
}

impl Drop for Held<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: Python filled it, and it is released once.
        unsafe { PyBuffer_Release(&raw mut self.view) }
    }
}

/// Why an object is no buffer for a verb.
#[cold]
fn refused(object: &Bound<'_, PyAny>, is_written: bool, error: PyErr) -> PyErr {
    let of = object.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string());
    let Ok(held) = Held::of(object, FULL_READ_ONLY) else {
        if error.is_instance_of::<PyTypeError>(object.py()) {
            return PyTypeError::new_err(format!(
                "{of} has no buffer: take bytes, a bytearray, a memoryview or a NumPy array"
            ));
        }
        return error;
    };
    let bytes = held.len();
    if is_written && held.view.readonly != 0 {
        return PyBufferError::new_err(format!(
            "{of} of {bytes} bytes is read-only: to receive into it, it must be writable, as a bytearray or a new array is"
        ));
    }
    let strides = strides(&held.view);
    PyBufferError::new_err(format!(
        "{of} of {bytes} bytes does not lie in one piece in C order (its strides are {strides:?}): take a copy, as by \
         numpy.ascontiguousarray"
    ))
}

fn strides(view: &View) -> &[Py_ssize_t] {
    if view.strides.is_null() {
        return &[];
    }
    // SAFETY: a view with strides has one for each dimension.
    unsafe { slice::from_raw_parts(view.strides, view.ndim.unsigned_abs() as usize) }
}

/// The error of a message of a wrong length.
#[cold]
fn wrong_length(found: usize, wanted: usize) -> PyErr {
    PyValueError::new_err(format!("the buffer has {found} bytes, and a message has {wanted}"))
}

/// The error of a batch of a wrong length.
#[cold]
fn not_whole(found: usize, wanted: usize) -> PyErr {
    PyValueError::new_err(format!(
        "the buffer has {found} bytes, which is no multiple of a message's {wanted} bytes"
    ))
}

/// The lengths that a buffer may have.
#[derive(Clone, Copy)]
pub(crate) enum Length {
    /// That of one message.
    One(usize),
    /// That of any number of messages.
    Many(usize),
    Any,
}

impl Length {
    #[inline]
    fn check(self, bytes: usize) -> PyResult<()> {
        match self {
            Self::One(wanted) if bytes != wanted => Err(wrong_length(bytes, wanted)),
            Self::Many(wanted) if bytes % wanted.max(1) != 0 => Err(not_whole(bytes, wanted)),
            _ => Ok(()),
        }
    }
}

/// Bytes that are sent.
pub(crate) struct ReadBuffer<'py>(Held<'py>);

impl<'py> ReadBuffer<'py> {
    /// # Errors
    ///
    /// `TypeError`, `BufferError`, `ValueError`.
    #[inline]
    pub(crate) fn of(object: &Bound<'py, PyAny>, length: Length) -> PyResult<Self> {
        let held = Held::of(object, SIMPLE).map_err(|error| refused(object, false, error))?;
        length.check(held.len())?;
        Ok(Self(held))
    }

    #[inline]
    pub(crate) fn bytes(&self) -> &[u8] {
        if self.0.view.len == 0 {
            return &[];
        }
        // SAFETY: so many bytes lie there until the view is released. That no other thread writes to them
        // meanwhile is what the documentation asks of the caller.
        unsafe { slice::from_raw_parts(self.0.view.buf.cast(), self.0.len()) }
    }
}

/// Bytes that are received into.
pub(crate) struct WriteBuffer<'py>(Held<'py>);

impl<'py> WriteBuffer<'py> {
    /// # Errors
    ///
    /// As of [`ReadBuffer::of`].
    #[inline]
    pub(crate) fn of(object: &Bound<'py, PyAny>, length: Length) -> PyResult<Self> {
        let held = Held::of(object, WRITABLE).map_err(|error| refused(object, true, error))?;
        length.check(held.len())?;
        Ok(Self(held))
    }

    #[inline]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        if self.0.view.len == 0 {
            return &mut [];
        }
        // SAFETY: as of `ReadBuffer::bytes`; it is writable.
        unsafe { slice::from_raw_parts_mut(self.0.view.buf.cast(), self.0.len()) }
    }
}
