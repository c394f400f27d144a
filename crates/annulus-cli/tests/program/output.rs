//! What `annulus demo --output` does to files: refused before the run, or written right; what was there is
//! not lost, and nothing is left beside it.

use std::fs::{self, OpenOptions, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::Signal;

use crate::running::Running;
use crate::support::{Folder, demo};

const HEADER: &str = "strategy,symbol,sequence,time,side,price,fast,slow\n";

/// A short run.
const SHORT: [&str; 4] = ["--messages", "2000", "--lossless", "--output"];

/// One that does not end by itself.
const LONG: [&str; 7] = ["--rate", "5000", "--messages", "1000000000", "--strategies", "1/2", "--output"];

/// Runs a command that must succeed.
#[track_caller]
fn succeed(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().unwrap();
    assert_eq!((String::from_utf8_lossy(&stderr).as_ref(), status.code()), ("", Some(0)));
    String::from_utf8(stdout).unwrap()
}

/// Runs a command that must be refused, with this message.
#[track_caller]
fn refuse(command: &mut Command, message: &str) {
    let Output { status, stderr, .. } = command.output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(stderr.contains(message), "{message}\nis not in\n{stderr}");
    assert_eq!(status.code(), Some(2));
}

/// Asserts that all orders of [`SHORT`] are there.
#[track_caller]
fn assert_whole(path: &Path) {
    let content = fs::read_to_string(path).unwrap();
    assert!(content.starts_with(HEADER) && content.ends_with('\n'), "{content}");
    assert!(content.lines().count() > 100);
}

/// By whatever name.
#[test]
fn file_of_a_standard_stream_is_refused_and_unchanged() {
    let folder = Folder::new("streams");
    let (log, link, name) = (folder.file("log", "old\n"), folder.0.join("link"), folder.0.join("name"));
    symlink("log", &link).unwrap();
    fs::hard_link(&log, &name).unwrap();
    let append = || OpenOptions::new().append(true).open(&log).unwrap();
    let names = [log.as_path(), link.as_path(), name.as_path()].map(|path| path.to_str().unwrap());
    let message = "is open in this program already";
    for output in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].into_iter().chain(names) {
        refuse(demo().args(SHORT).arg(output).stdout(append()), message);
        assert_eq!(fs::read_to_string(&log).unwrap(), "old\n");
    }
    for output in ["/dev/stdin", "/dev/fd/0"].into_iter().chain(names) {
        refuse(demo().args(SHORT).arg(output).stdin(append()), message);
        assert_eq!(fs::read_to_string(&log).unwrap(), "old\n");
    }
    for output in ["/dev/stderr", "/dev/fd/2"].into_iter().chain(names) {
        assert_eq!(demo().args(SHORT).arg(output).stderr(append()).status().unwrap().code(), Some(2));
        let content = fs::read_to_string(&log).unwrap();
        assert!(content.starts_with("old\n") && content.contains(message), "{content}");
    }
    // One that the program has inherited and does not know.
    let mut shell = Command::new("sh");
    shell.args(["-c", "exec 7>>\"$1\"; shift; exec \"$@\"", "sh"]).arg(&log);
    shell.arg(demo().get_program()).arg("demo").args(SHORT).arg("/dev/fd/7");
    refuse(&mut shell, message);
    assert_eq!(folder.count(), 3);
}

#[test]
fn device_or_pipe_is_written_to_directly() {
    let folder = Folder::new("streams-written");
    succeed(demo().args(SHORT).arg("/dev/null"));
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    // The standard output may be a pipe: the orders come first, then the report.
    let printed = succeed(demo().args(SHORT).arg("/dev/stdout"));
    assert!(printed.starts_with(HEADER) && printed.contains("Check passed"), "{printed}");

    let pipe = folder.0.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let reader = Command::new("cat").arg(&pipe).stdout(Stdio::piped()).spawn().unwrap();
    succeed(demo().args(SHORT).arg(&pipe));
    let read = reader.wait_with_output().unwrap().stdout;
    assert_whole(&folder.file("read", read));

    // The other end goes.
    let mut reader = Command::new("head").args(["-n", "1"]).arg(&pipe).stdout(Stdio::null()).spawn().unwrap();
    refuse(demo().args(LONG).arg(&pipe), "/pipe: cannot be written: Broken pipe");
    assert!(reader.wait().unwrap().success());
    assert_eq!(folder.count(), 2);
}

