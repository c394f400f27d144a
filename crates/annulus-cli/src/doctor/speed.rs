//! How fast cores run, and how deep they sleep.

use super::finding::{Read, Reading};
use super::machine::Machine;
use super::root::Unseen;

/// Linux's rules of choosing a frequency.
const GOVERNORS: [&str; 6] =
    ["performance", "powersave", "ondemand", "conservative", "schedutil", "userspace"];

/// The frequency governors of the allowed CPUs.
pub(super) fn governor(machine: &Machine) -> Read {
    let mut governors = Vec::new();
    for cpu in machine.allowed() {
        let path = format!("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_governor", cpu.number);
        match machine.root.text(&path) {
            Ok(text) if !GOVERNORS.contains(&text.as_str()) => return Err(Unseen::Garbage(text)),
            Ok(text) if !governors.contains(&text) => governors.push(text),
            Ok(_) | Err(Unseen::NotHere) => {}
            Err(unseen) => return Err(unseen),
        }
    }
    match &governors[..] {
        [] => Err(Unseen::NotHere),
        [one] if one == "performance" => Ok(Reading::good("performance")),
        _ => Ok(Reading::better(
            governors.join(", "),
            "echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor",
        )),
    }
}

/// Frequencies above the nominal one.
pub(super) fn boost(machine: &Machine) -> Read {
    const ANY: &str = "/sys/devices/system/cpu/cpufreq/boost";
    const INTEL: &str = "/sys/devices/system/cpu/intel_pstate/no_turbo";
    let (is_on, switch) = match machine.root.switch(ANY) {
        Err(Unseen::NotHere) => (!machine.root.switch(INTEL)?, format!("echo 0 | sudo tee {INTEL}")),
        known => (known?, format!("echo 1 | sudo tee {ANY}")),
    };
    Ok(if is_on { Reading::good("on") } else { Reading::better("off: steady, but slower", switch) })
}

/// A core that wakes up more slowly than that is felt, in microseconds.
const WAKE_UP_MAX_US: u64 = 10;

/// C-states: what an idle core switches off, and how long it takes to come back.
pub(super) fn idle_states(machine: &Machine) -> Read {
    let cpu = machine.allowed().next().ok_or(Unseen::NotHere)?.number;
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cpuidle");
    let mut states = Vec::new();
    for state in machine.root.names(&folder) {
        let path = |file| format!("{folder}/{state}/{file}");
        let latency_us = machine.root.number(&path("latency"))?;
        let name = machine.root.text(&path("name"))?;
        // Older systems have no switch.
        if machine.root.text(&path("disable")).is_ok_and(|text| text == "0" || text.is_empty()) {
            states.push((latency_us, name));
        }
    }
    let Some((latency_us, deepest)) = states.into_iter().max() else {
        return Err(Unseen::NotHere);
    };
    let here = format!("deepest in use: {deepest}, {latency_us} µs to wake up");
    Ok(if latency_us <= WAKE_UP_MAX_US {
        Reading::good(here)
    } else {
        Reading::better(here, format!("sudo cpupower idle-set -D {WAKE_UP_MAX_US}"))
    })
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    /// The folder of the first CPU that the test may use.
    fn first(file: &str) -> String {
        let cpu = annulus::affinity::allowed().map_or(0, |cpus| cpus[0]);
        format!("/sys/devices/system/cpu/cpu{cpu}/{file}")
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn governor_should_be_performance() {
        let with = |text: &str| Fake::new().file(&first("cpufreq/scaling_governor"), text).check(governor);
        assert_eq!(with("performance\n"), "good: performance");
        assert_eq!(
            with("powersave\n"),
            "could be better: powersave -> \
             echo performance | sudo tee /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor"
        );
        assert_eq!(with(""), "hidden: not to be understood: ``");
        assert_eq!(with("42"), "hidden: not to be understood: `42`");
        assert_eq!(Fake::new().check(governor), "hidden: not to be seen on this system");
    }

    #[test]
    fn boost_has_two_switches() {
        let any = |text: &str| Fake::new().file("/sys/devices/system/cpu/cpufreq/boost", text).check(boost);
        assert_eq!(any("1"), "good: on");
        assert_eq!(
            any("0"),
            "could be better: off: steady, but slower -> echo 1 | sudo tee /sys/devices/system/cpu/cpufreq/boost"
        );
        assert_eq!(any("2"), "hidden: not to be understood: `2`");
        let intel =
            |text: &str| Fake::new().file("/sys/devices/system/cpu/intel_pstate/no_turbo", text).check(boost);
        assert_eq!(intel("0"), "good: on");
        assert!(intel("1").ends_with("echo 0 | sudo tee /sys/devices/system/cpu/intel_pstate/no_turbo"));
        assert_eq!(Fake::new().check(boost), "hidden: not to be seen on this system");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn deepest_state_counts_unless_it_is_off() {
        let state = |fake: Fake, number: usize, name: &str, latency: &str, disable: &str| {
            let folder = first(&format!("cpuidle/state{number}"));
            fake.file(&format!("{folder}/name"), name)
                .file(&format!("{folder}/latency"), latency)
                .file(&format!("{folder}/disable"), disable)
        };
        let poll = state(Fake::new(), 0, "POLL", "0", "0");
        assert_eq!(poll.check(idle_states), "good: deepest in use: POLL, 0 µs to wake up");
        let deep = state(poll, 1, "C6", "133", "0");
        assert_eq!(
            deep.check(idle_states),
            "could be better: deepest in use: C6, 133 µs to wake up -> sudo cpupower idle-set -D 10"
        );
        let off = state(deep, 1, "C6", "133", "1");
        assert_eq!(off.check(idle_states), "good: deepest in use: POLL, 0 µs to wake up");
        let garbage = state(off, 2, "C9", "soon", "0");
        assert_eq!(garbage.check(idle_states), "hidden: not to be understood: `soon`");
        assert_eq!(Fake::new().check(idle_states), "hidden: not to be seen on this system");
    }
}
