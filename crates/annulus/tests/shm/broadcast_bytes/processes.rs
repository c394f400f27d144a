//! Subscribers and publishers that are processes of their own, and are killed and stopped.

use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use annulus::RecvError;
use annulus::broadcast::bytes::Publisher;
use annulus::shm::{Invitation, PeerState, send_fd};
use rustix::fs::{MemfdFlags, memfd_create};
use rustix::process::Signal;

use super::{check, publish, ring};
use crate::process::{Child, moment, rounds};

/// A child that receives, and the first record that it may receive.
fn reading(invitation: &Invitation) -> (Child, u64) {
    joined("read", invitation)
}

/// A child of that role, which has subscribed, and the first record that it may receive.
pub(super) fn joined(role: &str, invitation: &Invitation) -> (Child, u64) {
    let child = Child::new(role);
    invitation.send(&child.socket).unwrap();
    let mut line = String::new();
    // (It says nothing behind that line before its end.)
    BufReader::new((&child.socket).take(u64::MAX)).read_line(&mut line).unwrap();
    (child, line.trim().parse().unwrap())
}

/// Publishes until `is_over` returns true.
fn publish_until(publisher: &mut Publisher, is_over: impl Fn() -> bool) {
    while !is_over() {
        publish(publisher);
    }
}

/// One subscriber is killed at any moment, again and again, and another one lives: what that one receives is
/// whole and counted, and the publisher never waits.
#[test]
fn subscribers_that_are_killed() {
    let (mut publisher, _, invitation) = ring(4096);
    let (survivor, begun) = reading(&invitation);
    for round in 0..rounds() {
        let (mut child, _) = reading(&invitation);
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(moment(round));
                child.kill();
                is_over.store(true, Ordering::Release);
            });
            publish_until(&mut publisher, || is_over.load(Ordering::Acquire));
        });
    }
    let published = publisher.published() - begun;
    publisher.close();
    let (received, lost) = survivor.said();
    assert_eq!(received + lost, published);
    assert!(received > 0);
}

/// A subscriber that is stopped at any moment, also inside a copy, loses what it could not keep up with, and
/// counts it.
#[test]
fn subscriber_that_is_stopped_counts_what_it_loses() {
    let (mut publisher, _, invitation) = ring(4096);
    let (child, begun) = reading(&invitation);
    for round in 0..rounds() {
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(moment(round) / 10);
                child.stop();
                is_over.store(true, Ordering::Release);
            });
            publish_until(&mut publisher, || is_over.load(Ordering::Acquire));
        });
        // More than the ring holds.
        (0..200).for_each(|_| _ = publish(&mut publisher));
        child.signal(Signal::CONT);
    }
    let published = publisher.published() - begun;
    publisher.close();
    let (received, lost) = child.said();
    assert_eq!(received + lost, published);
    assert!(lost > 0);
}

/// A publisher is stopped and then killed at any moment, also inside a record: what it had published is
/// received or counted, each record is whole, and then the ring has ended. A late subscriber begins with the
/// oldest record that is whole.
#[test]
fn publishers_that_are_stopped_and_killed() {
    for round in 0..rounds() {
        let capacity = 64 << (round % 7);
        let mut child = Child::new(&format!("publish {capacity}"));
        let invitation = Invitation::receive(&child.socket).unwrap();
        let ring = invitation.accept_broadcast_bytes().unwrap();
        let mut subscriber = ring.subscribable().subscribe();
        let (first, most, mut buffer) = (subscriber.cursor(), subscriber.max_len(), Vec::new());
        let said = File::from(memfd_create("said", MemfdFlags::CLOEXEC).unwrap());
        said.set_len(8).unwrap();
        send_fd(&child.socket, said.as_fd()).unwrap();
        let end = thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(moment(round));
                child.stop();
                // All that stands now is whole, and stays.
                assert_eq!(ring.state(), PeerState::Alive);
                let (mut late, mut buffer) = (ring.subscribable().subscribe_from_oldest(), Vec::new());
                while late.try_recv(&mut buffer).is_ok() {
                    check(&buffer, late.cursor() - 1, most);
                }
                assert_eq!(late.total_lagged(), 0);
                child.kill();
            });
            loop {
                match subscriber.recv(&mut buffer) {
                    Ok(length) => assert_eq!(length, buffer.len()),
                    Err(end) => break end,
                }
                check(&buffer, subscriber.cursor() - 1, most);
            }
        });
        assert!(end.peer_died() && end != RecvError::CLOSED, "{end:?}");
        assert_eq!(ring.state(), PeerState::Dead);
        let end = first + subscriber.total_received() + subscriber.total_lagged();
        assert_eq!(end, subscriber.cursor());
        let mut word = [0; 8];
        said.read_exact_at(&mut word, 0).unwrap();
        let published = u64::from_ne_bytes(word);
        assert!((published..=published + 1).contains(&end), "{published} and {end}");
    }
}
