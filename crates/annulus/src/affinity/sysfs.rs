//! What Linux says of its CPUs, in files below `/sys/devices/system`.

use alloc::collections::BTreeSet;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::cpu::{Cpu, Detail, Hidden};

const ROOT: &str = "/sys/devices/system";

/// What this system says of its CPUs, and what it hides. Where the calling thread may run, it says elsewhere.
pub(super) fn read(allowed: io::Result<Vec<usize>>, available: &[usize]) -> (Vec<Cpu>, Vec<Hidden>) {
    read_at(cfg!(target_os = "linux").then_some(Path::new(ROOT)), allowed, available)
}

/// The CPUs that the machine has, and those that are online. `None` if the system does not say.
pub(super) fn present_and_online() -> Option<(Vec<usize>, Vec<usize>)> {
    if cfg!(not(target_os = "linux")) {
        // Unreached: for systems other than Linux
        return None;
    }
    let files = Files { root: Path::new(ROOT), hidden: Vec::new() };
    Some((files.list("cpu/present").ok()?, files.list("cpu/online").ok()?))
}

/// As `read`, from the tree at `root`, if there is one.
pub(super) fn read_at(
    root: Option<&Path>,
    allowed: io::Result<Vec<usize>>,
    available: &[usize],
) -> (Vec<Cpu>, Vec<Hidden>) {
    let mut files = Files { root: root.unwrap_or(Path::new(ROOT)), hidden: Vec::new() };
    let allowed = files.keep(Detail::Allowed, None, allowed.map_err(|error| error.to_string()));
    let allowed = allowed.unwrap_or_default();
    if root.is_none() {
        for detail in ALL {
            files.hide(detail, None, "the library reads it on Linux only".into());
        }
    }
    let mut whole = |detail, file| root.and_then(|_| files.whole(detail, file));
    let present = whole(Detail::Present, "cpu/present");
    let online = whole(Detail::Online, "cpu/online");
    let isolated = whole(Detail::Isolated, "cpu/isolated");

    let mut numbers: BTreeSet<usize> = allowed.iter().chain(available).copied().collect();
    numbers.extend(present.iter().chain(&online).flatten());
    let in_list = |list: &Option<Vec<usize>>, number| list.as_ref().map(|list| list.contains(&number));
    let mut cpus = Vec::new();
    for number in numbers {
        let mut cpu = Cpu::unknown(number);
        cpu.is_allowed = allowed.contains(&number);
        cpu.is_available = available.contains(&number);
        cpu.is_online = in_list(&online, number);
        cpu.is_isolated = in_list(&isolated, number);
        // Of a CPU that is off the system says nothing, which is no secret.
        if root.is_some() && cpu.is_online != Some(false) {
            files.describe(&mut cpu);
        }
        cpus.push(cpu);
    }
    if root.is_some() {
        files.nodes(&mut cpus);
    }
    (cpus, files.hidden)
}

/// What can be hidden in these files.
const ALL: [Detail; 7] = [
    Detail::Present,
    Detail::Online,
    Detail::Isolated,
    Detail::Core,
    Detail::Cache,
    Detail::Package,
    Detail::Node,
];

/// The files, and what could not be read.
struct Files<'a> {
    root: &'a Path,
    hidden: Vec<Hidden>,
}

