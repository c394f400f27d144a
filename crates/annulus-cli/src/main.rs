//! `annulus`: a program that shows the rings of the `annulus` library at work.
//!
//! ```text
//! main      arguments, dispatch to a subcommand, exit code
//! outcome   how a subcommand ends: its exit codes, and the error it prints
//! output    standard output and standard error
//! text      numbers, durations and foreign text, written for people
//! demo      `annulus demo`: a market-data feed to strategies, and their orders to a gateway
//! ```

mod demo;
#[cfg(test)]
#[path = "../../annulus/tests/support/hang.rs"]
mod hang;
mod outcome;
mod output;
mod text;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Shows the rings of the annulus library at work: a broadcast of quotes to strategies, and a queue for their
/// orders.
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
}

/// What `annulus --help` ends with.
const EXAMPLES: &str = "\
EXAMPLES:
  annulus demo                 a random walk of prices to four strategies
  annulus demo --help          what the demo does, all its options, and more examples";

fn main() -> ExitCode {
    let result = match Program::parse().command {
        Command::Demo(arguments) => demo::run(&arguments),
    };
    match result {
        Ok(outcome) => outcome.into(),
        Err(failure) => {
            output::complain(&failure);
            failure.into()
        }
    }
}