#[test]
fn input_is_refused_by_whatever_name() {
    let folder = Folder::new("inputs");
    let quotes = "20200101 170000065,1.121200,1.121720,0\n";
    let (input, link, name) = (folder.file("q.csv", quotes), folder.0.join("link"), folder.0.join("name"));
    symlink("q.csv", &link).unwrap();
    fs::hard_link(&input, &name).unwrap();
    for (input, output) in [(&input, &input), (&input, &link), (&input, &name), (&link, &name)] {
        refuse(
            demo().arg("--input").arg(input).arg("--output").arg(output),
            "is a file of quotes that --input names",
        );
    }
    assert_eq!((fs::read_to_string(&input).unwrap().as_str(), folder.count()), (quotes, 3));
}

/// The number of a process comes again: in a container it is often 1.
#[test]
fn drafts_of_a_killed_run_do_not_matter() {
    let folder = Folder::new("same-number");
    let output = folder.0.join("orders.csv");
    let leave = "for n in 0 1; do : > .annulus-$$-$n.tmp; done; : > orders.csv.$$.tmp; exec \"$@\"";
    let mut shell = Command::new("sh");
    shell.args(["-c", leave, "sh"]).arg(demo().get_program()).arg("demo").args(SHORT).arg(&output);
    succeed(shell.current_dir(&folder.0));
    assert_whole(&output);
    assert_eq!(folder.count(), 4);
}

#[test]
fn target_of_a_link_that_leads_to_nothing_is_made() {
    let folder = Folder::new("dangling");
    fs::create_dir(folder.0.join("inner")).unwrap();
    let (first, second) = (folder.0.join("first"), folder.0.join("inner/second"));
    symlink("inner/second", &first).unwrap();
    symlink("../target.csv", &second).unwrap();
    succeed(demo().args(SHORT).arg(&first));
    assert!(first.is_symlink() && second.is_symlink());
    assert_whole(&folder.0.join("target.csv"));
    // By a name without a folder, too.
    fs::remove_file(folder.0.join("target.csv")).unwrap();
    succeed(demo().args(SHORT).arg("first").current_dir(&folder.0));
    assert_whole(&folder.0.join("target.csv"));
    // Links in a circle, a link to a folder that is not there, and what can be a folder only.
    symlink("circle", folder.0.join("circle")).unwrap();
    symlink("no/such", folder.0.join("nowhere")).unwrap();
    symlink("folder/", folder.0.join("to-folder")).unwrap();
    for (name, message) in [
        ("circle", "cannot be written: "),
        ("nowhere", "there can be no new file in its folder: No such file"),
        ("to-folder", "cannot be written: "),
        ("new/.", "is a directory"),
    ] {
        refuse(demo().args(SHORT).arg(name).current_dir(&folder.0), message);
    }
    assert_eq!(folder.count(), 6);
}

#[test]
fn file_in_a_folder_that_takes_no_new_ones_is_refused_for_that() {
    refuse(
        demo().args(SHORT).arg("/proc/self/comm"),
        "/comm: cannot be written: there can be no new file in its folder",
    );
}

/// (Where the system lets a test mount something.)
#[test]
fn mount_is_refused() {
    let folder = Folder::new("mounted");
    let (here, there) = (folder.file("here", "old"), folder.file("there", "old"));
    let mounted = |then: &str| {
        let mut command = Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
        command.arg(format!("mount --bind \"$1\" \"$2\" || exit; shift 2; {then}"));
        command.arg("sh").args([&here, &there]).arg(demo().get_program()).arg("demo").args(SHORT).arg(&there);
        command
    };
    if mounted("").output().is_ok_and(|output| output.status.success()) {
        refuse(&mut mounted("exec \"$@\""), "/there: is a mount of its own");
    } else {
        println!("nothing can be mounted here");
    }
    assert_eq!((fs::read(&here).unwrap(), fs::read(&there).unwrap()), (b"old".into(), b"old".into()));
    assert_eq!(folder.count(), 2);
}

/// The first signal ends the run; what was ordered until then is written.
#[test]
fn signals_leave_the_orders_and_nothing_else() {
    let folder = Folder::new("signals");
    for (signal, name, code) in
        [(Signal::INT, "Ctrl-C", 130), (Signal::TERM, "SIGTERM", 143), (Signal::HUP, "SIGHUP", 129)]
    {
        let output = folder.file("orders.csv", "old");
        let run = Running::demo(demo().args(LONG).arg(&output));
        run.signal(signal);
        let (printed, complaint, ended) = run.end();
        assert_eq!((complaint.as_str(), ended), ("", code));
        let report = String::from_utf8(printed).unwrap();
        assert!(report.contains(&format!("Stopped by {name}: ")), "{report}");
        assert!(fs::read_to_string(&output).unwrap().starts_with(HEADER));
        assert_eq!(folder.count(), 1);
    }
}

