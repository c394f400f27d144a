//! What a container takes away: control groups, versions 1 and 2.

use super::cpu_list::{self, show};
use super::finding::{Read, Reading};
use super::machine::Machine;
use super::root::{Root, Unseen};
use crate::text::size;

/// Whether this is a container.
pub(super) fn container(machine: &Machine) -> Read {
    let root = &machine.root;
    let marks = [("/.dockerenv", "Docker"), ("/run/.containerenv", "Podman")];
    let mark = marks.into_iter().find(|(path, _)| root.exists(path));
    let told = root.text("/run/systemd/container").ok().filter(|name| !name.is_empty());
    let groups = root.text("/proc/1/cgroup").unwrap_or_default();
    let group = ["kubepods", "docker", "containerd", "lxc"].into_iter().find(|name| groups.contains(name));
    let name = mark.map(|(path, name)| format!("{name} ({path})")).or(told).or(group.map(String::from));
    match name {
        Some(name) => Ok(Reading::good(crate::text::printable(&name))),
        None if root.exists("/proc/self/cgroup") => Ok(Reading::good("none seen")),
        None => Err(Unseen::NotHere),
    }
}

/// How much of the CPUs' time the program may use.
pub(super) fn cpu_quota(machine: &Machine) -> Read {
    let root = &machine.root;
    let mut least: Option<Quota> = None;
    for folder in Groups::of(root)?.folders("cpu") {
        let quota = match folder {
            Folder::Version2(folder) => match root.text(&format!("{folder}/cpu.max")) {
                Ok(text) => {
                    let words: Vec<_> = text.split_whitespace().collect();
                    match words[..] {
                        ["max", _] => None,
                        [quota, period] => {
                            Some(Quota::new(quota, period).ok_or_else(|| Unseen::garbage(&text))?)
                        }
                        _ => return Err(Unseen::Garbage(text)),
                    }
                }
                unseen => absent(unseen)?,
            },
            Folder::Version1(folder) => match root.text(&format!("{folder}/cpu.cfs_quota_us")) {
                Ok(text) if text == "-1" => None,
                Ok(text) => {
                    let period = root.text(&format!("{folder}/cpu.cfs_period_us"))?;
                    Some(Quota::new(&text, &period).ok_or(Unseen::Garbage(text))?)
                }
                unseen => absent(unseen)?,
            },
        };
        let is_less = |quota: &Quota| least.as_ref().is_none_or(|least| quota.cpus() < least.cpus());
        if let Some(quota) = quota.filter(is_less) {
            least = Some(quota);
        }
    }
    Ok(match least {
        None => Reading::good("none"),
        Some(quota) => Reading::better(
            format!(
                "{:.2} CPUs: stopped when the share of {} ms is used up",
                quota.cpus(),
                quota.period_us / 1000
            ),
            "CPUs in place of a share: docker run --cpuset-cpus 2,3 (not --cpus); Kubernetes: the static CPU manager",
        ),
    })
}

/// So much time in each period.
struct Quota {
    quota_us: u64,
    period_us: u64,
}

impl Quota {
    fn new(quota: &str, period: &str) -> Option<Self> {
        let (quota_us, period_us) = (quota.parse().ok()?, period.parse().ok()?);
        (period_us > 0).then_some(Self { quota_us, period_us })
    }

    /// How many CPUs that is.
    #[expect(clippy::cast_precision_loss, reason = "two decimals are shown")]
    fn cpus(&self) -> f64 {
        self.quota_us as f64 / self.period_us as f64
    }
}

/// The CPUs of the control group.
pub(super) fn cpu_set(machine: &Machine) -> Read {
    let root = &machine.root;
    // The group's own comes first, and has nothing that those above it have not.
    for folder in Groups::of(root)?.folders("cpuset") {
        let files = match &folder {
            Folder::Version2(folder) => {
                [folder.clone() + "/cpuset.cpus.effective", folder.clone() + "/cpuset.cpus"]
            }
            Folder::Version1(folder) => {
                [folder.clone() + "/cpuset.effective_cpus", folder.clone() + "/cpuset.cpus"]
            }
        };
        for file in files {
            match root.text(&file) {
                Ok(text) if text.is_empty() => {}
                Ok(text) => {
                    let cpus = cpu_list::parse(&text).map_err(|_| Unseen::Garbage(text))?;
                    return Ok(Reading::good(show(&cpus)));
                }
                unseen => _ = absent::<()>(unseen)?,
            }
        }
    }
    Ok(Reading::good("all that there are"))
}

