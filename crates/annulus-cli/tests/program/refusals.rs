//! What each command says of a ring that it can't use: one line, which names it and what is wrong.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use annulus::Settings;
use annulus::shm::{
    Directory, Fingerprint, PublishedName, Shared, WhenGone, broadcast, bytes, recv_fd, service, watch,
};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, memfd_create};

use crate::names::Names;
use crate::running::Running;
use crate::support;

/// Memory as that of a ring, with these bytes.
fn memory(bytes: &[u8]) -> File {
    let fd = memfd_create("annulus test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
    fallocate(&fd, FallocateFlags::empty(), 0, bytes.len() as u64).unwrap();
    fcntl_add_seals(&fd, SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL).unwrap();
    let mut file = File::from(fd);
    file.write_all(bytes).unwrap();
    file
}

/// The bytes of a ring.
fn ring() -> Vec<u8> {
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let ring = File::from(recv_fd(&there).unwrap());
    let mut bytes = vec![0; ring.metadata().unwrap().len().try_into().unwrap()];
    ring.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// What a subcommand does with the name of a ring. Each that has a directory of names is here: the tests ask
/// the program for its subcommands.
enum Use {
    /// It looks at that ring, or joins it.
    One(&'static [&'static str]),
    /// The same, but it waits for a publisher where none is there.
    Awaits(&'static [&'static str]),
    /// It shows whatever is left of the ring.
    Shows(&'static [&'static str]),
    /// It gives that name to a ring of its own, after this.
    Gives(&'static [&'static str], &'static str),
    /// It removes the name.
    Removes,
    /// It shows all rings.
    All,
}

fn use_of(subcommand: &str) -> Vec<Use> {
    match subcommand {
        "info" | "sub" | "watch" | "get" | "hz" | "call" => vec![Use::One(&[])],
        "bench" => vec![Use::Awaits(&["--subscribe"]), Use::Gives(&[], "")],
        "top" => vec![Use::All, Use::Shows(&["--interval", "0.1"])],
        "ls" => vec![Use::All],
        "rm" => vec![Use::Removes],
        "pub" => vec![Use::Gives(&[], "")],
        "demo" => vec![Use::Gives(&["--messages", "5", "--shared"], "-quotes")],
        other => {
            panic!("{other} works with rings that have names: say in this test how it is to refuse them")
        }
    }
}

/// The subcommands that have a directory of names, by what the program says of itself.
fn subcommands() -> Vec<String> {
    let mut all = support::subcommands();
    all.retain(|name| support::help(name).contains("--directory"));
    all
}

/// What a command says that refuses something: one line, which names it.
#[track_caller]
fn refusal(command: &mut Command, name: &str) -> String {
    let output = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    println!("{said}");
    assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
    assert!(output.stdout.is_empty(), "{command:?}");
    assert_eq!(said.lines().count(), 1, "{command:?}: {said}");
    assert!(said.starts_with("error: ") && said.contains(name), "{command:?}: {said}");
    said
}

/// Names that nobody can use, and what is said of each.
const UNFIT: [(&str, &str); 7] = [
    ("nobody", "there is no ring"),
    ("a/b", "a/b"),
    ("dead", "dead"),
    ("damaged", "damaged"),
    ("newer", "version 7"),
    ("no-ring", "ring"),
    ("required", "4"),
];

#[test]
fn commands_say_in_one_line_why_they_cannot_use_a_ring() {
    let names = Names::new("refusals");
    let directory = Directory::open(&names.path).unwrap();
    let mut publisher = Running(names.command("pub", &["dead"]).stdin(Stdio::piped()).spawn().unwrap());
    publisher.says("publishing");
    publisher.kill();
    fs::write(names.path.join("damaged.ring"), "what?").unwrap();
    let publish = |name: &str, at: usize, byte: u8| -> (PublishedName, File) {
        let mut bytes = ring();
        bytes[at] = byte;
        let file = memory(&bytes);
        (directory.publish(name, file.as_fd(), Fingerprint::of::<u64>()).unwrap(), file)
    };
    let mut rings = vec![publish("newer", 12, 7), publish("no-ring", 0, b'X'), publish("required", 20, 4)];
    rings.push(publish("taken-quotes", 12, 7));
    let me = std::process::id().to_string();
    for subcommand in subcommands() {
        for way in use_of(&subcommand) {
            let command =
                |arguments: &[&str], name: &str| names.command(&subcommand, &[arguments, &[name]].concat());
            let refused = |arguments: &[&str], is_refused: &dyn Fn(&str) -> bool| {
                for (name, expected) in UNFIT.into_iter().filter(|(name, _)| is_refused(name)) {
                    let said = refusal(&mut command(arguments, name), name);
                    assert!(said.contains(expected), "{subcommand} {name}: {said}");
                }
            };
            match way {
                Use::One(arguments) => refused(arguments, &|_| true),
                // The next publisher takes the place of what a dead one left.
                Use::Awaits(arguments) => {
                    refused(arguments, &|name| !["nobody", "dead", "damaged"].contains(&name));
                }
                Use::Shows(arguments) => refused(arguments, &|name| !["dead", "damaged"].contains(&name)),
                Use::Gives(arguments, suffix) => {
                    for name in ["a/b", ""] {
                        refusal(&mut command(arguments, name), &format!("{name:?}"));
                    }
                    let name = if suffix.is_empty() { "newer" } else { "taken" };
                    let said = refusal(&mut command(arguments, name), &format!("{name}{suffix}"));
                    assert!(said.contains(&me), "{subcommand}: {said}");
                }
                Use::Removes => {
                    for (name, expected) in
                        [("nobody", "there is no ring"), ("a/b", "a/b"), ("newer", "--force")]
                    {
                        let said = refusal(&mut command(&[], name), name);
                        assert!(said.contains(expected), "{subcommand} {name}: {said}");
                    }
                }
                // These, too, and what is wrong with each.
                Use::All => {
                    let output = names.command(&subcommand, &[]).output().unwrap();
                    let shown = String::from_utf8(output.stdout).unwrap();
                    println!("{subcommand}\n{shown}");
                    assert_eq!(output.status.code(), Some(0), "{shown}");
                    for words in ["\nnewer: ", "version 7", "\nno-ring: ", "\nrequired: ", "dead "] {
                        assert!(shown.contains(words), "{words} is not in\n{shown}");
                    }
                }
            }
        }
    }
}

