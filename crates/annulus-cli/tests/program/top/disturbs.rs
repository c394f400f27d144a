//! `top` disturbs no process: it can't write to a ring, holds no lock, and is not seen as a reader.
//!
//! `ci/instructions` has the other half: a publisher whose ring is looked at runs no instruction more.

use std::fs;
use std::thread;

use crate::names::Names;
use crate::running::{Running, has_mapped};
use annulus::Settings;
use annulus::shm::{Directory, Shared, broadcast};

/// What a process has mapped of rings: the rights of each, such as `r--s`.
fn rights(process: u32) -> Vec<String> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).unwrap();
    let ours = maps.lines().filter(|line| line.contains("/memfd:annulus "));
    ours.map(|line| line.split_whitespace().nth(1).unwrap().into()).collect()
}

/// The openings that a process has of rings: what `/proc` says of each.
fn openings(process: u32) -> Vec<String> {
    let folder = format!("/proc/{process}");
    let files = fs::read_dir(format!("{folder}/fd")).unwrap().flatten();
    let ours = files.filter(|file| {
        fs::read_link(file.path()).is_ok_and(|to| to.to_string_lossy().starts_with("/memfd:annulus "))
    });
    ours.filter_map(|file| fs::read_to_string(format!("{folder}/fdinfo/{}", file.file_name().display())).ok())
        .collect()
}

#[test]
fn top_cannot_write_to_rings() {
    let names = Names::new("reads");
    let directory = Directory::open(&names.path).unwrap();
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossless::<u64>(Settings::new(64), 2).unwrap();
    let _name = invitation.publish(&directory, "orders").unwrap();
    publisher.publish(7).unwrap();
    for (subcommand, arguments) in [
        ("top", &["--interval", "600"][..]),
        ("top", &["orders", "--interval", "600"]),
        ("watch", &["orders"]),
        ("hz", &["orders", "--seconds", "600"]),
    ] {
        let looks = Running(names.command(subcommand, arguments).spawn().unwrap());
        while !has_mapped(looks.0.id()) {
            thread::yield_now();
        }
        let rights = rights(looks.0.id());
        assert!(
            rights.len() >= 2 && rights.iter().all(|rights| rights == "r--s"),
            "{subcommand}: {rights:?}"
        );
        let openings = openings(looks.0.id());
        // The last digit of the flags says how a file was opened: 0 is to be read only.
        let reads =
            |info: &String| info.lines().any(|line| line.starts_with("flags:") && line.ends_with('0'));
        assert!(!openings.is_empty() && openings.iter().all(reads), "{subcommand}: {openings:?}");
        assert!(!openings.iter().any(|info| info.contains("lock:")), "{subcommand}: {openings:?}");
    }
    // One that takes part can, so this would be seen.
    let reads = Running(names.command("bench", &["load", "--publish", "--seconds", "600"]).spawn().unwrap());
    while !has_mapped(reads.0.id()) {
        thread::yield_now();
    }
    assert!(rights(reads.0.id()).contains(&"rw-s".into()));
}
