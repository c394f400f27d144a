//! What each command says of a ring that it can't use: one line, which names it and what is wrong.

use std::fs::{self, File, Permissions};
use std::io::Write;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileExt, PermissionsExt, chown};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;

use annulus::broadcast::Builder;
use annulus::shm::{Directory, Fingerprint, PublishedName, broadcast, recv_fd};
use rustix::fs::{FallocateFlags, MemfdFlags, SealFlags, fallocate, fcntl_add_seals, memfd_create};

use crate::names::Names;
use crate::running::Running;

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
    let (_publisher, _, invitation) = broadcast::lossy::<u64>(Builder::new(8)).unwrap();
    let (here, there) = UnixStream::pair().unwrap();
    invitation.send(&here).unwrap();
    let ring = File::from(recv_fd(&there).unwrap());
    let mut bytes = vec![0; ring.metadata().unwrap().len().try_into().unwrap()];
    ring.read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// What a command says of a name that it refuses.
#[track_caller]
fn refusal(names: &Names, subcommand: &str, name: &str) -> String {
    let output = names.command(subcommand, &[name]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{subcommand} {name}: {said}");
    assert!(output.stdout.is_empty(), "{subcommand} {name}");
    assert_eq!(said.lines().count(), 1, "{subcommand} {name}: {said}");
    assert!(said.starts_with("error: ") && said.contains(name), "{subcommand} {name}: {said}");
    said
}

#[test]
fn each_command_says_in_one_line_why_it_cannot_use_a_ring() {
    let names = Names::new("refusals");
    let directory = Directory::open(&names.path).unwrap();
    let mut publisher =
        Running(names.command("pub", &["dead"]).stdin(std::process::Stdio::piped()).spawn().unwrap());
    publisher.says("publishing");
    publisher.kill();
    fs::write(names.path.join("damaged.ring"), "what?").unwrap();
    let publish = |name: &str, at: usize, byte: u8| -> (PublishedName, File) {
        let mut bytes = ring();
        bytes[at] = byte;
        let file = memory(&bytes);
        (directory.publish(name, file.as_fd(), Fingerprint::of::<u64>()).unwrap(), file)
    };
    let _rings = [publish("newer", 12, 7), publish("no-ring", 0, b'X'), publish("required", 20, 4)];
    for (name, expected) in [
        ("nobody", "there is no ring"),
        ("a/b", "a/b"),
        ("dead", "dead"),
        ("damaged", "damaged"),
        ("newer", "version 7"),
        ("no-ring", "ring"),
        ("required", "4"),
    ] {
        for subcommand in ["info", "sub", "watch", "hz"] {
            let said = refusal(&names, subcommand, name);
            println!("{subcommand} {said}");
            assert!(said.contains(expected), "{subcommand} {name}: {said}");
        }
    }
    for (name, expected) in [("nobody", "there is no ring"), ("a/b", "a/b"), ("newer", "--force")] {
        let said = refusal(&names, "rm", name);
        println!("rm {said}");
        assert!(said.contains(expected), "rm {name}: {said}");
    }
    let said = refusal(&names, "pub", "newer");
    println!("pub {said}");
    assert!(said.contains(&std::process::id().to_string()), "{said}");
    // Those that show all rings show these, too, and what is wrong with each.
    for subcommand in ["ls", "top"] {
        let output = names.command(subcommand, &[]).output().unwrap();
        let shown = String::from_utf8(output.stdout).unwrap();
        println!("{subcommand}\n{shown}");
        assert_eq!(output.status.code(), Some(0), "{shown}");
        for words in ["\nnewer: ", "version 7", "\nno-ring: ", "\nrequired: ", "dead "] {
            assert!(shown.contains(words), "{words} is not in\n{shown}");
        }
    }
}

/// A directory of another user is refused by all; what is wrong is said in one line.
#[test]
fn another_users_rings_are_refused() {
    const OWNER: u32 = 60_001;
    let names = Names::new("another");
    fs::create_dir(&names.path).unwrap();
    fs::set_permissions(&names.path, Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(&names.folder.0, Permissions::from_mode(0o755)).unwrap();
    let mut command = names.command("pub", &["quotes"]);
    command.uid(OWNER).gid(OWNER).stdin(std::process::Stdio::piped());
    let publisher = chown(&names.path, Some(OWNER), Some(OWNER)).ok().and_then(|()| command.spawn().ok());
    let Some(publisher) = publisher else {
        eprintln!("skipped: only root makes processes of other users, and they must reach the program");
        return;
    };
    let mut publisher = Running(publisher);
    publisher.says("publishing");
    for (subcommand, arguments) in [
        ("info", &["quotes"][..]),
        ("sub", &["quotes"]),
        ("watch", &["quotes"]),
        ("hz", &["quotes"]),
        ("pub", &["mine"]),
    ] {
        let mut command = names.command(subcommand, arguments);
        let output = command.uid(60_002).gid(60_002).output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        println!("{subcommand} {said}");
        assert_eq!(output.status.code(), Some(2), "{subcommand}: {said}");
        assert!(said.starts_with("error: ") && said.lines().count() == 1, "{subcommand}: {said}");
    }
}
