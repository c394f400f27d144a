//! [`Meeting`]: where the processes meet, and how a signal ends the demo.

use std::fs::File;
use std::sync::Arc;

use annulus::broadcast::{Lossless, Lossy};
use annulus::shm::NameError;

use super::crew::{Common, Crew};
use super::ring::{GivenName, SharedRing};
use super::victim::Victim;
use crate::demo::arguments::Arguments;
use crate::demo::draft::DraftName;
use crate::demo::graph::Node;
use crate::demo::order_file::OrderFile;
use crate::demo::publisher::{Publication, publish};
use crate::demo::report::Report;
use crate::demo::session::{Accounts, Plan, lead};
use crate::demo::stopping::Stopping;
use crate::measure::{Clock, Gauges, now_ns};
use crate::outcome::Failure;
use crate::rings;

/// The user's side of all runs: it is the feed, unless that is to be killed.
pub(in crate::demo) struct Meeting {
    common: Common,
    pub(in crate::demo) stopping: Stopping,
    /// The name of the ring of quotes, while a run lasts.
    quotes: GivenName,
}

impl Meeting {
    /// A place to meet under this name. The first signal stops the feed from now on. The second one removes
    /// the `draft`, takes the name back, and ends the process; the others end with it. Each run kills `kill`
    /// in its middle.
    ///
    /// # Errors
    ///
    /// There can be no such name, or no such directory, or the system refuses it.
    pub(in crate::demo) fn new(
        name: &str,
        arguments: &Arguments,
        kill: Option<Node>,
        draft: DraftName,
    ) -> Result<Self, Failure> {
        let directory = rings::open_or_make(&arguments.directory())?;
        if let Err(error @ NameError::Bad { .. }) = directory.find(name) {
            return Err(Failure::new(format!("--shared: {error}")));
        }
        let quotes = GivenName::default();
        let given = quotes.clone();
        let stopping = Stopping::watch(move || {
            given.take_back_for_good();
            draft.remove_for_good();
        })?;
        let common = Common {
            name: name.into(),
            directory,
            shutdown: stopping.shutdown.clone(),
            kill,
            feed_arguments: arguments.feed_arguments(),
            rate: arguments.rate,
        };
        Ok(Self { common, stopping, quotes })
    }

    /// Runs `plan` in processes of its own, and returns when all have received everything.
    ///
    /// # Errors
    ///
    /// A name is taken, no ring can be as it was asked for, a process can't be started, or one has died that
    /// was not to be killed.
    pub(in crate::demo) fn run(
        &self,
        plan: &Plan<'_>,
        mut file: Option<&mut OrderFile>,
    ) -> Result<Report, Failure> {
        let gauges = Arc::new(Gauges::new(plan.graph.subscribers.len()));
        let lent = file.as_mut().map(|file| file.lend()).transpose()?;
        let ran = if self.common.kill == Some(Node::Feed) {
            self.watch(plan, lent, &gauges)
        } else if plan.graph.is_lossless() {
            self.publish::<Lossless>(plan, lent, &gauges)
        } else {
            self.publish::<Lossy>(plan, lent, &gauges)
        };
        self.quotes.take_back();
        let (report, unwritten) = ran?;
        if let Some((file, reason)) = file.zip(unwritten) {
            file.fail(reason);
        }
        Ok(report)
    }

    /// This process is the feed. Also returns why the orders could not be written.
    fn publish<M: SharedRing>(
        &self,
        plan: &Plan<'_>,
        lent: Option<File>,
        gauges: &Arc<Gauges>,
    ) -> Result<(Report, Option<String>), Failure> {
        let &Plan { feed, quotes, graph, schedule } = plan;
        let (publisher, invitation) = M::share(graph.quotes.slots, graph.subscribers.len())
            .map_err(|error| rings::not_made(graph.quotes.slots, &error))?;
        self.quotes.give(&invitation, &self.common.directory, graph.quotes.name())?;
        let crew = Crew::start(&self.common, plan, lent, gauges)?;
        let victim = crew.victim()?;
        let shutdown = &self.common.shutdown;
        if graph.is_lossless() {
            // So that the feed stops also where it waits for a process that does not continue. (Not before
            // all have joined: the first ones would see the end and go, and their queue would close.)
            shutdown.attach(publisher.closer());
        }
        let mut unwritten = None;
        let report = lead(plan, gauges, || {
            let middle = quotes / 2;
            let ticks = (0..).zip(feed.ticks(quotes)).map(|(number, tick)| {
                if number == middle {
                    let _ = victim.as_ref().map(Victim::kill);
                }
                tick
            });
            let publication =
                publish(publisher, ticks, schedule, &Clock::System, shutdown, &gauges.published);
            let (accounts, why) = crew.end()?;
            unwritten = why;
            let killed = victim.and_then(|victim| victim.killed(quotes));
            Ok((publication, Accounts { killed, ..accounts }))
        })?;
        Ok((report, unwritten))
    }

    /// The feed is a process of its own, which is to be killed.
    fn watch(
        &self,
        plan: &Plan<'_>,
        lent: Option<File>,
        gauges: &Arc<Gauges>,
    ) -> Result<(Report, Option<String>), Failure> {
        let mut crew = Crew::start(&self.common, plan, lent, gauges)?;
        let mut unwritten = None;
        let report = lead(plan, gauges, || {
            let victim = crew.victim()?.ok_or_else(|| Failure::new("there is no feed"))?;
            let begun = crew.wait_for_middle()?;
            let published = victim.kill();
            let (accounts, why) = crew.end()?;
            unwritten = why;
            // (After a signal it is the signal that has stopped it.)
            let killed = victim.killed(plan.quotes).filter(|_| begun.is_some());
            let publication = Publication { published, start_ns: begun.unwrap_or_else(now_ns) };
            Ok((publication, Accounts { killed, ..accounts }))
        })?;
        Ok((report, unwritten))
    }
}
