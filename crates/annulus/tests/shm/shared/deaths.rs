//! Processes that are killed, stopped, or let go.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;

use annulus::Settings;
use annulus::shm::{
    Directory, FindError, Fingerprint, Invitation, NameError, NamedSubscriber, PeerState, Received,
};
use annulus::shm::{frames, mp_broadcast, mpmc};
use rustix::process::Signal;
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use crate::shared::child::Child;
use crate::shared::{Scratch, directory, files, memory, text};
use crate::support::fork::in_a_child;

#[test]
fn name_of_a_killed_process_is_replaced() {
    let (_scratch, directory) = directory();
    let mut child = Child::new(directory.path());
    assert_eq!(child.ask("publish a"), "published");
    let found = directory.find("a").unwrap();
    assert_eq!((found.state(), found.process().pid()), (PeerState::Alive, child.pid()));
    let before = found.open_read_only().unwrap();

    child.kill();
    // Nobody has asked for its exit code: it still has its number.
    assert!(fs::exists(format!("/proc/{}", child.pid())).unwrap());
    assert_eq!(found.state(), PeerState::Dead);
    assert!(matches!(found.open_read_only(), Err(NameError::Dead { .. })));
    assert_eq!(text(before), "a", "what was opened stays");
    let pid = child.pid();
    let dead = directory.find("a").map(drop);
    assert!(
        matches!(&dead, Err(NameError::Dead { process: Some(process), .. }) if process.pid() == pid),
        "{dead:?}"
    );
    let entries = directory.list().unwrap();
    assert_eq!((entries[0].state, entries[0].process.unwrap().pid()), (PeerState::Dead, pid));

    drop(child);
    assert_eq!(found.state(), PeerState::Dead, "nor does it matter that it is gone");
    let entry = &directory.list().unwrap()[0];
    assert_eq!((entry.state, entry.pid_here), (PeerState::Dead, Some(pid)));
    let _published = directory.publish("a", memory("new"), Fingerprint::of::<u64>()).unwrap();
    assert_eq!(text(directory.find("a").unwrap().open_read_only().unwrap()), "new");
    assert_eq!(found.state(), PeerState::Dead);
}

#[test]
fn process_that_ends_as_it_should_leaves_nothing() {
    let (_scratch, directory) = directory();
    let mut child = Child::new(directory.path());
    assert_eq!(child.ask("publish a"), "published");
    let found = directory.find("a").unwrap();
    child.end();
    assert_eq!(found.state(), PeerState::Closed);
    assert!(files(directory.path()).is_empty());
}

#[test]
fn process_that_is_stopped_is_alive() {
    let (_scratch, directory) = directory();
    let mut child = Child::new(directory.path());
    assert_eq!(child.ask("publish a"), "published");
    child.stop();
    let found = directory.find("a").unwrap();
    assert_eq!(found.state(), PeerState::Alive);
    assert_eq!(text(found.open_read_only().unwrap()), "a");
    let refused = directory.publish("a", memory(""), Fingerprint::of::<u64>()).map(drop);
    assert!(matches!(refused, Err(NameError::Taken { .. })));
    child.signal(Signal::CONT);
    assert_eq!(child.ask("drop a"), "dropped");
}

/// The process stays, with its number and its start. But all that it had is closed.
#[test]
fn process_that_becomes_another_program_is_dead() {
    let (_scratch, directory) = directory();
    let mut child = Child::new(directory.path());
    assert_eq!(child.ask("publish a"), "published");
    let found = directory.find("a").unwrap();
    child.tell("exec 1000");
    while fs::read_to_string(format!("/proc/{}/comm", child.pid())).unwrap().trim() != "sleep" {
        thread::sleep(Duration::from_millis(1));
    }
    // It has its new name a moment before its files are closed.
    let begun = std::time::Instant::now();
    while found.state() != PeerState::Dead {
        assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", found.state());
        thread::sleep(Duration::from_millis(1));
    }
    assert!(matches!(found.open_read_only(), Err(NameError::Dead { .. })));
    drop(directory.publish("a", memory(""), Fingerprint::of::<u64>()).unwrap());
}

