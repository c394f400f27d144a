//! Where the calling thread may run, and how it is kept there. [`spawn`]: a thread that runs on a CPU of its
//! own, or no thread.

use alloc::vec::Vec;
use core::fmt;
use core::marker::PhantomData;
use std::io;
use std::sync::mpsc;
#[cfg(not(annulus_loom))]
use std::thread::{Builder, JoinHandle};

#[cfg(annulus_loom)]
use loom::thread::{Builder, JoinHandle};

use super::error::{PinError, PinReason};
use super::sysfs;
use crate::os::affinity as os;
use crate::os::helper_thread;
use crate::sync::seeded;

/// Keeps the calling thread on one CPU, by the operating system's number of it. The system moves it there
/// before this returns.
///
/// The system is asked, whatever [`allowed`] says: so an isolated CPU can be pinned to, and a thread that is
/// pinned already can be pinned elsewhere. Other threads stay where they are. Threads that this one spawns
/// from now on begin with its CPUs.
///
/// # Errors
///
/// [`PinError`] names the CPU, the reason, and the CPUs that are available. The thread then runs where it ran
/// before.
///
/// # Examples
///
/// ```
/// use annulus::affinity;
///
/// # #[cfg(any(target_os = "linux", target_os = "freebsd", windows))]
/// # {
/// let cpu = affinity::allowed()?[0];
/// affinity::pin_to(cpu)?;
/// assert_eq!(affinity::allowed()?, [cpu]);
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[doc(alias = "pin_to_core")]
#[doc(alias = "pin_to_core_id")]
#[doc(alias = "set_for_current")]
#[doc(alias = "sched_setaffinity")]
pub fn pin_to(cpu: usize) -> Result<(), PinError> {
    keep_to(&[cpu])
}

/// Keeps the calling thread on these CPUs: the scheduler chooses among them. As [`pin_to`] otherwise.
///
/// All of them are granted, or none: the error names those that the system refused. To pin to what there is
/// of a set, leave out what is not among the [`available`] ones. On Windows they must be of one group of 64.
///
/// # Errors
///
/// As [`pin_to`]. If `cpus` is empty, that is an error too.
///
/// # Examples
///
/// ```
/// use annulus::affinity;
///
/// # #[cfg(any(target_os = "linux", target_os = "freebsd", windows))]
/// # {
/// let but_the_first = affinity::allowed()?.split_off(1);
/// if !but_the_first.is_empty() {
///     affinity::pin_to_any(but_the_first)?;
/// }
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn pin_to_any(cpus: impl IntoIterator<Item = usize>) -> Result<(), PinError> {
    let mut cpus: Vec<_> = cpus.into_iter().collect();
    cpus.sort_unstable();
    cpus.dedup();
    keep_to(&cpus)
}

/// The CPUs on which the calling thread may run now, in ascending order. (What a thread is pinned to, or what
/// `taskset` gave the program.) One system call.
///
/// Isolated CPUs are in it only if somebody put the thread there: see [`available`].
///
/// # Errors
///
/// The system does not say: [`io::ErrorKind::Unsupported`] where the library can't ask; what Linux says if
/// the machine has more than 1024 CPUs.
pub fn allowed() -> io::Result<Vec<usize>> {
    os::get()
}

