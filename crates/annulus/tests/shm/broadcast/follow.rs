//! Subscribers of a name: publishers that come, go, are killed, and come back.

use std::io::Read;
use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::broadcast::Publisher;
use annulus::shm::{
    AttachError, Directory, DirectoryError, FindError, Fingerprint, Invitation, NameError, NamedSubscriber,
    PeerState, ProcessId, PublishedName, Received, Shared, broadcast,
};
use annulus::{Message, WaitStrategy};
use rustix::process::Signal;
use rustix::time::{ClockId, clock_gettime};

use crate::broadcast::names::{Scratch, memory};
use crate::broadcast::processes::{Payload, check};
use crate::process::{Child, moment, rounds};

fn publisher(directory: &Directory, capacity: usize) -> (Publisher<u64>, PublishedName) {
    let Shared { handle: publisher, invitation, .. } =
        broadcast::lossy::<u64>(Settings::new(capacity)).unwrap();
    (publisher, invitation.publish(directory, "a").unwrap())
}

/// All that there is now (and no more than can be).
fn all(subscriber: &mut NamedSubscriber<u64>) -> Vec<Received<u64>> {
    std::iter::from_fn(|| subscriber.try_recv().unwrap()).take(20).collect()
}

/// The positions of this process's openings of rings that can only be read from.
fn positions() -> Vec<String> {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap().flatten();
    let ours = entries.filter(|entry| {
        let link = std::fs::read_link(entry.path()).unwrap_or_default();
        link.to_string_lossy().starts_with("/memfd:annulus broadcast")
    });
    let infos = ours.filter_map(|entry| {
        let file = std::path::Path::new("/proc/self/fdinfo").join(entry.file_name());
        std::fs::read_to_string(file).ok()
    });
    infos.filter_map(|info| Some(info.lines().next()?.strip_prefix("pos:")?.trim().to_owned())).collect()
}

/// As the kernel sees it: one more than the messages that it is past, in a ring that did not begin with 0.
#[test]
fn position_of_a_subscriber_is_shown() {
    let scratch = Scratch::new("shown");
    let directory = Directory::open(&scratch.0).unwrap();
    let mut subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap().begin_with_oldest();
    subscriber.show_position().unwrap();

    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<u64>(Settings::new(8).first(1 << 40)).unwrap();
    let _name = invitation.publish(&directory, "a").unwrap();
    // (No other test has gone so far.)
    (0..765_432).for_each(|number| publisher.publish(number));
    while subscriber.try_recv().unwrap().is_some() {}
    let is_shown = |position: &str| positions().iter().any(|shown| shown == position);
    assert!(!is_shown("765433"));
    subscriber.show_position().unwrap();
    assert!(is_shown("765433"), "{:?}", positions());
    publisher.publish(0);
    while subscriber.try_recv().unwrap().is_some() {}
    assert!(is_shown("765433") && !is_shown("765434"), "only when it says so");
    subscriber.show_position().unwrap();
    assert!(is_shown("765434") && !is_shown("765433"), "in the same opening");
}

