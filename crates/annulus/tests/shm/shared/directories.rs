//! Which directories are used, and which are refused.

use annulus::Settings;
use annulus::shm::{Directory, DirectoryError, Fingerprint, NameError};
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;
use std::time::{Duration, SystemTime};

use crate::shared::child::Child;
use crate::shared::{Scratch, memory};
use crate::support::alone;
use crate::support::alone::again;
use rustix::fs::Mode;

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn new_one_is_the_users_alone() {
    let scratch = Scratch::new();
    let path = scratch.path("new");
    let directory = Directory::open(&path).unwrap();
    assert_eq!((directory.path(), mode(&path)), (path.as_path(), 0o700));
    Directory::open(&path).unwrap();
    assert!(matches!(Directory::open(scratch.path("no/such")), Err(DirectoryError::System { .. })));
}

#[test]
fn directory_that_others_may_change_is_refused() {
    let scratch = Scratch::new();
    let path = scratch.path("names");
    fs::create_dir(&path).unwrap();
    for bits in [0o770, 0o707, 0o720, 0o702, 0o750, 0o701] {
        fs::set_permissions(&path, Permissions::from_mode(bits)).unwrap();
        let error = Directory::open(&path).unwrap_err();
        assert!(
            matches!(error, DirectoryError::Mode { mode, allowed: 0o700, .. } if mode == bits),
            "{error}"
        );
        assert!(error.to_string().contains(&format!("{bits:o}")));
        Directory::with_mode(&path, bits).unwrap();
    }
    fs::set_permissions(&path, Permissions::from_mode(0o770)).unwrap();
    assert!(matches!(Directory::with_mode(&path, 0o750), Err(DirectoryError::Mode { .. })));
    assert_eq!(mode(&path), 0o770, "what is there stays as it is");
}

#[test]
fn shared_one_has_its_mode_whatever_the_mask() {
    let scratch = Scratch::new();
    let path = scratch.path("names");
    let directory = Directory::with_mode(&path, 0o775).unwrap();
    assert_eq!(mode(&path), 0o775);
    let _published = directory.publish("a", memory(""), Fingerprint::of::<u64>()).unwrap();
    assert_eq!(mode(&path.join("a.ring")), 0o644, "all may read, and one writes");
}

/// The mask is the process's.
#[test]
fn files_have_their_mode_under_any_mask() {
    alone!();
    for mask in [0o177, 0o400, 0o777, 0o077, 0] {
        for (wanted, file) in [(0o700, 0o600), (0o770, 0o640), (0o777, 0o644)] {
            let scratch = Scratch::new();
            let path = scratch.path("names");
            rustix::process::umask(Mode::from_raw_mode(mask));
            let directory = Directory::with_mode(&path, wanted).unwrap();
            let published = directory.publish("a", memory(""), Fingerprint::of::<u64>()).unwrap();
            rustix::process::umask(Mode::from_raw_mode(0o022));
            assert_eq!((mode(&path), mode(&path.join("a.ring"))), (wanted, file), "{mask:o} {wanted:o}");
            let socket = path.join(".a.socket");
            assert!(wanted == 0o700 || mode(&socket) == file | (file & 0o044) >> 1, "{mask:o} {wanted:o}");
            assert_eq!(crate::shared::files(&scratch.0), ["names"], "nothing else");
            drop(published);
        }
    }
}

/// Each process that makes the directory at the same time has the one that stays, with its mode.
#[test]
fn directory_that_many_make_is_one() {
    for _ in 0..20 {
        let scratch = Scratch::new();
        let path = scratch.path("names");
        let open = || {
            let directory = Directory::with_mode(&path, 0o770).unwrap();
            let _name = directory.publish("a", memory(""), Fingerprint::of::<u64>());
            mode(&path)
        };
        let modes =
            std::thread::scope(|scope| [(); 4].map(|()| scope.spawn(open)).map(|one| one.join().unwrap()));
        assert_eq!(modes, [0o770; 4]);
        assert_eq!(crate::shared::files(&scratch.0), ["names"]);
    }
}

#[test]
fn link_or_file_is_refused_as_a_directory() {
    let scratch = Scratch::new();
    let (real, link, file) = (scratch.path("real"), scratch.path("link"), scratch.path("file"));
    Directory::open(&real).unwrap();
    symlink(&real, &link).unwrap();
    fs::write(&file, "").unwrap();
    for path in [link, file] {
        let refused = Directory::open(&path);
        assert!(
            matches!(&refused, Err(DirectoryError::NotADirectory { path: found }) if *found == path),
            "{refused:?}"
        );
    }
}

#[test]
fn directory_of_another_user_is_refused() {
    let scratch = Scratch::new();
    let mut path = scratch.path("names");
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o700)).unwrap();
    if chown(&path, Some(65_534), None).is_err() {
        // Only root gives directories away. But this one is root's.
        path = "/proc/1/task".into();
    }
    let owner = fs::metadata(&path).unwrap().uid();
    let refused = Directory::open(&path);
    assert!(
        matches!(refused, Err(DirectoryError::Owner { owner: found, .. }) if found == owner),
        "{refused:?}"
    );
}

