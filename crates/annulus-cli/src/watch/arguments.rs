//! The arguments of `annulus watch`.

use clap::{Args, ValueEnum};

use crate::numbers::count;
use crate::rings::DirectoryOption;

/// Prints the messages of a broadcast ring as they come.
///
/// They are printed with their fields, as the schema of the ring names them; in hex, as they lie there, if
/// the ring has none, or what is there is no message of it. It maps the ring read-only, takes no seat, and
/// keeps nobody waiting. So it misses messages of a fast publisher, and says how many.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The name of the ring
    pub(super) name: String,

    #[command(flatten)]
    pub(super) directory: DirectoryOption,

    /// Where to begin
    #[arg(long, value_enum, default_value = "newest")]
    from: From,

    /// End after so many messages [default: with the ring]
    #[arg(long, value_name = "MESSAGES", default_value_t = u64::MAX, hide_default_value = true)]
    #[arg(value_parser = count)]
    pub(super) count: u64,

    /// All messages in hex
    #[arg(long)]
    pub(super) hex: bool,

    /// Print each message as a JSON object.
    ///
    /// Its keys: `number`, how many messages were published before it; `missed`, how many were missed between
    /// the one before it and this one; `fields`, an object, or null where the ring has no schema; `corrupt`,
    /// why its bytes are no message of that schema, or null; and `hex`, its bytes.
    #[arg(long)]
    pub(super) json: bool,
}

/// Where it begins.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum From {
    /// With the oldest message that is there
    Oldest,
    /// With the newest message that is there
    Newest,
}

impl Arguments {
    pub(super) fn begins_with_oldest(&self) -> bool {
        self.from == From::Oldest
    }
}

const EXAMPLES: &str = "\
EXAMPLES:
  annulus watch market-quotes
      the quotes of `annulus demo --shared market`
  annulus watch prices --count 1 --hex
      the bytes of the newest message
  annulus watch prices --json | jq .fields
      for programs

EXIT CODES:
  0    the ring was closed, --count messages were printed, or nobody reads the output any more
  1    the publisher's process has died
  2    there is no such ring, or it is no lossy or lossless broadcast ring
  130  stopped by Ctrl-C (SIGINT), 143 by SIGTERM, or 129 by SIGHUP: how many were printed is said";
