//! Which CPUs the calling thread may run on.

pub(crate) use system::{LIMIT, current, get, set, set_all};

/// Linux and FreeBSD.
#[cfg(any(target_os = "linux", target_os = "freebsd"))]
mod system {
    use alloc::vec::Vec;
    use std::io;

    use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

    /// A set has the numbers below this one, and no others.
    pub(crate) const LIMIT: usize = CpuSet::MAX_CPU;

    /// Lets the calling thread run on `cpus` only, by the system's numbers, which are below [`LIMIT`]. The
    /// system passes over those that it does not grant, and fails if it grants none.
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
}

/// Windows: one group of up to 64, and a mask of that group.
#[cfg(windows)]
mod system {
    use alloc::vec::Vec;
    use core::ptr;
    use std::io;

    use windows_sys::Win32::System::Kernel::PROCESSOR_NUMBER;
    use windows_sys::Win32::System::SystemInformation::GROUP_AFFINITY;
    use windows_sys::Win32::System::Threading::{
        GetCurrentProcessorNumberEx, GetCurrentThread, GetThreadGroupAffinity, SetThreadGroupAffinity,
    };

    /// CPU `n` is the one with the number `n % GROUP` in the group `n / GROUP`.
    const GROUP: usize = usize::BITS as usize;

    /// Groups are numbered by 16 bits.
    pub(crate) const LIMIT: usize = GROUP << u16::BITS;

    /// Lets the calling thread run on `cpus` only, which must be of one group.
    pub(crate) fn set(cpus: &[usize]) -> io::Result<()> {
        let group = cpus[0] / GROUP;
        if cpus.iter().any(|&cpu| cpu / GROUP != group) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mask = cpus.iter().fold(0, |mask, &cpu| mask | 1 << (cpu % GROUP));
        let affinity = GROUP_AFFINITY { Mask: mask, Group: group as u16, Reserved: [0; 3] };
        // SAFETY: the handle stands for this thread; the first pointer is to a value that lives until the
        // call returns, and the function allows the second to be null.
        let is_done =
            unsafe { SetThreadGroupAffinity(GetCurrentThread(), &raw const affinity, ptr::null_mut()) };
        if is_done == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// For a thread that has just begun: it has all that the process has, of its group.
    #[allow(clippy::unnecessary_wraps, reason = "other systems are asked")]
    pub(crate) fn set_all() -> io::Result<()> {
        Ok(())
    }

    /// The CPUs on which the calling thread may run, of its group.
    pub(crate) fn get() -> io::Result<Vec<usize>> {
        let mut affinity = GROUP_AFFINITY::default();
        // SAFETY: the handle stands for this thread; the pointer is to a value that is ours to write to.
        let is_done = unsafe { GetThreadGroupAffinity(GetCurrentThread(), &raw mut affinity) };
        if is_done == 0 {
            return Err(io::Error::last_os_error());
        }
        let first = usize::from(affinity.Group) * GROUP;
        Ok((0..GROUP).filter(|bit| affinity.Mask >> bit & 1 == 1).map(|bit| first + bit).collect())
    }

    /// The CPU on which the calling thread runs.
    #[allow(clippy::unnecessary_wraps, reason = "other systems do not say")]
    pub(crate) fn current() -> Option<usize> {
        let mut number = PROCESSOR_NUMBER::default();
        // SAFETY: the pointer is to a value that is ours to write to.
        unsafe { GetCurrentProcessorNumberEx(&raw mut number) };
        Some(usize::from(number.Group) * GROUP + usize::from(number.Number))
    }
}

/// Where the library can't say: macOS has hints only, which Apple's own processors ignore, and for other
/// systems nobody has written it.
#[cfg(not(any(target_os = "linux", target_os = "freebsd", windows)))]
mod system {
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
}
