//! Producers and consumers that are processes of their own.

use std::io::{ErrorKind, Read};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::{Duration, Instant};

use annulus::Settings;
use annulus::shm::{AttachError, Invitation, PeerState, Shared};
use annulus::shm::{WhenGone, spsc};
use annulus::{RecvError, RecvTimeoutError, TryRecvError, TrySendError};
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

/// Each verb receives all that a dead producer had sent, and then says that the queue has ended, as after a
/// close. `Peer::state` and `RecvError::peer_died` tell which it was.
#[test]
fn verbs_come_to_the_end_of_the_dead() {
    type Verb = fn(&mut spsc::Consumer<Payload>) -> Option<Payload>;
    let long = Duration::from_secs(600);
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
        let mut child = Child::new("send-some 5");
        let invitation = Invitation::receive(&child.socket).unwrap();
        let (mut consumer, peer) = spsc::consumer::<Payload>(&invitation).unwrap();
        assert_eq!(peer.state(), PeerState::Alive);
        child.kill();
        assert!((0..5).all(|number| verb(&mut consumer) == Some(payload(number))));
        assert_eq!(verb(&mut consumer), None);
        assert_eq!(consumer.recv_timeout(long), Err(RecvTimeoutError::Closed));
        assert_eq!(peer.state(), PeerState::Dead);
        assert!(consumer.recv().unwrap_err().peer_died());

        let settings = annulus::Settings::new(8);
        let Shared { handle: mut producer, invitation, .. } =
            spsc::producer::<Payload>(settings, WhenGone::Close).unwrap();
        let (mut consumer, peer) = spsc::consumer::<Payload>(&invitation).unwrap();
        producer.send(payload(0)).unwrap();
        drop(producer);
        assert_eq!((verb(&mut consumer), verb(&mut consumer)), (Some(payload(0)), None));
        assert_eq!(peer.state(), PeerState::Closed);
        assert_eq!(consumer.recv(), Err(RecvError::CLOSED));
    }
}

/// All that it had sent is received, each once and in order; then the queue is closed.
#[test]
fn producer_that_is_killed() {
    for round in 0..rounds() {
        let mut child = Child::new(["send 1", "send 3", "send 64", "send 1000"][round as usize % 4]);
        let invitation = Invitation::receive(&child.socket).unwrap();
        let (mut consumer, peer) = spsc::consumer::<Payload>(&invitation).unwrap();
        let killer = thread::spawn(move || {
            thread::sleep(moment(round));
            child.kill();
        });
        let mut next = 0;
        while let Ok(message) = consumer.recv() {
            check(&message);
            assert_eq!(message[0], next);
            next += 1;
        }
        killer.join().unwrap();
        assert_eq!(peer.state(), PeerState::Dead);
        assert!(consumer.is_closed() && consumer.is_fully_drained() && consumer.is_empty());
    }
}

/// A producer dies while it writes: nothing of what it had not sent is received.
#[test]
fn producer_that_dies_inside_a_write() {
    let mut child = Child::new("half-written messages");
    let invitation = Invitation::receive(&child.socket).unwrap();
    let (mut consumer, peer) = spsc::consumer::<Payload>(&invitation).unwrap();
    assert_eq!(consumer.recv(), Ok(payload(0)));
    child.kill();
    assert_eq!(consumer.iter().collect::<Vec<_>>(), [1, 2, 3, 4].map(payload));
    assert_eq!((consumer.try_recv(), peer.state()), (Err(TryRecvError::Closed), PeerState::Dead));
    assert!(consumer.is_fully_drained());
}

/// A consumer is killed again and again, and the next one goes on: with the message behind the last one that
/// was received, or with that one, if it was killed before it had said so.
#[test]
fn consumers_that_are_killed() {
    let settings = Settings::new(16);
    let Shared { handle: mut producer, peers: peer, invitation, .. } =
        spsc::producer::<Payload>(settings, WhenGone::Wait).unwrap();
    let sender = thread::spawn(move || {
        let mut next = 0;
        while producer.send(payload(next)).is_ok() {
            next += 1;
        }
        next
    });
    let mut received = Received::default();
    for round in 0..rounds() {
        let mut child = Child::new(["receive block:0,0", "receive pause-spin"][round as usize % 2]);
        invitation.send(&child.socket).unwrap();
        (&child.socket).read_exact(&mut [0]).unwrap();
        let another = spsc::consumer::<Payload>(&invitation).map(drop).unwrap_err();
        assert!(matches!(another, AttachError::Occupied), "{another}");
        thread::sleep(moment(round));
        child.kill();
        assert_eq!(peer.state(), PeerState::Dead);
        received.says(&what_was_said(&child.socket));
        received.killed += 1;
    }
    let (mut consumer, _) = spsc::consumer::<Payload>(&invitation).unwrap();
    consumer.close();
    while let Ok(message) = consumer.recv() {
        check(&message);
        received.says(&message[..1]);
    }
    assert_eq!(sender.join().unwrap(), received.next, "all that was sent is received");
}

