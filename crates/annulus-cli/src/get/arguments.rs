//! The arguments of `annulus get`.

use clap::Args;

use crate::numbers::count;
use crate::rings::DirectoryOption;

/// Prints newest values: of one cell, or of all that have one.
///
/// A process keeps them by `annulus::shm::watch`, in one cell or in a table of many, in any language. Each
/// value is a line: the key of its cell, or else the number, and its fields, as the schema names them. The
/// table is mapped read-only, and nobody waits for this program.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The name of the table
    pub(super) name: String,

    /// The key of a cell, or its number from 0 on [default: all cells]
    pub(super) cell: Option<String>,

    #[command(flatten)]
    pub(super) directory: DirectoryOption,

    /// Then print each change as it comes, until the sender has ended
    ///
    /// If values change faster than they are printed, the newest one of each cell is printed.
    #[arg(long)]
    pub(super) changes: bool,

    /// With --changes: end after so many values
    #[arg(long, value_name = "VALUES", default_value_t = u64::MAX, hide_default_value = true)]
    #[arg(value_parser = count, requires = "changes")]
    pub(super) count: u64,

    /// Print each value as a JSON object
    ///
    /// Its keys: `cell`, the number; `key`, or null; and `value`, as `annulus sub --json` prints a message.
    #[arg(long)]
    pub(super) json: bool,
}

const EXAMPLES: &str = "\
EXAMPLES:
  annulus get prices
      all values that are there
  annulus get prices EURUSD
      one of them
  annulus get prices --changes
      all of them, and each change as it comes
  annulus get prices EURUSD --json | jq .value.bid
      for programs

EXIT CODES:
  0    values were printed; after --changes the sender has ended, or --count values were printed,
       or nobody reads the output any more
  1    nothing was sent to the cell, or to none of them, or a value can't be shown; after --changes
       the sender's process has died
  2    there is no such name or no such cell, or it is no table of newest values
  130  stopped by Ctrl-C (SIGINT), 143 by SIGTERM, or 129 by SIGHUP: how many were printed is said";
