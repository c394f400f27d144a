//! Annulus beside its rivals, and beside what the machine can do at best. A part uses only parts below it.
//!
//! ```text
//! main         the arguments
//! documents    those of the project that are made from results
//! report/      the pages and tables that are made from the results
//! measure      each round in a process of its own
//! journal      a file of the rounds, with which a run that was cut off goes on
//! results      what was measured and what follows from it
//! rows/        what is measured: one loop each, generic over the contender
//! floor        the same without a ring
//! exchange     producers and consumers on cores as a placement has them, for a given time
//! contenders/  the rings, behind one interface
//! percentiles  what a row says of latencies
//! columns      the rounds of a row as a file has them
//! rounds       the method: a round, which of them count, statistics
//! one_way      how long a message is on its way, by time stamps
//! processes    other processes of a row, and what they are told
//! common_lines memory that they have in common
//! workers      the executors on which tasks run
//! timing       how a loop is timed: after a warm-up, on one thread or on both cores
//! hand_over    something that a thread can sleep on
//! messages/    what the messages are, and how they are checked
//! row          what a row is
//! digits       how exact a figure is
//! placement    which threads run on which core
//! latencies    how a round passes them on
//! busy         another program on the same cores
//! machine      what it ran on
//! load         what else ran there
//! cores        threads on cores of their own
//! stamps       the counter that they have in common
//! ```

mod busy;
mod columns;
mod common_lines;
mod contenders;
mod cores;
mod digits;
mod documents;
mod exchange;
mod floor;
mod hand_over;
mod journal;
mod latencies;
mod load;
mod machine;
mod measure;
mod messages;
mod one_way;
mod percentiles;
mod placement;
mod processes;
mod report;
mod results;
mod rounds;
mod row;
mod rows;
mod stamps;
mod timing;
mod workers;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;

use contenders::{packages, version_of};
use cores::Cores;
use journal::{Journal, Measuring};
use machine::Machine;
use report::{html, table};
use results::{Package, Results, RowResult};
use rounds::Order;
use row::Row;

/// Measures annulus beside its rivals, prints a table, and writes a report.
///
/// Without arguments it takes about an hour, wants two cores that nothing else uses, and writes
/// report.html and results.json to the current folder.
#[derive(Parser)]
#[command(after_help = "Examples:
  cargo run --release -- --quick                        a look, in ten minutes
  cargo run --release -- --only 'queue, '               some rows
  cargo run --release -- --only placement               those by placement, in half an hour
  cargo run --release -- --except 'now and then'        all but the slowest, in half an hour
  cargo run --release -- --only async                   those of tasks, in two minutes
  cargo run --release --features iceoryx2 -- --only processes
                                                        those between processes, with that library beside them
  cargo run --release -- --journal rounds.jsonl         all, in as many goes as it takes
  cargo run --release -- --from results.json            the report again, without measuring
  cargo run --release -- --compare a.json b.json c.json whether runs come to the same verdicts")]
struct Arguments {
    /// Rounds that each row is to have.
    #[arg(long, default_value_t = 21, value_parser = clap::value_parser!(u16).range(1..))]
    rounds: u16,
    /// Three rounds: to see that it runs, not for numbers to show.
    #[arg(long, conflicts_with = "rounds")]
    quick: bool,
    /// Only rows whose name contains this, or one of several such.
    #[arg(long, value_name = "SUBSTRING")]
    only: Vec<String>,
    /// No row whose name contains this, whatever --only says.
    #[arg(long, value_name = "SUBSTRING")]
    except: Vec<String>,
    /// Cores to run on, as "0,1", of which most rows use the first two; otherwise all that may be used.
    #[arg(long)]
    cores: Option<Cores>,
    /// Where to write the report for people.
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    html: PathBuf,
    /// Where to write everything that was measured, for programs.
    #[arg(long, value_name = "FILE", default_value = "results.json")]
    json: PathBuf,
    /// Append each round to this file as soon as it was measured, and run none that it has. So a run that was
    /// cut off goes on, and rows or rounds can be added later.
    #[arg(long, value_name = "FILE", conflicts_with = "quick")]
    journal: Option<PathBuf>,
    /// Also write the page of this processor in docs/benchmarks, and what there and in the README is of all
    /// processors, in this checkout of the project.
    #[arg(long, value_name = "FOLDER")]
    docs: Option<PathBuf>,
    /// Measure nothing: make the reports of what this file holds, which an earlier run wrote.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["rounds", "quick", "only", "except", "cores", "json", "journal"])]
    from: Option<PathBuf>,
    /// Measure nothing: say in which rows these runs come to different verdicts, and fail if that is more
    /// than one in twenty.
    #[arg(long, value_name = "FILE", num_args = 2.., conflicts_with_all = ["from", "docs"])]
    compare: Vec<PathBuf>,
    /// Run one round of this row here, and print it: what this program calls itself with.
    #[arg(long, value_name = "ROW", hide = true)]
    round: Option<String>,
    /// With its entries from the last to the first.
    #[arg(long, hide = true, requires = "round")]
    backward: bool,
    /// Be another process of a row, as the socket on standard input says. For this program itself.
    #[arg(long, hide = true)]
    child: bool,
    /// For so many milliseconds at most, if it is a row that runs for a time.
    #[arg(long, hide = true, requires = "round")]
    span_ms: Option<u64>,
}

