//! `annulus`: a program that shows the rings of the `annulus` library at work.
//!
//! ```text
//! main      arguments, dispatch to a subcommand, exit code
//! outcome   how a subcommand ends: its exit codes, and the error it prints
//! output    standard output and standard error
//! page      a report for people: paragraphs and tables
//! table     how all tables are written
//! text      text for people: numbers, durations, foreign text, colours, and where lines break
//! numbers   numbers as people write them on the command line
//! measure   what `demo` and `bench` both measure with
//! demo      `annulus demo`: a market-data feed to strategies, and their orders to a gateway
//! doctor    `annulus doctor`: what this machine can do for low latency
//! rings     `annulus ls`, `annulus info` and `annulus rm`: rings between processes, by name
//! lines     `annulus pub` and `annulus sub`: lines of text through such a ring
//! messages  the messages of this program, and what is in the messages of any ring
//! values    messages as JSON, by the schema of their ring
//! watch     `annulus watch`: the messages of such a ring
//! get       `annulus get`: newest values
//! call      `annulus call`: questions to a service between processes
//! hz        `annulus hz`: how often messages come through such a ring
//! bench     `annulus bench`: load on such a ring
//! top       `annulus top`: all such rings, live
//! bridge    `annulus bridge`: such rings on other machines, by a program of its own
//! manual    `annulus completions` and `annulus man`
//! completion  what shells complete, and how they ask for the names of rings
//! count       how many lines or messages were printed or published, which is said once
//! signals   Ctrl-C and other signals, for subcommands that put something in order first
//! stop      how they end a subscriber
//! ```

#[cfg(target_os = "linux")]
mod bench;
#[cfg(target_os = "linux")]
mod bridge;
#[cfg(target_os = "linux")]
mod call;
mod completion;
#[cfg(target_os = "linux")]
mod count;
mod demo;
mod doctor;
#[cfg(target_os = "linux")]
mod get;
#[cfg(test)]
#[path = "../../annulus/tests/support/hang.rs"]
mod hang;
#[cfg(target_os = "linux")]
mod hz;
#[cfg(target_os = "linux")]
mod lines;
mod manual;
mod measure;
mod messages;
mod numbers;
mod outcome;
mod output;
mod page;
#[cfg(target_os = "linux")]
mod rings;
mod signals;
#[cfg(target_os = "linux")]
mod stop;
mod table;
mod text;
#[cfg(target_os = "linux")]
mod top;
#[cfg(target_os = "linux")]
mod values;
#[cfg(target_os = "linux")]
mod watch;

use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

use outcome::{Failure, Outcome};

/// Shows the rings of the annulus library at work (a broadcast of quotes to strategies, and a queue for their
/// orders), what this machine can do for low latency, and the rings between processes.
#[derive(Parser)]
#[command(name = "annulus", version, after_help = EXAMPLES)]
struct Program {
    #[command(subcommand)]
    command: Command,
}

/// The subcommands, each a module of its own.
#[derive(Subcommand)]
enum Command {
    Demo(demo::Arguments),
    Doctor(doctor::Arguments),
    #[cfg(target_os = "linux")]
    Ls(rings::ListArguments),
    #[cfg(target_os = "linux")]
    Info(rings::InfoArguments),
    #[cfg(target_os = "linux")]
    Rm(rings::RemoveArguments),
    #[cfg(target_os = "linux")]
    Pub(lines::PublishArguments),
    #[cfg(target_os = "linux")]
    Sub(lines::SubscribeArguments),
    #[cfg(target_os = "linux")]
    Watch(watch::Arguments),
    #[cfg(target_os = "linux")]
    Get(get::Arguments),
    #[cfg(target_os = "linux")]
    Call(call::Arguments),
    #[cfg(target_os = "linux")]
    Hz(hz::Arguments),
    #[cfg(target_os = "linux")]
    Bench(bench::Arguments),
    #[cfg(target_os = "linux")]
    Top(top::Arguments),
    #[cfg(target_os = "linux")]
    Bridge(bridge::Arguments),
    Completions(manual::CompletionsArguments),
    Man(manual::ManArguments),
}

/// What `annulus --help` ends with.
const EXAMPLES: &str = "\
EXAMPLES:
  annulus demo                 a random walk of prices to four strategies
  annulus demo --help          what the demo does, all its options, and more examples
  annulus doctor               what costs latency on this machine, and what to change
  annulus ls                   the rings between processes that have names (Linux)
  annulus info quotes          one of them in words (Linux)
  annulus pub, annulus sub     lines of text from one process to others (Linux)
  annulus watch quotes         its messages, as they come (Linux)
  annulus get prices           newest values, of one cell or of all (Linux)
  annulus call prices 7        a question to a service, and its answer (Linux)
  annulus hz quotes            how often messages come, and how evenly (Linux)
  annulus top                  those rings live: rates, depths, lags, dead processes (Linux)
  annulus bench load           how much goes from one process to another, and how fast (Linux)
  annulus bridge quotes        rings on other machines, over the network (Linux)
  annulus man, completions     pages of the manual, and what shells complete";

fn main() -> ExitCode {
    match parse_and_run() {
        Ok(outcome) => outcome.into(),
        Err(failure) => {
            output::complain(&failure);
            failure.into()
        }
    }
}

/// Does what the arguments say.
fn parse_and_run() -> Result<Outcome, Failure> {
    #[cfg(unix)]
    signals::survive_long_files()?;
    match Program::try_parse() {
        Ok(program) => run(program.command),
        // The parser's own words go to standard error, with its exit code.
        Err(error) if error.use_stderr() => error.exit(),
        // A help or the version. The parser would print it and not say whether it could.
        Err(text) => output::print(&text.render().ansi().to_string()).map(|()| Outcome::Passed),
    }
}

/// Runs this subcommand.
fn run(command: Command) -> Result<Outcome, Failure> {
    match command {
        Command::Demo(arguments) => demo::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Ls(arguments) => rings::list(&arguments),
        #[cfg(target_os = "linux")]
        Command::Info(arguments) => rings::info(&arguments),
        #[cfg(target_os = "linux")]
        Command::Rm(arguments) => rings::remove(&arguments),
        #[cfg(target_os = "linux")]
        Command::Pub(arguments) => lines::publish(&arguments),
        #[cfg(target_os = "linux")]
        Command::Sub(arguments) => lines::subscribe(&arguments),
        #[cfg(target_os = "linux")]
        Command::Watch(arguments) => watch::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Get(arguments) => get::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Call(arguments) => call::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Hz(arguments) => hz::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Bench(arguments) => bench::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Top(arguments) => top::run(&arguments),
        #[cfg(target_os = "linux")]
        Command::Bridge(arguments) => bridge::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments, Program::command()),
        Command::Man(arguments) => manual::man(&arguments, Program::command()),
    }
}