/// As `nohup` has it.
#[test]
fn hangup_that_is_ignored_stays_ignored() {
    let folder = Folder::new("nohup");
    let output = folder.0.join("orders.csv");
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(demo().get_program()).arg("demo").args(LONG);
    let run = Running::demo(shell.arg(&output));
    run.signal(Signal::HUP);
    run.signal(Signal::TERM);
    let (printed, complaint, code) = run.end();
    assert_eq!((complaint.as_str(), code), ("", 143));
    assert!(String::from_utf8(printed).unwrap().contains("Stopped by SIGTERM: "));
}

/// (Where the file system knows files without a name.)
#[test]
fn killed_run_leaves_the_old_file_only() {
    use rustix::fs::{Mode, OFlags, open};

    let folder = Folder::new("killed-run");
    let output = folder.file("orders.csv", "old");
    Running::demo(demo().args(LONG).arg(&output)).kill();
    assert_eq!(fs::read_to_string(&output).unwrap(), "old");
    if open(&folder.0, OFlags::TMPFILE | OFlags::WRONLY, Mode::RWXU).is_ok() {
        assert_eq!(folder.count(), 1);
    } else {
        println!("each file has a name here");
    }
}

#[test]
fn file_may_be_no_larger_than_the_limit() {
    let folder = Folder::new("limit");
    let output = folder.file("orders.csv", "old");
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 8; exec \"$@\"", "sh"]).arg(demo().get_program()).arg("demo");
    refuse(shell.args(LONG).arg(&output), "/orders.csv: cannot be written: File too large");
    assert_eq!((fs::read_to_string(&output).unwrap().as_str(), folder.count()), ("old", 1));
}

#[test]
fn new_file_keeps_owner_and_permissions() {
    use rustix::fs::{XattrFlags, getxattr, setxattr};

    const ACCESS: &str = "system.posix_acl_access";
    let folder = Folder::new("owner");
    let output = folder.file("orders.csv", "old");
    // (Only a user that may give files away can check that the owner is kept.)
    let _ = chown(&output, Some(12_345), Some(54_321));
    fs::set_permissions(&output, Permissions::from_mode(0o2751)).unwrap();
    // User 12345 may read and write, and the group nothing.
    let mut list = Vec::from(2_u32.to_le_bytes());
    for (tag, may, id) in
        [(1, 7, u32::MAX), (2, 6, 12_345), (4, 0, u32::MAX), (16, 6, u32::MAX), (32, 1, u32::MAX)]
    {
        list.extend([tag, 0, may, 0]);
        list.extend(u32::to_le_bytes(id));
    }
    if setxattr(&output, ACCESS, &list, XattrFlags::empty()).is_err() {
        println!("there are no access lists here");
    }
    let belongings = || {
        let told = fs::metadata(&output).unwrap();
        let mut list = vec![0; 100];
        let length = getxattr(&output, ACCESS, &mut list);
        (told.uid(), told.gid(), told.mode(), length.map(|length| list[..length].to_vec()))
    };
    let before = belongings();
    succeed(demo().args(SHORT).arg(&output));
    assert_whole(&output);
    assert_eq!(belongings(), before);
}

/// Each has all its orders, and the file is the one or the other.
#[test]
fn two_runs_may_have_one_output() {
    let folder = Folder::new("two");
    let output = folder.0.join("orders.csv");
    let runs = [(); 4].map(|()| {
        Running(
            demo().args(SHORT).arg(&output).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap(),
        )
    });
    for run in runs {
        let (_, complaint, code) = run.end();
        assert_eq!((complaint.as_str(), code), ("", 0));
    }
    assert_whole(&output);
    assert_eq!(folder.count(), 1);
}

#[test]
fn name_may_be_as_long_as_the_system_has_it() {
    let folder = Folder::new("long");
    let output = folder.0.join("o".repeat(255));
    succeed(demo().args(SHORT).arg(&output));
    assert_whole(&output);
}

/// The place has become a folder meanwhile.
#[test]
fn orders_that_can_not_go_to_their_place_are_somewhere() {
    let folder = Folder::new("place-taken");
    let output = folder.0.join("orders.csv");
    let run = Running::demo(demo().args(LONG).arg(&output));
    fs::create_dir(&output).unwrap();
    run.signal(Signal::INT);
    let (_, complaint, code) = run.end();
    let left = complaint.trim_end().rsplit_once("; the orders are in ").map(|(_, left)| left);
    assert!(fs::read_to_string(left.expect(&complaint)).unwrap().starts_with(HEADER));
    assert_eq!((code, folder.count()), (2, 2));
}