impl Arguments {
    fn want(&self, row: &str) -> bool {
        let has = |parts: &[String]| parts.iter().any(|part| row.contains(part));
        (self.only.is_empty() || has(&self.only)) && !has(&self.except)
    }
}

/// A row that runs for a time has no more of it in a run that is only to see that it runs.
const QUICK_SPAN: Duration = Duration::from_millis(100);

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<ExitCode, String> {
    if arguments.child {
        return processes::be_a_child(&rows::works()).map(|()| ExitCode::SUCCESS);
    }
    if !arguments.compare.is_empty() {
        return compare(&arguments.compare);
    }
    let results = match &arguments.from {
        Some(path) => results::read(path)?,
        None => {
            let cores = arguments.cores.map_or_else(Cores::all, Cores::check)?;
            if let Some(name) = &arguments.round {
                let order = if arguments.backward { Order::Backward } else { Order::Forward };
                let span = arguments.span_ms.map(Duration::from_millis);
                return measure::run_here(name, order, span, cores).map(|()| ExitCode::SUCCESS);
            }
            let results = measure(arguments, cores)?;
            documents::put(&arguments.json, results::json(&results)?)?;
            results
        }
    };
    println!("{}", table::table(&results));
    documents::put(&arguments.html, html::page(&results))?;
    if let Some(root) = &arguments.docs {
        documents::write(root, &results)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn measure(arguments: &Arguments, cores: Cores) -> Result<Results, String> {
    let rounds = if arguments.quick { 3 } else { usize::from(arguments.rounds) };
    let mut rows: Vec<Row> = rows::all().into_iter().filter(|row| arguments.want(&row.name)).collect();
    if rows.is_empty() {
        return Err(format!(
            "--only {:?} and --except {:?} leave no row; the pages in docs/benchmarks have their names",
            arguments.only, arguments.except
        ));
    }
    if arguments.quick {
        rows.iter_mut().for_each(|row| row.span = row.span.min(QUICK_SPAN));
    }
    let all = rows.len();
    rows.retain(|row| row.cores() <= cores.count());
    if rows.len() < all {
        eprintln!(
            "{} of {all} rows need more cores than the {} that there are",
            all - rows.len(),
            cores.count()
        );
    }
    if rows.is_empty() {
        return Err("no row is left that so few cores are enough for".to_owned());
    }
    rows::left_out().iter().for_each(|why| eprintln!("{why}"));
    if !stamps::are_reliable() {
        eprintln!("no one-way latencies: the time stamp counter of this machine is not invariant");
    }
    let cores = cores.first(rows.iter().map(Row::cores).max().unwrap_or(1).max(2));
    let journal = match &arguments.journal {
        Some(path) => Some(Journal::open(path, &Measuring::here(cores)?)?),
        None => None,
    };
    let (measured, spent) = measure::measure(&rows, rounds, cores, journal)?;
    let package = |name: &str| Package { name: name.to_owned(), version: version_of(name).to_owned() };
    Ok(Results {
        machine: Machine::here(),
        contenders: packages().map(package).collect(),
        cores: cores.to_string(),
        rounds,
        others: spent.part_of_others(),
        rows: rows
            .iter()
            .zip(measured)
            .map(|(row, rounds)| RowResult::new(row, rounds, cores.count()))
            .collect(),
    })
}

fn compare(paths: &[PathBuf]) -> Result<ExitCode, String> {
    let runs = paths.iter().map(|path| results::read(path)).collect::<Result<Vec<_>, _>>()?;
    let (rows, differ) = results::agreement(&runs)?;
    differ.iter().for_each(|row| println!("{row}"));
    let same = rows - differ.len();
    println!("the same verdict in {same} of {rows} rows ({:.0} %)", same as f64 / rows as f64 * 100.0);
    Ok(if 20 * differ.len() > rows { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_named_by_parts_of_their_names() {
        let wanted = |arguments: &[&str]| {
            let arguments = Arguments::parse_from([&["annulus-bench"], arguments].concat());
            ["one", "two", "three"].map(|row| arguments.want(row))
        };
        assert_eq!(wanted(&[]), [true, true, true]);
        assert_eq!(wanted(&["--only", "t"]), [false, true, true]);
        assert_eq!(wanted(&["--only", "one", "--only", "thr"]), [true, false, true]);
        assert_eq!(wanted(&["--except", "o"]), [false, false, true]);
        assert_eq!(wanted(&["--only", "t", "--except", "w", "--except", "x"]), [false, false, true]);
        assert_eq!(wanted(&["--only", "four"]), [false, false, false]);
    }
}
