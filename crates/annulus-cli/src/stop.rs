//! [`Stop`]: how a signal ends a subscriber of a ring between processes.

use std::sync::{Mutex, OnceLock, PoisonError};

use annulus::Closer;

use crate::count::Count;
use crate::outcome::Outcome;

/// How a signal ends a subscriber: its process's end of the ring closes. Then the main thread receives what
/// has come until then, and no more.
pub(crate) struct Stop {
    end: Mutex<End>,
    outcome: OnceLock<Outcome>,
    count: Count,
}

impl Default for Stop {
    fn default() -> Self {
        Self { end: Mutex::default(), outcome: OnceLock::new(), count: Count::printed() }
    }
}

/// What a signal does.
#[derive(Default)]
enum End {
    /// There is no ring yet.
    #[default]
    Nothing,
    Close(Closer),
    /// The main thread looks.
    Look,
}

impl Stop {
    /// What closes the ring, as soon as there is one.
    pub(crate) fn give(&self, closer: Closer) {
        self.set(End::Close(closer));
    }

    /// There is a ring that this process can't close: from now on the main thread looks at
    /// [`outcome`](Self::outcome) again and again.
    pub(crate) fn look(&self) {
        self.set(End::Look);
    }

    fn set(&self, end: End) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = end;
    }

    /// A signal has come. Returns whether something ends the main thread; if not, there is no ring yet.
    #[must_use]
    pub(crate) fn stop(&self, outcome: Outcome) -> bool {
        let _ = self.outcome.set(outcome);
        match &*self.end.lock().unwrap_or_else(PoisonError::into_inner) {
            End::Close(closer) => closer.close(),
            End::Look => {}
            End::Nothing => return false,
        }
        true
    }

    /// How much the subscriber has printed.
    pub(crate) fn count(&self) -> &Count {
        &self.count
    }

    /// Which signal has ended it.
    pub(crate) fn outcome(&self) -> Option<Outcome> {
        self.outcome.get().copied()
    }
}
