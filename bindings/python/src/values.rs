//! [`Values`]: makes NumPy scalars of messages, by NumPy's own function for that. It comes from the table
//! that NumPy has for extensions, whose order never changes, so this is no dependency of the build.

use std::ffi::{c_char, c_void};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::ffi::{PyCapsule_GetPointer, PyObject};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// `PyArray_Scalar`: a scalar of a type, with a copy of these bytes, or with a part of the base if there is
/// one.
type ScalarOf =
    unsafe extern "C" fn(data: *mut c_void, of: *mut PyObject, base: *mut PyObject) -> *mut PyObject;

/// Where it stands in the table.
const SCALAR_OF: usize = 60;

/// What values are made of.
pub(crate) struct Values {
    dtype: Py<PyAny>,
    scalar_of: ScalarOf,
}

impl Values {
    /// # Errors
    ///
    /// `ImportError`: there is no NumPy. `TypeError`: it is no dtype, or one of Python objects. `ValueError`:
    /// it has another size.
    pub(crate) fn new(dtype: &Bound<'_, PyAny>, bytes: usize) -> PyResult<Self> {
        let py = dtype.py();
        let numpy = py.import("numpy")?;
        if !dtype.is_instance(&numpy.getattr("dtype")?)? {
            return Err(PyTypeError::new_err(format!("{} is no numpy.dtype", dtype.repr()?)));
        }
        if dtype.getattr("hasobject")?.is_truthy()? {
            return Err(PyTypeError::new_err(format!(
                "{} has Python objects, which no message has",
                dtype.repr()?
            )));
        }
        let size: usize = dtype.getattr("itemsize")?.extract()?;
        if size != bytes {
            return Err(PyValueError::new_err(format!(
                "{} has {size} bytes, and a message has {bytes}",
                dtype.repr()?
            )));
        }
        let module = py
            .import("numpy._core._multiarray_umath")
            .or_else(|_| py.import("numpy.core._multiarray_umath"))?;
        let capsule = module.getattr("_ARRAY_API")?;
        let no_name = std::ptr::null::<c_char>();
        // SAFETY: it is a capsule, or there is an error; NumPy's capsule has no name.
        let table = unsafe { PyCapsule_GetPointer(capsule.as_ptr(), no_name) }.cast::<*const c_void>();
        if table.is_null() {
            return Err(PyErr::fetch(py));
        }
        // SAFETY: NumPy's table has a function in this place, of this type, in each version. NumPy is never
        // unloaded.
        let scalar_of = unsafe { std::mem::transmute::<*const c_void, ScalarOf>(*table.add(SCALAR_OF)) };
        Ok(Self { dtype: dtype.clone().unbind(), scalar_of })
    }

    #[inline]
    fn of<'py>(&self, py: Python<'py>, message: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let data = message.as_ptr().cast_mut().cast();
        // SAFETY: so many bytes lie there as the dtype has, which was checked. Without a base they are
        // copied, and not written to. `Python` is here, and what comes is a new reference, or null and an
        // error.
        unsafe {
            let made = (self.scalar_of)(data, self.dtype.as_ptr(), std::ptr::null_mut());
            Bound::from_owned_ptr_or_err(py, made)
        }
    }
}

/// The message as a scalar, or as bytes.
#[inline]
pub(crate) fn value<'py>(
    py: Python<'py>,
    values: Option<&Values>,
    message: &[u8],
) -> PyResult<Bound<'py, PyAny>> {
    match values {
        Some(values) => values.of(py, message),
        None => Ok(PyBytes::new(py, message).into_any()),
    }
}

/// Room for a message on its way: on the stack where it is small.
pub(crate) enum Room {
    Small([u64; SMALL / 8], usize),
    Large(Vec<u8>),
}

/// So many bytes lie on the stack.
const SMALL: usize = 128;

impl Room {
    #[inline]
    pub(crate) fn of(bytes: usize) -> Self {
        if bytes <= SMALL { Self::Small([0; SMALL / 8], bytes) } else { Self::Large(vec![0; bytes]) }
    }

    #[inline]
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        match self {
            Self::Small(words, bytes) => {
                let start = words.as_mut_ptr().cast();
                // SAFETY: the words have so many bytes, any of which are a value.
                unsafe { std::slice::from_raw_parts_mut(start, (*bytes).min(SMALL)) }
            }
            Self::Large(bytes) => bytes,
        }
    }
}
