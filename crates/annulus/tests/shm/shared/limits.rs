//! What a process may not have, or can't see: an error names the step, and what to change.

use std::fs;

use annulus::Settings;
use annulus::shm::{Directory, FindError, Fingerprint, Invitation, Shared, broadcast};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::shared::child::Child;
use crate::shared::{Scratch, directory, files, memory};
use crate::support::alone;

/// A longer file ends its process by a signal: the file of a name has some hundred bytes, and one line more
/// at its end.
#[test]
fn file_that_may_not_be_so_long_is_an_error() {
    alone!();
    let (_scratch, directory) = directory();
    let before = getrlimit(Resource::Fsize);
    let mut told = Vec::new();
    for limit in 0..300 {
        let ring = memory("");
        setrlimit(Resource::Fsize, Rlimit { current: Some(limit), maximum: before.maximum }).unwrap();
        let published = directory.publish("a", ring, Fingerprint::of::<u64>());
        told.push(published.map(drop).map_err(|error| error.to_string()));
        // A build that counts what tests reach writes a longer file at the end.
        setrlimit(Resource::Fsize, before).unwrap();
        assert!(files(directory.path()).is_empty(), "{:?}", files(directory.path()));
    }
    let error = told[0].as_ref().unwrap_err();
    assert!(error.contains("names/a.ring") && error.contains("ulimit -f"), "{error}");
    assert_eq!(told.last().unwrap(), &Ok(()));
    assert!(told.is_sorted_by_key(Result::is_ok), "a name has place, or has not");
}

/// Whichever descriptor is the first one too many.
#[test]
fn descriptor_too_many_is_an_error() {
    alone!();
    let scratch = Scratch::new();
    let before = getrlimit(Resource::Nofile);
    let attempt = |mode: u32| {
        let directory = Directory::with_mode(scratch.path(&format!("{mode:o}")), mode)?;
        let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(4))?;
        let _name = invitation.publish(&directory, "a")?;
        Invitation::find(&directory.find("a")?)?.accept::<u64>()?;
        Ok::<(), FindError>(())
    };
    for mode in [0o700, 0o770] {
        let open = fs::read_dir("/proc/self/fd").unwrap().count() as u64;
        let mut refused = 0;
        for limit in open..open + 40 {
            setrlimit(Resource::Nofile, Rlimit { current: Some(limit), maximum: before.maximum }).unwrap();
            let told = attempt(mode);
            setrlimit(Resource::Nofile, before).unwrap();
            if let Err(error) = told {
                refused += 1;
                let text = error.to_string();
                assert!(text.contains("ulimit -n"), "{limit} of {open}: {text}");
            }
        }
        assert!((1..30).contains(&refused), "{refused}");
        let path = scratch.path(&format!("{mode:o}"));
        assert!(files(&path).is_empty(), "{:?}", files(&path));
    }
}

#[test]
fn process_without_proc_is_told_so() {
    let (scratch, directory) = directory();
    let Some(mut child) = Child::with_mounts("mount -t tmpfs none /proc", directory.path()) else {
        eprintln!("skipped: only root gives processes mounts of their own (unshare)");
        return;
    };
    let _published = directory.publish("a", memory("here"), Fingerprint::of::<u64>()).unwrap();
    let said = child.ask("publish b");
    assert!(said.contains("/proc/self/stat: ") && said.contains("mount /proc"), "{said}");
    let said = child.ask("read a");
    assert!(said.contains("/proc/self/ns/pid: ") && said.contains("mount /proc"), "{said}");
    // A directory that has to be made.
    let path = scratch.path("new");
    let said = child.ask(&format!("open {}", path.display()));
    assert!(said.contains("/proc/thread-self/fd/") && said.contains("mount /proc"), "{said}");
    assert_eq!(files(&scratch.0), ["names"], "no draft is left");
}

/// A process that locks all that it maps (as real-time programs do) has a limit for that.
#[test]
fn process_that_may_lock_no_more_memory_is_told_so() {
    // Enough for all but a ring of twice as many bytes.
    const LIMIT: u64 = 8 << 20;

    alone!();
    let maximum = getrlimit(Resource::Memlock).maximum;
    if maximum.is_some_and(|maximum| maximum < LIMIT) {
        eprintln!("skipped: this process may lock less memory than the test itself takes");
        return;
    }
    let before = broadcast::lossy::<u64>(Settings::new(1 << 20)).unwrap();
    crate::shared::forgo(rustix::thread::CapabilitySet::IPC_LOCK);
    setrlimit(Resource::Memlock, Rlimit { current: Some(LIMIT), maximum }).unwrap();
    rustix::mm::mlockall(rustix::mm::MlockAllFlags::FUTURE).unwrap();
    let made = broadcast::lossy::<u64>(Settings::new(1 << 20)).map(drop).map_err(|error| error.to_string());
    let joined = before.invitation.accept::<u64>().map(drop).map_err(|error| error.to_string());
    rustix::mm::munlockall().unwrap();
    for error in [made.unwrap_err(), joined.unwrap_err()] {
        assert!(error.contains("ulimit -l") && !error.contains("ulimit -v"), "{error}");
    }
}
