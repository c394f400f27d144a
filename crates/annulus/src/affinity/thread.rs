//! [`spawn`]: a thread that runs on a CPU of its own, or no thread.

use core::fmt;
use std::io;
use std::sync::mpsc;
#[cfg(not(annulus_loom))]
use std::thread::{Builder, JoinHandle};

#[cfg(annulus_loom)]
use loom::thread::{Builder, JoinHandle};

use super::error::PinError;
use super::pin::pin_to;
use crate::sync::seeded;

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
