//! What rings between processes meet by: process numbers, and a folder for names.

use std::path::Path;

use super::answers::Room;
use super::finding::{Read, Reading};
use super::machine::Machine;
use super::root::{Root, Unseen};
use crate::text::size;

/// What the system's own namespaces are called, which are there from its start.
const FIRST_PID: &str = "pid:[4026531836]";
const FIRST_IPC: &str = "ipc:[4026531839]";

/// Whether processes of the whole system have the numbers that this one sees.
pub(super) fn pid_namespace(machine: &Machine) -> Read {
    Ok(if is_first(machine, "pid", FIRST_PID)? {
        Reading::good("the system's")
    } else {
        Reading::better(
            "its own: no process outside of it finds a ring of this program by its name",
            "docker run --pid host, or --pid container:NAME; Kubernetes: shareProcessNamespace: true \
             (or a directory for others, where processes meet by a socket)",
        )
    })
}

/// Whether this is the system's namespace for System V's shared memory and queues.
pub(super) fn ipc_namespace(machine: &Machine) -> Read {
    // Rings need nothing of it. But tools for containers give processes that share it the same /dev/shm.
    Ok(if is_first(machine, "ipc", FIRST_IPC)? {
        Reading::good("the system's")
    } else {
        Reading::good("its own, of which rings need nothing")
            .advise("docker run --ipc container:NAME, for containers that are to have one /dev/shm")
    })
}

/// Whether the namespace of this kind is the system's.
fn is_first(machine: &Machine, kind: &str, first: &str) -> Result<bool, Unseen> {
    let name = machine.root.link(&format!("/proc/self/ns/{kind}"))?;
    let number = name.strip_prefix(kind).and_then(|rest| rest.strip_prefix(":[")?.strip_suffix(']'));
    match number.and_then(|number| number.parse::<u64>().ok()) {
        Some(_) => Ok(name == first),
        None => Err(Unseen::Garbage(name)),
    }
}

/// As much as some hundred names need.
const ROOM_MIN: u64 = 1 << 20;

/// How much `/dev/shm` holds.
pub(super) fn shared_memory_folder(machine: &Machine) -> Read {
    Ok(match machine.answers.dev_shm.ok_or(Unseen::NotHere)? {
        Room::NoFolder => {
            Reading::not_there("no /dev/shm: without XDG_RUNTIME_DIR, names of rings lie in /tmp")
                .advise("sudo mount -t tmpfs -o mode=1777 tmpfs /dev/shm")
        }
        Room::Of { bytes, free } => {
            let here = format!("{}, {} free", size(bytes), size(free));
            if free < ROOM_MIN {
                let here = format!("{here}: too little for names of rings");
                Reading::better(here, "sudo mount -o remount,size=64m /dev/shm (docker run --shm-size 64m)")
            } else {
                Reading::good(format!("{here}, for names (rings themselves take none of it)"))
            }
        }
    })
}

/// Where systemd's settings are, the strongest first.
const SYSTEMD: [&str; 4] = ["/etc/systemd", "/run/systemd", "/usr/local/lib/systemd", "/usr/lib/systemd"];

/// Users below have no sessions: systemd spares them.
const USER_MIN: u64 = 1000;

/// Whether what a user has in `/dev/shm` goes with the user's last session.
pub(super) fn remove_ipc(machine: &Machine) -> Read {
    let root = &machine.root;
    let user = effective_user(root)?;
    if !root.exists("/run/systemd/seats") {
        return Ok(Reading::good("no systemd-logind, which removes names at a logout"));
    }
    if user < USER_MIN {
        return Ok(Reading::good(format!("a user of the system ({user}), whose names stay")));
    }
    let name = name_of(root, user);
    if name.as_ref().is_some_and(|name| root.exists(&format!("/var/lib/systemd/linger/{name}"))) {
        return Ok(Reading::good("the user lingers: names stay after a logout"));
    }
    Ok(if removes_ipc(root)? {
        Reading::better(
            "yes: with the user's last session go the names of its rings",
            format!("loginctl enable-linger {}", name.unwrap_or_else(|| user.to_string())),
        )
    } else {
        Reading::good("no: names in /dev/shm stay after a logout")
    })
}

/// Where systemd-tmpfiles finds what it does with `/tmp`, the strongest first.
const TMPFILES: [&str; 4] =
    ["/etc/tmpfiles.d", "/run/tmpfiles.d", "/usr/local/lib/tmpfiles.d", "/usr/lib/tmpfiles.d"];