/// The messages before this one were received.
#[derive(Default)]
struct Received {
    next: u64,
    /// Consumers that were killed since one has said the last of them. Each may have received one more
    /// message, and was killed before it said so.
    killed: u64,
}

impl Received {
    fn says(&mut self, said: &[u64]) {
        let Some(first) = said.first() else { return };
        let may_be = self.next..=self.next + self.killed;
        assert!(may_be.contains(first), "{first} is none of {may_be:?}");
        assert!(said.iter().zip(*first..).all(|(said, number)| *said == number), "{said:?}");
        *self = Self { next: first + said.len() as u64, killed: 0 };
    }
}

/// The numbers that a process wrote before it was killed.
pub(crate) fn what_was_said(mut socket: &UnixStream) -> Vec<u64> {
    let mut said = Vec::new();
    if let Err(error) = socket.read_to_end(&mut said) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
    said.chunks_exact(8).map(|number| u64::from_ne_bytes(number.try_into().unwrap())).collect()
}

/// A producer whose consumer is killed while it waits for room is told.
#[test]
fn consumer_that_is_killed() {
    for round in 0..rounds() {
        let Shared { handle: mut producer, peers: peer, invitation, .. } =
            spsc::producer::<Payload>(Settings::new(4), WhenGone::Close).unwrap();
        let mut child = Child::new(["receive block:0,0", "receive pause-spin"][round as usize % 2]);
        invitation.send(&child.socket).unwrap();
        let mut socket = child.socket.try_clone().unwrap();
        socket.read_exact(&mut [0]).unwrap();
        let killer = thread::spawn(move || {
            thread::sleep(moment(round));
            child.kill();
        });
        // (What the child says lies in the socket, which is full at some time; then it waits.)
        let mut sent = 0;
        while producer.send(payload(sent)).is_ok() {
            sent += 1;
        }
        killer.join().unwrap();
        assert_eq!(peer.state(), PeerState::Dead);
        assert!(producer.is_closed());
        let said = what_was_said(&socket);
        assert!(said.len() as u64 <= sent);
        assert!(said.iter().zip(0..).all(|(said, number)| *said == number));
    }
}

/// A process that is stopped is alive: the other one waits for it, and goes on with it.
#[test]
fn producer_that_is_stopped() {
    let child = Child::new("send 64");
    let (mut consumer, peer) =
        spsc::consumer::<Payload>(&Invitation::receive(&child.socket).unwrap()).unwrap();
    check(&consumer.recv().unwrap());
    child.stop();
    let begun = Instant::now();
    loop {
        match consumer.recv_timeout(Duration::from_millis(100)) {
            Ok(message) => check(&message),
            Err(error) => break assert_eq!(error, RecvTimeoutError::Timeout),
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "it goes on");
    }
    assert_eq!(peer.state(), PeerState::Alive);
    child.signal(Signal::CONT);
    check(&consumer.recv().unwrap());
}

/// A consumer that is stopped: the queue is full, and stays open.
#[test]
fn consumer_that_is_stopped() {
    let Shared { handle: mut producer, peers: peer, invitation, .. } =
        spsc::producer::<Payload>(Settings::new(4), WhenGone::Close).unwrap();
    let child = Child::new("receive block:100,10");
    invitation.send(&child.socket).unwrap();
    (&child.socket).read_exact(&mut [0]).unwrap();
    child.stop();
    let mut sent = 0;
    while producer.send_timeout(payload(sent), Duration::from_millis(100)).is_ok() {
        sent += 1;
    }
    assert_eq!(sent, 4);
    assert_eq!(producer.try_send(payload(sent)), Err(TrySendError::Full(payload(sent))));
    assert!(!producer.is_closed());
    assert_eq!(peer.state(), PeerState::Alive);
    child.signal(Signal::CONT);
    producer.send(payload(sent)).unwrap();
    producer.close();
    for number in 0..=sent {
        let mut said = [0; 8];
        (&child.socket).read_exact(&mut said).unwrap();
        assert_eq!(u64::from_ne_bytes(said), number);
    }
    assert_eq!((&child.socket).read(&mut [0]).unwrap(), 0, "it has ended");
    assert_eq!(peer.state(), PeerState::Closed);
}
