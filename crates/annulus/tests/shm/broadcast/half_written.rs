//! Publishers that die inside a write: nobody waits for the message that they had begun, nobody receives a
//! part of it, and what its slot held before is counted as lost where somebody still needed it.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use annulus::Settings;
use annulus::broadcast::{Mode, Subscriber};
use annulus::shm::{Invitation, PeerState, Shared, broadcast, recv_fd};
use annulus::{LossyRecvError, RecvTimeoutError, TryRecvError};
use rustix::process::Signal;

use crate::broadcast::names::invitation;
use crate::process::Child;

/// Most of the time that a publisher takes is that of the copy.
type Large = [u64; 2000];
const CAPACITY: u64 = 64;

/// Without an end.
fn publish_large(mut publish: impl FnMut(&[Large])) {
    let mut next = 0;
    loop {
        // One by one, and in batches.
        let count = if next % 2 == 0 { 1 } else { 3 };
        let batch = [0, 1, 2].map(|ahead| [next + ahead; 2000]);
        publish(&batch[..count as usize]);
        next += count;
    }
}

/// The rings of a child that publishes all the time.
struct Stand {
    child: Child,
    invitation: Invitation,
    ring: File,
}

impl Stand {
    fn new(role: &str) -> Self {
        let child = Child::new(role);
        let (ring, page) = (recv_fd(&child.socket).unwrap(), recv_fd(&child.socket).unwrap());
        Self { invitation: invitation(ring.as_fd(), page.as_fd()), ring: ring.into(), child }
    }

    fn word(&self, at: u64) -> u64 {
        let mut word = [0; 8];
        self.ring.read_exact_at(&mut word, at).unwrap();
        u64::from_ne_bytes(word)
    }

    /// The message that it is just writing.
    fn half_written(&self) -> Option<u64> {
        let (slots, slot_bytes) = (self.word(40), self.word(48));
        let mut stamps = (0..CAPACITY).map(|slot| self.word(slots + slot * slot_bytes));
        stamps.find(|stamp| stamp % 2 == 1).map(|stamp| stamp / 2)
    }

    /// Stops it again and again, until it stands inside the write of a message, of that number at least.
    /// There it is killed.
    fn kill_inside_a_write(&mut self, at_least: u64, mut meanwhile: impl FnMut()) -> u64 {
        for number in 0..10_000 {
            self.child.stop();
            if let Some(message) = self.half_written().filter(|message| *message >= at_least) {
                self.child.kill();
                assert_eq!(self.half_written(), Some(message));
                return message;
            }
            self.child.signal(Signal::CONT);
            meanwhile();
            // On the same core it needs the time of this thread.
            thread::sleep(Duration::from_micros(number % 64));
        }
        panic!("it is never inside a write");
    }
}

fn is_whole(message: &Large) -> u64 {
    assert!(message.iter().all(|word| *word == message[0]), "torn");
    message[0]
}

/// All that is left: each is whole, and they come in order.
fn rest<M: Mode>(subscriber: &mut Subscriber<Large, M>) -> Vec<u64> {
    std::iter::from_fn(|| subscriber.recv().ok()).map(|message| is_whole(&message)).collect()
}

#[test]
fn half_written_message_of_a_lossy_ring_is_not_received() {
    let mut stand = Stand::new("publish-large lossy");
    let ring = stand.invitation.accept::<Large>().unwrap();
    let [mut early, mut by_lag, mut timed] = [(); 3].map(|()| ring.subscribable().subscribe_from_oldest());
    let first = early.cursor();
    // All of them are lapped by then.
    let begun = stand.kill_inside_a_write(timed.cursor() + CAPACITY, || ());

    // The slots but the one that it was writing.
    let left: Vec<u64> = (begun + 1 - CAPACITY..begun).collect();
    assert_eq!(rest(&mut early), left);
    assert_eq!((early.cursor(), early.is_closed()), (begun, true), "the ring ends before that message");
    assert_eq!(early.total_lagged(), begun - first - left.len() as u64, "all others, and not that one");
    assert!(matches!(early.try_recv(), Err(TryRecvError::Closed)));
    assert_eq!(ring.state(), PeerState::Dead);

    // Each verb that waits comes to the same end.
    let skipped = begun + 1 - CAPACITY - by_lag.cursor();
    assert!(matches!(by_lag.recv_or_lag(), Err(LossyRecvError::Lagged { skipped: told }) if told == skipped));
    assert_eq!(rest(&mut by_lag), left);
    let long = Duration::from_secs(600);
    let timed_ones = std::iter::from_fn(|| timed.recv_timeout(long).ok()).map(|message| is_whole(&message));
    assert_eq!(timed_ones.collect::<Vec<_>>(), left);
    assert_eq!(timed.recv_timeout(long).unwrap_err(), RecvTimeoutError::Closed);

    // A subscriber that comes after the death finds the same.
    let mut late = ring.subscribable().subscribe_from_oldest();
    assert_eq!(late.latest().as_ref().map(is_whole), Some(begun - 1));
    assert_eq!((late.cursor(), rest(&mut late)), (begun, vec![]));
    let mut late = ring.subscribable().subscribe_from_oldest();
    assert_eq!((rest(&mut late), late.total_lagged()), (left, 0));
    assert_eq!(rest(&mut ring.subscribable().subscribe()), [0; 0]);
}

#[test]
fn half_written_message_of_a_lossless_ring_is_not_received() {
    let mut stand = Stand::new("publish-large lossless");
    let ring = stand.invitation.accept_lossless::<Large>().unwrap();
    let mut subscriber = ring.subscribe().unwrap();
    let mut tap = ring.subscribe_lossy();
    (&stand.child.socket).write_all(b"\n").unwrap();
    let mut next = 0;
    let begun = stand.kill_inside_a_write(CAPACITY, || {
        // All that is there, so that it writes for a while from now on.
        for message in subscriber.try_iter() {
            assert_eq!(is_whole(&message), next);
            next += 1;
        }
    });
    // All that it had published, and no other.
    assert_eq!(rest(&mut subscriber), (next..begun).collect::<Vec<_>>());
    assert_eq!((subscriber.cursor(), subscriber.total_lagged()), (begun, 0));
    assert_eq!((ring.state(), subscriber.is_closed()), (PeerState::Dead, true));
    assert_eq!(rest(&mut tap), (begun + 1 - CAPACITY..begun).collect::<Vec<_>>());
    assert_eq!(tap.total_lagged(), begun + 1 - CAPACITY);
}

/// What the child makes.
pub(crate) fn publish(kind: &str, mut socket: &UnixStream) {
    let settings = Settings::new(CAPACITY as usize);
    if kind == "lossy" {
        let Shared { handle: mut publisher, invitation, .. } = broadcast::lossy::<Large>(settings).unwrap();
        invitation.send(socket).unwrap();
        publish_large(|batch| match batch {
            [message] => publisher.publish(*message),
            _ => assert_eq!(publisher.publish_batch(batch), batch.len()),
        });
    } else {
        let Shared { handle: mut publisher, invitation, .. } =
            broadcast::lossless::<Large>(settings, 2).unwrap();
        invitation.send(socket).unwrap();
        socket.read_exact(&mut [0]).unwrap();
        publish_large(|batch| match batch {
            [message] => publisher.publish(*message).unwrap(),
            _ => publisher.publish_batch(batch).unwrap(),
        });
    }
}