#[test]
fn publisher_begins_and_ends_once() {
    let scratch = Scratch::new("once");
    let directory = Directory::open(&scratch.0).unwrap();
    let mut subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap();
    let process = ProcessId::current().unwrap();
    let began = |missed| Received::Began { process, missed };
    let ended = Received::Ended { process, state: PeerState::Closed };
    assert_eq!(all(&mut subscriber), []);
    assert_eq!((subscriber.state(), subscriber.name()), (PeerState::NotYet, "a"));

    let (mut first, name) = publisher(&directory, 8);
    first.publish(1);
    assert_eq!(all(&mut subscriber), [began(1)], "it begins with the next message");
    first.publish_batch(&[2, 3]);
    assert_eq!(all(&mut subscriber), [Received::Message(2), Received::Message(3)]);
    let long = Duration::from_secs(600);
    assert_eq!(subscriber.recv_timeout(Duration::from_millis(1)).unwrap(), None);
    first.publish(3);
    assert_eq!(subscriber.recv_timeout(long).unwrap(), Some(Received::Message(3)));
    assert_eq!(subscriber.state(), PeerState::Alive);
    assert!(format!("{subscriber:?}").contains("\"a\""));

    // What it has is received before the end. While the name stays with that ring, there is no next one.
    first.publish(4);
    drop(first);
    assert_eq!(subscriber.state(), PeerState::Closed);
    assert_eq!(all(&mut subscriber), [Received::Message(4), ended]);
    assert_eq!(all(&mut subscriber), []);
    drop(name);
    assert_eq!(all(&mut subscriber), []);

    // The next one's messages are received from the oldest on.
    let (mut second, name) = publisher(&directory, 8);
    second.publish_batch(&[5, 6]);
    assert_eq!(all(&mut subscriber), [began(0), Received::Message(5), Received::Message(6)]);
    // The name is taken back, and given to another ring: the one that it has goes on to its end.
    drop(name);
    let (mut third, _name) = publisher(&directory, 8);
    third.publish(8);
    second.publish(7);
    assert_eq!(all(&mut subscriber), [Received::Message(7)]);
    drop(second);
    assert_eq!(all(&mut subscriber), [ended, began(0), Received::Message(8)]);
}

/// A ring that has ended, under its name once more, brings none of its messages again.
#[test]
fn a_ring_is_joined_once() {
    let scratch = Scratch::new("joined");
    let directory = Directory::open(&scratch.0).unwrap();
    let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    let name = invitation.publish(&directory, "a").unwrap();
    let mut subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap().begin_with_oldest();
    publisher.publish(1);
    publisher.close();
    assert_eq!(all(&mut subscriber).len(), 3, "its beginning, a message, and its end");
    drop(name);
    let _name = invitation.publish(&directory, "a").unwrap();
    assert_eq!(all(&mut subscriber), []);
    assert_eq!(subscriber.recv_timeout(Duration::from_millis(1)).unwrap(), None);
}

/// What is lost within one ring is counted, and told where the gap is; also the end comes after it.
#[test]
fn lag_is_returned_at_its_place() {
    type Verb = fn(&mut NamedSubscriber<u64>) -> Received<u64>;

    let scratch = Scratch::new("lag");
    let directory = Directory::open(&scratch.0).unwrap();
    let (mut publisher, _name) = publisher(&directory, 4);
    let mut subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap();
    subscriber.set_wait_strategy(WaitStrategy::BackoffSpin);
    assert_eq!(all(&mut subscriber).len(), 1);
    subscriber.set_wait_strategy(WaitStrategy::BusySpin);
    assert_eq!(subscriber.wait_strategy(), WaitStrategy::BusySpin);
    let verbs: [Verb; 3] = [
        |subscriber| subscriber.recv().unwrap(),
        |subscriber| subscriber.try_recv().unwrap().unwrap(),
        |subscriber| subscriber.recv_timeout(Duration::MAX).unwrap().unwrap(),
    ];
    let mut next = 0;
    for verb in verbs {
        for _ in 0..10 {
            publisher.publish(next);
            next += 1;
        }
        let Received::Lagged { skipped } = verb(&mut subscriber) else { panic!("it fell behind") };
        assert!((6..10).contains(&skipped), "{skipped}");
        let left = 10 - skipped;
        assert!((0..left).all(|_| matches!(verb(&mut subscriber), Received::Message(_))));
        assert_eq!(subscriber.try_recv().unwrap(), None);
    }
    publisher.publish_batch(&[0; 10]);
    drop(publisher);
    let told = all(&mut subscriber);
    assert!(matches!(told[0], Received::Lagged { .. }), "{told:?}");
    assert!(matches!(told.last(), Some(Received::Ended { .. })), "{told:?}");
}