/// Whether old files go from `/tmp`, where names lie without `XDG_RUNTIME_DIR` and `/dev/shm`.
pub(super) fn old_names(machine: &Machine) -> Read {
    let mut texts = TMPFILES.iter().map(|folder| machine.root.text(&format!("{folder}/tmp.conf")));
    let text = texts.find(|text| *text != Err(Unseen::NotHere)).unwrap_or(Err(Unseen::NotHere))?;
    let age = text.lines().find_map(|line| {
        // A kind, the path, its mode, its user, its group, the age.
        let mut words = line.split_whitespace().skip(1);
        (words.next() == Some("/tmp")).then(|| words.nth(3).filter(|&age| age != "-"))?
    });
    Ok(Reading::good(match age {
        Some(age) => format!(
            "they go after {}; the names of rings whose processes live do not",
            crate::text::printable(age)
        ),
        None => "they stay".into(),
    }))
}

/// `Uid:` has the real one, then the effective one.
fn effective_user(root: &Root) -> Result<u64, Unseen> {
    let status = root.text("/proc/thread-self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    let word = line.and_then(|line| line.split_whitespace().nth(1));
    word.and_then(|word| word.parse().ok()).ok_or_else(|| Unseen::garbage(line.unwrap_or_default()))
}

/// What the user is called, if a file says so.
fn name_of(root: &Root, user: u64) -> Option<String> {
    let users = root.text("/etc/passwd").ok()?;
    let user = user.to_string();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1) == Some(&user)).then_some(name)
    });
    name.filter(|name| !name.is_empty() && !name.contains('/')).map(crate::text::printable)
}

/// What `RemoveIPC` of systemd-logind is.
fn removes_ipc(root: &Root) -> Result<bool, Unseen> {
    let read = |path: &str| match root.text(path) {
        Err(Unseen::NotHere) => Ok(None),
        text => text.map(Some),
    };
    // One main file, and then pieces by their names, whichever folder they are in.
    let mut texts = Vec::new();
    for folder in SYSTEMD {
        if let Some(text) = read(&format!("{folder}/logind.conf"))? {
            texts.push(text);
            break;
        }
    }
    let mut pieces = std::collections::BTreeMap::new();
    for folder in SYSTEMD {
        let folder = format!("{folder}/logind.conf.d");
        let is_piece = |name: &String| Path::new(name).extension().is_some_and(|kind| kind == "conf");
        for piece in root.names(&folder).into_iter().filter(is_piece) {
            let path = format!("{folder}/{piece}");
            pieces.entry(piece).or_insert(path);
        }
    }
    for path in pieces.values() {
        texts.extend(read(path)?);
    }
    let value_in = |text: &str, name: &str| {
        let mut values =
            text.lines().filter_map(|line| line.trim().strip_prefix(name)?.trim_start().strip_prefix('='));
        values.next_back().map(|value| value.trim().to_owned())
    };
    let said = texts.iter().rev().find_map(|text| value_in(text, "RemoveIPC"));
    // The main file comes with comments that say what it is otherwise.
    let usual = || texts.first().and_then(|text| value_in(text, "#RemoveIPC"));
    match said.or_else(usual).as_deref() {
        Some("yes" | "true" | "on" | "1") | None => Ok(true),
        Some("no" | "false" | "off" | "0") => Ok(false),
        Some(other) => Err(Unseen::garbage(other)),
    }
}

#[cfg(test)]
mod tests {
    use super::super::answers::Answers;
    use super::super::fake::{Fake, said};
    use super::*;

    #[test]
    fn namespaces_are_the_first_ones_or_others() {
        let with = |target: &str| Fake::new().link("/proc/self/ns/pid", target).check(pid_namespace);
        assert_eq!(with(FIRST_PID), "good: the system's");
        assert!(with("pid:[4026532800]").starts_with("could be better: its own: "));
        for garbage in ["pid:[x]", "ipc:[4026531839]", "pid:4", "/"] {
            assert_eq!(with(garbage), format!("hidden: not to be understood: `{garbage}`"));
        }
        let with = |target: &str| Fake::new().link("/proc/self/ns/ipc", target).check(ipc_namespace);
        assert_eq!(with(FIRST_IPC), "good: the system's");
        assert!(
            with("ipc:[1]").starts_with("good: its own, of which rings need nothing -> docker run --ipc ")
        );
        assert_eq!(with("ipc:"), "hidden: not to be understood: `ipc:`");
        for check in [pid_namespace, ipc_namespace] {
            assert_eq!(Fake::new().check(check), "hidden: not to be seen on this system");
        }
    }