impl Files<'_> {
    /// What the files of this CPU say.
    fn describe(&mut self, cpu: &mut Cpu) {
        let folder = format!("cpu/cpu{}", cpu.number);
        // The first is the name that newer systems have.
        let threads = self
            .list_with(&format!("{folder}/topology/core_cpus_list"), cpu.number)
            .or_else(|_| self.list_with(&format!("{folder}/topology/thread_siblings_list"), cpu.number));
        cpu.same_core = self.keep(Detail::Core, Some(cpu.number), threads);
        let caches = self.caches(&folder, cpu.number);
        if let Some(caches) = self.keep(Detail::Cache, Some(cpu.number), caches) {
            let of_level = |level| caches.iter().find(|cache| cache.level == level);
            cpu.same_l2 = of_level(2).map(|cache| cache.cpus.clone());
            let last = caches.into_iter().max_by_key(|cache| cache.level);
            cpu.same_cache = last.map(|cache| cache.cpus);
        }
        let package = self.number(&format!("{folder}/topology/physical_package_id"));
        cpu.package = self.keep(Detail::Package, Some(cpu.number), package);
        cpu.capacity = self.number(&format!("{folder}/cpu_capacity")).ok();
    }

    /// The caches for data of this CPU: at least one.
    fn caches(&self, folder: &str, number: usize) -> Result<Vec<Cache>, String> {
        let mut caches = Vec::new();
        for index in 0.. {
            let folder = format!("{folder}/cache/index{index}");
            if index > 0 && !self.path(&folder).exists() {
                break;
            }
            if self.text(&format!("{folder}/type"))? != "Instruction" {
                let level = self.number(&format!("{folder}/level"))?;
                let cpus = self.list_with(&format!("{folder}/shared_cpu_list"), number)?;
                caches.push(Cache { level, cpus });
            }
        }
        Ok(caches)
    }

    /// Sets the node of each CPU.
    fn nodes(&mut self, cpus: &mut [Cpu]) {
        let Some(nodes) = self.whole(Detail::Node, "node/online") else { return };
        for node in nodes {
            let list = self.list(&format!("node/node{node}/cpulist"));
            for number in self.keep(Detail::Node, None, list).unwrap_or_default() {
                if let Ok(index) = cpus.binary_search_by_key(&number, |cpu| cpu.number) {
                    cpus[index].node = Some(node);
                }
            }
        }
    }

    /// The list in a file that is about all CPUs.
    fn whole(&mut self, detail: Detail, file: &str) -> Option<Vec<usize>> {
        let list = self.list(file);
        self.keep(detail, None, list)
    }

    /// The value, or a note that it is hidden.
    fn keep<T>(&mut self, detail: Detail, cpu: Option<usize>, value: Result<T, String>) -> Option<T> {
        match value {
            Ok(value) => Some(value),
            Err(reason) => {
                self.hide(detail, cpu, reason);
                None
            }
        }
    }

    /// One note for each detail.
    fn hide(&mut self, detail: Detail, cpu: Option<usize>, reason: String) {
        match self.hidden.iter_mut().find(|hidden| hidden.detail == detail) {
            Some(hidden) => hidden.cpus.extend(cpu),
            None => self.hidden.push(Hidden { detail, cpus: cpu.into_iter().collect(), reason }),
        }
    }

    fn path(&self, file: &str) -> PathBuf {
        self.root.join(file)
    }

    /// What the file says, without the line's end.
    fn text(&self, file: &str) -> Result<String, String> {
        let path = self.path(file);
        match fs::read_to_string(&path) {
            Ok(text) => Ok(text.trim().to_string()),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    fn number(&self, file: &str) -> Result<usize, String> {
        let text = self.text(file)?;
        text.parse().map_err(|_| self.garbage(file, &text))
    }

    fn list(&self, file: &str) -> Result<Vec<usize>, String> {
        let text = self.text(file)?;
        parse_list(&text).ok_or_else(|| self.garbage(file, &text))
    }

    /// A list of CPUs that has this one.
    fn list_with(&self, file: &str, number: usize) -> Result<Vec<usize>, String> {
        let list = self.list(file)?;
        if list.contains(&number) { Ok(list) } else { Err(self.garbage(file, &format!("{list:?}"))) }
    }

    fn garbage(&self, file: &str, text: &str) -> String {
        format!("{}: it says {text:?}", self.path(file).display())
    }
}

/// A cache of a CPU.
struct Cache {
    level: usize,
    /// The CPUs that share it.
    cpus: Vec<usize>,
}

/// The highest number in a list that is believed. (Linux can be built for 8192 CPUs.)
const HIGHEST: usize = 1 << 16;

/// `0-3,8` is 0, 1, 2, 3 and 8; nothing is no CPU. `None` if it is no such list.
fn parse_list(text: &str) -> Option<Vec<usize>> {
    let mut numbers = BTreeSet::new();
    for part in text.split(',').filter(|_| !text.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        if first > last || last > HIGHEST {
            return None;
        }
        numbers.extend(first..=last);
    }
    Some(numbers.into_iter().collect())
}

#[cfg(all(test, not(any(miri, annulus_loom))))]
mod tests {
    use alloc::vec;
    use std::sync::LazyLock;

    use proptest::prelude::*;

    use super::*;
    use crate::affinity::{Spread, SpreadError, Topology};

    fn read_topology(root: Option<&Path>, allowed: io::Result<Vec<usize>>, available: &[usize]) -> Topology {
        let (cpus, hidden) = read_at(root, allowed, available);
        Topology { cpus, hidden }
    }

    /// A tree of files that is made up.
    struct Tree(PathBuf);

    impl Tree {
        /// A machine with these CPUs, on which all else is as usual.
        fn new(name: &str, present: &str) -> Self {
            static PROCESS: LazyLock<String> = LazyLock::new(|| std::process::id().to_string());
            let root = std::env::temp_dir().join(format!("annulus-{}-{name}", *PROCESS));
            let tree = Self(root);
            for (file, text) in [("present", present), ("online", present), ("isolated", "")] {
                tree.file(&format!("cpu/{file}"), text);
            }
            tree
        }

        fn file(&self, file: &str, text: &str) {
            let path = self.0.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, format!("{text}\n")).unwrap();
        }

        fn remove(&self, path: &str) {
            fs::remove_dir_all(self.0.join(path)).unwrap();
        }

        /// The files of a CPU, with the lists of those that share its core, its L2 and its L3.
        fn cpu(&self, number: usize, package: &str, [core, l2, l3]: [&str; 3]) {
            let folder = format!("cpu/cpu{number}");
            self.file(&format!("{folder}/topology/core_cpus_list"), core);
            self.file(&format!("{folder}/topology/physical_package_id"), package);
            let caches =
                [("1", "Data", core), ("1", "Instruction", core), ("2", "Unified", l2), ("3", "Unified", l3)];
            for (index, (level, kind, list)) in caches.into_iter().enumerate() {
                for (file, text) in [("level", level), ("type", kind), ("shared_cpu_list", list)] {
                    self.file(&format!("{folder}/cache/index{index}/{file}"), text);
                }
            }
        }

        fn nodes(&self, nodes: &[&str]) {
            self.file("node/online", &format!("0-{}", nodes.len() - 1));
            for (node, list) in nodes.iter().enumerate() {
                self.file(&format!("node/node{node}/cpulist"), list);
            }
        }

        fn read(&self, allowed: &[usize]) -> Topology {
            read_topology(Some(&self.0), Ok(allowed.to_vec()), allowed)
        }
    }

    impl Drop for Tree {
        fn drop(&mut self) {
            _ = fs::remove_dir_all(&self.0);
        }
    }

    /// Two packages of four cores, each of two hardware threads: CPU n and n + 8. A package is a node.
    fn two_packages(name: &str) -> Tree {
        let tree = Tree::new(name, "0-15");
        for cpu in 0..16 {
            let core = format!("{},{}", cpu % 8, cpu % 8 + 8);
            let (package, l3) = if cpu % 8 < 4 { ("0", "0-3,8-11") } else { ("1", "4-7,12-15") };
            tree.cpu(cpu, package, [&core, &core, l3]);
        }
        tree.nodes(&["0-3,8-11", "4-7,12-15"]);
        tree
    }

    const ALL_16: [usize; 16] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

    #[test]
    fn tree_may_be_elsewhere() {
        let tree = two_packages("elsewhere");
        let topology = Topology::read_at(&tree.0);
        let packages = [0, 3, 7, 15].map(|cpu| topology.cpu(cpu).unwrap().package);
        assert_eq!(packages, [0, 0, 1, 1].map(Some));
    }

    #[test]
    fn two_packages_with_hardware_threads() {
        let topology = two_packages("two").read(&ALL_16);
        assert_eq!(topology.hidden(), []);
        assert_eq!(topology.cpus().len(), 16);
        let cpu = topology.cpu(13).unwrap();
        let of_package = vec![4, 5, 6, 7, 12, 13, 14, 15];
        let expected = Cpu {
            is_allowed: true,
            is_available: true,
            is_online: Some(true),
            is_isolated: Some(false),
            same_core: Some(vec![5, 13]),
            same_l2: Some(vec![5, 13]),
            same_cache: Some(of_package),
            package: Some(1),
            node: Some(1),
            ..Cpu::unknown(13)
        };
        assert_eq!(*cpu, expected);
        assert_eq!(topology.cpu(16), None);
        assert_eq!(topology.spread(4, Spread::Near), Ok(vec![4, 5, 6, 7]));
        assert_eq!(topology.spread(2, Spread::Far), Ok(vec![1, 4]));
    }

    /// Two cores of two hardware threads, and four slower ones of one, which share a level 2 cache.
    #[test]
    fn hybrid_machine() {
        let tree = Tree::new("hybrid", "0-7");
        for cpu in 0..8 {
            let fast = if cpu < 2 { "0-1" } else { "2-3" };
            let (slow, is_fast) = (cpu.to_string(), cpu < 4);
            let (core, l2) = if is_fast { (fast, fast) } else { (&*slow, "4-7") };
            tree.cpu(cpu, "0", [core, l2, "0-7"]);
            tree.file(&format!("cpu/cpu{cpu}/cpu_capacity"), if is_fast { "1024" } else { "640" });
        }
        tree.nodes(&["0-7"]);
        let topology = tree.read(&[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(topology.hidden(), []);
        let cpu = topology.cpu(6).unwrap();
        assert_eq!((cpu.capacity, &cpu.same_core), (Some(640), &Some(vec![6])));
        assert_eq!(cpu.same_l2, Some(vec![4, 5, 6, 7]));
        // The fast cores first, whatever is near what; then cores, and no second hardware thread.
        assert_eq!(topology.spread(2, Spread::Near), Ok(vec![0, 2]));
        assert_eq!(topology.spread(4, Spread::Near), Ok(vec![0, 2, 4, 5]));
        assert_eq!(topology.spread(7, Spread::Far), Ok(vec![0, 2, 4, 5, 6, 7, 3]));
    }

    #[test]
    fn cpus_that_are_off_are_not_hidden() {
        let tree = Tree::new("offline", "0-3");
        tree.file("cpu/online", "0,2-3");
        for cpu in [0, 2, 3] {
            tree.cpu(cpu, "0", [&cpu.to_string(), &cpu.to_string(), "0,2-3"]);
        }
        tree.nodes(&["0,2-3"]);
        let topology = tree.read(&[0, 2, 3]);
        assert_eq!(topology.hidden(), []);
        let off = Cpu { is_online: Some(false), is_isolated: Some(false), ..Cpu::unknown(1) };
        assert_eq!(topology.cpu(1), Some(&off));
        assert_eq!(topology.spread(3, Spread::Near), Ok(vec![0, 2, 3]));
        let error = SpreadError::TooMany { asked: 4, cpus: vec![0, 2, 3] };
        assert_eq!(topology.spread(4, Spread::Near), Err(error));
    }

    #[test]
    fn isolated_cpus_are_somebodys() {
        let tree = two_packages("isolated");
        tree.file("cpu/isolated", "2-3,6-7,10-11");
        // As the system begins a program: not on them. It could be pinned there.
        let mine = [0, 1, 4, 5, 8, 9, 12, 13, 14, 15];
        let topology = read_topology(Some(&tree.0), Ok(mine.to_vec()), &ALL_16);
        let cpu = topology.cpu(6).unwrap();
        assert_eq!((cpu.is_allowed, cpu.is_available, cpu.is_isolated), (false, true, Some(true)));
        // (14 is the other thread of core 6.)
        assert_eq!(topology.spread(4, Spread::Near), Ok(vec![4, 5, 14, 15]));
        let isolated = |cpu: &Cpu| cpu.is_available && cpu.is_isolated == Some(true);
        assert_eq!(topology.spread_where(2, Spread::Near, isolated), Ok(vec![2, 3]));
        // As `taskset` gives them to it: better than those that are nearer to each other.
        let topology = read_topology(Some(&tree.0), Ok(ALL_16.to_vec()), &ALL_16);
        assert_eq!(topology.spread(3, Spread::Near), Ok(vec![2, 3, 6]));
        assert_eq!(topology.spread(5, Spread::Near), Ok(vec![1, 2, 3, 6, 7]));
    }

    /// The machine is shown as a whole, and few of its CPUs may be used.
    #[test]
    fn container_with_few_cpus() {
        let topology = two_packages("container").read(&[5, 6, 13]);
        assert_eq!((topology.hidden(), topology.cpus().len()), (&[][..], 16));
        assert_eq!(topology.spread(2, Spread::Near), Ok(vec![5, 6]));
        assert_eq!(topology.spread(3, Spread::Far), Ok(vec![5, 6, 13]));
        let error = topology.spread(4, Spread::Near).unwrap_err();
        assert_eq!(error, SpreadError::TooMany { asked: 4, cpus: vec![5, 6, 13] });
        assert_eq!(error.to_string(), "there are no 4 CPUs to choose from, but 3: [5, 6, 13]");
    }

    #[test]
    fn topology_without_the_files_is_hidden_and_says_so() {
        let nowhere = PathBuf::from("/annulus/there/is/none");
        for root in [Some(&*nowhere), None] {
            let topology = read_topology(root, Ok(vec![2, 5]), &[2, 5]);
            let numbers: Vec<_> = topology.cpus().iter().map(|cpu| cpu.number).collect();
            assert_eq!(numbers, [2, 5]);
            let expected = Cpu { is_allowed: true, is_available: true, ..Cpu::unknown(5) };
            assert_eq!(topology.cpu(5), Some(&expected));
            let mut hidden: Vec<_> = topology.hidden().iter().map(|hidden| hidden.detail).collect();
            hidden.sort_by_key(|&detail| ALL.iter().position(|&of_all| of_all == detail));
            assert_eq!(hidden, ALL);
            let texts: Vec<_> = topology.hidden().iter().map(ToString::to_string).collect();
            let why = if root.is_some() { "/annulus/there/is/none/cpu/" } else { "Linux" };
            assert!(texts.iter().filter(|text| text.contains(why)).count() >= 6, "{texts:?}");
            let error = topology.spread(1, Spread::Near).unwrap_err();
            assert_eq!(error, SpreadError::Hidden { asked: 1, known: vec![], hidden: vec![2, 5] });
            assert_eq!(topology.spread(0, Spread::Near), Ok(vec![]));
            // There are no three, whatever they share.
            let error = SpreadError::TooMany { asked: 3, cpus: vec![2, 5] };
            assert_eq!(topology.spread(3, Spread::Near), Err(error));
        }
    }

    #[test]
    fn unknown_allowed_cpus_are_an_error() {
        let tree = two_packages("unknown");
        let unsupported = || Err(io::ErrorKind::Unsupported.into());
        for root in [Some(&*tree.0), None] {
            let topology = read_topology(root, unsupported(), &[]);
            assert_eq!(topology.hidden()[0].detail, Detail::Allowed);
            assert_eq!(topology.spread(1, Spread::Near), Err(SpreadError::Unknown));
        }
    }

    /// What is garbage is hidden, of that CPU only, and the reason has the file and what it says.
    #[test]
    fn garbage_in_files() {
        let tree = two_packages("garbage");
        for (file, garbage) in [
            ("cpu/isolated", "3-1"),
            ("cpu/cpu0/topology/core_cpus_list", "0-"),
            ("cpu/cpu1/topology/core_cpus_list", "2,3"),
            ("cpu/cpu2/topology/core_cpus_list", "0-99999999999999"),
            ("cpu/cpu3/topology/core_cpus_list", "\u{1}é"),
            ("cpu/cpu4/topology/core_cpus_list", ""),
            ("cpu/cpu1/topology/physical_package_id", "-1"),
            ("cpu/cpu1/cache/index2/level", "two"),
            ("cpu/cpu2/cache/index0/type", "Instruction"),
            ("cpu/cpu3/cache/index3/shared_cpu_list", "3,,4"),
            ("cpu/cpu3/cpu_capacity", "much"),
            ("node/node1/cpulist", "4-7,x"),
        ] {
            tree.file(file, garbage);
        }
        // Bytes that are no text.
        fs::write(tree.0.join("cpu/cpu5/topology/core_cpus_list"), [0xFF, 0xFE]).unwrap();
        tree.remove("cpu/cpu6/cache");
        tree.remove("cpu/cpu7");
        let topology = tree.read(&ALL_16);
        let cpus_of = |detail| {
            let mut hidden = topology.hidden().iter().filter(|hidden| hidden.detail == detail);
            let cpus = hidden.next().map(|hidden| hidden.cpus.clone());
            assert!(hidden.next().is_none());
            cpus
        };
        assert_eq!(cpus_of(Detail::Core), Some(vec![0, 1, 2, 3, 4, 5, 7]));
        assert_eq!(cpus_of(Detail::Package), Some(vec![1, 7]));
        assert_eq!(cpus_of(Detail::Cache), Some(vec![1, 3, 6, 7]));
        assert_eq!((cpus_of(Detail::Isolated), cpus_of(Detail::Node)), (Some(vec![]), Some(vec![])));
        assert_eq!((cpus_of(Detail::Present), cpus_of(Detail::Online)), (None, None));
        let texts: Vec<_> = topology.hidden().iter().map(ToString::to_string).collect();
        for part in [
            "which CPUs are isolated is hidden: ",
            "which CPUs share a core (of [0, 1, 2, 3, 4, 5, 7]) is hidden: ",
            "/cpu/isolated: it says \"3-1\"",
            "/cpu/cpu0/topology/thread_siblings_list: ",
            "/cpu/cpu1/cache/index2/level: it says \"two\"",
            "/node/node1/cpulist: it says \"4-7,x\"",
        ] {
            assert!(texts.iter().any(|text| text.contains(part)), "{part} is not in {texts:#?}");
        }
        assert_eq!((topology.cpu(3).unwrap().capacity, topology.cpu(3).unwrap().node), (None, Some(0)));
        // Those that are known are chosen from.
        assert_eq!(topology.spread(2, Spread::Near), Ok(vec![9, 10]));
        let error = topology.spread(10, Spread::Near).unwrap_err();
        let SpreadError::Hidden { asked: 10, known, hidden } = &error else { panic!("{error}") };
        assert_eq!((known.len(), &hidden[..]), (9, &[0, 1, 2, 3, 4, 5, 7][..]));
        assert!(error.to_string().contains("[0, 1, 2, 3, 4, 5, 7]"), "{error}");
    }

    /// As systems named it before.
    #[test]
    fn older_names() {
        let tree = two_packages("older");
        let topology = tree.0.join("cpu/cpu3/topology");
        fs::rename(topology.join("core_cpus_list"), topology.join("thread_siblings_list")).unwrap();
        let topology = tree.read(&ALL_16);
        assert_eq!(
            (topology.hidden(), topology.cpu(3).unwrap().same_core.clone()),
            (&[][..], Some(vec![3, 11]))
        );
    }

    proptest! {
        /// Any list comes back, in the system's form.
        #[test]
        fn lists_come_back(numbers: BTreeSet<u8>) {
            let mut parts = Vec::new();
            let mut rest = numbers.iter().copied().peekable();
            while let Some(first) = rest.next() {
                let mut last = first;
                while rest.next_if(|&next| next == last + 1).is_some() {
                    last += 1;
                }
                parts.push(if first == last { first.to_string() } else { format!("{first}-{last}") });
            }
            let text = parts.join(",");
            let numbers: Vec<usize> = numbers.into_iter().map(usize::from).collect();
            prop_assert_eq!(parse_list(&text), Some(numbers));
        }

        /// No text makes it panic, or take memory without end.
        #[test]
        fn no_text_is_too_strange(text in "[0-9,-]{0,12}|.{0,12}") {
            if let Some(list) = parse_list(&text) {
                prop_assert!(list.windows(2).all(|pair| pair[0] < pair[1]));
                prop_assert!(list.last().is_none_or(|&last| last <= HIGHEST));
            }
        }
    }
}