/// A ring of another type has taken the name: an error with both sides, once. Then it goes on.
#[test]
fn ring_of_another_type_is_refused_once() {
    let scratch = Scratch::new("refused");
    let directory = Directory::open(&scratch.0).unwrap();
    let (mut first, name) = publisher(&directory, 8);
    let mut subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap().begin_with_oldest();
    first.publish(1);
    drop((first, name));
    let Shared { handle: _other, invitation, .. } = broadcast::lossy::<i64>(Settings::new(8)).unwrap();
    let name = invitation.publish(&directory, "a").unwrap();
    let error = subscriber.recv().unwrap_err();
    let FindError::Attach(AttachError::Type { found, wanted }) = &error else { panic!("{error:?}") };
    assert_eq!((found.as_deref(), &**wanted), (Some(i64::SCHEMA), u64::SCHEMA));
    let text = "the ring's messages are of another type (the ring / this process): the message: i64 at 0 / the message: u64 at 0";
    assert!(error.to_string().ends_with(text), "{error}");
    assert_eq!(subscriber.recv_timeout(Duration::from_millis(1)).unwrap(), None, "it was told");
    drop(name);

    let name = directory.publish("a", memory(b"something else", 4096), Fingerprint::of::<u64>()).unwrap();
    let error = subscriber.try_recv().unwrap_err();
    assert!(matches!(error, FindError::Attach(AttachError::NoRing { .. })), "{error}");
    assert_eq!(all(&mut subscriber), []);
    drop(name);

    let (mut last, _name) = publisher(&directory, 8);
    last.publish(2);
    assert!(matches!(subscriber.recv().unwrap(), Received::Began { missed: 0, .. }));
    assert_eq!(subscriber.recv().unwrap(), Received::Message(2));

    let error = NamedSubscriber::<u64>::new(&directory, "a/b").map(drop).unwrap_err();
    assert!(matches!(error, NameError::Bad { .. }), "{error}");
}

/// A ring that it may not open now is an error for as long as that lasts, and is joined afterwards.
#[test]
fn ring_it_may_not_open_is_refused_each_time() {
    let scratch = Scratch::new("not-now");
    let directory = Directory::open(&scratch.0).unwrap();
    let (mut publisher, _name) = publisher(&directory, 8);
    publisher.publish(1);
    // The process seems to be in another container.
    let file = scratch.0.join("a.ring");
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("namespace ", "namespace 1")).unwrap();
    let mut subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap().begin_with_oldest();
    for _ in 0..3 {
        let error = subscriber.recv().unwrap_err();
        assert!(matches!(error, FindError::Name(NameError::OtherNamespace { .. })), "{error}");
    }
    std::fs::write(&file, text).unwrap();
    assert_eq!(all(&mut subscriber).len(), 2, "its beginning, and a message");
}

/// While it waits for a publisher, it uses next to no time of a processor.
#[test]
fn subscriber_without_a_publisher_waits_asleep() {
    let scratch = Scratch::new("asleep");
    let directory = Directory::open(&scratch.0).unwrap();
    let mut subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap().begin_with_oldest();
    let used = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap())
    };
    let begun = used();
    assert_eq!(subscriber.recv_timeout(Duration::from_millis(1500)).unwrap(), None);
    let took = used().saturating_sub(begun);
    assert!(took < Duration::from_millis(300), "{took:?}");
    // The notice of a new name ends the wait.
    let waiter = thread::spawn(move || {
        assert!(matches!(subscriber.recv().unwrap(), Received::Began { .. }));
        subscriber.recv().unwrap()
    });
    thread::sleep(Duration::from_millis(20));
    let (mut publisher, _name) = publisher(&directory, 8);
    publisher.publish(7);
    assert_eq!(waiter.join().unwrap(), Received::Message(7));
}

