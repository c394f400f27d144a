//! The arguments of `annulus demo`.

#[cfg(target_os = "linux")]
use std::ffi::OsString;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;

use super::describe::Form;
use super::feed::Feed;
use super::graph::{Graph, Node};
use super::order::Names;
use super::order_file::failure;
use super::place::Place;
use super::strategy::Windows;
use crate::numbers::{advice, count, rate, whole_in};
use crate::outcome::Failure;
#[cfg(target_os = "linux")]
use crate::rings::DirectoryOption;
use crate::text::{printable, quoted};

/// The most slots that a ring gets unasked: 64 MiB of quotes.
const DEFAULT_CAPACITY_MAX: u64 = 1_048_576;

/// The most subscribers: each is a thread.
const SUBSCRIBERS_MAX: u64 = 4_096;

/// The most subscribers that are processes.
const SHARED_SUBSCRIBERS_MAX: usize = 64;

/// The most strategies: each has a ring of orders, and a histogram.
const STRATEGIES_MAX: usize = 64;

/// The part that is killed where the user names none.
const FIRST: &str = "subscriber-1";

/// The strategies that run unasked.
const STRATEGIES: &str = "5/20,10/50,20/100,50/200";

/// Tick to order: a market-data feed to strategies, and their orders to a gateway.
///
/// One thread publishes quotes into a broadcast ring. Each subscriber is a thread that receives every quote,
/// keeps statistics of each symbol, and runs its share of the strategies. A strategy follows two moving
/// averages of each symbol and places an order where they cross. All orders go through one queue of many
/// producers to the gateway, a thread that writes them to --output.
///
/// It runs twice. First all quotes are published as fast as it goes, which shows how many messages a second
/// go through. In that run a latency would be the wait behind all quotes that came before. So the first 10000
/// quotes are published once more, at 10000 a second: the ring is nearly empty then, and tables show how long
/// quotes took from publication to reception, and how long it took from the publication of a quote to the
/// reception of the order at the gateway. With --rate it runs once, at that rate.
///
/// At the end come the statistics of the market, and the verdict of a check: received + lost = published,
/// every order reached the gateway, and nothing came twice, out of order or corrupted.
///
/// The publisher never waits for a subscriber. One that falls further behind than the ring is long loses the
/// oldest quotes, and the ring says exactly how many. With --lossless the publisher waits for the slowest,
/// and each run has the same orders, with any number of subscribers. Only how the orders of different
/// strategies follow each other differs.
///
/// With --shared each subscriber and the gateway is a process of its own instead of a thread, and the rings
/// are in memory that the processes share (on Linux). The report and the check are the same.
///
/// While it runs, a bar on standard error (if that is a terminal) shows messages a second and how many
/// messages the slowest subscriber is behind. Ctrl-C, SIGTERM and SIGHUP stop the publisher; what was
/// published is received to the end and reported, and its orders are written. A second signal ends it at
/// once.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = EXAMPLES, after_long_help = format!("{NOTES}\n\n{EXAMPLES}"))]
pub(crate) struct Arguments {
    /// File of quotes to replay, instead of a random walk; may be given several times.
    ///
    /// Files are replayed one after another. Each is of one symbol, named by the file: `quotes-eurusd.csv`
    /// quotes EURUSD, and where no pair of currencies is found in the name, it is the name. See FILES below.
    /// All files are read and checked to the end before the first quote is published.
    #[arg(long, value_name = "FILE")]
    input: Vec<PathBuf>,

    /// How many times to replay the input, all files in turn [default: 1]
    #[arg(long, value_name = "TIMES", value_parser = count)]
    repeat: Option<u64>,

    /// How many quotes of the random walk to publish.
    #[arg(long, value_name = "COUNT", default_value_t = 1_000_000, value_parser = count, conflicts_with = "input")]
    messages: u64,

    /// Seed of the random walk: the same seed gives the same quotes.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = seed, conflicts_with = "input")]
    seed: u64,

    /// How many subscribers, each a thread [default: one for each strategy, but at most two less than there
    /// are cores, and at least 2]
    ///
    /// The strategies are dealt to them in turn. Subscribers without one keep statistics only.
    #[arg(long, visible_alias = "threads", value_name = "COUNT", value_parser = subscribers)]
    subscribers: Option<u64>,

    /// Strategies: each the windows of two moving averages, in quotes of a symbol
    ///
    /// `5/20` compares the average price (between bid and ask) of the latest 5 quotes of a symbol with that
    /// of the latest 20. It buys when the first rises above the second, and sells when it falls below. Both
    /// count the quotes that the subscriber received.
    #[arg(long, value_name = "FAST/SLOW", value_delimiter = ',', default_value = STRATEGIES)]
    strategies: Vec<Windows>,

