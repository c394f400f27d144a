//! What another process does: it publishes or subscribes.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use annulus::Settings;
use annulus::WaitStrategy;
use annulus::shm::{
    self, Directory, FindError, Invitation, NameError, PeerState, Received, Shared, broadcast, mp_broadcast,
};

use crate::broadcast::processes::{Payload, check, payload};
use crate::process::role;

/// Publishes under the name "a" until it is killed: numbers that begin with the process's, or the numbers of
/// the messages, which go on.
fn publish_named(capacity_and_path: &str, is_numbered: bool, mut socket: &UnixStream) {
    let (capacity, path) = capacity_and_path.split_once(' ').unwrap();
    let directory = Directory::open(path).unwrap();
    let settings = Settings::new(capacity.parse().unwrap());
    let (first, made) = if is_numbered {
        let numbering = directory.numbering("a").unwrap();
        (numbering.next(), numbering.lossy::<Payload>(settings).unwrap())
    } else {
        (u64::from(std::process::id()) << 32, broadcast::lossy::<Payload>(settings).unwrap())
    };
    let Shared { handle: mut publisher, invitation, .. } = made;
    let _name = invitation.publish(&directory, "a").unwrap();
    socket.write_all(b"\n").unwrap();
    for number in first.. {
        publisher.publish(payload(number));
        if number % 1024 == 0 {
            std::thread::yield_now();
        }
    }
}

/// `publish CAPACITY`, `publish-named CAPACITY PATH`, `publish-numbered CAPACITY PATH`, `publish-some COUNT`,
/// `by-name PATH`, `publish-large lossy|lossless`, `subscribe STRATEGY`, `publish-lossless CAPACITY`, or
/// `await STRATEGY`. In the test program itself it does nothing.
#[test]
fn child_plays_its_role() {
    let Some((role, socket)) = role() else { return };
    match role.split_once(' ') {
        Some(("publish", capacity)) => {
            let settings = Settings::new(capacity.parse().unwrap());
            let Shared { handle: mut publisher, invitation, .. } =
                broadcast::lossy::<Payload>(settings).unwrap();
            invitation.send(&socket).unwrap();
            for number in 0.. {
                publisher.publish(payload(number));
                if number % 1024 == 0 {
                    std::thread::yield_now();
                }
            }
        }
        Some(("publish-named", capacity_and_path)) => publish_named(capacity_and_path, false, &socket),
        Some(("publish-numbered", capacity_and_path)) => publish_named(capacity_and_path, true, &socket),
        // Until it is killed.
        Some(("publish-some", count)) => {
            let count: u64 = count.parse().unwrap();
            let Shared { handle: mut lossy, invitation, .. } =
                broadcast::lossy::<Payload>(Settings::new(64)).unwrap();
            invitation.send(&socket).unwrap();
            let Shared { handle: mut lossless, invitation, .. } =
                broadcast::lossless::<Payload>(Settings::new(64), 8).unwrap();
            invitation.send(&socket).unwrap();
            (&socket).read_exact(&mut [0]).unwrap();
            for number in 0..count {
                lossy.publish(payload(number));
                lossless.publish(payload(number)).unwrap();
            }
            (&socket).write_all(b"\n").unwrap();
            let _ = (&socket).read(&mut [0]);
        }
        Some(("publish-large", kind)) => crate::broadcast::half_written::publish(kind, &socket),
        Some(("by-name", path)) => by_name(path, &socket),
        Some(("subscribe", strategy)) => {
            let strategy = strategy.parse::<WaitStrategy>().unwrap();
            let ring = Invitation::receive(&socket)
                .unwrap()
                .with_wait_strategy(strategy)
                .accept::<Payload>()
                .unwrap();
            let mut subscriber = ring.subscribable().subscribe_from_oldest();
            (&socket).write_all(b"\n").unwrap();
            let mut received = 0;
            while let Ok(message) = subscriber.recv() {
                check(&message);
                received += 1;
            }
            writeln!(&socket, "{received} {}", subscriber.total_lagged()).unwrap();
        }
        Some(("publish-lossless", capacity)) => {
            let settings = Settings::new(capacity.parse().unwrap());
            let Shared { handle: mut publisher, invitation, .. } =
                broadcast::lossless::<Payload>(settings, 4).unwrap();
            invitation.send(&socket).unwrap();
            // It goes on when somebody is there.
            (&socket).read_exact(&mut [0]).unwrap();
            for number in 0.. {
                publisher.publish(payload(number)).unwrap();
            }
        }
        Some(("await", strategy)) => {
            let strategy = strategy.parse::<WaitStrategy>().unwrap();
            let ring = Invitation::receive(&socket)
                .unwrap()
                .with_wait_strategy(strategy)
                .accept_lossless::<Payload>()
                .unwrap();
            let mut subscriber = ring.subscribe().unwrap();
            (&socket).write_all(b"\n").unwrap();
            let first = subscriber.cursor();
            let mut next = first;
            while let Ok(message) = subscriber.recv() {
                check(&message);
                assert_eq!(message[0], next, "in order, and all of them");
                next += 1;
            }
            writeln!(&socket, "{first} {next}").unwrap();
        }
        other => panic!("{other:?}"),
    }
}

