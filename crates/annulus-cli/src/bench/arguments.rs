//! The arguments of `annulus bench`.

use std::time::Duration;

use clap::Args;

use crate::messages::load::SIZES;
use crate::numbers::{self, rate, seconds};
use crate::rings::{DirectoryOption, seats};
use crate::text::quoted;

/// The most memory that a ring gets unasked.
const DEFAULT_BYTES: usize = 8 << 20;

/// The most slots that a ring gets unasked.
const DEFAULT_CAPACITY_MAX: usize = 65_536;

/// Load on a named ring between processes: how many messages go through, and how long they take.
///
/// It makes a ring of this name, starts a second process of this program as its subscriber, and publishes
/// messages. The subscriber receives each message and checks it to the last byte. At the end the accounts are
/// checked: received + lost = published, and no message came twice, out of order, or corrupted.
///
/// There are two parts. First it publishes as fast as it can, which shows how many messages a second go
/// through. A latency in that part would be the wait behind all messages that came before. So in the second
/// part it publishes 10000 messages a second: the ring is nearly empty then, and a table shows how long
/// messages took, from the moment before they are published to the moment after they are received, by the
/// clock that all processes share (`CLOCK_MONOTONIC`). With --rate there is one part, at that rate.
///
/// The ring is a lossy one: the publisher waits for nobody. A subscriber that falls further behind than the
/// ring is long loses the oldest messages, and the ring says exactly how many. With --lossless the publisher
/// waits for the slowest subscriber, and nothing is lost.
///
/// With --subscribe and --publish each side is run by hand, by the same user: in two terminals, on chosen
/// CPUs (`taskset`), or by another scheduler (`chrt`).
///
/// While it runs, a bar on standard error (if that is a terminal) shows how far it is. Ctrl-C and SIGTERM
/// stop the publisher; what was published is received and reported.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command line")]
pub(crate) struct Arguments {
    /// The name of the ring
    pub(super) name: String,

    #[command(flatten)]
    pub(super) directory: DirectoryOption,

    /// Bytes of a message: 32, 56, 64, 120, 128, 256, 512, 1024 or 4096
    ///
    /// Each slot takes 8 bytes more. So messages of 56 and 120 bytes fill 64 and 128 bytes.
    #[arg(long, value_name = "BYTES", default_value = "56", value_parser = size, conflicts_with = "subscribe")]
    pub(super) size: usize,

    /// Messages to publish a second, such as 100000 or 0.5 [default: as many as it can, then 10000 for the
    /// latencies]
    ///
    /// Each message has its time on a fixed schedule: after a delay the publisher catches up.
    #[arg(long, value_name = "PER_SECOND", value_parser = rate, allow_hyphen_values = true)]
    #[arg(conflicts_with = "subscribe")]
    pub(super) rate: Option<f64>,

    /// How long each part takes
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = seconds)]
    #[arg(allow_hyphen_values = true, conflicts_with = "subscribe")]
    pub(super) seconds: Duration,

    /// Slots of the ring, any number from 2 up [default: as many as 8 MiB hold, at most 65536]
    #[arg(long, value_name = "SLOTS", value_parser = numbers::size, conflicts_with = "subscribe")]
    capacity: Option<usize>,

    /// Lose no message: the publisher waits for the slowest subscriber
    ///
    /// The ring has seats for 64 subscribers. One that is run by hand, and stopped by a signal, has no
    /// report.
    #[arg(long, conflicts_with = "subscribe")]
    pub(super) lossless: bool,

    /// How many subscribers, each a process
    #[arg(long, value_name = "COUNT", default_value_t = 1)]
    #[arg(value_parser = seats)]
    #[arg(conflicts_with_all = ["subscribe", "publish"])]
    pub(super) subscribers: u16,

    /// Subscribers poll and never sleep: the shortest latency, for a core that each of them keeps busy
    #[arg(long, conflicts_with = "publish")]
    pub(super) spin: bool,

    /// Publish only, and start no process: for subscribers that wait for the ring by --subscribe
    #[arg(long, conflicts_with = "subscribe")]
    pub(super) publish: bool,

    /// Subscribe only: wait for the ring of another `annulus bench`, and report what comes until its end
    #[arg(long)]
    pub(super) subscribe: bool,

    /// Print the report as one JSON object.
    ///
    /// Its keys: `schema`, the number 1, which grows if a key changes its meaning; `name`; `size`, in bytes;
    /// `capacity`; `lossless`; `ok`, whether the check passed; and `parts`, a list of objects with the keys
    /// `rate` (null at full speed), `published`, `elapsed_s`, `messages_per_s` (all four are null with
    /// --subscribe) and `subscribers`, a list that is empty with --publish. It has objects with the keys
    /// `received`, `lost`, `messages_per_s`, and `latency_ns`, which holds `p50`, `p90`, `p99`, `p99_9` and
    /// `max`, and is null at full speed.
    #[arg(long)]
    pub(super) json: bool,

    /// For the subscribers that it starts: says when it has joined, and then sends its receipt.
    #[arg(long, hide = true, requires = "subscribe")]
    pub(super) child: bool,
}

impl Arguments {
    /// Slots of the ring.
    pub(super) fn capacity(&self) -> usize {
        self.capacity.unwrap_or_else(|| DEFAULT_CAPACITY_MAX.min(DEFAULT_BYTES / (self.size + 8)))
    }
}

/// Parses the size of a message.
fn size(text: &str) -> Result<usize, String> {
    numbers::size(text).ok().filter(|size| SIZES.contains(size)).ok_or_else(|| {
        let sizes: Vec<_> = SIZES.iter().map(ToString::to_string).collect();
        format!("{} is no size of a message here: it must be one of {}", quoted(text), sizes.join(", "))
    })
}

const EXAMPLES: &str = "\
EXAMPLES:
  annulus bench load
      at full speed, then at 10000 messages a second, to one subscriber
  annulus bench load --size 1024 --rate 50000 --seconds 10 --json
      for programs
  annulus bench load --lossless
      how many messages a second go through if none may be lost
  annulus bench load --spin --subscribers 3
      three subscribers that never sleep
  taskset -c 1 annulus bench load --subscribe
  taskset -c 0 annulus bench load --publish
      each side by hand, in two terminals; the subscriber first

EXIT CODES:
  0    the check passed
  1    the check failed, or (with --subscribe) the publisher's process has died
  2    another ring has the name, an argument is wrong, or a process can't be started or is lost
  130  stopped by Ctrl-C (SIGINT), 143 by SIGTERM, or 129 by SIGHUP, and the check passed until then";
