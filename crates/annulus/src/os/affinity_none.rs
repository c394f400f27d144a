//! Where the library can't say which CPUs a thread may run on: macOS has hints only, which Apple's own
//! processors ignore, and for other systems nobody has written it.

use alloc::vec::Vec;
use std::io;

/// Larger than any number of a CPU.
pub(crate) const LIMIT: usize = usize::MAX / 2;

pub(crate) fn set(_: &[usize]) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn set_all() -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn get() -> io::Result<Vec<usize>> {
    Err(io::ErrorKind::Unsupported.into())
}

pub(crate) fn current() -> Option<usize> {
    None
}