/// Wherever a process is killed that gives names and takes them back: the next one has the name at once, and
/// nothing stays.
#[test]
fn kill_at_any_point_leaves_nothing_in_the_way() {
    let (_scratch, directory) = directory();
    let mut dice = 7_u64;
    let rounds: u32 = std::env::var("ANNULUS_SHM_ROUNDS").map_or(60, |rounds| rounds.parse().unwrap());
    for round in 0..rounds {
        let mut child = Child::new(directory.path());
        assert_eq!(child.ask("publish b"), "published");
        child.tell("churn a");
        dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        thread::sleep(Duration::from_micros((dice >> 32) % 3000));
        child.kill();
        drop(child);
        let published = directory.publish("a", memory("mine"), Fingerprint::of::<u64>());
        let published = published.unwrap_or_else(|error| panic!("round {round}: {error}"));
        assert_eq!(text(directory.find("a").unwrap().open_read_only().unwrap()), "mine");
        drop(published);
        directory.remove("b", false).unwrap();
        assert!(files(directory.path()).is_empty(), "{:?}", files(directory.path()));
    }
}

#[test]
fn a_copy_in_a_child_takes_nothing_back() {
    let (_scratch, directory) = directory();
    let mut published = Some(directory.publish("a", memory(""), Fingerprint::of::<u64>()).unwrap());
    let taken_back = || {
        drop(published.take());
        0
    };
    // SAFETY: it calls the system and the allocator only.
    assert_eq!(unsafe { in_a_child(taken_back) }, 0);
    assert_eq!(directory.find("a").unwrap().state(), PeerState::Alive);
    drop(published);
    assert!(files(directory.path()).is_empty());
}

/// A thread that begins another program has a copy of everything for a moment: what has ended is free all the
/// same.
#[test]
fn a_copy_in_a_child_keeps_nothing_that_has_ended() {
    let (_scratch, directory) = directory();
    let frames = frames::Builder::new(Settings::new(2), 8).subscribers(1).build().unwrap();
    let ring = frames.invitation.accept_frames().unwrap();
    let queue = mpmc::Builder::new(Settings::new(2)).producers(1).consumers(1).build::<u64>().unwrap();
    let seat = mp_broadcast::Builder::new(Settings::new(2)).build_lossless::<u64>(1).unwrap();
    let seats = seat.invitation.accept_lossless::<u64>().unwrap();
    let ends = || {
        let numbering = directory.numbering("a").map_err(|error| error.to_string())?;
        let subscriber = ring.subscribe().map_err(|error| error.to_string())?;
        let producer = mpmc::producer(&queue.invitation).map_err(|error| error.to_string())?;
        let consumer = mpmc::consumer::<u64>(&queue.invitation).map_err(|error| error.to_string())?;
        let seated = seats.subscribe().map_err(|error| error.to_string())?;
        Ok::<_, String>((numbering, subscriber, producer as mpmc::Producer<u64>, consumer, seated))
    };
    let made = ends().unwrap();
    let (mut ours, mut theirs) = UnixStream::pair().unwrap();
    thread::scope(|scope| {
        let waits = || i32::from(theirs.write_all(b"!").is_err() || theirs.read_exact(&mut [0]).is_err());
        // SAFETY: it calls the system only.
        let child = scope.spawn(|| unsafe { in_a_child(waits) });
        ours.read_exact(&mut [0]).unwrap();
        drop(made);
        let next = ends().map(drop);
        ours.write_all(b"!").unwrap();
        assert_eq!((next, child.join().unwrap()), (Ok(()), 0));
    });
}

/// The first thread of a process may end, and others go on (`pthread_exit` in `main`). `/proc/PID/fd` shows
/// nothing then.
#[test]
fn process_outlives_its_first_thread() {
    let scratch = Scratch::new();
    for mode in [0o700, 0o770] {
        let path = scratch.path(&format!("{mode:o}"));
        let directory = Directory::with_mode(&path, mode).unwrap();
        let _here = directory.publish("here", memory("here"), Fingerprint::of::<u64>()).unwrap();
        let mut child = Child::new(&path);
        assert_eq!(
            (child.ask("lossy a"), child.ask("outlive first")),
            ("published".into(), "outlived".into())
        );
        assert_eq!(child.ask("lossy b"), "published");
        assert_eq!((child.ask("read here"), child.ask("receive a")), ("here".into(), "received 7".into()));
        for name in ["a", "b"] {
            let mut subscriber = NamedSubscriber::<u64>::new(&directory, name).unwrap().begin_with_oldest();
            assert!(matches!(subscriber.recv().unwrap(), Received::Began { missed: 0, .. }));
            assert_eq!(subscriber.recv().unwrap(), Received::Message(7));
            is_taken(&mut Child::new(&path), name);
        }
        // Its start is another one than the file says: it has the file.
        let start = format!("start {}\n", directory.find("a").unwrap().process().start_time());
        let record = fs::read_to_string(path.join("a.ring")).unwrap();
        fs::write(path.join("a.ring"), record.replace(&start, "start 1\n")).unwrap();
        assert_eq!(directory.find("a").map(|found| found.state()).unwrap(), PeerState::Alive);
        assert_eq!((child.ask("drop a"), child.ask("drop b")), ("dropped".into(), "dropped".into()));
        child.end();
    }
}

