//! Subscribers for which the publisher waits, and the publishers that wait, are processes of their own, and
//! are killed and stopped.

use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::thread;
use std::time::Duration;

use annulus::broadcast::Lossless;
use annulus::broadcast::bytes::{Publisher, WriteTimeoutError};
use annulus::shm::{Invitation, PeerState, send_fd};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Signal;

use super::check;
use super::lossless::{invited, next, publish, receive};
use super::processes::joined;
use crate::process::{Child, moment, rounds};

/// Publishes as long as the closure runs in a thread of its own, and gives what it returns.
fn publish_beside<R: Send>(publisher: &mut Publisher<Lossless>, run: impl FnOnce() -> R + Send) -> R {
    thread::scope(|scope| {
        let running = scope.spawn(run);
        while !running.is_finished() {
            publish(publisher);
        }
        running.join().unwrap()
    })
}

/// One subscriber is killed at any moment, again and again: the publisher goes on, whether it waits for a
/// slot or for bytes, and another subscriber loses nothing.
#[test]
fn lossless_subscribers_that_are_killed() {
    let (mut publisher, invitation) = invited(256, 2);
    let (survivor, _) = joined("read-all", &invitation);
    let begun = publisher.published();
    for round in 0..rounds() {
        // (It may find the seat of the dead one before it, which a publisher that has no room frees.)
        let (mut child, _) = publish_beside(&mut publisher, || joined("read-all", &invitation));
        publish_beside(&mut publisher, || {
            thread::sleep(moment(round));
            child.kill();
        });
        // Nobody else waits any more: the seat of the dead one is all that could be in the way.
        (0..20).for_each(|_| _ = publish(&mut publisher));
    }
    let published = publisher.published() - begun;
    publisher.close();
    assert_eq!(survivor.said(), (published, 0));
    assert_eq!(publisher.subscriber_count(), 0);
}

/// The last subscriber is killed where the publisher has slots, and no bytes; and the other way round. It
/// waits in the kernel, or looks again and again.
#[test]
fn publisher_does_not_wait_for_the_dead() {
    for length in [128, 0] {
        let (mut publisher, invitation) = invited(256, 1);
        for _ in 0..rounds().min(5) {
            let (mut child, _) = joined("read-all", &invitation);
            child.stop();
            let full = loop {
                match publisher.publish_timeout(&vec![7; length], Duration::from_millis(20)) {
                    Ok(()) => {}
                    Err(error) => break error,
                }
            };
            assert_eq!((full, publisher.subscriber_count()), (WriteTimeoutError::Timeout, 1));
            let (waits, killer) = thread::scope(|scope| {
                let killer = scope.spawn(|| {
                    thread::sleep(Duration::from_millis(20));
                    child.kill();
                });
                (publisher.publish(&vec![7; length]), killer.join())
            });
            assert_eq!((waits, killer.is_ok()), (Ok(()), true));
            assert!(publisher.try_publish(&[]).is_ok());
            assert_eq!(publisher.subscriber_count(), 0);
        }
    }
}

/// A task that waits for bytes goes on when the process is gone that has not received them.
#[cfg(feature = "async")]
#[test]
fn task_does_not_wait_for_the_dead() {
    use crate::support::tasks::block_on;
    let (mut publisher, invitation) = invited(256, 1);
    let (mut child, _) = joined("read-all", &invitation);
    child.stop();
    while publisher.publish_timeout(&[7; 128], Duration::from_millis(20)).is_ok() {}
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(20));
            child.kill();
        });
        block_on(publisher.publish_async(&[7; 128])).unwrap();
    });
}

/// A subscriber that is stopped at any moment, also inside a copy, is waited for, and receives all.
#[test]
fn lossless_subscriber_that_is_stopped() {
    let (mut publisher, invitation) = invited(1024, 1);
    let (child, _) = joined("read-all", &invitation);
    let begun = publisher.published();
    for round in 0..rounds() {
        publish_beside(&mut publisher, || {
            thread::sleep(moment(round) / 10);
            child.stop();
            // The publisher comes to the end of its room, and then somewhere between two of its looks.
            thread::sleep(moment(round) / 10);
            child.signal(Signal::CONT);
        });
    }
    child.stop();
    let refused = loop {
        let record = next(&publisher);
        match publisher.publish_timeout(&record, Duration::from_millis(20)) {
            Ok(()) => {}
            Err(error) => break error,
        }
    };
    assert_eq!((refused, publisher.is_closed()), (WriteTimeoutError::Timeout, false));
    for _ in 0..5 {
        // It looks for the dead again.
        thread::sleep(Duration::from_millis(20));
        let record = next(&publisher);
        assert!(publisher.try_publish(&record).unwrap_err().is_full());
    }
    child.signal(Signal::CONT);
    (0..100).for_each(|_| _ = publish(&mut publisher));
    let published = publisher.published() - begun;
    publisher.close();
    assert_eq!(child.said(), (published, 0));
}

/// A publisher is stopped and killed at any moment, also inside a record: all that it had published is
/// received, whole and in order, and then the ring has ended. A late subscriber begins with a record that
/// stands.
#[test]
fn lossless_publishers_that_are_killed() {
    for round in 0..rounds() {
        let mut child = Child::new(&format!("publish-all {}", 64 << (round % 7)));
        let invitation = Invitation::receive(&child.socket).unwrap();
        let ring = invitation.accept_lossless_bytes().unwrap();
        let said = File::from(memfd_create("said", MemfdFlags::CLOEXEC).unwrap());
        said.set_len(8).unwrap();
        send_fd(&child.socket, said.as_fd()).unwrap();
        let (mut subscriber, mut buffer) = (ring.subscribe().unwrap(), Vec::new());
        assert_eq!(subscriber.cursor(), 0);
        let end = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(moment(round));
                child.stop();
                assert_eq!(ring.state(), PeerState::Alive);
                let (mut late, mut buffer) = (ring.subscribe_from_oldest().unwrap(), Vec::new());
                let most = late.max_len();
                while late.try_recv(&mut buffer).is_ok() {
                    check(&buffer, late.cursor() - 1, most);
                }
                assert_eq!(late.total_lagged(), 0);
                child.kill();
            });
            loop {
                if let Err(end) = receive(&mut subscriber, &mut buffer) {
                    break end;
                }
            }
        });
        assert!(end.peer_died(), "{end:?}");
        assert_eq!(ring.state(), PeerState::Dead);
        let mut word = [0; 8];
        said.read_exact_at(&mut word, 0).unwrap();
        let (published, received) = (u64::from_ne_bytes(word), subscriber.cursor());
        assert!((published..=published + 1).contains(&received), "{published} and {received}");
        let mut late = ring.subscribe_from_oldest().unwrap();
        while receive(&mut late, &mut buffer).is_ok() {}
        assert_eq!(late.cursor(), received);
    }
}