/// Somebody removes the directory, and the next publisher makes it anew: it goes on there, whether it waits
/// or looks. It makes none itself.
#[test]
fn directory_that_is_made_anew() {
    let scratch = Scratch::new("anew");
    let directory = Directory::open(&scratch.0).unwrap();
    let (first, name) = publisher(&directory, 8);
    let mut subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap();
    assert_eq!(all(&mut subscriber).len(), 1);
    drop((first, name));
    std::fs::remove_dir_all(&scratch.0).unwrap();
    assert_eq!(all(&mut subscriber).len(), 1, "the end");
    assert_eq!(subscriber.recv_timeout(Duration::from_millis(1)).unwrap(), None);
    assert!(!scratch.0.exists());

    let (mut second, name) = publisher(&Directory::open(&scratch.0).unwrap(), 8);
    second.publish(2);
    let began = Received::Began { process: ProcessId::current().unwrap(), missed: 0 };
    assert_eq!(all(&mut subscriber), [began, Received::Message(2)]);
    drop((second, name));
    assert_eq!(all(&mut subscriber).len(), 1, "the end");

    // The directory is moved away while it waits.
    let waiter = thread::spawn(move || {
        let received = [(); 2].map(|()| subscriber.recv().unwrap());
        (received, subscriber)
    });
    thread::sleep(Duration::from_millis(50));
    let aside = scratch.0.with_extension("aside");
    std::fs::rename(&scratch.0, &aside).unwrap();
    std::fs::remove_dir(aside).unwrap();
    let (mut third, name) = publisher(&Directory::open(&scratch.0).unwrap(), 8);
    third.publish(3);
    let (received, mut subscriber) = waiter.join().unwrap();
    assert_eq!(received, [began, Received::Message(3)]);
    drop((third, name));
    assert_eq!(all(&mut subscriber).len(), 1, "the end");

    // One that others may change is refused for as long as it is there.
    std::fs::remove_dir(&scratch.0).unwrap();
    drop(Directory::with_mode(&scratch.0, 0o777).unwrap());
    for _ in 0..2 {
        let error = subscriber.recv().unwrap_err();
        assert!(matches!(error, FindError::Directory(DirectoryError::Mode { mode: 0o777, .. })), "{error}");
        assert!(subscriber.try_recv().is_err());
    }
    std::fs::remove_dir(&scratch.0).unwrap();
    let (_last, _name) = publisher(&Directory::open(&scratch.0).unwrap(), 8);
    assert_eq!(all(&mut subscriber), [began]);
}

/// A publisher that is stopped is alive: nothing is told, neither by a verb that looks nor by one that waits.
#[test]
fn publisher_that_is_stopped() {
    let scratch = Scratch::new("stopped");
    let directory = Directory::open(&scratch.0).unwrap();
    let mut subscriber = NamedSubscriber::<Payload>::new(&directory, "a").unwrap();
    let child = Child::new(&format!("publish-named 64 {}", scratch.0.display()));
    (&child.socket).read_exact(&mut [0]).unwrap();
    assert!(matches!(subscriber.recv().unwrap(), Received::Began { .. }));
    child.stop();
    while let Some(received) = subscriber.recv_timeout(Duration::from_millis(100)).unwrap() {
        assert!(matches!(received, Received::Message(_) | Received::Lagged { .. }), "{received:?}");
    }
    assert_eq!(subscriber.try_recv().unwrap(), None);
    assert_eq!(subscriber.state(), PeerState::Alive);
    // Its name is its own.
    let Shared { handle: _other, invitation, .. } = broadcast::lossy::<Payload>(Settings::new(8)).unwrap();
    let error = invitation.publish(&directory, "a").map(drop).unwrap_err();
    assert!(matches!(error, FindError::Name(NameError::Taken { .. })), "{error}");
    child.signal(Signal::CONT);
    let received = subscriber.recv().unwrap();
    assert!(matches!(received, Received::Message(_) | Received::Lagged { .. }), "{received:?}");
}

