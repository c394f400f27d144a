//! [`Stopping`]: how a signal ends the demo.

use std::process::exit;
use std::sync::{Arc, OnceLock};

use annulus::Shutdown;

use crate::outcome::{Failure, Outcome};
use crate::signals::Signals;

/// The first signal stops the feed, and the demo continues to its report. The second one ends the process.
pub(super) struct Stopping {
    /// What stops the feed.
    pub(super) shutdown: Shutdown,
    outcome: Arc<OnceLock<Outcome>>,
}

impl Stopping {
    /// From now on. `tidy` is called before the second signal ends the process.
    ///
    /// # Errors
    ///
    /// The system refuses it.
    pub(super) fn watch(tidy: impl Fn() + Send + 'static) -> Result<Self, Failure> {
        let stopping = Self { shutdown: Shutdown::new(), outcome: Arc::default() };
        let (shutdown, first) = (stopping.shutdown.clone(), Arc::clone(&stopping.outcome));
        Signals::watch()?.each(move |outcome| {
            if first.set(outcome).is_ok() {
                return shutdown.trigger();
            }
            tidy();
            exit(outcome.code().into());
        })?;
        Ok(stopping)
    }

    /// How the program ends if a signal has stopped the feed.
    pub(super) fn outcome(&self) -> Outcome {
        self.outcome.get().copied().unwrap_or(Outcome::Interrupted)
    }
}