    /// Write the orders to this file, as CSV.
    ///
    /// One line an order: `strategy,symbol,sequence,time,side,price,fast,slow`, where `sequence` and `time`
    /// are the quote's, which the order answers. Lines of one strategy are in order. A file that is there is
    /// replaced once all orders are written, and stays as it is if that fails; the new one has its owner and
    /// permissions. A file that can't be replaced is refused before the first quote is published. A device or
    /// a pipe is written to while the demo runs. Without this option orders are only counted.
    #[arg(long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Lose no quote: the publisher waits for the slowest subscriber.
    ///
    /// Then the orders follow from the quotes alone: sorted, --output is the same to the byte in each run.
    #[arg(long)]
    lossless: bool,

    /// Messages to publish a second, such as 100000 or 0.5 [default: as many as it can, then 10000 for the
    /// latencies]
    ///
    /// Each message has its time on a fixed schedule: after a delay the publisher catches up.
    #[arg(long, value_name = "PER_SECOND", value_parser = rate, allow_hyphen_values = true)]
    pub(super) rate: Option<f64>,

    /// Slots of the ring, any number from 2 up [default: as many as there are quotes, at most 1048576]
    ///
    /// By default no quote is lost unless a subscriber falls more than a million behind. Each slot takes 64
    /// bytes.
    #[arg(long, value_name = "SLOTS", value_parser = slots)]
    capacity: Option<usize>,

    /// Run in several processes, which meet at rings of this name: NAME-quotes and NAME-orders (Linux)
    ///
    /// This process is the feed. It starts one process for each subscriber (64 at most), and one for the
    /// gateway. `annulus ls` and `annulus top` show the rings meanwhile; where a process is named, these are
    /// `subscriber-1` and so on, and `gateway`. If another process has one of the names, the error says
    /// which. If one of the demo's processes dies, the error says which, the others are ended, and there is
    /// no report (--kill has one). At the end the names are free again.
    ///
    /// A second signal ends all processes at once.
    #[arg(long, value_name = "NAME")]
    pub(super) shared: Option<String>,

    /// Kill one of the processes in the middle of the run, with SIGKILL: see what is lost then
    ///
    /// NAME is `feed`, `gateway`, or a subscriber such as `subscriber-2`; without it, the first subscriber,
    /// which runs strategies. It dies when a half of the quotes is published. All others continue, and the
    /// report says what was lost with it: a subscriber's account, and the orders that its strategies had not
    /// placed (with --lossless it says how many); the gateway's account, and the orders that it could not
    /// receive any more; the quotes that the feed had not published. The check is that nothing else was lost.
    /// It runs once. If the gateway is killed, --output is not written.
    #[arg(long, value_name = "NAME", num_args = 0..=1, default_missing_value = FIRST, requires = "shared")]
    kill: Option<String>,

    /// The directory of the names [default: `$XDG_RUNTIME_DIR/annulus`, or /dev/shm/annulus-UID]
    #[arg(long, value_name = "PATH", requires = "shared")]
    directory: Option<PathBuf>,

    /// For the processes that it starts: which one this is. The rest comes through standard input.
    #[cfg(target_os = "linux")]
    #[arg(long, value_name = "PART", hide = true, requires = "shared")]
    pub(super) part: Option<String>,

    /// Print the graph of the demo instead of running it: its threads, and the ring of each edge
    ///
    /// FORM is `text` (one line for each edge, the default), `mermaid`, `dot` (for Graphviz) or `json`. The
    /// graph is the one of a run with the other options. Nothing is published, no file is written, and no
    /// process is started.
    ///
    /// `json`, or --json together with it, prints an object with the keys `threads`, a list of objects with a
    /// `name`, and `strategies` where it is a subscriber; `edges`, a list of objects with the keys `from`,
    /// `to`, `ring`, `ring_id` (edges of one ring have the same), `capacity`, `strategy` where orders go,
    /// and `name` where processes share the ring; and `output`, a file or null. With --shared each of the
    /// `threads` is a process.
    #[arg(long, value_name = "FORM", num_args = 0..=1, default_missing_value = "text")]
    describe: Option<Form>,

