//! What the program runs on: the kernel, and a machine that is real or virtual.

use super::finding::{Read, Reading};
use super::machine::Machine;
use super::root::Unseen;

/// The first version that has all that the library uses.
const KERNEL_MIN: (u32, u32) = (4, 14);

/// The version of Linux.
pub(super) fn kernel(machine: &Machine) -> Read {
    let release = machine.root.text("/proc/sys/kernel/osrelease")?;
    let mut numbers = release.split(|character: char| !character.is_ascii_digit());
    let mut next = || numbers.next()?.parse::<u32>().ok();
    let (Some(major), Some(minor)) = (next(), next()) else {
        return Err(Unseen::Garbage(release));
    };
    let here = format!("Linux {release}");
    Ok(if (major, minor) < KERNEL_MIN {
        Reading::better(here, "a kernel from 4.14 on, for membarrier")
    } else {
        Reading::good(here)
    })
}

/// Whether the kernel gives way to real-time threads wherever it is.
pub(super) fn preemption(machine: &Machine) -> Read {
    let version = machine.root.text("/proc/version");
    let is_real_time = match machine.root.switch("/sys/kernel/realtime") {
        Err(Unseen::NotHere) => version.as_ref().is_ok_and(|version| version.contains("PREEMPT_RT")),
        known => known?,
    };
    if is_real_time {
        return Ok(Reading::good("PREEMPT_RT"));
    }
    let version = version?;
    let word = version.split(|character: char| !character.is_ascii_uppercase() && character != '_');
    let here = word
        .into_iter()
        .find(|word| word.starts_with("PREEMPT"))
        .unwrap_or("the kernel does not say which preemption it has");
    let advice = "a kernel with PREEMPT_RT, if the worst case matters more than the median";
    Ok(Reading::not_there(format!("no PREEMPT_RT ({here})")).advise(advice))
}

/// Whether another system is below this one.
pub(super) fn virtualisation(machine: &Machine) -> Read {
    let dmi = |file| machine.root.text(&format!("/sys/class/dmi/id/{file}")).ok();
    let [vendor, product] = ["sys_vendor", "product_name"].map(dmi);
    let words = [vendor, product].into_iter().flatten().filter(|word| !word.is_empty());
    let named = words.collect::<Vec<_>>().join(" ");
    let says_so = VIRTUAL.iter().any(|name| named.contains(name));
    let below = machine.root.text("/sys/hypervisor/type").ok().filter(|name| !name.is_empty());
    let flags = match machine.cpu_info() {
        Ok(info) if info.is_x86() => Some(info.has("hypervisor")),
        Ok(_) | Err(Unseen::NotHere) => None,
        Err(unseen) => return Err(unseen),
    };
    if below.is_some() || says_so || flags == Some(true) {
        let name = below.unwrap_or(named);
        let here = crate::text::printable(&name);
        let here =
            if here.is_empty() { "a virtual machine".into() } else { format!("a virtual machine ({here})") };
        return Ok(Reading::better(here, "a dedicated machine, or an instance with dedicated CPUs"));
    }
    match (flags, named.is_empty()) {
        (Some(false), _) => Ok(Reading::good("none seen")),
        (_, false) => Ok(Reading::good(format!("none seen ({})", crate::text::printable(&named)))),
        _ => Err(Unseen::NotHere),
    }
}

/// What virtual machines call themselves.
const VIRTUAL: [&str; 9] = [
    "QEMU",
    "KVM",
    "VMware",
    "VirtualBox",
    "Xen",
    "Virtual Machine",
    "Google Compute",
    "Amazon EC2",
    "Bochs",
];

/// A share of stolen time above that is felt.
const STOLEN_MAX: f64 = 0.001;

