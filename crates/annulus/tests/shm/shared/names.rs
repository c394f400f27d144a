//! Names in one process.

use annulus::shm::{
    BadName, Fingerprint, Invitation, NameError, NamedSubscriber, PeerState, ProcessId, Shared, broadcast,
    mp_broadcast,
};
use std::fs;
use std::os::fd::AsFd;
use std::os::unix::fs::{PermissionsExt, symlink};

use crate::shared::child::Child;
use crate::shared::{directory, files, memory, text};
use crate::support::alone;

fn fingerprint() -> Fingerprint {
    Fingerprint::from_u64(0x1234)
}

#[test]
fn name_leads_to_the_descriptor() {
    let (_scratch, directory) = directory();
    let published = directory.publish("quotes", memory("hello"), fingerprint()).unwrap();
    assert_eq!(
        (published.name(), text(published.as_fd().try_clone_to_owned().unwrap()).as_str()),
        ("quotes", "hello")
    );

    let found = directory.find("quotes").unwrap();
    assert_eq!((found.name(), found.state()), ("quotes", PeerState::Alive));
    assert_eq!((found.process(), found.fingerprint()), (ProcessId::current().unwrap(), fingerprint()));
    let reader = found.open_read_only().unwrap();
    assert_eq!(rustix::io::write(&reader, b"x"), Err(rustix::io::Errno::BADF), "to be read only");
    assert_eq!(text(reader), "hello");
    let writer = found.open_writable().unwrap();
    assert_eq!(rustix::io::write(&writer, b"j"), Ok(1));
    assert_eq!(text(found.open_read_only().unwrap()), "jello");

    let file = directory.path().join("quotes.ring");
    assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_name_ends_with_its_guard() {
    let (_scratch, directory) = directory();
    let published = directory.publish("a", memory("1"), fingerprint()).unwrap();
    let found = directory.find("a").unwrap();
    drop(published);
    assert_eq!(found.state(), PeerState::Closed);
    assert!(matches!(found.open_read_only(), Err(NameError::NotFound { .. })));
    assert!(matches!(directory.find("a"), Err(NameError::NotFound { name }) if name == "a"));
    assert!(files(directory.path()).is_empty());

    let _again = directory.publish("a", memory("2"), fingerprint()).unwrap();
    assert_eq!(found.state(), PeerState::Closed, "the first one stays what it is");
    assert_eq!(text(directory.find("a").unwrap().open_read_only().unwrap()), "2");
}

#[test]
fn name_is_for_one() {
    let (_scratch, directory) = directory();
    let published = directory.publish("a", memory("1"), fingerprint()).unwrap();
    let error = directory.publish("a", memory("2"), fingerprint()).unwrap_err();
    assert!(matches!(&error, NameError::Taken { process, .. } if *process == ProcessId::current().ok()));
    assert!(error.to_string().contains(&std::process::id().to_string()), "{error}");
    assert_eq!(text(directory.find("a").unwrap().open_read_only().unwrap()), "1");
    drop(published);
}

#[test]
fn names_that_cant_be_are_named_in_the_error() {
    let (_scratch, directory) = directory();
    for (name, why) in [
        ("", BadName::Empty),
        ("..", BadName::LeadingDot),
        ("../a", BadName::LeadingDot),
        ("a/../b", BadName::Character('/')),
        ("a\0b", BadName::Character('\0')),
        (&"x".repeat(201), BadName::TooLong),
    ] {
        let errors = [
            directory.publish(name, memory(""), fingerprint()).map(drop).unwrap_err(),
            directory.find(name).map(drop).unwrap_err(),
            directory.wait_for(name, None).map(drop).unwrap_err(),
            directory.remove(name, true).unwrap_err(),
        ];
        for error in errors {
            assert!(error.to_string().contains(&format!("{name:?}")), "{error}");
            assert!(
                matches!(error, NameError::Bad { name: found, why: found_why } if found == name && found_why == why)
            );
        }
    }
    let longest = "x".repeat(BadName::LONGEST);
    drop(directory.publish(&longest, memory(""), fingerprint()).unwrap());
}

#[test]
fn link_or_directory_at_a_name_is_an_error() {
    let (scratch, directory) = directory();
    let target = scratch.path("target");
    fs::write(&target, "precious").unwrap();
    let path = |name: &str| directory.path().join(format!("{name}.ring"));
    symlink(&target, path("link")).unwrap();
    symlink(scratch.path("nowhere"), path("dangling")).unwrap();
    fs::create_dir(path("folder")).unwrap();
    let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::from_raw_mode(0o600)).unwrap();
    for name in ["link", "dangling", "folder", "socket", "pipe"] {
        let refused = directory.publish(name, memory(""), fingerprint()).map(drop);
        assert!(matches!(refused, Err(NameError::InTheWay { .. })), "{name}: {refused:?}");
        assert!(matches!(directory.find(name), Err(NameError::InTheWay { .. })), "{name}");
        assert!(matches!(directory.remove(name, true), Err(NameError::InTheWay { .. })), "{name}");
    }
    assert_eq!(fs::read_to_string(target).unwrap(), "precious");
    assert_eq!(directory.list().unwrap(), []);
}

