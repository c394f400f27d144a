//! CPUs, and what they share.

use annulus::affinity::{Cpu, Detail};

use super::cpu_list::show;
use super::finding::{Read, Reading};
use super::machine::Machine;
use super::root::Unseen;

/// On which CPUs this program may run.
pub(super) fn cpus(machine: &Machine) -> Read {
    let all = machine.topology.cpus();
    let numbers = |is_wanted: &dyn Fn(&&Cpu) -> bool| -> Vec<usize> {
        all.iter().filter(is_wanted).map(|cpu| cpu.number).collect()
    };
    let allowed = numbers(&|cpu| cpu.is_allowed);
    let is_hidden = |detail| machine.topology.hidden().iter().any(|hidden| hidden.detail == detail);
    if is_hidden(Detail::Allowed) {
        return Err(Unseen::NotHere);
    }
    let online = (!is_hidden(Detail::Online)).then(|| numbers(&|cpu| cpu.is_online == Some(true)).len());
    let present = (!is_hidden(Detail::Present)).then_some(all.len());
    let available = numbers(&|cpu| cpu.is_available && !cpu.is_allowed);
    Ok(count(&allowed, &available, online, present))
}

/// Of these counts. `available` are those that the program could have besides.
fn count(allowed: &[usize], available: &[usize], online: Option<usize>, present: Option<usize>) -> Reading {
    let or_hidden = |count: Option<usize>| count.map_or("hidden".into(), |count| count.to_string());
    let here = format!(
        "{} allowed ({}), {} online, {} present",
        allowed.len(),
        show(allowed),
        or_hidden(online),
        or_hidden(present)
    );
    match (allowed, available) {
        ([_, _, ..], _) => Reading::good(here),
        (_, []) => {
            Reading::better(here, "give the program two CPUs or more: threads that spin need one each")
        }
        _ => {
            let mut both = [allowed, available].concat();
            both.sort_unstable();
            Reading::better(here, format!("taskset -c {} PROGRAM", show(&both)))
        }
    }
}

/// Sockets.
pub(super) fn sockets(machine: &Machine) -> Read {
    let groups = groups(machine, |cpu| cpu.package)?;
    Ok(one_is_best(&groups, "socket", |cpus| {
        format!("keep threads that talk to each other on one: taskset -c {cpus} PROGRAM")
    }))
}

/// NUMA nodes.
pub(super) fn nodes(machine: &Machine) -> Read {
    let groups = groups(machine, |cpu| cpu.node)?;
    let node = groups[0].0;
    let advice = format!("numactl --cpunodebind={node} --membind={node} PROGRAM");
    Ok(one_is_best(&groups, "node", |_| advice.clone()))
}

/// Last-level caches.
pub(super) fn caches(machine: &Machine) -> Read {
    let groups = groups(machine, |cpu| cpu.same_cache.clone())?;
    if groups.len() > 1 && groups.iter().all(|(_, cpus)| cpus.len() == 1) {
        let here = "no two CPUs share one";
        return Ok(Reading::better(here, "a machine or an instance whose CPUs share a level 3 cache"));
    }
    Ok(one_is_best(&groups, "cache", |cpus| {
        format!("keep threads that talk to each other on one: taskset -c {cpus} PROGRAM")
    }))
}

/// Hardware threads of a core.
pub(super) fn smt(machine: &Machine) -> Read {
    let groups = groups(machine, |cpu| cpu.same_core.clone())?;
    // Also the siblings that this program may not use: others may.
    let whole: Vec<_> = groups.into_iter().map(|(siblings, _)| siblings).collect();
    Ok(siblings(&whole))
}

/// Of the cores that the program may use.
fn siblings(cores: &[Vec<usize>]) -> Reading {
    let shared: Vec<_> = cores.iter().filter(|siblings| siblings.len() > 1).collect();
    let Some(most) = shared.iter().map(|siblings| siblings.len()).max() else {
        return Reading::good("off: one thread per core");
    };
    Reading::better(
        format!("on: {most} threads per core ({})", lists(shared.iter().map(|siblings| &siblings[..]))),
        "one spinning thread per core (`affinity::spread`), or off: \
         echo off | sudo tee /sys/devices/system/cpu/smt/control",
    )
}

/// The CPUs that this program may use, by what they share: in ascending order of the first CPU.
fn groups<K: PartialEq>(
    machine: &Machine,
    key: impl Fn(&Cpu) -> Option<K>,
) -> Result<Vec<(K, Vec<usize>)>, Unseen> {
    let mut groups: Vec<(K, Vec<usize>)> = Vec::new();
    for cpu in machine.allowed() {
        let key = key(cpu).ok_or_else(|| why(machine))?;
        match groups.iter_mut().find(|(there, _)| *there == key) {
            Some((_, cpus)) => cpus.push(cpu.number),
            None => groups.push((key, vec![cpu.number])),
        }
    }
    if groups.is_empty() { Err(Unseen::NotHere) } else { Ok(groups) }
}

/// Why the system does not say what CPUs share: the first file that says something odd, if there is one.
fn why(machine: &Machine) -> Unseen {
    let odd = machine.topology.hidden().iter().find_map(|hidden| {
        let (_, says) = hidden.reason.split_once(": it says ")?;
        Some(Unseen::garbage(says.trim_matches('"')))
    });
    odd.unwrap_or(Unseen::NotHere)
}