/// A publisher is killed at any moment, and another one comes, again and again: within the life of each,
/// nothing is lost uncounted, and nothing comes twice; each change is told once.
#[test]
fn publishers_are_killed_and_come_back() {
    let scratch = Scratch::new("killed");
    let directory = Directory::open(&scratch.0).unwrap();
    let mut subscriber = NamedSubscriber::<Payload>::new(&directory, "a").unwrap().begin_with_oldest();
    let path = scratch.0.display();
    for round in 0..rounds() {
        let capacity = [2, 64, 1000][round as usize % 3];
        let mut child = Child::new(&format!("publish-named {capacity} {path}"));
        (&child.socket).read_exact(&mut [0]).unwrap();
        if round % 4 == 3 {
            // Nobody has looked meanwhile: it was never there.
            child.kill();
            assert_eq!(subscriber.try_recv().unwrap(), None);
            continue;
        }
        let named = directory.find("a").unwrap();
        let ring = Invitation::find(&named).unwrap().accept::<Payload>().unwrap();
        let Received::Began { process, missed } = subscriber.recv().unwrap() else { panic!("no beginning") };
        assert_eq!(process, named.process());
        let killer = thread::spawn(move || {
            thread::sleep(moment(round));
            child.kill();
        });
        // Its numbers begin there.
        let first = u64::from(process.pid()) << 32;
        let mut next = first + missed;
        loop {
            match subscriber.recv().unwrap() {
                Received::Message(message) => {
                    check(&message);
                    assert_eq!(message[0], next, "in order, and of this publisher");
                    next += 1;
                }
                Received::Lagged { skipped } => next += skipped,
                Received::Ended { process: ended, state } => {
                    assert_eq!((ended, state), (process, PeerState::Dead));
                    break;
                }
                Received::Began { .. } => panic!("it has not ended"),
                Received::Corrupt(bad) => panic!("{bad}"),
                other => panic!("{other:?}"),
            }
        }
        killer.join().unwrap();
        assert_eq!(subscriber.state(), PeerState::Dead);
        // A later look finds the same end: nothing that was published is left unread.
        let mut late = ring.subscribable().subscribe_from_oldest();
        while late.recv().is_ok() {}
        assert_eq!(next - first, late.cursor());
        assert_eq!(subscriber.try_recv().unwrap(), None);
    }
}

/// A publisher is killed at any moment, and the next one goes on with its numbers: no number has two
/// messages, and each that has none, or is not received, is counted, also where nobody has looked at a
/// publisher.
#[test]
fn numbers_go_on_when_publishers_are_killed() {
    let scratch = Scratch::new("numbered");
    let directory = Directory::open(&scratch.0).unwrap();
    let mut subscriber = NamedSubscriber::<Payload>::new(&directory, "a").unwrap().begin_with_oldest();
    let path = scratch.0.display();
    let mut next = 0;
    for round in 0..rounds() {
        let capacity = [2, 64, 1000][round as usize % 3];
        let mut child = Child::new(&format!("publish-numbered {capacity} {path}"));
        (&child.socket).read_exact(&mut [0]).unwrap();
        if round % 4 == 3 {
            child.kill();
            assert_eq!(subscriber.try_recv().unwrap(), None);
            continue;
        }
        let Received::Began { missed, .. } = subscriber.recv().unwrap() else { panic!("no beginning") };
        next += missed;
        let killer = thread::spawn(move || {
            thread::sleep(moment(round));
            child.kill();
        });
        loop {
            match subscriber.recv().unwrap() {
                Received::Message(message) => {
                    check(&message);
                    assert_eq!(message[0], next, "each message has its own number");
                    next += 1;
                }
                Received::Lagged { skipped } => next += skipped,
                Received::Ended { .. } => break,
                other => panic!("{other:?}"),
            }
        }
        killer.join().unwrap();
        let left_out = directory.numbering("a").unwrap().next() - next;
        assert!(left_out <= 64, "{left_out}");
    }
}

