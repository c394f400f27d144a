//! `annulus demo`: from tick to order.
//!
//! One thread publishes quotes into a broadcast ring; each subscriber is a thread that receives every quote,
//! keeps statistics, accounts for each message, and hands it to its strategies. These send orders through a
//! queue of many producers to one gateway, which writes them to a file. At the end the accounts are checked:
//! nothing may be missing that the ring did not report as lost, nothing may come twice, out of order or
//! corrupted.
//!
//! ```text
//!                    ┌─► subscriber: strategies ─┐
//! feed ─► broadcast ─┼─► subscriber: strategies ─┼─► queue ─► gateway ─► file
//!                    └─► …                       ┘
//! ```
//!
//! It runs twice: at full speed, which shows the throughput; and once more with the first quotes at an even
//! pace, because only a ring that is not flooded shows the latency. If the user asks for a rate, it runs
//! once, at that rate. With `--shared` each thread is a process instead.
//!
//! ```text
//! arguments   what the user asked for
//! graph       the parts of a run, and the rings     describe   that list, printed
//! feed        what is replayed: files of quotes, or a random walk
//!   input       a file of quotes         line     one line of it
//!   walk        the random walk
//! session     a run: one publisher, many subscribers, one gateway
//!   threads     all of them in one process
//!   shared      each a process (Linux)
//!   publisher   the ring, and publishing
//!   subscriber  receiving                statistics   of each symbol
//!   strategy    what it orders           order    the order, and its line
//!   gateway     receiving orders         order_file   where they are written
//!   place       what --output names      draft        a file that takes its place when it is complete
//!   stopping    how a signal ends it
//! report      what a run came to               killed   a process that was killed, and what was lost
//! findings    what both runs came to, and JSON
//! table       the report for people
//! ```

mod arguments;
mod describe;
mod draft;
mod feed;
mod findings;
mod gateway;
mod graph;
mod input;
mod killed;
mod line;
mod order;
mod order_file;
mod place;
mod publisher;
mod report;
mod session;
#[cfg(target_os = "linux")]
mod shared;
mod statistics;
mod stopping;
mod strategy;
mod subscriber;
mod table;
mod threads;
mod walk;

pub(crate) use arguments::Arguments;

use annulus::broadcast::{Lossless, Lossy};

use crate::measure::Schedule;
use crate::outcome::{Failure, Outcome};
use crate::output;
use draft::DraftName;
use findings::{Calm, Findings};
use graph::{Graph, Node};
use killed::Killed;
use order_file::OrderFile;
use publisher::{Ends, Ring};
use report::Report;
use session::Plan;
use stopping::Stopping;

/// Messages a second where latency is measured. The ring is nearly empty at each of them, also where there
/// are more threads than cores: between two messages the publisher has time to give its core away.
const CALM_PER_S: f64 = 10_000.0;

/// The most quotes there: one second of them.
const CALM_QUOTES: u64 = 10_000;

