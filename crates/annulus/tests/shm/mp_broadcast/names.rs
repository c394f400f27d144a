//! Rings of several publishers by name: the first publisher, publishers that come back, and what is refused.

use std::thread;
use std::time::Duration;

use annulus::Settings as Ring;
use annulus::WaitStrategy;
use annulus::shm::{
    AttachError, FindError, Invitation, NameError, NamedSubscriber, PeerState, Received, Shared, ShmKind,
    WhenGone, broadcast, mp_broadcast, spsc,
};

use crate::mp_broadcast::{Payload, check, ring};
use crate::process::Child;
use crate::shared::directory;

/// All that there is now.
fn all(subscriber: &mut NamedSubscriber<u64>) -> Vec<Received<u64>> {
    std::iter::from_fn(|| subscriber.try_recv().unwrap()).take(20).collect()
}

/// Publishers and subscribers by one name.
#[test]
fn ring_is_found_by_its_name() {
    let (_scratch, directory) = directory();
    let Shared { handle: mut own, invitation, .. } = ring(8, 3).build::<u64>().unwrap();
    let name = invitation.publish(&directory, "a").unwrap();
    let found = directory.find("a").unwrap();
    let invitation = Invitation::find(&found).unwrap();
    assert_eq!(invitation.info().unwrap().kind(), ShmKind::MpLossy);
    assert!(format!("{invitation:?}").starts_with("Invitation { ring: "));
    let mut other = mp_broadcast::publisher::<u64>(&invitation).unwrap();
    let accepted = invitation.accept::<u64>().unwrap();
    let mut subscriber = accepted.subscribable().subscribe();
    own.publish(1);
    other.publish(2);
    assert_eq!((subscriber.recv(), subscriber.recv()), (Ok(1), Ok(2)));
    drop(name);
    other.publish(3);
    assert_eq!(subscriber.recv(), Ok(3), "who has the ring goes on");
    let error = Invitation::find(&found).unwrap_err();
    assert!(matches!(error, FindError::Name(NameError::NotFound { .. })), "{error}");
}

/// The first process makes the ring, and has its name; the others join it.
#[test]
fn first_makes_it_and_others_join() {
    let (_scratch, directory) = directory();
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let directory = directory.clone();
            thread::spawn(move || ring(64, 4).publish_in::<u64>(&directory, "a").unwrap())
        })
        .collect();
    let mut all: Vec<_> = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(all.iter().filter(|(_, name)| name.is_some()).count(), 1);
    // The process with the name comes first, and stays to the end.
    all.sort_by_key(|(_, name)| name.is_none());
    let mut places: Vec<_> = all.iter().map(|(publisher, _)| publisher.place()).collect();
    places.sort_unstable();
    assert_eq!(places, [0, 1, 2, 3], "of one ring");
    // It keeps its settings, and its places.
    let full = ring(8, 9).publish_in::<u64>(&directory, "a").map(drop).unwrap_err();
    assert!(matches!(full, FindError::Attach(AttachError::NoPlace { places: 4 })), "{full}");
    let mut subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap();
    assert!(matches!(subscriber.recv().unwrap(), Received::Began { missed: 0, .. }));
    for (number, (publisher, _)) in (0..).zip(&mut all) {
        publisher.publish(number);
    }
    assert_eq!(self::all(&mut subscriber), [0, 1, 2, 3].map(Received::Message));
    all[0].0.close();
    let closed = ring(8, 9).publish_in::<u64>(&directory, "a").map(drop).unwrap_err();
    assert!(matches!(closed, FindError::Attach(AttachError::NoPlace { .. })), "{closed}");
    all.pop();
    let closed = ring(8, 9).publish_in::<u64>(&directory, "a").map(drop).unwrap_err();
    assert!(matches!(closed, FindError::Attach(AttachError::Closed)), "{closed}");
    // All are gone: the next one makes another ring.
    drop(all);
    let (next, name) = ring(8, 2).publish_in::<u64>(&directory, "a").unwrap();
    assert!(name.is_some() && (next.capacity(), next.place()) == (8, 0));
}