#[test]
fn numbers_go_on_exactly_after_a_close() {
    let scratch = Scratch::new("numbering");
    let directory = Directory::open(&scratch.0).unwrap();
    let mut subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap().begin_with_oldest();
    let process = ProcessId::current().unwrap();
    let numbers = |count: u64| 10 * count..10 * count + count;
    let mut first = 0;
    for count in [0, 3, 5, 1] {
        let numbering = directory.numbering("a").unwrap();
        assert_eq!(numbering.next(), first);
        assert_eq!(format!("{numbering:?}"), format!("Numbering {{ name: \"a\", next: {first}, .. }}"));
        let error = directory.numbering("a").unwrap_err();
        assert!(matches!(error, NameError::Taken { process: None, .. }), "{error}");
        let mut made = numbering.lossy::<u64>(Settings::new(4)).unwrap();
        let identity = made.invitation.info().unwrap().numbering();
        assert!(identity.is_some() && made.invitation.info().unwrap().start() == first);
        let name = made.invitation.publish(&directory, "a").unwrap();
        numbers(count).for_each(|number| made.handle.publish(number));
        first += count;
        let missed = count.saturating_sub(4);
        let mut wanted = vec![Received::Began { process, missed }];
        wanted.extend(numbers(count).skip(missed as usize).map(Received::Message));
        assert_eq!(all(&mut subscriber), wanted);
        drop((made, name));
        assert_eq!(all(&mut subscriber), [Received::Ended { process, state: PeerState::Closed }]);
    }
    // Nobody sees this one.
    let mut made = directory.numbering("a").unwrap().lossless::<u64>(Settings::new(4), 1).unwrap();
    (0..7).for_each(|number| made.handle.publish(number).unwrap());
    assert_eq!(made.invitation.info().unwrap().start(), first);
    drop(made);
    first += 7;
    let mut made = directory.numbering("a").unwrap().lossy::<u64>(Settings::new(4)).unwrap();
    made.handle.skip_to(first + 1000).unwrap();
    let name = made.invitation.publish(&directory, "a").unwrap();
    assert_eq!(all(&mut subscriber), [Received::Began { process, missed: 1007 }]);
    drop((made, name));
    all(&mut subscriber);
    // A ring with numbers of its own begins anew, and so does one whose numbers were removed.
    let (mut other, name) = publisher(&directory, 4);
    other.publish(1);
    assert_eq!(all(&mut subscriber), [Received::Began { process, missed: 0 }, Received::Message(1)]);
    drop(other);
    directory.remove("a", true).unwrap();
    drop(name);
    assert_eq!(directory.numbering("a").unwrap().next(), 0);
    // What is no such file stays as it is.
    std::fs::write(scratch.0.join(".b.numbers"), "something else").unwrap();
    std::fs::create_dir(scratch.0.join(".c.numbers")).unwrap();
    std::fs::write(scratch.0.join(".e.numbers"), [[0; 16], [1; 16]].concat().repeat(128)).unwrap();
    let pipe = scratch.0.join(".f.numbers");
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    for name in ["b", "c", "e", "f"] {
        let error = directory.numbering(name).unwrap_err();
        assert!(matches!(error, NameError::InTheWay { .. }), "{error}");
    }
    std::fs::write(scratch.0.join(".d.numbers"), "").unwrap();
    assert_eq!(directory.numbering("d").unwrap().next(), 0);
    assert_eq!(directory.list().unwrap(), []);
}

#[test]
fn history_of_a_name_is_its_last_messages() {
    let scratch = Scratch::new("history");
    let directory = Directory::open(&scratch.0).unwrap();
    let (mut first, _name) = publisher(&directory, 8);
    first.publish_batch(&[1, 2, 3, 4, 5]);
    let process = ProcessId::current().unwrap();
    for (count, messages) in [(0, &[][..]), (2, &[4, 5]), (9, &[1, 2, 3, 4, 5])] {
        let subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap();
        let mut received = all(&mut subscriber.begin_with_last(count)).into_iter();
        let missed = 5 - messages.len() as u64;
        assert_eq!(received.next(), Some(Received::Began { process, missed }));
        assert!(received.eq(messages.iter().copied().map(Received::Message)));
    }
}

