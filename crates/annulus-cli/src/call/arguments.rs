//! The arguments of `annulus call`.

use std::time::Duration;

use clap::Args;

use crate::numbers::seconds;
use crate::rings::DirectoryOption;

/// Asks a service, and prints its answer.
///
/// A question and an answer are JSON, as `annulus pub --json` takes messages and `annulus sub --json` prints
/// them. `annulus info` says of which types they are. Without a question it reads questions from the standard
/// input, a line each, and asks the next one when the one before is answered. Empty lines are passed over.
///
/// The service is one that any program has made, in any language, and has given a name. It has a place for
/// each client: this program has one of them as long as it runs. Of several servers that share a name
/// (NAME.0, NAME.1 and so on), it asks the first that is alive.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// The name of the service
    pub(super) name: String,

    /// What to ask, as JSON [default: each line of the standard input]
    #[arg(allow_hyphen_values = true)]
    pub(super) question: Option<String>,

    #[command(flatten)]
    pub(super) directory: DirectoryOption,

    /// How long to wait for each answer [default: until it comes, or the server is gone]
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub(super) timeout: Option<Duration>,
}

const EXAMPLES: &str = "\
EXAMPLES:
  annulus call prices '{\"symbol\":7}'
      one question, and its answer
  annulus call prices --timeout 0.5 <questions.jsonl >answers.jsonl
      one for each line

EXIT CODES:
  0    all is answered, or nobody reads the output any more
  1    the server has refused a question, has died, or has closed the service; an answer did not come in time,
       or is no message; the answers before it are printed
  2    there is no such service, or a question is no message of it
  130  stopped by Ctrl-C (SIGINT), 143 by SIGTERM, or 129 by SIGHUP";