/// A process that has nothing open, as at its end, when the kernel has closed all and not yet told so. What
/// waits for a ring waits on, until its own end.
#[test]
fn process_without_any_descriptor_is_about_to_end() {
    let (_scratch, directory) = directory();
    let mut child = Child::new(directory.path());
    assert_eq!(child.ask("publish a"), "published");
    child.tell("close all");
    // As a child of that process would have it.
    let file = fs::File::open(directory.path().join("a.ring")).unwrap();
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    let begun = Instant::now();
    while fs::read_dir(format!("/proc/{}/fd", child.pid())).unwrap().next().is_some() {
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
    let found = directory.find("a").unwrap();
    assert_eq!(found.state(), PeerState::Alive);
    assert!(matches!(found.open_read_only(), Err(NameError::Dead { .. })));
    for timeout in [Duration::ZERO, Duration::from_millis(10)] {
        let waited = Invitation::wait_for(&directory, "a", Some(timeout)).map(drop);
        assert!(matches!(waited, Err(FindError::Name(NameError::TimedOut { .. }))), "{waited:?}");
    }
    let published = mp_broadcast::Builder::new(Settings::new(4)).publish_in::<u64>(&directory, "a").map(drop);
    assert!(matches!(published, Err(FindError::Name(NameError::Dead { .. }))), "{published:?}");
}

/// A name that a living process has, as another process sees it that can't see the process: the lock decides.
fn is_taken(child: &mut Child, name: &str) {
    for verb in ["publish", "remove"] {
        let said = child.ask(&format!("{verb} {name}"));
        assert!(said.contains("is taken by process"), "{verb}: {said}");
    }
}

#[test]
fn process_with_another_clock_is_alive() {
    let (_scratch, directory) = directory();
    let Some(mut child) = Child::of_time_namespace(directory.path()) else {
        eprintln!("skipped: only root gives processes a clock of their own (unshare)");
        return;
    };
    let _published = directory.publish("here", memory("here"), Fingerprint::of::<u64>()).unwrap();
    assert_eq!(child.ask("publish there"), "published");
    assert_eq!(text(directory.find("there").unwrap().open_read_only().unwrap()), "there");
    is_taken(&mut Child::new(directory.path()), "there");
    assert_eq!(child.ask("read here"), "here");
    is_taken(&mut child, "here");
    child.kill();
    assert!(matches!(directory.find("there"), Err(NameError::Dead { .. })));
}

/// As where `/proc` is mounted with `hidepid`.
#[test]
fn process_that_proc_hides_is_alive() {
    let scratch = Scratch::new();
    let nothing = scratch.path("nothing");
    fs::create_dir(&nothing).unwrap();
    let me = std::process::id();
    let hide = format!("mount --bind {} /proc/{me}", nothing.display());
    for mode in [0o700, 0o770] {
        let path = scratch.path(&format!("{mode:o}"));
        let directory = Directory::with_mode(&path, mode).unwrap();
        let published = directory.publish("a", memory("here"), Fingerprint::of::<u64>()).unwrap();
        let Some(mut child) = Child::with_mounts(&hide, &path) else {
            eprintln!("skipped: only root gives processes mounts of their own (unshare)");
            return;
        };
        is_taken(&mut child, "a");
        let said = child.ask("read a");
        assert!(if mode == 0o700 { said.contains("may not open") } else { said == "here" }, "{said}");
        drop(published);
        assert!(child.ask("read a").contains("there is no ring"));
    }
}

/// Process numbers of its own, beside a `/proc` with those of all.
#[test]
fn proc_of_other_numbers_leads_to_the_right_process() {
    let (_scratch, directory) = directory();
    let Some(mut child) = Child::of_numbers(directory.path()) else {
        eprintln!("skipped: only root gives processes numbers of their own (unshare)");
        return;
    };
    assert_eq!((child.ask("publish a"), child.ask("read a")), ("published".into(), "a".into()));
    is_taken(&mut child, "a");
}
