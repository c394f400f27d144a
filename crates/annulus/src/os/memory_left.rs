//! How much memory the system can still give to this process (Linux).
//!
//! The kernel does not refuse memory that it has not got: it ends a process. So does a control group that
//! has a limit (a container's, for example). Both are asked here before memory is taken.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// How many bytes the system, and the control groups of this process, can still give away; `None` if none of
/// them says.
pub(super) fn available() -> Option<u64> {
    let groups = fs::read("/proc/thread-self/cgroup").ok();
    let groups = groups.and_then(|groups| left_in_groups(Path::new("/sys/fs/cgroup"), &groups));
    left_in_system().into_iter().chain(groups).min()
}

fn left_in_system() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    field(&info, "MemAvailable:")?.checked_mul(1024)
}

/// The number behind a name, at the beginning of a line.
fn field(text: &str, name: &str) -> Option<u64> {
    let mut lines = text.lines().map(str::split_whitespace);
    lines.find_map(|mut words| (words.next() == Some(name)).then(|| words.next()?.parse().ok())?)
}

/// The least that is left in one of the groups which `/proc/thread-self/cgroup` names, and in those that they
/// are in. (The name of a group may be no text.)
fn left_in_groups(root: &Path, groups: &[u8]) -> Option<u64> {
    let left = groups.split(|&byte| byte == b'\n').filter_map(|line| {
        let mut parts = line.splitn(3, |&byte| byte == b':').skip(1);
        let controllers = parts.next()?;
        let path = Path::new(OsStr::from_bytes(parts.next()?.strip_prefix(b"/")?));
        match controllers {
            b"" => left_on_the_way(root, path, Version::Two),
            _ if controllers.split(|&byte| byte == b',').any(|name| name == b"memory") => {
                left_on_the_way(&root.join("memory"), path, Version::One)
            }
            _ => None,
        }
    });
    left.min()
}

/// Which files a group has.
#[derive(Clone, Copy)]
enum Version {
    One,
    Two,
}

/// The least that is left in the group of that path, and in those above it. (In a container the path may be
/// one that is not there; the group at the root is its own.)
fn left_on_the_way(root: &Path, path: &Path, version: Version) -> Option<u64> {
    path.ancestors().filter_map(|group| left_in_group(&root.join(group), version)).min()
}

/// The limit of a group, without what its processes use and can't be taken back from them.
fn left_in_group(group: &Path, version: Version) -> Option<u64> {
    let read = |name: &str| fs::read_to_string(group.join(name)).ok();
    let number = |name: &str| read(name)?.trim().parse::<u64>().ok();
    let ([limit, used], prefix, dirty) = match version {
        Version::One => {
            (["memory.limit_in_bytes", "memory.usage_in_bytes"], "total_", ["dirty", "writeback"])
        }
        Version::Two => (["memory.max", "memory.current"], "", ["file_dirty", "file_writeback"]),
    };
    // Without a limit it says `max`, or a number larger than any memory.
    let (limit, used) = (number(limit)?, number(used)?);
    // The kernel drops pages of files before it ends a process, those that were used lately, too; but for
    // those that it has to write first. (Shared memory is not among them: its pages can't be dropped.) So it
    // does with what it has noted of files, which only the second version counts.
    let stat = read("memory.stat").unwrap_or_default();
    let sum = |names: &[&str]| -> u64 {
        names.iter().filter_map(|name| field(&stat, &std::format!("{prefix}{name}"))).sum()
    };
    let cached = sum(&["inactive_file", "active_file"]).saturating_sub(sum(&dirty));
    Some(limit.saturating_sub(used.saturating_sub(cached + sum(&["slab_reclaimable"]))))
}

#[cfg(all(test, not(miri)))]
mod tests {
    use super::*;
    use std::path::PathBuf;
    use std::string::ToString;

