//! `annulus demo`: a market-data feed to strategies.
//!
//! One thread publishes quotes into a lossy broadcast ring; each subscriber is a thread that receives every quote,
//! keeps statistics, and accounts for each message. At the end the accounts are checked: nothing may be missing that
//! the ring did not report as lost, nothing may come twice, out of order or corrupted.
//!
//! ```text
//! arguments   what the user asked for
//! feed        what is replayed: files of quotes, or a random walk
//!   input       a file of quotes         line     one line of it        symbol   its name
//!   walk        the random walk
//! session     the threads of a run: one publisher, many subscribers
//!   publisher   publishing               pace     when
//!   strategy    receiving                ledger   the accounts and their check      statistics   of each symbol
//!   progress    the bar                  gauge    what it reads
//!   quote       the message              clock    its time stamps
//! report      what a run came to, and JSON
//! table       the report for people
//! ```

mod arguments;
mod clock;
mod feed;
mod gauge;
mod input;
mod ledger;
mod line;
mod pace;
mod progress;
mod publisher;
mod quote;
mod report;
mod session;
mod statistics;
mod strategy;
mod symbol;
mod table;
mod walk;

pub(crate) use arguments::Arguments;

use annulus::Shutdown;

use crate::outcome::{Failure, INTERRUPTED, Outcome};
use crate::output;
use pace::Schedule;

/// Runs the demo and prints its report.
///
/// # Errors
///
/// Wrong input, a capacity that no ring can have, a system that gives no threads, an output that cannot be written.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let feed = arguments.feed()?;
    let capacity = arguments.capacity(feed.total);
    let ends =
        annulus::try_channel(capacity).map_err(|error| Failure::new(format!("--capacity: {error}")))?;
    let shutdown = stop_on_interrupt()?;
    let schedule = arguments.rate.map(Schedule::new);
    let report = session::run(&feed, ends, arguments.subscribers(), schedule, &shutdown)?;

    if arguments.json {
        output::print(&report.to_json())?;
        for (number, fault) in report.faults() {
            output::complain(format_args!("check failed: subscriber {number}: {fault}"));
        }
    } else {
        let setting =
            table::Setting { feed: feed.describe(), symbols: &feed.symbols, capacity, rate: arguments.rate };
        output::print(&table::render(&report, &setting))?;
    }
    Ok(report.outcome())
}

/// A flag that Ctrl-C triggers. A second Ctrl-C ends the program at once.
fn stop_on_interrupt() -> Result<Shutdown, Failure> {
    let shutdown = Shutdown::new();
    let flag = shutdown.clone();
    let on_interrupt = move || {
        if flag.is_shutdown() {
            std::process::exit(INTERRUPTED.into());
        }
        flag.trigger();
    };
    ctrlc::set_handler(on_interrupt)
        .map_err(|error| Failure::new(format!("Ctrl-C cannot be watched for: {error}")))?;
    Ok(shutdown)
}
