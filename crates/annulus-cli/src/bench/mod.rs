//! `annulus bench`: load on a named ring between processes (Linux).
//!
//! One process makes the ring, gives it the name, and publishes. It starts other processes of this program
//! as subscribers, which receive every message and check it. Without a rate there are two parts: one at full
//! speed, which shows the throughput, and one at an even pace, because only a ring that is not flooded shows
//! the latency.
//!
//! ```text
//! arguments    what the user asked for
//! publishing   the publisher's side
//! receiving    a subscriber's side
//! children     subscribers in processes of their own
//! report       what a subscriber received, what a run came to, and JSON
//! table        the report for people
//! ```

mod arguments;
mod children;
mod publishing;
mod receiving;
mod report;
mod table;

pub(crate) use arguments::Arguments;

use crate::outcome::{Failure, Outcome};
use crate::output;
use report::Report;

/// Runs the benchmark, or one side of it, and prints its report.
///
/// # Errors
///
/// Another ring has the name, no ring can be as it was asked for, or a subscriber's process is lost.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let (report, stopped) =
        if arguments.subscribe { receiving::run(arguments)? } else { publishing::run(arguments)? };
    let Some(report) = report else { return Ok(stopped.unwrap_or(Outcome::Passed)) };
    print(&report, arguments)?;
    Ok(if report.faults().is_empty() { stopped.unwrap_or(Outcome::Passed) } else { Outcome::Failed })
}

fn print(report: &Report, arguments: &Arguments) -> Result<(), Failure> {
    if !arguments.json {
        return output::print(&table::render(report, output::room()));
    }
    output::print(&report.to_json())?;
    for fault in report.faults() {
        output::complain(format_args!("check failed: {fault}"));
    }
    Ok(())
}
