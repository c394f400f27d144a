//! The arguments of `annulus demo`.

use std::num::NonZero;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::thread;

use clap::Args;

use super::feed::Feed;
use crate::outcome::Failure;
use crate::text::quoted;

/// The most slots that a ring gets unasked: 64 MiB of quotes.
const DEFAULT_CAPACITY_MAX: u64 = 1_048_576;

/// The most subscribers: each is a thread.
const SUBSCRIBERS_MAX: u64 = 4_096;

/// A market-data feed to strategies: one publisher, many subscribers, every quote to each of them.
///
/// One thread publishes quotes into a broadcast ring. Each subscriber is a thread with a strategy that receives every
/// quote and keeps statistics of each symbol. At the end a table shows, for each subscriber, how many quotes it
/// received and lost, and how long they took from publication to reception; then the statistics, the throughput, and
/// the verdict of a check: received + lost = published, and nothing came twice, out of order or corrupted.
///
/// The publisher never waits for a subscriber. One that falls further behind than the ring is long loses the oldest
/// quotes, and the ring says exactly how many.
///
/// While it runs, a bar on standard error (if that is a terminal) shows messages a second and how many messages the
/// slowest subscriber is behind. Ctrl-C stops the publisher; what was published is received to the end and reported.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = EXAMPLES, after_long_help = format!("{NOTES}\n\n{EXAMPLES}"))]
pub(crate) struct Arguments {
    /// File of quotes to replay, instead of a random walk; may be given several times.
    ///
    /// Files are replayed one after another. Each is of one symbol, named by the file: `quotes-eurusd.csv`
    /// quotes EURUSD, and where no pair of currencies is found in the name, it is the name. See FILES below. All
    /// files are read and checked to the end before the first quote is published.
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,

    /// How many times to replay the input, all files in turn.
    #[arg(long, value_name = "TIMES", default_value_t = 1, value_parser = count, requires = "input")]
    repeat: u64,

    /// How many quotes of the random walk to publish.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000, value_parser = count, conflicts_with = "input")]
    messages: u64,

    /// Seed of the random walk: the same seed gives the same quotes.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = seed, conflicts_with = "input")]
    seed: u64,

    /// How many subscribers, each a thread [default: one less than there are cores, but at least 2]
    #[arg(long, value_name = "COUNT", value_parser = subscribers)]
    subscribers: Option<u64>,

    /// Messages to publish a second, such as 100000 or 0.5 [default: as many as it can]
    ///
    /// Each message has its time on a fixed schedule: after a delay the publisher catches up.
    #[arg(long, value_name = "PER_SECOND", value_parser = rate, allow_hyphen_values = true)]
    pub(super) rate: Option<f64>,

    /// Slots of the ring, any number from 2 up [default: as many as there are quotes, at most 1048576]
    ///
    /// By default no quote is lost unless a subscriber falls more than a million behind. Each slot takes 64 bytes.
    #[arg(long, value_name = "SLOTS", value_parser = slots)]
    capacity: Option<usize>,

    /// Print the report as one JSON object.
    ///
    /// Its keys: `published`, `elapsed_s`, `messages_per_s`, `ok`, and `subscribers`, a list of objects with the keys
    /// `received`, `lost` and `latency_ns`, which holds `p50`, `p90`, `p99`, `p99_9` and `max`.
    #[arg(long)]
    pub(super) json: bool,
}

/// What the help ends with.
const EXAMPLES: &str = "\
EXAMPLES:
  annulus demo
      a million quotes of a random walk, as fast as it goes
  annulus demo --rate 100000 --messages 500000
      at an even pace: the latency of the hand-over alone
  annulus demo --input eurusd.csv --input usdjpy.csv --repeat 100 --subscribers 4
      recorded quotes of two symbols, over and over, to four strategies
  annulus demo --capacity 256
      a short ring: whoever is slow loses quotes, and the accounts still hold
  annulus demo --json | jq '.subscribers[0].latency_ns.p99'
      for programs";

/// What the long help has before that.
const NOTES: &str = "\
FILES:
  Two forms of CSV are told apart by the first line:
    no header      lines of `YYYYMMDD HHMMSSmmm,bid,ask,volume`, in UTC
    with header    the line `timestamp,bid,ask`, then lines such as
                   `2013-01-01 22:00:00.295000+00:00,86.655,86.728`
  Prices are above 0, volumes 0 or more. A byte order mark, CRLF, empty lines at the
  end and a last line without its line break are fine; all else is malformed.

EXIT CODES:
  0    everything was published, and the check passed
  1    the check failed
  2    the usage or the input is wrong: nothing was published
  130  stopped by Ctrl-C, and the check passed for what was published until then";

impl Arguments {
    /// What to replay.
    ///
    /// # Errors
    ///
    /// The input cannot be read, or is malformed.
    pub(super) fn feed(&self) -> Result<Feed, Failure> {
        if self.input.is_empty() {
            Ok(Feed::walk(self.seed, self.messages))
        } else {
            Feed::files(&self.input, self.repeat)
        }
    }