/// One group is good; with more of them the `advice` is for the CPUs of the largest.
fn one_is_best<K>(groups: &[(K, Vec<usize>)], thing: &str, advice: impl Fn(&str) -> String) -> Reading {
    let largest = groups.iter().map(|(_, cpus)| cpus).rev().max_by_key(|cpus| cpus.len());
    match (groups, largest) {
        ([_, _, ..], Some(largest)) => {
            let here =
                format!("{} {thing}s ({})", groups.len(), lists(groups.iter().map(|(_, cpus)| &cpus[..])));
            Reading::better(here, advice(&show(largest)))
        }
        _ => Reading::good(format!("one {thing}")),
    }
}

/// The most groups that are listed.
const LISTED: usize = 4;

/// `0-1; 2-3; …`
fn lists<'a>(groups: impl Iterator<Item = &'a [usize]>) -> String {
    let mut shown: Vec<_> = groups.take(LISTED + 1).map(show).collect();
    if shown.len() > LISTED {
        shown[LISTED] = "…".into();
    }
    shown.join("; ")
}

#[cfg(test)]
mod tests {
    use super::super::fake::{Fake, said};
    use super::*;

    #[test]
    fn one_cpu_is_too_few() {
        assert_eq!(
            said(Ok(count(&[0, 1], &[], Some(4), Some(4)))),
            "good: 2 allowed (0-1), 4 online, 4 present"
        );
        assert_eq!(
            said(Ok(count(&[3], &[0, 1], Some(4), None))),
            "could be better: 1 allowed (3), 4 online, hidden present -> taskset -c 0-1,3 PROGRAM"
        );
        assert_eq!(
            said(Ok(count(&[0], &[], None, None))),
            "could be better: 1 allowed (0), hidden online, hidden present -> \
             give the program two CPUs or more: threads that spin need one each"
        );
    }

    #[test]
    fn groups_of_cpus_far_apart_are_kept_together() {
        let sockets = [(0, vec![0, 1]), (1, vec![2, 3, 4])];
        let advice = |cpus: &str| format!("stay on {cpus}");
        assert_eq!(said(Ok(one_is_best(&sockets[..1], "socket", advice))), "good: one socket");
        let both = said(Ok(one_is_best(&sockets, "socket", advice)));
        assert_eq!(both, "could be better: 2 sockets (0-1; 2-4) -> stay on 2-4");
        let many: Vec<_> = (0..6).map(|cpu| (cpu, vec![cpu])).collect();
        let many = said(Ok(one_is_best(&many, "cache", advice)));
        assert_eq!(many, "could be better: 6 caches (0; 1; 2; 3; …) -> stay on 0");
    }

    #[test]
    fn siblings_share_a_core() {
        assert_eq!(said(Ok(siblings(&[vec![0], vec![1]]))), "good: off: one thread per core");
        let two = said(Ok(siblings(&[vec![0, 4], vec![1, 5]])));
        assert!(
            two.starts_with("could be better: on: 2 threads per core (0,4; 1,5) -> one spinning"),
            "{two}"
        );
    }

    /// The machine of the test has any CPUs. In the tree, they all are of one package and one core.
    #[test]
    #[cfg(target_os = "linux")]
    fn tree_is_read() {
        let list = show(&annulus::affinity::allowed().unwrap());
        let cpu = "/sys/devices/system/cpu";
        let node = "/sys/devices/system/node";
        let mut fake = Fake::new()
            .file(&format!("{cpu}/present"), &list)
            .file(&format!("{cpu}/online"), &list)
            .file(&format!("{cpu}/isolated"), "")
            .file(&format!("{node}/online"), "7")
            .file(&format!("{node}/node7/cpulist"), &list);
        for number in annulus::affinity::allowed().unwrap() {
            let folder = format!("{cpu}/cpu{number}");
            fake = fake
                .file(&format!("{folder}/topology/physical_package_id"), "3")
                .file(&format!("{folder}/topology/core_cpus_list"), number.to_string())
                .file(&format!("{folder}/cache/index0/type"), "Unified")
                .file(&format!("{folder}/cache/index0/level"), "3")
                .file(&format!("{folder}/cache/index0/shared_cpu_list"), &list);
        }
        assert_eq!(fake.check(sockets), "good: one socket");
        assert_eq!(fake.check(nodes), "good: one node");
        assert_eq!(fake.check(caches), "good: one cache");
        assert_eq!(fake.check(smt), "good: off: one thread per core");
        assert!(fake.check(cpus).contains(&format!("allowed ({list}), ")), "{}", fake.check(cpus));

        let number = annulus::affinity::allowed().unwrap()[0];
        let fake = fake.file(&format!("{cpu}/cpu{number}/topology/physical_package_id"), "many");
        assert_eq!(fake.check(sockets), "hidden: not to be understood: `many`");
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn machine_without_sysfs_knows_the_thread_alone() {
        let fake = Fake::new();
        for check in [sockets, nodes, caches, smt] {
            assert_eq!(fake.check(check), "hidden: not to be seen on this system");
        }
        assert!(fake.check(cpus).contains(" allowed ("), "{}", fake.check(cpus));
    }
}
