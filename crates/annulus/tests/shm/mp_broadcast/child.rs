//! What another process does: it publishes.

use std::io::Write;
use std::os::unix::fs::FileExt;

use annulus::Message;
use annulus::WaitStrategy;
use annulus::shm::WhenGone;
use annulus::shm::mp_broadcast::{self, Publisher};
use annulus::shm::{AttachError, Directory, Invitation, Shared, recv_fd};
use bytemuck::Pod;

use crate::mp_broadcast::{Payload, check, payload, ring};
use crate::process::role;

/// Most of the time that a publisher takes is that of the copy.
pub(crate) type Large = [u64; 2000];

/// `publish SENDER`, `publish-large SENDER`, `publish-in SENDER PATH`, or `make CAPACITY`. In the test
/// program itself it does nothing.
#[test]
fn child_plays_its_role() {
    let Some((role, mut socket)) = role() else { return };
    let words: Vec<_> = role.split(' ').collect();
    let number = |index: usize| words[index].parse::<u64>().unwrap();
    match words[0] {
        // Without an end, one by one and in batches. It says in a file how many it has published.
        "publish" => {
            let invitation = Invitation::receive(&socket).unwrap();
            let said = std::fs::File::from(recv_fd(&socket).unwrap());
            let (mut publisher, sender, mut next) = (join::<Payload>(&invitation), number(1), 0_u64);
            socket.write_all(b"\n").unwrap();
            loop {
                let batch: [Payload; 70] = std::array::from_fn(|ahead| payload(sender, next + ahead as u64));
                let count = [1, 3, 70][next as usize % 3];
                publisher.publish_batch(&batch[..count]);
                next += count as u64;
                said.write_all_at(&next.to_ne_bytes(), 0).unwrap();
                if publisher.is_closed() {
                    return;
                }
            }
        }
        "publish-large" => {
            let invitation = Invitation::receive(&socket).unwrap();
            let (mut publisher, sender) = (join::<Large>(&invitation), number(1) << 32);
            socket.write_all(b"\n").unwrap();
            for number in 0.. {
                publisher.publish([sender + number; 2000]);
            }
        }
        // As `publish`, to a lossless ring.
        "publish-lossless" => {
            let invitation = Invitation::receive(&socket).unwrap();
            let said = std::fs::File::from(recv_fd(&socket).unwrap());
            let mut publisher = loop {
                match mp_broadcast::lossless_publisher::<Payload>(&invitation) {
                    Err(AttachError::NoPlace { .. }) => std::thread::yield_now(),
                    joined => break joined.unwrap(),
                }
            };
            let (sender, mut next) = (number(1), 0_u64);
            socket.write_all(b"\n").unwrap();
            loop {
                let batch: [Payload; 70] = std::array::from_fn(|ahead| payload(sender, next + ahead as u64));
                let count = [1, 3, 70][next as usize % 3];
                if publisher.publish_batch(&batch[..count]).is_err() {
                    return;
                }
                next += count as u64;
                said.write_all_at(&next.to_ne_bytes(), 0).unwrap();
            }
        }
        // Takes a seat, and says in a file where it began, where it is, and the sum of what it received.
        "await" => {
            let invitation = Invitation::receive(&socket).unwrap();
            let said = std::fs::File::from(recv_fd(&socket).unwrap());
            let strategy = [WaitStrategy::block_after(0, 0), WaitStrategy::default()][number(1) as usize % 2];
            let ring = invitation.with_wait_strategy(strategy).accept_lossless::<Payload>().unwrap();
            let mut subscriber = loop {
                match ring.subscribe() {
                    Ok(subscriber) => break subscriber,
                    Err(_) => std::thread::yield_now(),
                }
            };
            let (first, mut sum) = (subscriber.cursor(), 0_u64);
            let say = |cursor: u64, sum: u64| {
                said.write_all_at(bytemuck::bytes_of(&[first + 1, cursor, sum]), 0).unwrap();
            };
            say(first, 0);
            socket.write_all(b"\n").unwrap();
            while let Ok(message) = subscriber.recv() {
                check(&message);
                sum = sum.wrapping_add(mixed(subscriber.cursor() - 1, &message));
                say(subscriber.cursor(), sum);
            }
        }
        // By name: the sender's number says whether a ring that it makes ends with its publishers.
        "publish-in" => {
            let (sender, path) = (number(1), words[2..].join(" "));
            let directory = Directory::open(path).unwrap();
            let policy = if sender % 2 == 1 { WhenGone::Close } else { WhenGone::Wait };
            let builder = ring(256, 4).when_no_publisher(policy);
            let (mut publisher, _name) = builder.publish_in::<Payload>(&directory, "a").unwrap();
            socket.write_all(b"\n").unwrap();
            for number in 0.. {
                publisher.publish(payload(sender, number));
                std::thread::yield_now();
            }
        }
        // Makes a ring, and publishes to it.
        "make" => {
            let Shared { handle: mut publisher, invitation, .. } =
                ring(number(1) as usize, 4).build::<Payload>().unwrap();
            invitation.send(&socket).unwrap();
            for number in 0.. {
                publisher.publish(payload(9, number));
                std::thread::yield_now();
            }
        }
        other => panic!("{other:?}"),
    }
}

/// A number that tells one message at one place of the order from all others, as a rule.
pub(crate) fn mixed(number: u64, message: &Payload) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ message[0].rotate_left(17) ^ message[1];
    (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9)
}

/// As soon as there is a place.
fn join<T: Message + Pod>(invitation: &Invitation) -> Publisher<T> {
    loop {
        match mp_broadcast::publisher(invitation) {
            Ok(publisher) => return publisher,
            Err(AttachError::NoPlace { .. }) => std::thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}
