//! Directories that several users have, or several containers: each gets the descriptors of the other's
//! rings.
//!
//! Only root makes processes of other users. Elsewhere these tests say that they are skipped.

use std::fs::{self, Permissions};
use std::os::fd::AsFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::shm::{
    Directory, FindError, Fingerprint, Invitation, NameError, NamedSubscriber, PeerState, Received,
    RingObserver, Shared, WhenGone, broadcast, recv_fd, send_fd, spsc,
};
use rustix::process::Signal;

use crate::shared::child::Child;
use crate::shared::{Scratch, interrupted};
use crate::support::fork::in_a_child;

/// Users, a group of two of them, and a group of the third.
const USERS: [u32; 3] = [60_001, 60_002, 60_003];
const GROUP: u32 = 60_000;
const OTHERS: u32 = 60_009;

/// A directory of the group with this mode, and two of its users; `None` where that can't be.
fn group(mode: u32) -> Option<(Scratch, PathBuf, [Child; 2])> {
    let scratch = Scratch::new();
    fs::set_permissions(&scratch.0, Permissions::from_mode(0o755)).unwrap();
    let path = scratch.path("names");
    Directory::with_mode(&path, mode & 0o777).unwrap();
    let given = chown(&path, None, Some(GROUP));
    fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
    let child = |user| Child::of_group(user, GROUP, &path);
    let children = given.ok().and_then(|()| Some([child(USERS[0])?, child(USERS[1])?]));
    let Some(children) = children else {
        eprintln!("skipped: only root makes processes of other users, and they must reach this program");
        return None;
    };
    Some((scratch, path, children))
}

