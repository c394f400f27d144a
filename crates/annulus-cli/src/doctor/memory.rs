//! Memory: huge pages, what may be locked, swap.

use super::answers::Limit;
use super::finding::{Read, Reading};
use super::machine::Machine;
use super::root::Unseen;
use crate::text::size;

const POOLS: &str = "/sys/kernel/mm/hugepages";

/// Huge pages that are set aside.
pub(super) fn huge_pages(machine: &Machine) -> Read {
    let (mut reserved, mut smallest_kib) = (Vec::new(), None::<u64>);
    for pool in machine.root.names(POOLS) {
        let kib = pool.strip_prefix("hugepages-").and_then(|rest| rest.strip_suffix("kB"));
        let kib = kib.and_then(|kib| kib.parse().ok()).ok_or_else(|| Unseen::garbage(&pool))?;
        let count = machine.root.number(&format!("{POOLS}/{pool}/nr_hugepages"))?;
        let free = machine.root.number(&format!("{POOLS}/{pool}/free_hugepages"))?;
        smallest_kib = Some(smallest_kib.map_or(kib, |smallest| smallest.min(kib)));
        if count > 0 {
            reserved.push(format!("{count} of {} ({free} free)", size(kib.saturating_mul(1024))));
        }
    }
    let Some(kib) = smallest_kib else {
        return Err(Unseen::NotHere);
    };
    if reserved.is_empty() {
        let advice = format!("echo 64 | sudo tee {POOLS}/hugepages-{kib}kB/nr_hugepages");
        Ok(Reading::better("none reserved", advice))
    } else {
        Ok(Reading::good(reserved.join(", ")))
    }
}

/// Huge pages that the system makes when it sees fit.
pub(super) fn transparent_huge_pages(machine: &Machine) -> Read {
    const SWITCH: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    let text = machine.root.text(SWITCH)?;
    let chosen = text.split_whitespace().find_map(|word| word.strip_prefix('[')?.strip_suffix(']'));
    let advice = format!("echo madvise | sudo tee {SWITCH}");
    match chosen {
        Some("madvise") => Ok(Reading::good("madvise: for programs that ask")),
        Some("always") => Ok(Reading::better("always: the system may stop a thread to make one", advice)),
        Some("never") => Ok(Reading::better("never", advice)),
        _ => Err(Unseen::Garbage(text)),
    }
}

/// As much as rings of common sizes need.
const LOCKED_MIN: u64 = 64 << 20;

/// How much memory the program may keep from being swapped out.
pub(super) fn locked_memory(machine: &Machine) -> Read {
    let here = match machine.answers.memlock.ok_or(Unseen::NotHere)? {
        Limit::Unlimited => return Ok(Reading::good("unlimited")),
        Limit::AtMost(bytes) if bytes >= LOCKED_MIN => return Ok(Reading::good(size(bytes))),
        Limit::AtMost(bytes) => size(bytes),
    };
    if machine.has_capability(CAP_IPC_LOCK) {
        return Ok(Reading::good(format!("{here}, which does not bind this user (CAP_IPC_LOCK)")));
    }
    Ok(Reading::better(
        here,
        "/etc/security/limits.conf: USER - memlock unlimited (systemd: LimitMEMLOCK=infinity)",
    ))
}

/// Locks any amount of memory.
const CAP_IPC_LOCK: u32 = 14;

