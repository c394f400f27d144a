//! `annulus bridge`: runs the program `annulus-bridge`, which is built by itself, because few need it and it
//! needs Zenoh (Linux).

use std::env::current_exe;
use std::ffi::OsString;
use std::io::ErrorKind;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use clap::Args;

use crate::outcome::{Failure, Outcome};

/// Carries rings from machine to machine, over Zenoh: with the same names, the same messages, and the same
/// sequence numbers; what was lost on the way is counted as lagged.
///
/// It runs the program `annulus-bridge`, which lies in the folder of this one or in the PATH, with all that
/// follows. `annulus-bridge --help` says what that can be.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Names of rings, and options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENT")]
    arguments: Vec<OsString>,
}

const EXAMPLES: &str = "\
EXAMPLES:
  annulus bridge 'quotes*' --listen tcp/0.0.0.0:7447
      on one machine
  annulus bridge 'quotes*' --connect tcp/192.168.1.7:7447
      on another: what is published on one of them is there on the other
  cargo install --path crates/annulus-zenoh
      to have it, in the project's folder

EXIT CODES:
  0    it was ended by Ctrl-C or SIGTERM
  2    an argument can't be used, or the program is not there";

const PROGRAM: &str = "annulus-bridge";

/// Becomes that program.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let neighbour = current_exe().ok().map(|this| this.with_file_name(PROGRAM)).filter(|it| it.is_file());
    let error =
        Command::new(neighbour.unwrap_or_else(|| PathBuf::from(PROGRAM))).args(&arguments.arguments).exec();
    Err(Failure::new(match error.kind() {
        ErrorKind::NotFound => format!(
            "the program {PROGRAM} is not there: get it with `cargo install --path crates/annulus-zenoh`, in the project's folder"
        ),
        _ => format!("the program {PROGRAM} can't be run: {error}"),
    }))
}
