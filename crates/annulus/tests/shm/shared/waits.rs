//! The first of the two waits for the other.

use annulus::shm::{Directory, Fingerprint, NameError};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::shared::child::Child;
use crate::shared::{directory, memory};

#[test]
fn reader_may_come_first() {
    let (_scratch, directory) = directory();
    // What a crash left does not end the wait.
    fs::write(directory.path().join("a.ring"), "left").unwrap();
    let mut child = Child::new(directory.path());
    child.tell("wait a");
    thread::sleep(Duration::from_millis(100));
    let other = directory.publish("b", memory(""), Fingerprint::of::<u64>()).unwrap();
    let published = directory.publish("a", memory(""), Fingerprint::of::<u64>()).unwrap();
    assert_eq!(child.answer().unwrap(), format!("found {}", std::process::id()));
    assert_eq!(child.ask("wait a"), format!("found {}", std::process::id()), "at once");
    drop((published, other));
}

#[test]
fn many_waits_and_names_meet() {
    let (_scratch, directory) = directory();
    for _ in 0..200 {
        thread::scope(|scope| {
            let waiter = scope.spawn(|| directory.wait_for("a", None).unwrap());
            let published = directory.publish("a", memory(""), Fingerprint::of::<u64>()).unwrap();
            assert_eq!(waiter.join().unwrap().process().pid(), std::process::id());
            drop(published);
        });
    }
}

/// The directory is removed under one that waits, and made anew: the name is found there.
#[test]
fn wait_goes_by_the_path() {
    let (_scratch, directory) = directory();
    let path = directory.path().to_path_buf();
    fs::remove_dir(&path).unwrap();
    let waiter = thread::spawn({
        let directory = directory.clone();
        move || directory.wait_for("a", Some(Duration::from_secs(120))).map(|found| found.process().pid())
    });
    thread::sleep(Duration::from_millis(50));
    assert!(!path.exists(), "who waits makes none");
    let again = Directory::open(&path).unwrap();
    let published = again.publish("a", memory(""), Fingerprint::of::<u64>()).unwrap();
    assert_eq!(waiter.join().unwrap().unwrap(), std::process::id());
    drop(published);

    // What is there then may be no directory of this user's alone.
    fs::remove_dir(&path).unwrap();
    drop(Directory::with_mode(&path, 0o770).unwrap());
    let error = directory.wait_for("a", None).map(drop).unwrap_err();
    assert!(matches!(&error, NameError::System { name, .. } if name == "a"), "{error}");
    assert!(error.to_string().contains("770"), "{error}");
}

/// A path that is relative is what it was when the directory was opened.
#[test]
fn relative_path_stays() {
    let directory = Directory::with_mode(".", 0o777).unwrap();
    assert_eq!(directory.path(), std::env::current_dir().unwrap());
}

#[test]
fn wait_ends_in_time() {
    let (_scratch, directory) = directory();
    let begun = Instant::now();
    for timeout in [Duration::ZERO, Duration::from_millis(50)] {
        let told = directory.wait_for("a", Some(timeout)).map(drop);
        assert!(matches!(&told, Err(NameError::TimedOut { name }) if name == "a"), "{told:?}");
        assert!(begun.elapsed() >= timeout);
    }
}