/// As much as a program with a few large rings needs.
const MEMORY_MIN: u64 = 1 << 30;

/// How much memory the program may use.
pub(super) fn memory_limit(machine: &Machine) -> Read {
    let root = &machine.root;
    let mut least = None::<u64>;
    for folder in Groups::of(root)?.folders("memory") {
        let file = match folder {
            Folder::Version2(folder) => folder + "/memory.max",
            Folder::Version1(folder) => folder + "/memory.limit_in_bytes",
        };
        let limit = match root.text(&file) {
            Ok(text) if text == "max" => None,
            // Version 1 writes the largest number of pages there can be.
            Ok(text) => match text.parse::<u64>() {
                Ok(bytes) => Some(bytes).filter(|&bytes| bytes < 1 << 60),
                Err(_) => return Err(Unseen::Garbage(text)),
            },
            unseen => absent(unseen)?,
        };
        least = least.into_iter().chain(limit).min();
    }
    Ok(match least {
        None => Reading::good("none"),
        Some(bytes) if bytes >= MEMORY_MIN => Reading::good(size(bytes)),
        Some(bytes) => {
            Reading::better(size(bytes), "docker run --memory 1g, or more (systemd: MemoryMax=1G)")
        }
    })
}

/// A file that is not there says nothing.
fn absent<T>(read: Result<String, Unseen>) -> Result<Option<T>, Unseen> {
    match read {
        Err(Unseen::NotHere) | Ok(_) => Ok(None),
        Err(unseen) => Err(unseen),
    }
}

/// The control groups of this program: lines such as `4:cpu,cpuacct:/a/b`, or `0::/a/b` for version 2.
struct Groups(Vec<(String, String)>);

/// Where files of a group are.
enum Folder {
    Version1(String),
    Version2(String),
}

impl Groups {
    fn of(root: &Root) -> Result<Self, Unseen> {
        let text = root.text("/proc/self/cgroup")?;
        let group = |line: &str| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (controllers, path) = (parts.next()?, parts.next()?);
            path.starts_with('/').then(|| (controllers.to_owned(), path.to_owned()))
        };
        let groups: Option<Vec<_>> = text.lines().map(group).collect();
        match groups {
            Some(groups) if !groups.is_empty() => Ok(Self(groups)),
            _ => Err(Unseen::Garbage(text)),
        }
    }

    /// The folders that may limit what `controller` controls: the group's, and the folders of all groups
    /// above it. In a container, the path may be one that only its host knows.
    fn folders(&self, controller: &str) -> Vec<Folder> {
        let mut folders = Vec::new();
        for (controllers, path) in &self.0 {
            let above = std::iter::successors(Some(path.as_str()), |path| Some(path.rsplit_once('/')?.0));
            let above = above.map(|path| path.trim_end_matches('/'));
            let mut above: Vec<_> = above.filter(|path| !path.contains("..")).collect();
            above.dedup();
            if controllers.is_empty() {
                for mount in ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"] {
                    folders.extend(above.iter().map(|path| Folder::Version2(format!("{mount}{path}"))));
                }
            } else if controllers.split(',').any(|there| there == controller) {
                for mount in [controllers, controller] {
                    let folder = |path: &&str| Folder::Version1(format!("/sys/fs/cgroup/{mount}{path}"));
                    folders.extend(above.iter().map(folder));
                }
            }
        }
        folders
    }
}

#[cfg(test)]
mod tests {
    use super::super::fake::Fake;
    use super::*;

    /// In the group `/a/b` of version 2.
    fn version_2() -> Fake {
        Fake::new().file("/proc/self/cgroup", "0::/a/b\n")
    }

    /// In the group `/a/b` of version 1, with everything.
    fn version_1() -> Fake {
        Fake::new().file("/proc/self/cgroup", "5:memory:/a/b\n4:cpuset:/a/b\n3:cpu,cpuacct:/a/b\n0::/\n")
    }

