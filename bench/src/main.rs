//! Annulus beside its rivals, and beside what the machine can do at best.
//!
//! ```text
//! main         the arguments
//! rows/        what is measured: one loop each, generic over the contender
//! contenders   the rings, behind one interface
//! floor        the same without a ring
//! rounds       the method: rounds, which of them count, statistics
//! report       the table, the page, the JSON file
//! machine      what it ran on
//! cores        threads on cores of their own
//! ```

mod contenders;
mod cores;
mod floor;
mod machine;
mod report;
mod rounds;
mod rows;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;

use cores::{Cores, Presence};
use machine::Machine;
use report::{Report, RowReport};
use rows::{Plan, Row};

/// Measures annulus beside its rivals and prints a table.
#[derive(Parser)]
struct Arguments {
    /// Rounds that each row is to have.
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Three rounds: to see that it runs, not for numbers to show.
    #[arg(long, conflicts_with = "rounds")]
    quick: bool,
    /// Only rows whose name contains this.
    #[arg(long, value_name = "SUBSTRING", default_value = "")]
    only: String,
    /// Two cores to run on, as "0,1"; otherwise the first two that may be used.
    #[arg(long)]
    cores: Option<Cores>,
    /// Write everything that was measured to this file.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the page of the documentation to this file.
    #[arg(long, value_name = "FILE")]
    markdown: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let cores = arguments.cores.map_or_else(Cores::first_two, Cores::check)?;
    let rounds = if arguments.quick { 3 } else { usize::from(arguments.rounds) };
    let rows: Vec<Row> = rows::all().into_iter().filter(|row| row.name.contains(&arguments.only)).collect();
    if rows.is_empty() {
        return Err(format!("no row's name contains {:?}", arguments.only));
    }
    cores::pin(cores.here);
    let presence = Presence::begin();
    let measured = rows.iter().map(|row| measure(row, rounds, cores)).collect();
    let report = Report::new(Machine::here(), rounds, presence.share(), measured);
    println!("{}\n\n{}", report.conditions(cores), report.table());
    if let Some(path) = &arguments.json {
        let json = serde_json::to_string_pretty(&report).map_err(|error| error.to_string())?;
        write(path, json + "\n")?;
    }
    if let Some(path) = &arguments.markdown {
        write(path, report.markdown(cores))?;
    }
    Ok(())
}

fn measure(row: &Row, rounds: usize, cores: Cores) -> RowReport {
    const ROUND_TRIPS: u64 = 20_000;
    let plan = Plan { capacity: row.capacity, messages: row.messages, cores };
    eprint!("{} ... ", row.name);
    let begun = Instant::now();
    let result = rounds::measure(row, &plan, rounds, || floor::ping_pong(cores, ROUND_TRIPS));
    let (kept, dropped, seconds) = (result.kept.len(), result.dropped, begun.elapsed().as_secs_f64());
    eprintln!("{kept} rounds, {dropped} dropped, {seconds:.1} s");
    RowReport::new(row, result)
}

fn write(path: &Path, text: String) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}
