//! [`Stop`]: how a signal ends a subscriber of a ring between processes.

use std::process::exit;
use std::sync::{Mutex, OnceLock, PoisonError};

use annulus::Closer;

use crate::outcome::Outcome;

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
