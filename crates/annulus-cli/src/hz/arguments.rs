//! The arguments of `annulus hz`.

use std::time::Duration;

use clap::Args;

use crate::numbers::{count, seconds};
use crate::rings::DirectoryOption;

/// Says how often messages come through a ring, and how evenly: the rate, the gaps between messages, and
/// their jitter.
///
/// A gap is the time between two messages. The jitter of a gap is how much longer or shorter it is than the
/// median. It maps the ring read-only, takes no seat, and knows nothing of the type of the messages.
///
/// It looks a thousand times a second at how many messages the ring says were published, and sleeps in
/// between. So the count and the rate are exact, however fast the messages come. Messages that come between
/// two looks share the time between these: with --spin it does not sleep, so that gaps of less than a
/// millisecond are told apart.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The name of the ring
    pub(super) name: String,

    #[command(flatten)]
    pub(super) directory: DirectoryOption,

    /// How long it looks; no longer than the ring is there
    #[arg(long, value_name = "SECONDS", default_value = "5", value_parser = seconds)]
    #[arg(allow_hyphen_values = true)]
    pub(super) seconds: Duration,

    /// End after so many messages [default: as many as come]
    #[arg(long, value_name = "MESSAGES", default_value_t = u64::MAX, hide_default_value = true)]
    #[arg(value_parser = count)]
    pub(super) count: u64,

    /// Look again and again without sleeping, which keeps one CPU busy
    #[arg(long)]
    pub(super) spin: bool,

    /// Print the report as one JSON object.
    ///
    /// Its keys: `schema`, the number 1, which grows if a key changes its meaning; `name`; `state` at the end
    /// (`alive`, `closed` or `dead`); `elapsed_s`; `messages`; `messages_per_s`; `gap_ns` and `jitter_ns`,
    /// objects with the keys `p50`, `p90`, `p99`, `p99_9` and `max`, or null if fewer than two messages came;
    /// and `look_ns`, the time between two looks.
    #[arg(long)]
    pub(super) json: bool,
}

const EXAMPLES: &str = "\
EXAMPLES:
  annulus hz quotes
      for five seconds
  annulus hz quotes --spin
      the gaps between messages that come each few microseconds
  annulus hz quotes --seconds 60 --json | jq .jitter_ns.p99
      for programs

EXIT CODES:
  0    it has looked, also if no message came, or if the ring ended
  2    there is no such ring, or its messages can't be counted (a ring of records)
  130  stopped by Ctrl-C (SIGINT), 143 by SIGTERM, or 129 by SIGHUP; the report is of what came until then";