/// Runs the demo and prints its report, or prints its graph.
///
/// # Errors
///
/// Wrong input, a capacity that no ring can have, a system that gives no threads, an output that cannot be
/// written. With processes: a name that is taken, a process that can't be started, or that has died.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    #[cfg(target_os = "linux")]
    if let Some(part) = &arguments.part {
        return shared::play(part, arguments);
    }
    arguments.check()?;
    let feed = arguments.feed()?;
    for remark in &feed.remarks {
        output::say(format_args!("{remark}"));
    }
    let graph = arguments.graph(feed.total);
    if let Some(form) = arguments.describe() {
        // A graph that could not be made is refused as it is when it is to run.
        if graph.is_lossless() {
            make::<Lossless>(&graph).map(drop)?;
        } else {
            make::<Lossy>(&graph).map(drop)?;
        }
        output::print(&describe::render(&graph, form))?;
        return Ok(Outcome::Passed);
    }
    let kill = arguments.kill(&graph)?;
    let plan =
        Plan { feed: &feed, quotes: feed.total, graph: &graph, schedule: arguments.rate.map(Schedule::new) };
    // No signal leaves a draft: they are watched for before there is one. What waits for the other end of a
    // pipe has come before, and any signal ends it.
    let (output, draft) = (arguments.output()?, DraftName::default());
    let cast = Cast::new(arguments, kill, &draft)?;
    let begin = |(path, place)| OrderFile::create(path, place, arguments.names(&feed.symbols), &draft);
    let mut file = output.map(begin).transpose()?;
    let report = cast.run(&plan, file.as_mut())?;
    let outcome = report.outcome();
    match file {
        Some(file) if report.killed.as_ref().is_some_and(Killed::is_gateway) => {
            output::say(format_args!("{}: not written, as the gateway was killed", file.name()));
        }
        Some(file) if outcome != Outcome::Failed => file.complete()?,
        Some(file) => output::complain(format_args!("{}: not written, as the check failed", file.name())),
        None => {}
    }
    let mut findings = Findings { run: report, rate: arguments.rate, calm: None };
    if arguments.rate.is_none() && kill.is_none() && outcome == Outcome::Passed {
        let schedule = Some(Schedule::new(CALM_PER_S));
        let plan = Plan { quotes: feed.total.min(CALM_QUOTES), schedule, ..plan };
        let report = cast.run(&plan, None)?;
        findings.calm = Some(Calm { report, rate: CALM_PER_S });
    }

    if arguments.json {
        output::print(&findings.to_json())?;
        for fault in findings.faults() {
            output::complain(format_args!("check failed: {fault}"));
        }
    } else {
        let setting = table::Setting {
            feed: feed.describe(),
            symbols: &feed.symbols,
            capacity: graph.quotes.slots,
            ring: graph.quotes.name.clone(),
            stopped_by: cast.stopped_as().stopped_by(),
            kill: kill.map(|node| graph.name(node)),
            output: graph.output.clone(),
        };
        output::print(&table::render(&findings, &setting, output::room()))?;
    }
    Ok(match findings.outcome() {
        Outcome::Interrupted => cast.stopped_as(),
        outcome => outcome,
    })
}

/// What the subscribers and the gateway are, and what stops the feed.
enum Cast {
    /// Threads of this process.
    Threads(Stopping),
    /// Processes.
    #[cfg(target_os = "linux")]
    Processes(shared::Meeting),
}

impl Cast {
    /// As the user asked for. A second signal removes the `draft` and ends the program at once.
    fn new(arguments: &Arguments, kill: Option<Node>, draft: &DraftName) -> Result<Self, Failure> {
        let draft = draft.clone();
        match &arguments.shared {
            None => Stopping::watch(move || draft.remove_for_good()).map(Self::Threads),
            #[cfg(target_os = "linux")]
            Some(name) => shared::Meeting::new(name, arguments, kill, draft).map(Self::Processes),
            #[cfg(not(target_os = "linux"))]
            Some(_) => unreachable!("the check refuses it (and so is {kill:?})"),
        }
    }

    /// Runs `plan` on rings of its own.
    fn run(&self, plan: &Plan<'_>, file: Option<&mut OrderFile>) -> Result<Report, Failure> {
        match self {
            Self::Threads(Stopping { shutdown, .. }) if plan.graph.is_lossless() => {
                threads::run(plan, make::<Lossless>(plan.graph)?, file, shutdown)
            }
            Self::Threads(Stopping { shutdown, .. }) => {
                threads::run(plan, make::<Lossy>(plan.graph)?, file, shutdown)
            }
            #[cfg(target_os = "linux")]
            Self::Processes(meeting) => meeting.run(plan, file),
        }
    }

    /// How the program ends if a signal has stopped the feed.
    fn stopped_as(&self) -> Outcome {
        match self {
            Self::Threads(stopping) => stopping.outcome(),
            #[cfg(target_os = "linux")]
            Self::Processes(meeting) => meeting.stopping.outcome(),
        }
    }
}

/// The ring of quotes.
fn make<M: Ring>(graph: &Graph) -> Result<Ends<M>, Failure> {
    M::make(graph.quotes.slots).map_err(|error| Failure::new(format!("--capacity: {error}")))
}
