//! The arguments of `annulus ls`, `annulus info` and `annulus rm`.

use clap::Args;

use super::directory::DirectoryOption;

/// The rings between processes that have names: what they are, whose they are, whether that process lives,
/// how many messages wait (DEPTH), and how many processes read them, alive and dead.
///
/// It looks at the files of the names, and maps the header of each ring for a moment, read-only. It disturbs
/// nobody. The processes of other users and containers it asks for their rings, and waits for their answers,
/// of all of them together, for two seconds at most.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = LIST_EXAMPLES)]
pub(crate) struct ListArguments {
    #[command(flatten)]
    pub(super) directory: DirectoryOption,

    /// Print everything as one JSON object.
    ///
    /// Its keys: `schema`, the number 1, which grows if a key changes its meaning; `directory`; and
    /// `rings`, a list of objects with the keys `name`, `state` (`alive`, `closed` or `dead`), `pid`,
    /// `command`, `kind`, `capacity`, `payload_bytes`, `fingerprint`, `published`, `pending` (how many
    /// messages wait), `readers` (how many there are, not counting the dead), `dead_readers` and `error`.
    /// What is not known is null, so is the `pid` of a process in another container; `error` says why a ring
    /// can't be looked at.
    #[arg(long)]
    pub(super) json: bool,

    /// Print the names alone, each on a line
    #[arg(long, conflicts_with = "json")]
    pub(super) names: bool,
}

/// Says what one ring is: its header in words, how far it is, and its readers.
///
/// It maps the ring for a moment, read-only, and disturbs nobody.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = INFO_EXAMPLES)]
pub(crate) struct InfoArguments {
    /// The name of the ring
    pub(super) name: String,

    #[command(flatten)]
    pub(super) directory: DirectoryOption,

    /// Print everything as one JSON object.
    ///
    /// Its keys: `schema`, the number 1, which grows if a key changes its meaning; `name`, `kind`, `state`
    /// (`alive` or `closed`), `pid`, `command`, `capacity`, `slot_bytes`, `payload_bytes`,
    /// `payload_alignment`, `fingerprint`, `type` (what this program calls such messages, if it knows them),
    /// `published`, `pending`, and `readers`, a list of objects with the keys `seat` (null for a process that
    /// has the ring but no seat), `state`, `position`, `lag`, `behind_ns` (how long ago the message was
    /// published that it takes next, where messages say that), `pid` and `command`. `frames`, of a ring of
    /// frames, is an object with the keys `count`, `bytes` (of each), `room` (for how many subscribers),
    /// `most_held` (by each of them) and `held`, a list of how many each one holds. What is not known is
    /// null, so is the `pid` of a process in another container.
    #[arg(long)]
    pub(super) json: bool,
}

/// Removes the names of rings whose processes are dead, and the numbers that are kept for their next
/// publishers, also where there is no name any more.
///
/// Nobody has to do this: the next ring of that name replaces what a dead process left. The name of a ring
/// that is alive is removed with --force only. Processes that have that ring keep it, but no other one
/// finds it any more.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = REMOVE_EXAMPLES)]
pub(crate) struct RemoveArguments {
    /// The names, as `annulus ls` shows them
    #[arg(required_unless_present = "dead", value_name = "NAME")]
    pub(super) names: Vec<String>,

    #[command(flatten)]
    pub(super) directory: DirectoryOption,

    /// Also if the ring's process is alive, or a publisher has the numbers
    #[arg(long)]
    pub(super) force: bool,

    /// All names whose processes are dead, and no other; each that is removed is printed
    #[arg(long, conflicts_with_all = ["names", "force"])]
    pub(super) dead: bool,
}

const LIST_EXAMPLES: &str = "\
EXAMPLES:
  annulus ls
      all rings of this user
  annulus ls --names
      their names alone, for scripts
  annulus ls --json | jq -r '.rings[] | select(.state == \"dead\") | .name'
      the names that dead processes left

EXIT CODES:
  0    it looked at all names, also if there is none
  2    the directory can't be read, or is not this user's";

const INFO_EXAMPLES: &str = "\
EXAMPLES:
  annulus info quotes
  annulus info quotes --json | jq .published
      how many messages were published

EXIT CODES:
  0    it is a ring, and its process is alive
  2    there is no such name, its process is dead, or it is another user's";

const REMOVE_EXAMPLES: &str = "\
EXAMPLES:
  annulus rm quotes
      if the process that published it is dead
  annulus rm --dead
      all that dead processes left
  annulus rm --force quotes
      in any case

EXIT CODES:
  0    all of them are removed; with --dead, also if there is none
  2    one of them is not: there is no such name, or its process is alive";
