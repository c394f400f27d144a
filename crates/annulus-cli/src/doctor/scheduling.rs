//! When threads get a CPU, and which others do.

use super::answers::Limit;
use super::cpu_list::{self, show};
use super::finding::{Read, Reading};
use super::machine::Machine;
use super::root::Unseen;

/// The scheduling policy of this thread.
pub(super) fn policy(machine: &Machine) -> Read {
    let stat = machine.root.text("/proc/thread-self/stat")?;
    let garbage = || Unseen::garbage(&stat);
    // The name is in brackets, and may have spaces; fields are counted from 1, and the third comes after it.
    let fields: Vec<_> = stat.rsplit_once(')').ok_or_else(garbage)?.1.split_whitespace().collect();
    let field = |number: usize| {
        let text = fields.get(number - 3).ok_or_else(garbage)?;
        text.parse::<i64>().map_err(|_| garbage())
    };
    let (nice, priority, policy) = (field(19)?, field(40)?, field(41)?);
    let normal =
        "sudo chrt -f 50 PROGRAM (for threads that sleep; one that spins takes its CPU from all others)";
    Ok(match policy {
        0 => Reading::better(format!("SCHED_OTHER, nice {nice}: other programs take turns with it"), normal),
        1 => Reading::good(format!("SCHED_FIFO, priority {priority}")),
        2 => Reading::good(format!("SCHED_RR, priority {priority}")),
        3 => Reading::better("SCHED_BATCH: wakes up later", normal),
        5 => Reading::better("SCHED_IDLE: runs if nobody else does", normal),
        6 => Reading::good("SCHED_DEADLINE"),
        7 => Reading::better("SCHED_EXT: a scheduler that somebody loaded", normal),
        other => return Err(Unseen::garbage(other.to_string())),
    })
}

/// Whether a session of programs counts as one.
pub(super) fn autogroup(machine: &Machine) -> Read {
    let is_on = machine.root.switch("/proc/sys/kernel/sched_autogroup_enabled")?;
    Ok(if is_on {
        Reading::better(
            "on: `nice` works within a session only",
            "sudo sysctl kernel.sched_autogroup_enabled=0",
        )
    } else {
        Reading::good("off")
    })
}

/// May set any priority.
const CAP_SYS_NICE: u32 = 23;

/// Whether the program may ask for a real-time priority.
pub(super) fn real_time_limit(machine: &Machine) -> Read {
    let limit = machine.answers.rtprio.ok_or(Unseen::NotHere)?;
    if machine.has_capability(CAP_SYS_NICE) {
        return Ok(Reading::good("any priority (CAP_SYS_NICE)"));
    }
    Ok(match limit {
        Limit::Unlimited => Reading::good("any priority"),
        Limit::AtMost(0) => {
            Reading::better("none", "/etc/security/limits.conf: USER - rtprio 50 (systemd: LimitRTPRIO=50)")
        }
        Limit::AtMost(priority) => Reading::good(format!("up to {priority}")),
    })
}

/// CPUs that the scheduler leaves alone.
pub(super) fn isolated(machine: &Machine) -> Read {
    let list = machine.root.list("/sys/devices/system/cpu/isolated")?;
    Ok(if list.is_empty() { none(machine, "isolcpus") } else { some(machine, &list) })
}

/// CPUs without a timer tick.
pub(super) fn tickless(machine: &Machine) -> Read {
    match machine.root.list("/sys/devices/system/cpu/nohz_full") {
        // A kernel that was built without it has no such file.
        Err(Unseen::NotHere) if machine.root.exists("/sys/devices/system/cpu/online") => {
            let here = "the kernel was built without it";
            Ok(Reading::not_there(here).advise("a kernel with CONFIG_NO_HZ_FULL"))
        }
        Ok(list) if list.is_empty() => Ok(none(machine, "nohz_full")),
        list => Ok(Reading::good(show(&list?))),
    }
}

/// CPUs that leave the kernel's clean-up work to others.
pub(super) fn without_rcu(machine: &Machine) -> Read {
    let line = machine.root.text("/proc/cmdline")?;
    let value =
        |name: &str| line.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='));
    match value("rcu_nocbs").or_else(|| value("nohz_full")) {
        // Each CPU that could be there.
        Some(all @ ("all" | "0-N")) => Ok(Reading::good(all)),
        Some(list) => match cpu_list::parse(list) {
            Ok(cpus) if !cpus.is_empty() => Ok(Reading::good(show(&cpus))),
            _ => Err(Unseen::garbage(list)),
        },
        None => Ok(none(machine, "rcu_nocbs")),
    }
}

/// These CPUs are isolated.
fn some(machine: &Machine, list: &[usize]) -> Reading {
    let is_allowed = |cpu: &usize| machine.topology.cpu(*cpu).is_some_and(|cpu| cpu.is_allowed);
    if list.iter().any(is_allowed) {
        Reading::good(show(list))
    } else {
        let here = format!("{}, but this program may not run there", show(list));
        Reading::better(here, format!("taskset -c {} PROGRAM", show(list)))
    }
}

/// No CPU is, and which could be.
fn none(machine: &Machine, parameter: &str) -> Reading {
    let reading = Reading::not_there("no CPU");
    let cpus: Vec<_> = machine.topology.cpus().iter().map(|cpu| cpu.number).collect();
    match spare(&cpus) {
        Some(cpus) => reading.advise(format!("kernel command line: {parameter}={}", show(cpus))),
        None => reading.advise("more CPUs: the system needs some, too"),
    }
}

