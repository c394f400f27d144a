//! Each round of each row in a process of its own: this program, started again.
//!
//! Where a ring lies in memory changes what it takes, and stays the same as long as a process does. So does
//! the state that a contender leaves behind in the allocator. With a process for each round, the spread shows
//! that, and the median does not hang on one throw of the dice. Rows take turns within a round, so that what
//! changes slowly is spread over all of them.

use std::process::{Command, Stdio};
use std::time::Duration;
use std::{env, process, thread};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cores::{self, Cores};
use crate::floor;
use crate::journal::Journal;
use crate::load::{Load, Spent};
use crate::rounds::{Order, Round, Rounds};
use crate::row::Row;
use crate::rows;

/// A round that takes longer than this hangs.
const PATIENCE: Duration = Duration::from_mins(2);

/// Runs every row until `rounds` of its rounds count, or twice as many were tried. Those that the journal has
/// are not run again, and it gets the others. Also returns what the cores did during all of these.
pub fn measure(
    rows: &[Row],
    rounds: usize,
    cores: Cores,
    mut journal: Option<Journal>,
) -> Result<(Vec<Rounds>, Spent), String> {
    let mut spent = journal.as_ref().map_or_else(Spent::default, Journal::spent);
    let of = |row: &Row, error: String| format!("{}: {error}", row.name);
    let mut before = |row: &Row| journal.as_mut().map_or_else(Vec::new, |journal| journal.take(&row.name));
    let mut results: Vec<Rounds> = rows.iter().map(|row| Rounds(before(row))).collect();
    for (row, Rounds(rounds)) in rows.iter().zip(&results) {
        rounds.iter().try_for_each(|round| fits(row, round)).map_err(|error| of(row, error))?;
    }
    let style = ProgressStyle::with_template(
        "{bar:30} {pos}/{len} rounds, {elapsed} of about {duration}: {wide_msg}",
    )
    .expect("the template is right");
    let wanted = |row: &Row| rounds.min(row.most_rounds);
    let had = rows.iter().zip(&results).map(|(row, result)| result.kept().min(wanted(row)));
    let bar = ProgressBar::new(rows.iter().map(wanted).sum::<usize>() as u64)
        .with_style(style)
        .with_position(had.sum::<usize>() as u64);
    bar.reset_eta();
    let mut load = Load::begin(cores);
    for attempt in 0..2 * rounds {
        let order = if attempt % 2 == 0 { Order::Forward } else { Order::Backward };
        let short = |row: &Row, result: &Rounds| {
            result.kept() < wanted(row) && result.0.len() == attempt && attempt < 2 * wanted(row)
        };
        for (row, result) in rows.iter().zip(&mut results).filter(|(row, result)| short(row, result)) {
            bar.set_message(row.name.clone());
            let round = run_apart(row, order, cores).map_err(|error| of(row, error))?;
            let meanwhile = load.lap();
            spent += meanwhile;
            if let Some(journal) = &mut journal {
                journal.add(&row.name, meanwhile, &round)?;
            }
            bar.inc(u64::from(round.counts()));
            result.0.push(round);
        }
    }
    bar.finish_and_clear();
    Ok((results, spent))
}

/// A rival in another language may have come or gone meanwhile.
fn fits(row: &Row, round: &Round) -> Result<(), String> {
    let (has, had) = (row.entries.len(), round.samples.len());
    if has == had { Ok(()) } else { Err(format!("a round of it had {had} entries, and it has {has}")) }
}

/// One round, in a process of its own.
fn run_apart(row: &Row, order: Order, cores: Cores) -> Result<Round, String> {
    let program = env::current_exe().map_err(|error| error.to_string())?;
    let output = Command::new(program)
        .args(["--round", &row.name, "--cores", &cores.argument()])
        .args(["--span-ms", &row.span.as_millis().to_string()])
        .args((order == Order::Backward).then_some("--backward"))
        .stderr(Stdio::inherit())
        .output()
        .map_err(|error| error.to_string())?;
    if !output.status.success() {
        return Err(format!("a round of it ended with {}", output.status));
    }
    let round: Round = serde_json::from_slice(&output.stdout)
        .map_err(|error| format!("what a round of it printed: {error}"))?;
    fits(row, &round).map(|()| round)
}

/// What such a process does: runs the round and prints it.
pub fn run_here(name: &str, order: Order, span: Option<Duration>, cores: Cores) -> Result<(), String> {
    const ROUND_TRIPS: u64 = 20_000;
    let row = rows::all().into_iter().find(|row| row.name == name);
    let mut row = row.ok_or_else(|| format!("there is no row {name:?}"))?;
    row.span = span.map_or(row.span, |span| row.span.min(span));
    let name = row.name.clone();
    thread::spawn(move || {
        thread::sleep(PATIENCE);
        eprintln!("error: {name}: not done after {} s", PATIENCE.as_secs());
        process::exit(1);
    });
    // A round is so short that what a process pays once, at its first sleep or at the end of its first queue,
    // would be most of it.
    annulus::wait::prepare_process();
    cores::pin(cores.here);
    let round = Round::run(&row, &row.plan(cores), order, || floor::ping_pong(cores, ROUND_TRIPS));
    println!("{}", serde_json::to_string(&round).map_err(|error| error.to_string())?);
    Ok(())
}