    /// How many subscribers to start.
    pub(super) fn subscribers(&self) -> usize {
        match self.subscribers {
            Some(count) => count as usize,
            None => thread::available_parallelism().map_or(2, NonZero::get).saturating_sub(1).max(2),
        }
    }

    /// How many slots to give the ring, for a feed of `total` quotes.
    pub(super) fn capacity(&self, total: u64) -> usize {
        self.capacity.unwrap_or_else(|| total.clamp(2, DEFAULT_CAPACITY_MAX) as usize)
    }
}

/// Parses a number of slots. Whether a ring can have so many is for the ring to say.
fn slots(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| format!("must be a whole number of slots, 2 or more, such as {DEFAULT_CAPACITY_MAX}"))
}

/// Parses how many of a thing there are to be; at least one.
fn count(text: &str) -> Result<u64, String> {
    whole(text, 1..=u64::MAX)
}

/// Parses a number of subscribers.
fn subscribers(text: &str) -> Result<u64, String> {
    whole(text, 1..=SUBSCRIBERS_MAX)
}

/// Parses a seed; any will do.
fn seed(text: &str) -> Result<u64, String> {
    whole(text, 0..=u64::MAX)
}

/// Parses a whole number in `range`.
fn whole(text: &str, range: RangeInclusive<u64>) -> Result<u64, String> {
    match text.parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        _ => Err(format!("must be a whole number from {} to {}", range.start(), range.end())),
    }
}

/// Parses a rate: finite and above 0.
fn rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if rate.is_finite() && rate > 0.0 => Ok(rate),
        _ => Err(format!(
            "{} is no rate: it must be a positive number of messages a second, such as `100000` or `0.5`",
            quoted(text)
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    /// A program of this subcommand alone.
    #[derive(Parser)]
    struct Program {
        #[command(flatten)]
        arguments: Arguments,
    }

    fn parse(arguments: &[&str]) -> Result<Arguments, String> {
        match Program::try_parse_from([&["annulus"], arguments].concat()) {
            Ok(program) => Ok(program.arguments),
            Err(error) => Err(error.to_string()),
        }
    }

    #[test]
    fn without_arguments_it_is_a_walk_that_fits_the_ring() {
        let arguments = parse(&[]).unwrap();
        let feed = arguments.feed().unwrap();
        assert_eq!(feed.describe(), "1,000,000 quotes of 8 symbols, a random walk with seed 1");
        assert_eq!(arguments.capacity(feed.total), 1_000_000);
        assert!(arguments.subscribers() >= 2);
        assert_eq!(arguments.rate, None);
    }

    #[test]
    fn the_default_capacity_has_bounds() {
        let arguments = parse(&[]).unwrap();
        assert_eq!([1, 2, 9_500, u64::MAX].map(|total| arguments.capacity(total)), [2, 2, 9_500, 1_048_576]);
        assert_eq!(parse(&["--capacity", "3"]).unwrap().capacity(1_000), 3);
    }

    #[test]
    fn a_rate_is_a_positive_number() {
        for (text, rate) in [("100000", 1e5), ("0.5", 0.5), ("1e6", 1e6)] {
            assert_eq!(parse(&["--rate", text]).unwrap().rate, Some(rate));
        }
        for text in ["0", "-0", "-5", "NaN", "inf", "-1e3", "-inf", "fast", ""] {
            let error = parse(&["--rate", text]).err().unwrap();
            let expected = format!("`{text}` is no rate: it must be a positive number of messages a second");
            assert!(error.contains(&expected), "{error}");
        }
    }

    #[test]
    fn numbers_out_of_range_say_the_range() {
        for (arguments, expected) in [
            (
                ["--subscribers", "0"],
                "'0' for '--subscribers <COUNT>': must be a whole number from 1 to 4096",
            ),
            (["--subscribers", "4097"], "must be a whole number from 1 to 4096"),
            (["--messages", "0"], "must be a whole number from 1 to 18446744073709551615"),
            (["--messages", "1.5"], "must be a whole number from 1 to 18446744073709551615"),
            (["--seed", "-1"], "'-1' for '--seed <NUMBER>': must be a whole number from 0 to"),
            (["--capacity", "many"], "must be a whole number of slots, 2 or more"),
        ] {
            let error = parse(&arguments).err().unwrap();
            assert!(error.contains(expected), "{error}");
        }
    }

    #[test]
    fn a_walk_and_files_exclude_each_other() {
        for arguments in [["--messages", "5"], ["--seed", "5"]] {
            let error = parse(&[&["--input", "q.csv"], &arguments[..]].concat()).err().unwrap();
            assert!(error.contains("cannot be used with"), "{error}");
        }
        assert!(parse(&["--repeat", "2"]).err().unwrap().contains("--input <FILE>"));
        assert_eq!(parse(&["--input", "q.csv", "--repeat", "2"]).unwrap().repeat, 2);
    }
}
