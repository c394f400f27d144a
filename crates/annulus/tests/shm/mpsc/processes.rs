//! Producers and consumers that are processes of their own.

use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use annulus::shm::mpsc::{self, Consumer};
use annulus::shm::{AttachError, Invitation, PeerState, Shared};
use annulus::{RecvTimeoutError, SendError, TryRecvError, TrySendError};
use rustix::process::Signal;

use crate::mpsc::{Payload, Received, ending, joined, payload, queue, receive_all, until_taken};
use crate::process::{Child, moment, rounds};

/// A process in this role, which has the invitation.
fn guest(role: &str, invitation: &Invitation) -> Child {
    let child = Child::new(role);
    invitation.send(&child.socket).unwrap();
    child
}

/// Until it has said something.
fn heard(child: &Child) {
    (&child.socket).read_exact(&mut [0]).unwrap();
}

/// Processes join, send and leave, more of them than there are places. Nothing is lost or doubled.
#[test]
fn producers_come_and_go() {
    const PROCESSES: u64 = 4;
    const JOINS: u64 = 20;
    let Shared { handle: mut consumer, peers: places, invitation, .. } =
        queue(3, 3).build::<Payload>().unwrap();
    let children: Vec<_> =
        (0..PROCESSES).map(|sender| guest(&format!("come-and-go {sender} {JOINS}"), &invitation)).collect();
    let mut received = Received::default();
    for _ in 0..PROCESSES * JOINS * 10 {
        received.note(&consumer.recv_timeout(Duration::from_secs(60)).unwrap());
    }
    children.iter().for_each(heard);
    receive_all(&mut consumer, &mut received);
    assert!((0..PROCESSES).all(|sender| received.of(sender) == JOINS * 10));
    until_taken(&places, 0);
    assert_eq!((places.joined(), places.died()), (PROCESSES * JOINS, 0));
    assert!(!consumer.is_closed());
}

/// A consumer that sleeps is woken by a process that comes then.
#[test]
fn late_producer_wakes_the_consumer() {
    let Shared { handle: mut consumer, invitation, .. } = queue(8, 2).build::<Payload>().unwrap();
    let child = Child::new("send-some 7 3");
    let sender = thread::spawn(move || {
        thread::sleep(Duration::from_millis(20));
        invitation.send(&child.socket).unwrap();
        heard(&child);
        child
    });
    for number in 0..3 {
        let block = annulus::WaitStrategy::block_after(0, 0);
        assert_eq!(consumer.recv_until(block), Ok(payload(7, number)));
    }
    drop(sender.join().unwrap());
}

/// All that a dead producer had sent is received. Its place is free, and no other one is held up.
#[test]
fn producers_that_are_killed() {
    let Shared { handle: mut consumer, peers: places, invitation, .. } =
        queue(16, 3).build::<Payload>().unwrap();
    let mut received = Received::default();
    let survivor = 1_000_000;
    let other = guest(&format!("send {survivor}"), &invitation);
    heard(&other);
    for round in 0..rounds() {
        let mut child = guest(&format!("send {round}"), &invitation);
        heard(&child);
        assert_eq!(places.taken(), 2);
        let killer = thread::spawn(move || {
            thread::sleep(moment(round));
            child.kill();
        });
        while !killer.is_finished() {
            received.note(&consumer.recv().unwrap());
        }
        killer.join().unwrap();
        assert_eq!((places.taken(), places.died()), (1, round + 1));
        let before = received.of(survivor);
        while received.of(survivor) < before + 100 {
            received.note(&consumer.recv().unwrap());
        }
        assert!(!consumer.is_closed());
    }
    drop(other);
    receive_all(&mut consumer, &mut received);
    assert_eq!((places.taken(), places.joined(), places.died()), (0, rounds() + 1, rounds() + 1));
    assert_eq!(consumer.try_recv(), Err(TryRecvError::Empty));
}

/// The one place is free as soon as its producer is dead, also while its messages are still there.
#[test]
fn the_place_of_the_dead_is_free() {
    let Shared { handle: mut consumer, peers: places, invitation, .. } =
        queue(4, 1).build::<Payload>().unwrap();
    for round in 0..rounds() {
        let mut child = guest(&format!("send-some {round} 2"), &invitation);
        heard(&child);
        let refused = mpsc::producer::<Payload>(&invitation).map(drop).unwrap_err();
        assert!(matches!(refused, AttachError::NoPlace { places: 1 }), "{refused}");
        child.kill();
        assert_eq!((places.taken(), places.died()), (0, round + 1));
        let mut next = joined::<Payload>(&invitation);
        assert_eq!(next.len(), 2);
        next.send(payload(round, 2)).unwrap();
        assert_eq!((places.taken(), places.died()), (1, round + 1));
        drop(next);
        assert!((0..3).all(|number| consumer.recv() == Ok(payload(round, number))));
    }
}

