//! [`spawn`]: a thread that runs on a core of its own, or no thread.

use alloc::vec::Vec;
use core::fmt;
use std::io;
use std::sync::mpsc;
#[cfg(not(annulus_loom))]
use std::thread::{Builder, JoinHandle};

#[cfg(annulus_loom)]
use loom::thread::{Builder, JoinHandle};

use super::affinity;
use crate::sync::mutated;

/// Why there is no thread.
#[derive(Debug)]
pub(crate) enum NoThread {
    /// The system has none.
    Begin(io::Error),
    /// It may not run on its core.
    Core {
        core: usize,
        error: io::Error,
        /// Where the thread that called may run; empty if nobody knows.
        allowed: Vec<usize>,
    },
}

impl NoThread {
    /// What the system said.
    pub(crate) fn error(&self) -> &io::Error {
        match self {
            Self::Begin(error) | Self::Core { error, .. } => error,
        }
    }
}

/// Writes ` on core 7 (this thread may run on [0, 1])`.
pub(crate) fn write_core(f: &mut fmt::Formatter<'_>, core: usize, allowed: &[usize]) -> fmt::Result {
    write!(f, " on core {core}")?;
    if allowed.is_empty() { Ok(()) } else { write!(f, " (this thread may run on {allowed:?})") }
}

/// Begins a thread that calls `body`, on `core` if one is given. It returns what `body` does.
///
/// If there is no thread, or it may not run on the core, `body` is dropped before this returns.
pub(crate) fn spawn<T: Send + 'static>(
    builder: Builder,
    core: Option<usize>,
    body: impl FnOnce() -> T + Send + 'static,
) -> Result<JoinHandle<Option<T>>, NoThread> {
    let Some(core) = core else {
        return builder.spawn(move || Some(body())).map_err(NoThread::Begin);
    };
    let (tell, told) = mpsc::channel();
    let pinned = move || {
        let result = if mutated!("core_ignored") { Ok(()) } else { affinity::pin_to(core) };
        let is_pinned = result.is_ok();
        if tell.send(result).is_err() || !is_pinned {
            return None;
        }
        Some(body())
    };
    let thread = builder.spawn(pinned).map_err(NoThread::Begin)?;
    match told.recv().unwrap_or_else(|_| Err(io::ErrorKind::Other.into())) {
        Ok(()) => Ok(thread),
        Err(error) => {
            // It ends at once.
            let _none = thread.join();
            Err(NoThread::Core { core, error, allowed: affinity::allowed().collect() })
        }
    }
}