/// The half of the CPUs that the system can do without.
fn spare(cpus: &[usize]) -> Option<&[usize]> {
    (cpus.len() >= 4).then(|| &cpus[cpus.len() / 2..])
}

#[cfg(test)]
mod tests {
    use super::super::answers::Answers;
    use super::super::fake::{Fake, said};
    use super::*;

    #[test]
    fn policy_is_that_of_the_thread() {
        let with = |tail: &str| {
            // Fields 3 to 39, of which the nineteenth is the nice value.
            let middle = format!("S {} -5 {}", "1 ".repeat(15), "0 ".repeat(20));
            let stat = format!("17 (a ) b) {middle}{tail}");
            Fake::new().file("/proc/thread-self/stat", stat).check(policy)
        };
        assert!(
            with("0 0 0")
                .starts_with("could be better: SCHED_OTHER, nice -5: other programs take turns with it -> ")
        );
        assert_eq!(with("50 1 0"), "good: SCHED_FIFO, priority 50");
        assert_eq!(with("7 2"), "good: SCHED_RR, priority 7");
        assert!(with("0 3").starts_with("could be better: SCHED_BATCH"));
        assert!(with("0 5").starts_with("could be better: SCHED_IDLE"));
        assert_eq!(with("0 6"), "good: SCHED_DEADLINE");
        assert_eq!(with("0 99"), "hidden: not to be understood: `99`");
        assert!(with("").starts_with("hidden: not to be understood: `17 (a ) b) S "));
        let garbage = Fake::new().file("/proc/thread-self/stat", "no brackets");
        assert_eq!(garbage.check(policy), "hidden: not to be understood: `no brackets`");
        assert_eq!(Fake::new().check(policy), "hidden: not to be seen on this system");
    }

    #[test]
    fn autogroup_is_a_switch() {
        let with =
            |text: &str| Fake::new().file("/proc/sys/kernel/sched_autogroup_enabled", text).check(autogroup);
        assert_eq!(with("0\n"), "good: off");
        assert!(with("1\n").ends_with(" -> sudo sysctl kernel.sched_autogroup_enabled=0"));
        assert_eq!(with("yes"), "hidden: not to be understood: `yes`");
    }

    #[test]
    fn priority_needs_a_limit_or_a_capability() {
        let with = |fake: Fake, rtprio| {
            said(real_time_limit(&Machine {
                answers: Answers { rtprio, ..Answers::default() },
                ..fake.machine()
            }))
        };
        assert_eq!(with(Fake::new(), None), "hidden: not to be seen on this system");
        assert!(with(Fake::new(), Some(Limit::AtMost(0))).starts_with("could be better: none -> "));
        assert_eq!(with(Fake::new(), Some(Limit::AtMost(50))), "good: up to 50");
        assert_eq!(with(Fake::new(), Some(Limit::Unlimited)), "good: any priority");
        let root = Fake::new().file("/proc/thread-self/status", "CapEff:\t0000000000800000\n");
        assert_eq!(with(root, Some(Limit::AtMost(0))), "good: any priority (CAP_SYS_NICE)");
    }

    #[test]
    fn isolated_cpus_are_listed() {
        let with = |text: &str| Fake::new().file("/sys/devices/system/cpu/isolated", text).check(isolated);
        assert!(with("\n").starts_with("not there: no CPU -> "));
        assert_eq!(
            with("9000-9001"),
            "could be better: 9000-9001, but this program may not run there -> taskset -c 9000-9001 PROGRAM"
        );
        assert_eq!(with("2-"), "hidden: not to be understood: `2-`");
        assert_eq!(Fake::new().check(isolated), "hidden: not to be seen on this system");
        if let Ok(allowed) = annulus::affinity::allowed() {
            assert_eq!(with(&allowed[0].to_string()), format!("good: {}", allowed[0]));
        }
    }

    #[test]
    fn ticks_are_off_where_the_kernel_says_so() {
        let cpu = || Fake::new().file("/sys/devices/system/cpu/online", "0-1");
        assert_eq!(
            cpu().check(tickless),
            "not there: the kernel was built without it -> a kernel with CONFIG_NO_HZ_FULL"
        );
        let with = |text: &str| cpu().file("/sys/devices/system/cpu/nohz_full", text).check(tickless);
        assert!(with("  (null)\n").starts_with("not there: no CPU -> "));
        assert_eq!(with("2-5"), "good: 2-5");
        assert_eq!(with("?"), "hidden: not to be understood: `?`");
        assert_eq!(Fake::new().check(tickless), "hidden: not to be seen on this system");
    }

    #[test]
    fn command_line_has_rcu() {
        let with = |text: &str| Fake::new().file("/proc/cmdline", text).check(without_rcu);
        assert_eq!(with("quiet rcu_nocbs=2-5 x=1"), "good: 2-5");
        assert_eq!(with("nohz_full=2,3"), "good: 2-3");
        assert_eq!(with("rcu_nocbs=all"), "good: all");
        assert!(with("quiet").starts_with("not there: no CPU -> "));
        assert_eq!(with("rcu_nocbs="), "hidden: not to be understood: ``");
        assert_eq!(with("rcu_nocbs=x"), "hidden: not to be understood: `x`");
        assert_eq!(Fake::new().check(without_rcu), "hidden: not to be seen on this system");
    }

    #[test]
    fn cpus_are_left_to_the_system() {
        assert_eq!(spare(&[0, 1]), None);
        assert_eq!(spare(&[0, 1, 2, 3]), Some(&[2, 3][..]));
    }
}