    /// Print the report as one JSON object.
    ///
    /// Its keys: `published`, `elapsed_s`, `messages_per_s`, `ok`, and `subscribers`, a list of objects with
    /// the keys `received`, `lost` and `latency_ns`, which holds `p50`, `p90`, `p99`, `p99_9` and `max`;
    /// `lossless`, `orders`, `tick_to_order_ns` (as `latency_ns`), `paced`, and `strategies`, a list of
    /// objects with the keys `name`, `subscriber` (its number, from 1), `received`, `lost`, `orders` and
    /// `tick_to_order_ns`.
    ///
    /// Counts are of the run that publishes everything. Latencies are of the run at an even pace: `paced`
    /// says how many messages it `published` and how many `messages_per_s`. (If the demo is stopped before
    /// that, `paced` and these latencies are null.) For each latency, `flooded_latency_ns` or
    /// `flooded_tick_to_order_ns` is the same one of the run at full speed; these keys are not there with
    /// --rate.
    ///
    /// With --kill, `killed` is an object with the keys `name`, `pid`, `after` (how many quotes were
    /// published by then), and what was lost: `quotes_unpublished` with the feed; `quotes_taken` and
    /// `orders_unplaced` with a subscriber (null without --lossless); `orders_placed`, `orders_received`,
    /// `orders_queued` and `orders_refused` with the gateway. What that process would have told is null.
    #[arg(long)]
    pub(super) json: bool,
}

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
            Feed::files(&self.input, self.repeat.unwrap_or(1))
        }
    }

    /// Checks what the parser has not: values that do not go together.
    ///
    /// # Errors
    ///
    /// Names the first of them.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if let (Some(times), true) = (self.repeat, self.input.is_empty()) {
            return Err(Failure::new(format!(
                "--repeat {times}: there is no file to replay: name one with --input, or say with --messages how \
                 long the random walk is to be"
            )));
        }
        let strategies = &self.strategies[..];
        if strategies.len() > STRATEGIES_MAX {
            let count = strategies.len();
            return Err(Failure::new(format!(
                "--strategies: {count} are too many: at most {STRATEGIES_MAX}"
            )));
        }
        let mut places = strategies.iter().enumerate();
        if let Some((_, windows)) = places.find(|(place, windows)| strategies[..*place].contains(windows)) {
            return Err(Failure::new(format!("--strategies: `{windows}` is there twice: once will do")));
        }
        if self.output.as_ref().is_some_and(|path| path.as_os_str() == "-") {
            return Err(Failure::new(
                "--output -: standard output is where the report goes: --output takes a file, such as `orders.csv`",
            ));
        }
        if self.shared.is_some() {
            if cfg!(not(target_os = "linux")) {
                return Err(no_shared_rings());
            }
            let count = self.subscribers();
            if count > SHARED_SUBSCRIBERS_MAX {
                return Err(Failure::new(format!(
                    "--subscribers {count}: with --shared each is a process: at most {SHARED_SUBSCRIBERS_MAX}"
                )));
            }
        }
        match self.describe {
            Some(form @ (Form::Mermaid | Form::Dot)) if self.json => Err(Failure::new(format!(
                "--describe={form} is no JSON: use --describe=json, or leave out --json"
            ))),
            _ => Ok(()),
        }
    }

    /// How to print the graph, if that is all that is to be done.
    pub(super) fn describe(&self) -> Option<Form> {
        self.describe.map(|form| if self.json { Form::Json } else { form })
    }

    /// Which threads there are for a feed of `total` quotes, and which rings between them.
    pub(super) fn graph(&self, total: u64) -> Graph {
        let output = self.output.as_ref().map(|path| printable(&path.to_string_lossy()));
        let graph =
            Graph::new(self.lossless, self.capacity(total), self.subscribers(), &self.strategies, output);
        match &self.shared {
            Some(name) => graph.shared(name),
            None => graph,
        }
    }

    /// Where the names are.
    #[cfg(target_os = "linux")]
    pub(super) fn directory(&self) -> DirectoryOption {
        DirectoryOption::new(self.directory.clone())
    }

    /// Which process of this graph is to be killed.
    ///
    /// # Errors
    ///
    /// There is none of that name.
    pub(super) fn kill(&self, graph: &Graph) -> Result<Option<Node>, Failure> {
        let Some(name) = &self.kill else { return Ok(None) };
        let nodes = graph.nodes().into_iter().filter(|&node| node != Node::Output);
        let nodes: Vec<_> = nodes.map(|node| (node, graph.name(node))).collect();
        if let Some(&(node, _)) = nodes.iter().find(|(_, called)| called == name) {
            return Ok(Some(node));
        }
        let names: Vec<_> = nodes.iter().map(|(_, name)| *name).collect();
        Err(Failure::new(format!(
            "--kill: {} is no process of this demo: it must be one of {}",
            quoted(name),
            names.join(", ")
        )))
    }

    /// What another process is to be told so that its [`feed`](Self::feed) is the same.
    #[cfg(target_os = "linux")]
    pub(super) fn feed_arguments(&self) -> Vec<OsString> {
        let [seed, messages] = [self.seed, self.messages].map(|number| OsString::from(number.to_string()));
        if self.input.is_empty() {
            return vec!["--seed".into(), seed, "--messages".into(), messages];
        }
        let inputs = self.input.iter().flat_map(|path| ["--input".into(), path.into()]);
        let repeat = self.repeat.iter().flat_map(|times| ["--repeat".into(), times.to_string().into()]);
        inputs.chain(repeat).collect()
    }

    /// How many subscribers to start.
    fn subscribers(&self) -> usize {
        let unasked = || {
            // One core each for the publisher and the gateway.
            let cores = thread::available_parallelism().map_or(2, NonZero::get);
            self.strategies.len().min(cores.saturating_sub(2)).max(2)
        };
        self.subscribers.map_or_else(unasked, |count| count as usize)
    }

    /// Where to write orders, if they are to be written: what the user called it, and what that is.
    ///
    /// # Errors
    ///
    /// It can't be written.
    pub(super) fn output(&self) -> Result<Option<(&Path, Place)>, Failure> {
        let Some(path) = self.output.as_deref() else { return Ok(None) };
        let place = Place::find(path, &self.input).map_err(|problem| failure(path, problem))?;
        Ok(Some((path, place)))
    }

    /// What the numbers in an order stand for.
    pub(super) fn names(&self, symbols: &[String]) -> Names {
        Names::new(&self.strategies, symbols)
    }

    /// How many slots to give the ring, for a feed of `total` quotes.
    fn capacity(&self, total: u64) -> usize {
        self.capacity.unwrap_or_else(|| total.clamp(2, DEFAULT_CAPACITY_MAX) as usize)
    }
}

