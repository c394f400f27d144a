//! The arguments of `annulus top`.

use std::time::Duration;

use clap::Args;

use crate::rings::DirectoryOption;

/// Shows the rings between processes that have names, live: how many messages go through in a second, how
/// many wait, which subscribers are behind, and which processes are dead.
///
/// It disturbs nobody: it maps the rings read-only, takes no seat in them, and writes nothing. Where standard
/// output is no terminal, it looks for one interval, prints one table, and ends.
///
/// The subscribers of a lossy ring write nothing into it. How far they are behind is known of those that say
/// so, as `annulus sub` does with each 64th message and before it waits. Of the others it is known that they
/// have the ring.
///
/// The page of a ring has its readers and the curve of its rate. Where its messages carry the time when they
/// were published, as in `annulus demo --shared` and in the second part of `annulus bench`, it also
/// says how far each reader is behind in time: how long ago the message was published that it takes next. A
/// hundred looks a second at those with a seat make a histogram of it.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// Begin with the page of this ring; where standard output is no terminal, print that page
    pub(super) name: Option<String>,

    #[command(flatten)]
    pub(super) directory: DirectoryOption,

    /// The time between two looks, in seconds, from 0.1 on
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = interval)]
    #[arg(allow_hyphen_values = true)]
    pub(super) interval: Duration,

    /// Look for one interval, and print everything as one JSON object.
    ///
    /// Its keys: `schema`, the number 1, which grows if a key changes its meaning; `directory`; and `rings`,
    /// a list of objects with the keys `name`, `state` (`alive`, `overdue`, `closed` or `dead`), `overdue_ns`
    /// (for how long a publisher has been silent that promised to be quicker), `pid`, `command`, `kind`,
    /// `capacity`, `payload_bytes`, `published`, `published_per_second`, `pending`, `readers`, `frames`
    /// (of a ring of frames, as in `annulus info --json`), `behind_ns` and `error`. The readers are objects
    /// with the keys `seat` (null for a process that has the ring but no seat), `state`, `position`,
    /// `lag`, `behind_ns`, `pid` and `command`. A queue of records counts words of 8 bytes. The
    /// `behind_ns` of a ring is of all looks at its readers, an object with the keys `p50`, `p90`, `p99`,
    /// `p99_9` and `max`. What is not known is null, so is the `pid` of a process in another container.
    #[arg(long)]
    pub(super) json: bool,
}

/// A time between two looks.
fn interval(text: &str) -> Result<Duration, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.1..=3600.0).contains(seconds));
    seconds
        .map(Duration::from_secs_f64)
        .ok_or_else(|| "a number of seconds from 0.1 to 3600 is expected".into())
}

const EXAMPLES: &str = "\
KEYS:
  q, Ctrl-C            quit
  Ctrl-Z               stop, and give the terminal back until the shell's `fg`
  arrows, Page Up...   choose a ring
  Enter, Esc           the page of that ring, and back
  /                    show only the rings with this in their name, kind, state or process: type it;
                       Enter keeps it, Esc shows all
  n k s r d l p        sort by name, kind, state, rate, depth, lag or process; once more: the other way

EXAMPLES:
  annulus top
      all rings of this user
  annulus top market-quotes
      one of them: its readers, how far they are behind, its rate
  annulus top --json | jq '.rings[] | select(.pending == .capacity) | .name'
      the rings that are full

EXIT CODES:
  0    the user has quit; or one table is printed
  2    the directory or the terminal can't be used; or there is no ring of that name
  130  stopped by Ctrl-C (SIGINT), 143 by SIGTERM, or 129 by SIGHUP";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interval_is_a_number_of_seconds() {
        assert_eq!(interval("0.1"), Ok(Duration::from_millis(100)));
        assert_eq!(interval("3600"), Ok(Duration::from_secs(3600)));
        for text in ["0.05", "3601", "-1", "NaN", "inf", "1s", ""] {
            assert!(interval(text).is_err(), "{text}");
        }
    }
}