/// Time that the machine below gave to others while this one wanted to run.
#[expect(clippy::cast_precision_loss, reason = "a share, of which two digits are shown")]
pub(super) fn steal(machine: &Machine) -> Read {
    let text = machine.root.text("/proc/stat")?;
    let line = text.lines().next().unwrap_or_default();
    let garbage = || Unseen::garbage(line);
    let numbers = line.strip_prefix("cpu ").ok_or_else(garbage)?.split_whitespace();
    let numbers: Vec<u64> = numbers.map(str::parse).collect::<Result<_, _>>().map_err(|_| garbage())?;
    // user, nice, system, idle, iowait, irq, softirq, steal; what comes after is in the first two, too.
    let stolen = *numbers.get(7).ok_or_else(garbage)?;
    let all: f64 = numbers[..8].iter().map(|&number| number as f64).sum();
    let share = if all > 0.0 { stolen as f64 / all } else { 0.0 };
    let here = format!("{:.2} % since the system started", share * 100.0);
    Ok(if share <= STOLEN_MAX {
        Reading::good(here)
    } else {
        Reading::better(here, "an instance with dedicated CPUs")
    })
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    #[test]
    fn kernel_has_a_version() {
        let with = |text: &str| Fake::new().file("/proc/sys/kernel/osrelease", text).check(kernel);
        assert_eq!(with("6.18.44-x\n"), "good: Linux 6.18.44-x");
        assert!(with("4.4.0").starts_with("could be better: Linux 4.4.0 -> a kernel from 4.14 on"));
        assert_eq!(with("new"), "hidden: not to be understood: `new`");
        assert_eq!(with(""), "hidden: not to be understood: ``");
        assert_eq!(Fake::new().check(kernel), "hidden: not to be seen on this system");
    }

    #[test]
    fn real_time_kernel_says_so() {
        let version = |text: &str| Fake::new().file("/proc/version", text);
        assert_eq!(version("Linux #1 SMP PREEMPT_RT x").check(preemption), "good: PREEMPT_RT");
        let dynamic = version("Linux 6 (Debian) #1 SMP PREEMPT_DYNAMIC @0").check(preemption);
        assert!(dynamic.starts_with("not there: no PREEMPT_RT (PREEMPT_DYNAMIC) -> a kernel"), "{dynamic}");
        assert!(version("?").check(preemption).contains("(the kernel does not say which preemption it has)"));
        let realtime = |text: &str| version("x").file("/sys/kernel/realtime", text).check(preemption);
        assert_eq!(realtime("1"), "good: PREEMPT_RT");
        assert_eq!(realtime("?"), "hidden: not to be understood: `?`");
        assert_eq!(Fake::new().check(preemption), "hidden: not to be seen on this system");
    }

    #[test]
    fn virtual_machine_is_known_by_flag_or_name() {
        let flags =
            |flags: &str| Fake::new().file("/proc/cpuinfo", format!("processor : 0\nflags : {flags}\n"));
        assert!(
            flags("hypervisor").check(virtualisation).starts_with("could be better: a virtual machine -> ")
        );
        assert_eq!(flags("fpu").check(virtualisation), "good: none seen");
        let named = |name: &str| Fake::new().file("/sys/class/dmi/id/sys_vendor", name).check(virtualisation);
        assert!(named("QEMU\n").starts_with("could be better: a virtual machine (QEMU) -> "));
        assert_eq!(named("A Maker\n"), "good: none seen (A Maker)");
        let xen = flags("fpu").file("/sys/hypervisor/type", "xen");
        assert!(xen.check(virtualisation).starts_with("could be better: a virtual machine (xen) -> "));
        let garbage = Fake::new().file("/proc/cpuinfo", "?");
        assert_eq!(garbage.check(virtualisation), "hidden: not to be understood: `?`");
        assert_eq!(Fake::new().check(virtualisation), "hidden: not to be seen on this system");
    }

    #[test]
    fn stolen_time_is_a_share() {
        let with = |text: &str| Fake::new().file("/proc/stat", text).check(steal);
        assert_eq!(with("cpu  50 0 0 50 0 0 0 0 9 9\ncpu0 …"), "good: 0.00 % since the system started");
        let much = with("cpu  50 0 0 45 0 0 0 5");
        assert_eq!(
            much,
            "could be better: 5.00 % since the system started -> an instance with dedicated CPUs"
        );
        assert_eq!(with("cpu  0 0 0 0 0 0 0 0"), "good: 0.00 % since the system started");
        assert_eq!(with("cpu  1 2 3"), "hidden: not to be understood: `cpu  1 2 3`");
        assert_eq!(with("cpu  1 2 3 x"), "hidden: not to be understood: `cpu  1 2 3 x`");
        assert_eq!(with(""), "hidden: not to be understood: ``");
        assert_eq!(Fake::new().check(steal), "hidden: not to be seen on this system");
    }
}