/// A directory that the user has named, and that is not there: a command that makes a ring makes it, too.
#[test]
fn directory_that_is_not_there_is_refused() {
    let names = Names::new("no-directory");
    let path = names.path.to_str().unwrap();
    for subcommand in subcommands() {
        for way in use_of(&subcommand) {
            let arguments = match way {
                Use::One(arguments) | Use::Shows(arguments) => [arguments, &["quotes"]].concat(),
                Use::Removes => vec!["quotes"],
                Use::All => vec![],
                Use::Awaits(_) | Use::Gives(..) => continue,
            };
            let said = refusal(&mut names.command(&subcommand, &arguments), path);
            assert!(said.contains("there is no directory"), "{subcommand}: {said}");
        }
    }
    assert!(!names.path.exists());
}

/// A smaller ring is no help where the system has no `/proc`.
#[test]
fn ring_that_no_capacity_helps_is_refused_without_that_option() {
    let names = Names::new("no-proc");
    Directory::open(&names.path).unwrap();
    let without_proc = |command: &Command| {
        let mut unshared = Command::new("unshare");
        unshared.args(["--user", "--map-root-user", "--mount", "sh", "-c"]);
        unshared.args(["mount -t tmpfs none /proc && exec \"$@\"", "sh"]).arg(command.get_program());
        unshared.args(command.get_args());
        unshared
    };
    if !without_proc(&Command::new("true")).status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: the system gives processes no mounts of their own (unshare)");
        return;
    }
    for (subcommand, arguments) in [
        ("pub", &["quotes"][..]),
        ("pub", &["quotes", "--lossless"]),
        ("bench", &["load"]),
        ("demo", &["--messages", "5", "--shared", "market"]),
    ] {
        let said = refusal(&mut without_proc(&names.command(subcommand, arguments)), "/proc/self/stat: ");
        assert!(said.contains("mount /proc") && !said.contains("--capacity"), "{subcommand}: {said}");
    }
    names.assert_empty();
}

/// A directory of another user is refused by all; what is wrong is said in one line.
#[test]
fn rings_of_another_user_are_refused() {
    const OWNER: u32 = 60_001;
    let names = Names::new("another");
    fs::create_dir(&names.path).unwrap();
    fs::set_permissions(&names.path, Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&names.folder.0, Permissions::from_mode(0o755)).unwrap();
    let mut command = names.command("pub", &["quotes"]);
    command.uid(OWNER).gid(OWNER).stdin(Stdio::piped());
    let publisher = chown(&names.path, Some(OWNER), Some(OWNER)).ok().and_then(|()| command.spawn().ok());
    let Some(publisher) = publisher else {
        eprintln!("skipped: only root makes processes of other users, and they must reach the program");
        return;
    };
    let mut publisher = Running(publisher);
    publisher.says("publishing");
    for subcommand in subcommands() {
        for way in use_of(&subcommand) {
            let arguments = match way {
                Use::One(arguments) | Use::Awaits(arguments) | Use::Shows(arguments) => {
                    [arguments, &["quotes"]].concat()
                }
                Use::Gives(arguments, _) => [arguments, &["mine"]].concat(),
                Use::Removes => vec!["quotes"],
                Use::All => vec![],
            };
            let mut command = names.command(&subcommand, &arguments);
            refusal(command.uid(60_002).gid(60_002), names.path.to_str().unwrap());
        }
    }
}

