//! Publishers and subscribers that are processes of their own.

use std::io::{Read, Write};
use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::broadcast::{Mode, Subscriber};
use annulus::shm::{Invitation, PeerState, Shared, broadcast};
use annulus::{RecvTimeoutError, TryRecvError};
use rustix::process::Signal;

use crate::process::{Child, moment, rounds};

/// Five words: the number, and what follows from it.
pub(crate) type Payload = [u64; 5];

pub(crate) fn payload(number: u64) -> Payload {
    [number, !number, number.rotate_left(32), number ^ 0x5555_5555_5555_5555, number.wrapping_mul(3)]
}

/// It is whole.
pub(crate) fn check(message: &Payload) {
    assert_eq!(*message, payload(message[0]), "torn");
}

/// A publisher is killed at any moment. What it had published is received whole, in order, and counted;
/// then the ring has ended.
#[test]
fn a_publisher_that_is_killed() {
    for round in 0..rounds() {
        let mut child = Child::new(["publish 2", "publish 64", "publish 1000"][round as usize % 3]);
        let ring = Invitation::receive(&child.socket).unwrap().accept::<Payload>().unwrap();
        let mut subscriber = ring.subscribable().subscribe_from_oldest();
        let first = subscriber.cursor();
        let killer = thread::spawn(move || {
            thread::sleep(moment(round));
            child.kill();
        });
        let mut next = 0;
        let mut received = 0;
        while let Ok(message) = subscriber.recv() {
            check(&message);
            assert!(message[0] >= next, "{} comes after {next}", message[0]);
            next = message[0] + 1;
            received += 1;
        }
        killer.join().unwrap();
        assert_eq!(ring.state(), PeerState::Dead);
        assert!(subscriber.is_closed());
        assert_eq!(
            received + subscriber.total_lagged(),
            subscriber.cursor() - first,
            "all are received or counted"
        );
        // A subscriber that comes now finds what is left, and the same end.
        let mut late = ring.subscribable().subscribe_from_oldest();
        let mut left = Vec::new();
        while let Ok(message) = late.recv() {
            check(&message);
            left.push(message[0]);
        }
        assert_eq!(late.cursor(), subscriber.cursor());
        assert!(left.iter().rev().zip(1..).all(|(number, back)| number + back == late.cursor()), "{left:?}");
    }
}

/// Each verb receives all that a dead publisher had published, and then says that the ring has ended, as
/// after a close. `state` and `peer_died` tell which it was.
#[test]
fn verbs_come_to_the_end_of_the_dead() {
    let mut child = Child::new("publish-some 5");
    let lossy = Invitation::receive(&child.socket).unwrap().accept::<Payload>().unwrap();
    let lossless = Invitation::receive(&child.socket).unwrap().accept_lossless::<Payload>().unwrap();
    let subscribers = || lossy.subscribable().subscribe();
    let awaited = || lossless.subscribe().unwrap();
    let (mut lossy_ones, mut lossless_ones) = ([(); 6].map(|()| subscribers()), [(); 6].map(|()| awaited()));
    (&child.socket).write_all(b"\n").unwrap();
    (&child.socket).read_exact(&mut [0]).unwrap();
    assert_eq!([lossy.state(), lossless.state()], [PeerState::Alive; 2]);
    child.kill();
    end_by_each_verb(&mut lossy_ones, true);
    end_by_each_verb(&mut lossless_ones, true);
    assert_eq!([lossy.state(), lossless.state()], [PeerState::Dead; 2]);

    // The same after a close.
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<Payload>(Settings::new(64)).unwrap();
    let ring = invitation.accept::<Payload>().unwrap();
    let mut subscribers = [(); 6].map(|()| ring.subscribable().subscribe());
    (0..5).for_each(|number| publisher.publish(payload(number)));
    publisher.close();
    end_by_each_verb(&mut subscribers, false);
    assert_eq!(ring.state(), PeerState::Closed);
}

/// Five messages, and the end: `has_died` says of what.
fn end_by_each_verb<M: Mode>(subscribers: &mut [Subscriber<Payload, M>; 6], has_died: bool) {
    let [plain, trying, timed, batch, iterated, tried] = subscribers;
    let expected: Vec<_> = (0..5).map(payload).collect();
    assert!(expected.iter().all(|message| plain.recv() == Ok(*message)));
    assert_eq!(plain.recv().unwrap_err().peer_died(), has_died);
    assert_eq!((plain.stats().writers.now, plain.stats().writers.joined), (0, 1));
    assert!(expected.iter().all(|message| trying.try_recv().ok() == Some(*message)));
    // The kernel is asked now and then.
    let begun = Instant::now();
    let mut last = trying.try_recv();
    while !trying.is_closed() && begun.elapsed() < Duration::from_secs(60) {
        last = trying.try_recv();
    }
    assert_eq!(last.and(trying.try_recv()), Err(TryRecvError::Closed));
    let long = Duration::from_secs(600);
    assert!(expected.iter().all(|message| timed.recv_timeout(long) == Ok(*message)));
    assert_eq!(timed.recv_timeout(long), Err(RecvTimeoutError::Closed));
    let mut buffer = [[0; 5]; 8];
    assert_eq!(batch.recv_batch(&mut buffer), Ok(5));
    assert_eq!(buffer[..5], expected);
    assert_eq!(batch.recv_batch(&mut buffer).unwrap_err().peer_died(), has_died);
    assert_eq!(iterated.iter().collect::<Vec<_>>(), expected);
    assert_eq!(tried.try_iter().collect::<Vec<_>>(), expected);
}

