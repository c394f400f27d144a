//! The numbers of a name: a small file, whatever a process left that ended while it made it.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, chown};

use annulus::Settings;
use annulus::shm::{Directory, Fingerprint, NameError, broadcast, mpmc};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::shared::child::Child;
use crate::shared::{Scratch, directory, files, memory};
use crate::support::alone;
use crate::support::fork::in_a_child;

/// A process may end at any step.
#[test]
fn file_that_is_half_written_is_new() {
    let (_scratch, directory) = directory();
    let path = directory.path().join(".a.numbers");
    let zeros = [0; 4096];
    let with_identity = [&zeros[..8], &[7; 8], &zeros[16..]].concat();
    for left in [&zeros[..0], &zeros, &with_identity] {
        fs::write(&path, left).unwrap();
        let mut made = directory.numbering("a").unwrap().lossy::<u64>(Settings::new(4)).unwrap();
        made.handle.publish(1);
        drop(made);
        assert_eq!(directory.numbering("a").unwrap().next(), 1);
        assert_eq!(fs::read(&path).unwrap()[..8], *b"ANNULUSN");
        fs::remove_file(&path).unwrap();
    }
    // What has a number, or another length, is something else.
    let with_number = [&zeros[..16], &[7; 8], &zeros[24..]].concat();
    for other in [&with_number, &zeros[1..]] {
        fs::write(&path, other).unwrap();
        assert!(matches!(directory.numbering("a"), Err(NameError::InTheWay { .. })));
        assert_eq!(fs::read(&path).unwrap(), other);
    }
}

#[test]
fn numbering_is_there_as_soon_as_there_is_room() {
    let (_scratch, directory) = directory();
    let small = format!("mount -t tmpfs -o size=16k none {}", directory.path().display());
    let Some(mut child) = Child::with_mounts(&small, directory.path()) else {
        eprintln!("skipped: only root gives processes mounts of their own (unshare)");
        return;
    };
    assert_eq!(child.ask("fill file"), "full");
    let said = child.ask("numbers a");
    assert!(said.contains("/.a.numbers: ") && said.contains("no room left"), "{said}");
    assert_eq!(child.ask("free file"), "free");
    assert_eq!(child.ask("numbers a"), "next 0");
}

#[test]
fn error_of_numbers_has_their_path() {
    alone!();
    let (_scratch, directory) = directory();
    let before = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: Some(100), maximum: before.maximum }).unwrap();
    let error = directory.numbering("a").map(drop).unwrap_err().to_string();
    // A build that counts what tests reach writes a longer file at the end.
    setrlimit(Resource::Fsize, before).unwrap();
    assert!(error.contains("names/.a.numbers: ") && error.contains("ulimit -f"), "{error}");
}

/// A process has ended after it gave the file its length, and before it wrote to it.
#[test]
fn file_that_may_not_be_written_to_is_an_error() {
    alone!();
    let (_scratch, directory) = directory();
    fs::write(directory.path().join(".a.numbers"), [0; 4096]).unwrap();
    let before = getrlimit(Resource::Fsize);
    // The last one writes nothing.
    for (limit, may_write) in [(0, false), (8, false), (15, false), (16, true), (0, true)] {
        setrlimit(Resource::Fsize, Rlimit { current: Some(limit), maximum: before.maximum }).unwrap();
        let numbering = directory.numbering("a").map(drop).map_err(|error| error.to_string());
        setrlimit(Resource::Fsize, before).unwrap();
        assert_eq!(numbering.is_ok(), may_write, "{limit}: {numbering:?}");
        if let Err(error) = numbering {
            assert!(error.contains("names/.a.numbers: ") && error.contains("ulimit -f"), "{error}");
        }
    }
}

/// A process with a mask has ended before it gave the file its mode. Root opens any file.
#[test]
fn file_without_its_mode_gets_it() {
    const USER: u32 = 65_534;
    let scratch = Scratch::new();
    fs::set_permissions(&scratch.0, Permissions::from_mode(0o755)).unwrap();
    let path = scratch.path("names");
    Directory::with_mode(&path, 0o777).unwrap();
    for name in [".a.numbers", ".b.numbers"] {
        fs::write(path.join(name), "").unwrap();
        fs::set_permissions(path.join(name), Permissions::from_mode(0o000)).unwrap();
    }
    let given = chown(path.join(".a.numbers"), Some(USER), None).ok();
    let Some(mut child) = given.and_then(|()| Child::of_user(USER, &path)) else {
        eprintln!("skipped: only root makes processes of other users, and they must reach this program");
        return;
    };
    assert_eq!(child.ask("numbers a"), "next 0");
    assert_eq!(fs::metadata(path.join(".a.numbers")).unwrap().permissions().mode() & 0o777, 0o600);
    let said = child.ask("numbers b");
    assert!(said.contains("/.b.numbers: ") && said.contains("ermission denied"), "another's: {said}");
}

#[test]
fn numbers_are_removed_with_and_without_their_name() {
    let (_scratch, directory) = directory();
    let begin = || {
        let mut made = directory.numbering("a").unwrap().lossy::<u64>(Settings::new(4)).unwrap();
        made.handle.publish(1);
        made
    };
    // Its publisher has ended as it should, and taken its name back.
    let made = begin();
    drop(made.invitation.publish(&directory, "a").unwrap());
    drop(made);
    assert_eq!((files(directory.path()), directory.list().unwrap()), (vec![".a.numbers".into()], vec![]));
    directory.remove("a", false).unwrap();
    assert!(files(directory.path()).is_empty());
    assert!(matches!(directory.remove("a", true), Err(NameError::NotFound { .. })));

    // A publisher has them, and no name yet: also where a dead process left that.
    let _made = begin();
    for is_left in [false, true] {
        if is_left {
            fs::write(directory.path().join("a.ring"), "").unwrap();
        }
        assert!(matches!(directory.remove("a", false), Err(NameError::Taken { process: None, .. })));
        assert!(matches!(directory.numbering("a"), Err(NameError::Taken { .. })));
    }
    directory.remove("a", true).unwrap();
    assert!(files(directory.path()).is_empty());
}

/// A child that `fork` made drops its copies: all that its parent has stays its own.
#[test]
fn copy_in_a_child_gives_no_lock_up() {
    let (_scratch, directory) = directory();
    let mut numbering = Some(directory.numbering("a").unwrap());
    let queue = mpmc::Builder::new(Settings::new(2)).producers(1).consumers(1).build::<u64>().unwrap();
    let mut consumer = Some(mpmc::consumer::<u64>(&queue.invitation).unwrap());
    let ring = broadcast::lossless::<u64>(Settings::new(2), 1).unwrap();
    let seats = [(); 2].map(|()| ring.invitation.accept_lossless::<u64>().unwrap());
    let mut subscriber = Some(seats[0].subscribe().unwrap());
    let drops = || {
        drop((numbering.take(), consumer.take(), subscriber.take()));
        0
    };
    // SAFETY: it calls the system and the allocator only.
    assert_eq!(unsafe { in_a_child(drops) }, 0);
    let taken = directory.numbering("a");
    assert!(matches!(taken, Err(NameError::Taken { .. })), "{taken:?}");
    assert!(mpmc::consumer::<u64>(&queue.invitation).is_err());
    assert!(seats[1].subscribe().is_err());
    let _published = directory.publish("a", memory(""), Fingerprint::of::<u64>()).unwrap();
    drop((numbering, consumer, subscriber));
    drop(directory.numbering("a").unwrap());
}
