//! Subscribers and publishers that are processes of their own, and are killed and stopped.

use std::fs::File;
use std::io::Read;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::thread;

use annulus::shm::frames::FrameError;
use annulus::shm::{Invitation, PeerState, send_fd};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Signal;

use super::{check, publish, publish_all, ring};
use crate::process::{Child, moment, rounds};

fn reading(holds: usize, invitation: &Invitation) -> Child {
    joined("read", holds, invitation)
}

/// A process of that role, which has subscribed.
pub(super) fn joined(role: &str, holds: usize, invitation: &Invitation) -> Child {
    let child = Child::new(&format!("{role} {holds}"));
    invitation.send(&child.socket).unwrap();
    (&child.socket).read_exact(&mut [0]).unwrap();
    child
}

/// Publishes until the process is killed, at a moment of this round.
pub(super) fn publish_until_killed(mut child: Child, round: u64, mut publish: impl FnMut()) {
    thread::scope(|scope| {
        let killer = scope.spawn(|| {
            thread::sleep(moment(round));
            child.kill();
        });
        while !killer.is_finished() {
            publish();
        }
    });
}

/// One subscriber is killed at any moment, again and again, another one lives: what that one reads is whole
/// and counted, the publisher never waits, and at the end no frame is held.
#[test]
fn subscribers_that_are_killed() {
    let (mut publisher, invitation) = ring(3, 5_000, 2, 2);
    let survivor = reading(1, &invitation);
    let begun = publisher.published();
    for round in 0..rounds() {
        publish_until_killed(reading(2, &invitation), round, || {
            publish(&mut publisher);
        });
    }
    let published = publisher.published() - begun;
    publisher.close();
    let (received, lost) = survivor.said();
    assert_eq!(received + lost, published);
    assert!(received > 0);
    assert_eq!(publisher.held(), 0);
}

/// A subscriber that is stopped with its frames keeps them, and the publisher goes on. When it is killed
/// there, they are free.
#[test]
fn subscriber_that_is_stopped_keeps_its_frames() {
    let (mut publisher, invitation) = ring(2, 5_000, 1, 2);
    for round in 0..rounds().min(10) {
        let mut child = reading(2, &invitation);
        // Until it holds something in the middle of what it does.
        let mut held = 0;
        while held == 0 {
            child.signal(Signal::CONT);
            publish_all(&mut publisher, 0..=round);
            child.stop();
            publish_all(&mut publisher, 0..100);
            held = publisher.held();
        }
        publish_all(&mut publisher, 0..1000);
        assert_eq!(publisher.held(), held);
        child.kill();
        assert_eq!(publisher.held(), 0);
    }
}

/// A publisher is killed at any moment: what it had published is received or counted, each frame is whole,
/// and then the ring has ended. What is held stays.
#[test]
fn publishers_that_are_killed() {
    for round in 0..rounds() {
        let capacity = 2 + round as usize % 5;
        let mut child = Child::new(&format!("publish {capacity}"));
        let invitation = Invitation::receive(&child.socket).unwrap();
        let ring = invitation.accept_frames().unwrap();
        let mut subscriber = ring.subscribe().unwrap();
        let said = File::from(memfd_create("said", MemfdFlags::CLOEXEC).unwrap());
        said.set_len(8).unwrap();
        send_fd(&child.socket, said.as_fd()).unwrap();
        let (first, mut received, mut held) = (subscriber.cursor(), 0, None);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(moment(round));
                child.kill();
            });
            loop {
                match subscriber.recv() {
                    Ok(frame) => {
                        check(&frame);
                        received += 1;
                        if received % 7 == 1 {
                            held = Some(frame);
                        }
                    }
                    Err(FrameError::Closed) => break,
                    Err(error) => panic!("{error}"),
                }
            }
        });
        held.iter().for_each(check);
        assert_eq!(ring.state(), PeerState::Dead);
        let end = first + received + subscriber.total_lagged();
        assert_eq!(end, subscriber.cursor());
        let mut word = [0; 8];
        said.read_exact_at(&mut word, 0).unwrap();
        let published = u64::from_ne_bytes(word);
        assert!((published..=published + 1).contains(&end), "{published} and {end}");
    }
}