/// A queue that ends with its last producer ends when that one dies, after all that it had sent.
#[test]
fn queue_whose_producers_die_ends() {
    type Verb = fn(&mut Consumer<Payload>) -> Option<Payload>;
    let verbs: [Verb; 5] = [
        |consumer| consumer.recv().ok(),
        |consumer| match consumer.try_recv() {
            Err(TryRecvError::Empty) => consumer.recv().ok(),
            other => other.ok(),
        },
        |consumer| match consumer.recv_timeout(Duration::from_secs(600)) {
            Err(error) => {
                assert_eq!(error, RecvTimeoutError::Closed);
                None
            }
            Ok(message) => Some(message),
        },
        |consumer| {
            let mut buffer = [[0; 5]; 1];
            consumer.recv_batch(&mut buffer).ok().map(|count| buffer[count - 1])
        },
        |consumer| consumer.iter().next(),
    ];
    for verb in verbs {
        let Shared { handle: mut consumer, peers: places, invitation, .. } =
            ending(8, 3).build::<Payload>().unwrap();
        let mut children = [3, 5].map(|count| guest(&format!("send-some {count} {count}"), &invitation));
        children.iter().for_each(heard);
        children[0].kill();
        let mut received = Received::default();
        (0..8).for_each(|_| received.note(&verb(&mut consumer).unwrap()));
        assert!(!consumer.is_closed(), "one lives");
        // This one leaves; but the other one can't be told from it at once.
        drop(joined::<Payload>(&invitation));
        children[1].kill();
        assert_eq!(verb(&mut consumer), None);
        assert_eq!((places.taken(), places.died()), (0, 2));
        let refused = mpsc::producer::<Payload>(&invitation).map(drop).unwrap_err();
        assert!(matches!(refused, AttachError::Closed), "{refused}");
    }
}

/// A consumer is killed again and again, and the next one goes on in each ring: with the message behind the
/// last one that was received, or with that one, if it was killed before it had said so.
#[test]
fn consumers_that_are_killed() {
    const SENDERS: u64 = 3;
    let roles = ["block:0,0", "pause-spin"];
    let mut child = Child::new("make block:0,0");
    let invitation = Invitation::receive(&child.socket).unwrap();
    let mut senders = Vec::new();
    let mut peers = Vec::new();
    for sender in 0..SENDERS {
        let (mut producer, peer) = mpsc::producer::<Payload>(&invitation).unwrap();
        peers.push(peer);
        senders.push(thread::spawn(move || {
            let mut next = 0;
            while producer.send(payload(sender, next)).is_ok() {
                next += 1;
            }
            next
        }));
    }
    let mut received = Said { next: [0; SENDERS as usize], unsaid: 0 };
    for round in 0..rounds() {
        if round > 0 {
            child = guest(&format!("receive {}", roles[round as usize % 2]), &invitation);
            heard(&child);
        }
        let another = mpsc::consumer::<Payload>(&invitation).map(drop).unwrap_err();
        assert!(matches!(another, AttachError::Occupied), "{another}");
        assert!(peers.iter().all(|peer| peer.state() == PeerState::Alive));
        thread::sleep(moment(round));
        child.kill();
        assert!(peers.iter().all(|peer| peer.state() == PeerState::Dead));
        for (sender, number) in what_was_said(&child.socket) {
            received.says(sender, number);
        }
        // Each may have received one more message, and was killed before it said so.
        assert!(received.unsaid <= round + 1, "{} messages are missing", received.unsaid);
    }
    let (mut consumer, places) = mpsc::consumer::<Payload>(&invitation).unwrap();
    assert_eq!((places.taken(), places.died()), (SENDERS as usize, 0));
    consumer.close();
    while let Ok(message) = consumer.recv() {
        crate::mpsc::check(&message);
        received.says(message[0], message[1]);
    }
    assert!(received.unsaid <= rounds(), "{} messages are missing", received.unsaid);
    for (sender, sent) in senders.into_iter().zip(received.next) {
        assert_eq!(sender.join().unwrap(), sent, "all that was sent is received");
    }
}

