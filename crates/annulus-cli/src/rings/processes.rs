//! [`Processes`]: which processes have a ring's memory, and which have which seats, as `/proc` says.
//!
//! A process that has a ring has its two files in memory open, so there are links in `/proc/PID/fd`. What
//! `/proc/PID/fdinfo` says of them tells a reader from a program that only looks: a reader can write to the
//! second file, where it sleeps. The locks are there, too: the process of seat n has the lock of byte n of
//! that file. And the position of an opening of the first file is where a lossy subscriber stands that says
//! so. Nothing is asked of the processes themselves. (Other users' processes can't be seen.) Where the first
//! thread has ended before its process, another one's folder, `/proc/PID/task/TID`, has all of that.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use super::sample::Process;
use crate::text::printable;

const PROC: &str = "/proc";
/// How a link to the library's files in memory begins.
const LINK: &str = "/memfd:annulus ";
/// No more of a command is kept, in characters.
const COMMAND_CHARS: usize = 200;

/// Which processes can write to which files in memory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Processes {
    /// By the number of the file, then by the number of the process: the bytes whose locks it has.
    files: HashMap<u64, BTreeMap<u32, Vec<RangeInclusive<u64>>>>,
    /// By both numbers: the positions of those openings that have one, and can only be read from.
    positions: HashMap<(u64, u32), Vec<u64>>,
}

impl Processes {
    /// All that can be seen now.
    pub(crate) fn now() -> Self {
        Self::look(Path::new(PROC))
    }

    /// All that can be seen below `proc`.
    fn look(proc: &Path) -> Self {
        let mut processes = Self::default();
        for (pid, process) in numbered(proc) {
            let Some(folder) = shown_by_a_thread(process) else { continue };
            for (fd, link) in numbered(&folder.join("fd")) {
                let is_ours = fs::read_link(&link).is_ok_and(|to| to.to_string_lossy().starts_with(LINK));
                if !is_ours {
                    continue;
                }
                // (It may have been closed meanwhile.)
                let Ok(info) = fs::read_to_string(folder.join("fdinfo").join(fd.to_string())) else {
                    continue;
                };
                let Some(number) = file_number(&info) else { continue };
                if !is_writable(&info) {
                    let position = position(&info).filter(|&position| position > 0);
                    if let Some(position) = position {
                        processes.positions.entry((number, pid)).or_default().push(position);
                    }
                    continue;
                }
                let locks = processes.files.entry(number).or_default().entry(pid).or_default();
                locks.extend(info.lines().filter_map(locked));
            }
        }
        processes
    }

    /// The processes that can write to the file.
    pub(crate) fn writers(&self, file: u64) -> Vec<u32> {
        self.files.get(&file).map(|of| of.keys().copied().collect()).unwrap_or_default()
    }

    /// How many messages the subscribers of that process are past that say so, in the ring with that file.
    /// (A position is one more.)
    pub(crate) fn positions(&self, ring: u64, pid: u32) -> Vec<u64> {
        let positions = self.positions.get(&(ring, pid)).into_iter().flatten();
        positions.map(|position| position - 1).collect()
    }

    /// The process that has the lock of that byte of the file.
    pub(crate) fn with_lock(&self, file: u64, byte: u64) -> Option<u32> {
        let mut of = self.files.get(&file)?.iter();
        of.find_map(|(pid, locks)| locks.iter().any(|bytes| bytes.contains(&byte)).then_some(*pid))
    }
}

/// What is known of a process of that number.
pub(super) fn process(pid: u32) -> Process {
    process_below(Path::new(PROC), pid)
}

fn process_below(proc: &Path, pid: u32) -> Process {
    // A zombie has no arguments any more.
    let arguments = fs::read(proc.join(pid.to_string()).join("cmdline")).ok();
    let command = arguments.filter(|bytes| !bytes.is_empty()).map(|bytes| command(&bytes));
    Process { pid: Some(pid), command: command.or_else(|| own_name_below(proc, pid)) }
}

