//! [`Signals`], [`Stop`]: how a user or another program ends a subcommand that has a ring between processes.
//!
//! A process that a signal ends is dead to others. So the subcommand ends its ring first, and takes its name
//! back. It ends within a second, also if it hangs in a pipe that nobody reads.

use std::process::exit;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;
use std::time::Duration;

use annulus::Closer;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator;

use crate::outcome::{Failure, Outcome};

/// How long a subcommand may take to end by itself.
const PATIENCE: Duration = Duration::from_secs(1);

/// SIGINT (Ctrl-C) and SIGTERM, which no longer end the process.
pub(crate) struct Signals(iterator::Signals);

impl Signals {
    /// From now on they are kept for [`then`](Self::then).
    ///
    /// # Errors
    ///
    /// The system refuses it.
    pub(crate) fn watch() -> Result<Self, Failure> {
        iterator::Signals::new([SIGINT, SIGTERM]).map(Self).map_err(|error| refused(&error))
    }

    /// With each signal, also one that has come before this, a thread calls `on`.
    ///
    /// # Errors
    ///
    /// There is no thread for it.
    pub(crate) fn each(mut self, mut on: impl FnMut(Outcome) + Send + 'static) -> Result<(), Failure> {
        let body = move || {
            for signal in self.0.forever() {
                on(match signal {
                    SIGTERM => Outcome::Terminated,
                    _ => Outcome::Interrupted,
                });
            }
        };
        let thread = thread::Builder::new().name("signals".into()).spawn(body);
        thread.map(drop).map_err(|error| refused(&error))
    }

    /// With the first signal, also one that has come before this, a thread calls `end`. The process ends when
    /// the main thread does, at the latest after [`PATIENCE`] or with a second signal.
    ///
    /// # Errors
    ///
    /// There is no thread for it.
    pub(crate) fn then(self, end: impl FnOnce(Outcome) + Send + 'static) -> Result<(), Failure> {
        let mut end = Some(end);
        self.each(move |outcome| {
            let Some(end) = end.take() else { exit(outcome.code().into()) };
            let patience = move || {
                thread::sleep(PATIENCE);
                exit(outcome.code().into());
            };
            if thread::Builder::new().spawn(patience).is_err() {
                exit(outcome.code().into());
            }
            end(outcome);
        })
    }
}

/// How a signal ends a subscriber: its process's end of the ring closes. Then the main thread receives what
/// has come until then, and no more.
#[derive(Default)]
pub(crate) struct Stop {
    closer: Mutex<Option<Closer>>,
    outcome: OnceLock<Outcome>,
}

impl Stop {
    /// What closes the ring, as soon as there is one.
    pub(crate) fn give(&self, closer: Closer) {
        *self.closer.lock().unwrap_or_else(PoisonError::into_inner) = Some(closer);
    }

    /// What [`Signals::then`] is to call.
    pub(crate) fn stop(&self, outcome: Outcome) {
        let _ = self.outcome.set(outcome);
        match &*self.closer.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(closer) => closer.close(),
            // It still waits for the ring.
            None => exit(outcome.code().into()),
        }
    }

    /// Which signal has ended it.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.outcome.get().copied()
    }
}

fn refused(error: &std::io::Error) -> Failure {
    Failure::new(format!("Ctrl-C and SIGTERM cannot be watched for: {error}"))
}