/// What lies there, in the order of the alphabet.
fn files(path: &PathBuf) -> Vec<String> {
    let mut names: Vec<_> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// (A thread gives itself its name, and is listed for a moment after its end.)
#[track_caller]
fn threads_are(child: &mut Child, count: u32) {
    let (begun, wanted) = (Instant::now(), format!("{count} of them"));
    while child.ask("threads annulus-names") != wanted {
        assert!(begun.elapsed() < Duration::from_secs(60), "not {wanted}");
    }
}

/// A directory of one user has no thread for it, and a thread ends with its name.
#[test]
fn threads_end_with_their_names() {
    let scratch = Scratch::new();
    for (mode, threads) in [(0o700, 0), (0o750, 2)] {
        let path = scratch.path(&format!("{mode:o}"));
        Directory::with_mode(&path, mode).unwrap();
        let mut child = Child::new(&path);
        assert_eq!(
            (child.ask("publish a"), child.ask("publish b")),
            ("published".into(), "published".into())
        );
        threads_are(&mut child, threads);
        assert_eq!((child.ask("drop a"), child.ask("drop b")), ("dropped".into(), "dropped".into()));
        threads_are(&mut child, 0);
        assert_eq!(files(&path), [] as [&str; 0]);
    }
}

/// The file can't be put there: the socket goes, too.
#[test]
fn name_that_cant_be_given_leaves_no_socket() {
    let scratch = Scratch::new();
    let path = scratch.path("names");
    let directory = Directory::with_mode(&path, 0o750).unwrap();
    fs::create_dir(path.join(".a.draft")).unwrap();
    let refused = directory.publish("a", crate::shared::memory(""), Fingerprint::of::<u64>());
    assert!(matches!(refused, Err(NameError::System { .. })));
    assert_eq!(files(&path), [".a.draft"]);
}

/// Nor can the socket: no file of it stays.
#[test]
fn socket_that_cant_be_put_there() {
    let scratch = Scratch::new();
    let path = scratch.path("names");
    let directory = Directory::with_mode(&path, 0o750).unwrap();
    fs::create_dir(path.join(".a.socket")).unwrap();
    let refused = directory.publish("a", crate::shared::memory(""), Fingerprint::of::<u64>());
    assert!(matches!(refused, Err(NameError::System { .. })));
    assert_eq!(files(&path), [".a.socket"]);
}

/// A directory for all but a group: files stay with the group of their user, and the socket is for all.
#[test]
fn directory_for_others_without_a_group() {
    let scratch = Scratch::new();
    let path = scratch.path("names");
    let directory = Directory::with_mode(&path, 0o705).unwrap();
    let published = directory.publish("a", crate::shared::memory("here"), Fingerprint::of::<u64>()).unwrap();
    for (name, mode) in [("a.ring", 0o604), (".a.socket", 0o606)] {
        assert_eq!(fs::metadata(path.join(name)).unwrap().mode() & 0o777, mode, "{name}");
    }
    let socket = UnixStream::connect(path.join(".a.socket")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    assert_eq!(crate::shared::text(recv_fd(&socket).unwrap()), "here");
    drop(published);
    assert!(files(&path).is_empty());
}

/// A child that `fork` made drops its copy of a name: the parent goes on to answer.
#[test]
fn a_copy_in_a_child_ends_no_socket() {
    let scratch = Scratch::new();
    let path = scratch.path("names");
    let directory = Directory::with_mode(&path, 0o750).unwrap();
    let mut published =
        Some(directory.publish("a", crate::shared::memory("here"), Fingerprint::of::<u64>()).unwrap());
    let taken_back = || {
        drop(published.take());
        0
    };
    // SAFETY: it calls the system and the allocator only.
    assert_eq!(unsafe { in_a_child(taken_back) }, 0);
    let socket = UnixStream::connect(path.join(".a.socket")).unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    for _ in 0..2 {
        assert_eq!(crate::shared::text(recv_fd(&socket).unwrap()), "here");
    }
    drop(published);
    assert!(UnixStream::connect(path.join(".a.socket")).is_err());
}

#[test]
fn users_of_a_group_share_rings() {
    let Some((_scratch, path, [mut one, mut other])) = group(0o770) else { return };
    assert_eq!(one.ask("publish text"), "published");
    assert_eq!(other.ask("read text"), "text");
    // Subscribers can't write to one, and a consumer writes to the other.
    assert_eq!((one.ask("lossy prices"), one.ask("spsc orders")), ("published".into(), "published".into()));
    assert_eq!(other.ask("receive prices"), "received 7");
    assert_eq!(other.ask("receive orders"), "received 8");
    // Both publish to the third.
    assert_eq!(
        (one.ask("mp_lossy events"), other.ask("mp_lossy events")),
        ("published".into(), "published".into())
    );
    assert_eq!(other.ask("receive events"), "received 9");
    assert!(other.ask("publish text").contains("is taken by process"));
    for name in ["text.ring", ".text.socket"] {
        let status = fs::metadata(path.join(name)).unwrap();
        assert_eq!((status.uid(), status.gid()), (USERS[0], GROUP));
        assert_eq!(status.mode() & 0o777, if name.starts_with('.') { 0o660 } else { 0o640 }, "{name}");
    }

    // A user that is not of the group can't look into the directory.
    let mut third = Child::of_group(USERS[2], OTHERS, &path).unwrap();
    third.tell("read text");
    assert_eq!(third.answer(), None);
    one.end();
    assert_eq!(files(&path), [] as [&str; 0]);
}

/// A group that is not the first one of its users: the files still belong to the directory's group, where the
/// user is in both groups. (Here: root, to whom no group is closed.)
#[test]
fn files_belong_to_the_group_of_the_directory() {
    let Some((_scratch, path, [mut one, _])) = group(0o770) else { return };
    let directory = Directory::with_mode(&path, 0o770).unwrap();
    let memory = crate::shared::memory("from root");
    let published = directory.publish("a", &memory, Fingerprint::of::<u64>()).unwrap();
    assert_eq!(fs::metadata(path.join("a.ring")).unwrap().gid(), GROUP);
    assert_eq!(fs::metadata(path.join(".a.socket")).unwrap().gid(), GROUP);
    assert_eq!(one.ask("read a"), "from root");
    drop(published);
    assert!(one.ask("read a").contains("there is no ring"));
    assert_eq!(files(&path), [] as [&str; 0]);
}

/// A directory that all may read, and whose users may remove own names only: each asks its process.
#[test]
fn directory_that_all_may_read() {
    let Some((_scratch, path, [mut one, mut other])) = group(0o1775) else { return };
    assert_eq!(one.ask("lossy prices"), "published");
    let mut third = Child::of_group(USERS[2], OTHERS, &path).unwrap();
    assert_eq!(third.ask("receive prices"), "received 7");
    assert!(third.ask("publish mine").contains("ermission denied"), "it may not write there");
    one.kill();
    assert!(third.ask("receive prices").contains("is dead"));
    let said = other.ask("publish prices");
    assert!(said.contains("ot permitted"), "nor may another replace what it left: {said}");
}

#[test]
fn name_of_a_killed_process_is_replaced_by_another_user() {
    let Some((_scratch, path, [mut one, mut other])) = group(0o770) else { return };
    assert_eq!(one.ask("publish a"), "published");
    one.kill();
    assert_eq!(files(&path), [".a.socket", "a.ring"]);
    let said = other.ask("read a");
    assert!(said.contains("is dead"), "{said}");
    assert_eq!(other.ask("lossy a"), "published");
    let mut third = Child::of_group(USERS[2], GROUP, &path).unwrap();
    assert_eq!(third.ask("receive a"), "received 7");
    assert_eq!(other.ask("drop a"), "dropped");
    assert_eq!(files(&path), [] as [&str; 0]);
}

#[test]
fn process_that_is_stopped_does_not_answer() {
    let Some((_scratch, path, [mut one, mut other])) = group(0o770) else { return };
    assert_eq!(one.ask("publish a"), "published");
    one.stop();
    let begun = Instant::now();
    let said = other.ask("read a");
    assert!(said.contains("has not answered"), "{said}");
    assert!(begun.elapsed() >= Duration::from_secs(2));
    // Root, too, goes by the socket where the name is another user's.
    let found = Directory::with_mode(&path, 0o770).unwrap().find("a").unwrap();
    assert!(matches!(found.open_read_only(), Err(NameError::NoAnswer { .. })));
    one.signal(Signal::CONT);
    assert_eq!(other.ask("read a"), "a");
}

/// A user that may write there can make a file that names any process. It is not believed.
#[test]
fn file_of_another_user_opens_no_descriptor_of_a_third() {
    let Some((_scratch, path, [mut one, mut other])) = group(0o770) else { return };
    assert_eq!(one.ask("publish secret"), "published");
    let text = fs::read_to_string(path.join("secret.ring")).unwrap();
    let forged = path.join("forged.ring");
    fs::write(&forged, text).unwrap();
    chown(&forged, Some(USERS[1]), Some(GROUP)).unwrap();
    fs::set_permissions(&forged, Permissions::from_mode(0o640)).unwrap();
    let locked = fs::File::open(&forged).unwrap();
    rustix::fs::flock(&locked, rustix::fs::FlockOperation::LockExclusive).unwrap();
    for said in [
        one.ask("read forged"),
        format!("{:?}", {
            let directory = Directory::with_mode(&path, 0o770).unwrap();
            directory
                .find("forged")
                .and_then(|found| found.open_read_only())
                .map_err(|error| error.to_string())
        }),
    ] {
        assert!(said.contains("may not open"), "{said}");
    }
    assert_eq!(other.ask("read secret"), "secret");
}

/// Process numbers of its own: in a directory of one user's alone it is told why not, in one that others may
/// use it gets the ring.
#[test]
fn container_of_its_own_gets_a_ring_or_is_told_why_not() {
    let scratch = Scratch::new();
    let alone = scratch.path("alone");
    let directory = Directory::open(&alone).unwrap();
    let published = directory.publish("a", crate::shared::memory("here"), Fingerprint::of::<u64>()).unwrap();
    let Some(mut child) = Child::of_container(&alone) else {
        eprintln!("skipped: only root gives processes numbers of their own (unshare)");
        return;
    };
    let said = child.ask("read a");
    assert!(said.contains("in another container") && said.contains("mode 770"), "{said}");
    drop((child, published));

    let shared = scratch.path("shared");
    let directory = Directory::with_mode(&shared, 0o770).unwrap();
    let _published = directory.publish("a", crate::shared::memory("here"), Fingerprint::of::<u64>()).unwrap();
    let mut child = Child::of_container(&shared).unwrap();
    assert_eq!(child.ask("read a"), "here");
    // And the other way round.
    assert_eq!(child.ask("lossy prices"), "published");
    let mut here = Child::new(&shared);
    assert_eq!(here.ask("receive prices"), "received 7");
    child.kill();
    let begun = Instant::now();
    while !here.ask("receive prices").contains("is dead") {
        assert!(begun.elapsed() < Duration::from_secs(60), "the kernel tells of the end of that, too");
    }
}

/// A name of this process that looks like one of another container: its descriptors come by its socket.
struct Foreign {
    _scratch: Scratch,
    directory: Directory,
    /// Nobody answers here until the test does.
    socket: UnixListener,
    _lock: fs::File,
}

impl Foreign {
    fn new(invitation: &Invitation) -> Self {
        let scratch = Scratch::new();
        let path = scratch.path("names");
        let directory = Directory::with_mode(&path, 0o750).unwrap();
        let name = invitation.publish(&directory, "a").unwrap();
        let text = fs::read_to_string(path.join("a.ring")).unwrap();
        drop(name);
        let namespace = text.lines().find(|line| line.starts_with("namespace ")).unwrap();
        fs::write(path.join("a.ring"), text.replace(namespace, "namespace 1")).unwrap();
        let lock = fs::File::open(path.join("a.ring")).unwrap();
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive).unwrap();
        let socket = UnixListener::bind(path.join(".a.socket")).unwrap();
        Self { _scratch: scratch, directory, socket, _lock: lock }
    }
}

/// That number may be another process's here.
#[test]
fn process_of_another_container_has_no_number_here() {
    let (_producer, invitation) = queue();
    let Foreign { directory, .. } = &Foreign::new(&invitation);
    let entry = || directory.list().unwrap().remove(0);
    let (found, me) = (directory.find("a").unwrap(), std::process::id());
    assert_eq!((found.process().pid(), found.pid_here()), (me, None));
    assert_eq!((entry().process.unwrap().pid(), entry().pid_here), (me, None));
    directory.remove("a", true).unwrap();
    let mut child = Child::new(directory.path());
    assert_eq!(child.ask("publish a"), "published");
    let found = directory.find("a").unwrap();
    let number = Some(found.process().pid());
    assert_eq!((found.pid_here(), entry().pid_here), (number, number));
    child.kill();
    // As long as no other process has it, nobody is taken for that one.
    assert_eq!((found.pid_here(), entry().pid_here), (number, number));
    assert_eq!((found.state(), entry().state), (PeerState::Dead, PeerState::Dead));
}

fn queue() -> (spsc::Producer<u64>, Invitation) {
    let settings = annulus::Settings::new(8);
    let Shared { handle: producer, invitation, .. } = spsc::producer(settings, WhenGone::Wait).unwrap();
    (producer, invitation)
}

/// The time of an answer is counted from the question, whatever the thread that waits is woken for.
#[test]
fn signals_do_not_begin_the_wait_for_an_answer_anew() {
    let (_producer, invitation) = queue();
    let foreign = Foreign::new(&invitation);
    let found = foreign.directory.find("a").unwrap();
    let error = interrupted(|| Invitation::find(&found)).unwrap_err();
    assert!(matches!(error, FindError::Name(NameError::NoAnswer { .. })), "{error}");
}

/// One question, and one time to answer it, for all that is opened of a ring.
#[test]
fn process_is_asked_once_for_a_ring() {
    let (mut producer, invitation) = queue();
    let Foreign { directory, socket, .. } = &Foreign::new(&invitation);
    let found = directory.find("a").unwrap();
    thread::scope(|scope| {
        scope.spawn(|| invitation.send(&socket.accept().unwrap().0).unwrap());
        let (mut consumer, _) = spsc::consumer::<u64>(&Invitation::find(&found).unwrap()).unwrap();
        producer.send(7).unwrap();
        assert_eq!(consumer.try_recv(), Ok(7));
    });
    socket.set_nonblocking(true).unwrap();
    assert!(socket.accept().is_err(), "it was asked again");
}

/// The question stays open from call to call.
#[test]
fn find_with_a_timeout_waits_for_the_same_answer() {
    let (mut producer, invitation) = queue();
    let Foreign { directory, socket, .. } = &Foreign::new(&invitation);
    let found = directory.find("a").unwrap();
    for timeout in [0, 0, 10] {
        let waited = Invitation::find_timeout(&found, Duration::from_millis(timeout)).map(drop);
        assert!(matches!(waited, Err(FindError::Name(NameError::TimedOut { .. }))), "{waited:?}");
    }
    invitation.send(&socket.accept().unwrap().0).unwrap();
    let found = Invitation::find_timeout(&found, Duration::from_secs(60)).unwrap();
    let (mut consumer, _) = spsc::consumer::<u64>(&found).unwrap();
    producer.send(7).unwrap();
    assert_eq!(consumer.try_recv(), Ok(7));
    socket.set_nonblocking(true).unwrap();
    assert!(socket.accept().is_err(), "it was asked again");
}

/// Another thread waits for the answer, and has no end of its own.
#[test]
fn find_with_a_timeout_does_not_wait_for_another_thread() {
    let (_producer, invitation) = queue();
    let attempt = || {
        let Foreign { directory, socket, .. } = &Foreign::new(&invitation);
        let found = directory.find("a").unwrap();
        thread::scope(|scope| {
            let waits = scope.spawn(|| Invitation::find(&found).map(drop));
            let (asked, _) = socket.accept().unwrap();
            let waited = Invitation::find_timeout(&found, Duration::from_millis(10)).map(drop);
            assert!(matches!(waited, Err(FindError::Name(NameError::TimedOut { .. }))), "{waited:?}");
            // The thread still waits for its answer.
            invitation.send(&asked).is_ok() && waits.join().unwrap().is_ok()
        })
    };
    // (A machine under load may take longer than an answer may.)
    assert!((0..5).any(|_| attempt()));
}

/// So does a look at a ring.
#[test]
fn observer_with_a_timeout_waits_for_the_same_answer() {
    let (mut producer, invitation) = queue();
    producer.send(7).unwrap();
    let Foreign { directory, socket, .. } = &Foreign::new(&invitation);
    let found = directory.find("a").unwrap();
    for timeout in [0, 0, 10] {
        let waited = RingObserver::of_timeout(&found, Duration::from_millis(timeout)).map(drop);
        assert!(matches!(waited, Err(FindError::Name(NameError::TimedOut { .. }))), "{waited:?}");
    }
    invitation.send(&socket.accept().unwrap().0).unwrap();
    let observer = RingObserver::of_timeout(&found, Duration::from_secs(60)).unwrap();
    assert_eq!(observer.numbers().unwrap().published, 1);
    socket.set_nonblocking(true).unwrap();
    assert!(socket.accept().is_err(), "it was asked again");
}

/// Others take a process that can write to the page for a reader.
#[test]
fn look_at_a_ring_keeps_nothing_that_was_sent() {
    let (_producer, invitation) = queue();
    let Foreign { directory, socket, .. } = &Foreign::new(&invitation);
    let found = directory.find("a").unwrap();
    let observer = thread::scope(|scope| {
        scope.spawn(|| invitation.send(&socket.accept().unwrap().0).unwrap());
        RingObserver::of(&found).unwrap()
    });
    let page = fs::File::from(observer.sleepers().try_clone_to_owned().unwrap()).metadata().unwrap().ino();
    let writable_openings = || {
        let all = fs::read_dir("/proc/self/fdinfo").unwrap().flatten();
        let told = all.filter_map(|entry| fs::read_to_string(entry.path()).ok());
        let is_page = |told: &String| told.lines().any(|line| line == format!("ino:\t{page}"));
        let is_writable = |line: &str| line.starts_with("flags:") && line.ends_with(['1', '2']);
        told.filter(is_page).filter(|told| told.lines().any(is_writable)).count()
    };
    let count = writable_openings();
    drop(found);
    assert_eq!(count, writable_openings());
}

/// So many others ask that the kernel lets no more connect: that is no answer yet.
#[test]
fn question_waits_for_its_turn() {
    let (_producer, invitation) = queue();
    let Foreign { directory, socket, .. } = &Foreign::new(&invitation);
    rustix::net::listen(socket, 0).unwrap();
    let path = directory.path().join(".a.socket");
    let other = UnixStream::connect(&path).unwrap();
    let waited = Invitation::wait_for(directory, "a", Some(Duration::from_millis(10))).map(drop);
    assert!(matches!(waited, Err(FindError::Name(NameError::TimedOut { .. }))), "{waited:?}");
    let found = directory.find("a").unwrap();
    let waited = Invitation::find_timeout(&found, Duration::ZERO).map(drop);
    assert!(matches!(waited, Err(FindError::Name(NameError::TimedOut { .. }))), "{waited:?}");
    thread::scope(|scope| {
        scope.spawn(|| {
            drop((socket.accept().unwrap(), other));
            invitation.send(&socket.accept().unwrap().0).unwrap();
        });
        Invitation::find(&found).unwrap();
    });
}

/// What is sent is no file: that is an error, and nothing is waited for.
#[test]
fn answer_that_is_no_file_is_an_error() {
    let (_producer, invitation) = queue();
    let Foreign { directory, socket, .. } = &Foreign::new(&invitation);
    thread::scope(|scope| {
        scope.spawn(|| {
            let (client, _) = socket.accept().unwrap();
            (0..2).for_each(|_| send_fd(&client, socket.as_fd()).unwrap());
        });
        let waited = Invitation::wait_for(directory, "a", None).map(drop);
        assert!(matches!(waited, Err(FindError::Name(NameError::NoDescriptor { .. }))), "{waited:?}");
    });
}

/// Verbs with an end of their own do not wait for the answer any longer, and go on with it the next time.
#[test]
fn subscriber_waits_for_an_answer_only_as_long_as_it_may() {
    let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    publisher.publish(7);
    let Foreign { directory, socket, .. } = &Foreign::new(&invitation);
    let mut subscriber = NamedSubscriber::<u64>::new(directory, "a").unwrap().begin_with_oldest();
    assert_eq!(subscriber.try_recv().unwrap(), None);
    assert_eq!(subscriber.try_recv().unwrap(), None);
    assert_eq!(subscriber.recv_timeout(Duration::from_millis(10)).unwrap(), None);
    let waited = Invitation::wait_for(directory, "a", Some(Duration::from_millis(10))).unwrap_err();
    assert!(matches!(waited, FindError::Name(NameError::TimedOut { .. })), "{waited}");
    let answering = socket.try_clone().unwrap();
    // It ends with this program.
    thread::spawn(move || {
        loop {
            // (Some have gone again.)
            _ = invitation.send(&answering.accept().unwrap().0);
        }
    });
    let begun = Instant::now();
    let began = loop {
        assert!(begun.elapsed() < Duration::from_secs(60));
        match subscriber.try_recv() {
            Ok(Some(began)) => break began,
            Ok(None) => thread::yield_now(),
            // On a machine that is as slow as that.
            Err(error) => assert!(matches!(error, FindError::Name(NameError::NoAnswer { .. })), "{error}"),
        }
    };
    assert!(matches!(began, Received::Began { missed: 0, .. }), "{began:?}");
    assert_eq!(subscriber.try_recv().unwrap(), Some(Received::Message(7)));
}

/// The kernel shows what root's processes have to those of root's that have all of their capabilities.
#[test]
fn process_of_root_with_fewer_capabilities_is_told_so() {
    let (_scratch, directory) = crate::shared::directory();
    let _published = directory.publish("a", crate::shared::memory("here"), Fingerprint::of::<u64>()).unwrap();
    let mut child = Child::new(directory.path());
    assert_eq!((child.ask("read a"), child.ask("weaken now")), ("here".into(), "now".into()));
    let said = child.ask("read a");
    if said == "here" {
        eprintln!("skipped: this process has no capabilities that the other one has not");
        return;
    }
    assert!(said.contains("has capabilities that this one has not"), "{said}");
}

/// The kernel hides what a protected process has from its own user, too: a socket answers.
#[test]
fn protected_process_of_one_user_answers() {
    let scratch = Scratch::new();
    fs::set_permissions(&scratch.0, Permissions::from_mode(0o777)).unwrap();
    let path = scratch.path("names");
    Directory::open(&path).unwrap();
    let child = || {
        chown(&path, Some(USERS[0]), Some(GROUP)).ok().and_then(|()| Child::of_group(USERS[0], GROUP, &path))
    };
    let (Some(mut one), Some(mut other)) = (child(), child()) else {
        eprintln!("skipped: only root makes processes of other users, and they must reach this program");
        return;
    };
    assert_eq!(one.ask("publish before"), "published");
    assert_eq!(other.ask("read before"), "before");
    assert_eq!(files(&path), ["before.ring"], "a process that is not protected needs no socket");
    assert_eq!((one.ask("protect now"), one.ask("publish after")), ("now".into(), "published".into()));
    assert_eq!(other.ask("read after"), "after");
    assert_eq!(fs::metadata(path.join(".after.socket")).unwrap().mode() & 0o777, 0o600);
    // It had a name before.
    let said = other.ask("read before");
    assert!(said.contains("is protected") && said.contains("mode 770"), "{said}");
    let mut third = Child::of_group(USERS[0], OTHERS, &path).unwrap();
    assert_eq!(third.ask("publish third"), "published");
    let said = other.ask("read third");
    assert!(said.contains("another user or group"), "{said}");
    one.end();
    third.end();
    assert_eq!(files(&path), [] as [&str; 0]);
}
