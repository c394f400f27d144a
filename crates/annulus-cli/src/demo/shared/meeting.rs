//! [`Meeting`]: where the processes meet, and how a signal ends the demo.

use std::sync::Arc;

use annulus::broadcast::{Lossless, Lossy};
use annulus::shm::{Directory, NameError};

use super::crew::Crew;
use super::given_name::GivenName;
use super::ring::SharedRing;
use crate::demo::clock::Clock;
use crate::demo::draft::DraftName;
use crate::demo::order_file::OrderFile;
use crate::demo::report::Report;
use crate::demo::session::{Plan, lead};
use crate::demo::stopping::Stopping;
use crate::measure::Gauges;
use crate::outcome::Failure;
use crate::rings::{self, DirectoryOption};

/// The feed's side of all runs.
pub(in crate::demo) struct Meeting {
    /// With what the names of the rings begin.
    pub(super) name: String,
    pub(super) directory: Directory,
    pub(in crate::demo) stopping: Stopping,
    /// The name of the ring of quotes, while a run lasts.
    quotes: GivenName,
}

impl Meeting {
    /// A place to meet under this name. The first signal stops the feed from now on. The second one removes
    /// the `draft`, takes the name back, and ends the process; the others end with it.
    ///
    /// # Errors
    ///
    /// There can be no such name, or no such directory, or the system refuses it.
    pub(in crate::demo) fn new(
        name: &str,
        directory: &DirectoryOption,
        draft: DraftName,
    ) -> Result<Self, Failure> {
        let directory = rings::open_or_make(directory)?;
        if let Err(error @ NameError::Bad { .. }) = directory.find(name) {
            return Err(Failure::new(format!("--shared: {error}")));
        }
        let quotes = GivenName::default();
        let given = quotes.clone();
        let stopping = Stopping::watch(move || {
            given.take_back_for_good();
            draft.remove_for_good();
        })?;
        Ok(Self { name: name.into(), directory, stopping, quotes })
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
            self.stopping.shutdown.attach(publisher.closer());
        }
        lead(plan, publisher, &Clock::System, &gauges, &self.stopping.shutdown, || {
            let (accounts, unwritten) = crew.end()?;
            if let (Some(file), Some(reason)) = (file, unwritten) {
                file.fail(reason);
            }
            Ok(accounts)
        })
    }
}