/// Another kind of ring, and another type: errors with both sides' values.
#[test]
fn rings_of_other_kinds_are_refused() {
    let (_scratch, directory) = directory();
    let wrong = |name: &str| match ring(8, 2).publish_in::<u64>(&directory, name) {
        Err(FindError::Attach(error)) => error,
        other => panic!("{other:?}"),
    };
    let Shared { handle: _publisher, invitation: lossy, .. } = broadcast::lossy::<u64>(Ring::new(8)).unwrap();
    let _lossy = lossy.publish(&directory, "lossy").unwrap();
    let error = wrong("lossy");
    assert!(
        matches!(error, AttachError::Kind { found: ShmKind::Lossy, wanted: ShmKind::MpLossy }),
        "{error}"
    );
    let builder = annulus::Settings::new(8);
    let Shared { handle: _producer, invitation: queue, .. } =
        spsc::producer::<u64>(builder, WhenGone::Close).unwrap();
    let _queue = queue.publish(&directory, "queue").unwrap();
    let error = wrong("queue");
    assert!(matches!(error, AttachError::Kind { found: ShmKind::Spsc, wanted: ShmKind::MpLossy }), "{error}");
    let (_other, _name) = ring(8, 2).publish_in::<i64>(&directory, "type").unwrap();
    assert!(matches!(wrong("type"), AttachError::Type { .. }));
    let bad = ring(8, 2).publish_in::<u64>(&directory, "../a").map(drop).unwrap_err();
    assert!(matches!(bad, FindError::Name(NameError::Bad { .. })), "{bad}");
    let none = ring(8, 0).publish_in::<u64>(&directory, "none").map(drop).unwrap_err();
    assert!(matches!(none, FindError::Share(_)), "{none}");
    assert!(directory.find("none").is_err());
    // A consumer of a queue, and a seat, can't be had of it.
    let found = Invitation::find(&directory.find("type").unwrap()).unwrap();
    let error = spsc::consumer::<i64>(&found).map(drop).unwrap_err();
    assert!(matches!(error, AttachError::Kind { found: ShmKind::MpLossy, wanted: ShmKind::Spsc }), "{error}");
}

/// A subscriber that comes before the first publisher, and stays while they come and go. As long as the ring
/// has its name, it waits there; behind that, for the next ring.
#[test]
fn a_subscriber_follows_them() {
    let (_scratch, directory) = directory();
    let mut subscriber = NamedSubscriber::<u64>::new(&directory, "a").unwrap().begin_with_oldest();
    assert_eq!(all(&mut subscriber), []);
    let (mut first, name) = ring(8, 2).publish_in::<u64>(&directory, "a").unwrap();
    first.publish(1);
    let found = all(&mut subscriber);
    assert!(matches!(found[..], [Received::Began { missed: 0, .. }, Received::Message(1)]), "{found:?}");
    // Nobody publishes, and somebody comes back.
    drop(first);
    assert_eq!((subscriber.state(), all(&mut subscriber)), (PeerState::Dead, vec![]));
    let (mut second, no_name) = ring(8, 2).publish_in::<u64>(&directory, "a").unwrap();
    second.publish(2);
    assert_eq!((no_name.is_none(), all(&mut subscriber)), (true, vec![Received::Message(2)]));
    // The name is taken back: a publisher is received until it goes.
    drop(name);
    second.publish(3);
    assert_eq!(all(&mut subscriber), [Received::Message(3)]);
    let (mut third, _name) = ring(8, 2).publish_in::<u64>(&directory, "a").unwrap();
    third.publish(5);
    second.publish(4);
    assert_eq!(all(&mut subscriber), [Received::Message(4)]);
    drop(second);
    // (It asks the kernel now and then.)
    let long = Duration::from_secs(60);
    let ended = subscriber.recv_timeout(long).unwrap().unwrap();
    assert!(matches!(ended, Received::Ended { state: PeerState::Dead, .. }), "{ended:?}");
    let found = all(&mut subscriber);
    assert!(matches!(found[..], [Received::Began { missed: 0, .. }, Received::Message(5)]), "{found:?}");
}

/// Processes: the one that has made the ring is killed, and so are the others; then another one makes it.
#[test]
fn processes_that_are_killed_and_come_back() {
    let (_scratch, directory) = directory();
    let mut subscriber = NamedSubscriber::<Payload>::new(&directory, "a").unwrap();
    subscriber.set_wait_strategy(WaitStrategy::block_after(0, 0));
    let child = |sender: u64| Child::new(&format!("publish-in {sender} {}", directory.path().display()));
    for policy in [WhenGone::Wait, WhenGone::Close] {
        let close = u64::from(policy == WhenGone::Close);
        let mut maker = child(close);
        crate::mp_broadcast::processes::heard(&maker);
        let mut other = child(10 + close);
        crate::mp_broadcast::processes::heard(&other);
        let mut next = || match subscriber.recv().unwrap() {
            Received::Message(message) => {
                check(&message);
                Received::Message(message[0])
            }
            Received::Lagged { .. } => Received::Lagged { skipped: 0 },
            Received::Corrupt(bad) => Received::Corrupt(bad),
            Received::Began { process, missed } => Received::Began { process, missed },
            Received::Ended { process, state } => Received::Ended { process, state },
            other => panic!("{other:?}"),
        };
        assert!(
            matches!(next(), Received::Began { .. }),
            "it comes once more, after the end of the last one"
        );
        for sender in [close, 10 + close] {
            while next() != Received::Message(sender) {}
        }
        maker.kill();
        // The other one goes on, although the ring has no name any more.
        assert!(matches!(directory.find("a"), Err(NameError::Dead { .. })));
        for _ in 0..1000 {
            assert!(!matches!(next(), Received::Began { .. } | Received::Ended { .. }));
        }
        other.kill();
        loop {
            match next() {
                Received::Ended { state, .. } => break assert_eq!(state, PeerState::Dead),
                Received::Began { .. } => panic!("there is no next one yet"),
                _ => {}
            }
        }
    }
}