/// What a process calls itself.
pub(super) fn own_name(pid: u32) -> Option<String> {
    own_name_below(Path::new(PROC), pid)
}

fn own_name_below(proc: &Path, pid: u32) -> Option<String> {
    // (It may be no text.)
    let name = fs::read(proc.join(pid.to_string()).join("comm")).ok()?;
    Some(printable(String::from_utf8_lossy(&name).trim_end()))
}

/// The arguments as one line, without the folder of the program.
fn command(cmdline: &[u8]) -> String {
    let text = String::from_utf8_lossy(cmdline);
    let mut arguments = text.trim_end_matches('\0').split('\0');
    let program = arguments.next().unwrap_or_default();
    let program = program.rsplit('/').next().unwrap_or(program);
    let line = [program].into_iter().chain(arguments).collect::<Vec<_>>().join(" ");
    printable(&line.chars().take(COMMAND_CHARS).collect::<String>())
}

/// What is in a folder under a number.
fn numbered(folder: &Path) -> impl Iterator<Item = (u32, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path())))
}

/// The folder that shows what a process has open: its own, which is its first thread's, or, where that has
/// ended before the process (by `pthread_exit` in `main`), the one of a thread that is there.
fn shown_by_a_thread(process: PathBuf) -> Option<PathBuf> {
    let shows_some = |folder: &PathBuf| numbered(&folder.join("fd")).next().is_some();
    if shows_some(&process) {
        return Some(process);
    }
    numbered(&process.join("task")).map(|(_, thread)| thread).find(shows_some)
}

/// Where it stands, by `lseek`.
fn position(info: &str) -> Option<u64> {
    info.lines().find_map(|line| line.strip_prefix("pos:")?.trim().parse().ok())
}

/// Which file it is.
fn file_number(info: &str) -> Option<u64> {
    info.lines().find_map(|line| line.strip_prefix("ino:")?.trim().parse().ok())
}

/// Whether it was opened to be written to: the last digit of its flags, in octal, says so.
fn is_writable(info: &str) -> bool {
    info.lines().any(|line| line.starts_with("flags:") && line.ends_with(['1', '2']))
}