/// The CPUs to which the system would let the calling thread be pinned, in ascending order: all that are
/// online and, in a container, in its set. On Linux this includes isolated CPUs, and those from which the
/// thread was kept away by `taskset` or by a pin.
///
/// The system has no call for this. So a thread is begun that asks for all CPUs, and looks at what it got.
/// The calling thread is not changed. It takes as long as a thread takes to begin and to end: this is for the
/// beginning of a program.
///
/// # Errors
///
/// As [`allowed`]; and if the system has no thread to give.
///
/// # Examples
///
/// ```
/// use annulus::affinity;
///
/// if let (Ok(allowed), Ok(available)) = (affinity::allowed(), affinity::available()) {
///     assert!(allowed.iter().all(|cpu| available.contains(cpu)));
/// }
/// ```
#[doc(alias = "available_cores")]
#[doc(alias = "get_core_ids")]
#[doc(alias = "core_count")]
pub fn available() -> io::Result<Vec<usize>> {
    let mine = os::get()?;
    if seeded!("available_as_allowed") {
        return Ok(mine);
    }
    let ask = || {
        // Where that is refused, the thread has what this one has.
        _ = os::set_all();
        os::get()
    };
    let thread = helper_thread::spawn("affinity", ask)?;
    let mut cpus = thread.join().unwrap_or_else(|_| Err(io::ErrorKind::Other.into()))?;
    // A sandbox may refuse to change anything: then it is at least what this thread has.
    cpus.extend(mine);
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// The CPU on which the calling thread runs, by the operating system's number. Unless the thread is pinned,
/// it may run on another one when this returns. `None` where the system does not say.
///
/// # Examples
///
/// ```
/// use annulus::affinity;
///
/// # #[cfg(target_os = "linux")]
/// # {
/// let cpu = affinity::allowed()?[0];
/// affinity::pin_to(cpu)?;
/// assert_eq!(affinity::current(), Some(cpu));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn current() -> Option<usize> {
    os::current()
}

/// A thread that is pinned for a while: when this is dropped, the thread may run where it ran before.
///
/// For a thread that makes a ring near its reader, for example, and then does other work. If the system
/// refuses the old CPUs by then (they were switched off), the thread stays where it is.
///
/// Guards of one thread are dropped in the reverse order, as variables are.
///
/// # Examples
///
/// ```
/// use annulus::affinity::{self, Pinned};
///
/// # #[cfg(any(target_os = "linux", target_os = "freebsd", windows))]
/// # {
/// let before = affinity::allowed()?;
/// let reader_cpu = before[before.len() - 1];
/// let pinned = Pinned::to(reader_cpu)?;
/// let (producer, consumer) = annulus::spsc::channel::<u64>(1024); // its memory is near that CPU
/// drop(pinned);
/// assert_eq!(affinity::allowed()?, before);
/// # drop((producer, consumer));
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
#[must_use = "the thread is pinned as long as this lives"]
pub struct Pinned {
    before: Vec<usize>,
    /// It is about the thread that made it, so it stays there.
    of_this_thread: PhantomData<*const ()>,
}

impl Pinned {
    /// As [`pin_to`].
    ///
    /// # Errors
    ///
    /// As [`pin_to`].
    pub fn to(cpu: usize) -> Result<Self, PinError> {
        Self::to_any([cpu])
    }

    /// As [`pin_to_any`].
    ///
    /// # Errors
    ///
    /// As [`pin_to_any`].
    pub fn to_any(cpus: impl IntoIterator<Item = usize>) -> Result<Self, PinError> {
        let cpus: Vec<_> = cpus.into_iter().collect();
        let before = os::get().map_err(|error| refused(&cpus, &error))?;
        pin_to_any(cpus)?;
        Ok(Self { before, of_this_thread: PhantomData })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        _ = os::set(&self.before);
    }
}

/// `cpus` are in ascending order, and different.
fn keep_to(cpus: &[usize]) -> Result<(), PinError> {
    let Some(&last) = cpus.last() else {
        return Err(PinError { cpus: Vec::new(), reason: PinReason::NoCpu, available: available_or_none() });
    };
    if last >= os::LIMIT {
        let cpus = cpus.iter().copied().filter(|&cpu| cpu >= os::LIMIT).collect();
        let reason = PinReason::TooLarge { limit: os::LIMIT };
        return Err(PinError { cpus, reason, available: available_or_none() });
    }
    let before = os::get();
    if seeded!("pin_by_index") {
        if let Ok(before) = &before {
            return os::set(&[before[cpus[0] % before.len()]]).map_err(|error| refused(cpus, &error));
        }
    }
    let is_outside = |cpu: &usize| before.as_ref().is_ok_and(|before| !before.contains(cpu));
    if seeded!("pin_within_the_mask") && cpus.iter().any(is_outside) {
        return Err(refused(cpus, &io::ErrorKind::InvalidInput.into()));
    }
    os::set(cpus).map_err(|error| refused(cpus, &error))?;
    // The system passes over some that it refuses. If it does not say which it granted, nobody can look.
    if let (Ok(before), Ok(granted), false) = (before, os::get(), seeded!("pin_in_part")) {
        let missing: Vec<_> = cpus.iter().copied().filter(|cpu| !granted.contains(cpu)).collect();
        if !missing.is_empty() {
            _ = os::set(&before);
            return Err(refused(&missing, &io::ErrorKind::InvalidInput.into()));
        }
    }
    Ok(())
}

