//! The arguments of `annulus pub` and `annulus sub`.

use std::path::PathBuf;
use std::time::Duration;

use annulus::Settings;
use annulus::schema::Schema;
use annulus::shm::Directory;
use annulus::shm::dynamic::Start;
use clap::{Args, ValueEnum};

use crate::messages::piece::BYTES;
use crate::numbers::{rate, seconds, size, whole_in};
use crate::outcome::Failure;
use crate::rings::{DirectoryOption, seats};
use crate::text::grouped;

/// How many slots a ring has if nobody says.
const USUAL_CAPACITY: usize = 16_384;

/// How long a line may be if nobody says.
const USUAL_SIZE: usize = 1024;

/// The same of a line of JSON. (A message has up to 4,096 bytes.)
const USUAL_JSON_SIZE: usize = 1 << 16;

/// How long a line may be at most: each side keeps it in memory as a whole.
const SIZE_MAX: usize = 1 << 30;

/// Publishes lines of text to a ring between processes, from which `annulus sub` prints them.
///
/// The ring is a lossy one: the publisher waits for nobody, and a subscriber that falls behind by more than
/// the ring holds loses lines, and says so. However short the input is, the ring is there until a subscriber
/// has come, or for a second: so an `annulus sub --wait` that begins at the same time finds it. With
/// --lossless the publisher waits for its subscribers, and then for the slowest of them, and nothing is lost.
///
/// If it fails, as by a line that is too long, or a signal stops it before the end of its input, its
/// subscribers are told so and end with 1. (With --json they are told that it has died, if the ring is its
/// own.)
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = PUBLISH_EXAMPLES)]
pub(crate) struct PublishArguments {
    /// The name by which others find the ring
    pub(super) name: String,

    #[command(flatten)]
    pub(super) directory: DirectoryOption,

    /// Read this file, and not the standard input
    #[arg(long, value_name = "PATH")]
    pub(super) file: Option<PathBuf>,

    /// How many pieces of 104 bytes the ring holds, or messages with --schema; a line takes one or more
    ///
    /// [default: 16384]
    #[arg(long, value_name = "PIECES", value_parser = size)]
    pub(super) capacity: Option<usize>,

    /// How long a line may be, without its line feed
    ///
    /// A longer one is an error, which has its number. The lines before it are published. The ring must hold
    /// such a line as a whole, unless it is a lossless one. [default: 1024, or as long as the ring holds;
    /// 65536 with --json]
    #[arg(long, value_name = "BYTES", value_parser = line_size)]
    size: Option<usize>,

    /// Publish no more lines in a second than this
    ///
    /// Such as 1000 or 0.5.
    #[arg(long, value_name = "LINES", value_parser = rate, allow_hyphen_values = true)]
    pub(super) rate: Option<f64>,

    /// Lose no line: begin when a subscriber has come, and wait for the slowest
    ///
    /// Until then it publishes nothing, and says on standard error what it waits for.
    /// The ring has seats for 64 subscribers. One that comes later has the lines from then on. If all have
    /// gone, the rest is published for nobody.
    #[arg(long)]
    pub(super) lossless: bool,

    /// With --lossless: begin when so many subscribers have come
    #[arg(long, value_name = "COUNT", default_value_t = 1, requires = "lossless")]
    #[arg(value_parser = seats)]
    pub(super) subscribers: u16,

    /// Each line is a message, as JSON, for a ring that is there
    ///
    /// The ring has a schema, by which fields have their names. It is a broadcast ring of several publishers,
    /// or a queue of several producers. If the queue is full, it waits. With --schema it makes a ring.
    ///
    /// An integer, a float or a `bool` is what it is in JSON; an integer may be a string, too. A `char` and a
    /// text are strings. A struct is an object. An enum is the name of its variant, or an object of that name
    /// and its fields. An option is the value, or null, or left out. Empty lines are passed over.
    #[arg(long)]
    pub(super) json: bool,