/// Several processes subscribe; each receives all or counts it. One of them is killed, and nobody is hurt.
#[test]
fn subscribers_of_their_own() {
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<Payload>(Settings::new(256)).unwrap();
    let children = ["block:0,0", "busy-spin", "block:100,10"].map(|strategy| {
        let child = Child::new(&format!("subscribe {strategy}"));
        invitation.send(&child.socket).unwrap();
        (&child.socket).read_exact(&mut [0]).unwrap();
        child
    });
    let messages = 20_000;
    let [first, second, mut killed] = children;
    for number in 0..messages {
        publisher.publish(payload(number));
        if number == messages / 2 {
            killed.kill();
        }
        if number % 100 == 0 {
            thread::sleep(Duration::from_micros(100));
        }
    }
    drop(publisher);
    for child in [first, second] {
        let (received, lagged) = child.said();
        assert_eq!(received + lagged, messages);
        assert!(received > 0);
    }
}

/// A subscriber is killed at any moment, asleep or not: nobody else notices it.
#[test]
fn a_subscriber_that_is_killed() {
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<Payload>(Settings::new(64)).unwrap();
    let ring = invitation.accept::<Payload>().unwrap();
    let mut other = ring.subscribable().subscribe();
    let mut next = 0;
    for round in 0..rounds() {
        let strategies = ["subscribe block:0,0", "subscribe busy-spin", "subscribe block:100,10"];
        let mut child = Child::new(strategies[round as usize % 3]);
        invitation.send(&child.socket).unwrap();
        (&child.socket).read_exact(&mut [0]).unwrap();
        let killer = thread::spawn(move || {
            thread::sleep(Duration::from_micros(round * 7919 % 5_000));
            child.kill();
        });
        while !killer.is_finished() {
            publisher.publish(payload(next));
            assert_eq!(other.recv(), Ok(payload(next)));
            next += 1;
            if next % 64 == 0 {
                // Now and then it falls asleep.
                thread::sleep(Duration::from_micros(100));
            }
        }
        killer.join().unwrap();
    }
    assert_eq!(other.total_lagged(), 0);
}

/// A publisher that is stopped is alive: its subscribers wait until it is continued.
#[test]
fn a_publisher_that_is_stopped() {
    let child = Child::new("publish 64");
    let ring = Invitation::receive(&child.socket).unwrap().accept::<Payload>().unwrap();
    let mut subscriber = ring.subscribable().subscribe();
    check(&subscriber.recv().unwrap());
    child.stop();
    let begun = Instant::now();
    while subscriber.recv_timeout(Duration::from_millis(100)).is_ok() {
        assert!(begun.elapsed() < Duration::from_secs(60), "it goes on");
    }
    assert_eq!(ring.state(), PeerState::Alive);
    assert!(!subscriber.is_closed());
    child.signal(Signal::CONT);
    check(&subscriber.recv().unwrap());
}

/// A subscriber that is stopped holds nobody up. When it goes on, it learns how many it has lost.
#[test]
fn a_subscriber_that_is_stopped() {
    let capacity = 64;
    let Shared { handle: mut publisher, invitation, .. } =
        broadcast::lossy::<Payload>(Settings::new(capacity as usize)).unwrap();
    let [stopped, other] = ["block:0,0", "busy-spin"].map(|strategy| {
        let child = Child::new(&format!("subscribe {strategy}"));
        invitation.send(&child.socket).unwrap();
        (&child.socket).read_exact(&mut [0]).unwrap();
        child
    });
    stopped.stop();
    let messages = 10_000;
    let begun = Instant::now();
    (0..messages).for_each(|number| publisher.publish(payload(number)));
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let (received, lagged) = {
        stopped.signal(Signal::CONT);
        drop(publisher);
        stopped.said()
    };
    assert_eq!(received + lagged, messages);
    assert!((1..=capacity).contains(&received), "{received} of the last {capacity}");
    let (received, lagged) = other.said();
    assert_eq!(received + lagged, messages);
}

/// The end of a process that had published is found by one that sleeps.
#[test]
fn death_ends_a_sleep() {
    let mut child = Child::new("publish 64");
    let ring = Invitation::receive(&child.socket).unwrap().accept::<Payload>().unwrap();
    child.stop();
    let mut subscriber = ring.subscribable().subscribe();
    let sleeper = thread::spawn(move || {
        while subscriber.recv().is_ok() {}
        Instant::now()
    });
    thread::sleep(Duration::from_millis(200));
    let killed = Instant::now();
    child.kill();
    let took = sleeper.join().unwrap().saturating_duration_since(killed);
    assert!(took < Duration::from_secs(60), "{took:?}");
}
