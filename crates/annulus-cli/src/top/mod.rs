//! `annulus top`: the rings between processes, live (Linux).
//!
//! It looks and leaves no trace: every ring is mapped read-only, and what it knows of processes is what the
//! kernel says in `/proc`. What it shows is computed by plain types, which know nothing of a terminal.
//!
//! ```text
//! arguments   what the user asked for
//! history     rates and waits, from one sample to the next         waits   how far readers are behind, in time
//! view        what the user has chosen to see, and what each key changes
//! rows        the rings in the order of the user, as text          facts   what is known of one, in words
//! routes      what bridges carry from machine to machine, as text
//! columns     which columns there is room for
//! figures     numbers and curves in little room
//! draw        all of that in a terminal's cells
//! live        the terminal, until the user quits
//! table       the table where nobody watches                       one     the page of one ring there
//! report      the same as JSON
//! ```

mod arguments;
mod columns;
mod draw;
mod facts;
mod figures;
mod history;
mod live;
mod one;
mod report;
mod routes;
mod rows;
mod table;
mod view;
mod waits;

use std::io::{self, IsTerminal};
use std::thread;
use std::time::Instant;

pub(crate) use arguments::Arguments;

use crate::outcome::{Failure, Outcome};
use crate::output;
use crate::rings::sample::{Ring, Sample};
use crate::rings::sampler::Sampler;
use crate::rings::{self, DirectoryOption};
use crate::text::quoted;
use history::History;
use rows::rows;
use view::View;
use waits::LOOK_INTERVAL;

/// Shows the rings until the user quits; once where standard output is no terminal.
///
/// # Errors
///
/// The directory can't be read, or the terminal can't be used.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let mut sampler = Sampler::new(&arguments.directory)?;
    let name = arguments.name.as_deref();
    let is_live = io::stdout().is_terminal() && !arguments.json;
    // What is not known yet comes later where the user watches. (A ring that is named must be there from the
    // beginning.)
    let is_patient = !is_live || name.is_some();
    let first = if is_patient { sampler.sample_with_answers() } else { sampler.sample() };
    name.map(|name| check(name, &first, &arguments.directory)).transpose()?;
    if is_live {
        return live::run(sampler, first, arguments);
    }
    // A rate needs two looks. In between, the ring that is named is looked at more often.
    let mut history = History::default();
    history.add(&first);
    let end = Instant::now() + arguments.interval;
    while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
        thread::sleep(name.map_or(left, |_| left.min(LOOK_INTERVAL)));
        if let Some(name) = name {
            history.add_waits(name, sampler.behind_ns(name));
        }
    }
    let mut sample = sampler.sample();
    history.add(&sample);
    if let Some(trouble) = sample.trouble {
        return Err(Failure::new(trouble));
    }
    if let Some(name) = name {
        check(name, &sample, &arguments.directory)?;
        sample.rings.retain(|ring| ring.name == name);
    }
    output::print(&if arguments.json {
        report::render(&sample, &history)
    } else if name.is_some() {
        let rows = rows(&sample, &history, &View::default());
        rows.iter().map(|row| one::render(row, &sample.routes, &history, output::room())).collect()
    } else {
        table::render(&sample, &history, output::room())
    })?;
    Ok(Outcome::Passed)
}

/// Whether there is such a ring, whose header can be understood, or which a dead process has left.
fn check(name: &str, sample: &Sample, directory: &DirectoryOption) -> Result<(), Failure> {
    match sample.rings.iter().find(|ring| ring.name == name) {
        Some(Ring { trouble: Some(trouble), .. }) => {
            Err(Failure::new(format!("{} can't be used: {trouble}", quoted(name))))
        }
        Some(_) => Ok(()),
        None => match &sample.trouble {
            Some(trouble) => Err(Failure::new(trouble.clone())),
            // As the others say it.
            None => rings::observe(&rings::open(directory)?, name).map(drop),
        },
    }
}