    /// With --json: make a ring of messages with this schema
    ///
    /// Such as `quote{bid:f64,ask:f64,side:enum u8{buy=0,sell=1}}`. The grammar is in docs/SCHEMA.md. A
    /// process joins it whose type has the same names, kinds and places of fields.
    #[arg(long, value_name = "TEXT", requires = "json")]
    pub(super) schema: Option<Schema>,

    /// Promise subscribers a line at least once in so many seconds, such as 0.1
    ///
    /// `annulus sub`, `annulus top` and other programs then tell a publisher that hangs, by its silence.
    /// (With --json it is for a ring that this makes, by --schema.)
    #[arg(long, value_name = "SECONDS", value_parser = seconds, allow_hyphen_values = true)]
    pub(super) deadline: Option<Duration>,

    /// Stay when the input has ended, so that a subscriber that comes later finds the last lines; until
    /// Ctrl-C or SIGTERM
    #[arg(long)]
    pub(super) stay: bool,
}

impl PublishArguments {
    /// What a ring of its own is made of.
    pub(super) fn settings(&self) -> Settings {
        let settings = Settings::new(self.capacity());
        match self.deadline {
            Some(deadline) => settings.deadline(deadline),
            None => settings,
        }
    }

    /// How many slots a ring of its own has.
    pub(super) fn capacity(&self) -> usize {
        self.capacity.unwrap_or(USUAL_CAPACITY)
    }

    /// How long a line may be, without its line feed.
    ///
    /// # Errors
    ///
    /// The ring is asked for lines that it can't hold.
    pub(super) fn size(&self) -> Result<usize, Failure> {
        if self.json {
            return Ok(self.size.unwrap_or(USUAL_JSON_SIZE));
        }
        let capacity = self.capacity();
        // (Subscribers of a lossless ring take the first pieces while the last ones are still to come.)
        let longest = if self.lossless { SIZE_MAX } else { capacity.saturating_mul(BYTES) - 1 };
        match self.size {
            None => Ok(USUAL_SIZE.min(longest)),
            Some(size) if size <= longest => Ok(size),
            Some(size) => {
                let needed = (size + 1).div_ceil(BYTES);
                let pieces = grouped(needed as u64);
                Err(Failure::new(format!(
                    "--size {size}: such a line takes {pieces} pieces, and a ring of --capacity {capacity} never \
                     holds it: give it --capacity {needed} or more, or a --size up to {longest}"
                )))
            }
        }
    }
}

/// Prints the lines that `annulus pub` publishes, or the records of a broadcast ring of records.
///
/// Each record is a line. A line feed is put behind a record that ends with none.
///
/// What it prints is what came in, byte for byte, and no line is printed in part. If lines were lost, it says
/// on standard error how many: before the first one that it prints, between two of them, and after the last
/// one. Lost are those that the ring no longer had when this process came to read them. With --from oldest
/// these are also the lines that were overwritten before this process came.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = SUBSCRIBE_EXAMPLES)]
pub(crate) struct SubscribeArguments {
    /// The name of the ring
    pub(super) name: String,

    #[command(flatten)]
    pub(super) directory: DirectoryOption,

    /// Where to begin [default: newest, or oldest with --wait]
    #[arg(long, value_enum)]
    from: Option<From>,

    /// Begin with the last so many lines, or messages, or as many as are there
    #[arg(long, value_name = "LINES", value_parser = lines, conflicts_with_all = ["from", "follow"])]
    last: Option<u64>,

    /// End after so many lines
    #[arg(long, value_name = "LINES", value_parser = lines)]
    pub(super) count: Option<u64>,

    /// If there is no such ring, wait for it; begin with the oldest line that is there
    ///
    /// It says on standard error that it waits. So no line is missed of an `annulus pub` that begins at
    /// the same time. With `--from newest` it begins with the first line of a ring that it has waited for,
    /// and with the next line of one that is there.
    #[arg(long)]
    pub(super) wait: bool,

    /// When the publisher has ended, continue with the next one of that name; until Ctrl-C or SIGTERM.
    ///
    /// All lines of a publisher are printed before the next publisher's lines, from the oldest that is there.
    /// Each end and each beginning is said on standard error. How many lines were published in between by
    /// others is not known. (Lossless rings can't be followed.)
    #[arg(long)]
    pub(super) follow: bool,