/// A publisher that is stopped is overdue, once for each silence; a dead one is not overdue, but has ended.
#[test]
fn publisher_that_hangs_is_overdue() {
    const DEADLINE: Duration = Duration::from_millis(30);

    let scratch = Scratch::new("overdue");
    let directory = Directory::open(&scratch.0).unwrap();
    let settings = Settings::new(8).deadline(DEADLINE);
    let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<u64>(settings).unwrap();
    let _name = invitation.publish(&directory, "a").unwrap();
    let process = ProcessId::current().unwrap();
    let mut promised = NamedSubscriber::<u64>::new(&directory, "a").unwrap();
    let patient = NamedSubscriber::<u64>::new(&directory, "a").unwrap();
    let mut patient = patient.overdue_after(Duration::from_secs(3600));
    let began = Some(Received::Began { process, missed: 0 });
    assert_eq!([promised.try_recv().unwrap(), patient.try_recv().unwrap()], [began, began]);

    for life in 0..3 {
        let silence = match promised.recv().unwrap() {
            Received::Overdue { process: silent, silence } if silent == process => silence,
            other => panic!("{other:?}"),
        };
        assert!(silence >= DEADLINE, "{silence:?}");
        assert_eq!(promised.recv_timeout(2 * DEADLINE).unwrap(), None, "it is told once");
        assert_eq!(promised.try_recv().unwrap(), None);
        publisher.publish(life);
        assert_eq!(promised.recv().unwrap(), Received::Message(life));
    }
    // One that looks now and then learns it, too, once. (This thread may be late with its first look.)
    let looks = [(); 2].map(|()| {
        let look = promised.try_recv().unwrap();
        thread::sleep(DEADLINE);
        look
    });
    let told = looks.into_iter().chain([promised.try_recv().unwrap()]).flatten();
    assert!(matches!(told.collect::<Vec<_>>()[..], [Received::Overdue { .. }]));
    // A wait may end before the silence is too long.
    assert!(matches!(patient.recv().unwrap(), Received::Message(0)));
    assert_eq!(patient.try_recv().unwrap(), Some(Received::Message(1)));
    assert_eq!(patient.try_recv().unwrap(), Some(Received::Message(2)));
    assert_eq!(patient.recv_timeout(DEADLINE).unwrap(), None);
    drop(publisher);
    thread::sleep(DEADLINE);
    assert_eq!(all(&mut promised), [Received::Ended { process, state: PeerState::Closed }]);
    let all: Vec<_> =
        all(&mut patient).into_iter().filter(|one| matches!(one, Received::Overdue { .. })).collect();
    assert_eq!(all, [], "it has its own limit");
}

#[test]
fn dead_publisher_has_ended_and_is_not_overdue() {
    let scratch = Scratch::new("dead-not-overdue");
    let directory = Directory::open(&scratch.0).unwrap();
    let subscriber = NamedSubscriber::<Payload>::new(&directory, "a").unwrap();
    let mut subscriber = subscriber.overdue_after(Duration::from_nanos(1));
    let mut child = Child::new(&format!("publish-named 64 {}", scratch.0.display()));
    (&child.socket).read_exact(&mut [0]).unwrap();
    assert!(matches!(subscriber.recv().unwrap(), Received::Began { .. }));
    child.kill();
    loop {
        match subscriber.recv().unwrap() {
            Received::Message(_) | Received::Lagged { .. } => {}
            Received::Ended { state: PeerState::Dead, .. } => break,
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn deadline_that_cant_be_is_refused() {
    for deadline in [Duration::ZERO, Duration::MAX] {
        let settings = Settings::new(8).deadline(deadline);
        let error = broadcast::lossy::<u64>(settings.clone()).map(drop).unwrap_err();
        assert!(error.to_string().contains(&format!("in {deadline:?}: take")), "{error}");
        let error = broadcast::lossless::<u64>(settings, 2).map(drop).unwrap_err();
        assert!(error.to_string().contains("take a deadline of 1 ns"), "{error}");
    }
    let settings = Settings::new(8).deadline(Duration::from_nanos(1));
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(settings).unwrap();
    assert_eq!(invitation.info().unwrap().deadline(), Some(Duration::from_nanos(1)));
    let Shared { handle: _publisher, invitation, .. } = broadcast::lossy::<u64>(Settings::new(8)).unwrap();
    assert_eq!(invitation.info().unwrap().deadline(), None);
}

/// In one call, in the directory of the user.
#[test]
fn one_call_is_enough() {
    let scratch = Scratch::new("call");
    std::fs::create_dir(&scratch.0).unwrap();
    let child = Child::new(&format!("by-name {}", scratch.0.display()));
    assert_eq!(child.said(), (7, 8));
}
