//! The arguments of `annulus doctor`.

use std::path::PathBuf;

use clap::Args;

use super::cpu_list;

/// What this machine can do for low latency, and what to change.
///
/// It looks at the CPUs, the clocks, the memory, the scheduler, the kernel, and what a virtual machine or a
/// container takes away. A table says for each thing what is here, whether that is good, and what to change:
/// a command, or a setting. A machine that is shared or that has to save energy has reasons to be as it is.
///
/// Then it measures how long a cache line takes from each CPU to each other one and back. Two threads, one on
/// each CPU, take turns in writing: a round trip is there and back again. The figure is the median of several
/// rounds. A map shows which CPUs are near each other.
///
/// It changes nothing, and needs no privileges. What the system does not say (in a container, without /sys)
/// is in the table as hidden. While it measures, two CPUs are busy; other programs on them make the figures
/// worse.
#[derive(Args)]
#[command(allow_negative_numbers = true)]
#[command(after_help = EXAMPLES, after_long_help = format!("{NOTES}\n\n{EXAMPLES}"))]
pub(crate) struct Arguments {
    /// The CPUs to measure between, such as `0,1,4-7` [default: those on which this program may run, at most
    /// the first 32]
    ///
    /// These are the system's numbers, as in `lscpu -e`. Any CPU may be named to which the system lets a
    /// program be pinned, isolated ones too.
    #[arg(long, value_name = "LIST", value_parser = cores)]
    pub(super) cores: Option<Cores>,

    /// Measure nothing: print the table only.
    #[arg(long, conflicts_with_all = ["cores", "quick"])]
    pub(super) no_measure: bool,

    /// Measure for a tenth of the time: the figures are less steady.
    #[arg(long)]
    pub(super) quick: bool,

    /// Print everything as one JSON object.
    ///
    /// Its keys: `schema`, the number 1, which grows if a key changes its meaning; `system`, an object with
    /// the keys `os`, `arch` and `processor` (or null); `findings`, a list of objects with the keys `id`,
    /// `name`, `here`, `verdict` (`good`, `could_be_better`, `hidden` or `not_there`) and `advice` (or null);
    /// and `core_to_core`.
    ///
    /// That is null with --no-measure. Otherwise it has the keys `cpus`, a list of their numbers; `rounds`
    /// and `round_trips`, how many were measured for each pair; `not_measured`, why there are no pairs, or
    /// null; and `pairs`, a list of objects with the keys `a`, `b`, `median_ns`, `min_ns`, `max_ns` and
    /// `error`. These are nanoseconds a round trip. If a pair could not be measured they are null, and
    /// `error` says why.
    #[arg(long)]
    pub(super) json: bool,

    /// For tests: the folder that has `proc` and `sys`, in place of `/`.
    #[arg(long, value_name = "FOLDER", hide = true)]
    pub(super) root: Option<PathBuf>,
}

/// What the help ends with.
const EXAMPLES: &str = "\
EXAMPLES:
  annulus doctor
      the table, and the map of the CPUs
  annulus doctor --no-measure
      the table only, at once
  annulus doctor --cores 0,1,16,17
      a map of these CPUs
  annulus doctor --json | jq -r '.findings[] | select(.advice) | .advice'
      what to change, for programs";

/// What the long help has before that.
const NOTES: &str = "\
EXIT CODES:
  0    it looked at everything, also if things could be better
  2    the usage is wrong, such as a CPU that is not there; or the output cannot be written

HOW LONG IT TAKES:
  About 50 ms for each pair of CPUs, if nothing else runs on them: two seconds for 8 CPUs,
  half a minute for 32. If standard error is a terminal, a bar shows how far it is.";

/// CPUs to measure between, in ascending order: at least two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Cores(pub(super) Vec<usize>);

fn cores(text: &str) -> Result<Cores, String> {
    match cpu_list::parse(text)? {
        cpus if cpus.len() < 2 => Err("a line goes from one CPU to another: name two or more".into()),
        cpus => Ok(Cores(cpus)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cores_are_two_or_more() {
        assert_eq!(cores("1,0"), Ok(Cores(vec![0, 1])));
        for text in ["", "3", "3,3"] {
            assert_eq!(cores(text), Err("a line goes from one CPU to another: name two or more".into()));
        }
        assert!(cores("0-x").unwrap_err().starts_with("`0-x` is no CPU"));
    }
}
