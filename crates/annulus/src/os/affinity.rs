//! Which CPUs the calling thread may run on (Linux and FreeBSD).

use alloc::vec::Vec;
use std::io;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A set has the numbers below this one, and no others.
pub(crate) const LIMIT: usize = CpuSet::MAX_CPU;

/// Lets the calling thread run on `cpus` only, by the system's numbers, which are below [`LIMIT`]. The system
/// passes over those that it does not grant, and fails if it grants none.
pub(crate) fn set(cpus: &[usize]) -> io::Result<()> {
    let mut set = CpuSet::new();
    for &cpu in cpus {
        set.set(cpu);
    }
    Ok(sched_setaffinity(None, &set)?)
}

/// Lets the calling thread run on all CPUs that the system grants it, if it grants any.
pub(crate) fn set_all() -> io::Result<()> {
    set(&(0..LIMIT).collect::<Vec<_>>())
}

/// The CPUs on which the calling thread may run, in ascending order.
pub(crate) fn get() -> io::Result<Vec<usize>> {
    let set = sched_getaffinity(None)?;
    Ok((0..LIMIT).filter(|&cpu| set.is_set(cpu)).collect())
}

/// The CPU on which the calling thread runs.
#[cfg(target_os = "linux")]
#[allow(clippy::unnecessary_wraps, reason = "other systems do not say")]
pub(crate) fn current() -> Option<usize> {
    Some(rustix::thread::sched_getcpu())
}

/// Not by a safe call.
#[cfg(not(target_os = "linux"))]
pub(crate) fn current() -> Option<usize> {
    None
}
