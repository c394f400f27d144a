//! `annulus top`: the rings between processes, live (Linux).
//!
//! It looks and leaves no trace: every ring is mapped read-only, and what it knows of processes is what the
//! kernel says in `/proc`. What it shows is computed by plain types, which know nothing of a terminal.
//!
//! ```text
//! arguments   what the user asked for
//! history     rates, from one sample to the next
//! view        what the user has chosen to see, and what each key changes
//! rows        the rings in the order of the user, as text
//! columns     which columns there is room for
//! figures     numbers and curves in little room
//! draw        all of that in a terminal's cells
//! live        the terminal, until the user quits
//! table       the table where nobody watches          report     the same as JSON
//! ```

mod arguments;
mod columns;
mod draw;
mod figures;
mod history;
mod live;
mod report;
mod rows;
mod table;
mod view;

use std::io::{self, IsTerminal};
use std::thread;

pub(crate) use arguments::Arguments;

use crate::outcome::{Failure, Outcome};
use crate::output;
use crate::rings::sampler::Sampler;
use history::History;

/// Shows the rings until the user quits; once where standard output is no terminal.
///
/// # Errors
///
/// The directory can't be read, or the terminal can't be used.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let mut sampler = Sampler::new(&arguments.directory)?;
    if io::stdout().is_terminal() && !arguments.json {
        return live::run(sampler, arguments.interval);
    }
    // A rate needs two looks.
    let mut history = History::default();
    history.add(&sampler.sample());
    thread::sleep(arguments.interval);
    let sample = sampler.sample();
    history.add(&sample);
    if let Some(trouble) = sample.trouble {
        return Err(Failure::new(trouble));
    }
    output::print(&if arguments.json {
        report::render(&sample, &history)
    } else {
        table::render(&sample, &history, output::room())
    })?;
    Ok(Outcome::Passed)
}