    /// Print each line as a JSON object; or each message of any other ring that has a schema.
    ///
    /// A message is an object of its fields, as `annulus pub --json` takes it. The ring may be a broadcast
    /// ring, or a queue that has no consumer: then this is the consumer. What is lost, and what is no message
    /// of the schema, is said on standard error.
    ///
    /// The keys of a line: `line`, its number, from 0 on; `text`, without the line feed (bytes that are no
    /// UTF-8 are replaced by U+FFFD); and `lost`, how many lines were lost between the one before it and
    /// this one. For the first one, `lost` is how many were lost before it. (What is lost after the last
    /// one is said on standard error only.) With --follow, each end and each beginning of a publisher is a
    /// line of its own, with `process`, its number, and `change`: `began`, `overdue`, `ended`, `failed`
    /// (also where it was stopped before the end of its input), or `died`.
    #[arg(long)]
    pub(super) json: bool,
}

impl SubscribeArguments {
    /// Where to begin. For a subscriber that comes before the ring, the next line is the first one.
    pub(super) fn begin(&self, directory: &Directory) -> Start {
        if let Some(count) = self.last {
            return Start::Last(usize::try_from(count).unwrap_or(usize::MAX));
        }
        let from = self.from.unwrap_or(if self.wait { From::Oldest } else { From::Newest });
        match from {
            From::Newest if !(self.wait && directory.find(&self.name).is_err()) => Start::Newest,
            _ => Start::Oldest,
        }
    }
}

/// How long a line may be.
fn line_size(text: &str) -> Result<usize, String> {
    whole_in(text, 1..=SIZE_MAX as u64).map(|size| size as usize)
}

/// How many lines: there may be none.
fn lines(text: &str) -> Result<u64, String> {
    whole_in(text, 0..=u64::MAX)
}

/// Where a subscriber begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum From {
    /// With the oldest line that is there; of a lossless ring, half of it at most
    Oldest,
    /// With the next line that comes
    Newest,
}

const PUBLISH_EXAMPLES: &str = "\
EXAMPLES:
  journalctl -f | annulus pub log
      each line of the journal
  annulus pub quotes --file quotes.csv --stay
      a file, for subscribers that begin by `annulus sub quotes --from oldest`
  annulus pub quotes --lossless --subscribers 2 <quotes.csv
      a file, to two subscribers that receive all of it: `annulus sub quotes --wait >copy.csv`

  echo '{\"bid\":1.5,\"ask\":1.6}' | annulus pub quotes --json
      a message to a ring of several publishers that is there
  annulus pub quotes --json --schema 'quote{bid:f64,ask:f64}' <quotes.jsonl
      a ring of its own

EXIT CODES:
  0    all of the input is published
  1    with --json: the ring was closed before
  2    another ring has the name, the input can't be read, or a line is longer than --size
  130  stopped by Ctrl-C (SIGINT), 143 by SIGTERM, or 129 by SIGHUP: the ring has ended, its name is gone,
       and how many lines were published is said; if input was left, subscribers end with 1";

const SUBSCRIBE_EXAMPLES: &str = "\
EXAMPLES:
  annulus sub log
      from the next line on
  annulus sub log --wait
      from the oldest line on; from the first one, if the publisher comes later
  annulus sub quotes --from oldest --count 10
      the ten oldest lines that are there
  annulus sub quotes --last 10
      the ten newest lines that are there, and all that come
  annulus sub log --wait --follow
      also the lines of later publishers
  annulus sub orders --json
      messages of any ring that has a schema, as JSON

EXIT CODES:
  0    the publisher has ended, or --count lines were printed, or nobody reads the output any more
  1    the publisher has failed, was stopped before the end of its input, or its process has died (with
       --follow it continues); what it had published is printed
  2    there is no such ring, or it carries something else
  130  stopped by Ctrl-C (SIGINT), 143 by SIGTERM, or 129 by SIGHUP; what had come until then is printed,
       and how many lines that were is said (at most how many, if nobody reads the output)";
