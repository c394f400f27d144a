//! [`Meeting`]: where the processes meet, and how a signal ends the demo.

use std::fs;
use std::path::PathBuf;
use std::process::exit;
use std::sync::{Arc, OnceLock};

use annulus::Shutdown;
use annulus::broadcast::{Lossless, Lossy};
use annulus::shm::{Directory, NameError};

use super::crew::Crew;
use super::given_name::GivenName;
use super::ring::SharedRing;
use crate::demo::clock::Clock;
use crate::demo::order_file::OrderFile;
use crate::demo::report::Report;
use crate::demo::session::{Plan, lead};
use crate::measure::Gauges;
use crate::outcome::{Failure, Outcome};
use crate::rings::{self, DirectoryOption};
use crate::signals::Signals;

/// The feed's side of all runs.
pub(in crate::demo) struct Meeting {
    /// With what the names of the rings begin.
    pub(super) name: String,
    pub(super) directory: Directory,
    pub(super) shutdown: Shutdown,
    /// The name of the ring of quotes, while a run lasts.
    quotes: GivenName,
    /// Which signal has ended the demo.
    stopped: Arc<OnceLock<Outcome>>,
}

impl Meeting {
    /// A place to meet under this name. SIGINT (Ctrl-C) and SIGTERM trigger `shutdown` from now on. A second
    /// one removes the `temporary` file, takes the name back, and ends the process; the others end with it.
    ///
    /// # Errors
    ///
    /// There can be no such name, or no such directory, or the system refuses it.
    pub(in crate::demo) fn new(
        name: &str,
        directory: &DirectoryOption,
        shutdown: &Shutdown,
        temporary: Option<PathBuf>,
    ) -> Result<Self, Failure> {
        let signals = Signals::watch()?;
        let directory = rings::open_or_make(directory)?;
        if let Err(error @ NameError::Bad { .. }) = directory.find(name) {
            return Err(Failure::new(format!("--shared: {error}")));
        }
        let (quotes, stopped) = (GivenName::default(), Arc::new(OnceLock::new()));
        let on_signal = {
            let (quotes, stopped, shutdown) = (quotes.clone(), Arc::clone(&stopped), shutdown.clone());
            move |outcome: Outcome| {
                if stopped.set(outcome).is_ok() {
                    return shutdown.trigger();
                }
                quotes.take_back_for_good();
                if let Some(path) = &temporary {
                    let _ = fs::remove_file(path);
                }
                exit(outcome.code().into());
            }
        };
        signals.each(on_signal)?;
        Ok(Self { name: name.into(), directory, shutdown: shutdown.clone(), quotes, stopped })
    }

    /// Runs `plan` in processes of its own, and returns when all have received everything.
    ///
    /// # Errors
    ///
    /// A name is taken, no ring can be as it was asked for, a process can't be started, or one has died.
    pub(in crate::demo) fn run(
        &self,
        plan: &Plan<'_>,
        file: Option<&mut OrderFile>,
    ) -> Result<Report, Failure> {
        let report = if plan.graph.is_lossless() {
            self.run_on::<Lossless>(plan, file)
        } else {
            self.run_on::<Lossy>(plan, file)
        };
        self.quotes.take_back();
        report
    }

    fn run_on<M: SharedRing>(
        &self,
        plan: &Plan<'_>,
        mut file: Option<&mut OrderFile>,
    ) -> Result<Report, Failure> {
        let graph = plan.graph;
        let gauges = Arc::new(Gauges::new(graph.subscribers.len()));
        let (publisher, invitation) = M::share(graph.quotes.slots, graph.subscribers.len())
            .map_err(|error| Failure::new(format!("--capacity {}: {error}", graph.quotes.slots)))?;
        self.quotes.give(&invitation, &self.directory, graph.quotes.name())?;
        let lent = file.as_mut().map(|file| file.lend()).transpose()?;
        let crew = Crew::start(self, plan, lent, &gauges)?;
        if M::LOSSLESS {
            // So that the feed stops also where it waits for a process that does not go on. (Not before all
            // have joined: the first ones would see the end and go, and their queue would close.)
            self.shutdown.attach(publisher.closer());
        }
        lead(plan, publisher, &Clock::System, &gauges, &self.shutdown, || {
            let (accounts, unwritten) = crew.end()?;
            if let (Some(file), Some(reason)) = (file, unwritten) {
                file.fail(reason);
            }
            Ok(accounts)
        })
    }

    /// The signal that has ended the demo.
    pub(in crate::demo) fn stopped(&self) -> Option<Outcome> {
        self.stopped.get().copied()
    }
}