    #[test]
    fn container_leaves_marks() {
        assert_eq!(Fake::new().file("/.dockerenv", "").check(container), "good: Docker (/.dockerenv)");
        assert_eq!(Fake::new().file("/run/systemd/container", "lxc\n").check(container), "good: lxc");
        let pod = Fake::new().file("/proc/1/cgroup", "0::/kubepods/pod1\n");
        assert_eq!(pod.check(container), "good: kubepods");
        assert_eq!(version_2().check(container), "good: none seen");
        assert_eq!(Fake::new().check(container), "hidden: not to be seen on this system");
    }

    #[test]
    fn least_quota_on_the_way_up_counts() {
        assert_eq!(version_2().check(cpu_quota), "good: none");
        let all = version_2().file("/sys/fs/cgroup/a/b/cpu.max", "max 100000\n");
        assert_eq!(all.check(cpu_quota), "good: none");
        let above = all.file("/sys/fs/cgroup/a/cpu.max", "150000 100000\n");
        let said = above.check(cpu_quota);
        assert!(
            said.starts_with("could be better: 1.50 CPUs: stopped when the share of 100 ms is used up -> ")
        );
        let both = above.file("/sys/fs/cgroup/a/b/cpu.max", "50000 100000\n");
        assert!(both.check(cpu_quota).starts_with("could be better: 0.50 CPUs"));

        let one = version_1().file("/sys/fs/cgroup/cpu,cpuacct/a/b/cpu.cfs_quota_us", "-1");
        assert_eq!(one.check(cpu_quota), "good: none");
        let one = one
            .file("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000")
            .file("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000");
        assert!(one.check(cpu_quota).starts_with("could be better: 2.00 CPUs"));
    }

    #[test]
    fn cpus_are_those_of_the_group() {
        assert_eq!(version_2().check(cpu_set), "good: all that there are");
        let two = version_2().file("/sys/fs/cgroup/cpuset.cpus.effective", "0-7");
        assert_eq!(two.check(cpu_set), "good: 0-7");
        let two = two.file("/sys/fs/cgroup/a/b/cpuset.cpus.effective", "2,3");
        assert_eq!(two.check(cpu_set), "good: 2-3");
        let one = version_1().file("/sys/fs/cgroup/cpuset/a/b/cpuset.cpus", "1");
        assert_eq!(one.check(cpu_set), "good: 1");
        let odd = version_1().file("/sys/fs/cgroup/cpuset/a/b/cpuset.cpus", "one");
        assert_eq!(odd.check(cpu_set), "hidden: not to be understood: `one`");
    }

    #[test]
    fn memory_may_be_short() {
        assert_eq!(version_2().check(memory_limit), "good: none");
        let with = |text: &str| version_2().file("/sys/fs/cgroup/a/b/memory.max", text).check(memory_limit);
        assert_eq!(with("max"), "good: none");
        assert_eq!(with("2147483648"), "good: 2 GiB");
        assert!(with("536870912").starts_with("could be better: 512 MiB -> docker run --memory 1g"));
        assert_eq!(with("much"), "hidden: not to be understood: `much`");
        let with = |text: &str| {
            version_1().file("/sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", text).check(memory_limit)
        };
        assert_eq!(with("9223372036854771712"), "good: none");
        assert!(with("1048576").starts_with("could be better: 1 MiB -> "));
    }

    #[test]
    fn garbage_is_shown() {
        for check in [cpu_quota, cpu_set, memory_limit] {
            assert_eq!(Fake::new().check(check), "hidden: not to be seen on this system");
            let garbage = Fake::new().file("/proc/self/cgroup", "garbage");
            assert_eq!(garbage.check(check), "hidden: not to be understood: `garbage`");
        }
        for text in ["", "max", "1 2 3", "x 100000", "1 0"] {
            let said = version_2().file("/sys/fs/cgroup/cpu.max", text).check(cpu_quota);
            assert_eq!(said, format!("hidden: not to be understood: `{text}`"));
        }
    }

    #[test]
    fn path_stays_below_the_mount() {
        let fake = Fake::new().file("/proc/self/cgroup", "0::/../../etc\n");
        let groups = Groups::of(&fake.root()).unwrap();
        for folder in groups.folders("cpu") {
            let (Folder::Version1(path) | Folder::Version2(path)) = folder;
            assert!(!path.contains(".."), "{path}");
        }
        assert_eq!(fake.check(cpu_quota), "good: none");
    }
}