#[test]
fn file_of_another_user_is_refused() {
    let (_scratch, directory) = crate::shared::directory();
    let path = directory.path().join("a.ring");
    fs::write(&path, "").unwrap();
    if chown(&path, Some(65_534), None).is_err() {
        eprintln!("skipped: only root gives files away");
        return;
    }
    assert!(matches!(directory.find("a"), Err(NameError::Owner { owner: 65_534, .. })));

    // So are the numbers of a name.
    drop(directory.numbering("b").unwrap());
    chown(directory.path().join(".b.numbers"), Some(65_534), None).unwrap();
    let refused = directory.numbering("b").unwrap_err();
    assert!(matches!(refused, NameError::Owner { owner: 65_534, .. }), "{refused}");
}

#[test]
fn error_for_another_user_says_the_socket_is_missing() {
    let scratch = Scratch::new();
    let path = scratch.path("names");
    let directory = Directory::with_mode(&path, 0o777).unwrap();
    let _published = directory.publish("a", memory("secret"), Fingerprint::of::<u64>()).unwrap();
    let Some(mut child) = Child::of_user(65_534, &path) else {
        eprintln!("skipped: only root makes processes of other users, and they must reach this program");
        return;
    };
    assert_eq!(child.ask("read a"), "secret");
    // As a process of an earlier version leaves it.
    fs::remove_file(path.join(".a.socket")).unwrap();
    let said = child.ask("read a");
    assert!(said.contains(&std::process::id().to_string()) && said.contains("may not open"), "{said}");
    let said = child.ask("publish a");
    assert!(said.contains("is taken by process"), "{said}");
}

/// The directory that a process of this user gets, with such a variable.
#[test]
fn directory_of_the_user_is_found() {
    let print = |runtime: Option<&Path>| {
        let mut command = again("shared::directories::prints_the_users_own");
        match runtime {
            Some(path) => command.env("XDG_RUNTIME_DIR", path),
            None => command.env_remove("XDG_RUNTIME_DIR"),
        };
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let scratch = Scratch::new();
    let said = print(Some(&scratch.0));
    assert!(said.contains(&format!("path: {}\n", scratch.path("annulus").display())), "{said}");
    assert_eq!(mode(&scratch.path("annulus")), 0o700);
    for runtime in [None, Some(Path::new("relative"))] {
        let said = print(runtime);
        assert!(said.contains("path: /dev/shm/annulus-") || said.contains("path: /tmp/annulus-"), "{said}");
    }
}

#[test]
#[ignore = "what another test starts as a process of its own"]
fn prints_the_users_own() {
    println!("path: {}", Directory::of_user().unwrap().path().display());
}

/// What a program that cleans up takes for old goes: the names of living processes do not, nor their sockets,
/// nor their numbers.
#[test]
fn name_of_a_living_process_never_gets_old() {
    let scratch = Scratch::new();
    let path = scratch.path("names");
    let directory = Directory::with_mode(&path, 0o770).unwrap();
    let _published = directory.publish("a", memory("here"), Fingerprint::of::<u64>()).unwrap();
    let rules = scratch.path("rules.conf");
    fs::set_permissions(&scratch.0, Permissions::from_mode(0o755)).unwrap();
    let in_a_year = SystemTime::now() + Duration::from_secs(365 * 24 * 3600);
    // The publisher that made the numbers, and the next one.
    for life in 0..2 {
        let mut made = directory.numbering("a").unwrap().lossy::<u64>(Settings::new(64)).unwrap();
        assert_eq!(made.invitation.info().unwrap().start(), 200 * life);
        made.handle.publish_batch(&[7; 200]);
        assert_eq!(crate::shared::text(directory.find("a").unwrap().open_read_only().unwrap()), "here");
        for name in ["a.ring", ".a.socket", ".a.numbers"] {
            let times = fs::metadata(path.join(name)).unwrap();
            let latest = times.accessed().unwrap().max(times.modified().unwrap());
            assert!(latest > in_a_year, "{name} in life {life}");
        }

        fs::write(path.join("old"), "").unwrap();
        fs::write(&rules, format!("d {} 0755 - - 0\n", scratch.0.display())).unwrap();
        let cleaned = Command::new("systemd-tmpfiles").arg("--clean").arg(&rules).output();
        if !cleaned.is_ok_and(|output| output.status.success()) {
            eprintln!("skipped: there is no systemd-tmpfiles here, or it refuses its work");
            continue;
        }
        assert_eq!(crate::shared::files(&path), [".a.numbers", ".a.socket", "a.ring"]);
        assert!(matches!(directory.numbering("a"), Err(NameError::Taken { .. })));
    }
}

/// Such a program has the lock of the directory meanwhile, and so may a user, to keep it away.
#[test]
fn locked_directory_can_be_used() {
    let (_scratch, directory) = crate::shared::directory();
    let locked = fs::File::open(directory.path()).unwrap();
    rustix::fs::flock(&locked, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let published = directory.publish("a", memory(""), Fingerprint::of::<u64>()).unwrap();
    directory.remove("a", true).unwrap();
    drop(published);
    assert!(crate::shared::files(directory.path()).is_empty());
}