/// The error for these `cpus`, which the system refused with `error`. If the CPUs were refused for several
/// reasons, the error has the first one's reason, and all CPUs that share it.
fn refused(cpus: &[usize], error: &io::Error) -> PinError {
    let machine = sysfs::present_and_online();
    let reason = |cpu: usize| match (error.kind(), &machine) {
        // Unreached: for systems that the library can't ask
        (io::ErrorKind::Unsupported, _) => PinReason::Unsupported,
        (io::ErrorKind::InvalidInput, Some((present, _))) if !present.contains(&cpu) => PinReason::NotThere,
        (io::ErrorKind::InvalidInput, Some((_, online))) if !online.contains(&cpu) => PinReason::Offline,
        (io::ErrorKind::InvalidInput, _) => PinReason::NotAllowed,
        _ => error.raw_os_error().map_or(PinReason::NotAllowed, PinReason::Os),
    };
    let first = cpus.first().map_or(PinReason::NoCpu, |&cpu| reason(cpu));
    let cpus = cpus.iter().copied().filter(|&cpu| reason(cpu) == first).collect();
    PinError { cpus, reason: first, available: available_or_none() }
}

fn available_or_none() -> Vec<usize> {
    available().unwrap_or_default()
}

/// Why there is no thread.
#[derive(Debug)]
pub(crate) enum NoThread {
    /// The system has none.
    Begin(io::Error),
    /// It may not run on its CPU.
    Cpu(PinError),
}

impl NoThread {
    /// The kind of what the system said.
    pub(crate) fn kind(&self) -> io::ErrorKind {
        match self {
            // Unreached: the system has no thread to give
            Self::Begin(error) => error.kind(),
            Self::Cpu(error) => io::Error::from(error.clone()).kind(),
        }
    }
}

/// `can't run WHAT on CPU 7: …`.
pub(crate) fn write_no_cpu(
    f: &mut fmt::Formatter<'_>,
    what: fmt::Arguments<'_>,
    why: &PinError,
) -> fmt::Result {
    write!(f, "can't run {what}")?;
    why.write_place(f)
}

/// Begins a thread that calls `body`, on the CPU if one is given. It returns what `body` does.
///
/// If there is no thread, or it may not run on the CPU, `body` is dropped before this returns.
pub(crate) fn spawn<T: Send + 'static>(
    builder: Builder,
    cpu: Option<usize>,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<Option<T>>, NoThread> {
    let Some(cpu) = cpu else {
        return builder.spawn(move || Some(body())).map_err(NoThread::Begin);
    };
    let (tell, told) = mpsc::channel();
    let pinned = move || {
        let result = if seeded!("core_ignored") { Ok(()) } else { pin_to(cpu) };
        let is_pinned = result.is_ok();
        if tell.send(result).is_err() || !is_pinned {
            return None;
        }
        Some(body())
    };
    let thread = builder.spawn(pinned).map_err(NoThread::Begin)?;
    match told.recv() {
        Ok(Ok(())) => Ok(thread),
        Ok(Err(error)) => {
            // It ends at once.
            let _none = thread.join();
            Err(NoThread::Cpu(error))
        }
        // Unreached: a thread that ended before it said anything, which only a panic of the allocator could
        // bring
        Err(_) => Err(NoThread::Begin(io::ErrorKind::Other.into())),
    }
}