/// The calls that take a name only, in a process whose user has the directory `path`.
fn by_name(path: &str, mut socket: &UnixStream) {
    // SAFETY: the only other thread of this process waits for this test.
    unsafe { std::env::set_var("XDG_RUNTIME_DIR", path) };
    let soon = Some(Duration::from_millis(1));
    let error = shm::wait_and_subscribe::<u64>("a", soon).map(drop).unwrap_err();
    assert!(matches!(error, FindError::Name(NameError::TimedOut { .. })), "{error}");
    let error = shm::subscribe::<u64>("a").map(drop).unwrap_err();
    assert!(matches!(error, FindError::Name(NameError::NotFound { .. })), "{error}");

    let mut follows = shm::follow::<u64>("a").unwrap();
    let waiter = std::thread::spawn(|| shm::wait_and_subscribe::<u64>("a", None).unwrap());
    let (mut publisher, name) = shm::publish::<u64>("a", Settings::new(8)).unwrap();
    assert!(std::path::Path::new(path).join("annulus").is_dir());
    let (mut first, ring) = waiter.join().unwrap();
    let (mut second, _) = shm::subscribe::<u64>("a").unwrap();
    assert!(matches!(follows.recv().unwrap(), Received::Began { .. }));
    publisher.publish(7);
    assert_eq!((first.recv(), second.recv()), (Ok(7), Ok(7)));
    assert_eq!(follows.recv().unwrap(), Received::Message(7));
    assert_eq!(ring.state(), PeerState::Alive);

    let several = || mp_broadcast::Builder::new(Settings::new(8)).publishers(2);
    let (mut one, of_one) = shm::mp_publish::<u64>("several", several()).unwrap();
    let (mut other, of_other) = shm::mp_publish::<u64>("several", several()).unwrap();
    let (mut both, _) = shm::subscribe::<u64>("several").unwrap();
    one.publish(8);
    other.publish(9);
    assert_eq!((both.recv(), both.recv()), (Ok(8), Ok(9)));
    assert_eq!((of_one.map(drop), of_other.map(drop)), (Some(()), None));

    let error = shm::publish::<u64>("a", Settings::new(8)).map(drop).unwrap_err();
    assert!(matches!(error, FindError::Name(NameError::Taken { .. })), "{error}");
    let error = shm::wait_and_subscribe::<i64>("a", None).map(drop).unwrap_err();
    assert!(matches!(error, FindError::Attach(_)), "{error}");
    let error = shm::publish::<u64>("b", Settings::new(1)).map(drop).unwrap_err();
    assert!(matches!(error, FindError::Share(_)) && error.to_string().contains("capacity 1"), "{error}");
    drop((publisher, name));
    std::fs::remove_dir(format!("{path}/annulus")).unwrap();
    std::fs::write(format!("{path}/annulus"), "in the way").unwrap();
    let error = shm::follow::<u64>("a").map(drop).unwrap_err();
    assert!(matches!(error, FindError::Directory(_)) && error.to_string().contains(path), "{error}");
    socket.write_all(b"7 8\n").unwrap();
}