/// A value that begins with a hyphen is a value: what is wrong with it is said.
#[test]
fn negative_values_are_refused_as_values() {
    for (subcommand, arguments, option) in [
        ("pub", &["x", "--capacity", "-1"][..], "--capacity"),
        ("pub", &["x", "--size", "-1"], "--size"),
        ("pub", &["x", "--rate", "-0.5"], "--rate"),
        ("pub", &["x", "--lossless", "--subscribers", "-1"], "--subscribers"),
        ("pub", &["x", "--deadline", "-1"], "--deadline"),
        ("pub", &["x", "--mode", "-1"], "--mode"),
        ("sub", &["x", "--count", "-1"], "--count"),
        ("sub", &["x", "--last", "-1"], "--last"),
        ("watch", &["x", "--count", "-1"], "--count"),
        ("get", &["x", "--changes", "--count", "-1"], "--count"),
        ("hz", &["x", "--count", "-1"], "--count"),
        ("hz", &["x", "--seconds", "-1"], "--seconds"),
        ("call", &["x", "--timeout", "-1"], "--timeout"),
        ("bench", &["x", "--subscribers", "-1"], "--subscribers"),
        ("top", &["--interval", "-1"], "--interval"),
    ] {
        let output = Names::new("negative").command(subcommand, arguments).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        let value = arguments[arguments.len() - 1];
        let expected = format!("error: invalid value '{value}' for '{option} <");
        assert!(output.status.code() == Some(2) && said.starts_with(&expected), "{subcommand}: {said}");
    }
    let output = support::annulus("doctor").args(["--cores", "-1"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: invalid value '-1' for '--cores <LIST>': `-1` is no CPU"), "{said}");
}

/// As this program writes numbers, and refuses them.
#[test]
fn numbers_of_subscribers_are_written_as_others() {
    let said = |subcommand: &str, count: &str| {
        // (Of a directory that can't be, so that a good number goes no further.)
        let mut command = support::annulus(subcommand);
        command.args(["x", "--directory", "/proc/nowhere", "--lossless", "--subscribers", count]);
        let output = command.output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).unwrap()
    };
    for subcommand in ["pub", "bench"] {
        for count in ["0", "65", "1e18", "many"] {
            let said = said(subcommand, count);
            assert!(said.contains("must be a whole number from 1 to 64"), "{subcommand} {count}: {said}");
        }
        for count in ["1", "6e1", "0_2"] {
            let said = said(subcommand, count);
            assert!(said.contains("/proc/nowhere"), "{subcommand} {count}: {said}");
        }
    }
}

/// Where it has looked, and what else to do.
#[test]
fn name_that_is_not_there_has_its_directory() {
    let names = Names::new("nowhere");
    Directory::open(&names.path).unwrap();
    let path = names.path.to_str().unwrap();
    for (subcommand, more) in [
        ("sub", &[][..]),
        ("sub", &["--follow"]),
        ("watch", &[]),
        ("get", &[]),
        ("call", &["1"]),
        ("hz", &[]),
        ("info", &[]),
        ("top", &[]),
        ("rm", &[]),
        ("pub", &["--json"]),
    ] {
        let said = refusal(&mut names.command(subcommand, &[&["nobody"], more].concat()), path);
        let expected = format!("error: there is no ring \"nobody\" in `{path}`: `annulus ls` lists ");
        assert!(said.starts_with(&expected), "{subcommand}: {said}");
    }
}

/// What is for it is said, and no option that does not help.
#[test]
fn rings_of_no_lines_are_refused_with_what_is_for_them() {
    let names = Names::new("no-lines");
    let directory = Directory::open(&names.path).unwrap();
    let records = bytes::producer(Settings::new(64), WhenGone::Close).unwrap();
    let _records = records.invitation.publish(&directory, "records").unwrap();
    let asked = service::Builder::new(Settings::new(2)).clients(2).build::<u64, u64>().unwrap();
    let _asked = asked.invitation.publish(&directory, "service").unwrap();
    let values = watch::sender(1.5_f64).unwrap();
    let _values = values.invitation.publish(&directory, "values").unwrap();
    for more in [&[][..], &["--json"], &["--follow"]] {
        for (name, expected) in [
            ("records", "is a queue of records, which has no form as lines: `annulus info` says what it is"),
            ("service", "is a service: `annulus call` asks it"),
            ("values", "has newest values, and no messages: `annulus get` prints its values"),
        ] {
            let said = refusal(names.command("sub", &[name]).args(more), name);
            assert_eq!(said, format!("error: `{name}` {expected}\n"), "{more:?}");
        }
    }
    for (subcommand, more, expected) in [
        ("call", &["1"][..], "`values` has newest values, and no service: `annulus get` prints its values"),
        ("hz", &[], "`values` has newest values, whose changes can't be counted from outside"),
        (
            "pub",
            &["--json"],
            "`values` has newest values, which only its sender changes: `annulus get` prints",
        ),
    ] {
        let said = refusal(names.command(subcommand, &["values"]).args(more), "values");
        assert!(said.contains(expected), "{subcommand}: {said}");
    }
}