/// What consumers have said, one after the other.
struct Said<const SENDERS: usize> {
    /// Of each sender, what follows the last message.
    next: [u64; SENDERS],
    /// Messages that nobody has said, though a later one of their sender was received.
    unsaid: u64,
}

impl<const SENDERS: usize> Said<SENDERS> {
    fn says(&mut self, sender: u64, number: u64) {
        let next = &mut self.next[sender as usize];
        assert!(number >= *next, "{number} of {sender} comes after {next}");
        self.unsaid += number - *next;
        *next = number + 1;
    }
}

/// What a process wrote before it was killed, as far as it is whole.
fn what_was_said(mut socket: &UnixStream) -> Vec<(u64, u64)> {
    let mut said = Vec::new();
    if let Err(error) = socket.read_to_end(&mut said) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    let number = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap());
    said.chunks_exact(16).map(|pair| (number(&pair[..8]), number(&pair[8..]))).collect()
}

/// A producer whose consumer is killed while it waits for room is told. What is left goes to a next consumer.
#[test]
fn consumer_that_is_killed() {
    for round in 0..rounds() {
        let mut child = Child::new("hold");
        let invitation = Invitation::receive(&child.socket).unwrap();
        let (mut producer, peer) = mpsc::producer::<Payload>(&invitation).unwrap();
        let (mut other, _) = mpsc::producer::<Payload>(&invitation).unwrap();
        other.send(payload(1, 0)).unwrap();
        assert_eq!(peer.state(), PeerState::Alive);
        let killer = thread::spawn(move || {
            thread::sleep(moment(round));
            child.kill();
        });
        let mut sent = 0;
        while producer.send(payload(0, sent)).is_ok() {
            sent += 1;
        }
        killer.join().unwrap();
        assert_eq!((sent, peer.state()), (2, PeerState::Dead));
        // For all of them.
        assert!(producer.is_closed() && other.is_closed());
        assert_eq!(other.send(payload(1, 1)), Err(SendError(payload(1, 1))));
        let (mut next, _) = mpsc::consumer::<Payload>(&invitation).unwrap();
        let mut received = Received::default();
        while let Ok(message) = next.recv() {
            received.note(&message);
        }
        assert_eq!((received.of(0), received.of(1)), (2, 1));
    }
}

/// A producer that is stopped is alive: its place is its own, and the others go on.
#[test]
fn producer_that_is_stopped() {
    let Shared { handle: mut consumer, peers: places, invitation, .. } =
        ending(16, 2).build::<Payload>().unwrap();
    let child = guest("send 0", &invitation);
    heard(&child);
    let mut other = joined::<Payload>(&invitation);
    child.stop();
    let mut received = Received::default();
    while let Ok(message) = consumer.recv_timeout(Duration::from_millis(100)) {
        received.note(&message);
    }
    assert_eq!((places.taken(), places.died()), (2, 0));
    for number in 0..50 {
        other.send(payload(1, number)).unwrap();
        received.note(&consumer.recv().unwrap());
    }
    drop(other);
    assert_eq!(consumer.recv_timeout(Duration::from_millis(100)), Err(RecvTimeoutError::Timeout));
    let before = received.of(0);
    child.signal(Signal::CONT);
    while received.of(0) < before + 50 {
        received.note(&consumer.recv().unwrap());
    }
    drop(child);
    while let Ok(message) = consumer.recv() {
        received.note(&message);
    }
    assert!(consumer.recv().unwrap_err().peer_died());
    assert_eq!((places.taken(), places.died()), (0, 1));
}

/// A consumer that is stopped: the rings are full, and the queue stays open.
#[test]
fn consumer_that_is_stopped() {
    let child = Child::new("make block:100,10");
    let invitation = Invitation::receive(&child.socket).unwrap();
    child.stop();
    let (mut producer, peer) = mpsc::producer::<Payload>(&invitation).unwrap();
    let mut sent = 0;
    while producer.send_timeout(payload(0, sent), Duration::from_millis(100)).is_ok() {
        sent += 1;
    }
    assert_eq!(sent, 16);
    assert_eq!(producer.try_send(payload(0, sent)), Err(TrySendError::Full(payload(0, sent))));
    assert!(!producer.is_closed());
    assert_eq!(peer.state(), PeerState::Alive);
    child.signal(Signal::CONT);
    producer.send(payload(0, sent)).unwrap();
    producer.close();
    let said = what_was_said(&child.socket);
    assert_eq!(said, (0..=sent).map(|number| (0, number)).collect::<Vec<_>>());
    assert_eq!(peer.state(), PeerState::Closed);
}
