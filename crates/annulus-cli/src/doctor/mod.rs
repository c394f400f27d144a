//! `annulus doctor`: what this machine can do for low latency, and what to change.
//!
//! Each check looks at one thing and comes to a row: what is here, a verdict, and an advice. It reads files
//! below a root, which is a made-up folder in tests, and answers of system calls. What the system does not
//! say is a row, too. Then a cache line goes back and forth between each pair of CPUs. Nothing is changed:
//! only threads of the measurement are pinned, and these end (decision 0082).
//!
//! ```text
//! arguments   what the user asked for
//! machine     where all checks look
//!   root        files of the system     cpu_info   `/proc/cpuinfo`     cpu_list   lists such as `0,1,4-7`
//!   answers     what system calls say
//! checks      all of them, in order
//!   cores       CPUs, and what they share           speed        frequencies, idle states
//!   clocks      clock source, time stamp counter    waiting      UMWAIT, membarrier, futex, timer slack
//!   memory      huge pages, locks, swap
//!   scheduling  policy, limits, isolated CPUs       host         kernel, virtual machine, stolen time
//!   container   quotas, CPU sets, memory limits     sharing      namespaces, `/dev/shm`, logouts
//! finding     a row
//! distances   each pair of CPUs                     ping_pong    one of them
//! report      everything, and JSON
//! table       the report for people                 heat_map     its map of the CPUs
//! ```

mod answers;
mod arguments;
mod checks;
mod clocks;
mod container;
mod cores;
mod cpu_info;
mod cpu_list;
mod distances;
#[cfg(test)]
mod fake;
mod finding;
mod heat_map;
mod host;
mod machine;
mod memory;
mod ping_pong;
mod report;
mod root;
mod scheduling;
mod sharing;
mod speed;
mod table;
mod waiting;

pub(crate) use arguments::Arguments;

use crate::outcome::{Failure, Outcome};
use crate::output;
use distances::{Choice, QUICK, USUAL};
use machine::Machine;
use report::{Report, System};

/// Looks, measures, and prints the report. Whatever it finds, that is a success.
///
/// # Errors
///
/// A CPU that was named can't be used, or the output can't be written.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, Failure> {
    let report = examine(arguments)?;
    output::print(&if arguments.json { report.to_json() } else { table::render(&report, output::room()) })?;
    Ok(Outcome::Passed)
}

/// Everything but the output.
fn examine(arguments: &Arguments) -> Result<Report, Failure> {
    let choice = match &arguments.cores {
        _ if arguments.no_measure => None,
        Some(cores) => Some(Choice::named(cores)?),
        None => Some(Choice::unasked()),
    };
    let machine = Machine::look(arguments.root.clone());
    Ok(Report {
        system: System::of(&machine),
        findings: checks::all(&machine),
        core_to_core: choice.map(|choice| choice.measure(if arguments.quick { QUICK } else { USUAL })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the thread and the process have that could be changed.
    #[cfg(target_os = "linux")]
    fn state() -> String {
        let read = |file: &str| std::fs::read_to_string(format!("/proc/thread-self/{file}"));
        // Nice value, real-time priority and policy.
        let stat = read("stat").unwrap_or_default();
        let fields: Vec<_> =
            stat.rsplit_once(')').map(|(_, rest)| rest.split_whitespace().collect()).unwrap_or_default();
        let scheduling = [19, 40, 41].map(|number: usize| fields.get(number - 3).copied());
        let status = read("status").unwrap_or_default();
        let lists: Vec<_> = status.lines().filter(|line| line.contains("_allowed_list")).collect();
        format!(
            "{:?} {scheduling:?} {lists:?} {:?} {:?}",
            annulus::affinity::allowed(),
            answers::Answers::ask(),
            read("limits")
        )
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn examination_changes_nothing() {
        let before = state();
        let arguments = Arguments { cores: None, no_measure: false, quick: true, json: false, root: None };
        let report = examine(&arguments).unwrap_or_else(|failure| panic!("{failure}"));
        assert!(report.core_to_core.is_some());
        assert_eq!(state(), before);
        // Threads that are made now begin with what this one has.
        assert_eq!(std::thread::spawn(state).join().unwrap(), before);
    }
}