    #[test]
    fn names_need_a_little_room() {
        let with = |dev_shm| {
            let answers = Answers { dev_shm, ..Answers::default() };
            said(shared_memory_folder(&Machine { answers, ..Fake::new().machine() }))
        };
        let large = with(Some(Room::Of { bytes: 64 << 20, free: 63 << 20 }));
        assert_eq!(large, "good: 64 MiB, 63 MiB free, for names (rings themselves take none of it)");
        let full = with(Some(Room::Of { bytes: 64 << 20, free: 4096 }));
        assert!(full.starts_with(
            "could be better: 64 MiB, 4 KiB free: too little for names of rings -> sudo mount "
        ));
        assert!(with(Some(Room::NoFolder)).starts_with("not there: no /dev/shm: "));
        assert_eq!(with(None), "hidden: not to be seen on this system");
    }

    /// A user of a machine where systemd-logind runs.
    fn user(number: u64) -> Fake {
        Fake::new()
            .file("/proc/thread-self/status", format!("Name:\tx\nUid:\t0\t{number}\t0\t0\n"))
            .file("/run/systemd/seats/seat0", "")
            .file("/etc/passwd", "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n")
    }

    #[test]
    fn names_go_with_the_last_session_unless_something_keeps_them() {
        let goes = "could be better: yes: with the user's last session go the names of its rings -> \
                    loginctl enable-linger ";
        assert_eq!(user(1000).check(remove_ipc), format!("{goes}ada"));
        assert_eq!(user(1001).check(remove_ipc), format!("{goes}1001"));
        assert_eq!(user(999).check(remove_ipc), "good: a user of the system (999), whose names stay");
        let lingers = user(1000).file("/var/lib/systemd/linger/ada", "");
        assert_eq!(lingers.check(remove_ipc), "good: the user lingers: names stay after a logout");
        let none = Fake::new().file("/proc/thread-self/status", "Uid:\t1000\t1000\t1000\t1000\n");
        assert_eq!(none.check(remove_ipc), "good: no systemd-logind, which removes names at a logout");
        assert_eq!(Fake::new().check(remove_ipc), "hidden: not to be seen on this system");
        let garbage = Fake::new().file("/proc/thread-self/status", "Uid:\tme\n");
        assert_eq!(garbage.check(remove_ipc), "hidden: not to be understood: `\\tme`");
    }

    #[test]
    fn old_files_go_after_the_age_of_their_folder() {
        let with = |text: &str| Fake::new().file("/usr/lib/tmpfiles.d/tmp.conf", text);
        let aged = with("# x\nq /tmp 1777 root root 10d\nq /var/tmp 1777 root root 30d\n");
        let goes = "good: they go after 10d; the names of rings whose processes live do not";
        assert_eq!(aged.check(old_names), goes);
        for none in ["D /tmp 1777 root root -\n", "q /var/tmp 1777 root root 30d\n", "q /tmp\n", ""] {
            assert_eq!(with(none).check(old_names), "good: they stay", "{none}");
        }
        let masked = aged.file("/etc/tmpfiles.d/tmp.conf", "");
        assert_eq!(masked.check(old_names), "good: they stay");
        assert_eq!(Fake::new().check(old_names), "hidden: not to be seen on this system");
    }

    /// As systemd reads them: one main file, then pieces by name, of which the last counts.
    #[test]
    fn last_setting_counts() {
        let (yes, no) = ("could be better: yes", "good: no: names in /dev/shm stay after a logout");
        let with = |files: &[(&str, &str)]| {
            let fake = files.iter().fold(user(1000), |fake, (file, text)| fake.file(file, text));
            fake.check(remove_ipc)
        };
        let main = ("/etc/systemd/logind.conf", "[Login]\n#RemoveIPC=yes\n RemoveIPC = no\n");
        assert_eq!(with(&[main]), no);
        assert!(with(&[("/usr/lib/systemd/logind.conf", "#RemoveIPC=yes\n")]).starts_with(yes));
        assert_eq!(
            with(&[("/usr/lib/systemd/logind.conf", "#RemoveIPC=no\n")]),
            no,
            "as that system is built"
        );
        let shadowed = ("/usr/lib/systemd/logind.conf", "RemoveIPC=yes\n");
        assert_eq!(with(&[main, shadowed]), no);
        let piece = ("/usr/lib/systemd/logind.conf.d/50-ipc.conf", "[Login]\nRemoveIPC=yes\n");
        assert!(with(&[main, piece]).starts_with(yes));
        let over = ("/etc/systemd/logind.conf.d/50-ipc.conf", "RemoveIPC=off\n");
        assert_eq!(with(&[piece, over]), no, "the same name in a stronger folder");
        let other = ("/etc/systemd/logind.conf.d/90.txt", "RemoveIPC=yes\n");
        assert_eq!(with(&[main, other]), no, "no piece");
        let odd = with(&[("/etc/systemd/logind.conf", "RemoveIPC=perhaps\n")]);
        assert_eq!(odd, "hidden: not to be understood: `perhaps`");
    }
}