/// Where memory may be taken to.
pub(super) fn swap(machine: &Machine) -> Read {
    let text = machine.root.text("/proc/swaps")?;
    let mut lines = text.lines();
    if !lines.next().is_some_and(|header| header.starts_with("Filename")) {
        return Err(Unseen::Garbage(text));
    }
    let (mut areas, mut kib) = (0, 0_u64);
    for line in lines {
        let word = line.split_whitespace().nth(2).and_then(|word| word.parse::<u64>().ok());
        kib = kib.saturating_add(word.ok_or_else(|| Unseen::garbage(line))?);
        areas += 1;
    }
    Ok(match areas {
        0 => Reading::good("none"),
        _ => Reading::better(size(kib.saturating_mul(1024)), "sudo swapoff -a (or lock what must stay)"),
    })
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, said};
    use super::*;

    #[test]
    fn huge_pages_are_counted_by_size() {
        let pool = |fake: Fake, kib: &str, count: &str| {
            fake.file(&format!("{POOLS}/hugepages-{kib}kB/nr_hugepages"), count)
                .file(&format!("{POOLS}/hugepages-{kib}kB/free_hugepages"), "1")
        };
        let none = pool(pool(Fake::new(), "2048", "0"), "1048576", "0");
        assert_eq!(
            none.check(huge_pages),
            "could be better: none reserved -> \
             echo 64 | sudo tee /sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
        );
        let some = pool(none, "2048", "64\n");
        assert_eq!(some.check(huge_pages), "good: 64 of 2 MiB (1 free)");
        let garbage = pool(some, "2048", "many");
        assert_eq!(garbage.check(huge_pages), "hidden: not to be understood: `many`");
        let odd = pool(Fake::new(), "huge", "1");
        assert_eq!(odd.check(huge_pages), "hidden: not to be understood: `hugepages-hugekB`");
        assert_eq!(Fake::new().check(huge_pages), "hidden: not to be seen on this system");
    }

    #[test]
    fn transparent_pages_are_best_on_request() {
        let with = |text: &str| {
            Fake::new()
                .file("/sys/kernel/mm/transparent_hugepage/enabled", text)
                .check(transparent_huge_pages)
        };
        assert_eq!(with("always [madvise] never"), "good: madvise: for programs that ask");
        let advice = " -> echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled";
        assert_eq!(with("always madvise [never]"), format!("could be better: never{advice}"));
        assert!(with("[always] madvise never").starts_with("could be better: always: "));
        assert_eq!(with("always madvise never"), "hidden: not to be understood: `always madvise never`");
        assert_eq!(with(""), "hidden: not to be understood: ``");
    }

    #[test]
    fn small_limit_of_locked_memory_binds_unless_the_user_may_lock_all() {
        let with = |fake: Fake, limit| {
            let mut machine = fake.machine();
            machine.answers.memlock = limit;
            said(locked_memory(&machine))
        };
        assert_eq!(with(Fake::new(), None), "hidden: not to be seen on this system");
        assert_eq!(with(Fake::new(), Some(Limit::Unlimited)), "good: unlimited");
        assert_eq!(with(Fake::new(), Some(Limit::AtMost(1 << 30))), "good: 1 GiB");
        let small = Some(Limit::AtMost(8 << 20));
        assert!(
            with(Fake::new(), small).starts_with("could be better: 8 MiB -> /etc/security/limits.conf: ")
        );
        let root = Fake::new().file("/proc/thread-self/status", "Name: x\nCapEff:\t0000000000004000\n");
        assert!(with(root, small).starts_with("good: 8 MiB, which does not bind"));
        let garbage = Fake::new().file("/proc/thread-self/status", "CapEff:\tall of them\n");
        assert!(with(garbage, small).starts_with("could be better"));
    }

    #[test]
    fn swap_is_summed_up() {
        const HEADER: &str = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
        let with = |text: &str| Fake::new().file("/proc/swaps", text).check(swap);
        assert_eq!(with(HEADER), "good: none");
        let two = with(&format!("{HEADER}/a partition 1048576 0 -2\n/b file 1048576 0 -3\n"));
        assert_eq!(two, "could be better: 2 GiB -> sudo swapoff -a (or lock what must stay)");
        assert_eq!(with(&format!("{HEADER}/a ?")), "hidden: not to be understood: `/a ?`");
        assert_eq!(with(""), "hidden: not to be understood: ``");
        assert_eq!(Fake::new().check(swap), "hidden: not to be seen on this system");
    }
}
