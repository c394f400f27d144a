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
//! once, at that rate.
//!
//! ```text
//! arguments   what the user asked for
//! graph       the threads and rings, as a list      describe   that list, printed
//! feed        what is replayed: files of quotes, or a random walk
//!   input       a file of quotes         line     one line of it        symbol   its name
//!   walk        the random walk
//! session     the threads of a run: one publisher, many subscribers, one gateway
//!   publisher   publishing               pace     when
//!   subscriber  receiving                ledger   the accounts and their check      statistics   of each symbol
//!   strategy    what it orders           order    the order, and its line
//!   gateway     receiving orders         order_file   where they are written
//!   progress    the bar                  gauge    what it reads
//!   quote       the message              clock    its time stamps                   ring   lossy or lossless
//! report      what a run came to
//! findings    what both runs came to, and JSON
//! table       the report for people
//! ```

mod arguments;
mod clock;
mod describe;
mod feed;
mod findings;
mod gateway;
mod gauge;
mod graph;
mod input;
mod ledger;
mod line;
mod order;
mod order_file;
mod pace;
mod progress;
mod publisher;
mod quote;
mod report;
mod ring;
mod session;
mod statistics;
mod strategy;
mod subscriber;
mod symbol;
mod table;
mod walk;

pub(crate) use arguments::Arguments;

use std::fs;
use std::path::PathBuf;

use annulus::Shutdown;
use annulus::broadcast::{Lossless, Lossy};

use crate::outcome::{Failure, INTERRUPTED, Outcome};
use crate::output;
use findings::{Calm, Findings};
use graph::Graph;
use order_file::OrderFile;
use pace::Schedule;
use report::Report;
use ring::{Ends, Ring};
use session::Plan;

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
/// written.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    arguments.check()?;
    let feed = arguments.feed()?;
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
    let plan =
        Plan { feed: &feed, quotes: feed.total, graph: &graph, schedule: arguments.rate.map(Schedule::new) };
    let mut file = arguments.order_file(&feed.symbols)?;
    let shutdown = stop_on_interrupt(file.as_ref().and_then(OrderFile::temporary))?;
    let run = if graph.is_lossless() { run_on::<Lossless> } else { run_on::<Lossy> };
    let report = run(&plan, file.as_mut(), &shutdown)?;
    let outcome = report.outcome();
    match file {
        Some(file) if outcome != Outcome::Failed => file.complete()?,
        Some(file) => output::complain(format_args!("{}: not written, as the check failed", file.name())),
        None => {}
    }
    let mut findings = Findings { run: report, rate: arguments.rate, calm: None };
    if arguments.rate.is_none() && outcome == Outcome::Passed {
        let schedule = Some(Schedule::new(CALM_PER_S));
        let plan = Plan { quotes: feed.total.min(CALM_QUOTES), schedule, ..plan };
        let report = run(&plan, None, &shutdown)?;
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
            output: graph.output.clone(),
        };
        output::print(&table::render(&findings, &setting))?;
    }
    Ok(findings.outcome())
}

/// Runs `plan` on a ring of its own.
fn run_on<M: Ring>(
    plan: &Plan<'_>,
    file: Option<&mut OrderFile>,
    shutdown: &Shutdown,
) -> Result<Report, Failure> {
    session::run(plan, make::<M>(plan.graph)?, file, shutdown)
}

/// The ring of quotes.
fn make<M: Ring>(graph: &Graph) -> Result<Ends<M>, Failure> {
    M::make(graph.quotes.slots).map_err(|error| Failure::new(format!("--capacity: {error}")))
}

/// A flag that Ctrl-C triggers. A second Ctrl-C removes the `temporary` file and ends the program at once.
fn stop_on_interrupt(temporary: Option<PathBuf>) -> Result<Shutdown, Failure> {
    let shutdown = Shutdown::new();
    let flag = shutdown.clone();
    let on_interrupt = move || {
        if flag.is_shutdown() {
            if let Some(path) = &temporary {
                let _ = fs::remove_file(path);
            }
            std::process::exit(INTERRUPTED.into());
        }
        flag.trigger();
    };
    ctrlc::set_handler(on_interrupt)
        .map_err(|error| Failure::new(format!("Ctrl-C cannot be watched for: {error}")))?;
    Ok(shutdown)
}