    /// A folder with these files in it.
    fn folder(name: &str, files: &[(&str, &str)]) -> PathBuf {
        let root = std::env::temp_dir().join(std::format!("annulus-groups-{}-{name}", std::process::id()));
        for (path, text) in files {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn field_is_a_whole_name() {
        let text = "MemTotal: 7 kB\nMemAvailable:  12 kB\nrest";
        assert_eq!(field(text, "MemAvailable:"), Some(12));
        assert_eq!(field(text, "Mem"), None);
        assert_eq!(field(text, "rest"), None);
    }

    #[test]
    fn smallest_group_on_the_way_decides() {
        let root = folder(
            "two",
            &[
                ("memory.max", "max\n"),
                ("memory.current", "500\n"),
                ("a/memory.max", "1000\n"),
                ("a/memory.current", "900\n"),
                ("a/memory.stat", "anon 800\ninactive_file 50\n"),
                ("a/b/memory.max", "400\n"),
                ("a/b/memory.current", "100\n"),
            ],
        );
        let left = |groups: &str| left_in_groups(&root, groups.as_bytes());
        assert_eq!(left("0::/\n"), None, "no limit");
        assert_eq!(left("0::/a\n"), Some(150));
        assert_eq!(left("0::/a/b\n"), Some(150));
        assert_eq!(left("0::/a/gone\n"), Some(150));
        assert_eq!(left("3:cpu:/a\nnonsense\n"), None);
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn group_name_may_be_no_text() {
        let root = folder("name", &[("unused", "")]);
        let group = root.join(OsStr::from_bytes(b"\xff:a"));
        fs::create_dir(&group).unwrap();
        fs::write(group.join("memory.max"), "300").unwrap();
        fs::write(group.join("memory.current"), "100").unwrap();
        assert_eq!(left_in_groups(&root, b"1:cpu:/b\n0::/\xff:a\n"), Some(200));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn group_of_a_container_is_at_the_root() {
        let files = [("memory/memory.limit_in_bytes", "1000"), ("memory/memory.usage_in_bytes", "1200")];
        let root = folder("one", &files);
        let left = |groups: &str| left_in_groups(&root, groups.as_bytes());
        assert_eq!(left("4:cpu,memory:/docker/abc\n0::/docker/abc\n"), Some(0));
        let stat = [("memory/memory.stat", "inactive_file 7\ntotal_inactive_file 700\n")];
        folder("one", &stat);
        assert_eq!(left("4:memory:/docker/abc\n"), Some(500));
        fs::remove_dir_all(root).unwrap();
    }

    /// 256 MiB, of which 200 are of files that were used lately.
    #[test]
    fn pages_of_files_are_left_but_for_those_to_be_written() {
        const MEBI: u64 = 1 << 20;
        let two = |name, value: u64| std::format!("{name} {}\n", value * MEBI);
        let stat =
            [two("anon", 10), two("shmem", 30), two("inactive_file", 5), two("active_file", 200)].concat();
        let root = folder(
            "files",
            &[
                ("memory.max", &(256 * MEBI).to_string()),
                ("memory.current", &(245 * MEBI).to_string()),
                ("memory.stat", &stat),
                ("memory/memory.limit_in_bytes", &(256 * MEBI).to_string()),
                ("memory/memory.usage_in_bytes", &(245 * MEBI).to_string()),
                (
                    "memory/memory.stat",
                    &stat.replace("inactive", "total_inactive").replace("\nactive", "\ntotal_active"),
                ),
            ],
        );
        let left = |groups: &str| left_in_groups(&root, groups.as_bytes()).unwrap() / MEBI;
        assert_eq!([left("0::/\n"), left("4:memory:/\n")], [216; 2]);
        let dirty = [two("file_dirty", 40), two("file_writeback", 10)].concat();
        folder("files", &[("memory.stat", &(stat.clone() + &dirty))]);
        assert_eq!(left("0::/\n"), 166);
        folder("files", &[("memory.stat", &(stat.clone() + &two("file_dirty", 300)))]);
        assert_eq!(left("0::/\n"), 11, "no less than without these pages");
        folder("files", &[("memory.stat", &(stat + &two("slab_reclaimable", 20) + &two("slab", 22)))]);
        assert_eq!(left("0::/\n"), 236, "nor is what the kernel has noted of files");
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn memory_is_left_on_this_system() {
        assert!(available().is_some_and(|left| left > 0));
        assert!(available() <= left_in_system().map(|left| left + (64 << 20)), "no more than the system has");
    }
}
