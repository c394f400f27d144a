//! What tells the time.

use super::finding::{Read, Reading};
use super::machine::Machine;
use super::root::Unseen;

const FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";

/// Clocks that are read without a system call.
const FAST: [&str; 4] = ["tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"];

/// Other clocks, for which the kernel is called.
const SLOW: [&str; 5] = ["hpet", "acpi_pm", "jiffies", "xen", "refined-jiffies"];

/// The clock that `Instant::now` reads.
pub(super) fn clock_source(machine: &Machine) -> Read {
    let here = machine.root.text(&format!("{FOLDER}/current_clocksource"))?;
    if FAST.contains(&here.as_str()) {
        return Ok(Reading::good(here));
    }
    if !SLOW.contains(&here.as_str()) {
        return Err(Unseen::Garbage(here));
    }
    let available = machine.root.text(&format!("{FOLDER}/available_clocksource")).unwrap_or_default();
    let slow = format!("{here}: each look is a system call");
    match available.split_whitespace().find(|clock| FAST.contains(clock)) {
        Some(fast) => {
            Ok(Reading::better(slow, format!("echo {fast} | sudo tee {FOLDER}/current_clocksource")))
        }
        None => Ok(Reading::better(
            slow,
            "kernel command line: tsc=reliable (if the hardware's time stamp counters run evenly)",
        )),
    }
}

/// The processor's time stamp counter.
pub(super) fn time_stamp_counter(machine: &Machine) -> Read {
    let info = machine.cpu_info()?;
    if info.is_arm() {
        return Ok(Reading::good("the system counter of ARM: one rate, never stops"));
    }
    if !info.is_x86() {
        return Err(Unseen::NotHere);
    }
    if !info.has("tsc") {
        return Ok(Reading::not_there("the processor has none, or it is switched off"));
    }
    let (constant, nonstop) = (info.has("constant_tsc"), info.has("nonstop_tsc"));
    let word = |has, name: &str| format!("{}{name}", if has { "" } else { "not " });
    let here = format!("{}, {}", word(constant, "constant"), word(nonstop, "nonstop"));
    Ok(if constant && nonstop {
        Reading::good(format!("invariant ({here})"))
    } else {
        Reading::better(
            here,
            "a processor, or a virtual machine's setting (invtsc), with an invariant counter",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    #[test]
    fn clock_should_need_no_call() {
        let with = |current: &str, available: &str| {
            Fake::new()
                .file("/sys/devices/system/clocksource/clocksource0/current_clocksource", current)
                .file("/sys/devices/system/clocksource/clocksource0/available_clocksource", available)
                .check(clock_source)
        };
        assert_eq!(with("tsc\n", "tsc hpet"), "good: tsc");
        assert_eq!(
            with("hpet", "hpet tsc acpi_pm"),
            "could be better: hpet: each look is a system call -> echo tsc | sudo tee \
             /sys/devices/system/clocksource/clocksource0/current_clocksource"
        );
        assert!(with("acpi_pm", "acpi_pm").contains("kernel command line: tsc=reliable"));
        assert_eq!(with("sun dial", ""), "hidden: not to be understood: `sun dial`");
        assert_eq!(with("", ""), "hidden: not to be understood: ``");
        assert_eq!(Fake::new().check(clock_source), "hidden: not to be seen on this system");
    }

    #[test]
    fn counter_should_be_invariant() {
        let with = |lines: &str| {
            let text = format!("processor : 0\n{lines}\n");
            Fake::new().file("/proc/cpuinfo", text).check(time_stamp_counter)
        };
        assert_eq!(with("flags : tsc constant_tsc nonstop_tsc"), "good: invariant (constant, nonstop)");
        assert!(with("flags : tsc constant_tsc").starts_with("could be better: constant, not nonstop -> "));
        assert!(with("flags : fpu").starts_with("not there: "));
        assert!(with("CPU implementer : 0x41").starts_with("good: "));
        assert_eq!(with("isa : rv64"), "hidden: not to be seen on this system");
        assert_eq!(Fake::new().check(time_stamp_counter), "hidden: not to be seen on this system");
        let garbage = Fake::new().file("/proc/cpuinfo", "%&");
        assert_eq!(garbage.check(time_stamp_counter), "hidden: not to be understood: `%&`");
    }
}
