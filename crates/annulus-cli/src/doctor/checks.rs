//! All checks, in the order in which they are shown.

use super::finding::{Finding, Read};
use super::machine::Machine;
use super::{clocks, container, cores, host, memory, scheduling, sharing, speed, waiting};

/// Looks at one thing.
type Check = fn(&Machine) -> Read;

/// What programs and people know each by. Programs rely on the first.
const CHECKS: [(&str, &str, Check); 37] = [
    ("cpus", "CPUs", cores::cpus),
    ("smt", "SMT (hardware threads)", cores::smt),
    ("shared_cache", "last-level cache", cores::caches),
    ("sockets", "sockets", cores::sockets),
    ("numa_nodes", "NUMA nodes", cores::nodes),
    ("frequency_governor", "frequency governor", speed::governor),
    ("boost", "boost (turbo)", speed::boost),
    ("idle_states", "idle states (C-states)", speed::idle_states),
    ("clock_source", "clock source", clocks::clock_source),
    ("time_stamp_counter", "time stamp counter", clocks::time_stamp_counter),
    ("processor_wait", "processor's wait", waiting::processor_wait),
    ("huge_pages", "huge pages", memory::huge_pages),
    ("transparent_huge_pages", "transparent huge pages", memory::transparent_huge_pages),
    ("locked_memory", "memory to lock (memlock)", memory::locked_memory),
    ("swap", "swap", memory::swap),
    ("membarrier", "membarrier", waiting::membarrier),
    ("futex", "futex", waiting::futex),
    ("timer_slack", "timer slack", waiting::timer_slack),
    ("scheduler", "scheduler of this thread", scheduling::policy),
    ("real_time_limit", "real-time limit (rtprio)", scheduling::real_time_limit),
    ("autogroup", "autogroup", scheduling::autogroup),
    ("isolated_cpus", "isolated CPUs (isolcpus)", scheduling::isolated),
    ("tickless_cpus", "CPUs without tick (nohz_full)", scheduling::tickless),
    ("rcu_free_cpus", "CPUs without RCU (rcu_nocbs)", scheduling::without_rcu),
    ("kernel", "kernel", host::kernel),
    ("preemption", "real-time kernel", host::preemption),
    ("virtualisation", "virtualisation", host::virtualisation),
    ("steal", "stolen time", host::steal),
    ("container", "container", container::container),
    ("cpu_quota", "CPU quota", container::cpu_quota),
    ("cpu_set", "CPU set", container::cpu_set),
    ("memory_limit", "memory limit", container::memory_limit),
    ("pid_namespace", "process numbers (PID namespace)", sharing::pid_namespace),
    ("ipc_namespace", "IPC namespace", sharing::ipc_namespace),
    ("shared_memory_folder", "/dev/shm", sharing::shared_memory_folder),
    ("remove_ipc", "names after a logout (RemoveIPC)", sharing::remove_ipc),
    ("old_names", "old files in /tmp (tmpfiles.d)", sharing::old_names),
];

/// Looks at everything.
pub(super) fn all(machine: &Machine) -> Vec<Finding> {
    CHECKS.into_iter().map(|(id, name, check)| Finding::new(id, name, check(machine))).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::fake::Fake;
    use super::super::finding::Verdict;
    use super::*;

    #[test]
    fn checks_have_names_of_their_own() {
        let ids: BTreeSet<_> = CHECKS.iter().map(|(id, ..)| id).collect();
        let names: BTreeSet<_> = CHECKS.iter().map(|(_, name, _)| name).collect();
        assert_eq!((ids.len(), names.len()), (CHECKS.len(), CHECKS.len()));
    }

    /// Only what the system says of the thread itself is known where there are no files.
    #[test]
    fn machine_without_files_hides_nearly_everything() {
        for finding in all(&Fake::new().machine()) {
            if finding.id != "cpus" {
                assert_eq!(finding.verdict, Verdict::Hidden, "{finding:?}");
                assert_eq!(finding.here, "not to be seen on this system");
            }
        }
    }

    /// Every file that a check of this machine could read, with any content.
    #[test]
    fn no_content_makes_a_check_panic() {
        let files = [
            "/proc/cpuinfo",
            "/proc/cmdline",
            "/proc/stat",
            "/proc/swaps",
            "/proc/version",
            "/proc/self/cgroup",
            "/proc/1/cgroup",
            "/proc/thread-self/stat",
            "/proc/thread-self/status",
            "/proc/sys/kernel/osrelease",
            "/proc/sys/kernel/sched_autogroup_enabled",
            "/sys/class/dmi/id/sys_vendor",
            "/sys/hypervisor/type",
            "/sys/kernel/realtime",
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages",
            "/sys/kernel/mm/hugepages/hugepages-99999999999999999999kB/nr_hugepages",
            "/sys/devices/system/clocksource/clocksource0/current_clocksource",
            "/sys/devices/system/cpu/present",
            "/sys/devices/system/cpu/online",
            "/sys/devices/system/cpu/isolated",
            "/sys/devices/system/cpu/nohz_full",
            "/sys/devices/system/cpu/cpufreq/boost",
            "/sys/devices/system/cpu/intel_pstate/no_turbo",
            "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
            "/sys/devices/system/cpu/cpu0/cpuidle/state0/latency",
            "/sys/devices/system/cpu/cpu0/topology/physical_package_id",
            "/sys/devices/system/cpu/cpu0/topology/core_cpus_list",
            "/sys/devices/system/cpu/cpu0/cache/index0/shared_cpu_list",
            "/sys/devices/system/node/online",
            "/sys/fs/cgroup/cpu.max",
            "/run/systemd/seats/seat0",
            "/etc/passwd",
            "/etc/systemd/logind.conf",
            "/etc/tmpfiles.d/tmp.conf",
        ];
        let contents: [&[u8]; 8] = [
            b"",
            b"\n",
            b"-1",
            b"18446744073709551616",
            b"0-18446744073709551615",
            b"\xff\xfe\0\x1b[2J",
            b": ) ( [ ] - , = : 0::/..",
            b"processor : x\nflags : \nCapEff: fffffffffffffffff\n",
        ];
        for content in contents {
            let fake = files.iter().fold(Fake::new(), |fake, file| fake.file(file, content));
            for finding in all(&fake.machine()) {
                assert!(!finding.here.contains(char::is_control), "{finding:?}");
            }
        }
    }
}