/// The bytes of a lock for one opening, if a line says that there is one: `lock:`, its number, its kind, two
/// words, a process, the file, the first and the last byte.
fn locked(line: &str) -> Option<RangeInclusive<u64>> {
    let words: Vec<_> = line.strip_prefix("lock:")?.split_whitespace().collect();
    let &[_, "OFDLCK", _, "WRITE", .., first, last] = words.as_slice() else { return None };
    let last = if last == "EOF" { u64::MAX } else { last.parse().ok()? };
    Some(first.parse().ok()?..=last)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A folder that looks like `/proc`.
    struct Proc(PathBuf);

    impl Proc {
        fn new(test: &str) -> Self {
            let path = std::env::temp_dir().join(format!("annulus-top-{test}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }

        fn file(&self, pid: &str, fd: u32, link: &str, info: &str) {
            let folder = self.0.join(pid);
            for name in ["fd", "fdinfo"] {
                fs::create_dir_all(folder.join(name)).unwrap();
            }
            symlink(link, folder.join(format!("fd/{fd}"))).unwrap();
            fs::write(folder.join(format!("fdinfo/{fd}")), info).unwrap();
        }
    }

    impl Drop for Proc {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn process_with_a_file_and_a_lock_is_found() {
        let proc = Proc::new("processes");
        let info = |number: u64, access: u8, locks: &str| {
            format!("pos:\t{}\nflags:\t0210000{access}\nmnt_id:\t0\nino:\t{number}\n{locks}", number * 10)
        };
        let lock = |byte: u64| format!("lock:\t1: OFDLCK ADVISORY  WRITE -1 00:01:9 {byte} {byte}\n");
        let (ring, page) = ("/memfd:annulus broadcast (deleted)", "/memfd:annulus sleepers (deleted)");
        proc.file("70", 3, ring, &info(8, 0, ""));
        proc.file("70", 4, page, &info(9, 2, &(lock(0) + &lock(5))));
        proc.file("71", 3, ring, &info(8, 0, ""));
        proc.file("71", 9, page, &info(9, 2, ""));
        proc.file("71", 10, page, &info(9, 2, &lock(1)));
        // Its first thread has ended, and one more.
        fs::create_dir_all(proc.0.join("80/fd")).unwrap();
        fs::create_dir_all(proc.0.join("80/task/80/fd")).unwrap();
        fs::create_dir_all(proc.0.join("80/task/81/fd")).unwrap();
        proc.file("80/task/82", 3, ring, &info(8, 0, ""));
        proc.file("80/task/82", 4, page, &info(9, 2, &lock(4)));
        // It only looks.
        proc.file("75", 3, ring, &info(8, 0, ""));
        proc.file("75", 4, page, &info(9, 0, ""));
        // Of others, and nonsense.
        proc.file("72", 3, "/memfd:of others (deleted)", &info(9, 2, &lock(2)));
        proc.file("73", 0, "/dev/null", &info(9, 2, &lock(3)));
        proc.file("self", 3, page, &info(9, 2, ""));
        proc.file("74", 3, page, "flags:\t02\nino:\tmany\n");
        symlink(page, proc.0.join("74/fd/4")).unwrap();
        fs::write(proc.0.join("uptime"), "1").unwrap();

        let processes = Processes::look(&proc.0);
        assert_eq!((processes.writers(8), processes.writers(9)), (vec![], vec![70, 71, 80]));
        assert!(processes.writers(7).is_empty());
        let positions = |file: u64, pid: u32| processes.positions(file, pid);
        assert_eq!((positions(8, 71), positions(8, 80), positions(9, 75)), (vec![79], vec![79], vec![89]));
        assert!(positions(9, 70).is_empty() && positions(8, 74).is_empty());
        let owners: Vec<_> = (0..6).map(|byte| processes.with_lock(9, byte)).collect();
        assert_eq!(owners, [Some(70), Some(71), None, None, Some(80), Some(70)]);
        assert_eq!(processes.with_lock(7, 0), None);
        assert_eq!(Processes::look(&proc.0.join("none")), Processes::default());
    }

    #[test]
    fn locks_of_an_opening_alone_are_seats() {
        let line = |words: &str| locked(&format!("lock:\t1: {words}"));
        assert_eq!(line("OFDLCK ADVISORY  WRITE -1 00:01:1290030 5 7"), Some(5..=7));
        assert_eq!(line("OFDLCK ADVISORY  WRITE -1 00:01:1290030 0 EOF"), Some(0..=u64::MAX));
        assert_eq!(line("FLOCK  ADVISORY  WRITE 31757 00:01:1290030 0 EOF"), None);
        assert_eq!(line("OFDLCK ADVISORY  READ -1 00:01:1290030 5 5"), None);
        assert_eq!(line("OFDLCK ADVISORY  WRITE -1 00:01:1290030 a 5"), None);
        assert_eq!(line(""), None);
        assert_eq!(locked("ino:\t9"), None);
    }

    #[test]
    fn command_is_one_line() {
        assert_eq!(command(b"/usr/bin/feed\0--to\0a b\0"), "feed --to a b");
        assert_eq!(command(b"feed\0\x1b[2J\n\0"), "feed \\u{1b}[2J\\n");
        assert_eq!(command(b""), "");
        assert_eq!(command(&[b'a'; 1000]).len(), COMMAND_CHARS);
        let me = process(std::process::id());
        assert!(me.command.is_some_and(|command| !command.is_empty() && !command.contains('/')));
        let none = Path::new("/proc/nowhere");
        assert_eq!(process_below(none, 7), Process::of(Some(7)));
    }
}