#[test]
fn unlocked_name_is_replaced() {
    let (_scratch, directory) = directory();
    let path = directory.path().join("a.ring");
    // Of this very process, which is alive: but nobody holds the lock.
    let published = directory.publish("a", memory(""), fingerprint()).unwrap();
    let unlocked = fs::read(&path).unwrap();
    drop(published);
    for left in [&unlocked[..], b"", b"annulus name 2\n", &[0xFF; 5000], &unlocked[..unlocked.len() / 2]] {
        fs::write(&path, left).unwrap();
        assert!(matches!(directory.find("a"), Err(NameError::Dead { .. })));
        let entries = directory.list().unwrap();
        assert_eq!((entries[0].name.as_str(), entries[0].state), ("a", PeerState::Dead));
        let published = directory.publish("a", memory("new"), fingerprint()).unwrap();
        assert_eq!(text(directory.find("a").unwrap().open_read_only().unwrap()), "new");
        drop(published);

        fs::write(&path, left).unwrap();
        directory.remove("a", false).unwrap();
        assert!(matches!(directory.remove("a", false), Err(NameError::NotFound { .. })));
    }
}

#[test]
fn list_has_all_names() {
    let (_scratch, directory) = directory();
    assert_eq!(directory.list().unwrap(), []);
    let guards: Vec<_> =
        ["b", "a", "c"].map(|name| directory.publish(name, memory(""), fingerprint()).unwrap()).into();
    fs::write(directory.path().join("notes.txt"), "not ours").unwrap();
    fs::write(directory.path().join(".b.draft"), "left").unwrap();
    let entries = directory.list().unwrap();
    assert_eq!(entries.iter().map(|entry| entry.name.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    for entry in entries {
        assert_eq!((entry.state, entry.process), (PeerState::Alive, ProcessId::current().ok()));
        assert_eq!(entry.fingerprint, Some(fingerprint()));
    }
    drop(guards);
    assert_eq!(directory.list().unwrap(), []);
}

#[test]
fn living_name_is_removed_by_force_only() {
    let (_scratch, directory) = directory();
    let first = directory.publish("a", memory("1"), fingerprint()).unwrap();
    let found = directory.find("a").unwrap();
    assert!(matches!(directory.remove("a", false), Err(NameError::Taken { process: Some(_), .. })));
    directory.remove("a", true).unwrap();
    assert!(matches!(directory.find("a"), Err(NameError::NotFound { .. })));
    assert_eq!((found.state(), text(found.open_read_only().unwrap()).as_str()), (PeerState::Alive, "1"));

    let _second = directory.publish("a", memory("2"), fingerprint()).unwrap();
    // It has no name any more: what is there is another's.
    drop(first);
    assert_eq!(text(directory.find("a").unwrap().open_read_only().unwrap()), "2");
}

/// What its process gave the name to is no file: that is an error of its own, and nothing is waited for.
#[test]
fn name_of_a_socket_leads_to_no_ring() {
    let (_scratch, directory) = directory();
    let (socket, _other) = std::os::unix::net::UnixStream::pair().unwrap();
    let published = directory.publish("a", &socket, fingerprint()).unwrap();
    let found = directory.find("a").unwrap();
    let waited = Invitation::wait_for(&directory, "a", None).map(drop).map_err(|error| error.to_string());
    let mut subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap();
    let builder = mp_broadcast::Builder::new(annulus::Settings::new(4));
    for said in [
        found.open_read_only().map(drop).map_err(|error| error.to_string()),
        found.open_writable().map(drop).map_err(|error| error.to_string()),
        Invitation::find(&found).map(drop).map_err(|error| error.to_string()),
        waited,
        subscriber.recv().map(drop).map_err(|error| error.to_string()),
        builder.publish_in::<u64>(&directory, "a").map(drop).map_err(|error| error.to_string()),
    ] {
        let said = said.unwrap_err();
        assert!(said.contains("has no such file open") && said.contains("rm --force"), "{said}");
    }
    assert!(matches!(found.open_read_only(), Err(NameError::NoDescriptor { .. })));
    drop(published);
    assert!(matches!(found.open_read_only(), Err(NameError::NotFound { .. })));
}

/// A file that somebody holds, as the process of a ring does.
fn held(path: &std::path::Path, text: &str) -> fs::File {
    fs::write(path, text).unwrap();
    let file = fs::File::open(path).unwrap();
    // It waits: a process that another test begins has copies of all descriptors, also of one that was held
    // and closed here before, until its `exec`.
    rustix::fs::flock(&file, rustix::fs::FlockOperation::LockExclusive).unwrap();
    file
}

#[test]
fn locked_name_is_taken() {
    let (_scratch, directory) = directory();
    let _file = held(&directory.path().join("a.ring"), "not of ours");
    let entries = directory.list().unwrap();
    assert_eq!((entries[0].state, entries[0].process), (PeerState::Alive, None));
    assert!(matches!(directory.find("a"), Err(NameError::InTheWay { .. })));
    let refused = directory.publish("a", memory(""), fingerprint()).map(drop);
    assert!(matches!(refused, Err(NameError::Taken { process: None, .. })));
    assert!(matches!(directory.remove("a", false), Err(NameError::Taken { process: None, .. })));
    directory.remove("a", true).unwrap();
}

#[test]
fn lock_shows_a_process_of_another_container() {
    let (_scratch, directory) = directory();
    let path = directory.path().join("a.ring");
    let record = "annulus name 1\npid 77\nstart 88\nnamespace 99\nfd 3\nfingerprint 0000000000000001\n";
    let file = held(&path, record);
    let found = directory.find("a").unwrap();
    assert_eq!((found.state(), found.process().pid()), (PeerState::Alive, 77));
    let refused = found.open_read_only();
    assert!(matches!(refused, Err(NameError::OtherNamespace { .. })), "{refused:?}");
    let refused = directory.publish("a", memory(""), fingerprint()).map(drop);
    assert!(matches!(refused, Err(NameError::Taken { process: Some(process), .. }) if process.pid() == 77));
    // (A drop alone might leave the lock to a child that another test has just begun to make.)
    rustix::fs::flock(&file, rustix::fs::FlockOperation::Unlock).unwrap();
    assert_eq!(found.state(), PeerState::Dead);
}

/// Its start is another one than its file says (it was restored from a checkpoint, say): it has the file.
#[test]
fn process_that_has_the_file_is_alive_whatever_its_start() {
    let (_scratch, directory) = directory();
    let path = directory.path().join("a.ring");
    let published = directory.publish("a", memory(""), fingerprint()).unwrap();
    let record = fs::read_to_string(&path).unwrap();
    drop(published);
    let start = |text: &str| format!("start {text}\n");
    let ours = start(&ProcessId::current().unwrap().start_time().to_string());
    let file = held(&path, &record.replace(&ours, &start("1")));
    assert_eq!(directory.find("a").unwrap().state(), PeerState::Alive);
    let refused = directory.publish("a", memory(""), fingerprint()).map(drop);
    assert!(matches!(refused, Err(NameError::Taken { .. })), "{refused:?}");
    assert!(matches!(directory.remove("a", false), Err(NameError::Taken { .. })));
    drop(file);

    // Another process has its number now, and a child that it made still has the lock.
    let mut other = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
    let process = |pid: u32| format!("pid {pid}\n");
    let record = record.replace(&process(std::process::id()), &process(other.id()));
    let _file = held(&path, &record.replace(&ours, &start("1")));
    assert!(matches!(directory.find("a"), Err(NameError::Dead { .. })));
    other.kill().unwrap();
    other.wait().unwrap();
}

#[test]
fn name_that_says_closed_is_none() {
    let (_scratch, directory) = directory();
    let path = directory.path().join("a.ring");
    let published = directory.publish("a", memory(""), fingerprint()).unwrap();
    let text = fs::read_to_string(&path).unwrap();
    drop(published);
    // As if its process had ended before it came to remove it.
    fs::write(&path, text + "closed\n").unwrap();
    assert!(matches!(directory.find("a"), Err(NameError::NotFound { .. })));
    assert_eq!(directory.list().unwrap()[0].state, PeerState::Closed);
    drop(directory.publish("a", memory(""), fingerprint()).unwrap());
    assert!(files(directory.path()).is_empty());
}

#[test]
fn debug_output_names_each_type() {
    let (_scratch, directory) = directory();
    let published = directory.publish("quotes", memory(""), fingerprint()).unwrap();
    let found = directory.find("quotes").unwrap();
    let path = format!("{:?}", directory.path());
    assert_eq!(format!("{directory:?}"), format!("Directory({path})"));
    assert!(format!("{published:?}").contains("quotes") && format!("{published:?}").contains(&path));
    assert!(format!("{found:?}").contains("quotes") && format!("{found:?}").contains("ProcessId"));
    let states = [PeerState::Alive, PeerState::Closed, PeerState::Dead].map(|state| format!("{state:>6}"));
    assert_eq!(states, [" alive", "closed", "  dead"]);
}

/// A process that has an invitation to a ring, and has not made it, gives it a name: a process that finds the
/// name joins the same ring, with its seats.
#[test]
fn name_of_anothers_ring_leads_to_all_of_it() {
    let (_scratch, directory) = directory();
    let mut child = Child::new(directory.path());
    let settings = annulus::Settings::new(2);
    let Shared { handle: mut publisher, invitation, .. } = broadcast::lossless::<u64>(settings, 1).unwrap();
    let name = invitation.publish(&directory, "a").unwrap();
    assert_eq!(child.ask("again a"), "published");
    drop((name, invitation));
    let found = directory.find("a-again").unwrap();
    assert_eq!(found.process().pid(), child.pid());
    let ring = Invitation::find(&found).unwrap().accept_lossless::<u64>().unwrap();
    let mut subscriber = ring.subscribe().unwrap();
    let published = (0..100).take_while(|&number| publisher.try_publish(number).is_ok()).count() as u64;
    assert!(published <= 2, "the publisher does not wait for it: {published}");
    assert!((0..published).all(|number| subscriber.try_recv() == Ok(number)));
}

/// The kernel cuts the name of a process at 15 bytes, in the middle of a letter.
#[test]
fn process_whose_name_is_no_text_has_rings() {
    alone!();
    fs::write("/proc/self/comm", b"fourteen bytes\xc3\xa4").unwrap();
    assert!(fs::read_to_string("/proc/self/stat").is_err(), "its name is no text");
    let (_scratch, directory) = directory();
    let settings = annulus::Settings::new(4);
    let Shared { handle: _publisher, invitation, .. } =
        annulus::shm::broadcast::lossy::<u64>(settings).unwrap();
    let _published = invitation.publish(&directory, "a").unwrap();
    let mut child = crate::shared::child::Child::new(directory.path());
    assert!(child.ask("publish a").contains("is taken by process"));
    annulus::shm::Invitation::find(&directory.find("a").unwrap()).unwrap().accept::<u64>().unwrap();
}