/// Why --shared does not work on this system.
fn no_shared_rings() -> Failure {
    Failure::new(
        "--shared: rings between processes need Linux: leave it out, and the demo runs in one process",
    )
}

/// Parses a number of slots. Whether a ring can have so many is for the ring to say.
fn slots(text: &str) -> Result<usize, String> {
    whole_in(text, 0..=usize::MAX as u64).map(|slots| slots as usize).map_err(|_| {
        let advice = advice(text);
        format!("must be a whole number of slots, 2 or more, such as {DEFAULT_CAPACITY_MAX}{advice}")
    })
}

/// Parses a number of subscribers.
fn subscribers(text: &str) -> Result<u64, String> {
    whole_in(text, 1..=SUBSCRIBERS_MAX)
}

/// Parses a seed; any will do.
fn seed(text: &str) -> Result<u64, String> {
    whole_in(text, 0..=u64::MAX)
}

/// What the help ends with.
const EXAMPLES: &str = "\
EXAMPLES:
  annulus demo
      a million quotes of a random walk to four strategies: the throughput at full speed, then
      the latency in a calm ring
  annulus demo --lossless --output orders.csv
      and what they order: each run writes the same lines, in another order
  annulus demo --rate 100000 --messages 500000
      at that pace only, for five seconds
  annulus demo --input eurusd.csv --input usdjpy.csv --repeat 100 --strategies 3/9,12/26
      recorded quotes of two symbols, over and over, to two strategies of your own
  annulus demo --capacity 256
      a short ring: a slow subscriber loses quotes, and the accounts still hold
  annulus demo --shared market --lossless
      each part a process of its own; `annulus top` shows their rings
  annulus demo --shared market --lossless --kill gateway
      one of them is killed in the middle: what is lost then, and that nothing else is
  annulus demo --json | jq '.tick_to_order_ns.p99'
      for programs
  annulus demo --subscribers 3 --describe
      which threads and rings that would be; --describe=dot | dot -Tsvg draws them";

/// What the long help has before that.
const NOTES: &str = "\
FILES:
  Two forms of CSV are told apart by the first line:
    no header      lines of `YYYYMMDD HHMMSSmmm,bid,ask,volume`, in UTC
    with header    the line `timestamp,bid,ask`, then lines such as
                   `2013-01-01 22:00:00.295000+00:00,86.655,86.728`
  Prices are from 0.00000001 to 90000000000, volumes 0 or more. A byte order mark, CRLF,
  empty lines at the end and a last line without its line break are fine; all else is
  malformed.

EXIT CODES:
  0    everything was published, and the check passed
  1    the check failed
  2    the usage or the input is wrong, and nothing was published; or the output cannot be written;
       with --shared also: a name is taken, or a process has died
  130  stopped by Ctrl-C, and the check passed for what was published until then
  143  the same, stopped by SIGTERM; 129 by SIGHUP";

#[cfg(test)]
mod tests;
