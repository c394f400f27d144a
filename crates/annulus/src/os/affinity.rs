//! Which cores a thread may run on.

use std::io;

/// Lets the calling thread run on no core but `core`, by the system's number.
#[cfg(target_os = "linux")]
pub(crate) fn pin_to(core: usize) -> io::Result<()> {
    use rustix::thread::{CpuSet, sched_setaffinity};

    let mut only = CpuSet::new();
    if core >= CpuSet::MAX_CPU {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    only.set(core);
    sched_setaffinity(None, &only).map_err(|error| io::Error::from_raw_os_error(error.raw_os_error()))
}

/// Not on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn pin_to(_core: usize) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// The cores on which the calling thread may run. Empty if the system does not say.
#[cfg(target_os = "linux")]
pub(crate) fn allowed() -> impl Iterator<Item = usize> {
    use rustix::thread::{CpuSet, sched_getaffinity};

    let allowed = sched_getaffinity(None).unwrap_or_default();
    (0..CpuSet::MAX_CPU).filter(move |&core| allowed.is_set(core))
}

/// Not on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn allowed() -> impl Iterator<Item = usize> {
    core::iter::empty()
}
